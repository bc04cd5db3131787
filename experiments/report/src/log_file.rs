//! Schedule logs that are read.

use orrery_run::SpecError;
use orrery_scenario::{kind, read_text};
use orrery_sim::log::{LogReader, read_log};
use orrery_sim::tokens;
use std::fs::File;
use std::io::Read;
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
    let (file, name) = opened(path)?;
    Ok(read_log(file, &name))
}

/// Whether a log has this first line.
pub fn begins_with(log: &Path, header: &str) -> bool {
    let mut head = vec![0; header.len()];
    let read = File::open(log).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head == header.as_bytes()
}

/// A file, with its name for messages.
///
/// # Errors
/// When it cannot be opened.
pub fn opened(log: &Path) -> Result<(File, String), SpecError> {
    let name = log.display().to_string();
    match File::open(log) {
        Ok(file) => Ok((file, name)),
        Err(source) => Err(SpecError::Read { file: name, source }),
    }
}

/// A log of tokens, if it is one: its terms and records.
///
/// # Errors
/// When it cannot be read.
pub fn of_tokens(log: &Path) -> Result<Option<tokens::log::ReadLog>, SpecError> {
    if !begins_with(log, tokens::log::HEADER) {
        return Ok(None);
    }
    let (file, name) = opened(log)?;
    Ok(Some(tokens::log::read_log(file, &name)?))
}

/// A request that a log of so many requests does not have.
pub fn unknown_request(log: &Path, id: u64, requests: u64) -> SpecError {
    let allowed = match requests.checked_sub(1) {
        None => "none: the log has no requests".to_string(),
        Some(last) => format!("a request of the log, from 0 to {last}"),
    };
    let remedy = "see `orrery log explain LOG --worst 10` for requests worth a look";
    SpecError::value("--request", id, allowed, remedy).in_file(&log.display().to_string())
}
