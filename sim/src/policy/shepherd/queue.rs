//! A model's queue and the batch that could be made of it: Shepherd's `BatchGen`.
//!
//! It knows no GPU but for the batch that it is shown.

use crate::request::RequestId;
use crate::time::{Span, Time};
use std::collections::VecDeque;

/// A request in a queue or a batch, ordered by deadline, then by arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Waiting {
    pub deadline: Time,
    pub id: RequestId,
}

/// The earliest deadline of a batch.
pub fn first_deadline(batch: &[Waiting]) -> Time {
    batch.iter().map(|w| w.deadline).min().unwrap_or(Time::NEVER)
}

/// A model's waiting requests, by deadline.
pub struct Queue {
    /// From the decision to the end of a batch of `i + 1`: d_ctrl + d_data · b + l(b).
    cost: Vec<Span>,
    waiting: VecDeque<Waiting>,
    /// Where [`Queue::hopeless_from`] stood when the policy last looked.
    pub watched: Option<Time>,
}

impl Queue {
    pub fn new(ctrl: Span, data: Span, latency: &[Span]) -> Queue {
        let cost = (1..).zip(latency).map(|(b, &l)| ctrl + data * b + l).collect();
        Queue { cost, waiting: VecDeque::new(), watched: None }
    }

    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn push(&mut self, request: Waiting) {
        // Nearly always the last: one SLO for each model is the rule.
        let at = self.waiting.partition_point(|w| *w < request);
        self.waiting.insert(at, request);
    }

    /// Takes the `size` earliest out.
    pub fn take(&mut self, size: usize) -> impl Iterator<Item = Waiting> {
        self.waiting.drain(..size)
    }

    /// How much a batch decided on now would be late for this deadline, were it alone.
    pub fn lateness_alone(&self, now: Time, deadline: Time) -> Span {
        (now + self.cost[0]).since(deadline)
    }

    /// The largest batch that, decided on now, ends by the deadline.
    fn in_time(&self, now: Time, deadline: Time) -> usize {
        self.cost.partition_point(|&cost| now + cost <= deadline)
    }

    /// The size of the candidate for a GPU that does not run this model.
    pub fn candidate(&self, now: Time) -> usize {
        let Some(head) = self.waiting.front() else { return 0 };
        self.in_time(now, head.deadline).min(self.waiting.len())
    }

    /// The size of the candidate for a GPU that runs this model: its batch of `running` requests,
    /// whose earliest deadline is `first`, then the queue. 0 when that batch itself could not be
    /// started again.
    pub fn candidate_with(&self, now: Time, running: usize, first: Time) -> usize {
        let head = self.waiting.front().map_or(Time::NEVER, |w| w.deadline);
        let together = self.in_time(now, first.min(head)).min(running + self.waiting.len());
        if together > running {
            return together;
        }
        if self.in_time(now, first) >= running { running } else { 0 }
    }

    /// From when on requests are dropped: those from the front that could not be in time even
    /// alone. With the bug, nothing until that is so of the latest deadline.
    pub fn hopeless_from(&self, expired_head_bug: bool) -> Option<Time> {
        let end = if expired_head_bug { self.waiting.back() } else { self.waiting.front() };
        end.map(|w| self.last_chance(w.deadline))
    }

    /// The next request to drop at `now`, taken out.
    pub fn pop_hopeless(&mut self, now: Time) -> Option<Waiting> {
        let head = self.waiting.front()?;
        if now < self.last_chance(head.deadline) { None } else { self.waiting.pop_front() }
    }

    /// The first instant from which a batch of one would be late.
    fn last_chance(&self, deadline: Time) -> Time {
        if deadline.ns() < self.cost[0].ns() {
            Time::ZERO
        } else {
            deadline.minus(self.cost[0]) + Span::from_ns(1)
        }
    }
}
