//! Nexus (Shen et al., SOSP 2019) on a cluster: squishy bin packing and epochs (§6.1), batching and
//! early drop (§6.3); as Symphony compares with it (§2.2, §5).
//!
//! Nexus decides in advance which models share which GPU, and how large their batches are, from
//! measured rates. Between two plans nobody coordinates: frontends send requests blindly, in
//! proportion to the plan, and each GPU runs whatever it has got, model after model. A model that
//! fills GPUs gets them for itself, with the largest batch that fits twice into its SLO; what is left
//! of its rate shares a GPU with other models, in a common cycle that is short enough for all.
//!
//! ```text
//! plan:        full batch:  largest b with l(b) <= (SLO - 2 ms) / 2
//!              residual w:  largest b with (b-1)/w + l(b) <= SLO
//!                           longest cycle = min(SLO - l(b), b/w)
//!              GPU:         cycle = shortest of its models';  b_i = ceil(cycle w_i);  sum l(b_i) <= cycle
//! each second:              rate <- rate + gain (requests of that second - rate)
//! each epoch:               plan for these rates; early when one is not within 0.8 to 1.1 of the plan
//! on request (frontend):    next GPU of its model by deficit round robin; quantum = its rate / the least
//! on a GPU that is free:    next model in turn with a queue
//!     take its batch, at most b_i, and drop what would make it late (early drop); execute; next model
//! ```
//!
//! # Parts
//! `node`: what one GPU carries; `plan`: which GPU carries what; `adjust`: the same for new rates; `rates`: the measured rates;
//! `frontend`: the round robins; `backend`: a GPU's queues and its turn.
//!
//! # Static plans
//! A planner that follows the measured rate has no head-room, so its goodput is no goodput of the
//! batching: Symphony's authors give each GPU a fixed schedule. `plan=full` gives each GPU to one
//! model, in turn, with its full batch. `plan=static` packs once, for the largest total rate that fits
//! (by bisection), with rates that are equal for all models or fall as `1/rank^skew` in the order of
//! the models' file. Profiles say nothing of the models' shares of the load, so these are given.
//!
//! # Differences from the paper
//! - `released` adjusts the plan that is there, `paper` packs anew (`packing=squishy`) and lowers all
//!   rates alike when they do not fit: it asks for more GPUs, which a cluster of this size has not.
//! - No queries of several models (§6.2) and no prefix batching.
//! - Backends do not wait for their cycle: they are work-conserving, as released.
//!
//! # Differences from the released code
//! - Its idle loop goes round every 50 us (`poll_us`); ours acts at the instant by default.
//! - What is dropped is told at once, not at the end of the batch.
//! - A residual load's batch is at most the full one.
//! - How a rate that has grown is spread over the GPUs that the model has already: its shares grow up
//!   to a full GPU, the largest first, and an overloaded GPU keeps its longest batches.
//! - A model for which no GPU is left shares the least occupied one. There is no GPU at all: its
//!   requests are shed.
//! - Which frontend a request comes to is no part of it: they take turns by arrival, or (`deal=random`)
//!   are chosen at random. All frontends start with the first GPU; which one is first is not known.
//! - `turns=smooth` is ours: a GPU's requests of a round are apart, where the deficit sends them in a row.
//! - Of a silence, only the last 300 beacons are made up for.
//! - A GPU's queue is lost with it. Its models find other GPUs at once.
//! - One profile for all kinds of GPUs; every model is resident everywhere.

mod adjust;
mod backend;
mod config;
mod frontend;
mod node;
mod plan;
mod rates;
#[cfg(test)]
mod tests;

pub use self::config::{Config, Deal, Packing, Planning, Turns};

use self::backend::Backend;
use self::frontend::Frontends;
use self::node::Model;
use self::plan::{Plan, RATE_MIN};
use self::rates::Rates;
use super::free_devices::did_not_run;
use super::parameters::{Build, Settings};
use super::{Actions, Event, Known, Outcome, Policy, TimerKey};
use crate::cluster::Change;
use crate::profile::ModelProfile;
use crate::request::{DeviceId, Drop, Request, RequestId};
use crate::time::{Span, Time};

