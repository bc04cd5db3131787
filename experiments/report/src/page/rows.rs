//! Tables of rows, whatever they are of.

use super::parts::{Field, Part, Table, Tone};
use orrery_results::{Flags, Row, UNITLESS, difference_in, distinct, metric, unit};
use std::collections::BTreeMap;

/// Rows of the table of all values; the CSV has the rest.
const VALUES_MAX: usize = 2000;

/// A value as it is read: in the metric's unit for readers, shares with four digits.
pub fn reading(metric: &str, value: f64) -> String {
    match unit(metric) {
        UNITLESS if value.abs() <= 1.0 => format!("{value:.4}"),
        _ => significant(value / metric::reading(metric).divisor),
    }
}

/// Four significant digits, whole numbers as they are.
fn significant(x: f64) -> String {
    if x == x.trunc() && x.abs() < 1e12 {
        return format!("{x:.0}");
    }
    let digits = match x.abs() {
        a if a >= 1000.0 => 0,
        a if a >= 100.0 => 1,
        a if a >= 10.0 => 2,
        a if a >= 0.1 => 3,
        _ => 5,
    };
    format!("{x:.digits$}")
}

fn field(row: &Row) -> Field {
    let Some(x) = row.value else {
        return Field::text("no answer").with(row.reason.clone()).marked(Tone::Mixed);
    };
    let own = reading(&row.metric, x);
    let flag = if row.has_flag(Flags::FEW_SAMPLES) { "?" } else { "" };
    let interval = row.ci95().map_or(String::new(), |(a, b)| {
        format!("{} to {}", reading(&row.metric, a), reading(&row.metric, b))
    });
    Field::number(x, format!("{flag}{own}")).with(interval)
}

/// The axes of rows, in the order in which they come.
fn axes_of<'a>(rows: &[&'a Row]) -> Vec<&'a str> {
    distinct(rows.iter().flat_map(|r| r.axis_list()).map(|axis| axis.0))
}

/// A line for each cell: its axes, its policy and what it is judged by, with 95 % intervals below. A
/// second table has the same by model, application and device.
pub fn cells(rows: &[Row]) -> Vec<Part> {
    let own: Vec<&Row> = rows.iter().filter(|r| r.versus.is_empty()).collect();
    let all: Vec<&Row> = own.iter().copied().filter(|r| r.scope == "all").collect();
    let mut parts: Vec<Part> =
        by_cell("all requests; below a value its 95 % interval", &all, false)
            .part()
            .into_iter()
            .collect();
    let scoped: Vec<&Row> = own.iter().copied().filter(|r| r.scope != "all").collect();
    let inner = by_cell("by model, application and device", &scoped, true);
    if let Some(table) = inner.part() {
        parts.push(Part::Folded("By model, application and device".to_string(), vec![table]));
    }
    let differences: Vec<&Row> = rows.iter().filter(|r| !r.versus.is_empty()).collect();
    parts.extend(difference_table(&differences).part());
    parts
}

fn by_cell(caption: &str, rows: &[&Row], with_scope: bool) -> Table {
    let axes = axes_of(rows);
    let has = |metric: &str| rows.iter().any(|r| r.metric == metric);
    let shown = metric::all().iter().filter_map(|m| Some((m.name, m.page?)));
    let metrics: Vec<(&str, &str)> = shown.filter(|m| has(m.0)).collect();
    let with_case = rows.iter().any(|r| !r.case.is_empty());
    let mut columns: Vec<String> = Vec::new();
    columns.extend(with_case.then(|| "case".to_string()));
    columns.extend(axes.iter().map(ToString::to_string));
    columns.push("policy".to_string());
    columns.extend(with_scope.then(|| "of".to_string()));
    columns.extend(metrics.iter().map(|m| m.1.to_string()));
    let mut table = Table { caption: caption.to_string(), columns, ..Table::default() };
    type Key<'a> = (&'a str, &'a str, &'a str, &'a str, &'a str);
    let mut place: BTreeMap<Key<'_>, usize> = BTreeMap::new();
    for row in rows {
        let Some(at) = metrics.iter().position(|m| m.0 == row.metric) else { continue };
        let key = (&*row.case, &*row.axes, &*row.policy, &*row.preset, &*row.scope);
        let first = table.columns.len() - metrics.len();
        let line = *place.entry(key).or_insert_with(|| {
            let mut line: Vec<Field> = Vec::new();
            line.extend(with_case.then(|| Field::text(&*row.case)));
            line.extend(axes.iter().map(|a| Field::text(row.axis(a).unwrap_or_default())));
            line.push(Field::text(&*row.policy).with(&*row.preset));
            line.extend(with_scope.then(|| Field::text(&*row.scope)));
            line.resize(table.columns.len(), Field::default());
            table.rows.push(line);
            table.rows.len() - 1
        });
        table.rows[line][first + at] = field(row);
    }
    table
}

