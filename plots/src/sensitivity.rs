//! Sensitivity: what changing one assumption at a time does to a metric.

use crate::choice::RowFilter;
use crate::curves::CHOOSE_FEWER;
use crate::error::{PlotError, distinct};
use crate::figure::Figure;
use crate::flags;
use crate::gaps::with_gaps;
use crate::legend::{Key, Legend};
use crate::names;
use crate::panel::{Axis, Mark, Panel};
use crate::scale::{Scale, Tick};
use crate::scene::{Color, Stroke};
use crate::sheet::Sheet;
use crate::style::Style;
use crate::systems::Looks;
use orrery_results::Row;

const FIGURE: &str = "sensitivity";
/// The axis that names the change.
const AXIS: &str = "changed";
/// Variations that one figure can show.
const LINES_MAX: usize = 120;
/// Systems that one figure can show.
const COLUMNS_MAX: usize = 12;
/// Height of a line.
const LINE: f64 = 16.0;

const BASE: Stroke = Stroke { color: Color::BLACK, width: 1.2, dash: &[4.0, 2.5] };

/// A dot for each variation (axis `changed`), a column for each system and preset; a vertical line
/// where the first variation, in which nothing is changed, lies.
///
/// # Errors
/// When the table has no such rows, or too many for one figure.
pub fn sensitivity(rows: &[Row], metric: &str, choice: &RowFilter) -> Result<Figure, PlotError> {
    titled(rows, metric, choice, ("", ""))
}

/// The same with a title and what stands below it; a title is made where there is none.
pub(crate) fn titled(
    rows: &[Row],
    metric: &str,
    choice: &RowFilter,
    (title, source): (&str, &str),
) -> Result<Figure, PlotError> {
    let rows = with_gaps(rows);
    let all = chosen(&rows, metric, choice)?;
    let rows: Vec<&Row> = all.iter().filter(|r| r.value.is_some()).copied().collect();
    if rows.is_empty() {
        let reasons: Vec<&str> = all.iter().map(|r| r.reason.as_str()).collect();
        let remedy = "there is nothing to draw: see the column `reason`";
        return Err(PlotError::missing(FIGURE, format!("a value of `{metric}`"), &reasons, remedy));
    }
    let lines = distinct(rows.iter().map(|r| changed(r)));
    let (base, varied) = (lines[0], &lines[1..]);
    let columns = distinct(rows.iter().map(|r| column(r)));
    PlotError::limit(FIGURE, "systems", columns.len(), COLUMNS_MAX, CHOOSE_FEWER)?;
    PlotError::limit(FIGURE, "variations", lines.len(), LINES_MAX, "give a table with fewer")?;
    if varied.is_empty() {
        let remedy = "give a table with the base first and at least one change";
        let needed = format!("a second value of axis `{AXIS}`");
        return Err(PlotError::missing(FIGURE, needed, &[base], remedy));
    }
    once_each(&rows)?;
    let largest = rows.iter().filter_map(|r| r.value).map(f64::abs).fold(0.0, f64::max);
    let named = names::metric(metric, &rows[0].unit, largest);
    let bounds = rows.iter().flat_map(|r| {
        let (low, high) = r.ci95().unzip();
        [r.value, low, high].into_iter().flatten()
    });
    // Errors are compared with none: two readings of one table then have axes that can be compared.
    let zero = (metric == orrery_results::metric::MEAN_ABS_ERROR).then_some(0.0);
    let x = Scale::linear(bounds.chain(zero).map(|v| v / named.divisor));
    let y = Scale::Linear { low: varied.len() as f64, high: 0.0 };
    let tick = |(i, name): (usize, &&str)| Tick { at: i as f64 + 0.5, label: name.to_string() };
    let ticks: Vec<Tick> = varied.iter().enumerate().map(tick).collect();
    let looks = Looks::of(&columns);
    let panel = |name: &String| {
        let own: Vec<&Row> = rows.iter().filter(|r| column(r) == *name).copied().collect();
        Panel {
            title: name.clone(),
            x: Axis { label: named.label.clone(), scale: x, ticks: x.ticks(4) },
            y: Axis { label: String::new(), scale: y, ticks: ticks.clone() },
            marks: marks(&own, base, varied, looks.style(name), named.divisor),
        }
    };
    let experiments = distinct(rows.iter().map(|r| r.experiment.as_str()));
    let source: Vec<String> =
        (!source.is_empty()).then(|| source.to_string()).into_iter().collect();
    let sheet = Sheet {
        title: match title {
            "" => {
                format!("{}: {} with one assumption changed", experiments.join(", "), named.label)
            }
            given => given.to_string(),
        },
        subtitle: flags::subtitle(&source, &rows),
        panels: columns.iter().map(panel).collect(),
        columns: columns.len(),
        plot: (if columns.len() > 5 { 130.0 } else { 165.0 }, LINE * varied.len() as f64),
        wrap_x: false,
        share_x: false,
        share_y: true,
        legend: Legend::Flow(vec![(format!("nothing changed ({base})"), Key::Line(BASE))]),
        notes: flags::notes(&all, flags::NO_PAPER),
    };
    Ok(sheet.figure())
}

