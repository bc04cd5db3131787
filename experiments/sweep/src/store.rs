//! The folder of a sweep: its manifest, an entry for each finished cell, and what is being worked on.
//!
//! ```text
//!  DIR/manifest.jsonl             what is to be run (manifest_file)
//!  DIR/cells/ab/HASH.cell     a finished cell, in one of 256 folders by the first digits of its hash
//!  DIR/work/                  half-written entries, the seconds that cells took
//! ```
//!
//! An entry is written whole or not at all, and carries the hash of its own bytes: whatever was
//! interrupted, cut short or edited is found out and run again. Nothing in `work` has a part in a result.

use super::busy::Busy;
use super::hash::sha256;
use super::manifest::Lister;
use super::manifest_file::{self, ManifestFile};
use super::replication::Replication;
use super::scenario_cell::Subject;
use orrery_report::whole_file::{check_folder, write_atomically_by};
use orrery_results::RESULT_VERSION;
use orrery_run::SpecError;
use orrery_scenario::whole::{WHOLE_MAX, read};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The folder.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    /// Runs that were written a moment ago, each until it is read, and how many values they have.
    fresh: Mutex<(BTreeMap<String, Vec<Replication>>, usize)>,
    _busy: Busy,
}

/// With so many values no more runs are kept in memory: some 20 MB.
const FRESH_MAX: usize = 100_000;

/// The file of the manifest.
const MANIFEST: &str = "manifest.jsonl";

