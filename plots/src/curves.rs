//! Curves: a metric against an axis, a panel for each case.

use crate::choice::RowFilter;
use crate::error::{PlotError, distinct};
use crate::figure::Figure;
use crate::gaps::with_gaps;
use crate::names;
use crate::spec::{FIGURE, Picture, PictureKind, Prepared};
use crate::style::{SERIES_MAX, Style, VARIANTS_MAX};
use crate::systems::Looks;
use orrery_results::{PolicyText, Row, metric, system_of};

mod bars;
mod draw;

/// Panels that one figure can show.
pub(crate) const PANELS_MAX: usize = 16;
/// The part of a panel's key that is its metric.
const METRIC: &str = "metric";
/// What our own results are called beside the paper's.
const SIMULATED: &str = "simulated";
/// The preset of systems of no paper.
const REFERENCE: &str = "reference";
/// Such systems: the simplest one, and one that knows all execution times.
const YARDSTICKS: [&str; 2] = ["fifo", "oracle"];
/// How to get fewer panels or series.
pub(crate) const CHOOSE_FEWER: &str =
    "choose among the rows (`--case`, `--preset`, `--system`, `--scope`)";

/// Finish rate against the SLO as a multiple of P99, a panel for each case (Orloj Fig. 7 and 8).
///
/// # Errors
/// When the table has no such rows, or too many for one figure.
pub fn finish_rate_by_slo(rows: &[Row], choice: &RowFilter) -> Result<Figure, PlotError> {
    finish_rate_by(rows, "slo_x_p99", choice)
}

/// Finish rate against any numeric axis, a panel for each case.
///
/// # Errors
/// When the table has no such rows, or too many for one figure.
pub fn finish_rate_by(rows: &[Row], axis: &str, choice: &RowFilter) -> Result<Figure, PlotError> {
    curves("finish-rate", rows, axis, metric::FINISH_RATE, choice)
}

/// Any metric against any numeric axis: a curve for each system and preset (or policy), a panel for
/// each case, scope and combination of the other axes.
///
/// # Errors
/// When the table has no such rows, or too many for one figure.
pub fn metric_by_axis(
    rows: &[Row],
    axis: &str,
    metric: &str,
    choice: &RowFilter,
) -> Result<Figure, PlotError> {
    curves("metric", rows, axis, metric, choice)
}

fn curves(
    figure: &'static str,
    rows: &[Row],
    axis: &str,
    metric: &str,
    choice: &RowFilter,
) -> Result<Figure, PlotError> {
    let rows = with_gaps(rows);
    let rows = choice.rows(figure, &rows, metric)?;
    let points = points(figure, rows, axis, &[metric.to_string()])?;
    let table = Curves::of(figure, points, axis, choice, Several::None)?;
    let picture = Picture { x_label: choice.x_label.clone(), ..Picture::default() };
    let picture = Picture { y_range: choice.y_range, ..picture };
    Ok(table.sheet(axis, &picture, &Prepared::default()).figure())
}

/// The curves or bars of a picture.
pub(crate) fn pictured(
    prepared: &Prepared,
    picture: &Picture,
    choice: &RowFilter,
) -> Result<Figure, PlotError> {
    let rows: Vec<&Row> = prepared.rows.iter().collect();
    let metrics = distinct(rows.iter().map(|r| r.metric.clone()));
    let points = points(FIGURE, rows, &prepared.x, &metrics)?;
    let several = match picture.kind {
        PictureKind::Shares => Several::All,
        // Nothing joins the points.
        _ if picture.joined.as_ref().is_some_and(Vec::is_empty) => Several::Any,
        _ if !picture.star.is_empty() => Several::Of(&picture.star),
        _ => Several::None,
    };
    let mut table = Curves::of(FIGURE, points, &prepared.x, choice, several)?;
    table.given.clone_from(&picture.names);
    let sheet = match picture.kind {
        PictureKind::Bars => table.bars(picture, prepared),
        _ => table.sheet(&prepared.x, picture, prepared),
    };
    Ok(sheet.figure())
}

/// A row with its place on the x axis.
#[derive(Clone, Copy)]
struct At<'a> {
    row: &'a Row,
    x: f64,
}

