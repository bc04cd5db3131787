//! Several models on several GPUs, for policies that choose among them. Every model takes an affine
//! time, whatever its requests are, and times are told to the nanosecond.

use crate::cluster::DeviceSpec;
use crate::driver::{World, simulate};
use crate::latency::Latency;
use crate::log::{Closed, MemoryLog, Record};
use crate::policy::Policy;
use crate::profile::ModelProfile;
use crate::request::{AppId, Arrival, End, ModelId, VecSource};
use crate::time::{Span, Time};
use std::collections::BTreeMap;

/// GPUs and models.
pub struct Cluster {
    pub world: World,
    pub profiles: Vec<ModelProfile>,
}

impl Cluster {
    /// So many GPUs and models of `alpha` and `beta`, in us.
    pub fn new(gpus: usize, can_preempt: bool, models: &[(u64, u64)]) -> Cluster {
        let us = Span::from_us;
        let law =
            |&(alpha, beta): &(u64, u64)| Latency::Affine { alpha: us(alpha), beta: us(beta) };
        let laws: Vec<Latency> = models.iter().map(law).collect();
        let sizes: Vec<u32> = (1..=64).collect();
        let profile =
            |law: &Latency| ModelProfile::measure(law, us(0), &sizes, 1, || (0, us(1)), 1);
        let profiles = laws.iter().map(profile).collect();
        let mut world = World::single(laws[0].clone());
        world.core.devices = vec![DeviceSpec { can_preempt, ..DeviceSpec::default() }; gpus];
        world.core.models = vec![Default::default(); laws.len()];
        world.latency = vec![laws];
        Cluster { world, profiles }
    }

    pub fn play(&self, policy: impl Policy, arrivals: Vec<Arrival>) -> Story {
        let mut story = Story { ends: vec![End::Pending; arrivals.len()], batches: Vec::new() };
        let source = Box::new(VecSource::new(arrivals));
        let log = simulate(&self.world, vec![source], policy, MemoryLog::default()).observer;
        let mut issued = BTreeMap::new();
        let mut starts = BTreeMap::new();
        for record in log.records {
            match record {
                Record::Issue { batch, .. } => {
                    issued.insert(batch.action, batch);
                }
                Record::Begin { time, action } => {
                    starts.insert(action, time.ns());
                }
                Record::Close { time, action, outcome } => {
                    let batch = &issued[&action];
                    story.batches.push(Batch {
                        gpu: batch.device.0,
                        model: batch.model.0,
                        start: starts.get(&action).copied(),
                        end: time.ns(),
                        done: matches!(outcome, Closed::Done(_)),
                        requests: batch.requests.iter().map(|r| r.0).collect(),
                    });
                }
                Record::End { request, end, .. } => story.ends[request.index()] = end,
                _ => {}
            }
        }
        story
    }
}

/// A batch that came to its end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Batch {
    pub gpu: u32,
    pub model: u32,
    /// `None` when it was taken back before it began.
    pub start: Option<u64>,
    pub end: u64,
    pub done: bool,
    pub requests: Vec<u64>,
}

/// What happened.
#[derive(Debug, PartialEq, Eq)]
pub struct Story {
    /// In the order of their ends.
    pub batches: Vec<Batch>,
    pub ends: Vec<End>,
}

/// A batch that ran to its end, from what a line of a story says.
pub fn done(gpu: u32, model: u32, start: u64, end: u64, requests: &[u64]) -> Batch {
    Batch { gpu, model, start: Some(start), end, done: true, requests: requests.to_vec() }
}

/// A batch that was stopped.
pub fn stopped(gpu: u32, model: u32, start: u64, end: u64, requests: &[u64]) -> Batch {
    Batch { done: false, ..done(gpu, model, start, end, requests) }
}

/// A request at `at` us for a model, with an SLO in us.
pub fn request(at: u64, model: u32, slo: u64) -> Arrival {
    Arrival {
        at: Time::ZERO + Span::from_us(at),
        app: AppId(0),
        model: ModelId(model),
        size: 1,
        slo: Span::from_us(slo),
        alone: Span::from_us(1),
    }
}
