//! The folder of a sweep: its plan, and an entry for each finished cell.
//!
//! An entry is written whole or not at all, and carries the hash of its own bytes: whatever was
//! interrupted, cut short or edited is found out and run again.

use super::plan::Plan;
use crate::cell::{Replication, sha256};
use crate::whole_file::write_atomically;
use orrery_results::RESULT_VERSION;
use orrery_scenario::SpecError;
use std::path::{Path, PathBuf};

/// The folder.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// What is found of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// Its runs.
    Good(Vec<Replication>),
    /// Nothing.
    Absent,
    /// Something that cannot be used, and why.
    Damaged(String),
}

impl Store {
    /// A folder that is there, or is made.
    ///
    /// # Errors
    /// When it cannot be made or written.
    pub fn open(folder: &Path) -> Result<Store, SpecError> {
        let store = Store { folder: folder.to_path_buf() };
        let cells = store.folder.join("cells");
        let probe = cells.join(format!(".{}.probe", std::process::id()));
        let written = std::fs::create_dir_all(&cells).and_then(|()| std::fs::write(&probe, b""));
        written.map_err(|e| {
            let found = format!("{}: {e}", folder.display());
            let remedy = "choose another folder";
            SpecError::value("--out", found, "a folder that can be written", remedy)
        })?;
        let _ = std::fs::remove_file(probe);
        Ok(store)
    }

    /// A folder that must be there.
    ///
    /// # Errors
    /// When it holds no plan.
    pub fn existing(folder: &Path) -> Result<Store, SpecError> {
        if folder.join("plan.json").is_file() {
            return Ok(Store { folder: folder.to_path_buf() });
        }
        let remedy = "give the folder that `orrery sweep --out` wrote into";
        Err(SpecError::value("DIR", folder.display(), "a folder with a `plan.json`", remedy))
    }

    /// Temporary files of runs that were killed.
    pub fn remove_leftovers(&self) {
        for folder in [self.folder.clone(), self.folder.join("cells")] {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.extension().is_some_and(|e| e == "tmp") {
                    let _ = std::fs::remove_file(path);
                }
            }
        }
    }

    /// Writes the plan.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn write_plan(&self, plan: &Plan) -> Result<(), SpecError> {
        let mut text = serde_json::to_string_pretty(plan).unwrap_or_default();
        text.push('\n');
        write_atomically(&self.folder.join("plan.json"), text.as_bytes())
    }

    /// Reads the plan.
    ///
    /// # Errors
    /// When it is missing, damaged or of another version of the results.
    pub fn plan(&self) -> Result<Plan, SpecError> {
        let path = self.folder.join("plan.json");
        let file = path.display().to_string();
        let text = std::fs::read_to_string(&path)
            .map_err(|source| SpecError::Read { file: file.clone(), source })?;
        let plan: Plan = serde_json::from_str(&text)
            .map_err(|e| SpecError::Parse { file: file.clone(), message: e.to_string() })?;
        if plan.result_version != RESULT_VERSION {
            let (found, allowed) = (plan.result_version, RESULT_VERSION.to_string());
            let remedy = "run the sweep again with this version";
            return Err(SpecError::value("result_version", found, allowed, remedy).in_file(&file));
        }
        Ok(plan)
    }

    fn path(&self, hash: &str) -> PathBuf {
        self.folder.join("cells").join(format!("{hash}.cell"))
    }

    /// Writes a cell's runs.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn write(&self, hash: &str, runs: &[Replication]) -> Result<(), SpecError> {
        let body = serde_json::to_string(runs).map_err(|e| SpecError::Parse {
            file: self.path(hash).display().to_string(),
            message: e.to_string(),
        })?;
        let text = format!("{}\n{body}\n", head(hash, &body));
        write_atomically(&self.path(hash), text.as_bytes())
    }

    /// Reads a cell's runs.
    pub fn read(&self, hash: &str) -> Entry {
        let path = self.path(hash);
        let text = match std::fs::read(&path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Entry::Absent,
            Err(e) => return Entry::Damaged(format!("{}: {e}", path.display())),
        };
        let damaged = |why: &str| Entry::Damaged(format!("{}: {why}", path.display()));
        let Some((first, rest)) = text.split_once('\n') else { return damaged("cut short") };
        let Some(body) = rest.strip_suffix('\n') else { return damaged("cut short") };
        if first != head(hash, body) {
            return damaged("its bytes are not those that were written");
        }
        match serde_json::from_str::<Vec<Replication>>(body) {
            Ok(runs) if runs.iter().any(Replication::has_gap) => {
                damaged("a value is missing, and no reason is given")
            }
            Ok(runs) => Entry::Good(runs),
            Err(e) => damaged(&e.to_string()),
        }
    }
}

/// The first line of an entry.
fn head(hash: &str, body: &str) -> String {
    format!("orrery-cell,1,{RESULT_VERSION},{hash},{}", sha256(body.as_bytes()))
}
