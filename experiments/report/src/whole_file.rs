//! Files that are written whole or not at all: under another name first, then renamed.

use super::voice::say_more;
use orrery_run::SpecError;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempPath;

/// A file that is being written under another name; removed unless it is renamed.
pub struct Unfinished {
    at: At,
}

enum At {
    /// A file of our own, made under a name that nobody else has.
    Own(TempPath),
    /// What is there already.
    There(PathBuf),
}

impl Unfinished {
    /// A name in the same folder, so that renaming is one step. What is there and no file (a pipe,
    /// `/dev/stdout`) is written as it is: renaming would put a file in its place.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn beside(path: &Path) -> io::Result<Unfinished> {
        if std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
            return Ok(Unfinished { at: At::There(path.to_path_buf()) });
        }
        Unfinished::temporary(path)
    }

    /// A file of our own in the same folder, because somebody else may write a file of the same name.
    /// Its name is drawn at random and the file must not be there yet: processes in two containers
    /// may have the same id.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn temporary(path: &Path) -> io::Result<Unfinished> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
        let file = own_file(folder.unwrap_or(Path::new(".")), &format!(".{name}."), ".tmp");
        let file = file.map_err(plain)?;
        Ok(Unfinished { at: At::Own(file.into_temp_path()) })
    }

    /// Where it is written.
    pub fn path(&self) -> &Path {
        match &self.at {
            At::Own(path) => path,
            At::There(path) => path,
        }
    }

    /// Gives it its name.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn rename(self, path: &Path) -> io::Result<()> {
        if let At::Own(own) = self.at {
            own.persist(path).map_err(|e| e.error)?;
        }
        say_more(&format!("wrote {}", path.display()));
        Ok(())
    }

    /// Gives it its name, unless something has that name: then `false`, and that is left as it is.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn rename_if_absent(self, path: &Path) -> io::Result<bool> {
        let At::Own(own) = self.at else { return Ok(true) };
        match own.persist_noclobber(path) {
            Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            // Not every file system can: the best that it has.
            Err(e) if !path.exists() => e.path.persist(path).map_err(|e| e.error)?,
            other => other.map_err(|e| e.error)?,
        }
        say_more(&format!("wrote {}", path.display()));
        Ok(true)
    }
}

/// A file in a folder under a name that nobody else has, with the rights of any new file; removed when it
/// is dropped.
///
/// # Errors
/// When the folder cannot be written.
pub fn own_file(folder: &Path, prefix: &str, suffix: &str) -> io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::Builder::new();
    file.prefix(prefix).suffix(suffix).rand_bytes(12);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As of any new file: less what the umask says.
        file.permissions(std::fs::Permissions::from_mode(0o666));
    }
    file.tempfile_in(folder)
}

/// The error without the path of the temporary file, which means nothing to the user.
fn plain(error: io::Error) -> io::Error {
    let inner =
        error.get_ref().and_then(|e| e.source()).and_then(|e| e.downcast_ref::<io::Error>());
    let code = inner.and_then(io::Error::raw_os_error);
    code.map_or(error, io::Error::from_raw_os_error)
}

/// Writes a file whole or not at all, and makes its folder.
///
/// # Errors
/// When the folder cannot be written.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), SpecError> {
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    let written = folder.and_then(|()| {
        let unfinished = Unfinished::beside(path)?;
        std::fs::write(unfinished.path(), bytes)?;
        unfinished.rename(path)
    });
    written.map_err(|e| unwritable_out(path, &e))
}

/// As [`write_atomically`], with the unfinished file in another folder of the same file system: so that
/// whoever tidies up looks there only.
///
/// # Errors
/// When a folder cannot be written.
pub fn write_atomically_by(work: &Path, path: &Path, bytes: &[u8]) -> Result<(), SpecError> {
    let write = || {
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        let unfinished = Unfinished::temporary(&work.join(path.file_name().unwrap_or_default()))?;
        std::fs::write(unfinished.path(), bytes)?;
        unfinished.rename(path)
    };
    write().map_err(|e| unwritable_out(path, &e))
}

/// A file that grows under another name, and has its own name at its end only.
pub struct Growing {
    path: PathBuf,
    unfinished: Unfinished,
    writer: io::BufWriter<std::fs::File>,
}

impl Growing {
    /// Begins a file, and makes its folder.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn begin(path: &Path) -> Result<Growing, SpecError> {
        let begin = || {
            path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            let unfinished = Unfinished::temporary(path)?;
            let writer = io::BufWriter::new(std::fs::File::create(unfinished.path())?);
            Ok(Growing { path: path.to_path_buf(), unfinished, writer })
        };
        begin().map_err(|e| unwritable_out(path, &e))
    }

    /// Adds to it.
    ///
    /// # Errors
    /// When there is no room.
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), SpecError> {
        self.writer.write_all(bytes).map_err(|e| unwritable_out(&self.path, &e))
    }

    /// Gives it its name.
    ///
    /// # Errors
    /// When there is no room.
    pub fn finish(self) -> Result<(), SpecError> {
        let Growing { path, unfinished, writer } = self;
        let flushed = writer.into_inner().map_err(|e| e.into_error());
        flushed.and_then(|_| unfinished.rename(&path)).map_err(|e| unwritable_out(&path, &e))
    }

    /// Gives it its name, unless something has that name: then `false`, and that is left as it is.
    ///
    /// # Errors
    /// When there is no room.
    pub fn finish_if_absent(self) -> Result<bool, SpecError> {
        let Growing { path, unfinished, writer } = self;
        let flushed = writer.into_inner().map_err(|e| e.into_error());
        let named = flushed.and_then(|_| unfinished.rename_if_absent(&path));
        named.map_err(|e| unwritable_out(&path, &e))
    }
}

