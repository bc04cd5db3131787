//! What can be wrong with a file of another tool.

use orrery_traces::TraceError;
use thiserror::Error;

/// A fault of a file, with its place and its remedy.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ImportError {
    /// A file of lines or fields.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// Anything else: a key of a JSON file, an option that is missing, a format that is not known.
    #[error("{place}: found {found}; allowed: {allowed}\n  remedy: {remedy}")]
    Value {
        /// The file, its line and its key as far as they are known.
        place: String,
        /// What was found.
        found: String,
        /// The values or forms that are allowed, in words.
        allowed: String,
        /// How the user can mend it.
        remedy: String,
    },
}

impl ImportError {
    /// A value that is not allowed.
    pub(crate) fn value(
        place: impl Into<String>,
        found: impl Into<String>,
        allowed: impl Into<String>,
        remedy: impl Into<String>,
    ) -> ImportError {
        let (place, found) = (place.into(), found.into());
        let (allowed, remedy) = (allowed.into(), remedy.into());
        ImportError::Value { place, found, allowed, remedy }
    }
}
