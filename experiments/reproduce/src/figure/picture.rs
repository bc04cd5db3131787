//! What a figure shows: what its file names, and what follows from what is run.

use crate::experiment::{Experiment, FigureFile, FigureKind, FigureScale, Preset};
use orrery_plots::{Picture, PictureKind, RowFilter, Spacing, Steps};
use orrery_results::{grouped, metric, pairs};
use orrery_sweep::grid;

/// What the figure shows, and which rows it is made of.
pub fn picture(e: &Experiment) -> (Picture, RowFilter) {
    let default = FigureFile::default();
    let file = e.figure.as_ref().unwrap_or(&default);
    let text = |key: &Option<String>| key.clone().unwrap_or_default();
    let main = file.metric.clone().unwrap_or(e.main().to_string());
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
    let is_over_time = kind == PictureKind::Curves && file.x.as_deref() == Some(metric::FROM);
    let pairs = file.ratios.iter().map(|(a, b)| (a.clone(), b.clone()));
    let picture = Picture {
        kind,
        title: e.title.clone(),
        source: format!("{} · {}", e.id, e.source),
        metrics: if file.metrics.is_empty() { vec![main] } else { file.metrics.clone() },
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
        steps: match file.steps || is_over_time {
            true => Steps::All,
            false => Steps::None,
        },
        joined: file.joined.clone(),
        columns: file.columns.unwrap_or(0),
        words: Vec::new(),
        asked: Vec::new(),
        withheld: Vec::new(),
    };
    let calibrated = e.system.iter().any(|s| {
        s.preset == Preset::Calibrated
            && e.system.iter().any(|o| o.name == s.name && o.preset != s.preset)
    });
    let presets: Vec<Preset> = match file.presets.as_slice() {
        [] if calibrated => vec![Preset::Calibrated],
        given => given.to_vec(),
    };
    // Of a file that another extends with some of its systems.
    let has = |p: &&Preset| e.system.iter().any(|s| s.preset == **p);
    let some: Vec<Preset> = presets.iter().filter(has).cloned().collect();
    let presets = if some.is_empty() { presets } else { some };
    let presets = presets.iter().map(|p| p.word().to_string()).collect();
    let beside = e.errors.as_ref().map(|errors| errors.beside.clone()).unwrap_or_default();
    (picture, RowFilter { presets, beside, ..RowFilter::default() })
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
    let several = |a: &&(&str, Vec<String>)| a.1.len() > 1;
    let numeric = |a: &&(&str, Vec<String>)| a.1.iter().all(|v| v.parse::<f64>().is_ok());
    let numbers: Vec<&(&str, Vec<String>)> = axes.iter().filter(several).filter(numeric).collect();
    match (numbers.as_slice(), kind) {
        ([one], None | Some(FigureKind::Curves | FigureKind::Heat)) => one.0.to_string(),
        _ => axes.iter().find(several).map_or("system", |a| a.0).to_string(),
    }
}

fn is_numeric(e: &Experiment, x: &str) -> bool {
    let axes = axes(e);
    let own = axes.iter().find(|a| a.0 == x);
    own.is_some_and(|a| a.1.iter().all(|v| v.parse::<f64>().is_ok()))
}

/// All axes with their values, those of points first.
fn axes(e: &Experiment) -> Vec<(&str, Vec<String>)> {
    let of_points = e.point.iter().flat_map(|p| pairs(&p.axes));
    let of_points = of_points.map(|(name, value)| (name, value.to_string()));
    let of_axes =
        e.axis.iter().flat_map(|a| a.values.iter().map(|v| (a.name.as_str(), grid::word(v))));
    grouped(of_points.chain(of_axes))
}
