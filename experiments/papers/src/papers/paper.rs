//! The papers' own numbers, shipped as CSV. They stand beside ours and never enter a run.

use orrery_scenario::SpecError;
use serde::Deserialize;
use serde::de::DeserializeOwned;

const FINISH_RATES: &str = include_str!("../data/orloj_finish_rates.csv");
const WORKLOADS: &str = include_str!("../data/orloj_workloads.csv");

/// A row of Orloj's Tables 2 to 5.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct FinishRates {
    /// The table's number.
    pub table: u32,
    /// The row's name.
    pub case: String,
    /// The SLO as a multiple of P99.
    pub slo_x_p99: f64,
    /// Clipper's finish rate.
    pub clipper: f64,
    /// Nexus's.
    pub nexus: f64,
    /// Clockwork's.
    pub clockwork: f64,
    /// Orloj's.
    pub orloj: f64,
}

/// A row of Orloj's Table 1.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Workload {
    /// What it does.
    pub task: String,
    /// The model.
    pub model: String,
    /// The data.
    pub dataset: String,
    /// Mean execution time alone.
    pub mean_exec_ms: f64,
    /// Its 99th percentile.
    pub p99_exec_ms: f64,
}

impl Workload {
    /// As Table 5 writes it.
    pub fn name(&self) -> String {
        format!("{}-{}", self.model, self.dataset)
    }
}

impl FinishRates {
    /// The figure of a system; `None` for one that the paper does not have.
    pub fn of(&self, system: &str) -> Option<f64> {
        match system {
            "clipper" => Some(self.clipper),
            "nexus" => Some(self.nexus),
            "clockwork" => Some(self.clockwork),
            "orloj" => Some(self.orloj),
            _ => None,
        }
    }
}

fn read<T: DeserializeOwned>(name: &str, text: &str) -> Result<Vec<T>, SpecError> {
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize();
    let error = |e: csv::Error| SpecError::Parse { file: name.to_string(), message: e.to_string() };
    rows.collect::<Result<_, _>>().map_err(error)
}

/// Orloj's finish rates, all tables. Empty when the environment variable `ORRERY_WITHOUT_PAPER` is
/// set: ours must print without them.
///
/// # Errors
/// When the shipped file is damaged.
pub fn orloj_finish_rates() -> Result<Vec<FinishRates>, SpecError> {
    if std::env::var_os("ORRERY_WITHOUT_PAPER").is_some() {
        return Ok(Vec::new());
    }
    read("orloj_finish_rates.csv", FINISH_RATES)
}

/// Orloj's Table 1.
///
/// # Errors
/// When the shipped file is damaged.
pub fn orloj_workloads() -> Result<Vec<Workload>, SpecError> {
    read("orloj_workloads.csv", WORKLOADS)
}
