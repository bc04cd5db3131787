//! The file that `profile` writes: laws for scenarios, and everything they rest on for people.

use super::Clocks;
use super::fit::{Fit, Point};
use super::measure::Timed;
use super::stalls::HostStalls;
use crate::device::{Description, Primitive};
use crate::error::{Error, read_toml};
use crate::host::Host;
use crate::quantiles::{median, quantile};
use orrery_run::SpecError;
use orrery_scenario::kind;
use orrery_scenario::scenario::PROFILE_VERSION;
use orrery_scenario::scenario::disturbance::BatchNoise;
use orrery_scenario::scenario::file::LatencyLaw;
use orrery_sim::time::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The largest error of a law at a point that it did not see, percent.
pub const HELD_OUT_MAX_PERCENT: f64 = 5.0;
/// The p99 of a point over its median, at the middle point of a model.
const TAIL_MAX: f64 = 1.5;
/// Launch and result, as a share of the shortest batch.
const OVERHEAD_MAX: f64 = 0.5;
/// From a batch's start to its end, over its time on the device, less one, at the middle point of a model.
const AROUND_MAX: f64 = 0.1;
/// The largest time that a profile may say, an hour in microseconds.
const US_MAX: f64 = 3.6e9;
/// The share of the time in which the host takes a core away.
const AWAY_MAX: f64 = 0.05;
/// The change of the medians since they were measured, percent.
pub const DRIFT_MAX_PERCENT: f64 = 1.0;

/// A profile.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, JsonSchema)]
pub struct ProfileFile {
    /// Where it was read, for messages.
    #[serde(skip)]
    pub file: PathBuf,
    /// The version of the format.
    pub orrery_profile: u32,
    /// The scenario whose models were measured.
    pub scenario: String,
    /// The scenario's kind of device that was measured; empty in older files.
    #[serde(default)]
    pub kind: String,
    /// The day of the measurement, ISO 8601.
    pub date: String,
    /// The command line that measured it.
    pub command: String,
    /// By which clock.
    pub clock: Clocks,
    /// The seed of the order.
    pub seed: u64,
    /// On what.
    pub device: Description,
    /// On which machine.
    pub host: Host,
    /// Why nothing should be predicted with it; empty when all is well.
    #[serde(default)]
    pub verdict: Vec<String>,
    /// What an action costs besides.
    pub overhead: Overhead,
    /// How the host takes cores away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalls: Option<HostStalls>,
    /// How far the device had drifted at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
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

/// Changes of the points' medians since they were measured.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, JsonSchema)]
pub struct Drift {
    /// The median change, with its sign: above zero, the device has become slower.
    pub median_percent: f64,
    /// The largest change of a point, without sign.
    pub max_percent: f64,
}

impl Drift {
    /// Of changes in percent; none without any.
    pub fn of(mut changes: Vec<f64>) -> Option<Drift> {
        let median_percent = (!changes.is_empty()).then(|| median(&mut changes))?;
        let max_percent = changes.iter().map(|c| c.abs()).fold(0.0, f64::max);
        Some(Drift { median_percent, max_percent })
    }
}

/// Loads of a model.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, JsonSchema)]
#[allow(missing_docs)]
pub struct Load {
    pub median_ms: f64,
    pub max_ms: f64,
    pub loads: u64,
}

impl Load {
    /// Of sorted times; none without any.
    pub fn of(sorted: &[Span]) -> Option<Load> {
        let max_ms = sorted.last()?.as_ms_f64();
        let median_ms = quantile(sorted, 0.5).as_ms_f64();
        Some(Load { median_ms, max_ms, loads: sorted.len() as u64 })
    }
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
        let [median, p99] = [0.5, 0.99].map(|q| quantile(&sorted, q));
        let Primitive { name, unit, .. } = primitive.clone();
        PrimitiveRow { name, unit, median, p99, samples: sorted.len() as u64 }
    }
}

