//! The regression gate: rerun what a baseline names, compare.

use crate::cli::Answer;
use orrery_scenario::SpecError;

/// `orrery regress`.
#[derive(Debug, clap::Args)]
pub struct Regress {}

/// Runs `orrery regress`.
///
/// # Errors
/// None yet.
pub fn command(_: &Regress) -> Result<Answer, SpecError> {
    Ok(Answer::default())
}
