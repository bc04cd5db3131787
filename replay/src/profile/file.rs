//! The file that `profile` writes: laws for scenarios, and everything they rest on for people.

use super::Clocks;
use super::fit::{Fit, Point};
use super::measure::{Timed, quantile};
use crate::device::{Description, Primitive};
use crate::error::{Error, read_toml};
use crate::host::Host;
use orrery_scenario::kind;
use orrery_scenario::scenario::PROFILE_VERSION;
use orrery_scenario::scenario::file::LatencyLaw;
use orrery_sim::time::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A profile.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, JsonSchema)]
pub struct ProfileFile {
    /// The version of the format.
    pub orrery_profile: u32,
    /// The scenario whose models were measured.
    pub scenario: String,
    /// When.
    pub date: String,
    /// How.
    pub command: String,
    /// By which clock.
    pub clock: Clocks,
    /// The seed of the order.
    pub seed: u64,
    /// On what.
    pub device: Description,
    /// On which machine.
    pub host: Host,
    /// What an action costs besides.
    pub overhead: Overhead,
    /// What else was measured.
    #[serde(default)]
    pub primitive: Vec<PrimitiveRow>,
    /// The models.
    pub model: Vec<ModelRow>,
}

/// What an action costs besides its time on the device.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, JsonSchema)]
pub struct Overhead {
    /// From the controller beginning it to the worker beginning it.
    pub launch: Delay,
    /// From the worker's end to the controller acting on it.
    pub result: Delay,
}

impl Overhead {
    /// Both medians together.
    pub fn median(&self) -> Span {
        Span::from_ns_f64(1e3 * (self.launch.median_us + self.result.median_us))
    }
}

/// A delay.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, JsonSchema)]
#[allow(missing_docs)]
pub struct Delay {
    pub median_us: f64,
    pub p99_us: f64,
    pub batches: u64,
}

/// A number of the device or the host.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, JsonSchema)]
#[allow(missing_docs)]
pub struct PrimitiveRow {
    pub name: String,
    pub unit: String,
    pub median: f64,
    pub p99: f64,
    pub samples: u64,
}

impl PrimitiveRow {
    /// The summary of samples.
    pub fn of(primitive: &Primitive) -> PrimitiveRow {
        let mut sorted = primitive.samples.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |q: f64| {
            let rank = (q * sorted.len() as f64).ceil() as usize;
            sorted.get(rank.max(1) - 1).copied().unwrap_or(0.0)
        };
        let Primitive { name, unit, .. } = primitive.clone();
        PrimitiveRow { name, unit, median: at(0.5), p99: at(0.99), samples: sorted.len() as u64 }
    }
}

/// A model.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, JsonSchema)]
pub struct ModelRow {
    /// Its name.
    pub name: String,
    /// The law: what a scenario reads.
    pub law: LatencyLaw,
    /// The error of the law at the points it was fitted to.
    pub fitted: Option<Errors>,
    /// Its error at the points it did not see.
    pub held_out: Option<Errors>,
    /// The points.
    pub point: Vec<PointRow>,
}

/// Absolute errors, in percent of the measured median.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, JsonSchema)]
#[allow(missing_docs)]
pub struct Errors {
    pub median_percent: f64,
    pub max_percent: f64,
}

/// A point.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, JsonSchema)]
pub struct PointRow {
    /// Items.
    pub batch: u32,
    /// The longest of its requests alone.
    pub longest_us: f64,
    /// Runs that counted.
    pub runs: u64,
    /// Time on the device.
    pub p10_us: f64,
    /// Time on the device.
    pub median_us: f64,
    /// Time on the device.
    pub p99_us: f64,
    /// From the worker's start to its having the result.
    pub around_median_us: f64,
    /// What the law says.
    pub predicted_us: f64,
    /// The law over the median, less one.
    pub error_percent: f64,
    /// The fit did not see it.
    pub held_out: bool,
}

