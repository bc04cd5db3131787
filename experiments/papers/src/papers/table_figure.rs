//! `orrery reproduce --plot`: a table's figure.

use crate::plot::{figure_of, save};
use orrery_plots::{Choice, Figure, PlotError, axis_of, metric_by_axis};
use orrery_results::Row;
use orrery_scenario::SpecError;
use std::path::Path;

/// Draws a table's figure into a `.svg` or `.png` file: finish rates by SLO, or the sensitivity when
/// the table changes one assumption at a time.
///
/// # Errors
/// When the rows have nothing to draw or the file cannot be written.
pub fn draw(rows: &[Row], path: &Path) -> Result<(), SpecError> {
    save(&drawn(rows, figure_of(rows, &Choice::default()))?, path)
}

/// Draws one metric of a table by its only numeric axis.
///
/// # Errors
/// As [`draw`].
pub fn draw_metric(rows: &[Row], metric: &str, path: &Path) -> Result<(), SpecError> {
    save(&drawn(rows, of_metric(rows, metric))?, path)
}

/// Passes when [`draw`] can draw such rows.
///
/// # Errors
/// When they have nothing to draw, or too much.
pub fn check(rows: &[Row]) -> Result<(), SpecError> {
    drawn(rows, figure_of(rows, &Choice::default())).map(drop)
}

/// Passes when [`draw_metric`] can draw such rows.
///
/// # Errors
/// As [`check`].
pub fn check_metric(rows: &[Row], metric: &str) -> Result<(), SpecError> {
    drawn(rows, of_metric(rows, metric)).map(drop)
}

fn of_metric(rows: &[Row], metric: &str) -> Result<Figure, PlotError> {
    metric_by_axis(rows, &axis_of(rows)?, metric, &Choice::default())
}

/// The figure, or why there is none, in the words of `--plot`.
fn drawn(rows: &[Row], figure: Result<Figure, PlotError>) -> Result<Figure, SpecError> {
    let table = rows.first().map_or("the table", |r| r.experiment.as_str());
    figure.map_err(|e| {
        let parts = e.parts();
        let found = format!("`{table}` with {}", parts.found);
        let remedy = "leave `--plot` out; `orrery plot` draws a part of what `--out` writes";
        SpecError::value("--plot", found, parts.allowed, remedy)
    })
}
