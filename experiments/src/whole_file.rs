//! Files that are written whole or not at all: under another name first, then renamed.

use crate::output::say_more;
use orrery_scenario::SpecError;
use std::io;
use std::path::{Path, PathBuf};

/// A file that is being written under another name; removed unless it is renamed.
pub struct Unfinished {
    at: PathBuf,
    is_own: bool,
}

impl Unfinished {
    /// A name in the same folder, so that renaming is one step. What is there and no file (a pipe,
    /// `/dev/stdout`) is written as it is: renaming would put a file in its place.
    pub fn beside(path: &Path) -> Unfinished {
        if std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
            return Unfinished { at: path.to_path_buf(), is_own: false };
        }
        Unfinished::temporary(path)
    }

    /// A file of this process's own in the same folder, because another process may write a file of
    /// the same name.
    pub fn temporary(path: &Path) -> Unfinished {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = format!(".{name}.{}.tmp", std::process::id());
        Unfinished { at: path.with_file_name(name), is_own: true }
    }

    /// Where it is written.
    pub fn path(&self) -> &Path {
        &self.at
    }

    /// Gives it its name.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn rename(mut self, path: &Path) -> io::Result<()> {
        if self.is_own {
            std::fs::rename(&self.at, path)?;
            self.is_own = false;
        }
        say_more(&format!("wrote {}", path.display()));
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if self.is_own {
            // It may never have been made; there is nobody left to tell.
            let _ = std::fs::remove_file(&self.at);
        }
    }
}

/// Writes a file whole or not at all, and makes its folder.
///
/// # Errors
/// When the folder cannot be written.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), SpecError> {
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    let unfinished = Unfinished::beside(path);
    let written = folder.and_then(|()| std::fs::write(unfinished.path(), bytes));
    written.and_then(|()| unfinished.rename(path)).map_err(|e| {
        let found = format!("{}: {e}", path.display());
        let remedy = "choose another folder, or make room";
        SpecError::value("--out", found, "a folder that can be written", remedy)
    })
}

/// Whether files can be written into a folder, which is made: asked before hours of runs.
///
/// # Errors
/// When the folder cannot be made or written.
pub fn check_folder(folder: &Path) -> Result<(), SpecError> {
    let probe = Unfinished::temporary(&folder.join("probe"));
    let made = std::fs::create_dir_all(folder);
    made.and_then(|()| std::fs::write(probe.path(), b"")).map_err(|e| {
        let found = format!("{}: {e}", folder.display());
        let remedy = "choose another folder, or make room";
        SpecError::value("--out", found, "a folder that can be written", remedy)
    })
}

/// A file of an option that cannot be written.
pub fn unwritable(option: &str, path: &Path, error: &io::Error) -> SpecError {
    let found = format!("{}: {error}", path.display());
    let remedy = "choose another path, or make room";
    SpecError::value(option, found, "a file that can be written", remedy)
}