/// A model.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, JsonSchema)]
pub struct ModelRow {
    /// The model's name in scenarios.
    pub name: String,
    /// The law: what a scenario reads.
    pub law: LatencyLaw,
    /// The error of the law at the points it was fitted to.
    pub fitted: Option<Errors>,
    /// Its error at the points it did not see.
    pub held_out: Option<Errors>,
    /// What makes one batch unlike another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<BatchNoise>,
    /// How long its loads take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
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
    /// By how much the medians of its points have changed, in percent. Points that it has not are left
    /// out.
    pub(super) fn changes(&self, now: &[Timed]) -> Vec<f64> {
        let change = |timed: &Timed| {
            let now = timed.point();
            let longest_us = now.longest.ns() as f64 / 1e3;
            let same =
                |p: &&PointRow| p.batch == now.units && (p.longest_us - longest_us).abs() < 0.002;
            let then = self.point.iter().find(same)?;
            Some(100.0 * (now.median_ns / 1e3 / then.median_us - 1.0))
        };
        now.iter().filter_map(change).collect()
    }

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
            noise: None,
            load: None,
            point: timed.iter().zip(points).zip(&fit.errors_percent).map(row).collect(),
        }
    }
}

impl ProfileFile {
    /// Reads a profile.
    ///
    /// # Errors
    /// When it cannot be read, is of another version, or a number is out of range.
    pub fn read(file: &Path) -> Result<ProfileFile, Error> {
        let profile: ProfileFile = read_toml(file, kind::PROFILE)?;
        if profile.orrery_profile != PROFILE_VERSION {
            let (found, allowed) = (profile.orrery_profile, PROFILE_VERSION.to_string());
            let remedy = "measure again with this version";
            return Err(Error::in_file(file, "orrery_profile", found, allowed, remedy));
        }
        profile.check().map_err(|e| e.in_file(&file.display().to_string()))?;
        Ok(ProfileFile { file: file.to_path_buf(), ..profile })
    }

    /// Checks what a prediction takes from it.
    fn check(&self) -> Result<(), SpecError> {
        let Overhead { launch, result } = self.overhead;
        let mut times_us = vec![
            ("overhead.launch.median_us".to_string(), launch.median_us),
            ("overhead.result.median_us".to_string(), result.median_us),
        ];
        for m in &self.model {
            m.law.law(&format!("model.{}.law", m.name))?;
            m.noise
                .iter()
                .try_for_each(|noise| noise.law(&format!("model.{}.noise", m.name), 0).map(drop))?;
            let load =
                |load: Load| (format!("model.{}.load.median_ms", m.name), 1e3 * load.median_ms);
            times_us.extend(m.load.map(load));
        }
        self.stalls.iter().try_for_each(|s| s.law.law("stalls.law", 0).map(drop))?;
        match times_us.into_iter().find(|(_, us)| !(0.0..=US_MAX).contains(us)) {
            None => Ok(()),
            Some((key, us)) => {
                let (found, allowed) = (format!("{us} us"), "a time from 0 to an hour");
                Err(SpecError::value(key, found, allowed, "profile again"))
            }
        }
    }

    /// Laws that are too far off where they were not fitted, whatever the machine did.
    pub fn faults_of_laws(&self) -> impl Iterator<Item = String> {
        self.model.iter().filter_map(|m| {
            let judged = m.held_out.or(m.fitted)?;
            (judged.max_percent > HELD_OUT_MAX_PERCENT).then(|| {
                format!(
                    "the latency model of `{}` is up to {:.1} % off at points that it did not see (at most \
                     {HELD_OUT_MAX_PERCENT} %)",
                    m.name, judged.max_percent
                )
            })
        })
    }