fn changed(row: &Row) -> &str {
    row.axis(AXIS).unwrap_or_default()
}

/// The preset is named where the system has several names or none.
fn column(row: &Row) -> String {
    let name = if row.system.is_empty() { &row.policy } else { &row.system };
    let mut words = vec![name.as_str(), row.preset.as_str(), row.case.as_str()];
    if row.scope != "all" {
        words.push(&row.scope);
    }
    words.retain(|w| !w.is_empty() && *w != "calibrated");
    if words.is_empty() { "all".into() } else { words.join(", ") }
}

fn chosen<'a>(
    rows: &'a [Row],
    metric: &str,
    choice: &RowFilter,
) -> Result<Vec<&'a Row>, PlotError> {
    let kept = choice.rows(FIGURE, rows, metric)?;
    let metrics: Vec<&str> = kept.iter().map(|r| r.metric.as_str()).collect();
    let axes: Vec<&str> = kept.iter().flat_map(|r| r.axis_list().map(|a| a.0)).collect();
    let of_metric: Vec<&Row> = kept.iter().filter(|r| r.metric == metric).copied().collect();
    if of_metric.is_empty() {
        let remedy = "choose a metric that the table has (`--metric`)";
        return Err(PlotError::missing(FIGURE, format!("metric `{metric}`"), &metrics, remedy));
    }
    let of_axis: Vec<&Row> = of_metric.iter().filter(|r| r.axis(AXIS).is_some()).copied().collect();
    if of_axis.is_empty() {
        let remedy = "give the table of `orrery reproduce orloj-table-3-sensitivity`";
        return Err(PlotError::missing(FIGURE, format!("axis `{AXIS}`"), &axes, remedy));
    }
    Ok(of_axis)
}

fn once_each(rows: &[&Row]) -> Result<(), PlotError> {
    let mut places: Vec<(String, &str)> = rows.iter().map(|r| (column(r), changed(r))).collect();
    places.sort_unstable();
    match places.windows(2).find(|w| w[0] == w[1]) {
        Some(pair) => {
            let point = format!("{}, {}", pair[0].0, pair[0].1);
            Err(PlotError::Twice { figure: FIGURE, point })
        }
        None => Ok(()),
    }
}

fn marks(own: &[&Row], base: &str, varied: &[&str], style: Style, divisor: f64) -> Vec<Mark> {
    let mut marks = Vec::new();
    let base = own.iter().find(|r| changed(r) == base).and_then(|r| r.value);
    let base = base.map(|x| x / divisor);
    if let Some(x) = base {
        marks.push(Mark::Vertical { x, stroke: BASE });
    }
    let mut points = Vec::new();
    for (i, name) in varied.iter().enumerate() {
        let found = own.iter().find(|r| changed(r) == *name);
        let Some((row, value)) = found.and_then(|r| Some((r, r.value?))) else { continue };
        let (x, y) = (value / divisor, i as f64 + 0.5);
        let stroke = Stroke::solid(style.color, 1.4);
        if let Some(from) = base {
            marks.push(Mark::Line { points: vec![(from, y), (x, y)], stroke });
        }
        if let Some((low, high)) = row.ci95() {
            let thin = Stroke::solid(style.color, 0.7);
            let points = vec![(low / divisor, y), (high / divisor, y)];
            marks.push(Mark::Line { points, stroke: thin });
        }
        points.push(((x, y), flags::crossed(row)));
    }
    marks.push(Mark::Markers { points, style, radius: 3.6 });
    marks
}
