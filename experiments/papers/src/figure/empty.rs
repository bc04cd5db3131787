//! Rows of no data: every place that an experiment has, with made-up values. What is drawn of them shows
//! whether its figure can be drawn.

use crate::experiment::{Experiment, Kind};
use crate::figure::picture;
use crate::numbers::{beside, is_at};
use crate::runner::Runner;
use crate::runners::{left_out, means};
use orrery_cells::grid::{combinations, word};
use orrery_results::{Row, metric, unit};

/// Pools that stand for those that are found in the runs, and evaluations of a search.
const POOLS: [&str; 2] = ["1-0-0-0", "0-1-0-0"];
/// Beginnings of parts of the time.
const PARTS: [&str; 3] = ["0", "20", "40"];

/// The rows.
pub(super) fn rows(e: &Experiment, runner: &dyn Runner) -> Vec<Row> {
    let (picture, _) = picture(e);
    let mut metrics = picture.metrics.clone();
    // Pools have a measured rank to stand along; elsewhere x is an axis or a policy's parameter.
    if matches!(e.kind(), Kind::Pool | Kind::Bounds) {
        metrics.push(picture.x.clone());
    }
    if !e.system.iter().any(|s| s.name == picture.star) {
        metrics.push(picture.star.clone());
    }
    if e.kind() == Kind::Means {
        metrics.push(metric::MEAN_FINISH_RATE.to_string());
    }
    metrics.retain(|m| !m.is_empty());
    metrics.dedup();
    // What is computed is known with its values.
    if matches!(e.kind(), Kind::Score | Kind::Laws) {
        let mut rows = runner.places();
        beside(&mut rows, &e.paper);
        return rows;
    }
    let mut rows = Vec::new();
    for place in places(e, runner) {
        for (i, metric) in metrics.iter().enumerate() {
            // A place along x is not measured.
            if place.axis(metric).is_some() {
                continue;
            }
            // Pools have ranks of their own, and quantiles grow.
            let pool = POOLS.iter().position(|p| place.axis("pool") == Some(p)).unwrap_or(0);
            let value =
                if *metric == picture.star { 1.0 } else { 0.25 * (1 + i + 2 * pool) as f64 };
            rows.push(Row {
                scope: "all".to_string(),
                metric: metric.clone(),
                unit: unit(metric).to_string(),
                value: Some(value),
                ..place.clone()
            });
        }
    }
    beside(&mut rows, &e.paper);
    rows
}

/// Where values will stand.
fn places(e: &Experiment, runner: &dyn Runner) -> Vec<Row> {
    let known = runner.places();
    if e.kind() == Kind::Means {
        let changes = changes(&known);
        let is_left_out = |metric: &String| left_out::METRICS.contains(&metric.as_str());
        return match picture(e).0.metrics.iter().any(is_left_out) {
            true => each_case(e, &changes),
            false => changes,
        };
    }
    if !known.is_empty() {
        return known;
    }
    let groups = runner.groups();
    let mut out = Vec::new();
    for c in combinations(&e.point, &e.axis, e.sample) {
        let at = Row { axes: c.axes.join(";"), ..e.place() };
        match e.kind() {
            kind if kind == Kind::OverTime || e.bin_s.is_some() => {
                out.extend(e.system.iter().flat_map(|s| {
                    let whole = named(&at, s);
                    let part = |from: &&str| with(&whole, &format!("from_s={from}"));
                    let parts: Vec<Row> = PARTS.iter().map(part).collect();
                    let of_groups = parts.iter().flat_map(|part| {
                        groups.iter().map(move |group| with(part, &format!("group={group}")))
                    });
                    let of_groups: Vec<Row> = of_groups.collect();
                    std::iter::once(whole).chain(parts).chain(of_groups)
                }))
            }
            Kind::Bounds => {
                let kairos = Row { system: "kairos".to_string(), ..at };
                out.extend(POOLS.map(|p| with(&kairos, &format!("pool={p}"))));
            }
            Kind::Pool => out.extend(e.system.iter().flat_map(|s| of_pools(&at, s))),
            _ => out.extend(e.system.iter().map(|s| named(&at, s))),
        }
    }
    out
}

/// A system's pools, and the steps of its search.
fn of_pools(at: &Row, s: &super::super::experiment::System) -> Vec<Row> {
    let asked = s.at.is_empty() || s.at.iter().any(|x| is_at(at, x));
    if !asked {
        return Vec::new();
    }
    let own = named(at, s);
    if let Some(search) = &s.search {
        let steps = (1..=search.trajectory.min(3)).map(|i| with(&own, &format!("evaluation={i}")));
        return std::iter::once(own.clone()).chain(steps).collect();
    }
    let text = s.pool.as_deref().unwrap_or_default();
    let listed = text.contains(',') || text.starts_with("top:");
    let pools: Vec<&str> = match text.split(',').next() {
        Some(first)
            if first.contains('-') && first.chars().all(|c| c.is_ascii_digit() || c == '-') =>
        {
            text.split(',').map(str::trim).collect()
        }
        _ if listed => POOLS.to_vec(),
        _ => POOLS[..1].to_vec(),
    };
    pools.iter().map(|p| with(&own, &format!("pool={p}"))).collect()
}

fn named(at: &Row, s: &super::super::experiment::System) -> Row {
    Row {
        system: s.name.clone(),
        preset: s.preset.word().to_string(),
        policy: s.policy.clone(),
        ..at.clone()
    }
}

fn with(row: &Row, axis: &str) -> Row {
    let before = if row.axes.is_empty() { String::new() } else { format!("{};", row.axes) };
    Row { axes: format!("{before}{axis}"), ..row.clone() }
}

/// Each case with each system once: what is told of cases that were left out.
fn each_case(e: &Experiment, changes: &[Row]) -> Vec<Row> {
    let cases = e.axis.iter().filter(|a| a.name == "case").flat_map(|a| a.values.iter().map(word));
    let of = |case: String| {
        let row = move |r: &Row| Row { case: case.clone(), axes: String::new(), ..r.clone() };
        let first = changes.first().map_or("", |r| r.axes.as_str());
        changes.iter().filter(move |r| r.axes == first).map(row)
    };
    cases.flat_map(of).collect()
}

/// Each change with each system once.
fn changes(places: &[Row]) -> Vec<Row> {
    let mut out: Vec<Row> = Vec::new();
    for place in places {
        let row = Row { case: String::new(), axes: means::change(place), ..place.clone() };
        let same =
            |r: &Row| (&r.axes, &r.system, &r.preset) == (&row.axes, &row.system, &row.preset);
        if !out.iter().any(same) {
            out.push(row);
        }
    }
    out
}
