//! What all requests share.

use orrery_scenario::{SpecError, read_text};
use orrery_serve::{Desk, File};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// What all requests share.
pub(super) struct Shared {
    pub file: PathBuf,
    pub token: String,
    pub port: u16,
    pub desk: Desk,
    /// What is under way, by the page that asked.
    pub under_way: Mutex<BTreeMap<String, Arc<AtomicBool>>>,
}

/// A file as it is now.
///
/// # Errors
/// When it cannot be read.
pub(super) fn file_now(path: &Path) -> Result<File, SpecError> {
    Ok(File { path: path.display().to_string(), text: read_text(path)? })
}
