//! A queue of requests by deadline, then by order of arrival: what Nexus and Clipper share.
//!
//! It knows nothing of batches or drops.

use super::soonest::Soonest;
use crate::request::{Request, RequestId};
use crate::time::Time;

/// Earliest deadline first; equal deadlines by id, which is the order of arrival.
#[derive(Debug, Default)]
pub(crate) struct EdfQueue {
    queue: Soonest<(Time, RequestId)>,
}

impl EdfQueue {
    pub fn push(&mut self, request: &Request) {
        self.queue.push((request.deadline, request.id));
    }

    pub fn len(&self) -> usize {
        self.queue.len()
    }

    pub fn is_empty(&self) -> bool {
        self.queue.len() == 0
    }

    /// Deadline and id of the head.
    pub fn head(&self) -> Option<(Time, RequestId)> {
        self.queue.first()
    }

    pub fn pop(&mut self) -> Option<(Time, RequestId)> {
        self.queue.pop()
    }
}

/// The queue of a model, made when it is first asked for.
pub(crate) fn of_model(queues: &mut Vec<EdfQueue>, model: usize) -> &mut EdfQueue {
    if queues.len() <= model {
        queues.resize_with(model + 1, EdfQueue::default);
    }
    &mut queues[model]
}
