//! A run's folder: written whole or not at all, and never over another by accident.

use crate::error::Error;
use std::io;
use std::path::{Path, PathBuf};
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
    /// When something is there and `force` is not set, or the folder cannot be written.
    pub fn begin(to: &Path, force: bool) -> Result<Unfinished, Error> {
        let is_empty = std::fs::read_dir(to).is_ok_and(|mut entries| entries.next().is_none());
        if to.exists() && !force && !is_empty {
            let allowed = "a folder that is not there yet";
            let remedy = "choose another, or replace it with `--force`";
            return Err(Error::value("--out", to.display(), allowed, remedy));
        }
        if to.exists() && !to.is_dir() {
            let found = format!("{}, a file", to.display());
            return Err(Error::value("--out", found, "a folder", "choose another name"));
        }
        let at = beside(to).map_err(|e| Error::unwritable(to, &e))?;
        Ok(Unfinished { at, to: to.to_path_buf() })
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
        self.at.keep()
    }

    /// Gives the folder its name.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub fn finish(self) -> Result<(), Error> {
        let failed = |e: std::io::Error| Error::unwritable(&self.to, &e);
        if self.to.exists() {
            std::fs::remove_dir_all(&self.to).map_err(failed)?;
        }
        std::fs::rename(self.at.path(), &self.to).map_err(failed)?;
        // There is nothing left under its first name to remove.
        let _ = self.at.keep();
        Ok(())
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
