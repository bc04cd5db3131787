//! A run's folder: written whole or not at all, and never over another by accident.

use crate::error::Error;
use std::path::{Path, PathBuf};

/// A folder that is being written under another name; removed unless it is finished.
#[derive(Debug)]
pub struct Unfinished {
    at: PathBuf,
    to: PathBuf,
    done: bool,
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
        let name = to.file_name().unwrap_or_default().to_string_lossy();
        let at = to.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
        let _ = std::fs::remove_dir_all(&at);
        std::fs::create_dir_all(&at).map_err(|e| Error::unwritable(to, &e))?;
        Ok(Unfinished { at, to: to.to_path_buf(), done: false })
    }

    /// Writes a file of the folder.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> Result<(), Error> {
        let path = self.at.join(name);
        std::fs::write(&path, bytes).map_err(|e| Error::unwritable(&self.to.join(name), &e))
    }

    /// Gives the folder its name.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub fn finish(mut self) -> Result<(), Error> {
        let failed = |e: std::io::Error| Error::unwritable(&self.to, &e);
        if self.to.exists() {
            std::fs::remove_dir_all(&self.to).map_err(failed)?;
        }
        std::fs::rename(&self.at, &self.to).map_err(failed)?;
        self.done = true;
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.done {
            // Nobody is left to tell.
            let _ = std::fs::remove_dir_all(&self.at);
        }
    }
}

/// Writes a file whole or not at all, and makes its folder.
///
/// # Errors
/// When it cannot be written.
pub fn write_whole(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let at = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    let made = folder.map_or(Ok(()), std::fs::create_dir_all);
    let written = made.and_then(|()| std::fs::write(&at, bytes));
    written.and_then(|()| std::fs::rename(&at, path)).map_err(|e| {
        let _ = std::fs::remove_file(&at);
        Error::unwritable(path, &e)
    })
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
}
