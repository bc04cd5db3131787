//! One model on one pool of several kinds: what searches over hundreds of pools and rates ask for. A pool is a
//! [`Setup`] with counts, and draws from the streams of the scenario file that says the same.
//!
//! ```text
//!  PoolModel (kinds, QoS) ─┐
//!  counts, policy ─────────┼─> PoolRun ── setup ──> allowable ──> the highest rate at which the QoS holds
//!  arrivals, sizes ────────┘
//! ```
//!
//! It is not for clusters of many models: a scenario file is.

mod allowable;

pub use allowable::{Allowable, Search, SearchError, allowable, probe};

use crate::error::SpecError;
use crate::kairos;
use crate::policy_spec::PolicySpec;
use crate::setup::{ProfileSetup, Setup, Workload};
use orrery_sim::cluster::DeviceSpec;
use orrery_sim::core::CoreSpec;
use orrery_sim::driver::World;
use orrery_sim::latency::{Latency, Replay, SampleTable};
use orrery_sim::profile::KindsProfile;
use orrery_sim::request::{AppId, ModelId};
use orrery_sim::time::{Span, Time};
use orrery_traces::arrivals::{ArrivalLaw, Limited};
use orrery_traces::exec_time::ExecLaw;
use orrery_traces::query_sizes::{SizeLaw, with_sizes};
use orrery_traces::workload::{Application, OpenWorkload};
use std::rc::Rc;
use std::sync::Arc;

/// A model on the kinds of a pool.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolModel {
    /// The truth on each kind; of samples the seed is the run's.
    pub truth: Vec<Latency>,
    /// What policies believe of each kind; of samples their means.
    pub believed: Vec<Latency>,
    /// The number of the base kind.
    pub base: u32,
    /// The largest query, in items.
    pub largest: u32,
    /// The target of the percentile.
    pub qos: Span,
}

impl PoolModel {
    /// One of Kairos's models on its four types of instances, in the order of
    /// [`kairos::instance_types`]. `None` when there is no such model.
    pub fn kairos(name: &str) -> Option<PoolModel> {
        let model = kairos::measured(name)?;
        let replay =
            |t: &Arc<SampleTable>| Latency::Samples(Replay { table: Arc::clone(t), seed: 0 });
        let truth: Vec<Latency> = model.samples.iter().map(replay).collect();
        let base = kairos::instance_types().iter().position(|t| t.is_base)? as u32;
        let largest = model.samples[0].largest();
        Some(PoolModel { believed: truth.clone(), truth, base, largest, qos: model.qos })
    }
}

/// A run on a pool.
#[derive(Clone, Debug)]
pub struct PoolRun<'a> {
    /// The model.
    pub model: &'a PoolModel,
    /// How many instances of each kind.
    pub counts: &'a [u32],
    /// The policy.
    pub policy: &'a PolicySpec,
    /// When queries arrive; its rate is the offered rate.
    pub arrivals: &'a ArrivalLaw,
    /// How large they are.
    pub sizes: &'a SizeLaw,
    /// How many queries.
    pub queries: u64,
    /// Of these, how many at the start do not count.
    pub warm_up: u64,
    /// The percentile that the QoS is of: 0.99.
    pub percentile: f64,
    /// The seed.
    pub seed: u64,
}

impl PoolRun<'_> {
    /// All but the policy and the seed.
    ///
    /// # Errors
    /// When the counts are not those of the model's kinds.
    pub fn setup(&self) -> Result<Setup, SpecError> {
        let PoolModel { truth, believed, base, largest, qos } = self.model;
        let (base, largest, qos) = (*base, *largest, *qos);
        if self.counts.len() != truth.len() || self.counts.iter().all(|&n| n == 0) {
            let found = format!("{:?}", self.counts);
            let allowed = format!("{} counts, not all of them 0", truth.len());
            return Err(SpecError::value("counts", found, allowed, "give one for each kind"));
        }
        let device = |kind: usize| DeviceSpec { kind: kind as u32, ..DeviceSpec::default() };
        let kinds = self.counts.iter().enumerate();
        let devices = kinds.flat_map(|(kind, &n)| (0..n).map(move |_| device(kind))).collect();
        let seeded = |law: &Latency| match law {
            Latency::Samples(r) => {
                Latency::Samples(Replay { table: Arc::clone(&r.table), seed: self.seed })
            }
            law => law.clone(),
        };
        let (app, model) = (AppId(0), ModelId(0));
        let law = ExecLaw::Constant(truth[base as usize].batch(1, Span::ZERO));
        let apps = vec![Application { app, model, weight: 1.0, law, slo: qos, size: 1 }];
        let workload = self.workload(apps.clone());
        let single = Setup::single(believed[base as usize].clone(), apps, qos, workload);
        Ok(Setup {
            world: World {
                core: CoreSpec { devices, models: vec![Default::default()], ..CoreSpec::default() },
                latency: truth.iter().map(|law| vec![seeded(law)]).collect(),
                ..World::default()
            },
            kinds: vec![KindsProfile { laws: believed.clone(), base, largest }],
            // Only latencies by kind and size are known.
            profile: ProfileSetup {
                sizes: vec![1, largest.max(2)],
                batches: 1,
                bins: 1,
                ..single.profile
            },
            places: vec![("arrivals".into(), self.arrivals.mean_rate_per_s().ok())],
            ..single
        })
    }

    /// The queries.
    fn workload(&self, apps: Vec<Application>) -> Workload {
        let (arrivals, sizes, queries) = (self.arrivals.clone(), self.sizes.clone(), self.queries);
        Workload::Sources(Rc::new(move |seed| {
            let process = Limited::new(arrivals.start(seed, 0)?, Time::NEVER, queries);
            let open = OpenWorkload::new(Box::new(process), apps.clone(), seed)?;
            Ok(vec![with_sizes(Box::new(open), vec![Some(sizes.clone())], seed)])
        }))
    }
}

#[cfg(test)]
mod tests;