fn difference_table(rows: &[&Row]) -> Table {
    let axes = axes_of(rows);
    let mut columns = axes.clone();
    columns.extend(["policy", "less", "what", "difference"]);
    let caption = "differences, seed by seed; below a value its 95 % interval";
    let mut table = Table::new(caption, &columns);
    for row in rows {
        let mut line: Vec<Field> =
            axes.iter().map(|a| Field::text(row.axis(a).unwrap_or_default())).collect();
        let of = difference_in(&row.metric).unwrap_or(&row.metric);
        let unit = if unit(of) == UNITLESS { "" } else { metric::reading(of).unit };
        let what = format!("{} {unit}", metric::words(of)).trim_end().to_string();
        // A difference whose interval leaves 0 out can be told from chance.
        let clear = row.ci95().is_some_and(|(a, b)| a > 0.0 || b < 0.0);
        let mut value = field(row);
        if row.value.is_some_and(|x| x > 0.0) {
            value.text = format!("+{}", value.text);
        }
        value.below += if clear || row.ci95().is_none() { "" } else { ", within chance" };
        line.extend([
            Field::text(&*row.policy),
            Field::text(&*row.versus),
            Field::text(what),
            value,
        ]);
        table.rows.push(line);
    }
    table
}

/// Every value of these rows with its interval, the paper's number and the error, closed at first.
pub fn values(title: &str, rows: &[&Row]) -> Option<Part> {
    if rows.is_empty() {
        return None;
    }
    let has = |f: fn(&Row) -> bool| rows.iter().any(|r| f(r));
    let axes = axes_of(rows);
    let with_case = has(|r| !r.case.is_empty());
    let with_scope = has(|r| r.scope != "all");
    let with_paper = has(|r| r.paper.is_some());
    let with_system = has(|r| !r.system.is_empty() && r.system != r.policy);
    let with_preset = has(|r| !r.preset.is_empty());
    let mut columns: Vec<&str> = Vec::new();
    columns.extend(with_case.then_some("case"));
    columns.extend(&axes);
    columns.push(if with_system { "system" } else { "policy" });
    columns.extend(with_preset.then_some("preset"));
    columns.extend(with_scope.then_some("of"));
    columns.extend(["metric", "value", "95 % from", "95 % to"]);
    if with_paper {
        columns.extend(["paper", "error", "the paper's source"]);
    }
    columns.extend(["samples", "flags"]);
    let mut table = Table::new("", &columns);
    for row in rows.iter().take(VALUES_MAX) {
        let number = |x: Option<f64>| {
            x.map_or(Field::default(), |x| Field::number(x, reading(&row.metric, x)))
        };
        let mut line: Vec<Field> = Vec::new();
        line.extend(with_case.then(|| Field::text(&*row.case)));
        line.extend(axes.iter().map(|a| Field::text(row.axis(a).unwrap_or_default())));
        line.push(Field::text(if with_system { &*row.system } else { &*row.policy }));
        line.extend(with_preset.then(|| Field::text(&*row.preset)));
        line.extend(with_scope.then(|| Field::text(&*row.scope)));
        let unit = if row.unit == "ns" { metric::reading(&row.metric).unit } else { &*row.unit };
        line.push(Field::text(row.metric.trim_end_matches("_ns")).with(unit));
        let value = match row.value {
            None => Field::text("no answer").with(&*row.reason),
            some => number(some),
        };
        let (low, high) = row.ci95().unzip();
        line.extend([value, number(low), number(high)]);
        if with_paper {
            line.push(number(row.paper));
            line.push(error(row));
            line.push(Field::text(&*row.paper_source));
        }
        line.push(Field::number(row.samples as f64, row.samples.to_string()));
        line.push(Field::text(&*row.flags));
        table.rows.push(line);
    }
    let left = rows.len().saturating_sub(VALUES_MAX);
    let mut inner: Vec<Part> = table.part().into_iter().collect();
    if left > 0 {
        inner.push(Part::Text(format!("{left} more are in the CSV that `--out` writes.")));
    }
    Some(Part::Folded(title.to_string(), inner))
}

/// How far a row is off the paper: of a share the difference, of all else a percentage.
fn error(row: &Row) -> Field {
    let Some((ours, paper)) = row.value.zip(row.paper) else { return Field::default() };
    match unit(&row.metric) {
        UNITLESS => Field::number(ours - paper, format!("{:+.4}", ours - paper)),
        _ if paper != 0.0 => {
            let share = 100.0 * (ours / paper - 1.0);
            Field::number(share, format!("{share:+.1} %"))
        }
        _ => Field::default(),
    }
}

/// Every value with its interval.
pub fn intervals(rows: &[Row]) -> Option<Part> {
    let all: Vec<&Row> = rows.iter().filter(|r| r.scope == "all").collect();
    values("Every value with its interval", &all)
}