fn points<'a>(
    figure: &'static str,
    rows: Vec<&'a Row>,
    axis: &str,
    wanted: &[String],
) -> Result<Vec<At<'a>>, PlotError> {
    let metric = wanted.join("`, `");
    let metrics: Vec<&str> = rows.iter().map(|r| r.metric.as_str()).collect();
    let is_wanted = |r: &&&Row| wanted.contains(&r.metric);
    let mut kept: Vec<&Row> = rows.iter().filter(is_wanted).copied().collect();
    if kept.is_empty() {
        let remedy = "choose a metric that the table has (`--metric`)";
        return Err(PlotError::missing(figure, format!("metric `{metric}`"), &metrics, remedy));
    }
    let axes: Vec<&str> = kept.iter().flat_map(|r| r.axis_list().map(|a| a.0)).collect();
    // A row without an answer is kept: it is a gap in its curve.
    kept.retain(|r| r.axis(axis).is_some());
    if kept.is_empty() {
        let remedy = "choose an axis that the table has (`--x`)";
        return Err(PlotError::missing(figure, format!("axis `{axis}`"), &axes, remedy));
    }
    if kept.iter().all(|r| r.value.is_none()) {
        let reasons: Vec<&str> = kept.iter().map(|r| r.reason.as_str()).collect();
        let remedy = "there is nothing to draw: see the column `reason`";
        return Err(PlotError::missing(figure, format!("a value of `{metric}`"), &reasons, remedy));
    }
    let at = |row: &'a Row| {
        let value = row.axis(axis).unwrap_or_default();
        let x = value.parse().ok().filter(|x: &f64| x.is_finite());
        let not_numeric = || PlotError::NotNumeric {
            figure,
            axis: axis.into(),
            value: value.into(),
            axes: crate::error::listed(&axes),
        };
        Ok(At { row, x: x.ok_or_else(not_numeric)? })
    };
    kept.into_iter().map(at).collect()
}

/// Which series may have several points at one x.
#[derive(Clone, Copy)]
enum Several<'a> {
    /// No one.
    None,
    /// Stars, by their name.
    Of(&'a str),
    /// All: several quantiles may be one value.
    All,
    /// All, and as many of one value as there are.
    Any,
}

/// The rows, sorted into panels and series.
struct Curves<'a> {
    points: Vec<At<'a>>,
    /// The words that tell a panel from the others.
    panels: Vec<Vec<String>>,
    names: Vec<String>,
    /// What some of them are called in the figure: (name, words).
    given: Vec<(String, String)>,
    looks: Looks,
    /// Each has panels of its own.
    metrics: Vec<String>,
    presets: Vec<String>,
    /// Whether series are named by their policies: systems do not tell the rows apart.
    by_policy: bool,
    paper: bool,
    /// Whether the paper's numbers are those of the places, the same for all systems: what was measured.
    paper_once: bool,
    /// What the paper's figures are called.
    beside: String,
    /// What all rows share.
    common: Vec<String>,
    differing: Vec<String>,
}

