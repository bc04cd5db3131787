//! The way to CUDA devices: the one place outside `device/cuda` that knows of them.

use crate::device::{Device, DeviceError};
use crate::error::Error;
use std::path::Path;

/// Opens a GPU for what a `[cuda]` table says it is to run.
///
/// # Errors
/// When it is not there, or cannot run it.
pub fn open(ordinal: usize, _config: &toml::Table, _file: &Path) -> Result<Box<dyn Device>, Error> {
    let error = DeviceError {
        device: format!("cuda:{ordinal}"),
        doing: "opening it".to_string(),
        said: "this build has no CUDA devices".to_string(),
        remedy: "use `emulated`".to_string(),
    };
    Err(error.into())
}

/// What was looked for, and what was found: a line each.
pub fn look() -> Vec<String> {
    vec!["cuda: this build has no CUDA devices".to_string()]
}
