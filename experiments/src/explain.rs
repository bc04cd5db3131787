//! What happened to one request, step by step.

use crate::cli::Answer;
use orrery_scenario::SpecError;

/// `orrery explain`.
#[derive(Debug, clap::Args)]
pub struct Explain {}

/// Runs `orrery explain`.
///
/// # Errors
/// None yet.
pub fn command(_: &Explain) -> Result<Answer, SpecError> {
    Ok(Answer::default())
}
