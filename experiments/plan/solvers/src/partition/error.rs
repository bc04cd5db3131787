//! What can be wrong with a problem, and what a search may come back with.

use thiserror::Error;

/// Why there is no assignment.
#[derive(Clone, Debug, Error, PartialEq)]
#[allow(missing_docs)]
pub enum PartitionError {
    #[error("`{what}` is {value}; it must be 0 or more")]
    Number { what: &'static str, value: f64 },

    #[error(
        "model {model} needs {needed} of memory, static and dynamic; a backend has only {limit}"
    )]
    ModelTooLarge { model: usize, needed: f64, limit: f64 },

    #[error("model {model} has a rate of {rate}; a sub-cluster sustains only {limit}")]
    ModelTooFast { model: usize, rate: f64, limit: f64 },

    #[error("all rates together are {total}; {clusters} sub-clusters sustain only {limit}")]
    RateTooHigh { total: f64, clusters: usize, limit: f64 },

    #[error("all static memory together is {total}; {clusters} sub-clusters hold only {limit}")]
    MemoryTooSmall { total: f64, clusters: usize, limit: f64 },

    /// The search is no proof: there may be one all the same.
    #[error("no assignment that keeps all limits was found in {count} {unit}")]
    NotFound { count: u64, unit: &'static str },
}
