//! The batches of a log that are in flight.
//!
//! A log that makes no sense (`orrery log audit` says where) is followed as far as it goes: what names
//! nothing that is in flight is passed over.

use orrery_sim::log::{BatchRecord, Closed};
use orrery_sim::request::ActionId;
use orrery_sim::time::Time;
use std::collections::VecDeque;

/// A batch that was issued and has not closed.
pub struct Open {
    pub issued: Time,
    pub began: Option<Time>,
    pub batch: BatchRecord,
}

/// Batches that are in flight, in the order of their ids, which is that of their issue.
#[derive(Default)]
pub struct InFlight(VecDeque<Open>);

impl InFlight {
    pub fn issue(&mut self, time: Time, batch: BatchRecord) {
        let at = self.0.partition_point(|o| o.batch.action < batch.action);
        self.0.insert(at, Open { issued: time, began: None, batch });
    }

    fn find(&self, action: ActionId) -> Option<usize> {
        self.0.binary_search_by_key(&action, |o| o.batch.action).ok()
    }

    pub fn begin(&mut self, time: Time, action: ActionId) -> Option<&Open> {
        let open = self.find(action).and_then(|at| self.0.get_mut(at))?;
        open.began = Some(time);
        Some(open)
    }

    pub fn close(&mut self, action: ActionId) -> Option<Open> {
        self.find(action).and_then(|at| self.0.remove(at))
    }

    /// Whether a batch runs that began at `to` or before.
    pub fn began_by(&self, to: Time) -> bool {
        self.0.iter().any(|o| o.began.is_some_and(|b| b <= to))
    }

    /// What is left at the end of a log.
    pub fn drain(&mut self) -> impl Iterator<Item = Open> {
        self.0.drain(..)
    }
}

/// The word of an outcome; `None` is a batch that still ran when the log ended.
pub fn outcome_word(outcome: Option<Closed>) -> &'static str {
    outcome.map_or("running", Closed::word)
}
