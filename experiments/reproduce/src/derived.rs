//! Metrics that an experiment shows and no run measures: they follow from its other rows.
//!
//! | metric | what |
//! |---|---|
//! | `bad_rate` | 1 less the finish rate |
//! | `idle_fraction` | 1 less the utilisation |
//! | `advice_devices` | Symphony's advice (its section 3.5): devices to add, or to give back |
//! | `flat_top_bad_rate` | (o - p) / o, with the offered rate o and the highest goodput p among the rates |

use super::experiment::Experiment;
use orrery_results::{Row, metric, unit};
use orrery_sweep::advice::Advice;

const DERIVED: [&str; 4] =
    [metric::BAD_RATE, metric::FLAT_TOP_BAD_RATE, metric::IDLE_FRACTION, metric::ADVICE_DEVICES];

/// Adds the rows that the experiment shows or judges, after those of their cell.
pub fn add(e: &Experiment, rows: &mut Vec<Row>) {
    let asked = e.show.iter().chain(e.claim.iter().map(|c| &c.metric));
    let asked: Vec<&str> = asked.map(String::as_str).collect();
    let wanted: Vec<&str> = DERIVED.into_iter().filter(|m| asked.contains(m)).collect();
    if wanted.is_empty() {
        return;
    }
    let old = std::mem::take(rows);
    for cell in old.chunk_by(|a, b| a.case == b.case && a.axes == b.axes && a.policy == b.policy) {
        rows.extend_from_slice(cell);
        let own: Vec<&Row> = cell.iter().collect();
        rows.extend(wanted.iter().filter_map(|metric| of_cell(e, &old, &own, metric)));
    }
}

fn of_cell(e: &Experiment, all: &[Row], cell: &[&Row], metric: &str) -> Option<Row> {
    if find(cell, metric).is_some() {
        return None;
    }
    let finish = find(cell, metric::FINISH_RATE).filter(|r| r.value.is_some())?;
    let value = match metric {
        metric::BAD_RATE => return Some(rest(finish, metric)),
        metric::IDLE_FRACTION => return Some(rest(find(cell, metric::UTILISATION)?, metric)),
        metric::ADVICE_DEVICES => Advice::of(cell)?.advised()?,
        _ => flat_top(e, all, cell)?,
    };
    let (ci95_low, ci95_high, ci_method) = (None, None, String::new());
    Some(Row { value: Some(value), ci95_low, ci95_high, ci_method, ..named(finish, metric) })
}

fn find<'a>(cell: &[&'a Row], metric: &str) -> Option<&'a Row> {
    let is_it = |r: &&&Row| r.scope == "all" && r.metric == metric && r.versus.is_empty();
    cell.iter().find(is_it).copied()
}

fn named(row: &Row, metric: &str) -> Row {
    Row { metric: metric.to_string(), unit: unit(metric).to_string(), ..row.clone() }
}

/// What a share leaves of the whole; its interval turns round.
fn rest(row: &Row, metric: &str) -> Row {
    let left = |x: f64| 1.0 - x;
    let (ci95_low, ci95_high) = (row.ci95_high.map(left), row.ci95_low.map(left));
    Row { value: row.value.map(left), ci95_low, ci95_high, ..named(row, metric) }
}

/// The bad rate of a cluster that keeps its peak whatever is offered.
fn flat_top(e: &Experiment, all: &[Row], cell: &[&Row]) -> Option<f64> {
    let rates: Vec<&str> =
        e.axis.iter().filter(|a| a.key.contains("rate")).map(|a| a.name.as_str()).collect();
    let (good, finish) = (find(cell, metric::GOODPUT)?, find(cell, metric::FINISH_RATE)?);
    let finished = finish.value.filter(|rate| *rate > 0.0)?;
    if rates.is_empty() {
        return None;
    }
    let elsewhere = |r: &Row| -> Vec<(String, String)> {
        let others = r.axis_list().filter(|(name, _)| !rates.contains(name));
        others.map(|(name, value)| (name.to_string(), value.to_string())).collect()
    };
    let here = elsewhere(good);
    let of_system = all.iter().filter(|r| {
        r.scope == "all"
            && r.metric == good.metric
            && r.policy == good.policy
            && r.versus.is_empty()
    });
    let peak =
        of_system.filter(|r| elsewhere(r) == here).filter_map(|r| r.value).fold(0.0, f64::max);
    let offered = good.value? / finished;
    Some((1.0 - peak / offered).max(0.0))
}
