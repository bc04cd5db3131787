//! From the rows of a table to rows with a number along x.

use super::values::{CASE, METRIC, SYSTEM, keep, parameter, set, value};
use crate::error::{PlotError, distinct};
use crate::names;
use crate::spec::{FIGURE, Picture, PictureKind, Prepared, place};
use orrery_results::{PolicyText, Row, UNITLESS, joined, metric};
use std::collections::{HashMap, HashSet};

/// The axis of the pools that Kairos's systems choose: no place of a value, but a part of it.
const POOL: &str = "pool";
/// The axis of numbers that are made here.
const ALONG: &str = "along_x";

/// The rows that are drawn, with their places.
pub(super) fn prepare(rows: &[&Row], p: &Picture) -> Result<Prepared, PlotError> {
    let all: Vec<&Row> = rows.iter().filter(|r| r.versus.is_empty()).copied().collect();
    let metrics: Vec<&str> = all.iter().map(|r| r.metric.as_str()).collect();
    let is_drawn = |r: &&&Row| p.metrics.contains(&r.metric);
    let own: Vec<&Row> = all.iter().filter(is_drawn).copied().collect();
    if own.is_empty() {
        let needed = format!("metric `{}`", p.metrics.join("` or `"));
        let remedy = "choose a metric that the table has (`metric` of `[figure]`, `--metric`)";
        return Err(PlotError::missing(FIGURE, needed, &metrics, remedy));
    }
    let missing = missing(&own, &all, p);
    let own: Vec<&Row> = own.into_iter().chain(&missing).collect();
    let (mut own, over) = divided(&own, p)?;
    let mut without_place = Vec::new();
    if p.kind == PictureKind::Shares {
        (own, without_place) = own.into_iter().partition(|r| r.value.is_some());
        own = shares(own, p);
    }
    if let Some((low, high)) = &p.interval {
        with_interval(&mut own, &all, low, high);
    }
    let is_line = |r: &Row| p.lines.contains(&r.system);
    let lines: Vec<Row> = own.iter().filter(|r| is_line(r)).cloned().collect();
    let known = |r: &Row| p.systems.is_empty() || p.systems.contains(&r.system);
    own.retain(|r| !is_line(r) && known(r));
    without_place.retain(|r| known(r));
    let x = match p.kind {
        PictureKind::Shares => ALONG.to_string(),
        _ => p.x.clone(),
    };
    if p.kind != PictureKind::Shares {
        own = along(own, &all, &x, p)?;
    }
    let stars = stars(&own, &all, p);
    own.extend(stars);
    let mut prepared = Prepared { rows: own, x, lines, over, without_place, ..Prepared::default() };
    arrange(&mut prepared, p);
    if p.kind == PictureKind::Bars {
        categories(&mut prepared, !p.x_label.is_empty(), &p.names);
    }
    Ok(prepared)
}

/// Of bars, rows for the places where a system has been run and has no value of the metric, as it has elsewhere.
fn missing(own: &[&Row], all: &[&Row], p: &Picture) -> Vec<Row> {
    let (PictureKind::Bars, [metric]) = (p.kind, p.metrics.as_slice()) else { return Vec::new() };
    let mut known: HashSet<_> = own.iter().map(|r| place(r)).collect();
    let systems: HashSet<_> = own.iter().map(|r| &r.system).collect();
    let missing = all.iter().filter(|r| systems.contains(&r.system) && known.insert(place(r)));
    let without = |r: &&Row| Row {
        metric: metric.clone(),
        unit: orrery_results::unit(metric).to_string(),
        value: None,
        ci95_low: None,
        ci95_high: None,
        paper: None,
        ..(*r).clone()
    };
    missing.map(without).collect()
}

/// Intervals from two other metrics of the same cells, in place of confidence intervals.
fn with_interval(rows: &mut [Row], all: &[&Row], low: &str, high: &str) {
    for row in rows {
        let find = |metric: &str| {
            let is = |r: &&&Row| r.metric == metric && place(r) == place(row);
            all.iter().find(is).and_then(|r| r.finite())
        };
        let (a, b) = (find(low), find(high));
        (row.ci95_low, row.ci95_high) = (a, b);
    }
}

