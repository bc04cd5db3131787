//! What is counted in a simulation of a pool.

use super::trial::Seen;
use orrery_sim::observer::{Batch, Observer};
use orrery_sim::policy::Outcome;
use orrery_sim::request::{End, Request};
use orrery_sim::time::Time;

/// Counts what ends behind the warm-up.
pub(super) struct Watch {
    /// Arrivals before do not count.
    pub from: Time,
    /// By model: more bad requests than this, and the target is missed.
    pub limit: Vec<f64>,
    /// Whether to stop once the target is missed.
    pub stop_early: bool,
    /// Whether it is.
    pub over: bool,
    /// Bad requests, by model.
    pub bad: Vec<u64>,
    /// Requests, by model.
    pub all: Vec<u64>,
    /// The type of each device.
    pub kind_of: Vec<usize>,
    /// By type.
    pub busy_ns: Vec<u64>,
    /// By type and model.
    pub largest: Vec<Vec<u32>>,
}

impl Watch {
    /// What the run showed, that ended then.
    pub fn seen(self, end: Time) -> Seen {
        let share =
            |(bad, all): (&u64, &u64)| if *all == 0 { 0.0 } else { *bad as f64 / *all as f64 };
        let shares = self.bad.iter().zip(&self.all).map(share).enumerate();
        let worst = |a: (usize, f64), b: (usize, f64)| if b.1 > a.1 { b } else { a };
        let (worst_model, bad_rate) = shares.fold((0, 0.0), worst);
        let (bad, all) = (self.bad.iter().sum::<u64>() as f64, self.all.iter().sum::<u64>() as f64);
        let busy = |(kind, ns): (usize, &u64)| {
            let n = self.kind_of.iter().filter(|k| **k == kind).count();
            if n == 0 { f64::NAN } else { *ns as f64 / (n as f64 * end.ns() as f64) }
        };
        Seen {
            bad_rate,
            worst_model,
            good_share: if all == 0.0 { 1.0 } else { 1.0 - bad / all },
            busy: self.busy_ns.iter().enumerate().map(busy).collect(),
            largest: self.largest,
        }
    }
}

impl Observer for Watch {
    fn closed(&mut self, _: Time, batch: &Batch<'_>, _: Option<Time>, outcome: Outcome) {
        if let Outcome::Done { start, end, .. } = outcome {
            let kind = self.kind_of[batch.device.index()];
            self.busy_ns[kind] += (end - start).ns();
            let largest = &mut self.largest[kind][batch.model.index()];
            *largest = (*largest).max(batch.units);
        }
    }

    fn ended(&mut self, _: Time, request: &Request, end: End, _: Option<Time>) {
        if request.arrival < self.from {
            return;
        }
        let model = request.model.index();
        self.all[model] += 1;
        if end != End::InTime {
            self.bad[model] += 1;
            self.over |= self.stop_early && self.bad[model] as f64 > self.limit[model];
        }
    }

    fn stop(&self) -> bool {
        self.over
    }
}
