//! A study's results as text and as wide CSV. It formats; nothing is computed but ratios.

use super::{Claim, Study, has};
use crate::cells::cell::seeds_of;
use crate::cells::goodput::{DEVICES, FLAGS, PEAK};
use orrery_results::{Row, UNITLESS, unit};
use std::fmt::Write;

/// The study as text: a block for each metric, then the claims.
pub fn text(study: &Study, rows: &[Row]) -> String {
    let mut out = format!("{}: {}\nsource: {}\n", study.id, study.title, study.source);
    if let Some(row) = rows.first() {
        let _ = writeln!(out, "seeds: {}; warm-up: {}", seeds_of(rows), row.warm_up);
    }
    for metric in &study.show {
        block(study, rows, metric, &mut out);
    }
    claims(study, rows, &mut out);
    if !study.assumption.is_empty() {
        out.push_str("\nassumed, where the paper is silent:\n");
        for assumption in &study.assumption {
            let _ = writeln!(out, "- {assumption}");
        }
    }
    flags(rows, &mut out);
    out
}

/// What a value is divided by when it is read, its unit then, and digits.
fn reading(metric: &str) -> (f64, &'static str, usize) {
    match unit(metric) {
        "ns" => (1e6, "ms", 2),
        "1/s" => (1.0, "requests/s", 0),
        UNITLESS => (1.0, "share", 3),
        "devices" => (1.0, "devices", 1),
        other => (1.0, other, 1),
    }
}

fn block(study: &Study, rows: &[Row], metric: &str, out: &mut String) {
    let (scale, unit, digits) = reading(metric);
    let of_metric: Vec<&Row> = rows
        .iter()
        .filter(|r| r.metric == metric && r.scope == "all" && r.versus.is_empty())
        .collect();
    let mut lines: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|r| r.scope == "all") {
        if !lines.contains(&row.axes.as_str()) {
            lines.push(&row.axes);
        }
    }
    let label = |axes: &str| axes.replace(';', "  ").replace("point=", "");
    let width = lines.iter().map(|l| label(l).chars().count()).max().unwrap_or(0).max(4);
    let _ = writeln!(out, "\n{metric}, {unit}");
    let (mut names, mut heads) = (format!("{:width$}", ""), format!("{:width$}", "cell"));
    let with_paper = |name: &str| of_metric.iter().any(|r| r.system == name && r.paper.is_some());
    for s in &study.system {
        if with_paper(&s.name) {
            let _ = write!(names, "  | {:<27}", s.name);
            let _ = write!(heads, "  | {:>9} {:>9} {:>7}", "ours", "paper", "error");
        } else {
            let w = s.name.chars().count().max(9);
            let _ = write!(names, "  | {:<w$}", s.name);
            let _ = write!(heads, "  | {:>w$}", "ours");
        }
    }
    let _ = writeln!(out, "{}\n{}", names.trim_end(), heads.trim_end());
    for line in lines {
        let mut text = format!("{:width$}", label(line));
        for s in &study.system {
            let row = of_metric.iter().find(|r| r.axes == line && r.system == s.name);
            let value = |x: f64| format!("{:.digits$}", x / scale);
            let ours = row.and_then(|r| r.value).map_or("-".to_string(), value);
            if with_paper(&s.name) {
                let (paper, error) = match row.and_then(|r| Some((r.value?, r.paper?))) {
                    Some((ours, paper)) if paper != 0.0 => {
                        (value(paper), format!("{:+.1} %", 100.0 * (ours / paper - 1.0)))
                    }
                    _ => (String::new(), String::new()),
                };
                let _ = write!(text, "  | {ours:>9} {paper:>9} {error:>7}");
            } else {
                let w = s.name.chars().count().max(9);
                let _ = write!(text, "  | {ours:>w$}");
            }
        }
        let _ = writeln!(out, "{}", text.trim_end());
    }
    intervals(study, &of_metric, metric, out);
}

/// The widest interval of each system: what the seeds leave open.
fn intervals(study: &Study, rows: &[&Row], metric: &str, out: &mut String) {
    if metric != PEAK && metric != DEVICES {
        return;
    }
    let widest = |name: &str| {
        let own = rows.iter().filter(|r| r.system == name);
        let half = |r: &&Row| {
            let (a, b) = r.ci95()?;
            Some((b - a) / 2.0 / r.value.filter(|x| *x > 0.0)?)
        };
        own.filter_map(half).reduce(f64::max)
    };
    let parts: Vec<String> = study
        .system
        .iter()
        .filter_map(|s| Some(format!("{} ±{:.1} %", s.name, 100.0 * widest(&s.name)?)))
        .collect();
    if !parts.is_empty() {
        let _ = writeln!(out, "widest 95 % interval over seeds: {}", parts.join(", "));
    }
}

/// What came of a claim in each of its cells: the cell's axes and the ratio.
pub(super) fn ratios(claim: &Claim, rows: &[Row]) -> Vec<(String, f64)> {
    let cells = |name: &str, at: &str| -> Vec<&Row> {
        let is_it = |r: &&Row| {
            r.metric == claim.metric && r.scope == "all" && r.system == name && has(&r.axes, at)
        };
        rows.iter().filter(is_it).collect()
    };
    // Without an answer there is no ratio; the text says of how many cells that is so.
    let of = cells(&claim.of, &claim.at).into_iter().filter_map(|r| Some((r, r.value?)));
    if claim.over.is_empty() {
        return of.map(|(r, value)| (r.axes.clone(), value)).collect();
    }
    let mut out = Vec::new();
    for (a, above) in of {
        let over = if claim.over_at.is_empty() {
            cells(&claim.over, &a.axes)
        } else {
            cells(&claim.over, &claim.over_at)
        };
        let same = over.iter().find(|b| !claim.over_at.is_empty() || b.axes == a.axes);
        if let Some(below) = same.and_then(|b| b.value).filter(|b| *b != 0.0) {
            out.push((a.axes.clone(), above / below));
        }
    }
    out
}