/// Beacons that are made up for after a silence: in so many every rate falls to next to nothing.
const SILENCE_MAX: u64 = 300;
/// Outside of this range of what the plan carries, a rate asks for a new plan. Released code.
const STEADY: std::ops::RangeInclusive<f64> = 0.8..=1.1;

/// The policy. See the module's text.
pub struct NexusCluster {
    config: Config,
    models: Vec<Model>,
    plan: Plan,
    /// GPUs have come or gone since a plan that is made once was made: it is made anew before it is needed.
    stale: bool,
    rates: Rates,
    frontends: Frontends,
    /// By device.
    gpus: Vec<Backend>,
    planned_at: Time,
    next_beacon: Time,
    batch: Vec<RequestId>,
}

impl NexusCluster {
    /// Nexus before its start.
    pub fn new(config: Config, profiles: &[ModelProfile]) -> NexusCluster {
        let model = |p: &ModelProfile| Model::new(p, &config);
        let models: Vec<Model> = profiles.iter().map(model).collect();
        NexusCluster {
            plan: Plan::new(models.len()),
            stale: false,
            rates: Rates::new(models.len(), config.beacon),
            frontends: Frontends::new(&config, models.len()),
            gpus: Vec::new(),
            planned_at: Time::ZERO,
            next_beacon: Time::NEVER,
            batch: Vec::new(),
            config,
            models,
        }
    }

    fn start(&mut self, now: Time, known: &Known<'_>) {
        for device in known.devices() {
            self.gpus.push(Backend::new(device.id, now));
            self.plan.add(device.id.index());
        }
        (self.planned_at, self.next_beacon) = (now, now + self.config.beacon);
        match self.config.planning {
            Planning::Dynamic => self.plan.first(&self.models),
            Planning::Static | Planning::Full => self.plan_once(),
        }
        self.apply();
    }

    fn plan_once(&mut self) {
        if self.config.planning == Planning::Full {
            return self.plan.full(&self.models);
        }
        let rank = |m: usize| libm::pow(1.0 + m as f64, -self.config.skew);
        let weights: Vec<f64> = (0..self.models.len()).map(rank).collect();
        self.plan.scaled(&self.models, &weights, self.config.packing);
    }

    /// Tells GPUs and frontends the plan.
    fn apply(&mut self) {
        for (gpu, node) in self.gpus.iter_mut().zip(&self.plan.nodes) {
            let batch = |planned: usize| self.config.batch.map_or(planned, |b| b as usize);
            let shares = node.shares.iter().map(|s| (s.model, batch(s.batch)));
            gpu.configure(&shares.collect::<Vec<_>>());
        }
        for model in 0..self.models.len() {
            let shares: Vec<_> = self.plan.shares_of(model).map(|(g, s)| (g, s.rate)).collect();
            self.frontends.set(model, &shares);
        }
    }

    /// The rates are reported; a new plan if it is time for one.
    fn beacon(&mut self, at: Time) {
        self.rates.beacon();
        let age = at - self.planned_at;
        let Config { history, epoch, early, packing, .. } = self.config;
        let known = self.rates.beacons >= u64::from(history);
        if !known || (age < epoch && (age < early || self.is_steady())) {
            return;
        }
        match packing {
            Packing::Adjust => self.plan.adjust(&self.models, &self.rates.estimates),
            Packing::Squishy => self.plan.repack(&self.models, &self.rates.estimates, packing),
        }
        self.planned_at = at;
        self.apply();
    }

    /// Whether the plan still carries about what is measured.
    fn is_steady(&self) -> bool {
        let steady = |(m, rate): (usize, &f64)| {
            STEADY.contains(&(rate.max(RATE_MIN) / self.plan.assigned(m)))
        };
        self.rates.estimates.iter().enumerate().all(steady)
    }

    /// Makes up for the beacons before `now`. Nothing but requests and results asks what the plan is,
    /// so they need no timer, which would keep a run alive that is over.
    fn catch_up(&mut self, now: Time) {
        if self.config.planning != Planning::Dynamic {
            return;
        }
        let step = self.config.beacon;
        let missed = now.since(self.next_beacon).ns().div_ceil(step.ns());
        self.next_beacon += step * missed.saturating_sub(SILENCE_MAX);
        while self.next_beacon < now {
            self.beacon(self.next_beacon);
            self.next_beacon += step;
        }
    }

