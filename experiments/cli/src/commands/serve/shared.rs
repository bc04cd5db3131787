//! What all requests share.

use orrery_plan::PlanFile;
use orrery_run::SpecError;
use orrery_scenario::scenario::{changed, place::Source};
use orrery_scenario::{Scenario, kind, read_text};
use orrery_serve::{Desk, File};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use toml::Value;

/// What all requests share.
pub(super) struct Shared {
    pub file: PathBuf,
    /// Keys that are set in it.
    pub set: Vec<(String, Value)>,
    pub token: String,
    pub port: u16,
    pub desk: Desk,
    /// What is under way, by the page that asked.
    pub under_way: Mutex<BTreeMap<String, Arc<AtomicBool>>>,
}

/// A file as it is now, with keys that are set in it.
///
/// # Errors
/// When it cannot be read, or is no TOML.
pub(super) fn file_now(path: &Path, set: &[(String, Value)]) -> Result<File, SpecError> {
    let (name, text) = (path.display().to_string(), read_text(path)?);
    if set.is_empty() {
        return Ok(File { path: name, text });
    }
    // What is wrong with a key is about the file as it is, not as it is rewritten.
    match kind::of(&text).is_some_and(|kind| kind.name == kind::PLAN.name) {
        true => PlanFile::with(&Source::new(&*name, &*text), set).map(drop)?,
        false => Scenario::from_text(&name, &text)?.with(set).map(drop)?,
    }
    let (table, _) = changed::<toml::Table>(&Source::new(&*name, &*text), set, "the file")?;
    Ok(File { path: name, text: table.to_string() })
}
