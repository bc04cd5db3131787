//! INFaaS (Romero et al., ATC 2021), a model after public facts: what Clockwork's evaluation (§6.1)
//! compares itself with.
//!
//! Every model has variants that differ in their largest batch. Requests wait in line and are batched
//! by timeout; the SLO chooses the variant a model begins with and nothing else. An autoscaler goes to
//! a larger variant when one is not enough, and back to a smaller one after a while.
//!
//! ```text
//! at the start:      a model's variant is the largest whose full batch takes less than a share of the
//!                    SLO, else the smallest
//! on arrival:        append to the model's queue, which drops nothing
//! a batch is ready:  when the variant's largest batch waits, or the oldest request has waited
//!                    `timeout`
//! while a GPU is free and a batch is ready:  execute the one that was ready first
//! every `check`, of each model:
//!     rate > what its variant serves:        one larger, after `load`; the old one serves until then
//!     rate <= what the next smaller serves:  one smaller, the `down`-th time in a row
//! ```
//!
//! # Differences from the paper
//! - It is not the system: of its decentralised selection among hardware, frameworks and model
//!   architectures nothing is here, only what a single GPU model leaves of it.
//! - One replica of a model per cluster, as its released configuration has of GPU variants; a batch
//!   takes any free GPU.
//!
//! # Differences from the released code
//! Its batching file and the head of its autoscaler are what this was made after. Not from there, and
//! so assumptions:
//! - The share of the SLO (1/2), the interval of the checks (1 s) and the time of a load (5 s).
//! - A variant serves its largest batch divided by that batch's latency, as if it had a GPU alone.
//! - Eight batch threads share a GPU there; here it runs one batch at a time.
//! - An interval without a request counts as one of rate 0.

use super::free_devices::FreeDevices;
use super::parameters::{
    About, Assumption, Build, Parameter, Preset, Settings, count, ms, number, seconds,
};
use super::{Actions, Event, Exec, Known, Policy, TimerKey};
use crate::profile::ModelProfile;
use crate::request::{ModelId, Request, RequestId};
use crate::time::{Span, Time};
use std::collections::VecDeque;

/// INFaaS's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The largest batch of the largest variant; the others have powers of two below it.
    pub max_batch: u32,
    /// How long the oldest request waits for a full batch.
    pub timeout: Span,
    /// The share of the SLO that a full batch may take.
    pub slo_share: f64,
    /// The autoscaler's interval.
    pub check: Span,
    /// The time to load a larger variant.
    pub load: Span,
    /// Checks in a row before a smaller variant is taken.
    pub down: u32,
}

impl Config {
    /// Variants up to a batch of 32.
    pub fn model() -> Config {
        Config {
            max_batch: 32,
            timeout: Span::from_ms(10),
            slo_share: 0.5,
            check: Span::from_secs(1),
            load: Span::from_secs(5),
            down: 20,
        }
    }

    /// Variants up to the batch of 8 that its TensorFlow servers are configured with.
    pub fn tensorflow() -> Config {
        Config { max_batch: 8, ..Config::model() }
    }
}

