//! What happened to one request, step by step, in words; or which requests fared worst.
//!
//! A log is read once, to the end of the request's story.

mod failure;
mod story;
mod target;
pub mod tokens;
mod words;
mod worst;
mod worst_of_run;

pub use worst::Fared;
pub use worst_of_run::worst_of_run;

pub use failure::Failure;

use orrery_sim::log::{LogError, Names, Record};
use orrery_sim::request::RequestId;

/// What happened to a request, as text.
///
/// # Errors
/// When a record cannot be read, or the log does not have the request.
pub fn explain(
    names: &Names,
    records: impl IntoIterator<Item = Result<Record, LogError>>,
    request: RequestId,
) -> Result<String, Failure> {
    story::tell(names, records, request)
}

/// The requests that fared worst, a line each, the worst first: those without a model's answer, the
/// longest wait first; then those that were answered, from the latest on.
///
/// # Errors
/// When a record cannot be read.
pub fn worst(
    names: &Names,
    records: impl IntoIterator<Item = Result<Record, LogError>>,
    count: usize,
) -> Result<String, LogError> {
    worst::list(names, records, count)
}
