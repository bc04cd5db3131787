//! Profiling: how long batches take on a device, by size and by length, and what a launch costs.
//!
//! ```text
//!  scenario ── Plan::of ──> points ── measure ──> medians ── fit ──> laws ─┐
//!  device ───────────────── driver ── overhead ──> launch, result ─────────┴─> ProfileFile
//! ```
//!
//! Points are measured in rounds, each in another random order, so that a clock that drifts or a
//! machine that warms up touches all of them alike. Medians are fitted; sizes and lengths that the
//! fit does not see are measured as well and tell how far a law may be off between its points. At the
//! end some rounds are measured again: a device that has drifted since is no base for a prediction.

mod clocks;
mod file;
pub mod fit;
mod measure;
pub mod noise;
mod overhead;
mod settings;
pub mod stalls;

pub use clocks::Clocks;
pub use file::{
    DRIFT_MAX_PERCENT, Delay, Drift, Errors, Load, ModelRow, Overhead, PointRow, PrimitiveRow,
    ProfileFile,
};
pub use measure::{Measured, Planned, Timed, measure};
pub use overhead::measure_overhead;
pub use settings::{ROUNDS_MIN, Settings};

use crate::device::{Device, DeviceError};
use crate::error::Error;
use crate::host::Host;
use crate::threads::Placement;
use fit::{Form, Point};
use orrery_run::Setup;
use orrery_scenario::Scenario;
use orrery_sim::request::ModelId;
use orrery_sim::time::Span;
use std::path::PathBuf;
use std::time::Duration;

/// The quantile of one request's time at which lengths begin.
const SHORTEST: f64 = 0.1;
/// The quantile of the longest of the largest batch at which they end.
const LONGEST: f64 = 0.999;

impl Settings {
    /// What to measure of a model: every size with every length. Lengths reach what a batch pays for,
    /// from a short request to the longest of the largest batch: five steps, or every step at which the
    /// device's work changes, with a length between two steps held out.
    pub fn plan(&self, setup: &Setup, model: usize, device: &dyn Device) -> Vec<Planned> {
        let id = ModelId(model as u32);
        let sizes = self.sizes(setup, device.batch_max(id));
        let largest = sizes.last().map_or(1, |s| s.0);
        let apps = setup.apps.iter().filter(|a| a.model.index() == model);
        let share = libm::pow(LONGEST, 1.0 / f64::from(largest));
        let ends = apps.map(|a| (a.law.quantile_ns(SHORTEST), a.law.quantile_ns(share)));
        let ends = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((1e6, 1e6));
        let lengths = lengths(ends, &device.steps(id));
        let planned = |(units, a): &(u32, bool)| {
            let of = |(longest, b): &(Span, bool)| Planned {
                units: *units,
                longest: *longest,
                held_out: *a || *b,
            };
            lengths.iter().map(of).collect::<Vec<_>>()
        };
        sizes.iter().flat_map(planned).collect()
    }
}

/// Lengths to measure between two times alone (ns), with whether they are held out.
fn lengths((low, high): (f64, f64), steps: &[Span]) -> Vec<(Span, bool)> {
    if high - low < 1.0 {
        return vec![(Span::from_ns_f64(low), false)];
    }
    if steps == [Span::MAX] {
        return vec![(Span::from_ns_f64(high), false)];
    }
    if steps.is_empty() {
        let at = |share: f64| Span::from_ns_f64(low + share * (high - low));
        return (0..5).map(|i| (at(f64::from(i) / 4.0), i % 2 == 1)).collect();
    }
    let mut all = Vec::new();
    let mut before = Span::ZERO;
    for step in steps {
        let needed = step.ns() as f64 >= low && (before.ns() as f64) < high;
        if needed {
            // What is a little above the step before costs what this one does.
            if !all.is_empty() {
                all.push((before + step.minus(before).scale(0.6), true));
            }
            all.push((*step, false));
        }
        before = *step;
    }
    all
}

/// Opens a device that has not been used.
pub type Opener<'a> = dyn FnMut() -> Result<Box<dyn Device>, Error> + 'a;

/// Rounds that are measured again at the end.
const DRIFT_ROUNDS: u32 = 5;

