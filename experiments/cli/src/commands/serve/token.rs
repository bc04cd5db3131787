//! The token of the address: a new one for each run.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// A word that nobody can guess. The standard library's hash keys are the system's random numbers.
pub fn fresh() -> String {
    let word = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", word(), word())
}
