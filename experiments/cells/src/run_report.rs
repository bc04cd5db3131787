//! The rows of a scenario's policies, for reading.
//!
//! It formats; `cell` computes.

use super::advice::Advice;
use super::goodput::FLAGS;
use super::replication::{DEVICES, PEAK};
use super::rows::seeds_of;
use orrery_output::tables::Text;
use orrery_results::metric::{self, Column, Metric};
use orrery_results::{Flags, Row, difference_in, unit};
use orrery_scenario::scenario::caveats::CAVEATS;
use orrery_sim::request::End;
use std::fmt::Write;

/// Models and applications are shown where their finish rate is further from that of all than this.
const DIFFERS: f64 = 0.02;

/// The rows of one scenario as text: a line for each policy, its finish rate with the interval and the
/// difference from the first policy's; models and applications where they differ, or all of them with
/// `details`; with `advise`, what each run says about the number of its devices, which must not have
/// changed.
pub fn comparison(title: &str, rows: &[Row], advise: bool, details: bool) -> String {
    let mut out = format!("{title}\n\n");
    out.push_str(&whole(rows));
    out.push_str(&ends(rows));
    out.push_str(&scopes(rows, details));
    for cell in cells(rows) {
        let own: Vec<&Row> = cell.iter().filter(|r| r.versus.is_empty()).collect();
        device_text(&own, advise, &mut out);
    }
    notes(rows, &mut out);
    out
}

/// The rows of a sweep as text: for what it is about, and for the latency, a line for each combination and
/// a column for each policy. The other metrics are in the other forms.
pub fn pivot(title: &str, rows: &[Row]) -> String {
    let mut out = format!("{title}\n");
    let has = |metric: &str| rows.iter().any(|r| r.metric == metric && r.scope == "all");
    let searched = [PEAK, DEVICES].into_iter().find(|m| has(m));
    for metric in searched.into_iter().chain([metric::FINISH_RATE, metric::LATENCY_P99]) {
        if has(metric) {
            let (scale, word) =
                if unit(metric) == "ns" { (1e6, "ms") } else { (1.0, unit(metric)) };
            let _ = writeln!(out, "\n{metric}, {word}");
            out.push_str(&pivot_of(rows, metric, scale));
        }
    }
    for row in rows.iter().filter(|r| searched == Some(r.metric.as_str()) && r.value.is_none()) {
        let (policy, at) = (&row.policy, row.axes.replace(';', " "));
        let _ = writeln!(out, "no answer: {policy} at {at}: {}", row.reason);
    }
    notes(rows, &mut out);
    out
}

fn pivot_of(rows: &[Row], metric: &str, scale: f64) -> String {
    let own: Vec<&Row> = rows
        .iter()
        .filter(|r| r.metric == metric && r.scope == "all" && r.versus.is_empty())
        .collect();
    let (mut names, mut places, mut policies) = (Vec::new(), Vec::new(), Vec::new());
    for row in &own {
        row.axis_list().for_each(|(name, _)| once(&mut names, name));
        once(&mut places, row.axes.as_str());
        once(&mut policies, row.policy.as_str());
    }
    let mut table = Text::new(&[names.as_slice(), &policies].concat());
    for axes in places {
        let here: Vec<&&Row> = own.iter().filter(|r| r.axes == axes).collect();
        let at = |name: &&str| here[0].axis(name).unwrap_or_default().to_string();
        let of = |policy: &&str| {
            let row = here.iter().find(|r| r.policy == *policy);
            row.map_or("-".to_string(), |r| with_half(r, scale, if scale > 1.0 { 2 } else { 3 }))
        };
        table.line(names.iter().map(at).chain(policies.iter().map(of)).collect());
    }
    table.left(&names).text()
}

fn once<'a>(list: &mut Vec<&'a str>, word: &'a str) {
    if !list.contains(&word) {
        list.push(word);
    }
}

/// A value with half its interval, and a mark where there are too few samples.
fn with_half(row: &Row, scale: f64, digits: usize) -> String {
    let flag = if row.has_flag(Flags::FEW_SAMPLES) { "?" } else { "" };
    let half = row.ci95().map(|(low, high)| (high - low) / 2.0 / scale);
    let half = half.map_or(String::new(), |h| format!(" ±{h:.digits$}"));
    row.value.map_or("-".to_string(), |x| format!("{flag}{:.digits$}{half}", x / scale))
}

fn cells(rows: &[Row]) -> impl Iterator<Item = &[Row]> {
    rows.chunk_by(|a, b| a.axes == b.axes && a.policy == b.policy)
}

fn find<'a>(cell: &'a [Row], scope: &str, metric: &str) -> Option<&'a Row> {
    cell.iter().find(|r| r.scope == scope && r.metric == metric && r.versus.is_empty())
}