/// Values over those of another system.
fn divided(rows: &[&Row], p: &Picture) -> Result<(Vec<Row>, String), PlotError> {
    if p.relative_to.is_empty() && p.ratios.is_empty() {
        return Ok((rows.iter().map(|r| (*r).clone()).collect(), String::new()));
    }
    let base_of = |r: &Row| -> Option<&str> {
        if !p.ratios.is_empty() {
            return p.ratios.iter().find(|x| x.0 == r.system).map(|x| x.1.as_str());
        }
        (r.system != p.relative_to).then_some(p.relative_to.as_str())
    };
    // A pool is no part of a place: each system may have its own.
    let places = |r: &Row| joined(r.axis_list().filter(|a| a.0 != POOL));
    let mut exact: HashMap<(&str, &str, &str, String), &Row> = HashMap::new();
    let mut bases: HashMap<(&str, &str, &str), Vec<&Row>> = HashMap::new();
    for &r in rows {
        exact.entry((&r.metric, &r.system, &r.case, places(r))).or_insert(r);
        bases.entry((&r.metric, &r.system, &r.case)).or_default().push(r);
    }
    let mut out = Vec::new();
    for &r in rows {
        let Some(name) = base_of(r) else { continue };
        let (metric, case) = (r.metric.as_str(), r.case.as_str());
        let same = exact.get(&(metric, name, case, places(r))).copied();
        // Else the place with most in common: the other may have a setting of its own.
        let candidates = bases.get(&(metric, name, case)).filter(|_| same.is_none());
        let shared = |b: &&&Row| {
            let same = |(n, v): &(&str, &str)| *n != POOL && b.axis(n) == Some(v);
            r.axis_list().filter(same).count()
        };
        let nearest = || candidates?.iter().rev().max_by_key(|b| shared(b)).copied();
        let Some(base) = same.or_else(nearest) else { continue };
        let Some(by) = base.finite() else {
            let mut gap = Row { unit: UNITLESS.to_string(), ..r.clone() };
            gap.without_answer(format!("`{name}` has no value here: {}", base.reason));
            base.flags.split_whitespace().for_each(|flag| gap.flag(flag));
            out.push(gap);
            continue;
        };
        if by <= 0.0 {
            continue;
        }
        let ratio = |v: f64| v / by;
        out.push(Row {
            value: r.value.map(ratio),
            ci95_low: r.ci95_low.map(ratio),
            ci95_high: r.ci95_high.map(ratio),
            paper: r.paper.zip(base.paper).map(|(a, b)| a / b),
            unit: UNITLESS.to_string(),
            ..r.clone()
        });
    }
    let over = match p.ratios.as_slice() {
        [] => p.relative_to.clone(),
        [one] => one.1.clone(),
        several => distinct(several.iter().map(|x| names::system(&x.1))).join(" or "),
    };
    if out.is_empty() {
        let found: Vec<&str> = rows.iter().map(|r| r.system.as_str()).collect();
        let remedy = "name a system of the table that has values";
        return Err(PlotError::missing(FIGURE, format!("system `{over}`"), &found, remedy));
    }
    Ok((out, over))
}

/// Quantiles as points: the value along x, the share along y.
fn shares(rows: Vec<Row>, p: &Picture) -> Vec<Row> {
    let stems = distinct(p.metrics.iter().filter_map(|m| quantile(m)).map(|q| q.0));
    let point = |row: Row| {
        let (stem, share) = quantile(&row.metric)?;
        let value = row.finite()?;
        let mut point = Row { value: Some(share), unit: UNITLESS.into(), ..row };
        (point.ci95_low, point.ci95_high, point.abs_error) = (None, None, None);
        // The paper's quantile is a point of its own, on its own curve.
        point.paper = None;
        set(&mut point, ALONG, &value.to_string());
        if stems.len() > 1 {
            set(&mut point, "of", &names::metric(&stem, "", 0.0).label);
        }
        point.metric = metric::SHARE.into();
        Some(point)
    };
    rows.into_iter().filter_map(point).collect()
}

