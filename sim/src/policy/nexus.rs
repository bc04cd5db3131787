//! Nexus (Shen et al., SOSP 2019) on a single backend, as Orloj's tables use it: §6.1 and §6.3.
//!
//! Nexus plans a batch size for each model from its profile, so that a request that just misses a
//! batch still makes the next one: twice the batch's latency must fit into the SLO. The backend then
//! runs whatever is queued, up to that size, without waiting, and drops early what would make the
//! batch late ("early drop").
//!
//! ```text
//! plan:        batch <- largest b with latency(b) <= (SLO - 2 ms) / 2, at least 1
//! when the device is free and requests wait (models in turn):
//!     n <- min(batch, queued);  finish <- now + latency(n)
//!     while fewer than n are taken:
//!         r <- pop the earliest deadline
//!         if deadline(r) < finish: drop r
//!         else: take r
//!         when fewer than n remain: n <- what remains;  finish <- now + latency(n)
//!     execute what was taken
//! ```
//!
//! # Differences from the paper
//! - One backend, no epochs, no squishy packing: a saturating load gets a GPU of its own, which is
//!   what one model on one GPU is. The planner is in [`super::nexus_cluster`].
//! - The paper's backend executes in duty cycles; one model alone has no other to wait for.
//!
//! # Differences from the released code
//! - Latency is (mean + 1 std) x 1.15 of the profile, as released (model_db.cpp); pre- and
//!   post-processing take no time here.
//! - Its run loop polls every 50 us; ours acts at the instant of the event.

pub use super::early_drop::DropRule;

use super::edf_queue::{EdfQueue, of_model};
use super::free_devices::FreeDevices;
use super::parameters::{
    About, Assumption, Build, Parameter, Preset, Settings, count_or, ms, number, word,
};
use super::{Actions, Event, Exec, Known, Policy};
use crate::profile::ModelProfile;
use crate::request::{ModelId, RequestId};
use crate::time::{Span, Time};

/// Nexus's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// What is dropped.
    pub drop: DropRule,
    /// Standard deviations added to a profile's mean. Released: 1.
    pub std_factor: f64,
    /// Factor on the profile. Released: 1.15 (model_db.cpp, profile_multiplier).
    pub profile_factor: f64,
    /// Taken off the SLO for the network. Released: 2 ms.
    pub margin: Span,
    /// The batch size; `None` plans it from the profile.
    pub batch: Option<u32>,
}

impl Settings for Config {
    const ABOUT: About = About {
        name: "nexus",
        what: "Nexus on one GPU; batch from profile and SLO, early drop",
        paper: "Nexus (Shen et al., SOSP 2019), §6.1 and §6.3",
    };
    const ASSUMES: &'static [Assumption] =
        &[Assumption::KnownTimes, Assumption::OneModel, Assumption::OneKind];
    const PRESETS: &'static [Preset<Config>] = &[Preset {
        name: "released",
        what: "what the released code does with its defaults",
        make: || Config {
            drop: DropRule::SlidingWindow,
            std_factor: 1.0,
            profile_factor: 1.15,
            margin: Span::from_ms(2),
            batch: None,
        },
    }];
    const PARAMETERS: &'static [Parameter<Config>] = &[
        word(
            "drop",
            |c: &mut Self| &mut c.drop,
            "which requests are dropped when a batch is formed",
        )
        .from("§6.3; released: model_exec.cpp"),
        number(
            "std_factor",
            0.0..=10.0,
            |c: &mut Self| Some(&mut c.std_factor),
            "standard deviations added to a profile's mean",
        )
        .from("released: model_db.cpp"),
        number(
            "profile_factor",
            0.01..=100.0,
            |c: &mut Self| Some(&mut c.profile_factor),
            "factor on the profile",
        )
        .from("released: model_db.cpp, profile_multiplier"),
        ms("margin_ms", |c: &mut Self| &mut c.margin, "subtracted from the SLO for the network")
            .from("released: model_db.cpp"),
        count_or(
            "batch",
            "plan",
            |c: &mut Self| &mut c.batch,
            "the number of requests in a batch; `plan`: the largest b with latency(b) <= (SLO - margin) / 2",
        )
        .from("§6.1"),
    ];
}

struct Model {
    /// Estimated latency of a batch of `i + 1`.
    latency: Vec<Span>,
    batch: usize,
}

/// The policy. See the module's text.
pub struct Nexus {
    config: Config,
    models: Vec<Model>,
    queues: Vec<EdfQueue>,
    free: FreeDevices,
    /// Models are served in turn; this one is next.
    turn: usize,
    batch: Vec<RequestId>,
}

impl Nexus {
    /// Nexus with a plan for each profile.
    pub fn new(config: Config, profiles: &[ModelProfile]) -> Nexus {
        let models = profiles.iter().map(|p| plan(&config, p)).collect();
        let (queues, batch, free) = (Vec::new(), Vec::new(), FreeDevices::default());
        Nexus { config, models, queues, free, turn: 0, batch }
    }

    fn dispatch(&mut self, now: Time, out: &mut Actions) {
        while let Some(device) = self.free.next() {
            let Some(model) = self.next_model() else { return };
            self.form_batch(now, model, out);
            if !self.batch.is_empty() {
                out.why_all(&self.batch, || {
                    let (k, planned) = (self.batch.len(), self.models[model].batch);
                    format!("batch of {k}: the earliest deadlines; the plan allows {planned}")
                });
                out.exec(Exec::now(device, ModelId(model as u32)), &self.batch);
                self.free.take_next();
            }
        }
    }

    fn next_model(&mut self) -> Option<usize> {
        let n = self.queues.len();
        let model = (0..n).map(|i| (self.turn + i) % n).find(|&m| !self.queues[m].is_empty())?;
        self.turn = model + 1;
        Some(model)
    }

    fn form_batch(&mut self, now: Time, model: usize, out: &mut Actions) {
        let Model { latency, batch } = &self.models[model];
        let queue = &mut self.queues[model];
        self.config.drop.form_batch(now, &latency[..*batch], queue, &mut self.batch, out);
    }
}

fn plan(config: &Config, profile: &ModelProfile) -> Model {
    let largest = profile.sizes.last().map_or(1, |s| s.size).max(config.batch.unwrap_or(1));
    let estimate = |b: u32| {
        let p = profile.size(b);
        (p.mean + p.std.scale(config.std_factor)).scale(config.profile_factor)
    };
    let latency: Vec<Span> = (1..=largest).map(estimate).collect();
    let budget = Span::from_ns(profile.slo.minus(config.margin).ns() / 2);
    let fits = latency.iter().rposition(|&l| l <= budget).map_or(1, |i| i + 1);
    Model { latency, batch: config.batch.map_or(fits, |b| b as usize) }
}

impl Build for Config {
    fn build(self, profiles: &[ModelProfile], _: u64) -> Box<dyn Policy> {
        Box::new(Nexus::new(self, profiles))
    }
}

impl Policy for Nexus {
    fn name(&self) -> String {
        self.config.name()
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Arrive(r) => of_model(&mut self.queues, r.model.index()).push(r),
            Event::Timer(_) | Event::Profiled { .. } => return,
            Event::Start | Event::Result { .. } | Event::Device(..) => {
                self.free.follow(&event, known, out);
            }
        }
        self.dispatch(now, out);
    }
}
