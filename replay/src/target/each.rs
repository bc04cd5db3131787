//! A device's models are the scenario's.

use crate::error::Error;
use orrery_scenario::Scenario;
use std::path::Path;

/// Where the table of an encoder's lengths is.
pub(super) const ENCODER: &str = "workload.encoder.lengths";

/// Refuses a device's list of models that is not one for each of the scenario's.
pub(super) fn one_for_each(
    file: &Path,
    device: &str,
    found: usize,
    names: &[String],
) -> Result<(), Error> {
    if found == names.len() {
        return Ok(());
    }
    let (key, found) = (format!("{device}.models"), format!("{found} models"));
    let allowed = format!("one for each of the scenario's: {}", names.join(", "));
    let remedy = format!(
        "give `[[{device}.models]]` in the scenario's order, with `--device-config FILE` or in the campaign"
    );
    Err(Error::in_file(file, key, found, allowed, remedy))
}

/// Refuses requests that are longer than the model that is to run them, which would be cut. By model, the last time of
/// its table of lengths (`part` of its entry) in microseconds; none where it has none.
pub(super) fn nothing_is_cut(
    file: &Path,
    (device, part): (&str, &str),
    lasts_us: &[Option<f64>],
    scenario: &Scenario,
) -> Result<(), Error> {
    let setup = scenario.setup(scenario.seed)?;
    for (m, last_us) in lasts_us.iter().enumerate().filter_map(|(m, last)| Some((m, (*last)?))) {
        let apps = setup.apps.iter().filter(|a| a.model.index() == m);
        let longest_us = apps.map(|a| a.law.quantile_ns(1.0) / 1e3).fold(0.0, f64::max);
        // What lies between two lengths belongs to the longer.
        if longest_us > last_us * 1.001 {
            let key = format!("{device}.models[{m}].{part}");
            let found = format!("a table up to {last_us} us for requests of up to {longest_us} us");
            let remedy = "extend `lengths` (of an encoder, raise `max_len`), or shorten the requests: a longer \
                          one would be cut in silence";
            return Err(Error::in_file(file, key, found, "the length of every request", remedy));
        }
    }
    Ok(())
}
