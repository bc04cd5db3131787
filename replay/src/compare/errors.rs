//! How far off the prediction was, action by action (Clockwork, §6.5 and Fig. 10).

use super::logs::{ActionRow, Side};
use orrery_sim::log::{Closed, Record};
use std::collections::BTreeMap;

/// An error with its sign: two tails, as Clockwork shows them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signed {
    /// What happened was shorter or earlier than predicted: by how much.
    pub over: Vec<u64>,
    /// It was longer or later: by how much.
    pub under: Vec<u64>,
    /// It was exactly as predicted.
    pub exact: u64,
}

impl Signed {
    fn add(&mut self, predicted_ns: u64, real_ns: u64) {
        match predicted_ns.cmp(&real_ns) {
            std::cmp::Ordering::Greater => self.over.push(predicted_ns - real_ns),
            std::cmp::Ordering::Less => self.under.push(real_ns - predicted_ns),
            std::cmp::Ordering::Equal => self.exact += 1,
        }
    }
}

/// The errors of a run's batches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Errors {
    /// Batches that were compared.
    pub batches: u64,
    /// Batches that have no prediction to be compared with.
    pub unmatched: u64,
    /// Whether predictions are of the very batch (`actions.csv`), or of the same batch in the
    /// predicted log.
    pub of_the_very_batch: bool,
    /// Time on the device.
    pub duration: Signed,
    /// The same in millionths of the prediction, for judging lengths of all sizes together.
    pub duration_ppm: Signed,
    /// From the controller beginning an action to its worker beginning it.
    pub start_lateness: Vec<u64>,
    /// From when a batch was due (its plan, or the end of the one before it) to its beginning.
    pub after_due: Vec<u64>,
    /// When the result was there, against when it was to be: see [`Errors::of`].
    pub completion: Signed,
}

impl Errors {
    /// The errors of the measured side. A batch's predicted completion is
    ///
    /// ```text
    /// max(issued, earliest, predicted completion of the one before it on its executor) + predicted
    /// ```
    ///
    /// as its policy could have known it when it issued it: of one that had ended by then, the real
    /// end counts in place of the predicted one. Batches that were stopped are left out.
    pub fn of(predicted: &Side, measured: &Side) -> Errors {
        match &measured.actions {
            Some(rows) => Errors::of_actions(rows),
            None => Errors::of_logs(predicted, measured),
        }
    }

    fn of_actions(rows: &[ActionRow]) -> Errors {
        let mut errors = Errors { of_the_very_batch: true, ..Errors::default() };
        let mut batches: Vec<&ActionRow> = rows.iter().filter(|r| !r.load).collect();
        batches.sort_by_key(|r| (r.start_ns, r.action));
        // By executor: predicted and real end of the batch before.
        let mut before: BTreeMap<(u32, u8), (u64, u64)> = BTreeMap::new();
        for row in batches {
            let place = (row.device, row.executor);
            let (predicted_end, real_end) = before.get(&place).copied().unwrap_or((0, 0));
            let free = if real_end <= row.issued_ns { real_end } else { predicted_end };
            let start = row.issued_ns.max(row.earliest_ns).max(free);
            let completion = start.saturating_add(row.predicted_ns);
            before.insert(place, (completion, row.end_ns));
            if row.stopped {
                continue;
            }
            errors.batches += 1;
            errors.duration.add(row.predicted_ns, row.device_ns);
            errors.add_relative(row.predicted_ns, row.device_ns);
            errors.start_lateness.push(row.start_ns.saturating_sub(row.began_ns));
            let planned = if row.earliest_ns > 0 { row.earliest_ns } else { row.issued_ns };
            let due = planned.max(real_end);
            errors.after_due.push(row.start_ns.saturating_sub(due));
            errors.completion.add(completion, row.end_ns);
        }
        errors
    }

    /// Of logs alone: batches of the same requests on both sides. Completion is when each side says
    /// that the batch ended.
    fn of_logs(predicted: &Side, measured: &Side) -> Errors {
        let (ours, theirs) = (done(&predicted.records), done(&measured.records));
        let mut errors = Errors::default();
        for (key, (device_ns, end_ns)) in &theirs {
            let Some((predicted_ns, predicted_end_ns)) = ours.get(key) else {
                errors.unmatched += 1;
                continue;
            };
            errors.batches += 1;
            errors.duration.add(*predicted_ns, *device_ns);
            errors.add_relative(*predicted_ns, *device_ns);
            errors.completion.add(*predicted_end_ns, *end_ns);
        }
        errors
    }

    fn add_relative(&mut self, predicted_ns: u64, real_ns: u64) {
        if predicted_ns > 0 {
            let ppm = 1e6 * real_ns as f64 / predicted_ns as f64;
            self.duration_ppm.add(1_000_000, (ppm + 0.5) as u64);
        }
    }
}

/// What tells a batch from others: model, units and requests.
type Key = (u32, u32, Vec<u64>);

/// Batches that ran to their end: time on the device, and when they closed.
fn done(records: &[Record]) -> BTreeMap<Key, (u64, u64)> {
    let mut open = BTreeMap::new();
    let mut done = BTreeMap::new();
    for record in records {
        match record {
            Record::Issue { batch, .. } => {
                let requests = batch.requests.iter().map(|r| r.0).collect();
                open.insert(batch.action, (batch.model.0, batch.units, requests));
            }
            Record::Close { time, action, outcome } => {
                if let (Some(key), Closed::Done(device)) = (open.remove(action), outcome) {
                    done.insert(key, (device.ns(), time.ns()));
                }
            }
            _ => {}
        }
    }
    done
}
