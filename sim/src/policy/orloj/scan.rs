//! The pending requests of a model as one list that is scanned from end to end (`queue=scan`).
//!
//! Every score is computed at every decision. For some dozens of requests nothing is faster.

use super::entry::Entry;
use super::pending::{Pending, Scored, every, higher_score};
use super::tables::Tables;
use crate::request::RequestId;
use crate::time::Time;

/// A pending request.
struct Waiting {
    entry: Entry,
    /// Until then it leaves no queue; not known before its first decision, or under new tables.
    stays_until: Option<Time>,
}

/// The list.
#[derive(Default)]
pub(super) struct Scan {
    /// In the order of ids.
    waiting: Vec<Waiting>,
    scored: Vec<Scored>,
    taken: Vec<RequestId>,
}

impl Scan {
    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Those that wait, in the order of ids.
    pub fn into_waiting(self) -> impl Iterator<Item = Entry> {
        self.waiting.into_iter().map(|w| w.entry)
    }
}

impl Pending for Scan {
    fn insert(&mut self, entry: Entry) {
        self.waiting.push(Waiting { entry, stays_until: None });
    }

    fn renewed(&mut self, tables: &[usize]) {
        for w in &mut self.waiting {
            w.stays_until = None;
            w.entry.app = tables[w.entry.app];
        }
    }

    fn expire(&mut self, now: Time, tables: &Tables, out: &mut Vec<RequestId>) {
        self.waiting.retain_mut(|w| {
            if w.stays_until.is_some_and(|until| now <= until) {
                return true;
            }
            let e = &mut w.entry;
            let estimates = &tables.apps[e.app].estimates;
            w.stays_until = Some(loop {
                let mut until = Time::NEVER;
                for (size, &estimate) in estimates.iter().enumerate() {
                    if now + estimate > e.deadline {
                        e.viable &= !(1 << size);
                    } else if e.is_in(size) {
                        until = until.min(e.deadline.minus(estimate));
                    }
                }
                if e.viable != 0 || !tables.next_deadline(e) {
                    break until;
                }
                e.viable = every(estimates.len());
            });
            if e.viable == 0 {
                out.push(e.id);
            }
            e.viable != 0
        });
    }

    fn census(&mut self, out: &mut [(u32, Time)]) {
        // Most are in every queue.
        let (every, mut in_every) = (every(out.len()), (0, Time::NEVER));
        let count = |(count, earliest): &mut (u32, Time), deadline: Time| {
            *count += 1;
            *earliest = (*earliest).min(deadline);
        };
        for Waiting { entry: e, .. } in &self.waiting {
            if e.viable == every {
                count(&mut in_every, e.deadline);
                continue;
            }
            for (size, queue) in out.iter_mut().enumerate() {
                if e.is_in(size) {
                    count(queue, e.deadline);
                }
            }
        }
        for (count, earliest) in out {
            *count += in_every.0;
            *earliest = (*earliest).min(in_every.1);
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
        self.taken.clear();
        let queue = self.waiting.iter().map(|w| &w.entry).filter(|e| e.is_in(size));
        if queue.clone().count() == k {
            // Whatever their scores are.
            self.taken.extend(queue.map(|e| e.id));
        } else {
            self.scored.clear();
            self.scored.extend(queue.map(|e| (tables.score(e, size, now), e.deadline, e.id)));
            self.scored.select_nth_unstable_by(k - 1, higher_score);
            self.taken.extend(self.scored[..k].iter().map(|s| s.2));
            self.taken.sort_unstable();
        }
        // Ids grow along the list, so one pass over both removes the batch.
        let mut taken = self.taken.iter().peekable();
        self.waiting.retain(|w| taken.next_if_eq(&&w.entry.id).is_none());
        out.extend(&self.taken);
    }

    fn left_out(&self, size: usize, out: &mut dyn FnMut(RequestId, bool)) {
        self.waiting.iter().for_each(|w| out(w.entry.id, w.entry.is_in(size)));
    }
}
