//! What came out at a point.

use super::campaign::Targets;
use super::point::Point;
use crate::card::{self, Card};
use crate::compare::{Naive, Summary};
use crate::device::Description;
use crate::driver::Lateness;
use crate::profile::DRIFT_MAX_PERCENT;
use crate::quantiles::Quantiles;
use crate::retrace::Retraced;
use crate::table::largest;
use crate::twin::Knowledge;
use orrery_sim::stats::mean;
use serde::{Deserialize, Serialize};

/// A point whose draws have a larger standard deviation than this, in percentage points, is sensitive.
pub const SENSITIVE_POINTS: f64 = 2.0;

/// A point's result: one simulation, several replays.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
pub struct PointResult {
    /// Of everything that it depends on.
    pub hash: String,
    /// The policy with its parameters.
    pub policy: String,
    /// The load.
    pub load: f64,
    /// The mean execution time, where the grid has some.
    pub exec_ms: Option<f64>,
    /// The SLO of the first model.
    pub slo_ms: f64,
    /// Arrivals a second.
    pub rate_per_s: f64,
    /// The day of the run, ISO 8601.
    pub date: String,
    /// The first draw of the prediction.
    pub simulated: Summary,
    /// The finish rate of every draw.
    #[serde(default)]
    pub draws: Vec<f64>,
    /// What predicts less well with less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub naive: Option<Naive>,
    /// How far the device was from its profile in the end, percent; none when that was not measured.
    #[serde(default)]
    pub drift_percent: Option<f64>,
    /// The replays.
    pub runs: Vec<Repetition>,
}

/// A replay.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
pub struct Repetition {
    /// Why it says nothing, if so.
    pub invalid: Option<String>,
    /// The figures.
    pub measured: Summary,
    /// Time on the device, shorter than predicted.
    pub duration_over: Quantiles,
    /// Longer.
    pub duration_under: Quantiles,
    /// Longer, in millionths of the prediction.
    pub duration_under_ppm: Quantiles,
    /// Results earlier than predicted.
    pub completion_over: Quantiles,
    /// Later.
    pub completion_under: Quantiles,
    /// How late the host was.
    pub lateness: Lateness,
    /// What the controller worked for each request.
    pub controller_busy_per_request_ns: u64,
    /// The machine's load averages when it began.
    pub load_average: String,
    /// The share of the workers' busy time in which the host took their core away.
    #[serde(default)]
    pub away_share: f64,
    /// The longest that one action was away.
    #[serde(default)]
    pub away_max_ns: u64,
    /// What was asked of the system and not granted.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What a device failed of, if one did.
    #[serde(default)]
    pub failed: Option<String>,
    /// The share of batches that began within 100 us of their plan, or of the end of the one before; older results
    /// do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_time_percent: Option<f64>,
    /// A GPU before the run and after it; older results do not say.
    #[serde(default, skip_serializing_if = "card::is_unknown")]
    pub card: [Card; 2],
    /// The prediction on the machine as it was in this run; older results have none.
    #[serde(default)]
    pub twin: Option<TwinOf>,
    /// Whether the simulator, fed with what was measured, takes the same decisions; older results do not say.
    #[serde(default)]
    pub retraced: Retraced,
    /// The device.
    pub device: Description,
}

/// The twin of a run.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
pub struct TwinOf {
    /// How well its machine is known.
    pub knowledge: Knowledge,
    /// The finish rate of every draw.
    pub draws: Vec<f64>,
}

/// Differences of some points, in percentage points of the finish rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Differences {
    pub points: usize,
    pub mean: Option<f64>,
    pub max: Option<f64>,
    /// The mean over points of largest less smallest of their repeated runs, where any has two.
    pub spread_mean: Option<f64>,
    pub spread_max: Option<f64>,
}

impl Differences {
    /// Those of one number for each point; spreads are not known.
    pub(super) fn of(each: &[f64]) -> Differences {
        let (mean, max) = (mean(each), largest(each));
        Differences { points: each.len(), mean, max, ..Differences::default() }
    }

    /// Whether no point is beyond the targets.
    pub(super) fn are_within(&self, targets: Targets) -> bool {
        self.mean.is_none_or(|mean| mean <= targets.mean_points)
            && self.max.is_none_or(|max| max <= targets.max_points)
    }

    /// They beside the targets, in a sentence; none without a point.
    pub fn against(&self, targets: Targets) -> Option<String> {
        let (points, mean, max) = (self.points, self.mean?, self.max?);
        let word = if self.are_within(targets) { "within" } else { "not within" };
        let Targets { mean_points, max_points } = targets;
        Some(format!(
            "{points} stable points are {mean:.2} percentage points apart on average, {max:.2} at most; {word} the \
             targets of {mean_points} and {max_points}."
        ))
    }
}

/// Runs of sensitive points: their outcome hangs on single batches, so that only the middle 95 % of the
/// draws can judge them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Sensitive {
    pub points: usize,
    pub runs: usize,
    pub inside: usize,
}

impl Sensitive {
    /// 19 of 20 lie inside.
    pub fn is_fine(&self) -> bool {
        20 * self.inside >= 19 * self.runs
    }