impl ModelRow {
    pub(super) fn of(name: String, timed: &[Timed], points: &[Point], fit: &Fit) -> ModelRow {
        let row = |((t, p), error): ((&Timed, &Point), &f64)| {
            let us = |spans: &[Span], q| quantile(spans, q).ns() as f64 / 1e3;
            PointRow {
                batch: p.units,
                longest_us: p.longest.ns() as f64 / 1e3,
                runs: t.device.len() as u64,
                p10_us: us(&t.device, 0.1),
                median_us: p.median_ns / 1e3,
                p99_us: us(&t.device, 0.99),
                around_median_us: us(&t.around, 0.5),
                predicted_us: p.median_ns / 1e3 * (1.0 + error / 100.0),
                error_percent: *error,
                held_out: p.held_out,
            }
        };
        let errors = |held_out| {
            let (median_percent, max_percent) = fit.errors(points, held_out)?;
            Some(Errors { median_percent, max_percent })
        };
        ModelRow {
            name,
            law: fit.law.clone(),
            fitted: errors(false),
            held_out: errors(true),
            point: timed.iter().zip(points).zip(&fit.errors_percent).map(row).collect(),
        }
    }
}

impl ProfileFile {
    /// Reads a profile.
    ///
    /// # Errors
    /// When it cannot be read, or is of another version.
    pub fn read(file: &Path) -> Result<ProfileFile, Error> {
        let profile: ProfileFile = read_toml(file, kind::PROFILE)?;
        if profile.orrery_profile == PROFILE_VERSION {
            return Ok(profile);
        }
        let (found, allowed) = (profile.orrery_profile, PROFILE_VERSION.to_string());
        let remedy = "measure again with this version";
        Err(Error::in_file(file, "orrery_profile", found, allowed, remedy))
    }

    /// The file's text.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_else(|e| format!("# cannot be written: {e}\n"))
    }

    /// For reading.
    pub fn report(&self) -> String {
        let d = &self.device;
        let mut text = format!("device    {}: {}\n", d.device, d.name);
        if !d.driver.is_empty() {
            text += &format!("driver    {}\n", d.driver);
        }
        for (name, value) in &d.facts {
            text += &format!("          {name}: {value}\n");
        }
        text += &format!("host      {}\n", self.host.line());
        if self.clock == Clocks::Virtual {
            text += "clock     virtual: no device was timed\n";
        }
        let delay = |d: &Delay| format!("median {:.1} us, p99 {:.1} us", d.median_us, d.p99_us);
        text += &format!("launch    {}\n", delay(&self.overhead.launch));
        text += &format!("result    {}\n", delay(&self.overhead.result));
        for p in &self.primitive {
            let PrimitiveRow { name, unit, median, p99, samples } = p;
            text +=
                &format!("{name}: median {median:.3} {unit}, p99 {p99:.3} ({samples} samples)\n");
        }
        for model in &self.model {
            text += &model.report();
        }
        text
    }
}

impl ModelRow {
    fn report(&self) -> String {
        let law = match &self.law {
            LatencyLaw::Affine { alpha_ms, beta_ms } => {
                format!("alpha {alpha_ms:.6} ms, beta {beta_ms:.6} ms")
            }
            LatencyLaw::Eq3 { c0_ms, c1 } => format!("c0 {c0_ms:.6} ms, c1 {c1:.6}"),
            LatencyLaw::Proportional { c1 } => format!("c1 {c1:.6}, proportional"),
            LatencyLaw::Poly { c0_ms, c1, c2_per_ms } => {
                format!("c0 {c0_ms:.6} ms, c1 {c1:.6}, c2 {c2_per_ms:.6} /ms")
            }
            LatencyLaw::Grid { lengths_ms, rows } => {
                format!("a grid of {} sizes and {} lengths", rows.len(), lengths_ms.len())
            }
            LatencyLaw::Table(rows) => format!("a table of {} sizes", rows.len()),
            LatencyLaw::Samples(of) => format!("samples of {of}"),
            LatencyLaw::Profile { .. } => "another profile".to_string(),
        };
        let mut text = format!("\n{}: {law}\n", self.name);
        for (what, errors) in [("fitted points", self.fitted), ("points not seen", self.held_out)] {
            if let Some(Errors { median_percent, max_percent }) = errors {
                text += &format!(
                    "  error at {what}: median {median_percent:.2} %, at most {max_percent:.2} %\n"
                );
            }
        }
        text += "  batch  longest_us   median_us      p99_us     law_us   error_%  runs\n";
        for p in &self.point {
            text += &format!(
                "  {:>5} {:>11.1} {:>11.1} {:>11.1} {:>10.1} {:>9.2} {:>5}{}\n",
                p.batch,
                p.longest_us,
                p.median_us,
                p.p99_us,
                p.predicted_us,
                p.error_percent,
                p.runs,
                if p.held_out { "  not seen" } else { "" }
            );
        }
        text
    }
}