    /// Why nothing should be predicted with it. The bounds are those of docs/replay.md.
    pub fn faults(&self) -> Vec<String> {
        let mut faults: Vec<String> = self.faults_of_laws().collect();
        for m in &self.model {
            let mut tails: Vec<f64> = m.point.iter().map(|p| p.p99_us / p.median_us).collect();
            let tail = median(&mut tails);
            if tail > TAIL_MAX {
                faults.push(format!(
                    "the p99 of `{}` is {tail:.2} times its median at the middle point (at most \
                     {TAIL_MAX})",
                    m.name
                ));
            }
            let around = m.point.iter().map(|p| p.around_median_us / p.median_us - 1.0);
            let around = median(&mut around.collect::<Vec<f64>>());
            if around > AROUND_MAX {
                faults.push(format!(
                    "batches of `{}` take {:.0} % longer from start to end than on the device, which no prediction \
                     has (at most {:.0} %): a worker's `device_ns` must be of the whole batch, or left out",
                    m.name,
                    100.0 * around,
                    100.0 * AROUND_MAX
                ));
            }
        }
        let shortest = self.model.iter().flat_map(|m| &m.point).map(|p| p.median_us);
        let shortest = shortest.fold(f64::INFINITY, f64::min);
        let overhead = self.overhead.launch.median_us + self.overhead.result.median_us;
        if overhead > OVERHEAD_MAX * shortest {
            faults.push(format!(
                "launch and result take {overhead:.0} us beside batches of {shortest:.0} us and more \
                 (at most {OVERHEAD_MAX} of the shortest)"
            ));
        }
        if let Some(s) = self.stalls.as_ref().filter(|s| s.share_away > AWAY_MAX) {
            faults.push(format!(
                "the host took its cores away for {:.1} % of the time (at most {:.0} %)",
                100.0 * s.share_away,
                100.0 * AWAY_MAX
            ));
        }
        if let Some(d) = self.drift.filter(|d| d.median_percent.abs() > DRIFT_MAX_PERCENT) {
            faults.push(format!(
                "the device changed by {:+.2} % while it was measured (at most {DRIFT_MAX_PERCENT} %)",
                d.median_percent
            ));
        }
        faults
    }

    /// What speaks against predicting a run by this clock, on this device where it is known: each with its key, what was
    /// found and what is allowed. Empty when all is well.
    pub fn against(
        &self,
        clocks: Clocks,
        device: Option<&Description>,
    ) -> Vec<(&'static str, String, String)> {
        let fit = "a profile that is fit to predict with";
        let mut all: Vec<_> =
            self.verdict.iter().map(|why| ("verdict", why.clone(), fit.to_string())).collect();
        // A virtual clock only tests the harness.
        if self.clock != clocks && clocks != Clocks::Virtual {
            let (found, allowed) = (self.clock, format!("a profile by the run's: {clocks}"));
            all.push(("clock", format!("measured by {found}"), allowed));
        }
        let Some(device) = device else { return all };
        let kind = |name: &str| name.split(':').next().unwrap_or_default().to_string();
        let waits = kind(&device.device) == "emulated";
        let same = kind(&self.device.device) == kind(&device.device);
        if !(same && (waits || self.device.name == device.name)) {
            let found = format!("measured on {}, {}", self.device.device, self.device.name);
            let allowed = format!("a profile of {}, {}", device.device, device.name);
            all.push(("device", found, allowed));
        } else if let (Some(ours), Some(theirs)) = (self.device.runs(), device.runs()) {
            let allowed = format!("a profile of what the device runs: {theirs}");
            all.extend(
                (ours != theirs).then(|| ("device", format!("measured on {ours}"), allowed)),
            );
        }
        all
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
        if let Some(s) = &self.stalls {
            text += &format!(
                "stalls    {} on {} cores in {:.1} s, the longest {:.1} ms; a core was away for {:.3} % \
                 of the time\n",
                s.stalls,
                s.cores,
                s.watched_s,
                s.longest_ms,
                100.0 * s.share_away
            );
        }
        if let Some(d) = &self.drift {
            text += &format!(
                "drift     {:+.2} % at the end, {:.2} % at most at a point\n",
                d.median_percent, d.max_percent
            );
        }
        for p in &self.primitive {
            let PrimitiveRow { name, unit, median, p99, samples } = p;
            text +=
                &format!("{name}: median {median:.3} {unit}, p99 {p99:.3} ({samples} samples)\n");
        }
        for model in &self.model {
            text += &model.report();
        }
        text += "\n";
        match self.verdict.is_empty() {
            true => text += "verdict: fit to predict with\n",
            false => {
                text += "verdict: NOT FIT to predict with\n";
                self.verdict.iter().for_each(|why| text += &format!("  {why}\n"));
            }
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
            LatencyLaw::Measured(rows) => format!("measurements of {} sizes", rows.len()),
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
        if let Some(n) = &self.noise {
            text += &format!(
                "  noise: sigma {:.2} %, {:.3} % of the batches above 1.5 times their median\n",
                100.0 * n.sigma,
                100.0 * n.outlier_share
            );
        }
        if let Some(l) = &self.load {
            text += &format!(
                "  load: median {:.3} ms, at most {:.3} ms ({} loads)\n",
                l.median_ms, l.max_ms, l.loads
            );
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
