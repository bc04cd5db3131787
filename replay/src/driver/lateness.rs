//! How late the host was, and whether its run can be believed.

use crate::quantiles::Quantiles;
use orrery_sim::time::Span;
use serde::{Deserialize, Serialize};

/// Whether a run can be believed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The host kept up.
    #[default]
    Valid,
    /// It did not, for the reason given: what came out says nothing of the scheduler.
    Invalid(String),
}

/// How late the host was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lateness {
    /// From a request's recorded instant to the controller taking it.
    pub arrivals: Quantiles,
    /// From the instant at which anything else was due (a timer, a window, a device's result) to the
    /// controller acting on it.
    pub decisions: Quantiles,
    /// From the controller beginning an action to its worker beginning it.
    pub launches: Quantiles,
    /// What follows from them.
    pub verdict: Verdict,
}

impl Lateness {
    /// Why the run cannot be believed, if so.
    pub fn invalid(&self) -> Option<String> {
        match &self.verdict {
            Verdict::Valid => None,
            Verdict::Invalid(why) => Some(why.clone()),
        }
    }

    pub(super) fn judged(mut self, max: Span) -> Lateness {
        let kinds = [
            ("arrivals", &self.arrivals),
            ("decisions", &self.decisions),
            ("launches", &self.launches),
        ];
        let late = kinds.into_iter().find(|(_, q)| q.p99_ns > max.ns());
        self.verdict = match late {
            None => Verdict::Valid,
            Some((what, q)) => Verdict::Invalid(format!(
                "the host could not keep up: the p99 of the lateness of {what} is {} us, more than \
                 {} us",
                q.p99_ns / 1000,
                max.ns() / 1000
            )),
        };
        self
    }
}

/// How late everything was, in nanoseconds.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    pub arrivals: Vec<u64>,
    pub decisions: Vec<u64>,
    pub launches: Vec<u64>,
}

impl Recorder {
    pub fn lateness(self) -> Lateness {
        Lateness {
            arrivals: Quantiles::of(self.arrivals),
            decisions: Quantiles::of(self.decisions),
            launches: Quantiles::of(self.launches),
            verdict: Verdict::Valid,
        }
    }
}
