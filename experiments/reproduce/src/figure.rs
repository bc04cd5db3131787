//! `--plot`: an experiment's figure, as its file names it (`[figure]`).
//!
//! What a file leaves out follows from what is run, in [`picture`]; no value takes part in it, so that a
//! figure of no data ([`empty`]) shows before the first run whether there will be one.

use super::claims;
use super::errors::error;
use super::experiment::Experiment;
use super::numbers::{is_at, is_withheld};
use super::runner::Runner;
use orrery_plots::{Figure, Picture, PictureKind, picture as drawn};
use orrery_report::figure::{Size, changing, check_name, save};
use orrery_results::{Row, UNITLESS, pairs};
use orrery_run::SpecError;
use std::path::Path;

mod empty;
mod picture;

pub use empty::rows as rows_of_no_data;
pub use picture::picture;

/// Passes when the figure can be drawn into that file. It depends on cells and systems, not on values.
///
/// # Errors
/// When there is nothing to draw along, too much for one figure, or the name ends otherwise.
pub fn check(e: &Experiment, runner: &dyn Runner, path: &Path) -> Result<(), SpecError> {
    check_name(path)?;
    of(e, &empty::rows(e, runner)).map(drop)
}

/// Draws the figure into a file, in the form that its name ends in.
///
/// # Errors
/// When the rows have nothing to draw or the file cannot be written.
pub fn draw(e: &Experiment, rows: &[Row], size: Size, path: &Path) -> Result<(), SpecError> {
    save(&size.of(&of(e, rows)?), path)
}

/// The figure of an experiment's rows.
///
/// # Errors
/// When the rows have nothing to draw, in the words of `--plot`.
pub fn of(e: &Experiment, rows: &[Row]) -> Result<Figure, SpecError> {
    let at = at(e);
    // Of all rows: what decides a sentence, or stands in its denominator, may lie outside the figure.
    let asked = claims::ranges(&e.claim, rows);
    if at.is_empty() {
        return of_all(e, rows, asked);
    }
    let there: Vec<Row> = rows.iter().filter(|r| is_at(r, at)).cloned().collect();
    if there.is_empty() {
        let found = format!("`{at}`, where no row is");
        let allowed = "a place of rows, as `name=value;name=value`";
        let remedy = "name axes, values and groups that the rows have";
        return Err(SpecError::value("figure.at", found, allowed, remedy));
    }
    of_all(e, &there, asked)
}

/// The place that the figure shows; all where it is empty.
fn at(e: &Experiment) -> &str {
    e.figure.as_ref().map_or("", |f| f.at.as_str())
}

/// The figure of all of the rows, with what sentences ask of them.
fn of_all(e: &Experiment, rows: &[Row], asked: Vec<(Row, f64, f64)>) -> Result<Figure, SpecError> {
    let (mut picture, choice) = picture(e);
    let place = place_in_words(at(e));
    if !place.is_empty() {
        picture.source = format!("{} · {place}", picture.source);
    }
    if picture.kind == PictureKind::Sensitivity {
        picture.metrics = vec![changing(rows).to_string()];
    }
    let mut rows = of_named_parts(rows, &picture, at(e));
    let withheld: Vec<Row> = rows.iter().filter(|r| is_withheld(r, &e.withheld)).cloned().collect();
    if e.figure.as_ref().is_some_and(|f| f.errors) {
        rows = rows.into_iter().filter_map(off_the_paper).collect();
    } else {
        (picture.asked, picture.withheld) = (asked, withheld);
    }
    let rows = &rows;
    drawn(rows, &picture, &choice).map_err(|error| {
        let parts = error.parts();
        let found = format!("`{}` with {}", e.id, parts.found);
        let remedy = "correct `[figure]`, or remove `--plot`; `orrery plot` draws parts of the results in `--out`";
        SpecError::value("--plot", found, parts.allowed, remedy)
    })
}

/// The row with its error in place of its value.
fn off_the_paper(row: Row) -> Option<Row> {
    let off = error(&row)?.abs();
    let (value, paper, unit) = (Some(off), None, UNITLESS.to_string());
    Some(Row { value, paper, unit, ci95_low: None, ci95_high: None, ..row })
}

/// The part of the results that a figure shows: `c1 0.4`.
fn place_in_words(at: &str) -> String {
    let fixed = pairs(at).filter(|p| p.1 != "*");
    fixed.map(|(name, value)| orrery_plots::place(name, value)).collect::<Vec<_>>().join(", ")
}

/// The parts of the time, where a figure is drawn along them or its place names one; else the wholes.
fn of_named_parts(rows: &[Row], picture: &Picture, at: &str) -> Vec<Row> {
    const PART: &str = orrery_results::metric::FROM;
    let axes = [&picture.x, &picture.y, &picture.series];
    let along = axes.into_iter().chain(picture.panels.iter().flatten()).any(|a| a == PART);
    let is_named = |r: &&Row| along || at.contains(PART) || r.axis(PART).is_none();
    rows.iter().filter(is_named).cloned().collect()
}

/// Nobody waits for hours of runs to learn that there is no figure.
#[cfg(test)]
pub(crate) fn check_of_no_data(e: &Experiment, runner: &dyn crate::runner::Runner) {
    let named = e.figure.is_some() || e.resolved.get("applications").is_some();
    assert!(named, "{} names its figure", e.id);
    let rows = empty::rows(e, runner);
    let figure = of(e, &rows).unwrap_or_else(|error| panic!("{}: {error}", e.id));
    let svg = figure.to_svg();
    assert!(svg.contains(&e.id), "{}", e.id);
    assert!(svg.contains("<polygon") || svg.contains("<polyline"), "{}", e.id);
    assert_eq!(svg, of(e, &rows).expect("again").to_svg(), "{}", e.id);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{registry, reproduce};

    #[test]
    fn an_error_is_drawn_without_its_sign_and_only_where_there_is_a_number() {
        let row = |paper| Row { value: Some(0.5), paper, ..Row::default() };
        let row = |paper| Row { metric: "finish_rate".into(), ..row(paper) };
        let off = off_the_paper(row(Some(0.6))).and_then(|r| r.value).expect("an error");
        assert!((off - 10.0).abs() < 1e-9, "percentage points");
        assert!(off_the_paper(row(None)).is_none());
    }

    #[test]
    fn a_figure_of_a_part_says_which() {
        let e = registry::find("orloj-told").expect("a shipped experiment");
        let e = reproduce::with(&e, &reproduce::Asked::default()).expect("all cases");
        let runner = e.kind.runner(&e, None).expect("a runner");
        let figure = of(&e, &empty::rows(&e, &*runner)).expect("a figure");
        assert!(figure.to_svg().contains("· c1 0.4"), "the place of `figure.at`");
        assert_eq!(
            place_in_words("case=three-modal;slo_ms=50;group=*"),
            "case three-modal, SLO 50 ms"
        );
    }
}