/// `latency_p99_ns` is (`latency_ns`, 0.99); `x_max` is 1.
fn quantile(metric: &str) -> Option<(String, f64)> {
    let mut share = None;
    let kept: Vec<&str> = metric
        .split('_')
        .filter(|part| {
            let found = match *part {
                "max" => Some(1.0),
                "min" => Some(0.0),
                _ => part.strip_prefix('p').and_then(|d| d.parse::<f64>().ok()).map(|d| d / 100.0),
            };
            share = share.or(found);
            found.is_none()
        })
        .collect();
    Some((kept.join("_"), share?))
}

/// Rows with a value at the x axis, which may be a metric of the same cell or a policy's parameter.
fn along(rows: Vec<Row>, all: &[&Row], x: &str, p: &Picture) -> Result<Vec<Row>, PlotError> {
    let has = |r: &Row| value(r, x).is_some();
    let of_policy = !rows.iter().any(has) && rows.iter().any(|r| parameter(r, x).is_some());
    let mut measured: HashMap<[&str; 6], f64> = HashMap::new();
    if !of_policy && !rows.iter().any(has) {
        for r in all.iter().filter(|r| r.metric == x) {
            measured.extend(r.finite().map(|v| (place(r), v)));
        }
    }
    let axes: Vec<&str> = rows.iter().flat_map(|r| r.axis_list().map(|a| a.0)).collect();
    let mut out = Vec::new();
    for row in &rows {
        let found = match (value(row, x), of_policy) {
            (Some(v), _) => Some(v.to_string()),
            (None, true) => parameter(row, x).map(str::to_string),
            (None, false) => measured.get(&place(row)).map(|v| format!("{v}")),
        };
        let Some(found) = found else { continue };
        let mut row = row.clone();
        set(&mut row, x, &found);
        if of_policy {
            row.policy = PolicyText::new(&row.policy).without(x);
            row.system.clone_from(&row.policy);
        }
        if !measured.is_empty() {
            keep(&mut row, |name| name != POOL);
        }
        out.push(row);
    }
    if out.is_empty() {
        let key = if p.kind == PictureKind::Heat { "x` or `y" } else { "x" };
        let remedy = format!("name an axis, a metric or a parameter that the table has (`{key}`)");
        return Err(PlotError::missing(FIGURE, format!("`{x}`"), &axes, remedy));
    }
    Ok(out)
}

/// The points whose star metric is 1, as a series of their own, by the metric's name.
fn stars(rows: &[Row], all: &[&Row], p: &Picture) -> Vec<Row> {
    if p.star.is_empty() {
        return Vec::new();
    }
    let others = |r: &Row| joined(r.axis_list().filter(|a| a.0 != p.x && a.0 != POOL));
    let place_of = |r: &Row, x: Option<String>| (r.system.clone(), x, others(r), r.case.clone());
    // A row along a metric has lost its pool: the metric's value tells it then.
    let mut along = HashMap::new();
    for row in all.iter().filter(|r| r.metric == p.x) {
        along.entry(place(row)).or_insert(*row);
    }
    let is_one = |r: &&&Row| r.metric == p.star && r.value == Some(1.0);
    let starred = all.iter().filter(is_one);
    let starred: HashSet<_> = starred
        .map(|s| {
            let at = along.get(&place(s)).and_then(|a| a.finite()).map(|v| format!("{v}"));
            place_of(s, at.or_else(|| s.axis(&p.x).map(str::to_string)))
        })
        .collect();
    let is_starred = |r: &&Row| starred.contains(&place_of(r, r.axis(&p.x).map(str::to_string)));
    let star =
        |r: &Row| Row { system: p.star.clone(), ci95_low: None, ci95_high: None, ..r.clone() };
    let mut out: Vec<Row> = rows.iter().filter(is_starred).map(star).collect();
    // Two systems may have a star in one place.
    let key =
        |r: &Row| (r.metric.clone(), r.case.clone(), r.axes.clone(), r.value.map(f64::to_bits));
    let mut seen = HashSet::new();
    out.retain(|r| seen.insert(key(r)));
    out
}

