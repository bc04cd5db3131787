//! A heap by instant that forgets lazily: an entry of a request that has left is dropped when it comes to
//! the top, or when there are more such entries than others.

use crate::request::RequestId;
use crate::time::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Where a request is among the pending ones, for as long as it waits.
pub(super) type Slot = u32;

/// An instant of a request. Requests of one instant are in the order of ids.
pub(super) type Item = (Time, RequestId, Slot);

/// The heap.
#[derive(Default)]
pub(super) struct Agenda(BinaryHeap<Reverse<Item>>);

impl Agenda {
    /// One with these instants.
    pub fn of(items: Vec<Item>) -> Agenda {
        Agenda(items.into_iter().map(Reverse).collect())
    }

    /// Adds an instant.
    pub fn push(&mut self, item: Item) {
        self.0.push(Reverse(item));
    }

    /// Every entry is due at once.
    pub fn make_due(&mut self) {
        let items = std::mem::take(&mut self.0).into_iter();
        self.0 = items.map(|Reverse((_, id, slot))| Reverse((Time::ZERO, id, slot))).collect();
    }

    /// The first whose request is still there.
    pub fn first(&mut self, there: impl Fn(&Item) -> bool) -> Option<Item> {
        while let Some(Reverse(item)) = self.0.peek() {
            if there(item) {
                return Some(*item);
            }
            self.0.pop();
        }
        None
    }

    /// Takes the first that is due, whether its request is there or not.
    pub fn pop_due(&mut self, now: Time) -> Option<Item> {
        self.0.peek().filter(|item| item.0.0 <= now)?;
        self.0.pop().map(|item| item.0)
    }

    /// Drops the entries of requests that have left, if they are more than those of the `live` ones.
    pub fn trim(&mut self, live: usize, there: impl Fn(&Item) -> bool) {
        if self.0.len() > 2 * live + 64 {
            self.0.retain(|item| there(&item.0));
        }
    }
}
