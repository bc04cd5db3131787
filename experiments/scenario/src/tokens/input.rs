//! What a key names: something shipped, or a file beside the one that it stands in.

use crate::error::SpecError;
use orrery_traces::Input;
use orrery_traces::shipped::{shipped, shipped_names};
use std::path::Path;

/// Opens it.
pub(super) fn input(name: &str, folder: &Path) -> Result<Input, SpecError> {
    if shipped_names().any(|s| s == name) {
        return Ok(shipped(name)?);
    }
    Ok(Input::open(folder.join(name))?)
}
