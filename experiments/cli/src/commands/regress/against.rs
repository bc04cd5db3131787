//! `--against`: another version of this program, asked what it finds for a baseline.
//!
//! It is asked with `regress --bless` on a copy, so any version that knows the baseline's keys can answer.

use super::baseline::Baseline;
use super::row::BaselineRow;
use orrery_scenario::SpecError;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Another version of this program.
pub struct Other {
    program: PathBuf,
    /// What it says of its version.
    pub version: String,
}

impl Other {
    /// Finds it, and asks for its version.
    ///
    /// # Errors
    /// When it cannot be run.
    pub fn new(program: &Path) -> Result<Other, SpecError> {
        // A name without a folder would be looked for in the PATH only.
        let is_here = program.components().count() == 1 && program.is_file();
        let program = if is_here { Path::new(".").join(program) } else { program.to_path_buf() };
        let output = call(&program, &["--version".as_ref()])?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version = text.trim();
        if !output.status.success() || !version.starts_with("orrery") {
            let found = format!("{}, which is no orrery", program.display());
            return Err(wrong(found));
        }
        Ok(Other { version: version.to_string(), program })
    }

    /// What it finds for a baseline.
    ///
    /// # Errors
    /// When it cannot run the baseline, with what it says.
    pub fn rows(&self, baseline: &Baseline) -> Result<Vec<BaselineRow>, SpecError> {
        let folder = tempfile::tempdir().map_err(|e| wrong(format!("temporary files: {e}")))?;
        let copy = folder.path().join("baseline.toml");
        std::fs::write(&copy, baseline.copy()?)
            .map_err(|e| wrong(format!("temporary files: {e}")))?;
        let args = ["regress".as_ref(), copy.as_os_str(), "--bless".as_ref()];
        let output = call(&self.program, &args)?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(wrong(format!("{}, which says: {}", self.version, said.trim())));
        }
        Ok(Baseline::load(&copy)?.rows)
    }
}

fn call(program: &Path, args: &[&std::ffi::OsStr]) -> Result<Output, SpecError> {
    let called = Command::new(program).args(args).stdin(Stdio::null()).output();
    called.map_err(|e| wrong(format!("{}: {e}", program.display())))
}

fn wrong(found: String) -> SpecError {
    let remedy = "name another version of orrery that knows what the baselines rerun";
    SpecError::value("--against", found, "a version of orrery that can be run", remedy)
}