/// Profiles every model of a scenario on a device; threads are placed as in the runs to come.
///
/// # Errors
/// When the device fails, or a law of the wanted form cannot be fitted.
pub fn profile(
    scenario: &Scenario,
    settings: &Settings,
    clocks: Clocks,
    placement: Placement,
    open: &mut Opener<'_>,
) -> Result<ProfileFile, Error> {
    settings.check()?;
    let kind = one_kind(scenario)?;
    let setup = scenario.setup(scenario.seed)?;
    let mut device = open()?;
    let primitives = device.primitives()?;
    let plans = plans(settings, &setup, device.as_ref());
    let load = |ms: f64| (ms > 0.0).then(|| Span::from_ms_f64(ms));
    let loads: Vec<_> = scenario.file.model.iter().map(|m| load(m.load_ms)).collect();
    let clock = clocks.start(placement);
    let measured = measure(device.as_mut(), clock.as_ref(), &plans, &loads, settings)?;
    // What its workers are is a part of it.
    let description = device.describe();
    drop(device);
    let timed = &measured.timed;
    let mut model = Vec::new();
    for (m, name) in scenario.model_names().into_iter().enumerate() {
        let mut row = fitted(name, &timed[m], settings.form)?;
        let points = timed[m].iter().map(|t| t.device.as_slice());
        row.noise = Some(noise::noise(points.chain(measured.more[m].iter().map(Vec::as_slice))));
        row.load = Load::of(&measured.loads[m]);
        model.push(row);
    }
    let typical = typical_batch(timed);
    let overhead = measure_overhead(open()?, &setup, typical, clocks, placement)?;
    let lanes: usize = setup.world.core.devices.iter().map(|d| usize::from(d.lanes)).sum();
    let stalls = match clocks {
        Clocks::Wall(_) if settings.stall_s > 0.0 => {
            stalls::watch(1 + lanes, Duration::from_secs_f64(settings.stall_s))
        }
        _ => None,
    };
    let mut primitive: Vec<PrimitiveRow> = primitives.iter().map(PrimitiveRow::of).collect();
    primitive.extend(measure::timer_resolution(clocks).as_ref().map(PrimitiveRow::of));
    let mut profile = ProfileFile {
        file: PathBuf::new(),
        orrery_profile: orrery_scenario::scenario::PROFILE_VERSION,
        scenario: scenario.name.clone(),
        kind,
        date: String::new(),
        command: String::new(),
        clock: clocks,
        seed: settings.seed,
        device: description,
        host: Host::here(),
        overhead,
        stalls,
        drift: None,
        verdict: Vec::new(),
        primitive,
        model,
    };
    profile.drift = drift(&profile, scenario, settings, clocks, placement, open)?;
    profile.verdict = profile.faults();
    Ok(profile)
}

fn plans(settings: &Settings, setup: &Setup, device: &dyn Device) -> Vec<Vec<Planned>> {
    (0..setup.slo.len()).map(|m| settings.plan(setup, m, device)).collect()
}

/// The kind of device that is profiled: a profile belongs to one.
fn one_kind(scenario: &Scenario) -> Result<String, Error> {
    let kinds: Vec<&str> = scenario.file.device.iter().map(|d| d.kind.as_str()).collect();
    match kinds.as_slice() {
        [kind] => Ok(kind.to_string()),
        _ => {
            let allowed = "a scenario with one kind of device: a profile belongs to a kind";
            let remedy = "profile a scenario for each kind, and give all profiles to `run`";
            Err(Error::value("scenario", format!("kinds {}", kinds.join(", ")), allowed, remedy))
        }
    }
}

/// How far the device is by now from what a profile says of it: some rounds over the same points.
///
/// # Errors
/// When the device fails.
pub fn drift(
    profile: &ProfileFile,
    scenario: &Scenario,
    settings: &Settings,
    clocks: Clocks,
    placement: Placement,
    open: &mut Opener<'_>,
) -> Result<Option<Drift>, Error> {
    let setup = scenario.setup(scenario.seed)?;
    let mut device = open()?;
    let plans = plans(settings, &setup, device.as_ref());
    let again = Settings {
        warm_up: 1,
        rounds: DRIFT_ROUNDS,
        max_s: settings.max_s / 4.0,
        noise_batches: 0,
        seed: settings.seed.wrapping_add(1),
        ..settings.clone()
    };
    let clock = clocks.start(placement);
    let none = vec![None; plans.len()];
    let measured = measure(device.as_mut(), clock.as_ref(), &plans, &none, &again)?;
    let models = profile.model.iter().zip(&measured.timed);
    let changes = models.flat_map(|(row, timed)| row.changes(timed));
    Ok(Drift::of(changes.collect()))
}

/// The median time of a batch of the smallest size of the first model.
fn typical_batch(timed: &[Vec<Timed>]) -> (Span, Span) {
    let first = timed.first().and_then(|points| points.first());
    first.map_or((Span::from_ms(1), Span::from_ms(1)), |p| (p.planned.longest, p.median()))
}

fn fitted(name: String, timed: &[Timed], form: Form) -> Result<ModelRow, Error> {
    let points: Vec<Point> = timed.iter().map(Timed::point).collect();
    let fit = fit::fit(&points, form).ok_or_else(|| {
        let doing = format!("fitting a latency model to `{name}`");
        let said = format!("its {} points determine none of the form {form:?}", points.len());
        let remedy = "measure two sizes or more, or choose another form";
        Error::from(DeviceError::new("profile", &doing, said, remedy))
    })?;
    Ok(ModelRow::of(name, timed, &points, &fit))
}
