//! A device's models are the scenario's.

use crate::error::Error;
use std::path::Path;

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
