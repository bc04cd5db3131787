//! The token of the address: a new one for each run, or one that is kept in a file.

use orrery_scenario::SpecError;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::Write;
use std::path::Path;

/// A token has so many digits at least.
const DIGITS_LEAST: usize = 32;
/// And a file of one has so many bytes at most.
const BYTES_MAX: u64 = 256;

/// A word that nobody can guess. The standard library's hash keys are the system's random numbers.
fn fresh() -> String {
    let word = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", word(), word())
}

/// The token of a file, which is made where it is not there; a fresh one without a file.
///
/// # Errors
/// When the file can be read by others, has no token, or cannot be written.
pub fn of(file: Option<&Path>) -> Result<String, SpecError> {
    let Some(path) = file else { return Ok(fresh()) };
    let wrong = |found: String| {
        let remedy = "remove it, and a new one is made; or name another file";
        let allowed = "a file with a token that its owner alone can read (mode 600), or none yet";
        SpecError::value("--token-file", found, allowed, remedy)
    };
    let shown = path.display();
    match std::fs::metadata(path) {
        Ok(about) if !about.is_file() => Err(wrong(format!("{shown}, which is no file"))),
        Ok(about) if is_open(&about) => Err(wrong(format!("{shown}, which others can read"))),
        Ok(about) if about.len() > BYTES_MAX => Err(wrong(format!("{shown}, which is too long"))),
        Ok(_) => {
            let text = std::fs::read_to_string(path).map_err(|e| wrong(format!("{shown}: {e}")))?;
            let token = text.trim().to_string();
            let is_token =
                token.len() >= DIGITS_LEAST && token.chars().all(|c| c.is_ascii_alphanumeric());
            if is_token { Ok(token) } else { Err(wrong(format!("{shown}, which has no token"))) }
        }
        Err(_) => {
            let token = fresh();
            write(path, &token).map_err(|e| wrong(format!("{shown}: {e}")))?;
            Ok(token)
        }
    }
}

#[cfg(unix)]
fn is_open(about: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    about.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn is_open(_: &std::fs::Metadata) -> bool {
    false
}

/// Writes a file that is not there yet, for its owner alone from the first byte.
fn write(path: &Path, token: &str) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    writeln!(options.open(path)?, "{token}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_made_once_kept_and_refused_where_others_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let token = of(Some(&path)).unwrap();
        assert!(token.len() == 32 && token != of(None).unwrap());
        assert_eq!(of(Some(&path)).unwrap(), token);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode =
                |mode| std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            mode(0o644);
            let error = of(Some(&path)).unwrap_err().to_string();
            assert!(error.contains("others can read") && error.contains("remedy"), "{error}");
            mode(0o600);
        }
        std::fs::write(&path, "short").unwrap();
        assert!(of(Some(&path)).unwrap_err().to_string().contains("no token"));
        assert!(of(Some(folder.path())).unwrap_err().to_string().contains("no file"));
    }
}
