//! The way to cores of this machine: their configuration against the scenario.

use super::each::one_for_each;
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
    let setup = scenario.setup(scenario.seed)?;
    for (m, model) in config.models.iter().enumerate() {
        let Workload::Encoder(encoder) = &model.workload else { continue };
        let last_us = encoder.lengths.last().map_or(0.0, |l| l.1);
        let apps = setup.apps.iter().filter(|a| a.model.index() == m);
        let longest_us = apps.map(|a| a.law.quantile_ns(1.0) / 1e3).fold(0.0, f64::max);
        // What lies between two lengths belongs to the longer.
        if longest_us > last_us * 1.001 {
            let key = format!("cpu.models[{m}].workload.encoder.lengths");
            let found = format!("a table up to {last_us} us for requests of up to {longest_us} us");
            let remedy = "raise `max_len` and extend `lengths`, or shorten the requests: a longer one \
                          would be cut in silence";
            return Err(Error::in_file(file, key, found, "the length of every request", remedy));
        }
    }
    Ok(Box::new(device))
}
