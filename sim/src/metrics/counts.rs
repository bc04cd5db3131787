//! What is counted of requests, once: for the figures of a part of a run, and for each batch of their intervals.
//!
//! A new figure is a field here (or a quotient of those that there are), its line in `add`, and two functions: its
//! value, and its interval of [`Batches`].

use super::{Batches, Sketch};
use crate::penalty::MILLION;
use crate::request::End;
use crate::stats::Batched;
use crate::time::NS_PER_MS;
use std::ops::Deref;

/// The counts of some requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Requests that arrived.
    pub offered: u64,
    /// Requests by how they ended, in the order of [`End::ALL`].
    pub ends: [u64; 8],
    /// Cold starts: requests whose model was on no device when they arrived, and on one when they
    /// ended.
    pub cold: u64,
    /// What all that arrived would cost if none were answered, millionths; zero where costs are not counted.
    pub at_stake: u128,
    /// Of this, what was not paid.
    pub saved: u128,
    /// Arrival to answer, the sum over answered requests.
    pub latency_ns: u128,
    /// Arrival to the start of the batch, the sum over answered requests.
    pub queueing_ns: u128,
}

impl Counts {
    pub(super) fn add(&mut self, other: &Counts) {
        self.offered += other.offered;
        for (a, b) in self.ends.iter_mut().zip(other.ends) {
            *a += b;
        }
        self.cold += other.cold;
        self.at_stake += other.at_stake;
        self.saved += other.saved;
        self.latency_ns += other.latency_ns;
        self.queueing_ns += other.queueing_ns;
    }

    /// Requests that ended so.
    pub fn ended(&self, end: End) -> u64 {
        self.ends[end.index()]
    }

    /// Requests that were answered, in time or late.
    pub fn answered(&self) -> u64 {
        self.ended(End::InTime) + self.ended(End::Late)
    }

    /// Dropped, for whatever reason.
    pub fn dropped(&self) -> u64 {
        self.ends[2..7].iter().sum()
    }

    /// Finished in time over all that arrived (Orloj, §5.2); 1 of nothing.
    pub fn finish_rate(&self) -> f64 {
        if self.offered == 0 {
            return 1.0;
        }
        self.ended(End::InTime) as f64 / self.offered as f64
    }

    /// The mean cost of a request that arrived, by its cost function (Orloj, Appendix B); `None` where costs are
    /// not counted. Where each is one after the SLO, it is one less the finish rate, to the last bit.
    pub fn mean_cost(&self) -> Option<f64> {
        let all = self.offered as f64 * MILLION as f64;
        (self.at_stake > 0).then(|| self.at_stake as f64 / all - self.saved as f64 / all)
    }
}

/// The intervals of these figures: each is a ratio of two sums over the batches.
impl Batches {
    /// Finished in time over offered.
    pub fn finish_rate(&self) -> Option<Batched> {
        let rate = self.ratio(|c| c.ended(End::InTime) as f64, |c| c.offered as f64)?;
        Some(Batched { interval: rate.interval.within(0.0, 1.0), ..rate })
    }

    /// The mean cost of a request that arrived.
    pub fn mean_cost(&self) -> Option<Batched> {
        let cost = |c: &Counts| (c.at_stake - c.saved) as f64 / MILLION as f64;
        self.ratio(cost, |c| c.offered as f64)
    }

    /// Requests finished in time a second of the measured part.
    pub fn goodput_per_s(&self) -> Option<Batched> {
        self.per_s(|c| c.ended(End::InTime) as f64)
    }

    /// Arrival to answer, mean over answered requests, milliseconds.
    pub fn mean_latency_ms(&self) -> Option<Batched> {
        self.ratio(|c| c.latency_ns as f64 / NS_PER_MS as f64, |c| c.answered() as f64)
    }

    /// Arrival to the start of the batch, mean over answered requests, milliseconds.
    pub fn mean_queueing_ms(&self) -> Option<Batched> {
        self.ratio(|c| c.queueing_ns as f64 / NS_PER_MS as f64, |c| c.answered() as f64)
    }
}

/// The figures of a model, of an application, or of everything: counts, and what needs more than a sum.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    pub(super) counts: Counts,
    /// Arrival to answer, of answered requests.
    pub latency: Sketch,
    /// Arrival to the start of the batch, of answered requests.
    pub queueing: Sketch,
}

impl Deref for Figures {
    type Target = Counts;

    fn deref(&self) -> &Counts {
        &self.counts
    }
}
