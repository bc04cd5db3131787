//! A model's queue and the batch that it can make: the paper's GetBatch, and the released
//! `IncrementalBatchPolicy` (batch_policy.cpp).
//!
//! ```text
//!   front                                    back      by (deadline, id)
//!   | late (fcfs only) |  skipped  |   live   |
//! ```
//!
//! Released, these are three sorted sets: `timeout`, `prefix` and `suffix`. A live request is
//! skipped when the whole backlog could not run with it in time, and never becomes live again; it is
//! still served when the batch that is made has room for it. What is skipped is always earlier than
//! what is live, so one sorted queue and two counters hold all three.
//!
//! It knows no GPU and sets no timer.

use super::Gather;
use super::costs::Costs;
use crate::policy::Actions;
use crate::request::{Drop, RequestId};
use crate::time::Time;
use std::collections::VecDeque;

/// A request that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    /// The scheduler's: what the answer's way back takes is off.
    pub deadline: Time,
    pub id: RequestId,
    pub arrival: Time,
}

/// What could be dispatched: the first `size` requests of the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    pub size: usize,
    /// The earliest deadline that it keeps; `NEVER` when there is none to keep.
    pub deadline: Time,
    /// When the request with that deadline came.
    pub arrival: Time,
}

/// The queue. See the module's text.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: VecDeque<Waiting>,
    late: usize,
    skipped: usize,
}

impl Queue {
    /// Adds a request. One that is earlier than a skipped one is skipped with it.
    #[inline]
    pub fn push(&mut self, request: Waiting) {
        let key = |w: &Waiting| (w.deadline, w.id);
        if self.waiting.back().is_none_or(|last| key(last) < key(&request)) {
            self.waiting.push_back(request);
            return;
        }
        let at = self.waiting.partition_point(|w| key(w) < key(&request));
        self.waiting.insert(at, request);
        if at < self.late {
            self.late += 1;
        } else if at < self.late + self.skipped {
            self.skipped += 1;
        }
    }

    fn live(&self) -> usize {
        self.waiting.len() - self.late - self.skipped
    }

    /// The deadline of the first skipped request. When no batch can be made, no later event needs
    /// the queue before then.
    pub fn skipped_until(&self) -> Time {
        match self.skipped {
            0 => Time::NEVER,
            _ => self.waiting[self.late].deadline,
        }
    }

    /// The batch for a GPU that is free at `free`, if there is one; drops what cannot be served.
    #[inline]
    pub fn gather(
        &mut self,
        rule: Gather,
        (now, free): (Time, Time),
        target: usize,
        costs: &Costs,
        out: &mut Actions,
    ) -> Option<Batch> {
        if rule == Gather::Head {
            return self.gather_head(now, free, costs, out);
        }
        let late = self.late;
        self.skip(late, now, free, costs);
        let mut size = target.min(late + self.live());
        if size == 0 {
            // Released, the skipped ones stay until the next request comes, however late.
            self.give_up(rule, now, (now, 0), out);
            size = target.min(self.late);
            return (size > 0).then_some(Batch { size, deadline: Time::NEVER, arrival: now });
        }
        self.give_up(rule, costs.finish(now, free, size), (now, size), out);
        if size <= late {
            return Some(Batch { size, deadline: Time::NEVER, arrival: now });
        }
        let Waiting { deadline, arrival, .. } = self.waiting[self.late];
        // What has become late just now does not count yet (as released).
        let most = self.waiting.len() - (self.late - late);
        let size = grow(costs, now, free, deadline, size, most);
        Some(Batch { size, deadline, arrival })
    }

    /// Drops what would be late even alone; then the largest batch from the head (the paper's
    /// GetBatch, released as `kDropTimeout`).
    fn gather_head(
        &mut self,
        now: Time,
        free: Time,
        costs: &Costs,
        out: &mut Actions,
    ) -> Option<Batch> {
        let finish = costs.finish(now, free, 1);
        while self.waiting.front()?.deadline < finish {
            self.drop_first(finish, (now, 1), out);
        }
        let Waiting { deadline, arrival, .. } = *self.waiting.front()?;
        let size = grow(costs, now, free, deadline, 1, self.waiting.len());
        Some(Batch { size, deadline, arrival })
    }

    /// Skips live heads with which the whole live backlog could not run in time.
    #[inline]
    fn skip(&mut self, late: usize, now: Time, free: Time, costs: &Costs) {
        while let Some(head) = self.waiting.get(self.late + self.skipped) {
            if head.deadline >= costs.finish(now, free, late + self.live()) {
                return;
            }
            self.skipped += 1;
        }
    }

    /// Gives up skipped requests whose deadlines are before `finish`.
    fn give_up(&mut self, rule: Gather, finish: Time, why: (Time, usize), out: &mut Actions) {
        while self.skipped > 0 && self.waiting[self.late].deadline < finish {
            self.skipped -= 1;
            if rule == Gather::Fcfs {
                self.late += 1;
            } else {
                self.drop_first(finish, why, out);
            }
        }
    }

    fn drop_first(&mut self, finish: Time, (now, size): (Time, usize), out: &mut Actions) {
        let Waiting { deadline, id, .. } = self.waiting.pop_front().expect("one to drop");
        out.why(id, || match (size, finish - deadline) {
            (0, late) => format!("no batch had room for it, and its deadline passed {late} ago"),
            (_, late) => format!(
                "early drop: a batch of {size} sent at {now} would end {late} after its deadline"
            ),
        });
        out.end(id, Drop::Infeasible);
    }

    /// Takes the first `size` requests out.
    pub fn take(&mut self, size: usize, batch: &mut Vec<RequestId>) {
        batch.extend(self.waiting.drain(..size).map(|w| w.id));
        let late = size.min(self.late);
        self.late -= late;
        self.skipped -= (size - late).min(self.skipped);
    }
}

/// The largest batch up to `most` that ends by `deadline`; at least `size`, which does.
#[inline]
fn grow(costs: &Costs, now: Time, free: Time, deadline: Time, size: usize, most: usize) -> usize {
    let most = most.min(costs.max_batch());
    let fits = |size: usize| costs.finish(now, free, size) <= deadline;
    if size >= most || fits(most) {
        return size.max(most);
    }
    let (mut fit, mut unfit) = (size, most);
    while unfit - fit > 1 {
        let middle = fit.midpoint(unfit);
        if fits(middle) {
            fit = middle;
        } else {
            unfit = middle;
        }
    }
    fit
}