/// As [`write_atomically`], unless the file is there: then `false`, and it is left as it is.
///
/// # Errors
/// When the folder cannot be written.
pub fn write_if_absent(path: &Path, bytes: &[u8]) -> Result<bool, SpecError> {
    let write = || {
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        let unfinished = Unfinished::temporary(path)?;
        std::fs::write(unfinished.path(), bytes)?;
        unfinished.rename_if_absent(path)
    };
    write().map_err(|e| unwritable_out(path, &e))
}

/// Whether files can be written into a folder, which is made: asked before hours of runs.
///
/// # Errors
/// When the folder cannot be made or written.
pub fn check_folder(folder: &Path) -> Result<(), SpecError> {
    let probed = || {
        std::fs::create_dir_all(folder)?;
        std::fs::write(Unfinished::temporary(&folder.join("probe"))?.path(), b"")
    };
    probed().map_err(|e| unwritable_out(folder, &e))
}

/// Whether files that this program did not write may be overwritten.
static FORCE: AtomicBool = AtomicBool::new(false);

/// Allows that files are overwritten that this program did not write (`--force`).
pub fn allow_overwriting() {
    FORCE.store(true, Ordering::Relaxed);
}

/// How files begin that this program writes: logs, tables, figures, timelines, reports, man pages.
const OURS: [&[u8]; 16] = [
    b"orrery-log,",
    b"orrery-jobs-log,",
    b"orrery-tokens-log,",
    b"experiment,",
    b"arrival_ns,app,model",
    b"policy,device,device_name",
    b"<svg",
    b"\x89PNG",
    b"%PDF",
    b"PAR1",
    b"{\"displayTimeUnit\"",
    b"<?xml",
    b"<!DOCTYPE html>",
    b"# orrery",
    b"<!-- orrery -->",
    b".ie \\n(.g .ds Aq",
];

/// Passes when a file of an option is not there, is empty, or is one that this program wrote: asked
/// before hours of runs. A pipe or a device is written as it is.
///
/// # Errors
/// When it is a file of the user's.
pub fn check_place(option: &str, path: &Path) -> Result<(), SpecError> {
    // Folders are made where they can be.
    let nearest = path.ancestors().skip(1).find(|p| p.exists());
    if nearest.is_some_and(|p| !p.is_dir()) {
        return Err(unwritable(option, path, &io::ErrorKind::NotADirectory.into()));
    }
    let is_file = std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() > 0);
    if !is_file || FORCE.load(Ordering::Relaxed) {
        return Ok(());
    }
    let mut head = Vec::new();
    let longest = OURS.iter().map(|o| o.len()).max().unwrap_or(0) as u64;
    // What cannot be read is told when it is written.
    let Ok(file) = std::fs::File::open(path) else { return Ok(()) };
    if file.take(longest).read_to_end(&mut head).is_err()
        || OURS.iter().any(|o| head.starts_with(o))
    {
        return Ok(());
    }
    let found = format!("{}, a file that orrery did not write", path.display());
    let remedy = "choose another name, or add `--force` to overwrite it";
    Err(SpecError::value(option, found, "a new file, or one of an earlier run", remedy))
}

/// A file of `--out` that cannot be written.
pub fn unwritable_out(path: &Path, error: &io::Error) -> SpecError {
    let found = format!("{}: {error}", path.display());
    let remedy = "choose another folder, or make room";
    SpecError::value("--out", found, "a folder that can be written", remedy)
}

/// A file of an option that cannot be written.
pub fn unwritable(option: &str, path: &Path, error: &io::Error) -> SpecError {
    let found = format!("{}: {error}", path.display());
    let remedy = "choose another path, or make room";
    SpecError::value(option, found, "a file that can be written", remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As of two containers on one folder: writers of the same file whose process ids are equal.
    #[test]
    fn writers_with_the_same_process_id_do_not_meet() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("plan.json");
        let write = |text: &str| {
            for _ in 0..1000 {
                write_atomically(&path, text.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
                let found = std::fs::read_to_string(&path).expect("a whole file");
                assert!(["a".repeat(5000), "b".repeat(5000)].contains(&found));
            }
        };
        std::thread::scope(|s| {
            for text in ["a", "b", "a"] {
                s.spawn(move || write(&text.repeat(5000)));
            }
        });
        assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 1);
    }

    #[test]
    fn only_the_first_of_several_writers_gives_a_file_its_name() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for trial in 0..200 {
            let path = folder.path().join(trial.to_string());
            let first = std::thread::scope(|s| {
                let write = |text: &'static str| {
                    let path = path.clone();
                    s.spawn(move || write_if_absent(&path, text.as_bytes()).expect("a folder"))
                };
                let all = [write("a"), write("b"), write("c")];
                let won = all.map(|w| w.join().expect("a thread"));
                assert_eq!(won.iter().filter(|w| **w).count(), 1);
                ["a", "b", "c"][won.iter().position(|w| *w).unwrap_or(0)]
            });
            assert_eq!(std::fs::read_to_string(&path).expect("a file"), first);
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_file_has_the_rights_of_any_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mode = |name: &str| {
            let found = std::fs::metadata(folder.path().join(name)).expect("a file");
            found.permissions().mode()
        };
        std::fs::write(folder.path().join("plain"), b"").expect("a file");
        write_atomically(&folder.path().join("whole"), b"").unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(mode("whole"), mode("plain"));
    }
}