impl Settings for Config {
    const ABOUT: About = About {
        name: "infaas",
        what: "batches by timeout; variants of a model that an autoscaler changes: a model after public facts",
        paper: "INFaaS (Romero et al., ATC 2021), after what is public of it",
    };
    const ASSUMES: &'static [Assumption] = &[Assumption::OneKind];
    const PRESETS: &'static [Preset<Config>] = &[
        Preset {
            name: "model",
            what: "variants with batches of 1, 2, 4, 8, 16 and 32; the rest as released or assumed",
            make: Config::model,
        },
        Preset {
            name: "tensorflow",
            what: "variants with batches of up to 8, as its TensorFlow servers are configured",
            make: Config::tensorflow,
        },
    ];
    const PARAMETERS: &'static [Parameter<Config>] = &[
        count(
            "max_batch",
            |c: &mut Self| Some(&mut c.max_batch),
            "maximum number of requests in a batch of the largest variant",
        )
        .from("released: 8 for TensorFlow; 32 is an assumption"),
        ms(
            "timeout_ms",
            |c: &mut Self| &mut c.timeout,
            "how long the oldest request waits for a full batch",
        )
        .from("released: batching parameters of TensorFlow, 10 ms"),
        number(
            "slo_share",
            0.01..=1.0,
            |c: &mut Self| Some(&mut c.slo_share),
            "share of the SLO that a full batch of the first variant may take",
        )
        .from("an assumption"),
        seconds("check_s", |c: &mut Self| &mut c.check, "interval of the autoscaler's checks")
            .positive()
            .from("an assumption"),
        seconds("load_s", |c: &mut Self| &mut c.load, "time to load a larger variant")
            .from("an assumption; loads take seconds"),
        count(
            "down_checks",
            |c: &mut Self| Some(&mut c.down),
            "number of checks in a row before a smaller variant is used",
        )
        .from("released: autoscaler, 20"),
    ];

    /// A smaller variant is taken after so many checks, and a larger one serves once it is loaded after one.
    fn epoch(&self) -> Option<Span> {
        Some((self.check * u64::from(self.down)).max(self.check + self.load))
    }
}

struct Variant {
    max_batch: usize,
    /// Requests per second.
    serves: f64,
}

#[derive(Default)]
struct Model {
    variants: Vec<Variant>,
    current: usize,
    /// Whether a larger variant is being loaded.
    loads: bool,
    /// Requests since the last check.
    arrived: u64,
    /// Checks in a row at which a smaller variant would have been enough.
    low: u32,
    /// In order of arrival.
    waiting: VecDeque<(RequestId, Time)>,
    in_line: bool,
}

impl Model {
    fn new(config: &Config, profile: &ModelProfile) -> Model {
        let sizes = (0..32).map(|i| 1u32 << i).take_while(|&size| size < config.max_batch);
        let sizes: Vec<u32> = sizes.chain([config.max_batch]).collect();
        let variant = |&size: &u32| {
            let latency = profile.typical(size).max(Span::from_ns(1));
            Variant { max_batch: size as usize, serves: f64::from(size) / latency.as_secs_f64() }
        };
        let may_take = profile.slo.scale(config.slo_share);
        let fits = |&size: &u32| profile.typical(size) < may_take;
        Model {
            variants: sizes.iter().map(variant).collect(),
            current: sizes.iter().rposition(fits).unwrap_or(0),
            ..Model::default()
        }
    }

    fn max_batch(&self) -> usize {
        self.variants[self.current].max_batch
    }

    /// A check of the autoscaler; whether a larger variant is to be loaded.
    fn check(&mut self, rate_per_s: f64, down: u32) -> bool {
        let low = self.current > 0 && rate_per_s <= self.variants[self.current - 1].serves;
        self.low = if low && !self.loads { self.low + 1 } else { 0 };
        if self.low == down {
            self.low = 0;
            self.current -= 1;
        }
        let larger = !self.loads
            && self.current + 1 < self.variants.len()
            && rate_per_s > self.variants[self.current].serves;
        self.loads |= larger;
        larger
    }
}

/// The policy. See the module's text.
pub struct Infaas {
    config: Config,
    models: Vec<Model>,
    /// The line: the models that have a batch ready.
    line: VecDeque<usize>,
    free: FreeDevices,
    batch: Vec<RequestId>,
    /// The last check that was made, and whether the next one is set.
    checked: Time,
    checks: bool,
}

/// The next check of the autoscaler.
const CHECK: TimerKey = TimerKey(0);

impl Infaas {
    /// INFaaS before its start.
    pub fn new(config: Config, profiles: &[ModelProfile]) -> Infaas {
        Infaas {
            config,
            models: profiles.iter().map(|p| Model::new(&config, p)).collect(),
            line: VecDeque::new(),
            free: FreeDevices::default(),
            batch: Vec::new(),
            checked: Time::ZERO,
            checks: false,
        }
    }

    /// The oldest request of a model has waited long enough.
    fn waited(model: usize) -> TimerKey {
        TimerKey(1 + 2 * model as u64)
    }

