//! Names that must be one of several.

use orrery_scenario::SpecError;
use orrery_scenario::error::nearest;

/// Passes when a name is one of these.
///
/// # Errors
/// Names the key, what is allowed and the nearest of it.
pub fn known(key: &str, name: &str, all: &[&str]) -> Result<(), SpecError> {
    if all.contains(&name) {
        return Ok(());
    }
    let hint = nearest(name, all.iter().copied());
    let remedy = hint.map_or("correct the name".to_string(), |n| format!("did you mean `{n}`?"));
    Err(SpecError::value(key, format!("`{name}`"), format!("one of {}", all.join(", ")), remedy))
}
