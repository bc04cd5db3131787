//! What one GPU can carry: batch sizes, duty cycles and whether several models fit together.
//!
//! It knows one GPU; which models go to which GPU is [`super::plan`]'s.

use super::Config;
use crate::latency::Latency;
use crate::profile::ModelProfile;
use crate::time::{NS_PER_S, Span};

/// The largest batch of a law that knows every size. The authors' fake profile calls a batch of 500
/// or more impossible.
const BATCH_MAX: u32 = 499;

/// A batch that needs this little more than a whole number of requests is rounded down.
const CEIL_SLACK: f64 = 1e-3;

/// A model as the planner sees it. Durations are in ns, rates in requests per second.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub slo_ns: f64,
    /// Estimated latency of a batch of `i + 1`.
    pub latency: Vec<Span>,
    /// The batch of a GPU that runs nothing else and never idles.
    pub full: usize,
}

impl Model {
    /// Plans the full-GPU batch: the largest whose latency fits twice into the SLO less the margin.
    pub fn new(profile: &ModelProfile, config: &Config) -> Model {
        let estimate = |b: u32| latency(profile, b, config).scale(config.profile_factor);
        let largest = largest_size(profile).max(config.batch.unwrap_or(1));
        let mut latency: Vec<Span> = (1..=largest).map(estimate).collect();
        let budget = Span::from_ns(profile.slo.minus(config.margin).ns() / 2);
        let fits = latency.iter().rposition(|&l| l <= budget).map_or(1, |i| i + 1);
        let full = config.batch.map_or(fits, |b| b as usize);
        latency.truncate(full);
        Model { slo_ns: profile.slo.ns() as f64, latency, full }
    }

    /// l(b).
    pub fn latency_ns(&self, batch: usize) -> f64 {
        // A latency of 0 would make rates infinite.
        self.latency[batch - 1].ns().max(1) as f64
    }

    /// What a GPU of its own carries.
    pub fn full_rate(&self) -> f64 {
        self.full as f64 * NS_PER_S as f64 / self.latency_ns(self.full)
    }

    /// A share of a GPU for this rate: all of the GPU if it is enough to fill one.
    ///
    /// A residual load gathers the largest batch that can wait for its own last request and still
    /// run in time; its cycle may not be longer than it takes to gather that, nor than leaves room
    /// to run it.
    pub fn share(&self, model: usize, rate: f64) -> Share {
        let full_rate = self.full_rate();
        if rate >= full_rate {
            let max_duty_ns = self.latency_ns(self.full);
            return Share { model, rate: full_rate, max_duty_ns, batch: self.full };
        }
        let gather_ns = |requests: usize| requests as f64 / rate * NS_PER_S as f64;
        let fits = |b: &usize| gather_ns(b - 1) + self.latency_ns(*b) <= self.slo_ns;
        let batch = (1..=self.full).take_while(fits).last().unwrap_or(1);
        let latency = self.latency_ns(batch);
        // The last bound concerns only SLOs that cannot hold a batch of one twice.
        let max_duty_ns = (self.slo_ns - latency).min(gather_ns(batch)).max(latency);
        Share { model, rate, max_duty_ns, batch }
    }
}

/// The largest batch that a plan may use. A law that does not depend on the requests is known at
/// every size, measured or not.
fn largest_size(profile: &ModelProfile) -> u32 {
    match &profile.law {
        Latency::Affine { .. } => BATCH_MAX,
        Latency::Table(rows) => rows.last().map_or(1, |r| r.0.clamp(1, BATCH_MAX)),
        Latency::Samples(replay) => replay.table.largest().min(BATCH_MAX),
        Latency::Eq3 { .. }
        | Latency::Proportional { .. }
        | Latency::Poly { .. }
        | Latency::Grid(_) => profile.sizes.last().map_or(1, |s| s.size),
    }
}

fn latency(profile: &ModelProfile, batch: u32, config: &Config) -> Span {
    match &profile.law {
        law if !law.depends_on_longest() => law.batch(batch, Span::ZERO),
        _ => {
            let size = profile.size(batch);
            size.mean + size.std.scale(config.std_factor)
        }
    }
}

/// A model's part of a GPU.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Share {
    pub model: usize,
    /// The rate that it is meant to carry.
    pub rate: f64,
    /// The longest cycle that keeps the model in time.
    pub max_duty_ns: f64,
    /// The batch in each cycle.
    pub batch: usize,
}

impl Share {
    /// The batch that it gathers in a cycle.
    fn gathered(&self, models: &[Model], duty_ns: f64) -> usize {
        let gathered = duty_ns * self.rate / NS_PER_S as f64;
        let batch = (gathered - CEIL_SLACK).max(0.0) as usize;
        // Not `ceil`, whose value for a negative zero would need a word of its own.
        let batch = if gathered - CEIL_SLACK > batch as f64 { batch + 1 } else { batch };
        batch.clamp(1, models[self.model].full)
    }
}

/// The shortest cycle of these shares.
fn shortest_ns<'a>(shares: impl Iterator<Item = &'a Share>) -> f64 {
    shares.map(|s| s.max_duty_ns).fold(f64::INFINITY, f64::min)
}

/// The plan of one GPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Node {
    pub shares: Vec<Share>,
    /// The cycle in which every share runs one batch.
    pub duty_ns: f64,
    /// How much of the cycle the batches take; above 1 it is overloaded.
    pub occupancy: f64,
}

impl Node {
    /// The GPU with these shares: the shortest of their cycles, and the batches that it gathers.
    pub fn new(models: &[Model], mut shares: Vec<Share>) -> Node {
        let duty_ns = shortest_ns(shares.iter());
        let mut work_ns = 0.0;
        for share in &mut shares {
            share.batch = share.gathered(models, duty_ns);
            work_ns += models[share.model].latency_ns(share.batch);
        }
        let occupancy = if shares.is_empty() { 0.0 } else { work_ns / duty_ns };
        Node { shares, duty_ns, occupancy }
    }

    /// How occupied the GPU is with one more share; none if its batches would then not fit into the cycle.
    pub fn occupancy_with(&self, models: &[Model], share: &Share) -> Option<f64> {
        if self.share_of(share.model).is_some() {
            return None;
        }
        let all = || self.shares.iter().chain(std::iter::once(share));
        let duty_ns = shortest_ns(all());
        let work_ns =
            all().fold(0.0, |sum, s| sum + models[s.model].latency_ns(s.gathered(models, duty_ns)));
        // A saturated GPU's work is its cycle, but for the last digit.
        Some(work_ns / duty_ns).filter(|occupancy| *occupancy <= 1.0 + 1e-9)
    }

    /// The GPU with one more share, unless its batches would then not fit into the cycle.
    pub fn with(&self, models: &[Model], share: &Share) -> Option<Node> {
        self.occupancy_with(models, share)?;
        let more = self.shares.iter().chain(std::iter::once(share)).cloned().collect();
        Some(Node::new(models, more))
    }

    /// The model's share, if it has one here.
    pub fn share_of(&self, model: usize) -> Option<&Share> {
        self.shares.iter().find(|s| s.model == model)
    }

    /// The same GPU without this model.
    pub fn without(&self, models: &[Model], model: usize) -> Node {
        Node::new(models, self.shares.iter().filter(|s| s.model != model).cloned().collect())
    }
}
