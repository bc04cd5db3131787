//! `--plot`: an experiment's figure, as its file names it (`[figure]`).
//!
//! What a file leaves out follows from what is run, in [`picture`]; no value takes part in it, so that a
//! figure of no data ([`empty`]) shows before the first run whether there will be one.

use super::experiment::{Experiment, FigureFile, FigureKind, FigureScale, Preset};
use super::numbers::is_at;
use super::runner::Runner;
use orrery_cells::grid;
use orrery_output::figure::{Size, changing, check_name, save};
use orrery_plots::{Choice, Figure, Picture, PictureKind, Spacing, picture as drawn};
use orrery_results::Row;
use orrery_scenario::SpecError;
use std::path::Path;

mod empty;

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
    if at.is_empty() {
        return of_all(e, rows);
    }
    let there: Vec<Row> = rows.iter().filter(|r| is_at(r, at)).cloned().collect();
    if there.is_empty() {
        let found = format!("`{at}`, where no row is");
        let allowed = "a place of rows, as `name=value;name=value`";
        let remedy = "name axes, values and groups that the rows have";
        return Err(SpecError::value("figure.at", found, allowed, remedy));
    }
    of_all(e, &there)
}

/// The place that the figure shows; all where it is empty.
fn at(e: &Experiment) -> &str {
    e.figure.as_ref().map_or("", |f| f.at.as_str())
}

/// The figure of all of the rows.
fn of_all(e: &Experiment, rows: &[Row]) -> Result<Figure, SpecError> {
    let (mut picture, choice) = picture(e);
    if picture.kind == PictureKind::Sensitivity {
        picture.metrics = vec![changing(rows).to_string()];
    }
    let rows = &of_named_parts(rows, &picture, at(e));
    drawn(rows, &picture, &choice).map_err(|error| {
        let parts = error.parts();
        let found = format!("`{}` with {}", e.id, parts.found);
        let remedy = "correct `[figure]`, or remove `--plot`; `orrery plot` draws parts of the results in `--out`";
        SpecError::value("--plot", found, parts.allowed, remedy)
    })
}

/// The parts of the time, where a figure is drawn along them or its place names one; else the wholes.
fn of_named_parts(rows: &[Row], picture: &Picture, at: &str) -> Vec<Row> {
    const PART: &str = orrery_results::metric::FROM;
    let axes = [&picture.x, &picture.y, &picture.series];
    let along = axes.into_iter().chain(picture.panels.iter().flatten()).any(|a| a == PART);
    let is_named = |r: &&Row| along || at.contains(PART) || r.axis(PART).is_none();
    rows.iter().filter(is_named).cloned().collect()
}

/// What the figure shows, and which rows it is made of.
pub fn picture(e: &Experiment) -> (Picture, Choice) {
    let default = FigureFile::default();
    let file = e.figure.as_ref().unwrap_or(&default);
    let text = |key: &Option<String>| key.clone().unwrap_or_default();
    let metric = file.metric.clone().unwrap_or(e.main().to_string());
    let x = file.x.clone().unwrap_or_else(|| x_of(e, file.kind));
    let kind = match file.kind {
        Some(FigureKind::Curves) => PictureKind::Curves,
        Some(FigureKind::Bars) => PictureKind::Bars,
        Some(FigureKind::Heat) => PictureKind::Heat,
        Some(FigureKind::Shares) => PictureKind::Shares,
        None => match e.kind.figure_kind() {
            Some(kind) => kind,
            None if is_numeric(e, &x) || file.x.is_some() => PictureKind::Curves,
            None => PictureKind::Bars,
        },
    };
    let pairs = file.ratios.iter().map(|(a, b)| (a.clone(), b.clone()));
    let picture = Picture {
        kind,
        title: e.title.clone(),
        source: format!("{} · {}", e.id, e.source),
        metrics: if file.metrics.is_empty() { vec![metric] } else { file.metrics.clone() },
        x,
        y: text(&file.y),
        series: text(&file.series),
        panels: file.panels.clone(),
        systems: file.systems.clone(),
        lines: file.lines.clone(),
        levels: file.levels.iter().map(|(n, v)| (n.clone(), *v)).collect(),
        relative_to: file.relative_to.clone().unwrap_or(e.relative_to.clone()),
        ratios: pairs.collect(),
        star: text(&file.star),
        interval: file.interval.clone().map(|[low, high]| (low, high)),
        names: file.names.iter().map(|(v, n)| (v.clone(), n.clone())).collect(),
        x_label: text(&file.x_label),
        y_label: text(&file.y_label),
        x_scale: file.x_scale.map(spacing),
        y_scale: file.y_scale.map(spacing),
        y_range: file.y_range.map(|[low, high]| (low, high)),
        own_y: file.own_y,
        columns: file.columns.unwrap_or(0),
        words: Vec::new(),
    };
    let calibrated = e.system.iter().any(|s| {
        s.preset == Preset::Calibrated
            && e.system.iter().any(|o| o.name == s.name && o.preset != s.preset)
    });
    let presets: Vec<Preset> = match file.presets.as_slice() {
        [] if calibrated => vec![Preset::Calibrated],
        given => given.to_vec(),
    };
    let presets = presets.iter().map(|p| p.word().to_string()).collect();
    let beside = e.errors.as_ref().map(|errors| errors.beside.clone()).unwrap_or_default();
    (picture, Choice { presets, beside, ..Choice::default() })
}