/// Of how many cells of the claim the system above the line has no answer.
fn unanswered(claim: &Claim, rows: &[Row]) -> usize {
    let is_it = |r: &&Row| {
        r.metric == claim.metric
            && r.scope == "all"
            && r.system == claim.of
            && has(&r.axes, &claim.at)
            && r.value.is_none()
    };
    rows.iter().filter(is_it).count()
}

fn claims(study: &Study, rows: &[Row], out: &mut String) {
    if study.claim.is_empty() {
        return;
    }
    out.push_str("\nthe paper's sentences, and what came out:\n");
    for claim in &study.claim {
        let ratios = ratios(claim, rows);
        let holds = |x: f64| {
            claim.at_least.is_none_or(|low| x >= low) && claim.at_most.is_none_or(|high| x <= high)
        };
        let good = ratios.iter().filter(|r| holds(r.1)).count();
        let verdict = match (good, ratios.len()) {
            (_, 0) => "not run".to_string(),
            (a, b) if a == b => "holds".to_string(),
            (0, _) => "DOES NOT HOLD".to_string(),
            (a, b) => format!("holds in {a} of {b} cells"),
        };
        let least = ratios.iter().map(|r| r.1).fold(f64::INFINITY, f64::min);
        let most = ratios.iter().map(|r| r.1).fold(f64::NEG_INFINITY, f64::max);
        let what = match (claim.over.is_empty(), ratios.len()) {
            (_, 0) => String::new(),
            (true, 1) => format!(": {least:.3}"),
            (true, _) => format!(": {least:.3} to {most:.3}"),
            (false, 1) => format!(": {}/{} is {least:.2}", claim.of, claim.over),
            (false, _) => format!(": {}/{} is {least:.2} to {most:.2}", claim.of, claim.over),
        };
        let without = unanswered(claim, rows);
        let without = match without {
            0 => String::new(),
            n => format!("; no answer in {n} more cell(s)"),
        };
        let _ = writeln!(out, "- {} -> {verdict}{what}{without}", claim.text);
    }
}

fn flags(rows: &[Row], out: &mut String) {
    let main = |r: &&Row| r.metric == PEAK || r.metric == DEVICES;
    for row in rows.iter().filter(main).filter(|r| r.value.is_none()) {
        let at = row.axes.replace(';', " ");
        let _ = writeln!(out, "\nno answer: {} at {at}: {}", row.system, row.reason);
    }
    for (flag, says) in FLAGS {
        let who: Vec<String> = rows
            .iter()
            .filter(main)
            .filter(|r| r.has_flag(flag) && (flag != "never-good" || r.value.is_some()))
            .map(|r| format!("{} at {}", r.system, r.axes.replace(';', " ")))
            .collect();
        if !who.is_empty() {
            let _ = writeln!(out, "\n{flag}: {says}\n  {}", who.join("; "));
        }
    }
}

/// One row for each cell: its axes, the policy, the main metric with its interval and the paper's
/// number, then what else is shown. For goodput studies the columns are
/// `AXES...,policy,preset,goodput_rps,ci95_low,ci95_high,batch_p50,paper_goodput_rps`.
pub fn wide(study: &Study, rows: &[Row]) -> String {
    let Some(main) = study.show.first() else { return String::new() };
    let all = |r: &&Row| r.scope == "all" && r.versus.is_empty();
    let heads: Vec<&Row> = rows.iter().filter(all).filter(|r| r.metric == *main).collect();
    let mut axes: Vec<&str> = Vec::new();
    for (name, _) in heads.iter().flat_map(|r| r.axis_list()) {
        if !axes.contains(&name) {
            axes.push(name);
        }
    }
    let searched = main == PEAK;
    let others: Vec<&String> = if searched { Vec::new() } else { study.show[1..].iter().collect() };
    let mut header: Vec<&str> = axes.clone();
    header.extend(["policy", "preset"]);
    if searched {
        header.extend(["goodput_rps", "ci95_low", "ci95_high", "batch_p50", "paper_goodput_rps"]);
    } else {
        header.extend([main.as_str(), "ci95_low", "ci95_high", "paper"]);
        header.extend(others.iter().map(|o| o.as_str()));
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |cells: &[String]| {
        // Memory can always be written.
        let _ = writer.write_record(cells);
    };
    write(&header.iter().map(ToString::to_string).collect::<Vec<_>>());
    // With its point: the type of a column is the same in every table.
    let number = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:?}"));
    for row in heads {
        let of = |metric: &str| {
            let same =
                |r: &&Row| r.axes == row.axes && r.system == row.system && r.metric == metric;
            rows.iter().filter(all).find(same).and_then(|r| r.value)
        };
        let mut cells: Vec<String> =
            axes.iter().map(|a| row.axis(a).unwrap_or_default().to_string()).collect();
        cells.extend([row.policy.clone(), row.preset.clone(), number(row.value)]);
        cells.extend([number(row.ci95_low), number(row.ci95_high)]);
        if searched {
            cells.push(number(of("batch_size_p50")));
        }
        cells.push(number(row.paper));
        cells.extend(others.iter().map(|m| number(of(m))));
        write(&cells);
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
