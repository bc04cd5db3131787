//! The pending requests of a model on convex hulls (`queue=hull`, §4.4).
//!
//! A request's score in a queue is alpha u + beta with u = exp(b (t - T0)). As time goes on only u changes,
//! except at the request's *milestones*: when its slack falls to an edge of the law of the batch's latency,
//! its point is replaced. So a decision looks at the requests with a milestone and at the highest scores,
//! and at no others.
//!
//! ```text
//! for bs in S, r in Q_bs: if t + EstimateBatchLatency(r, bs) > D_r: leaves       lines 10-14
//! of the candidate's queue:
//!     if b (t - T0) > reach, or the laws were relearned: T0 <- t, all points anew    lines 1-3
//!     for r with t >= Milestone(r): delete, compute, insert                      lines 4-9
//!     PopBatch: query, delete; bs times                                          line 22
//! ```
//!
//! # Differences from the paper
//! - Floats round, so a point's value is a little off the score that Eq. 2 gives directly. The point's beta
//!   has a bound of that error added: it stands for the most that the score can be. PopBatch queries until
//!   the next most is below the scores that it has, which are computed directly. So it takes the same
//!   requests as a scan, to the last bit.
//! - Lines 1-9 come after the choice of the candidate, which needs no score, and for its queue alone. Each
//!   queue has a base time of its own. Where more than a quarter of the points change, the hull is built anew.
//! - Lines 10-14 go through each queue by deadline. Here one heap holds for each request the instant at which
//!   it has to leave a queue next: applications have estimates of their own.
//! - D_Qbs comes from a binary heap that forgets what has left when it comes to the top, not from a
//!   Fibonacci heap.

mod agenda;
mod members;
mod queue;
#[cfg(test)]
mod tests;

use self::agenda::{Agenda, Item, Slot};
use self::queue::{Queue, View};
use super::entry::Entry;
use super::pending::{Pending, every};
use super::tables::Tables;
use crate::ordered::sort_by_key;
use crate::request::RequestId;
use crate::time::{Span, Time};

/// The largest b (t - T0). §4.4: with b = 1e-4 per millisecond some 1,000 s, which is exp(100).
const REACH: f64 = 100.0;

/// The pending requests.
#[derive(Default)]
pub(super) struct Hulls {
    b_per_ns: f64,
    /// The largest b (t - T0) of a queue before its base is reset.
    reach: f64,
    /// By size.
    queues: Vec<Queue>,
    entries: Vec<Option<Entry>>,
    free: Vec<Slot>,
    /// Those that came since the last decision: they are in no queue yet.
    fresh: Vec<Slot>,
    /// When a request has to leave a queue.
    exits: Agenda,
    /// Deadlines of the requests that are in every queue; each queue knows those of its others.
    deadlines: Agenda,
    /// The tables were renewed since the last decision.
    renewed: bool,
    /// Scratch.
    taken: Vec<Slot>,
}

