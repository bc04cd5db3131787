//! The rows of a scenario's policies, for reading.
//!
//! It formats; `cell` computes.

use super::advice::Advice;
use super::goodput::FLAGS;
use super::replication::{DEVICES, PEAK};
use super::rows::seeds_of;
use orrery_results::{Flags, Row, difference_in};
use orrery_sim::request::End;
use std::fmt::Write;

/// The columns: metric, heading, what a unit of it is divided by.
const COLUMNS: [(&str, &str, f64, usize); 8] = [
    ("requests", "requests", 1.0, 0),
    ("finish_rate", "finish", 1.0, 4),
    ("goodput_per_s", "good/s", 1.0, 2),
    ("latency_p50_ns", "p50 ms", 1e6, 3),
    ("latency_p90_ns", "p90 ms", 1e6, 3),
    ("latency_p99_ns", "p99 ms", 1e6, 3),
    ("latency_p99.9_ns", "p99.9 ms", 1e6, 3),
    ("queueing_mean_ns", "queue ms", 1e6, 3),
];

/// The rows of one experiment as text: a block for each cell, with intervals; with `advise`, what each
/// says about the number of its devices, which must not have changed.
pub fn text(title: &str, rows: &[Row], advise: bool) -> String {
    let mut out = format!("{title}\n");
    for cell in cells(rows) {
        let first = &cell[0];
        let axes = if first.axes.is_empty() { String::new() } else { format!("{}  ", first.axes) };
        let _ = writeln!(out, "\n{axes}{}", first.policy);
        head(&mut out);
        let own: Vec<&Row> = cell.iter().filter(|r| r.versus.is_empty()).collect();
        for scope in own.chunk_by(|a, b| a.scope == b.scope) {
            if scope.iter().any(|r| r.metric == "requests") {
                scope_text(scope, &mut out);
            }
        }
        searched_text(&own, &mut out);
        run_text(&own, advise, &mut out);
        for row in cell.iter().filter(|r| !r.versus.is_empty()) {
            difference_text(row, &mut out);
        }
    }
    notes(rows, &mut out);
    out
}

fn cells(rows: &[Row]) -> impl Iterator<Item = &[Row]> {
    rows.chunk_by(|a, b| a.axes == b.axes && a.policy == b.policy)
}

fn head(out: &mut String) {
    let _ = write!(out, "  {:24}", "");
    for (_, heading, ..) in COLUMNS {
        let _ = write!(out, " {heading:>10}");
    }
    out.push('\n');
}

