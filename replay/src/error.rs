//! What can go wrong with a replay: input, device, files, figures.

use orrery_plots::PlotError;
use orrery_run::SpecError;
use orrery_scenario::kind::{self, Kind};
use orrery_scenario::read_text;
use orrery_scenario::scenario::texts;
use orrery_sim::log::LogError;
use serde::de::DeserializeOwned;
use std::io;
use std::path::Path;

/// A device that failed, or is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{device}: {doing}: {said}; {remedy}")]
pub struct DeviceError {
    /// As in `--device`.
    pub device: String,
    /// What was being done.
    pub doing: String,
    /// What the device or its driver said.
    pub said: String,
    /// What to do about it.
    pub remedy: String,
}

impl DeviceError {
    /// Of its four parts.
    pub fn new(device: &str, doing: &str, said: impl Into<String>, remedy: &str) -> DeviceError {
        let (device, doing) = (device.to_string(), doing.to_string());
        DeviceError { device, doing, said: said.into(), remedy: remedy.to_string() }
    }
}

/// An error of the harness. All of them are exit code 2; a check that fails is no error.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum Error {
    #[error(transparent)]
    Spec(#[from] SpecError),
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Plot(#[from] PlotError),
}

impl Error {
    /// A value that is not allowed, with its key or option.
    pub fn value(
        key: impl Into<String>,
        found: impl ToString,
        allowed: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Error {
        Error::Spec(SpecError::value(key, found, allowed, remedy))
    }

    /// A value that is not allowed in a file.
    pub fn in_file(
        file: &Path,
        key: impl Into<String>,
        found: impl ToString,
        allowed: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Error {
        let error = SpecError::value(key, found, allowed, remedy);
        Error::Spec(error.in_file(&file.display().to_string()))
    }

    /// A file that cannot be read.
    pub fn unreadable(file: &Path, source: io::Error) -> Error {
        Error::Spec(SpecError::Read { file: file.display().to_string(), source })
    }

    /// A file or folder that cannot be written.
    pub fn unwritable(path: &Path, error: &io::Error) -> Error {
        let found = format!("{}: {error}", path.display());
        Error::value("--out", found, "a place that can be written", "choose another, or make room")
    }
}

/// Reads a TOML file of a kind.
///
/// # Errors
/// When it cannot be read, is of another kind, or a key is unknown, missing or of another type.
pub fn read_toml<T: DeserializeOwned>(file: &Path, wanted: Kind) -> Result<T, Error> {
    let text = read_text(file)?;
    texts::check(&file.display().to_string(), &text)?;
    toml::from_str(&text).map_err(|e| {
        let line = e.span().map(|s| 1 + text[..s.start.min(text.len())].matches('\n').count());
        let key = line.map_or("file".to_string(), |l| format!("line {l}"));
        let allowed = "the keys that `orrery-replay schema` lists";
        let error = SpecError::value(key, e.message(), allowed, "correct the line");
        let name = file.display().to_string();
        Error::Spec(kind::instead(wanted, &name, &text, error.in_file(&name)))
    })
}
