//! `orrery plot`: figures from result tables.

use crate::cli::Answer;
use orrery_scenario::SpecError;

/// `orrery plot`.
#[derive(Debug, clap::Args)]
pub struct Plot {}

/// Runs `orrery plot`.
///
/// # Errors
/// None yet.
pub fn command(_: &Plot) -> Result<Answer, SpecError> {
    Ok(Answer::default())
}
