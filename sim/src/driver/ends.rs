//! The ends of what runs, beside the queue of events: without handles, because few move or are taken back.
//!
//! Of batches that share their device they do move: those are in the queue.

use crate::event_queue::Place;
use crate::request::{ActionId, DeviceId};
use crate::time::Span;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

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
    heap: BinaryHeap<Reverse<End>>,
    /// Actions that were stopped; the first end is never one of theirs.
    stopped: BTreeSet<ActionId>,
}

impl Ends {
    #[inline]
    pub fn push(&mut self, end: End) {
        self.heap.push(Reverse(end));
    }

    #[inline]
    pub fn first(&self) -> Place {
        self.heap.peek().map_or(Place::NONE, |first| first.0.place)
    }

    /// Takes the first out.
    #[inline]
    pub fn pop(&mut self) -> Option<End> {
        let first = self.heap.pop()?.0;
        if !self.stopped.is_empty() {
            self.skip_stopped();
        }
        Some(first)
    }

    /// An action was stopped: if its end is here, it does not come.
    pub fn stop(&mut self, action: ActionId) {
        self.stopped.insert(action);
        if 2 * self.stopped.len() > self.heap.len() {
            let stopped = std::mem::take(&mut self.stopped);
            self.heap.retain(|end| !stopped.contains(&end.0.action));
        }
        self.skip_stopped();
    }

    #[cold]
    fn skip_stopped(&mut self) {
        while let Some(Reverse(first)) = self.heap.peek()
            && self.stopped.remove(&first.action)
        {
            self.heap.pop();
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
            assert!(ends.heap.len() <= 2 * list.len() + 1 && ends.stopped.len() <= list.len() + 1);
        }
    }
}
