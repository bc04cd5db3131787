//! The way to workers: their configuration against the scenario.

use super::each::{nothing_is_cut, one_for_each};
use crate::device::Device;
use crate::device::worker::{WorkerConfig, WorkerModel, open as start};
use crate::error::Error;
use crate::profile::ProfileFile;
use orrery_scenario::Scenario;
use std::path::Path;

/// Starts the worker that a `[worker]` table names; there must be an entry for each of the scenario's models.
///
/// # Errors
/// When it cannot be started, does not say hello, or the scenario has requests that it cannot take.
pub fn open(
    number: usize,
    config: Option<&WorkerConfig>,
    file: &Path,
    scenario: &Scenario,
) -> Result<Box<dyn Device>, Error> {
    let config = config.cloned().unwrap_or_default();
    one_for_each(file, "worker", config.models.len(), &scenario.model_names())?;
    config.check(&format!("worker:{number}"))?;
    let longest = |m: &WorkerModel| m.lengths.last().map(|l| l.1);
    let longest: Vec<Option<f64>> = config.models.iter().map(longest).collect();
    nothing_is_cut(file, ("worker", "lengths"), &longest, scenario)?;
    let loads = scenario.file.model.iter().any(|m| m.load_ms > 0.0);
    let folder = file.parent().unwrap_or(Path::new(""));
    Ok(Box::new(start(number, &config, folder, loads)?))
}

/// Sets how long a job may take by what a profile measured.
pub(super) fn as_profiled(config: &mut WorkerConfig, profile: &ProfileFile) {
    let batches = profile.model.iter().flat_map(|m| &m.point).map(|p| p.p99_us / 1e6);
    let loads = profile.model.iter().filter_map(|m| m.load).map(|l| l.max_ms / 1e3);
    config.as_profiled(batches.chain(loads).fold(0.0, f64::max));
}
