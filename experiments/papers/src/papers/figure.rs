//! `--plot`: an experiment's figure.

use super::experiment::{Experiment, Kind};
use super::runner::Runner;
use crate::output::figure::{check_name, figure_of, save};
use orrery_plots::{Choice, Figure, PlotError, axis_of, metric_by_axis};
use orrery_results::Row;
use orrery_scenario::SpecError;
use std::path::Path;

/// Passes when the figure can be drawn into that file. It depends on cells and systems, not on values.
///
/// # Errors
/// When there is nothing to draw along, too much for one figure, or the name ends otherwise.
pub fn check(e: &Experiment, runner: &dyn Runner, path: &Path) -> Result<(), SpecError> {
    check_name(path)?;
    let metric = if e.kind() == Kind::Means { "mean_finish_rate" } else { metric(e) };
    let row = |place: Row| Row {
        scope: "all".to_string(),
        metric: metric.to_string(),
        value: Some(0.5),
        ..place
    };
    let rows: Vec<Row> = runner.places().into_iter().map(row).collect();
    if rows.is_empty() { Ok(()) } else { figure(e, &rows).map(drop) }
}

/// Draws the figure into a `.svg` or `.png` file.
///
/// # Errors
/// When the rows have nothing to draw or the file cannot be written.
pub fn draw(e: &Experiment, rows: &[Row], path: &Path) -> Result<(), SpecError> {
    save(&figure(e, rows)?, path)
}

fn metric(e: &Experiment) -> &str {
    e.figure.as_ref().and_then(|f| f.metric.as_deref()).unwrap_or(e.main())
}

/// The figure, or why there is none, in the words of `--plot`.
fn figure(e: &Experiment, rows: &[Row]) -> Result<Figure, SpecError> {
    let choice = Choice::default();
    let by = |x: &str| metric_by_axis(rows, x, metric(e), &choice);
    let drawn: Result<Figure, PlotError> = match (e.kind(), &e.figure) {
        (_, Some(file)) if file.x.is_some() => by(file.x.as_deref().unwrap_or_default()),
        (Kind::Applications | Kind::Means, _) => figure_of(rows, &choice),
        _ => axis_of(rows).and_then(|x| by(&x)),
    };
    drawn.map_err(|error| {
        let parts = error.parts();
        let found = format!("`{}` with {}", e.id, parts.found);
        let remedy = "leave `--plot` out; `orrery plot` draws a part of what `--out` writes";
        SpecError::value("--plot", found, parts.allowed, remedy)
    })
}
