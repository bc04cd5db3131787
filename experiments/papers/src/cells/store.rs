//! The folder of a sweep: its plan, and an entry for each finished cell.
//!
//! An entry is written whole or not at all, and carries the hash of its own bytes: whatever was
//! interrupted, cut short or edited is found out and run again. So does the plan, which nobody can
//! make again from what is there: one that was edited is refused.

use super::busy::Busy;
use super::hash::sha256;
use super::plan::Plan;
use super::replication::Replication;
use crate::output::whole_file::{check_folder, write_atomically, write_if_absent};
use orrery_results::RESULT_VERSION;
use orrery_scenario::whole::{WHOLE_MAX, read};
use orrery_scenario::{SpecError, read_text};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The folder.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    _busy: Busy,
}

/// The file of a plan: the plan, and the hash of its bytes without that hash.
#[derive(Deserialize, Serialize)]
struct PlanFile {
    plan_sha256: String,
    #[serde(flatten)]
    plan: Plan,
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
        check_folder(&folder.join("cells"))?;
        Ok(Store::begin(folder))
    }

    /// A folder that must be there.
    ///
    /// # Errors
    /// When it holds no plan.
    pub fn existing(folder: &Path) -> Result<Store, SpecError> {
        if folder.join("plan.json").is_file() {
            return Ok(Store::begin(folder));
        }
        let remedy = "give the folder of `orrery sweep --out`";
        Err(SpecError::value("DIR", folder.display(), "a folder with a `plan.json`", remedy))
    }

    fn begin(folder: &Path) -> Store {
        let cells = folder.join("cells");
        let busy = Busy::begin(&cells, || [folder, &cells].into_iter().for_each(remove_leftovers));
        Store { folder: folder.to_path_buf(), _busy: busy }
    }

    /// Writes the plan, or finds it there.
    ///
    /// # Errors
    /// When the folder cannot be written, or is that of another plan.
    pub fn write_plan(&self, plan: &Plan) -> Result<(), SpecError> {
        let text = plan_text(plan);
        readable("axis", &text, "divide the sweep into several with fewer cells")?;
        if write_if_absent(&self.plan_file(), text.as_bytes())? {
            return Ok(());
        }
        let Some(found) = self.plan()?.difference(plan) else { return Ok(()) };
        let allowed = "the plan of this sweep";
        let remedy = "choose another folder with `--out`, or remove `plan.json` to use this folder for this sweep; cells that both have are kept";
        let file = self.plan_file().display().to_string();
        Err(SpecError::value("plan", found, allowed, remedy).in_file(&file))
    }

    /// Where the plan is.
    pub fn plan_file(&self) -> PathBuf {
        self.folder.join("plan.json")
    }

    /// Reads the plan.
    ///
    /// # Errors
    /// When it is missing, damaged, edited or of another version of the results.
    pub fn plan(&self) -> Result<Plan, SpecError> {
        let path = self.plan_file();
        let file = path.display().to_string();
        let text = read_text(&path)?;
        let parse = |e: serde_json::Error| {
            let message = format!("not a plan of `orrery sweep`: {e}");
            SpecError::Parse { file: file.clone(), message }
        };
        #[derive(Deserialize)]
        struct Version {
            result_version: u32,
        }
        let Version { result_version } = serde_json::from_str(&text).map_err(parse)?;
        if result_version != RESULT_VERSION {
            let (found, allowed) = (result_version, RESULT_VERSION.to_string());
            let remedy =
                "run the sweep again with this version, into another folder, or remove `plan.json`";
            return Err(SpecError::value("result_version", found, allowed, remedy).in_file(&file));
        }
        let PlanFile { plan, .. } = serde_json::from_str(&text).map_err(parse)?;
        if plan_text(&plan) != text {
            let found = "a plan that was changed after it was written";
            let remedy = "remove it and run the sweep again: finished cells are kept";
            let error = SpecError::value("plan_sha256", found, "the plan as written", remedy);
            return Err(error.in_file(&file));
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
        let path = self.path(hash);
        readable(&path.display().to_string(), &text, "fewer seeds in each cell")?;
        write_atomically(&path, text.as_bytes())
    }

    /// Removes the entries of cells that a plan does not have; their names, in order.
    ///
    /// # Errors
    /// When the folder cannot be read or written.
    pub fn prune(&self, plan: &Plan) -> Result<Vec<String>, SpecError> {
        let cells = self.folder.join("cells");
        let unreadable = |e: std::io::Error| {
            let (found, remedy) = (format!("{}: {e}", cells.display()), "give a folder of a sweep");
            SpecError::value("--out", found, "a folder that can be changed", remedy)
        };
        let mut old = Vec::new();
        for entry in std::fs::read_dir(&cells).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let hash = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let is_cell = path.extension().is_some_and(|e| e == "cell");
            if is_cell && !plan.cells.iter().any(|c| c.entry_sha256 == hash) {
                old.push((hash, path));
            }
        }
        old.sort();
        old.iter().try_for_each(|(_, path)| std::fs::remove_file(path)).map_err(unreadable)?;
        Ok(old.into_iter().map(|(hash, _)| hash).collect())
    }

    /// Reads a cell's runs.
    pub fn read(&self, hash: &str) -> Entry {
        let path = self.path(hash);
        let text = match read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Entry::Absent,
            Err(e) => return Entry::Damaged(format!("{}: {e}", path.display())),
        };
        let damaged = |why: &str| Entry::Damaged(format!("{}: {why}", path.display()));
        let Some((first, rest)) = text.split_once('\n') else { return damaged("cut short") };
        let Some(body) = rest.strip_suffix('\n') else { return damaged("cut short") };
        if first != head(hash, body) {
            return damaged("it was changed after it was written");
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

/// What is written can be read.
fn readable(key: &str, text: &str, remedy: &str) -> Result<(), SpecError> {
    if text.len() as u64 <= WHOLE_MAX {
        return Ok(());
    }
    let found = format!("{} MiB in one file", text.len() >> 20);
    Err(SpecError::value(key, found, format!("at most {} MiB", WHOLE_MAX >> 20), remedy))
}

/// The file of a plan.
fn plan_text(plan: &Plan) -> String {
    let bytes = serde_json::to_string(plan).unwrap_or_default();
    let file = PlanFile { plan_sha256: sha256(bytes.as_bytes()), plan: plan.clone() };
    serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
}

/// Removes temporary files of runs that were killed.
fn remove_leftovers(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "tmp") {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The first line of an entry.
fn head(hash: &str, body: &str) -> String {
    format!("orrery-cell,1,{RESULT_VERSION},{hash},{}", sha256(body.as_bytes()))
}
