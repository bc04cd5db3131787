//! The figures of a part of a run.

use super::Sketch;
use crate::penalty::MILLION;
use crate::request::End;

/// The figures of a model, of an application, or of everything.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Requests that arrived.
    pub offered: u64,
    /// Requests by how they ended, in the order of [`End::ALL`].
    pub ends: [u64; 8],
    /// Cold starts: requests whose model was on no device when they arrived, and on one when they
    /// ended.
    pub cold: u64,
    /// Arrival to answer, of answered requests.
    pub latency: Sketch,
    /// Arrival to the start of the batch, of answered requests.
    pub queueing: Sketch,
    /// What all that arrived would cost if none were answered, millionths; zero where costs are not counted.
    pub at_stake: u128,
    /// Of this, what was not paid.
    pub saved: u128,
}

impl Figures {
    pub(super) fn new(exact: bool) -> Figures {
        Figures {
            offered: 0,
            ends: [0; 8],
            cold: 0,
            latency: Sketch::new(exact),
            queueing: Sketch::new(exact),
            at_stake: 0,
            saved: 0,
        }
    }

    pub(super) fn add(&mut self, other: &Figures) {
        self.offered += other.offered;
        for (a, b) in self.ends.iter_mut().zip(other.ends) {
            *a += b;
        }
        self.cold += other.cold;
        self.latency.add(&other.latency);
        self.queueing.add(&other.queueing);
        self.at_stake += other.at_stake;
        self.saved += other.saved;
    }

    /// Requests that ended so.
    pub fn ended(&self, end: End) -> u64 {
        self.ends[end.index()]
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

    /// Dropped, for whatever reason.
    pub fn dropped(&self) -> u64 {
        self.ends[2..7].iter().sum()
    }
}