impl Hulls {
    /// No request is pending in any of so many queues.
    pub fn new(sizes: usize, b_per_ms: f64) -> Hulls {
        Hulls {
            b_per_ns: b_per_ms / 1e6,
            reach: REACH,
            queues: (0..sizes).map(|_| Queue::default()).collect(),
            ..Hulls::default()
        }
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Those that wait, in the order of ids.
    pub fn into_waiting(self) -> Vec<Entry> {
        let mut all: Vec<Entry> = self.entries.into_iter().flatten().collect();
        sort_by_key(&mut all, |e| e.id);
        all
    }

    /// Lines 10-14 for one request. A fresh one enters the other queues. Whether it is in one.
    fn sift(&mut self, now: Time, slot: Slot, fresh: bool, tables: &Tables) -> bool {
        let mut fresh = fresh;
        while !self.sift_once(now, slot, fresh, tables) {
            let e = self.entries[slot as usize].as_mut().expect("it waits");
            if !tables.next_deadline(e) {
                return false;
            }
            // It is in no queue, and enters them again with its next deadline.
            e.viable = every(self.queues.len());
            fresh = true;
        }
        true
    }

    /// The same with the deadline that it has.
    fn sift_once(&mut self, now: Time, slot: Slot, fresh: bool, tables: &Tables) -> bool {
        let e = self.entries[slot as usize].as_mut().expect("it waits");
        let before = e.viable;
        let mut longest = None;
        let queues = self.queues.iter_mut().zip(tables.apps[e.app].estimates.iter()).enumerate();
        for (size, (queue, &estimate)) in queues.filter(|(size, _)| before >> size & 1 == 1) {
            let late = now + estimate > e.deadline;
            match (late, fresh) {
                (true, false) => queue.leave(slot, e),
                (false, true) => queue.enter(slot),
                _ => {}
            }
            match late {
                true => e.viable &= !(1 << size),
                false => longest = longest.max(Some(estimate)),
            }
        }
        let Some(longest) = longest else { return false };
        self.exits.push((e.deadline.minus(longest) + Span::from_ns(1), e.id, slot));
        let deadline = (e.deadline, e.id, slot);
        let every = every(self.queues.len());
        if e.viable == every {
            if fresh {
                self.deadlines.push(deadline);
            }
        } else if fresh || (e.viable != before && before == every) {
            let left = self.queues.iter_mut().enumerate().filter(|(i, _)| e.is_in(*i));
            left.for_each(|(_, queue)| queue.deadlines.push(deadline));
        }
        true
    }
}

impl Pending for Hulls {
    fn insert(&mut self, entry: Entry) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.entries.len() as Slot - 1
        });
        self.entries[slot as usize] = Some(entry);
        self.fresh.push(slot);
    }

    fn renewed(&mut self, tables: &[usize]) {
        self.renewed = true;
        self.entries.iter_mut().flatten().for_each(|e| e.app = tables[e.app]);
    }

    fn expire(&mut self, now: Time, tables: &Tables, out: &mut Vec<RequestId>) {
        let mut gone = std::mem::take(&mut self.taken);
        for slot in std::mem::take(&mut self.fresh) {
            if !self.sift(now, slot, true, tables) {
                gone.push(slot);
            }
        }
        if std::mem::take(&mut self.renewed) {
            // Other estimates and other scores.
            self.queues.iter_mut().for_each(Queue::forget);
            self.exits.make_due();
        }
        while let Some((_, id, slot)) = self.exits.pop_due(now) {
            let there = self.entries[slot as usize].is_some_and(|e| e.id == id);
            if there && !self.sift(now, slot, false, tables) {
                gone.push(slot);
            }
        }
        // The last feasible size is gone: timed out.
        let from = out.len();
        for slot in gone.drain(..) {
            out.extend(self.entries[slot as usize].take().map(|e| e.id));
            self.free.push(slot);
        }
        out[from..].sort_unstable();
        self.taken = gone;
        let entries = &self.entries;
        let waiting = entries.len() - self.free.len();
        let there = |item: &Item| entries[item.2 as usize].is_some_and(|e| e.id == item.1);
        self.exits.trim(waiting, there);
        self.deadlines.trim(waiting, there);
    }

    fn census(&mut self, out: &mut [(u32, Time)]) {
        let every = every(self.queues.len());
        let in_all = |item: &Item| {
            let e = self.entries[item.2 as usize];
            e.is_some_and(|e| e.id == item.1 && e.deadline == item.0 && e.viable == every)
        };
        let first = self.deadlines.first(in_all).map_or(Time::NEVER, |item| item.0);
        for (size, (queue, place)) in self.queues.iter_mut().zip(out).enumerate() {
            *place = (queue.len() as u32, first.min(queue.earliest(size, &self.entries)));
        }
    }

    fn pop_batch(
        &mut self,
        now: Time,
        size: usize,
        k: usize,
        tables: &Tables,
        out: &mut Vec<RequestId>,
    ) {
        let (b_per_ns, reach, entries) = (self.b_per_ns, self.reach, &self.entries);
        let view = View { now, size, b_per_ns, reach, tables, entries };
        self.queues[size].update(&view);
        self.queues[size].pop_batch(&view, k, &mut self.taken);
        let from = out.len();
        for slot in self.taken.drain(..) {
            let entry = self.entries[slot as usize].take().expect("it waits");
            self.free.push(slot);
            out.push(entry.id);
            let others = (0..self.queues.len()).filter(|&i| i != size && entry.is_in(i));
            others.for_each(|other| self.queues[other].leave(slot, &entry));
        }
        out[from..].sort_unstable();
    }

    fn left_out(&self, size: usize, out: &mut dyn FnMut(RequestId, bool)) {
        let mut all: Vec<&Entry> = self.entries.iter().flatten().collect();
        sort_by_key(&mut all, |e| e.id);
        all.into_iter().for_each(|e| out(e.id, e.is_in(size)));
    }
}
