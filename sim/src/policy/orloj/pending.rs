//! The queues Q_bs of a model, one for each batch size, and what leaves them.
//!
//! It chooses no size.

use super::tables::AppTables;
use crate::request::RequestId;
use crate::time::Time;
use std::cmp::Ordering;

/// A request that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub id: RequestId,
    pub app: usize,
    pub deadline: Time,
    /// The sizes whose queue it is in: bit i for the i-th size.
    pub viable: u32,
}

/// The pending requests of a model: one list that is scanned from end to end.
#[derive(Default)]
pub(super) struct Pending {
    entries: Vec<Entry>,
    scored: Vec<(f64, Time, RequestId)>,
}

impl Pending {
    /// Adds a request to every queue.
    pub fn insert(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Lines 10-14: removes requests from the queues of sizes that they can no longer meet; `out`
    /// gets those that are in no queue any more.
    pub fn expire(&mut self, now: Time, tables: &[AppTables], out: &mut Vec<RequestId>) {
        self.entries.retain_mut(|e| {
            for (size, &estimate) in tables[e.app].estimates.iter().enumerate() {
                if now + estimate > e.deadline {
                    e.viable &= !(1 << size);
                }
            }
            if e.viable == 0 {
                out.push(e.id);
            }
            e.viable != 0
        });
    }

    /// For each size, how many requests its queue holds and the earliest of their deadlines.
    pub fn census(&self, out: &mut [(u32, Time)]) {
        for e in &self.entries {
            for (size, (count, earliest)) in out.iter_mut().enumerate() {
                if e.viable >> size & 1 == 1 {
                    *count += 1;
                    *earliest = (*earliest).min(e.deadline);
                }
            }
        }
    }

    /// All that are pending, and whether they are in the queue of a size: for reasons.
    pub fn left_out(&self, size: usize, mut out: impl FnMut(RequestId, bool)) {
        self.entries.iter().for_each(|e| out(e.id, e.viable >> size & 1 == 1));
    }

    /// Line 22: takes the `k` requests with the highest scores out of the queue of a size.
    pub fn pop_batch(
        &mut self,
        now: Time,
        size: usize,
        k: usize,
        tables: &[AppTables],
        out: &mut Vec<RequestId>,
    ) {
        self.scored.clear();
        for e in self.entries.iter().filter(|e| e.viable >> size & 1 == 1) {
            let score = tables[e.app].scores[size].at(e.deadline.since(now));
            self.scored.push((score, e.deadline, e.id));
        }
        if k < self.scored.len() {
            self.scored.select_nth_unstable_by(k - 1, higher_score);
            self.scored.truncate(k);
        }
        self.scored.sort_unstable_by_key(|s| s.2);
        let ids = self.scored.iter().map(|s| s.2);
        // Ids grow along the list, so one pass over both removes the batch.
        let mut taken = ids.clone().peekable();
        self.entries.retain(|e| taken.next_if_eq(&e.id).is_none());
        out.extend(ids);
    }
}

/// Highest score first; ties by deadline, then by id.
fn higher_score(a: &(f64, Time, RequestId), b: &(f64, Time, RequestId)) -> Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2))
}