/// What is found of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry<T = Vec<Replication>> {
    /// Its runs.
    Good(T),
    /// There is no such cell.
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
        check_folder(&folder.join("work"))?;
        Ok(Store::begin(folder))
    }

    /// A folder that must be there.
    ///
    /// # Errors
    /// When it holds no manifest.
    pub fn existing(folder: &Path) -> Result<Store, SpecError> {
        if folder.join(MANIFEST).is_file() {
            return Ok(Store::begin(folder));
        }
        let remedy = "give the folder of `orrery sweep --out`";
        Err(SpecError::value("DIR", folder.display(), "a folder with a `manifest.jsonl`", remedy))
    }

    fn begin(folder: &Path) -> Store {
        let cells = folder.join("cells");
        let work = folder.join("work");
        let busy = Busy::begin(&cells, || [folder, &work].into_iter().for_each(remove_leftovers));
        Store { folder: folder.to_path_buf(), fresh: Mutex::default(), _busy: busy }
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The manifest of a sweep: the one that is there, or one that is made on so many threads and written.
    ///
    /// # Errors
    /// When a cell is wrong, the folder cannot be written, or is that of another manifest.
    pub fn manifest_of<S: Subject>(
        &self,
        lister: &Lister<'_, S>,
        jobs: usize,
    ) -> Result<ManifestFile, SpecError> {
        let path = self.folder.join(MANIFEST);
        if !path.exists() {
            manifest_file::write(&path, lister, jobs)?;
        }
        let manifest = ManifestFile::open(&path)?;
        if manifest.head.definition_sha256 == lister.head.definition_sha256 {
            return Ok(manifest);
        }
        let Some(found) = manifest.difference(lister, jobs)? else { return Ok(manifest) };
        let allowed = "the manifest of this sweep";
        let remedy = "choose another folder with `--out`, or remove `manifest.jsonl` to use this folder for this sweep; cells that both have are kept";
        let file = path.display().to_string();
        Err(SpecError::value("manifest", found, allowed, remedy).in_file(&file))
    }

    /// The manifest that is there.
    ///
    /// # Errors
    /// When it is missing or of another version of the results.
    pub fn manifest(&self) -> Result<ManifestFile, SpecError> {
        ManifestFile::open(&self.folder.join(MANIFEST))
    }

    /// Where unfinished files and the seconds of cells are.
    pub fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    fn path(&self, hash: &str) -> PathBuf {
        let digits = hash.get(..2).unwrap_or("00");
        self.folder.join("cells").join(digits).join(format!("{hash}.cell"))
    }

    fn entries(&self) -> Result<Vec<(String, PathBuf)>, SpecError> {
        let list = |folder: &Path| -> Result<Vec<PathBuf>, SpecError> {
            let all = std::fs::read_dir(folder).map_err(|e| unreadable(folder, &e))?;
            let path = |e: std::io::Result<std::fs::DirEntry>| e.map(|e| e.path());
            all.map(path).collect::<Result<_, _>>().map_err(|e| unreadable(folder, &e))
        };
        let is_cell = |p: &PathBuf| p.extension().is_some_and(|e| e == "cell");
        // Entries of the version before are in no folder of their own.
        let (mut cells, folders): (Vec<_>, Vec<_>) =
            list(&self.folder.join("cells"))?.into_iter().partition(is_cell);
        for folder in folders.iter().filter(|f| f.extension().is_none()) {
            cells.extend(list(folder)?.into_iter().filter(is_cell));
        }
        let named = |path: PathBuf| {
            (path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), path)
        };
        Ok(cells.into_iter().map(named).collect())
    }

    /// Writes a cell's runs.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn write(&self, hash: &str, runs: &[Replication]) -> Result<(), SpecError> {
        let body = Replication::to_json(runs).map_err(|e| SpecError::Parse {
            file: self.path(hash).display().to_string(),
            message: e.to_string(),
        })?;
        self.write_text(hash, &body)
    }

    /// Writes the text of an entry.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub fn write_text(&self, hash: &str, body: &str) -> Result<(), SpecError> {
        let text = format!("{}\n{body}\n", head(hash, body));
        let path = self.path(hash);
        readable(&path.display().to_string(), &text, "fewer seeds in each cell")?;
        write_atomically_by(&self.work(), &path, text.as_bytes())
    }

    /// Keeps runs that were written for whoever reads them next.
    pub fn keep(&self, hash: String, runs: Vec<Replication>) {
        let mut fresh = self.fresh();
        if fresh.1 < FRESH_MAX && !runs.iter().any(Replication::has_gap) {
            fresh.1 += runs.iter().map(|run| run.measures.len()).sum::<usize>();
            fresh.0.insert(hash, runs);
        }
    }

    fn fresh(&self) -> MutexGuard<'_, (BTreeMap<String, Vec<Replication>>, usize)> {
        self.fresh.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the entries of cells that are not to be kept; their names, in order.
    ///
    /// # Errors
    /// When the folder cannot be read or written.
    pub fn prune(&self, keep: &BTreeSet<String>) -> Result<Vec<String>, SpecError> {
        // What is in no folder of its own is of an earlier version, and not found by this one.
        let mut old = self.entries()?;
        old.retain(|(hash, path)| !keep.contains(hash) || *path != self.path(hash));
        old.sort();
        for (_, path) in &old {
            std::fs::remove_file(path).map_err(|e| unreadable(path, &e))?;
        }
        Ok(old.into_iter().map(|(hash, _)| hash).collect())
    }

    /// Reads a cell's runs.
    pub fn read(&self, hash: &str) -> Entry {
        if let Some(runs) = self.fresh().0.remove(hash) {
            return Entry::Good(runs);
        }
        self.read_as(hash, |body| match serde_json::from_str::<Vec<Replication>>(body) {
            Ok(runs) if runs.iter().any(Replication::has_gap) => {
                Err("a value is missing, and no reason is given".to_string())
            }
            Ok(runs) => Ok(runs),
            Err(e) => Err(e.to_string()),
        })
    }

    /// Reads the text of an entry.
    pub fn read_as<T>(&self, hash: &str, of: impl FnOnce(&str) -> Result<T, String>) -> Entry<T> {
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
        of(body).map_or_else(|why| damaged(&why), Entry::Good)
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

fn unreadable(path: &Path, error: &std::io::Error) -> SpecError {
    let (found, remedy) = (format!("{}: {error}", path.display()), "give a folder of a sweep");
    SpecError::value("--out", found, "a folder that can be changed", remedy)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_are_kept_are_those_of_the_file() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = Store::open(folder.path()).unwrap_or_else(|e| panic!("{e}"));
        for (hash, value) in [("aa", 0.1 + 0.2), ("bb", f64::NAN)] {
            let mut run = Replication::default();
            run.push("all", "finish_rate", value, 3);
            store.write(hash, &[run.clone()]).unwrap_or_else(|e| panic!("{e}"));
            store.keep(hash.to_string(), vec![run]);
            let kept = store.read(hash);
            assert_eq!(matches!(kept, Entry::Good(_)), value.is_finite());
            assert_eq!(kept, store.read(hash));
        }
    }
}
