//! What is counted of requests, once: for the figures of a part of a run, and for each batch of their intervals.
//!
//! A new figure is a field here (or a quotient of those that there are), its line in `add`, a function for its value,
//! and a [`Ratio`] for its interval.

use super::Sketch;
use crate::penalty::MILLION;
use crate::request::End;
use crate::time::{NS_PER_MS, Span};
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
    /// A request arrived; what it costs at most is at stake.
    #[inline]
    pub(super) fn arrive(&mut self, at_stake: u64) {
        self.offered += 1;
        if at_stake > 0 {
            self.at_stake += u128::from(at_stake);
        }
    }

    /// A request ended, of whose cost so much was saved; its latency and queueing where it was answered.
    #[inline]
    pub(super) fn end(&mut self, end: End, saved: u64, answered: Option<(Span, Span)>) {
        self.ends[end.index()] += 1;
        if saved > 0 {
            self.saved += u128::from(saved);
        }
        if let Some((latency, queueing)) = answered {
            self.latency_ns += u128::from(latency.ns());
            self.queueing_ns += u128::from(queueing.ns());
        }
    }

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

/// A figure that is a quotient of two sums. Its interval is that of [`Batches::ratio`](super::Batches::ratio).
#[derive(Clone, Copy, Debug)]
pub struct Ratio {
    pub(super) top: fn(&Counts) -> f64,
    pub(super) bottom: fn(&Counts) -> f64,
    /// Whether it lies within 0 and 1, and so does its interval.
    pub(super) is_share: bool,
}

impl Ratio {
    /// Finished in time over offered.
    pub const FINISH_RATE: Ratio = Ratio {
        top: |c| c.ended(End::InTime) as f64,
        bottom: |c| c.offered as f64,
        is_share: true,
    };
    /// The mean cost of a request that arrived.
    pub const MEAN_COST: Ratio = Ratio {
        top: |c| (c.at_stake - c.saved) as f64 / MILLION as f64,
        bottom: |c| c.offered as f64,
        is_share: false,
    };
    /// Arrival to answer, mean over answered requests, milliseconds.
    pub const MEAN_LATENCY_MS: Ratio = Ratio {
        top: |c| c.latency_ns as f64 / NS_PER_MS as f64,
        bottom: |c| c.answered() as f64,
        is_share: false,
    };
    /// Arrival to the start of the batch, mean over answered requests, milliseconds.
    pub const MEAN_QUEUEING_MS: Ratio = Ratio {
        top: |c| c.queueing_ns as f64 / NS_PER_MS as f64,
        bottom: |c| c.answered() as f64,
        is_share: false,
    };
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