    /// A larger variant of a model is loaded.
    fn loaded(model: usize) -> TimerKey {
        TimerKey(2 + 2 * model as u64)
    }

    fn arrive(&mut self, now: Time, request: &Request, out: &mut Actions) {
        self.resume(now, out);
        let index = request.model.index();
        let model = &mut self.models[index];
        model.arrived += 1;
        model.waiting.push_back((request.id, now));
        self.ready(now, index, out);
    }

    /// Puts a model in line if it has a batch ready, or waits for that.
    fn ready(&mut self, now: Time, index: usize, out: &mut Actions) {
        let model = &mut self.models[index];
        if model.in_line {
            return;
        }
        let Some(&(_, arrival)) = model.waiting.front() else { return };
        let due = arrival + self.config.timeout;
        if model.waiting.len() >= model.max_batch() || due <= now {
            model.in_line = true;
            self.line.push_back(index);
            out.clear_timer(Infaas::waited(index));
        } else {
            out.set_timer(Infaas::waited(index), due);
        }
    }

    fn dispatch(&mut self, now: Time, out: &mut Actions) {
        while let Some(device) = self.free.next() {
            let Some(index) = self.line.pop_front() else { return };
            let model = &mut self.models[index];
            model.in_line = false;
            let most = model.max_batch();
            let size = most.min(model.waiting.len());
            self.batch.clear();
            self.batch.extend(model.waiting.drain(..size).map(|w| w.0));
            let timeout = self.config.timeout;
            out.why_all(&self.batch, || {
                format!(
                    "batch of {size}: the variant takes up to {most}, or what is there after {timeout}"
                )
            });
            out.exec(Exec::now(device, ModelId(index as u32)), &self.batch);
            self.free.take_next();
            self.ready(now, index, out);
        }
    }

    /// Makes the checks that were left out while nobody asked for anything, and sets the next one.
    fn resume(&mut self, now: Time, out: &mut Actions) {
        if std::mem::replace(&mut self.checks, true) {
            return;
        }
        let interval = self.config.check.ns();
        let missed = (now - self.checked).ns() / interval;
        for model in &mut self.models {
            // Each step down takes `down` of them, so that no more can matter.
            let matter = u64::from(self.config.down) * model.variants.len() as u64;
            for _ in 0..missed.min(matter) {
                model.check(0.0, self.config.down);
            }
        }
        self.checked += Span::from_ns(missed * interval);
        out.set_timer(CHECK, self.checked + self.config.check);
    }

    fn check(&mut self, now: Time, out: &mut Actions) {
        self.checked = now;
        let mut any = false;
        for (index, model) in self.models.iter_mut().enumerate() {
            let arrived = std::mem::take(&mut model.arrived);
            any |= arrived > 0;
            let rate_per_s = arrived as f64 / self.config.check.as_secs_f64();
            if model.check(rate_per_s, self.config.down) {
                out.set_timer(Infaas::loaded(index), now + self.config.load);
            }
        }
        // Without requests it would go on for ever; the next request makes up for what is left out.
        self.checks = any;
        if any {
            out.set_timer(CHECK, now + self.config.check);
        }
    }

    fn timer(&mut self, now: Time, key: TimerKey, out: &mut Actions) {
        if key == CHECK {
            return self.check(now, out);
        }
        let index = (key.0 as usize - 1) / 2;
        if key == Infaas::loaded(index) {
            let model = &mut self.models[index];
            model.loads = false;
            model.current += 1;
        }
        self.ready(now, index, out);
    }
}

impl Build for Config {
    fn build(self, profiles: &[ModelProfile], _: u64) -> Box<dyn Policy> {
        Box::new(Infaas::new(self, profiles))
    }
}

impl Policy for Infaas {
    fn name(&self) -> String {
        self.config.name()
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Arrive(request) => self.arrive(now, request, out),
            Event::Timer(key) => self.timer(now, key, out),
            Event::Profiled { .. } => return,
            Event::Start | Event::Result { .. } | Event::Device(..) => {
                self.free.follow(&event, known, out);
            }
        }
        self.dispatch(now, out);
    }
}
