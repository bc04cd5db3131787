//! `orrery reproduce --plot`: a table's figure.

use crate::plot::{figure_of, save, unsuitable};
use orrery_plots::Choice;
use orrery_results::Row;
use orrery_scenario::SpecError;
use std::path::Path;

/// Draws a table's figure into a `.svg` or `.png` file: finish rates by SLO, or the sensitivity when
/// the table changes one assumption at a time.
///
/// # Errors
/// When the rows have nothing to draw or the file cannot be written.
pub fn draw(rows: &[Row], path: &Path) -> Result<(), SpecError> {
    let figure = figure_of(rows, &Choice::default());
    let table = rows.first().map_or("the table", |r| r.experiment.as_str());
    save(&figure.map_err(|e| unsuitable(table, &e))?, path)
}
