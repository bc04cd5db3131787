//! Profiling: how long batches take on a device, by size and by length, and what a launch costs.
//!
//! ```text
//!  scenario ── Plan::of ──> points ── measure ──> medians ── fit ──> laws ─┐
//!  device ───────────────── driver ── overhead ──> launch, result ─────────┴─> ProfileFile
//! ```
//!
//! Points are measured in rounds, each in another random order, so that a clock that drifts or a
//! machine that warms up touches all of them alike. Medians are fitted; sizes and lengths that the
//! fit does not see are measured as well and tell how far a law may be off between its points.

mod file;
pub mod fit;
mod measure;
mod overhead;

pub use file::{Delay, Errors, ModelRow, Overhead, PointRow, PrimitiveRow, ProfileFile};
pub use measure::{Planned, Timed, measure};
pub use overhead::measure_overhead;

use crate::clock::{Clock, DEFAULT_SPIN, VirtualClock, WallClock};
use crate::device::{Device, DeviceError};
use crate::error::Error;
use crate::host::Host;
use fit::{Form, Point};
use orrery_scenario::{Scenario, Setup};
use orrery_sim::time::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Clocks {
    /// Real time, divided by this scale.
    Wall(u32),
    /// Time that jumps from instant to instant: no device is timed. For tests of the harness.
    Virtual,
}

impl Clocks {
    /// A clock whose time zero is now.
    pub fn start(self) -> Box<dyn Clock> {
        match self {
            Clocks::Wall(scale) => Box::new(WallClock::start(scale, DEFAULT_SPIN)),
            Clocks::Virtual => Box::new(VirtualClock::new()),
        }
    }
}

/// How to profile.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Batch sizes to fit; the scenario's `profile.sizes` if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Vec<u32>>,
    /// Sizes to judge the fit by; those half-way between the others if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_out: Option<Vec<u32>>,
    /// Rounds that do not count.
    pub warm_up: u32,
    /// Rounds that do.
    pub rounds: u32,
    /// No further round begins after this long.
    pub max_s: f64,
    /// The law to fit.
    pub form: Form,
    /// Seed of the order.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        let (sizes, held_out) = (None, None);
        Settings { sizes, held_out, warm_up: 2, rounds: 25, max_s: 30.0, form: Form::Auto, seed: 1 }
    }
}

/// Fewer rounds than this say nothing.
pub const ROUNDS_MIN: u32 = 3;

impl Settings {
    /// # Errors
    /// When a number is out of range.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |key: &str, found: String, allowed: &str| {
            Err(Error::value(key, found, allowed, "change it"))
        };
        if !(ROUNDS_MIN..=100_000).contains(&self.rounds) {
            return wrong("profile.rounds", self.rounds.to_string(), "from 3 to 100000");
        }
        if !(self.max_s > 0.0 && self.max_s <= 1e6) {
            return wrong("profile.max_s", self.max_s.to_string(), "a time above 0 s");
        }
        let sizes = self.sizes.iter().chain(&self.held_out).flatten();
        if let Some(size) = sizes.copied().find(|s| !(1..=4096).contains(s)) {
            return wrong("profile.sizes", size.to_string(), "batch sizes from 1 to 4096");
        }
        Ok(())
    }

    /// Sizes with whether they are held out, growing.
    fn sizes(&self, setup: &Setup) -> Vec<(u32, bool)> {
        let fitted = self.sizes.clone().unwrap_or_else(|| setup.profile.sizes.clone());
        let between = || fitted.windows(2).map(|w| (w[0] + w[1]) / 2).collect();
        let held_out: Vec<u32> = self.held_out.clone().unwrap_or_else(between);
        let mut all: Vec<(u32, bool)> = fitted.iter().map(|s| (*s, false)).collect();
        all.extend(held_out.into_iter().filter(|s| !fitted.contains(s)).map(|s| (s, true)));
        all.sort_unstable();
        all.dedup_by_key(|s| s.0);
        all
    }

    /// What to measure of a model.
    pub fn plan(&self, setup: &Setup, model: usize) -> Vec<Planned> {
        let apps = setup.apps.iter().filter(|a| a.model.index() == model);
        let ends = apps.map(|a| (a.law.quantile_ns(0.1), a.law.quantile_ns(0.9)));
        let ends = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((1e6, 1e6));
        let lengths: Vec<(Span, bool)> = if ends.1 - ends.0 < 1.0 {
            vec![(Span::from_ns_f64(ends.0), false)]
        } else {
            let at = |share: f64| Span::from_ns_f64(ends.0 + share * (ends.1 - ends.0));
            (0..5).map(|i| (at(f64::from(i) / 4.0), i % 2 == 1)).collect()
        };
        let planned = |(units, a): &(u32, bool)| {
            let of = |(longest, b): &(Span, bool)| Planned {
                units: *units,
                longest: *longest,
                held_out: *a || *b,
            };
            lengths.iter().map(of).collect::<Vec<_>>()
        };
        self.sizes(setup).iter().flat_map(planned).collect()
    }
}

/// Opens a device that has not been used.
pub type Opener<'a> = dyn FnMut() -> Result<Box<dyn Device>, Error> + 'a;

/// Profiles every model of a scenario on a device.
///
/// # Errors
/// When the device fails, or a law of the wanted form cannot be fitted.
pub fn profile(
    scenario: &Scenario,
    settings: &Settings,
    clocks: Clocks,
    open: &mut Opener<'_>,
) -> Result<ProfileFile, Error> {
    settings.check()?;
    let setup = scenario.setup(scenario.seed)?;
    let mut device = open()?;
    let description = device.describe();
    let primitives = device.primitives()?;
    let plans: Vec<Vec<Planned>> =
        (0..scenario.file.model.len()).map(|m| settings.plan(&setup, m)).collect();
    let clock = clocks.start();
    let timed = measure(device.as_mut(), clock.as_ref(), &plans, settings)?;
    drop(device);
    let mut model = Vec::new();
    for (name, points) in scenario.model_names().into_iter().zip(&timed) {
        model.push(fitted(name, points, settings.form)?);
    }
    let typical = typical_batch(&timed);
    let overhead = measure_overhead(open()?, &setup, typical, clocks)?;
    let mut primitive: Vec<PrimitiveRow> = primitives.iter().map(PrimitiveRow::of).collect();
    primitive.extend(measure::timer_resolution(clocks).as_ref().map(PrimitiveRow::of));
    Ok(ProfileFile {
        orrery_profile: orrery_scenario::scenario::PROFILE_VERSION,
        scenario: scenario.name.clone(),
        date: String::new(),
        command: String::new(),
        clock: clocks,
        seed: settings.seed,
        device: description,
        host: Host::here(),
        overhead,
        primitive,
        model,
    })
}

/// The median time of a batch of the smallest size of the first model.
fn typical_batch(timed: &[Vec<Timed>]) -> (Span, Span) {
    let first = timed.first().and_then(|points| points.first());
    first.map_or((Span::from_ms(1), Span::from_ms(1)), |p| (p.planned.longest, p.median()))
}

fn fitted(name: String, timed: &[Timed], form: Form) -> Result<ModelRow, Error> {
    let points: Vec<Point> = timed.iter().map(Timed::point).collect();
    let fit = fit::fit(&points, form).ok_or_else(|| {
        let error = DeviceError {
            device: "profile".to_string(),
            doing: format!("fitting a law to `{name}`"),
            said: format!("its {} points determine none of the form {form:?}", points.len()),
            remedy: "measure two sizes or more, or choose another form".to_string(),
        };
        Error::from(error)
    })?;
    Ok(ModelRow::of(name, timed, &points, &fit))
}
