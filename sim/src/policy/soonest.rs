//! What falls due, the soonest first, where most is added in order: a queue for what is, a heap for
//! what is not.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// See the module's text.
#[derive(Debug)]
pub(crate) struct Soonest<T> {
    in_order: VecDeque<T>,
    others: BinaryHeap<Reverse<T>>,
}

impl<T> Default for Soonest<T>
where
    T: Ord,
{
    fn default() -> Self {
        Soonest { in_order: VecDeque::new(), others: BinaryHeap::new() }
    }
}

impl<T: Ord + Copy> Soonest<T> {
    #[inline]
    pub fn push(&mut self, item: T) {
        if self.in_order.back().is_none_or(|last| *last <= item) {
            self.in_order.push_back(item);
        } else {
            self.others.push(Reverse(item));
        }
    }

    pub fn len(&self) -> usize {
        self.in_order.len() + self.others.len()
    }

    #[inline]
    pub fn first(&self) -> Option<T> {
        match (self.in_order.front(), self.others.peek()) {
            (Some(&a), Some(&Reverse(b))) => Some(a.min(b)),
            (a, b) => a.copied().or(b.map(|b| b.0)),
        }
    }

    pub fn pop(&mut self) -> Option<T> {
        self.pop_if(|_| true)
    }

    /// Takes the first out, if it is one that `is_due`.
    pub fn pop_if(&mut self, is_due: impl FnOnce(T) -> bool) -> Option<T> {
        let first = self.first().filter(|&first| is_due(first))?;
        if self.in_order.front() == Some(&first) {
            self.in_order.pop_front();
        } else {
            self.others.pop();
        }
        Some(first)
    }
}
