//! Files that are read whole: TOML files, result tables, plans, entries of a sweep. One reader, with a
//! limit. Logs and workloads are streams, which have readers of their own.

use orrery_run::SpecError;
use orrery_traces::open::reads_files;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The most bytes of a file that is read whole.
pub const WHOLE_MAX: u64 = 64 << 20;

/// Reads a file of text.
///
/// # Errors
/// When it cannot be read, is larger than [`WHOLE_MAX`] (a device such as `/dev/zero` is, too), or is
/// no UTF-8; the message names the file.
pub fn read_text(path: impl AsRef<Path>) -> Result<String, SpecError> {
    let path = path.as_ref();
    read(path).map_err(|source| SpecError::Read { file: path.display().to_string(), source })
}

/// As [`read_text`], for whoever says more about the file.
///
/// # Errors
/// As [`read_text`], without the file's name.
pub fn read(path: &Path) -> io::Result<String> {
    reads_files()?;
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    if length > WHOLE_MAX {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(length as usize);
    file.take(WHOLE_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > WHOLE_MAX {
        return Err(too_large());
    }
    String::from_utf8(bytes).map_err(|e| {
        let good = &e.as_bytes()[..e.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|b| **b == b'\n').count();
        io::Error::new(io::ErrorKind::InvalidData, format!("line {line} is no UTF-8 text"))
    })
}

fn too_large() -> io::Error {
    let message = format!("it has more than {} MiB, the most that is read", WHOLE_MAX >> 20);
    io::Error::new(io::ErrorKind::FileTooLarge, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_without_end_is_an_error_that_names_it() {
        let error = read_text("/dev/zero").unwrap_err().to_string();
        assert!(error.contains("/dev/zero") && error.contains("64 MiB"), "{error}");
        let error = read_text("/").unwrap_err().to_string();
        assert!(error.starts_with("/: cannot be read"), "{error}");
    }
}