    /// How many lie inside, in a sentence; none without a point.
    pub fn told(&self) -> Option<String> {
        let Sensitive { points, runs, inside } = self;
        let word = if self.is_fine() { "" } else { " Fewer than 19 of 20." };
        (*points > 0).then(|| {
            format!(
                "{points} points are sensitive (the standard deviation of their draws is above {SENSITIVE_POINTS} \
                 points): {inside} of {runs} runs lie in the middle 95 % of the draws.{word}"
            )
        })
    }
}

/// Of all runs, this share must be valid.
pub(super) const VALID_SHARE: f64 = 0.8;

/// Bands of load: up to which, and what they are called.
pub(super) const BANDS: [(f64, &str); 4] = [
    (0.6, "light (to 0.6)"),
    (0.85, "medium (to 0.85)"),
    (1.05, "near saturation (to 1.05)"),
    (f64::INFINITY, "overload (above)"),
];

impl PointResult {
    pub(super) fn new(point: &Point, date: &str) -> PointResult {
        PointResult {
            hash: point.hash.clone(),
            policy: point.policy.to_string(),
            load: point.load,
            exec_ms: point.exec_ms,
            slo_ms: point.slo_ms,
            rate_per_s: point.rate_per_s,
            date: date.to_string(),
            ..PointResult::default()
        }
    }

    /// Why a run says nothing, if so: its own reason, or that of its point.
    pub fn invalid<'a>(&'a self, run: &'a Repetition) -> Option<String> {
        let drifted = self.drift_percent.filter(|d| d.abs() > DRIFT_MAX_PERCENT);
        let drifted = drifted.map(|d| {
            format!("the device changed by {d:+.2} % since it was profiled (at most {DRIFT_MAX_PERCENT} %)")
        });
        run.invalid.clone().or(drifted)
    }

    /// The runs that count.
    pub fn valid(&self) -> impl Iterator<Item = &Repetition> {
        self.runs.iter().filter(|r| self.invalid(r).is_none())
    }

    /// The mean predicted finish rate, in percent.
    pub fn predicted_percent(&self) -> f64 {
        mean_percent(&self.draws).unwrap_or(100.0 * self.simulated.finish_rate)
    }

    /// The standard deviation of the draws, in percentage points.
    pub fn draws_sd_points(&self) -> f64 {
        sd_points(&self.draws)
    }

    /// The middle 95 % of the draws, in percent: with 40, all but the least and the largest.
    pub fn middle_percent(&self) -> (f64, f64) {
        let only = self.predicted_percent();
        middle_percent(&self.draws).unwrap_or((only, only))
    }

    /// Its outcome hangs on single batches or stalls: one run says little of its mean.
    pub fn is_sensitive(&self) -> bool {
        self.draws_sd_points() > SENSITIVE_POINTS
    }

    /// Of its valid runs: how many lie in the middle 95 % of the draws, and how many there are.
    pub fn inside(&self) -> (usize, usize) {
        let (low, high) = self.middle_percent();
        let rates = self.rates();
        let within = |rate: &&f64| (low - 1e-9..=high + 1e-9).contains(*rate);
        (rates.iter().filter(within).count(), rates.len())
    }

    fn rates(&self) -> Vec<f64> {
        self.valid().map(|r| 100.0 * r.measured.finish_rate).collect()
    }

    /// The mean measured finish rate less the mean predicted one, in percentage points; none without a
    /// valid run.
    pub fn difference_points(&self) -> Option<f64> {
        Some(mean(&self.rates())? - self.predicted_percent())
    }

    /// The largest less the smallest finish rate of its valid runs, in percentage points.
    pub fn spread_points(&self) -> Option<f64> {
        let rates = self.rates();
        let most = rates.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
        (rates.len() > 1).then_some(most - least)
    }

    /// In one line, for progress.
    pub fn line(&self, name: &str) -> String {
        let runs: Vec<String> = self
            .runs
            .iter()
            .map(|r| match self.invalid(r) {
                None => format!("{:.2}", 100.0 * r.measured.finish_rate),
                Some(why) => format!("invalid ({why})"),
            })
            .collect();
        let (mean, (low, high)) = (self.predicted_percent(), self.middle_percent());
        let runs = runs.join(", ");
        if self.draws.is_empty() {
            return format!("{name}: measured {runs}");
        }
        format!("{name}: predicted {mean:.2} % ({low:.2} to {high:.2}), measured {runs}")
    }
}

/// The mean of finish rates, in percent; none of none.
pub(super) fn mean_percent(draws: &[f64]) -> Option<f64> {
    (!draws.is_empty()).then(|| 100.0 * draws.iter().sum::<f64>() / draws.len() as f64)
}

/// The standard deviation of finish rates, in percentage points.
pub(super) fn sd_points(draws: &[f64]) -> f64 {
    let n = draws.len() as f64;
    let Some(mean) = mean_percent(draws).filter(|_| n > 1.0) else { return 0.0 };
    let squares = draws.iter().map(|d| (100.0 * d - mean) * (100.0 * d - mean));
    (squares.sum::<f64>() / (n - 1.0)).sqrt()
}

/// The middle 95 % of finish rates, in percent; none of none.
pub(super) fn middle_percent(draws: &[f64]) -> Option<(f64, f64)> {
    let mut sorted: Vec<f64> = draws.iter().map(|d| 100.0 * d).collect();
    sorted.sort_by(f64::total_cmp);
    let off = (0.025 * sorted.len() as f64).floor() as usize;
    let last = sorted.len().checked_sub(1 + off)?;
    Some((*sorted.get(off)?, *sorted.get(last)?))
}
