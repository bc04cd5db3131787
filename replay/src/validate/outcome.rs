//! What came out at a point.

use super::point::Point;
use crate::compare::{Side, Summary, Tail};
use crate::device::Description;
use crate::driver::Lateness;
use serde::{Deserialize, Serialize};

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
    /// When.
    pub date: String,
    /// The prediction.
    pub simulated: Summary,
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
    pub duration_over: Tail,
    /// Longer.
    pub duration_under: Tail,
    /// Longer, in millionths of the prediction.
    pub duration_under_ppm: Tail,
    /// Results earlier than predicted.
    pub completion_over: Tail,
    /// Later.
    pub completion_under: Tail,
    /// How late the host was.
    pub lateness: Lateness,
    /// What the controller worked for each request.
    pub controller_busy_per_request_ns: u64,
    /// The machine's load averages when it began.
    pub load_average: String,
    /// The device.
    pub device: Description,
}

/// Bands of load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Band {
    /// Up to 0.6.
    Light,
    /// Up to 0.85.
    Medium,
    /// Up to 1.05.
    NearSaturation,
    /// Above.
    Overload,
}

impl Band {
    /// All bands.
    pub const ALL: [Band; 4] = [Band::Light, Band::Medium, Band::NearSaturation, Band::Overload];

    /// The band of a load.
    pub fn of(load: f64) -> Band {
        match load {
            l if l <= 0.6 => Band::Light,
            l if l <= 0.85 => Band::Medium,
            l if l <= 1.05 => Band::NearSaturation,
            _ => Band::Overload,
        }
    }

    /// Its words.
    pub fn words(self) -> &'static str {
        match self {
            Band::Light => "light (to 0.6)",
            Band::Medium => "medium (to 0.85)",
            Band::NearSaturation => "near saturation (to 1.05)",
            Band::Overload => "overload (above)",
        }
    }
}

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

    pub(super) fn add(&mut self, run: Repetition, predicted: &Side, warm_up_ns: u64) {
        if self.runs.is_empty() {
            self.simulated = Summary::of(&predicted.records, warm_up_ns);
        }
        self.runs.push(run);
    }

    /// The runs that count.
    pub fn valid(&self) -> impl Iterator<Item = &Repetition> {
        self.runs.iter().filter(|r| r.invalid.is_none())
    }

    fn rates(&self) -> Vec<f64> {
        self.valid().map(|r| 100.0 * r.measured.finish_rate).collect()
    }

    /// The mean measured finish rate less the simulated one, in percentage points; none without a
    /// valid run.
    pub fn difference_points(&self) -> Option<f64> {
        let rates = self.rates();
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        (!rates.is_empty()).then_some(mean - 100.0 * self.simulated.finish_rate)
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
            .map(|r| match &r.invalid {
                None => format!("{:.2}", 100.0 * r.measured.finish_rate),
                Some(why) => format!("invalid ({why})"),
            })
            .collect();
        let simulated = 100.0 * self.simulated.finish_rate;
        format!("{name}: simulated {simulated:.2} %, measured {}", runs.join(", "))
    }
}
