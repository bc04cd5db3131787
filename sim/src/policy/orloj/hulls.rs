//! The pending requests of a model on convex hulls (`queue=hull`, §4.4).
//!
//! A request's score in a queue is alpha u + beta with u = exp(b (t - T0)). As time goes on only u changes,
//! except at the request's *milestones*: when its slack falls to an edge of the law of the batch's latency,
//! its point is replaced. So a decision looks at the requests with a milestone and at the highest scores,
//! and at no others.
//!
//! ```text
//! if b (t - T0) > reach, or the laws were relearned: T0 <- t, all points anew    lines 1-3
//! for bs in S, r in Q_bs: if t >= Milestone(r): delete, compute, insert          lines 4-9
//!     or, if t + EstimateBatchLatency(r, bs) > D_r: delete                       lines 10-14
//! PopBatch: query, delete; bs times                                              line 22
//! ```
//!
//! # Differences from the paper
//! - Floats round, so a point's value is a little off the score that Eq. 2 gives directly. The point's beta
//!   has a bound of that error added: it stands for the most that the score can be. PopBatch queries until
//!   the next most is below the scores that it has, which are computed directly. So it takes the same
//!   requests as a scan, to the last bit.
//! - Lines 10-14 go through each queue by deadline. Here the instant at which a request has to leave a queue
//!   is kept in the same heap as its milestones: applications have estimates of their own.
//! - D_Qbs comes from a binary heap that forgets what has left when it comes to the top, not from a
//!   Fibonacci heap.

mod agenda;
mod members;
mod queue;
#[cfg(test)]
mod tests;

use self::queue::Queue;
use super::pending::{Entry, Pending};
use super::tables::AppTables;
use crate::request::RequestId;
use crate::time::Time;

/// The largest b (t - T0). §4.4: with b = 1e-4 per millisecond some 1,000 s, which is exp(100).
const REACH: f64 = 100.0;

/// Where a request is among the pending ones, for as long as it waits.
type Slot = u32;

/// The base time T0, and how far from it one may go.
#[derive(Clone, Copy, Debug)]
struct Clock {
    b_per_ns: f64,
    /// T0.
    base: Time,
    /// The largest b (t - T0) before the base is reset.
    reach: f64,
}

impl Clock {
    /// b (t - T0).
    fn since_base(&self, now: Time) -> f64 {
        self.b_per_ns * now.since(self.base).ns() as f64
    }

    /// u = exp(b (t - T0)).
    fn u(&self, now: Time) -> f64 {
        libm::exp(self.since_base(now))
    }
}

/// The pending requests.
pub(super) struct Hulls {
    clock: Clock,
    /// By size.
    queues: Vec<Queue>,
    entries: Vec<Option<Entry>>,
    free: Vec<Slot>,
    /// Those that came since the last decision: they are in no hull yet.
    fresh: Vec<Slot>,
    /// The tables were renewed since the last decision.
    stale: bool,
    /// Scratch: those that left some queue.
    left: Vec<Slot>,
}

impl Hulls {
    /// No request is pending in any of so many queues.
    pub fn new(sizes: usize, b_per_ms: f64) -> Hulls {
        Hulls {
            clock: Clock { b_per_ns: b_per_ms / 1e6, base: Time::ZERO, reach: REACH },
            queues: (0..sizes).map(|_| Queue::default()).collect(),
            entries: Vec::new(),
            free: Vec::new(),
            fresh: Vec::new(),
            stale: false,
            left: Vec::new(),
        }
    }

    /// The same with another limit of b (t - T0).
    #[cfg(test)]
    pub fn with_reach(mut self, reach: f64) -> Hulls {
        self.clock.reach = reach;
        self
    }

    /// Takes a request out of the sizes that are not in `viable` any more; whether it is in none.
    fn leave(&mut self, slot: Slot, size: usize) {
        let entry = self.entries[slot as usize].as_mut().expect("it waits");
        entry.viable &= !(1 << size);
        if entry.viable == 0 {
            self.left.push(slot);
        }
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

    fn renewed(&mut self) {
        self.stale = true;
    }

    fn expire(&mut self, now: Time, tables: &[AppTables], out: &mut Vec<RequestId>) {
        // Lines 1-3: U is R.
        let reset = std::mem::take(&mut self.stale) || self.clock.since_base(now) > self.clock.reach;
        if reset {
            self.clock.base = now;
        }
        for size in 0..self.queues.len() {
            let mut queue = std::mem::take(&mut self.queues[size]);
            let view = queue::View { now, size, clock: self.clock, tables, entries: &self.entries };
            let mut late = match reset {
                true => queue.rebuild(&view),
                false => {
                    // Lines 4-14 for those whose milestone has come.
                    let mut late = queue.update(&view);
                    late.extend(self.fresh.iter().filter(|slot| !queue.enter(&view, **slot)));
                    late
                }
            };
            late.drain(..).for_each(|slot| self.leave(slot, size));
            self.queues[size] = queue;
        }
        self.fresh.clear();
        // The last feasible size is gone: timed out.
        let from = out.len();
        for slot in self.left.drain(..) {
            out.extend(self.entries[slot as usize].take().map(|e| e.id));
            self.free.push(slot);
        }
        out[from..].sort_unstable();
    }

    fn census(&mut self, out: &mut [(u32, Time)]) {
        for (size, (queue, place)) in self.queues.iter_mut().zip(out).enumerate() {
            *place = (queue.len() as u32, queue.earliest(size, &self.entries));
        }
    }

    fn pop_batch(
        &mut self,
        now: Time,
        size: usize,
        k: usize,
        tables: &[AppTables],
        out: &mut Vec<RequestId>,
    ) {
        let view = queue::View { now, size, clock: self.clock, tables, entries: &self.entries };
        self.queues[size].take_best(&view, k, &mut self.left);
        let from = out.len();
        for slot in self.left.drain(..) {
            let entry = self.entries[slot as usize].take().expect("it waits");
            self.free.push(slot);
            out.push(entry.id);
            let others = (0..self.queues.len()).filter(|&i| i != size && entry.viable >> i & 1 == 1);
            others.for_each(|other| self.queues[other].remove(slot, &entry));
        }
        out[from..].sort_unstable();
    }

    fn left_out(&self, size: usize, out: &mut dyn FnMut(RequestId, bool)) {
        let mut all: Vec<&Entry> = self.entries.iter().flatten().collect();
        all.sort_unstable_by_key(|e| e.id);
        all.into_iter().for_each(|e| out(e.id, e.viable >> size & 1 == 1));
    }
}