fn spacing(scale: FigureScale) -> Spacing {
    match scale {
        FigureScale::Linear => Spacing::Linear,
        FigureScale::Log => Spacing::Log,
        FigureScale::Even => Spacing::Even,
    }
}

/// The axis along x, where the file does not say: the kind's; the only one with several
/// numbers; else the first with several values; else the systems.
fn x_of(e: &Experiment, kind: Option<FigureKind>) -> String {
    if let Some(x) = e.kind.figure_x() {
        return x.to_string();
    }
    let axes = axes(e);
    let several = |a: &&(String, Vec<String>)| a.1.len() > 1;
    let numeric = |a: &&(String, Vec<String>)| a.1.iter().all(|v| v.parse::<f64>().is_ok());
    let numbers: Vec<&(String, Vec<String>)> =
        axes.iter().filter(several).filter(numeric).collect();
    match (numbers.as_slice(), kind) {
        ([one], None | Some(FigureKind::Curves | FigureKind::Heat)) => one.0.clone(),
        _ => axes.iter().find(several).map_or("system".to_string(), |a| a.0.clone()),
    }
}

fn is_numeric(e: &Experiment, x: &str) -> bool {
    let axes = axes(e);
    let own = axes.iter().find(|a| a.0 == x);
    own.is_some_and(|a| a.1.iter().all(|v| v.parse::<f64>().is_ok()))
}

/// All axes with their values, those of points first.
fn axes(e: &Experiment) -> Vec<(String, Vec<String>)> {
    let mut out: Vec<(String, Vec<String>)> = Vec::new();
    let mut add = |name: &str, value: String| match out.iter_mut().find(|a| a.0 == name) {
        Some((_, values)) if values.contains(&value) => {}
        Some((_, values)) => values.push(value),
        None => out.push((name.to_string(), vec![value])),
    };
    for point in &e.point {
        for (name, value) in point.axes.split(';').filter_map(|a| a.split_once('=')) {
            add(name, value.to_string());
        }
    }
    for axis in &e.axis {
        axis.values.iter().for_each(|v| add(&axis.name, grid::word(v)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{registry, reproduce};

    /// Nobody waits for hours of runs to learn that there is no figure.
    #[test]
    fn every_shipped_experiment_has_a_figure_of_no_data() {
        for id in registry::ids() {
            let e = registry::find(id).unwrap_or_else(|e| panic!("{id}: {e}"));
            let e = reproduce::with(&e, &reproduce::Asked::default()).expect("all cases");
            assert!(
                e.figure.is_some() || e.resolved.get("applications").is_some(),
                "{id} names its figure"
            );
            let runner = e.kind.runner(&e, None).unwrap_or_else(|e| panic!("{id}: {e}"));
            let rows = empty::rows(&e, &*runner);
            let figure = of(&e, &rows).unwrap_or_else(|e| panic!("{id}: {e}"));
            let svg = figure.to_svg();
            assert!(svg.contains(id), "{id}");
            assert!(svg.contains("<polygon") || svg.contains("<polyline"), "{id}");
            assert_eq!(svg, of(&e, &rows).expect("again").to_svg(), "{id}");
        }
    }
}
