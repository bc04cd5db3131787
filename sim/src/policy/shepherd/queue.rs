//! The models' queues, and the batch that could be made of one: Shepherd's `BatchGen`.
//!
//! It knows no GPU but for the batch that it is shown.

use crate::ordered::SortedSet;
use crate::request::RequestId;
use crate::time::{Span, Time};
use std::collections::{BTreeSet, VecDeque};
use std::ops::Index;

/// A request in a queue or a batch, ordered by deadline, then by arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Waiting {
    pub deadline: Time,
    pub id: RequestId,
}

/// A model's waiting requests, by deadline.
pub struct Queue {
    /// From the decision to the end of a batch of `i + 1`: d_ctrl + d_data · b + l(b).
    cost: Vec<Span>,
    waiting: VecDeque<Waiting>,
    /// Its entry in [`Queues::hopeless`].
    hopeless: Option<Time>,
}

impl Queue {
    pub fn new(ctrl: Span, data: Span, latency: &[Span]) -> Queue {
        let cost = (1..).zip(latency).map(|(b, &l)| ctrl + data * b + l).collect();
        Queue { cost, waiting: VecDeque::new(), hopeless: None }
    }

    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// How much a batch decided on now would be late for this deadline, were it alone.
    pub fn lateness_alone(&self, now: Time, deadline: Time) -> Span {
        (now + self.cost[0]).since(deadline)
    }

    /// The largest batch that, decided on now, ends by the deadline.
    fn in_time(&self, now: Time, deadline: Time) -> usize {
        self.cost.partition_point(|&cost| now + cost <= deadline)
    }

    /// Whether the candidate for a GPU that does not run this model has at least so many; `size` is not 0.
    pub fn allows(&self, now: Time, size: usize) -> bool {
        let (Some(head), Some(&cost)) = (self.waiting.front(), self.cost.get(size - 1)) else {
            return false;
        };
        size <= self.waiting.len() && now + cost <= head.deadline
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

    /// The first instant from which a batch of one would be late for this deadline.
    fn late_from(&self, deadline: Time) -> Time {
        if deadline.ns() < self.cost[0].ns() {
            Time::ZERO
        } else {
            deadline.minus(self.cost[0]) + Span::from_ns(1)
        }
    }

    fn pop_hopeless(&mut self, now: Time) -> Option<Waiting> {
        let head = self.waiting.front()?;
        if now < self.late_from(head.deadline) { None } else { self.waiting.pop_front() }
    }
}

/// All models' queues.
pub struct Queues {
    list: Vec<Queue>,
    expired_head_bug: bool,
    /// The queues that are not empty, and when each next has something to drop.
    hopeless: BTreeSet<(Time, usize)>,
    /// Models whose running batches might be stopped for larger ones of their own, because of what
    /// [`Queues::note_change`] was told.
    pub changed: SortedSet<usize>,
}

impl Queues {
    pub fn new(list: Vec<Queue>, expired_head_bug: bool) -> Queues {
        Queues { list, expired_head_bug, hopeless: BTreeSet::new(), changed: SortedSet::default() }
    }

    /// The models that have requests.
    pub fn waiting(&self) -> impl Iterator<Item = usize> {
        self.hopeless.iter().map(|&(_, model)| model)
    }

    /// A request arrives.
    pub fn push(&mut self, model: usize, request: Waiting) {
        let waiting = &mut self.list[model].waiting;
        // Nearly always the last: one SLO for each model is the rule.
        let at = waiting.partition_point(|w| *w < request);
        waiting.insert(at, request);
        self.watch(model);
    }

    /// A request comes back from a batch.
    pub fn give_back(&mut self, model: usize, request: Waiting) {
        self.push(model, request);
        self.note_change(model);
    }

    /// A request that waits does no more.
    pub fn remove(&mut self, model: usize, request: &Waiting) {
        if let Ok(at) = self.list[model].waiting.binary_search(request) {
            self.list[model].waiting.remove(at);
            self.watch(model);
            self.note_change(model);
        }
    }

    /// Takes the `size` earliest out, behind those in `batch`.
    pub fn take(&mut self, model: usize, size: usize, batch: &mut Vec<Waiting>) {
        batch.extend(self.list[model].waiting.drain(..size));
        self.watch(model);
        self.note_change(model);
    }

    /// Takes out one of the requests that could not be in time even alone; with the bug, only once
    /// that is so of the latest deadline of its queue.
    pub fn pop_hopeless(&mut self, now: Time) -> Option<(usize, Waiting)> {
        let &(_, model) = self.hopeless.first().filter(|h| h.0 <= now)?;
        let lost = self.list[model].pop_hopeless(now)?;
        self.watch(model);
        self.note_change(model);
        Some((model, lost))
    }

    /// Something else than an arrival has changed the model's queue or its running batches.
    pub fn note_change(&mut self, model: usize) {
        if self.list[model].len() > 0 {
            self.changed.insert(model);
        }
    }

    fn watch(&mut self, model: usize) {
        let queue = &mut self.list[model];
        let (front, back) = (queue.waiting.front(), queue.waiting.back());
        let end = if self.expired_head_bug { back } else { front };
        let at = end.map(|w| queue.late_from(w.deadline));
        if at != queue.hopeless {
            let before = std::mem::replace(&mut queue.hopeless, at);
            before.map(|t| self.hopeless.remove(&(t, model)));
            at.map(|t| self.hopeless.insert((t, model)));
        }
    }
}

impl Index<usize> for Queues {
    type Output = Queue;
    fn index(&self, model: usize) -> &Queue {
        &self.list[model]
    }
}
