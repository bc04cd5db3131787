//! The ends of what runs, beside the queue of events: without handles, because few move or are taken back.
//!
//! Of batches that share their device they do move: those are in the queue.

use crate::event_queue::Place;
use crate::ordered::SortedSet;
use crate::request::{ActionId, DeviceId};
use crate::time::Span;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The end of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct End {
    /// Where it stands in the total order of events.
    pub place: Place,
    pub action: ActionId,
    pub device: DeviceId,
    /// How long the device computed.
    pub busy: Span,
}

/// See the module's text.
#[derive(Default)]
pub(super) struct Ends {
    first: Option<End>,
    /// The others.
    heap: BinaryHeap<Reverse<End>>,
    /// Of these, the ones that do not come.
    stopped: SortedSet<ActionId>,
}

impl Ends {
    #[inline(always)]
    pub fn push(&mut self, end: End) {
        match &mut self.first {
            None => self.first = Some(end),
            Some(first) if end.place < first.place => {
                self.heap.push(Reverse(std::mem::replace(first, end)));
            }
            Some(_) => self.heap.push(Reverse(end)),
        }
    }

    /// The place of the first.
    #[inline]
    pub fn first(&self) -> Place {
        self.first.map_or(Place::NONE, |first| first.place)
    }

    /// Takes the first out.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<End> {
        let mut next = self.heap.pop();
        while !self.stopped.is_empty()
            && let Some(Reverse(end)) = next
            && self.stopped.remove(&end.action)
        {
            next = self.heap.pop();
        }
        std::mem::replace(&mut self.first, next.map(|next| next.0))
    }

    /// An action whose end is here was stopped: it does not come.
    #[cold]
    pub fn stop(&mut self, action: ActionId) {
        if self.first.is_some_and(|first| first.action == action) {
            self.pop();
        } else {
            self.stopped.insert(action);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use crate::time::Time;

    /// Against a list that is searched from end to end.
    #[test]
    fn ends_come_in_order_and_stopped_ones_do_not() {
        let (mut ends, mut list) = (Ends::default(), Vec::new());
        let mut rng = Stream::named(1, "ends", 0);
        for i in 0..20_000 {
            match rng.below(5) {
                0 | 1 => {
                    let (at, action) = (Time::from_ns(rng.below(50)), ActionId(i));
                    let (device, busy) = (DeviceId(0), Span::ZERO);
                    list.push(End { place: Place::new(at, i), action, device, busy });
                    ends.push(list[list.len() - 1]);
                }
                2 if !list.is_empty() => {
                    ends.stop(list.swap_remove(rng.below(list.len() as u64) as usize).action);
                }
                2 => ends.stop(ActionId(i)),
                _ => {
                    let first = list.iter().min().copied();
                    list.retain(|end| Some(*end) != first);
                    assert_eq!(ends.pop(), first);
                }
            }
            assert_eq!(ends.first(), list.iter().map(|e| e.place).min().unwrap_or(Place::NONE));
        }
    }
}
