//! How many of anything a file may ask for. Whatever is counted out in memory has one of these limits.

use crate::error::SpecError;

/// The most instances of a pool, sub-clusters.
pub const COUNT_MAX: u32 = 4096;
/// The most models of a scenario, copies of a model, and applications.
pub const MODELS_MAX: u32 = 16_384;
/// The most devices of a scenario, all kinds together.
pub const DEVICES_MAX: u32 = 100_000;
/// The most seeds.
pub const SEEDS_MAX: u32 = 1_000_000;

/// Passes when a count is from `least` to `most`.
///
/// # Errors
/// Names the key, what was found and what is allowed.
pub fn count(key: &str, found: u64, least: u32, most: u32) -> Result<(), SpecError> {
    if (u64::from(least)..=u64::from(most)).contains(&found) {
        return Ok(());
    }
    let allowed = format!("a whole number from {least} to {most}");
    Err(SpecError::value(key, found, allowed, format!("correct `{key}`")))
}

/// Passes when a number lies within its bounds.
///
/// # Errors
/// Names the key, what was found and what is allowed.
pub fn within(key: &str, x: f64, low: f64, high: f64) -> Result<(), SpecError> {
    if x >= low && x <= high {
        return Ok(());
    }
    let allowed = format!("a number from {low} to {high}");
    Err(SpecError::value(key, x, allowed, format!("correct `{key}`")))
}
