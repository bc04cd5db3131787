//! Schedule logs that are read.

use orrery_scenario::{SpecError, kind, read_text};
use orrery_sim::log::{LogReader, read_log};
use std::fs::File;
use std::path::Path;

/// The largest file that is looked at before it is read as a log.
const LOOK_MAX: u64 = 1 << 20;

/// Passes when a file may be a log. One of another kind is told apart where that is cheap; a pipe can
/// be read only once.
///
/// # Errors
/// When it is of another kind: says which command it is for.
pub fn check_kind(path: &Path) -> Result<(), SpecError> {
    let is_small = std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() <= LOOK_MAX);
    let Some(text) = is_small.then(|| read_text(path).ok()).flatten() else { return Ok(()) };
    let Some(found) = kind::of(&text).filter(|k| k.name != kind::LOG.name) else { return Ok(()) };
    Err(found.instead_of(kind::LOG, &path.display().to_string()))
}

/// Opens a text log.
///
/// # Errors
/// When the file cannot be opened, or is of another kind.
pub fn open(path: &Path) -> Result<LogReader<File>, SpecError> {
    check_kind(path)?;
    let name = path.display().to_string();
    let file = File::open(path).map_err(|source| SpecError::Read { file: name.clone(), source })?;
    Ok(read_log(file, &name))
}

/// A request that a log of so many requests does not have.
pub fn unknown_request(log: &Path, id: u64, requests: u64) -> SpecError {
    let allowed = match requests.checked_sub(1) {
        None => "none: the log has no requests".to_string(),
        Some(last) => format!("a request of the log, from 0 to {last}"),
    };
    let remedy = "see `orrery explain LOG --worst 10` for requests worth a look";
    SpecError::value("--request", id, allowed, remedy).in_file(&log.display().to_string())
}
