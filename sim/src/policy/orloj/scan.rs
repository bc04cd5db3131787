//! The pending requests of a model as one list that is scanned from end to end (`queue=scan`).
//!
//! Every score is computed at every decision. For some dozens of requests nothing is faster.

use super::pending::{Entry, Pending, Scored, higher_score};
use super::tables::AppTables;
use crate::request::RequestId;
use crate::time::Time;

/// The list.
#[derive(Default)]
pub(super) struct Scan {
    /// In the order of ids.
    entries: Vec<Entry>,
    scored: Vec<Scored>,
}

impl Pending for Scan {
    fn insert(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    fn expire(&mut self, now: Time, tables: &[AppTables], out: &mut Vec<RequestId>) {
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

    fn census(&mut self, out: &mut [(u32, Time)]) {
        for e in &self.entries {
            for (size, (count, earliest)) in out.iter_mut().enumerate() {
                if e.viable >> size & 1 == 1 {
                    *count += 1;
                    *earliest = (*earliest).min(e.deadline);
                }
            }
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

    fn left_out(&self, size: usize, out: &mut dyn FnMut(RequestId, bool)) {
        self.entries.iter().for_each(|e| out(e.id, e.viable >> size & 1 == 1));
    }
}
