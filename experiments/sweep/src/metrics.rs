//! Whether what a file names is a metric: asked before the first run.

use orrery_results::{is_metric, metrics};
use orrery_run::SpecError;
use orrery_run::error::nearest;

/// Passes when rows may have this metric.
///
/// # Errors
/// When none has; the message names the nearest.
pub fn known_metric(key: &str, name: &str) -> Result<(), SpecError> {
    if is_metric(name) {
        return Ok(());
    }
    let remedy = match nearest(name, metrics()) {
        Some(near) => format!("did you mean `{near}`? "),
        None => "docs/formats.md has the metrics of each command".to_string(),
    };
    Err(SpecError::value(key, format!("`{name}`"), "a metric of the results", remedy))
}
