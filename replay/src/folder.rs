//! A run's folder: written whole or not at all, and never over another by accident.

use crate::error::Error;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::{Builder, TempDir};

/// A folder that is being written under another name; removed unless it is finished.
#[derive(Debug)]
pub struct Unfinished {
    at: TempDir,
    to: PathBuf,
}

impl Unfinished {
    /// Begins a folder at `to`. What is there stays until the new one is whole.
    ///
    /// # Errors
    /// When something is there and `force` is not set, or it is no run; or the folder cannot be written.
    pub fn begin(to: &Path, force: bool) -> Result<Unfinished, Error> {
        if to.exists() && !to.is_dir() {
            let found = format!("{}, a file", to.display());
            return Err(Error::value("--out", found, "a folder", "choose another name"));
        }
        let is_empty = std::fs::read_dir(to).is_ok_and(|mut entries| entries.next().is_none());
        let is_run = std::fs::read_to_string(to.join("run.json"));
        let is_run = is_run.is_ok_and(|text| text.contains("\"format\": \"orrery-run,"));
        if to.exists() && !is_empty && !(force && is_run) {
            let (what, remedy) = match is_run {
                true => ("a run", "choose another, or replace it with `--force`"),
                false => {
                    ("something else than a run", "choose another: `--force` replaces only a run")
                }
            };
            let found = format!("{}, which holds {what}", to.display());
            return Err(Error::value("--out", found, "a folder that is not there yet", remedy));
        }
        // `.`, say, or a link.
        let to = to.canonicalize().unwrap_or_else(|_| to.to_path_buf());
        let at = beside(&to).map_err(|e| Error::unwritable(&to, &e))?;
        unfinished().insert(at.path().to_path_buf());
        Ok(Unfinished { at, to })
    }

    /// Writes a file of the folder.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> Result<(), Error> {
        let path = self.at.path().join(name);
        std::fs::write(&path, bytes).map_err(|e| Error::unwritable(&self.to.join(name), &e))
    }

    /// Leaves it as it is under its first name, which is given: the disk is full, say.
    pub fn keep(self) -> PathBuf {
        unfinished().remove(self.at.path());
        self.at.keep()
    }

    /// Gives the folder its name. What had it is removed only then.
    ///
    /// # Errors
    /// When it cannot be renamed: it stays under its first name, which the error says.
    pub fn finish(self) -> Result<(), Error> {
        let to = self.to.clone();
        let at = self.keep();
        let rename = || {
            let old = beside(&to)?;
            if to.exists() {
                std::fs::rename(&to, old.path())?;
            }
            // Back, if that fails.
            std::fs::rename(&at, &to).inspect_err(|_| drop(std::fs::rename(old.path(), &to)))
        };
        rename().map_err(|e| {
            let found = format!("{}: {e}; the run is in {}", to.display(), at.display());
            let allowed = "a place that can be written";
            Error::value("--out", found, allowed, "rename it by hand, or run again elsewhere")
        })
    }
}

/// The folders that are being written, under their first names.
fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    static ALL: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all folders that are being written: the program is about to exit.
pub fn remove_unfinished() {
    for folder in unfinished().iter() {
        // One that was given up is not there any more.
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// A folder in the same folder, under a name that is drawn at random: processes in two containers may have the same
/// id. Its rights are those of any new folder.
fn beside(to: &Path) -> io::Result<TempDir> {
    let folder = to.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let prefix = format!(".{}.", to.file_name().unwrap_or_default().to_string_lossy());
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(".tmp").rand_bytes(12);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o777));
    }
    builder.tempdir_in(folder)
}

/// The SHA-256 of bytes, in hexadecimal.
pub fn sha256(bytes: impl AsRef<[u8]>) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes.as_ref()).iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_whole_or_absent_and_is_not_written_over() {
        let home = tempfile::tempdir().unwrap();
        let to = home.path().join("run");
        let begun = Unfinished::begin(&to, false).unwrap();
        begun.write("a", "1").unwrap();
        drop(begun);
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
        let begun = Unfinished::begin(&to, false).unwrap();
        begun.write("a", "1").unwrap();
        begun.write("run.json", "{\n  \"format\": \"orrery-run,2\"").unwrap();
        begun.finish().unwrap();
        let refused = Unfinished::begin(&to, false).unwrap_err().to_string();
        assert!(refused.contains("--force"), "{refused}");
        let begun = Unfinished::begin(&to, true).unwrap();
        begun.write("b", "2").unwrap();
        assert!(to.join("a").exists(), "the old one stays until the new one is whole");
        begun.finish().unwrap();
        assert!(to.join("b").exists() && !to.join("a").exists());
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1);
    }

    #[test]
    fn only_a_run_is_replaced() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("run")).unwrap();
        std::fs::write(home.path().join("thesis"), "1").unwrap();
        for to in [home.path().to_path_buf(), home.path().join("run/..")] {
            let refused = Unfinished::begin(&to, true).unwrap_err().to_string();
            assert!(refused.contains("something else"), "{refused}");
        }
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 2);
    }

    /// As of two containers on one folder.
    #[test]
    fn writers_with_the_same_process_id_do_not_meet() {
        let home = tempfile::tempdir().unwrap();
        let to = home.path().join("run");
        let begun = [(); 2].map(|()| Unfinished::begin(&to, true).unwrap());
        begun.iter().for_each(|b| b.write("a", "1").unwrap());
        begun.into_iter().for_each(|b| b.finish().unwrap());
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1);
    }
}
