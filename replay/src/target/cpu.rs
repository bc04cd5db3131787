//! The way to cores of this machine: their configuration against the scenario.

use super::each::{ENCODER, nothing_is_cut, one_for_each};
use crate::device::Device;
use crate::device::cpu::{CpuConfig, Workload, open as open_core};
use crate::error::Error;
use orrery_scenario::Scenario;
use std::path::Path;

/// Opens a core for what a `[cpu]` table says it is to run; there must be an entry for each of the
/// scenario's models.
///
/// # Errors
/// When it is not there, cannot run it, or the scenario has requests that an encoder cannot take.
pub fn open(
    core: usize,
    config: Option<&CpuConfig>,
    file: &Path,
    scenario: &Scenario,
) -> Result<Box<dyn Device>, Error> {
    let config = config.cloned().unwrap_or_default();
    one_for_each(file, "cpu", config.models.len(), &scenario.model_names())?;
    let device = open_core(core, &config)?;
    let last = |w: &Workload| w.encoder.lengths.last().map(|l| l.1);
    let longest: Vec<Option<f64>> = config.models.iter().map(|m| last(&m.workload)).collect();
    nothing_is_cut(file, ("cpu", ENCODER), &longest, scenario)?;
    Ok(Box::new(device))
}
