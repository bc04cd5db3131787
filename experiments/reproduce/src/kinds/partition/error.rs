//! What a solver refuses, with the key and the remedy.

use orrery_run::SpecError;
use orrery_solvers::partition::PartitionError;

/// A solver's error in the words of the keys.
pub(super) fn in_words(error: PartitionError) -> SpecError {
    let (key, allowed, remedy) = match &error {
        PartitionError::Number { what: "memory_max", .. } => {
            ("memory_max_mb", "0 or more", "correct the number")
        }
        PartitionError::Number { .. } => ("rate_max_per_s", "0 or more", "correct the number"),
        PartitionError::ModelTooLarge { .. } | PartitionError::MemoryTooSmall { .. } => {
            let remedy = "raise `memory_max_mb` or `clusters`, or draw smaller models";
            ("memory_max_mb", "limits that fit all models", remedy)
        }
        PartitionError::ModelTooFast { .. } | PartitionError::RateTooHigh { .. } => {
            let remedy = "raise `rate_max_per_s` or `clusters`, or draw lower rates";
            ("rate_max_per_s", "limits that fit all models", remedy)
        }
        PartitionError::NotFound { .. } => {
            let remedy = "loosen a limit: `rate_max_per_s`, `memory_max_mb` or `clusters`";
            ("clusters", "a problem that the solver can solve", remedy)
        }
    };
    SpecError::value(key, error, allowed, remedy)
}
