//! A schedule log as Chrome trace JSON.

use crate::cli::Answer;
use orrery_scenario::SpecError;

/// `orrery timeline`.
#[derive(Debug, clap::Args)]
pub struct Timeline {}

/// Runs `orrery timeline`.
///
/// # Errors
/// None yet.
pub fn command(_: &Timeline) -> Result<Answer, SpecError> {
    Ok(Answer::default())
}
