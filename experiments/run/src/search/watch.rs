//! What a simulation of a pool shows beside its verdict.

use super::Probe;
use orrery_sim::observer::{Batch, Observer};
use orrery_sim::policy::Outcome;
use orrery_sim::time::Time;
use serde::{Deserialize, Serialize};

/// What a run showed.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Seen {
    /// Requests simulated, those of the warm-up among them.
    pub requests: u64,
    /// The worst model's share of bad requests.
    pub bad_rate: f64,
    /// Which model that is.
    pub worst_model: usize,
    /// The share of all requests that were good.
    pub good_share: f64,
    /// By type: the share of the instances' time that they computed; `NaN` where there is none.
    pub busy: Vec<f64>,
    /// By type: instances that computed nothing.
    pub idle: Vec<u32>,
    /// By type and model: the largest batch, in items.
    pub largest: Vec<Vec<u32>>,
}

/// Adds up what the devices did.
#[derive(Clone, Debug)]
pub struct Watch {
    /// The type of each device.
    kind_of: Vec<usize>,
    /// By device.
    busy_ns: Vec<u64>,
    /// By type and model.
    largest: Vec<Vec<u32>>,
    end: Time,
}

impl Watch {
    /// For devices of these types.
    pub fn new(kind_of: Vec<usize>, types: usize, models: usize) -> Watch {
        let busy_ns = vec![0; kind_of.len()];
        Watch { kind_of, busy_ns, largest: vec![vec![0; models]; types], end: Time::ZERO }
    }

    /// What the run showed.
    pub fn seen(self, probe: &Probe) -> Seen {
        let types = self.largest.len();
        let of = |kind: usize| {
            let all = self.kind_of.iter().zip(&self.busy_ns);
            all.filter(move |(k, _)| **k == kind).map(|(_, ns)| *ns)
        };
        let busy = |kind: usize| {
            let n = of(kind).count();
            let ns: u64 = of(kind).sum();
            if n == 0 { f64::NAN } else { ns as f64 / (n as f64 * self.end.ns() as f64) }
        };
        Seen {
            requests: probe.requests,
            bad_rate: probe.bad_rate,
            worst_model: probe.worst_model,
            good_share: probe.good_share,
            busy: (0..types).map(busy).collect(),
            idle: (0..types).map(|kind| of(kind).filter(|ns| *ns == 0).count() as u32).collect(),
            largest: self.largest,
        }
    }
}

impl Observer for Watch {
    fn closed(&mut self, _: Time, batch: &Batch<'_>, _: Option<Time>, outcome: Outcome) {
        if let Outcome::Done { start, end, .. } = outcome {
            self.busy_ns[batch.device.index()] += (end - start).ns();
            let kind = self.kind_of[batch.device.index()];
            let largest = &mut self.largest[kind][batch.model.index()];
            *largest = (*largest).max(batch.units);
        }
    }

    fn finished(&mut self, now: Time) {
        self.end = now;
    }
}