/// A line for each policy.
fn whole(rows: &[Row]) -> String {
    let difference =
        |cell: &[Row]| cell.iter().find(|r| difference_in(&r.metric).is_some()).cloned();
    let versus = rows.iter().find(|r| difference_in(&r.metric).is_some()).map(|r| r.versus.clone());
    let mut head = vec!["policy".to_string(), "requests".into(), "finish rate".into()];
    let costs = rows.iter().any(|r| r.metric == metric::MEAN_COST);
    head.extend(costs.then(|| "mean cost".to_string()));
    head.extend(versus.map(|policy| format!("less {policy}")));
    let compared = head.len() > 3 + usize::from(costs);
    let columns: Vec<(&Metric, Column)> =
        metric::all().iter().filter_map(|m| Some((m, m.run?))).collect();
    head.extend(columns.iter().map(|c| c.1.heading.to_string()));
    let mut table = Text::new(&head.iter().map(String::as_str).collect::<Vec<_>>());
    for cell in cells(rows) {
        let requests = find(cell, "all", metric::REQUESTS).and_then(|r| r.value);
        let rate = find(cell, "all", metric::FINISH_RATE);
        let mut line = vec![
            cell[0].policy.clone(),
            requests.map_or("-".to_string(), |n| n.to_string()),
            rate.map_or("-".to_string(), |r| with_half(r, 1.0, 4)),
        ];
        if costs {
            let cost = find(cell, "all", metric::MEAN_COST);
            line.push(cost.map_or("-".to_string(), |r| with_half(r, 1.0, 4)));
        }
        if compared {
            line.push(difference(cell).map_or(String::new(), |r| {
                let half = r.ci95().map(|(low, high)| format!(" ±{:.4}", (high - low) / 2.0));
                let value =
                    r.value.map_or(format!("no answer: {}", r.reason), |x| format!("{x:+.4}"));
                format!("{value}{}", half.unwrap_or_default())
            }));
        }
        line.extend(columns.iter().map(|(metric, Column { digits, .. })| {
            let row = find(cell, "all", metric.name);
            let flag = row.is_some_and(|r| r.has_flag(Flags::FEW_SAMPLES));
            let value = row
                .and_then(|r| r.value)
                .map(|x| format!("{:.digits$}", x / metric.reading.divisor));
            value.map_or("-".to_string(), |x| if flag { format!("?{x}") } else { x })
        }));
        table.line(line);
    }
    table.left(&["policy"]).text()
}

/// How requests ended that did not end in time, with their reasons.
fn ends(rows: &[Row]) -> String {
    let mut out = String::new();
    for cell in cells(rows) {
        let is_end = |r: &&Row| r.scope == "all" && End::ALL.iter().any(|e| e.word() == r.metric);
        let late = cell.iter().filter(is_end).filter(|r| r.metric != End::InTime.word());
        let words: Vec<String> = late
            .filter_map(|r| Some((r, r.value.filter(|n| *n > 0.0)?)))
            .map(|(r, n)| format!("{n} {}", r.metric.replace('_', " ")))
            .collect();
        if !words.is_empty() {
            let _ = writeln!(out, "  {}: {}", cell[0].policy, words.join(", "));
        }
    }
    if out.is_empty() {
        out
    } else {
        format!("\nnot in time, of the requests that counted:\n{out}")
    }
}

/// A line for each model and application of each policy, if asked for or worth a look.
fn scopes(rows: &[Row], details: bool) -> String {
    let mut table = Text::new(&["policy", "scope", "requests", "finish rate", "p50 ms", "p99 ms"]);
    let mut any = false;
    for cell in cells(rows) {
        let of_all = find(cell, "all", metric::FINISH_RATE).and_then(|r| r.value);
        let is_part =
            |r: &&Row| r.metric == metric::FINISH_RATE && r.versus.is_empty() && r.scope != "all";
        for row in cell.iter().filter(is_part) {
            let differs = row.value.zip(of_all).is_some_and(|(a, b)| (a - b).abs() > DIFFERS);
            if !details && !differs {
                continue;
            }
            any = true;
            let of = |metric: &str, scale: f64, digits: usize| {
                let value = find(cell, &row.scope, metric).and_then(|r| r.value);
                value.map_or("-".to_string(), |x| format!("{:.digits$}", x / scale))
            };
            table.line(vec![
                row.policy.clone(),
                row.scope.clone(),
                of(metric::REQUESTS, 1.0, 0),
                with_half(row, 1.0, 4),
                of(metric::LATENCY_P50, 1e6, 2),
                of(metric::LATENCY_P99, 1e6, 2),
            ]);
        }
    }
    let what = if details { "" } else { " that differ from the whole" };
    let text = table.left(&["policy", "scope"]).text();
    if any { format!("\nmodels and applications{what}:\n{text}") } else { String::new() }
}

/// How busy each of several devices was, and the advice about their number.
fn device_text(rows: &[&Row], advise: bool, out: &mut String) {
    let devices: Vec<String> = rows
        .iter()
        .filter(|r| r.scope.starts_with("device ") && r.metric == metric::UTILISATION)
        .map(|r| r.value.map_or("-".to_string(), |x| format!("{x:.3}")))
        .collect();
    if devices.is_empty() {
        return;
    }
    let policy = rows.first().map_or("", |r| r.policy.as_str());
    let _ = writeln!(out, "\n{policy}: devices busy {}", devices.join(" "));
    if let Some(advice) = Advice::of(rows).filter(|a| advise && a.devices > 1) {
        let _ = writeln!(out, "{policy}: advice (Symphony §3.5): {advice}");
    }
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
            "diverging: the number of requests in the system was still growing when arrivals ended; results depend on the run's length.",
        ),
        (Flags::PENDING, "pending: requests were still in the system when the run stopped."),
        (
            Flags::WIDE,
            "wide: the interval was still too wide when the limit of seeds was reached.",
        ),
    ]
    .into_iter()
    .chain(FLAGS.into_iter().filter(|f| f.0 != Flags::DIVERGING))
    .chain(CAVEATS)
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
