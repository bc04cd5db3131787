//! One model on one pool of several kinds, simulated with as little set-up as can be: what searches
//! over hundreds of pools and rates call. It draws from the same streams as a scenario file does, so
//! the same pool in a file gives the same run.
//!
//! ```text
//!  PoolModel (kinds, QoS) ─┐
//!  counts, policy ─────────┼─> PoolRun ── allowable ──> the highest rate at which the QoS holds
//!  arrivals, sizes, seed ──┘
//! ```
//!
//! It is not for clusters of many models: a scenario file is.

mod allowable;

pub use allowable::{Allowable, Search, SearchError, allowable, probe};

use crate::error::SpecError;
use crate::kairos;
use crate::policy_spec::PolicySpec;
use crate::setup::Sources;
use orrery_sim::cluster::DeviceSpec;
use orrery_sim::core::CoreSpec;
use orrery_sim::driver::{Failure, World, simulate};
use orrery_sim::latency::{Latency, Replay, SampleTable};
use orrery_sim::observer::Observer;
use orrery_sim::policy::Policy;
use orrery_sim::profile::{KindsProfile, ModelProfile};
use orrery_sim::request::{AppId, ModelId, Source};
use orrery_sim::time::{Span, Time};
use orrery_traces::arrivals::{ArrivalLaw, Limited};
use orrery_traces::exec_time::ExecLaw;
use orrery_traces::query_sizes::{SizeLaw, with_sizes};
use orrery_traces::workload::{Application, OpenWorkload};
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

    fn profile(&self) -> ModelProfile {
        let laws = self.believed.clone();
        let kinds = KindsProfile { laws, base: self.base, largest: self.largest };
        ModelProfile::of_kinds(kinds, self.qos)
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

/// Simulates a run on a pool, and shows it to an observer.
///
/// # Errors
/// When a parameter of the arrivals is out of range, or the counts are not those of the model's kinds.
pub fn simulate_pool<O: Observer>(run: &PoolRun<'_>, observer: O) -> Result<O, SpecError> {
    let (world, sources, policy) = parts(run)?;
    let finished = simulate(&world, sources, policy, observer);
    match &finished.failure {
        Some(failure) => Err(failed(run, failure)),
        None => Ok(finished.observer),
    }
}

/// The error of a run that is not whole.
fn failed(run: &PoolRun<'_>, failure: &Failure) -> SpecError {
    let rate = run.arrivals.mean_rate_per_s().unwrap_or(0.0);
    let found = format!("{rate} requests/s, where {failure}");
    SpecError::value("arrivals", found, "a run within 2^64 ns", "raise the rate")
}

/// What a run is simulated with.
fn parts(run: &PoolRun<'_>) -> Result<(World, Sources, Box<dyn Policy>), SpecError> {
    let model = run.model;
    if run.counts.len() != model.truth.len() || run.counts.iter().all(|&n| n == 0) {
        let found = format!("{:?}", run.counts);
        let allowed = format!("{} counts, not all of them 0", model.truth.len());
        return Err(SpecError::value("counts", found, allowed, "give one for each kind"));
    }
    let kinds = run.counts.iter().enumerate();
    let device = |kind: usize| DeviceSpec { kind: kind as u32, ..DeviceSpec::default() };
    let devices: Vec<DeviceSpec> =
        kinds.flat_map(|(kind, &n)| (0..n).map(move |_| device(kind))).collect();
    let truth = |law: &Latency| match law {
        Latency::Samples(r) => {
            Latency::Samples(Replay { table: Arc::clone(&r.table), seed: run.seed })
        }
        law => law.clone(),
    };
    let world = World {
        core: CoreSpec { devices, models: vec![Default::default()], ..CoreSpec::default() },
        latency: model.truth.iter().map(|law| vec![truth(law)]).collect(),
        ..World::default()
    };
    let policy = run.policy.build(&[model.profile()], run.seed);
    Ok((world, vec![source(run)?], policy))
}

/// The queries of a run.
fn source(run: &PoolRun<'_>) -> Result<Box<dyn Source>, SpecError> {
    let app = Application {
        app: AppId(0),
        model: ModelId(0),
        weight: 1.0,
        law: ExecLaw::Constant(run.model.truth[run.model.base as usize].batch(1, Span::ZERO)),
        slo: run.model.qos,
        size: 1,
    };
    let process = Limited::new(run.arrivals.start(run.seed, 0)?, Time::NEVER, run.queries);
    let open = OpenWorkload::new(Box::new(process), vec![app], run.seed)?;
    Ok(with_sizes(Box::new(open), vec![Some(run.sizes.clone())], run.seed))
}

#[cfg(test)]
mod tests;