/// Leaves only the axes that make places, and names series and panels.
fn arrange(prepared: &mut Prepared, p: &Picture) {
    let Prepared { rows, lines, x, .. } = prepared;
    let x = x.as_str();
    for row in rows.iter_mut().chain(lines.iter_mut()) {
        rename(row, &p.names);
        let series = value(row, &p.series).map(str::to_string);
        let system = row.system.clone();
        if let Some(panels) = &p.panels {
            let is_place =
                |name: &str| name == x || name == p.y || panels.iter().any(|q| q == name);
            keep(row, is_place);
            if panels.iter().any(|q| q == SYSTEM) {
                let given = p.names.iter().find(|n| n.0 == system);
                set(row, SYSTEM, given.map_or(&system, |n| &n.1));
            }
            if !panels.iter().any(|q| q == CASE) && p.series != CASE {
                row.case.clear();
            }
        } else if x != POOL {
            keep(row, |name| name != POOL);
        }
        if !p.series.is_empty() && (p.star.is_empty() || system != p.star) {
            row.system = series.map_or(String::new(), |v| names::place(&p.series, &v));
            row.policy.clear();
            let name = p.series.clone();
            keep(row, |other| other != name);
        }
        if x == SYSTEM || p.panels.as_ref().is_some_and(|q| q.iter().any(|q| q == SYSTEM)) {
            (row.policy, row.preset) = Default::default();
            // A series has its name in the system's place.
            if p.series.is_empty() {
                row.system.clear();
            }
        }
        if x == METRIC || x == CASE {
            row.metric = if x == METRIC { p.metrics[0].clone() } else { row.metric.clone() };
            row.case = if x == CASE { String::new() } else { row.case.clone() };
        }
    }
}

/// Gives the values of a row's axes their names in the figure.
fn rename(row: &mut Row, names: &[(String, String)]) {
    let name = |value: &str| names.iter().find(|n| n.0 == value).map(|n| n.1.clone());
    let renamed = row.axis_list().filter_map(|(axis, v)| Some((axis.to_string(), name(v)?)));
    for (axis, name) in renamed.collect::<Vec<_>>() {
        set(row, &axis, &name);
    }
}

/// Numbers for categories, in the order of their first appearance. Where the axis has a label, a category
/// that is a number does not say the axis' name.
fn categories(prepared: &mut Prepared, labelled: bool, renamed: &[(String, String)]) {
    let Prepared { rows, x, categories, .. } = prepared;
    let all = distinct(rows.iter().filter_map(|r| r.axis(x)).map(str::to_string));
    for row in rows.iter_mut() {
        let at = row.axis(x).and_then(|v| all.iter().position(|c| c == v)).unwrap_or(0);
        let name = x.clone();
        keep(row, |other| other != name);
        set(row, ALONG, &at.to_string());
    }
    let given = |value: &String| renamed.iter().find(|n| n.0 == *value).map(|n| n.1.clone());
    let named = |value: &String| match x.as_str() {
        METRIC => given(value).unwrap_or_else(|| names::metric(value, "", 0.0).label),
        SYSTEM => given(value).unwrap_or_else(|| names::system(value)),
        CASE | POOL => value.clone(),
        name if value.parse::<f64>().is_ok() && !labelled => names::setting(name, value),
        _ => value.clone(),
    };
    *categories = all.iter().map(named).collect();
    *x = ALONG.to_string();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_told_from_names() {
        assert_eq!(quantile("latency_p99_ns"), Some(("latency_ns".into(), 0.99)));
        assert_eq!(quantile("latency_p99.9_ns").map(|q| q.0), Some("latency_ns".into()));
        assert_eq!(quantile("rate_imbalance_max"), Some(("rate_imbalance".into(), 1.0)));
        assert_eq!(quantile("utilisation"), None);
    }
}
