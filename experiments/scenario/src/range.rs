//! Numbers of files that must lie in a range.

use orrery_run::SpecError;

/// A number that must lie in a range, with its key and its unit.
pub(crate) fn within(
    key: &str,
    found: f64,
    least: f64,
    most: f64,
    unit: &str,
) -> Result<(), SpecError> {
    if (least..=most).contains(&found) {
        return Ok(());
    }
    let allowed = format!("{least} to {most}{unit}");
    Err(SpecError::value(key, found, allowed, format!("correct `{key}`")))
}
