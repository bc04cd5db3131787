//! Orloj's Table 1: the real tasks, by mean and P99 of their execution times. The one table of a paper
//! that enters a run.

use crate::shipped::numbers;
use orrery_run::SpecError;
use serde::Deserialize;

const WORKLOADS: &str = "orloj_workloads.csv";

/// A row of Orloj's Table 1.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Task {
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

impl Task {
    /// As Table 5 writes it.
    pub fn name(&self) -> String {
        format!("{}-{}", self.model, self.dataset)
    }
}

/// All of them.
///
/// # Errors
/// When the shipped file is damaged.
pub fn all() -> Result<Vec<Task>, SpecError> {
    let rows = csv::Reader::from_reader(numbers(WORKLOADS).unwrap_or_default().as_bytes())
        .into_deserialize();
    let file = WORKLOADS.to_string();
    let error = |e: csv::Error| SpecError::Parse { file: file.clone(), message: e.to_string() };
    rows.collect::<Result<_, _>>().map_err(error)
}