impl<'a> Curves<'a> {
    fn of(
        figure: &'static str,
        points: Vec<At<'a>>,
        axis: &str,
        choice: &RowFilter,
        several: Several<'_>,
    ) -> Result<Curves<'a>, PlotError> {
        let (differing, common) = parts(&points, axis);
        let paper = !choice.without_paper && points.iter().any(|p| p.row.paper.is_some());
        let mut curves = Curves {
            panels: distinct(points.iter().map(|p| panel_key(p.row, &differing))),
            names: Vec::new(),
            given: Vec::new(),
            looks: Looks::of::<&str>(&[]),
            metrics: Vec::new(),
            presets: distinct(points.iter().map(|p| p.row.preset.clone())),
            by_policy: false,
            paper,
            paper_once: false,
            beside: choice.paper().to_string(),
            common,
            differing,
            points,
        };
        // Sorted by meaning, so that what is calibrated has the strongest look in every table.
        curves.presets.sort_by_key(|p| preset_rank(p));
        if curves.twice(several).is_some() {
            curves.by_policy = true;
            if let Some(point) = curves.twice(several) {
                return Err(PlotError::Twice { figure, point });
            }
        }
        curves.names = distinct(curves.points.iter().map(|p| curves.name(p.row).to_string()));
        curves.looks = Looks::of(&curves.names);
        // Two systems of a paper may have one number by chance; what was measured has no system.
        curves.paper_once = paper && !choice.beside.is_empty() && curves.has_papers_of_places();
        curves.metrics = distinct(curves.points.iter().map(|p| p.row.metric.clone()));
        let series = distinct(curves.points.iter().map(|p| curves.series(p.row)));
        PlotError::limit(figure, "panels", curves.panels.len(), PANELS_MAX, CHOOSE_FEWER)?;
        PlotError::limit(
            figure,
            "systems or policies",
            curves.names.len(),
            SERIES_MAX,
            CHOOSE_FEWER,
        )?;
        let variants = |n: &String| series.iter().filter(|s| s.0 == n).count();
        let most = curves.names.iter().map(variants).max().unwrap_or(0);
        PlotError::limit(figure, "presets of one system", most, VARIANTS_MAX, CHOOSE_FEWER)?;
        Ok(curves)
    }

    fn name(&self, row: &'a Row) -> &'a str {
        match (self.by_policy, row.system.is_empty(), row.policy.is_empty()) {
            (true, _, false) | (false, true, false) => &row.policy,
            (_, true, true) => "value",
            _ => &row.system,
        }
    }

    fn series(&self, row: &'a Row) -> (&'a str, &'a str) {
        (self.name(row), &row.preset)
    }

    /// Whether each place has one number of the paper, and some place several systems.
    fn has_papers_of_places(&self) -> bool {
        let key = |p: &At<'a>| (panel_key(p.row, &self.differing), p.x.to_bits());
        let mut all: Vec<_> = self
            .points
            .iter()
            .filter_map(|p| Some((key(p), p.row.paper?.to_bits(), self.name(p.row))))
            .collect();
        all.sort_unstable();
        let mut pairs = all.windows(2).filter(|w| w[0].0 == w[1].0);
        let is_shared = pairs.clone().any(|w| w[0].2 != w[1].2);
        is_shared && pairs.all(|w| w[0].1 == w[1].1)
    }

    /// Two rows for one point, described.
    fn twice(&self, several: Several<'_>) -> Option<String> {
        if matches!(several, Several::Any) {
            return None;
        }
        let value = |r: &'a Row| match several {
            Several::Of(name) if self.name(r) != name => 0,
            Several::None => 0,
            _ => r.value.unwrap_or(0.0).to_bits(),
        };
        let mut seen: Vec<_> = self
            .points
            .iter()
            .map(|p| {
                (panel_key(p.row, &self.differing), self.series(p.row), p.x.to_bits(), value(p.row))
            })
            .collect();
        seen.sort_unstable();
        let pair = seen.windows(2).find(|w| w[0] == w[1])?;
        let (panel, (name, preset), x, _) = &pair[0];
        let x = names::plain(f64::from_bits(*x));
        let mut words = panel.clone();
        words.extend([name.to_string(), preset.to_string(), x]);
        words.retain(|w| !w.is_empty());
        Some(words.join(", "))
    }

    /// How a series is called: its parameters where another series is of the same policy.
    fn called(&self, name: &str) -> String {
        if let Some((_, words)) = self.given.iter().find(|n| n.0 == name) {
            return words.clone();
        }
        // Beside its parts, what has no name is their sum.
        if name == "value" && self.names.len() > 1 {
            return "all".to_string();
        }
        if names::system(name) != name {
            return names::system(name);
        }
        let base = system_of(name);
        let others: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let alike: Vec<&str> = others.into_iter().filter(|o| system_of(o) == base).collect();
        if alike.len() < 2 || name == base {
            return name.to_string();
        }
        let own = PolicyText::new(name).parameters;
        let everywhere = |p: &&str| alike.iter().all(|o| PolicyText::new(o).parameters.contains(p));
        let differing: Vec<&str> = own.into_iter().filter(|p| !everywhere(p)).collect();
        if differing.is_empty() { base.into() } else { format!("{base}[{}]", differing.join(",")) }
    }

    /// The style of a system's preset: the first that it has is drawn strongest, a yardstick thin.
    fn style(&self, name: &str, preset: &str) -> Style {
        let has =
            |p: &&String| self.points.iter().any(|x| self.series(x.row) == (name, p.as_str()));
        let variant = self.presets.iter().filter(has).position(|p| p == preset).unwrap_or(0);
        let style = self.looks.style(name).variant(variant);
        match preset == REFERENCE && YARDSTICKS.contains(&system_of(name)) {
            true => style.thin(),
            false => style,
        }
    }
}

fn preset_rank(preset: &str) -> usize {
    ["calibrated", "", REFERENCE, "paper", "released"]
        .iter()
        .position(|p| *p == preset)
        .unwrap_or(5)
}

/// The names of what differs between panels, and the words of what all rows share.
fn parts(points: &[At<'_>], axis: &str) -> (Vec<String>, Vec<String>) {
    let mut parts: Vec<String> = ["experiment", "case", "scope"].map(String::from).to_vec();
    if points.iter().any(|p| p.row.metric != points[0].row.metric) {
        parts.push(METRIC.into());
    }
    let axes = points.iter().flat_map(|p| p.row.axis_list().map(|a| a.0));
    parts.extend(distinct(axes.filter(|a| *a != axis)).into_iter().map(String::from));
    let (mut differing, mut common) = (Vec::new(), Vec::new());
    for part in parts {
        let values = distinct(points.iter().map(|p| part_of(p.row, &part)));
        match values.as_slice() {
            [one] if part != "experiment" && one != "all" => common.push(one.clone()),
            [_] => {}
            _ => differing.push(part),
        }
    }
    common.retain(|w| !w.is_empty());
    (differing, common)
}

fn part_of(row: &Row, part: &str) -> String {
    match part {
        "experiment" => row.experiment.clone(),
        "case" => row.case.clone(),
        "scope" => row.scope.clone(),
        METRIC => row.metric.clone(),
        axis => row.axis(axis).map_or(String::new(), |v| names::place(axis, v)),
    }
}

fn panel_key(row: &Row, differing: &[String]) -> Vec<String> {
    differing.iter().map(|part| part_of(row, part)).collect()
}