fn scope_text(scope: &[&Row], out: &mut String) {
    let find = |metric: &str| scope.iter().find(|r| r.metric == metric);
    let _ = write!(out, "  {:24}", scope[0].scope);
    for (metric, _, unit, digits) in COLUMNS {
        let cell = match find(metric) {
            None => "-".to_string(),
            Some(r) => {
                let flag = if r.has_flag(Flags::FEW_SAMPLES) { "?" } else { "" };
                r.value.map_or("-".to_string(), |x| format!("{flag}{:.digits$}", x / unit))
            }
        };
        let _ = write!(out, " {cell:>10}");
    }
    out.push('\n');
    for (name, side) in [("95 % from", 0), ("to", 1)] {
        let bound = |metric: &str| {
            let (low, high) = find(metric)?.ci95()?;
            Some(if side == 0 { low } else { high })
        };
        if COLUMNS.iter().all(|c| bound(c.0).is_none()) {
            continue;
        }
        let _ = write!(out, "  {name:>24}");
        for (metric, _, unit, digits) in COLUMNS {
            let cell = bound(metric).map_or(String::new(), |x| format!("{:.digits$}", x / unit));
            let _ = write!(out, " {cell:>10}");
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
}

/// What only the whole run has.
fn run_text(rows: &[&Row], advise: bool, out: &mut String) {
    let all = |metric: &str| rows.iter().find(|r| r.scope == "all" && r.metric == metric);
    let count = |m: &&str| {
        let n = all(m)?.value.filter(|n| *n > 0.0)?;
        Some(format!("{m} {n}"))
    };
    let ends: Vec<String> = rows
        .iter()
        .filter(|r| r.scope == "all" && is_end(&r.metric))
        .filter_map(|r| count(&r.metric.as_str()))
        .collect();
    let _ = writeln!(out, "  ends: {}", ends.join(", "));
    let with_interval = |metric: &str| {
        let Some((r, x)) = all(metric).and_then(|r| Some((r, r.value?))) else {
            return "-".to_string();
        };
        match r.ci95() {
            Some((low, high)) => format!("{x:.3} ({low:.3} to {high:.3})"),
            None => format!("{x:.3}"),
        }
    };
    let devices: Vec<String> = rows
        .iter()
        .filter(|r| r.scope.starts_with("device ") && r.metric == "utilisation")
        .map(|r| r.value.map_or("-".to_string(), |x| format!("{x:.3}")))
        .collect();
    let each = if devices.is_empty() { String::new() } else { format!("; {}", devices.join(" ")) };
    let _ = writeln!(
        out,
        "  mean batch {}; device utilisation {}{each}",
        with_interval("mean_batch_size"),
        with_interval("utilisation")
    );
    if let Some(advice) = Advice::of(rows).filter(|a| advise && a.devices > 1) {
        let _ = writeln!(out, "  advice (Symphony §3.5): {advice}");
    }
}

/// What a search found, or why nothing.
fn searched_text(rows: &[&Row], out: &mut String) {
    for row in rows.iter().filter(|r| r.scope == "all" && [PEAK, DEVICES].contains(&&*r.metric)) {
        let what = row.metric.replace('_', " ");
        let interval = row.ci95().map_or(String::new(), |(a, b)| format!(" ({a:.1} to {b:.1})"));
        let value = match row.value {
            Some(x) => format!("{x:.1}{interval}"),
            None => format!("no answer: {}", row.reason),
        };
        let _ = writeln!(out, "  {what}: {value}");
    }
}

fn is_end(metric: &str) -> bool {
    End::ALL.iter().any(|e| e.word() == metric)
}

fn difference_text(row: &Row, out: &mut String) {
    let interval = match row.ci95() {
        Some((low, high)) => format!(" ({low:+.4} to {high:+.4}, {})", row.ci_method),
        None => String::new(),
    };
    let what = difference_in(&row.metric).unwrap_or(&row.metric).replace('_', " ");
    let value = match row.value {
        Some(x) => format!("{x:+.4}{interval}"),
        None => format!("no answer: {}", row.reason),
    };
    let _ = writeln!(out, "  {what} less {}'s: {value}", row.versus);
}

/// What must be known before the figures are believed, a sentence each.
pub fn notes_of(rows: &[Row]) -> Vec<String> {
    let mut out = String::new();
    notes(rows, &mut out);
    out.lines().filter(|l| !l.is_empty()).map(str::to_string).collect()
}

/// What must be known before the figures are believed.
fn notes(rows: &[Row], out: &mut String) {
    let mut methods: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|r| !r.ci_method.is_empty() && r.versus.is_empty()) {
        if !methods.contains(&row.ci_method.as_str()) {
            methods.push(&row.ci_method);
        }
    }
    out.push('\n');
    if !methods.is_empty() {
        let _ = writeln!(out, "95 % confidence intervals by {}.", methods.join(" and "));
    }
    if let Some(row) = rows.first() {
        let _ = writeln!(out, "Seeds: {}. Warm-up: {}.", seeds_of(rows), row.warm_up);
    }
    for (flag, says) in [
        (
            Flags::FEW_SAMPLES,
            "?: too few samples for this quantile (p99 needs 662, MLPerf's early-stopping bound); do not rely on it.",
        ),
        (
            Flags::CORRELATED,
            "correlated: neighbouring batches still depend on each other; intervals may be too narrow. Run longer.",
        ),
        (
            Flags::DIVERGING,
            "diverging: the number in the system was still growing when arrivals ended; figures depend on the run's length.",
        ),
        (Flags::PENDING, "pending: requests were still in the system when the run was stopped."),
        (
            Flags::WIDE,
            "wide: the limit of seeds was reached before the interval was as narrow as asked for.",
        ),
    ]
    .into_iter()
    .chain(FLAGS.into_iter().filter(|f| f.0 != Flags::DIVERGING))
    {
        let mut cells: Vec<&str> = Vec::new();
        for row in rows.iter().filter(|r| r.has_flag(flag)) {
            if !cells.contains(&row.policy.as_str()) {
                cells.push(&row.policy);
            }
        }
        if !cells.is_empty() {
            let named = if says.starts_with(flag) || says.starts_with('?') { "" } else { flag };
            let colon = if named.is_empty() { "" } else { ": " };
            let _ = writeln!(out, "{named}{colon}{says} ({})", cells.join(", "));
        }
    }
}