    fn arrive(&mut self, now: Time, request: &Request, out: &mut Actions) {
        let model = request.model.index();
        self.rates.arrived(model);
        self.route(now, request, out);
    }

    /// A frontend sends a request to a GPU.
    fn route(&mut self, now: Time, request: &Request, out: &mut Actions) {
        let model = request.model.index();
        let (frontend, gpu) = self.frontends.route(request.id.0, model);
        let Some(gpu) = gpu else {
            out.why(request.id, || "there is no GPU for its model".to_string());
            return out.end(request.id, Drop::Shed);
        };
        out.why(request.id, || {
            let waiting = self.gpus[gpu].queued();
            format!("frontend {frontend} sends it to {}, where {waiting} wait", self.gpus[gpu].id)
        });
        self.gpus[gpu].push(request);
        if self.config.poll == Span::ZERO {
            return self.look(now, gpu, out);
        }
        if let Some(at) = self.gpus[gpu].next_look(now, self.config.poll) {
            out.set_timer(TimerKey(gpu as u64), at);
        }
    }

    fn look(&mut self, now: Time, gpu: usize, out: &mut Actions) {
        let Config { drop, .. } = self.config;
        self.gpus[gpu].look(now, drop, &self.models, &mut self.batch, out);
    }

    fn came_up(&mut self, now: Time, device: DeviceId) {
        if self.gpus.len() <= device.index() {
            self.gpus.push(Backend::new(device, now));
        }
        self.plan.add(device.index());
        match self.config.planning {
            Planning::Dynamic => {
                self.plan.house(&self.models);
                self.apply();
            }
            Planning::Static | Planning::Full => self.stale = true,
        }
    }

    /// Plans once more for the GPUs that are there now: an autoscaler sends hundreds away in one instant.
    fn renew(&mut self) {
        if std::mem::take(&mut self.stale) {
            self.plan_once();
            self.apply();
        }
    }

    /// A GPU takes no more work. What waited at one that drains goes to others; one that failed
    /// takes it along.
    fn gone(
        &mut self,
        now: Time,
        device: DeviceId,
        change: Change,
        known: &Known<'_>,
        out: &mut Actions,
    ) {
        let gpu = &mut self.gpus[device.index()];
        if !gpu.up {
            return;
        }
        let mut waited = Vec::new();
        gpu.fail(|id| waited.push(id));
        let lost = self.plan.remove(device.index());
        match self.config.planning {
            Planning::Dynamic => {
                self.plan.replace(&self.models, &lost);
                self.apply();
            }
            Planning::Static | Planning::Full => self.stale = true,
        }
        if !waited.is_empty() {
            self.renew();
        }
        for id in waited {
            match known.request(id) {
                Some(request) if change == Change::Draining => self.route(now, request, out),
                _ => {
                    out.why(id, || "the GPU that it waited for is gone".to_string());
                    out.end(id, Drop::Refused);
                }
            }
        }
    }
}

impl Build for Config {
    fn build(self, profiles: &[ModelProfile], _: u64) -> Box<dyn Policy> {
        Box::new(NexusCluster::new(self, profiles))
    }
}

impl Policy for NexusCluster {
    fn name(&self) -> String {
        self.config.name()
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        if now > self.next_beacon {
            self.catch_up(now);
        }
        if !matches!(event, Event::Device(..)) {
            self.renew();
        }
        match event {
            Event::Start => self.start(now, known),
            Event::Arrive(request) => self.arrive(now, request, out),
            Event::Result { device, outcome, requests, .. } => {
                if !matches!(outcome, Outcome::Done { .. }) {
                    for &id in requests.iter().filter(|&&id| known.request(id).is_some()) {
                        out.why(id, || did_not_run(outcome));
                        out.end(id, Drop::Refused);
                    }
                }
                self.gpus[device.index()].ended(now);
                self.look(now, device.index(), out);
            }
            Event::Timer(TimerKey(gpu)) => self.look(now, gpu as usize, out),
            Event::Device(device, Change::Up) => self.came_up(now, device),
            Event::Device(device, change) => self.gone(now, device, change, known, out),
            Event::Profiled { .. } => {}
        }
    }
}
