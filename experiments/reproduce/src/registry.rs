//! How an id, or the path of a file, becomes an experiment.

use super::experiment::Experiment;
use super::{extends, file, shipped};
use orrery_run::SpecError;
use orrery_scenario::scenario::place::Source;
use orrery_scenario::{kind, read_text};

pub use shipped::{Cause, absent, by_paper, causes, citation, ids, numbers};

/// The experiment of a shipped id, or that in a file (recognised by its `.toml`).
///
/// # Errors
/// When there is none, with the nearest of all; or the file is wrong.
pub fn find(id: &str) -> Result<Experiment, SpecError> {
    if id.ends_with(".toml") {
        return from_text(id, &read_text(id)?);
    }
    let shipped = ids().find(|known| *known == id).and_then(shipped::text);
    let text = shipped.ok_or_else(|| shipped::unknown("ID", id, "see"))?;
    from_text(&format!("{id}.toml"), text)
}

/// An experiment from a file's text; `name` is its path, for messages and for files that it names.
///
/// # Errors
/// When the text is no TOML, a key is unknown or missing, or a value is wrong.
pub fn from_text(name: &str, text: &str) -> Result<Experiment, SpecError> {
    if let Some(other) = kind::of(text).filter(|k| k.name != kind::EXPERIMENT.name) {
        return Err(other.instead_of(kind::EXPERIMENT, name));
    }
    let origin = Source::new(name, text);
    let (keys, scenario_in) = extends::keys(&origin, text, 0)?;
    file::read(origin, scenario_in, keys)
}
