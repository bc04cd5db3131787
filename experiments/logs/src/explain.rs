//! What happened to one request, step by step, in words; or which requests fared worst.
//!
//! A log is read once, to the end of the request's story.

mod failure;
mod story;
mod target;
pub mod tokens;
mod words;
mod worst;

pub use worst::Fared;

pub use failure::Failure;

use orrery_output::log_file;
use orrery_scenario::SpecError;
use orrery_sim::log::{LogError, Names, Record};
use orrery_sim::request::RequestId;
use std::path::Path;

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

/// The requests that fared worst, each with its story.
///
/// # Errors
/// When the log cannot be read.
pub fn worst_told(log: &Path, count: usize) -> Result<Vec<(Fared, String)>, SpecError> {
    let mut reader = log_file::open(log)?;
    let names = reader.names()?.clone();
    let mut out = Vec::new();
    for fared in worst::find(&names, reader, count)? {
        let told = explain(&names, log_file::open(log)?, fared.id);
        let story = told.map_err(|failure| match failure {
            Failure::Log(error) => error.into(),
            Failure::Unknown { requests } => log_file::unknown_request(log, fared.id.0, requests),
        })?;
        out.push((fared, story));
    }
    Ok(out)
}
