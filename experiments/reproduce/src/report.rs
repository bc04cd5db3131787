//! An experiment's results as text: a table for each metric that is shown, ours beside the paper's, then
//! the paper's sentences and what was assumed. It formats; nothing is computed but ratios.

use super::claims;
use super::errors;
use super::experiment::{Experiment, Parts};
use super::groups::{self, Group};
use super::numbers::{WITHHELD, WITHHELD_MEANS, axes, is_withheld};
use super::runner::{Cell, Runner};
use super::scores::{self, SystemScore};
use orrery_report::tables;
use orrery_results::Row;
use orrery_results::metric::{self, Reading};
use orrery_sweep::goodput::FLAGS;
use orrery_sweep::replication::{DEVICES, PEAK};
use orrery_sweep::rows::seeds_of;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The experiment as text.
pub fn text(e: &Experiment, runner: &dyn Runner, cells: &[Cell], rows: &[Row]) -> String {
    let mut out = format!("{}: {}\nsource: {}\n", e.id, e.title, e.source);
    let warm_up = rows.iter().map(|r| r.warm_up.as_str()).find(|w| !w.is_empty());
    if let Some(warm_up) = warm_up {
        let _ = writeln!(out, "seeds: {}; warm-up: {warm_up}", seeds_of(rows));
    }
    out.push_str(&runner.heading());
    match runner.blocks(rows) {
        Some(blocks) => out.push_str(&blocks),
        None if e.errors.as_ref().is_some_and(|errors| errors.groups_only) => {}
        None => blocks(e, rows, &mut out),
    }
    out.push_str(&errors::text(e, rows));
    out.push_str(&runner.notes(cells, rows));
    out.push_str(&claims::text(&e.claim, &e.left_out, rows));
    if !e.assumption.is_empty() {
        out.push_str("\nassumptions, where the paper says nothing:\n");
        e.assumption.iter().for_each(|a| _ = writeln!(out, "- {a}"));
    }
    flags(rows, &mut out);
    out
}

/// The errors of each system against the paper, where it has numbers of the main metric.
pub fn scores(e: &Experiment, rows: &[Row]) -> Vec<SystemScore> {
    groups::of(e).iter().flat_map(|g| scores::score(e, g, rows).systems).collect()
}

fn blocks(e: &Experiment, rows: &[Row], out: &mut String) {
    let (every, shown) = match e.kind.parts() {
        Some(Parts::Bins(_)) => some_bins(rows),
        _ => (1, Cow::Borrowed(rows)),
    };
    let in_parts = |r: &Row| r.axis(metric::FROM).is_some() && e.show.contains(&r.metric);
    if every > 1 && rows.iter().any(in_parts) {
        let _ =
            writeln!(out, "\nOne part of the time in {every} is shown; `--out` writes them all.");
    }
    for metric in &e.show {
        let own: Vec<&Row> = rows
            .iter()
            .filter(|r| r.metric == *metric && r.scope == "all" && r.versus.is_empty())
            .collect();
        let _ = writeln!(out, "\n{metric}, {}", metric::reading(metric).unit);
        for group in groups::of(e) {
            if !group.title.is_empty() {
                let _ = writeln!(out, "{}:", group.title);
            }
            out.push_str(&table(e, metric, &group, &shown, &own));
        }
        intervals(e, &own, metric, out);
    }
}

/// The most parts of the time that a table has lines for.
const BINS_MAX: usize = 14;

/// Rows with at most so many parts of the time, evenly spread; and one in how many that is.
fn some_bins(rows: &[Row]) -> (usize, Cow<'_, [Row]>) {
    let mut all: Vec<&str> = rows.iter().filter_map(|r| r.axis(metric::FROM)).collect();
    let begin = |from: &str| from.parse::<f64>().unwrap_or(0.0);
    all.sort_by(|a, b| begin(a).total_cmp(&begin(b)));
    all.dedup();
    let every = all.len().div_ceil(BINS_MAX).max(1);
    let kept: BTreeSet<&str> = all.into_iter().step_by(every).collect();
    let is_shown = |r: &&Row| r.axis(metric::FROM).is_none_or(|from| kept.contains(from));
    (every, Cow::Owned(rows.iter().filter(is_shown).cloned().collect()))
}

/// Where a row stands, by the axes that are not the same everywhere.
fn label(row: &Row, names: &[&str]) -> Vec<String> {
    let at = |name: &&str| {
        let value = axes(row).find(|(n, _)| n == name).map(|(_, v)| v);
        value.unwrap_or_default().to_string()
    };
    names.iter().map(at).collect()
}

/// A row of each place, and the axes that these have.
fn places<'a>(e: &Experiment, rows: &'a [Row]) -> (Vec<&'a Row>, Vec<&'a str>) {
    let mut places: Vec<&Row> = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    let mut seen = BTreeSet::new();
    let is_shown = |r: &&Row| r.scope == "all" && r.versus.is_empty() && e.show.contains(&r.metric);
    for row in rows.iter().filter(is_shown) {
        if !seen.insert((&row.case, &row.axes)) {
            continue;
        }
        places.push(row);
        for (name, _) in axes(row) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    (places, names)
}

/// A line for each place, a column for each system, with the paper's number and the error where there is
/// one.
fn table(e: &Experiment, metric: &str, group: &Group<'_>, rows: &[Row], own: &[&Row]) -> String {
    let Reading { divisor, unit, digits } = metric::reading(metric);
    let is_of = |r: &Row, i: usize| {
        let s = group.systems[i];
        r.system == s.name && r.preset == s.preset.word()
    };
    let (places, names) = places(e, rows);
    let has_number = |r: &Row| r.paper.is_some() || is_withheld(r, &e.withheld);
    let with_paper = |i: usize| own.iter().any(|r| is_of(r, i) && has_number(r));
    let mut head: Vec<String> = names.iter().map(|n| n.to_string()).collect();
    // A bar before each system that has the paper beside it, and after it.
    let mut bars = Vec::new();
    for (i, s) in group.systems.iter().enumerate() {
        if with_paper(i) || (i > 0 && with_paper(i - 1)) {
            bars.push(head.len());
        }
        head.push(s.name.clone());
        if with_paper(i) {
            head.extend(match &e.errors {
                Some(errors) if unit == "share" => [errors.beside.clone(), "points".to_string()],
                Some(errors) => [errors.beside.clone(), "error".to_string()],
                None => ["paper".to_string(), "error".to_string()],
            });
        }
    }
    let mut text = tables::Text::new(&head.iter().map(String::as_str).collect::<Vec<_>>());
    let value = |x: f64| format!("{:.digits$}", x / divisor);
    let mut last: Vec<String> = Vec::new();
    let mut is_any_withheld = false;
    for place in places {
        let at = label(place, &names);
        let mut line = at.clone();
        // What a line has in common with the one above it is not said again.
        for (i, cell) in line.iter_mut().enumerate() {
            if !last.is_empty() && last[..=i] == at[..=i] && i + 1 < names.len() {
                cell.clear();
            }
        }
        let mut any = false;
        for i in 0..group.systems.len() {
            let here = |r: &&&Row| is_of(r, i) && (&r.case, &r.axes) == (&place.case, &place.axes);
            let row = own.iter().find(here);
            any |= row.is_some();
            line.push(row.and_then(|r| r.value).map_or("-".to_string(), value));
            if with_paper(i) {
                let both = row.and_then(|r| Some((r.value?, r.paper?)));
                let kept_away = row.is_some_and(|r| is_withheld(r, &e.withheld));
                is_any_withheld |= kept_away;
                let none = match kept_away {
                    true => WITHHELD,
                    false if e.errors.is_some() => "-",
                    false => "",
                };
                line.push(both.map_or(none.to_string(), |(_, paper)| value(paper)));
                line.push(match (&e.errors, row.and_then(|r| errors::points(r))) {
                    (Some(_), points) if unit == "share" => {
                        points.map_or("-".to_string(), |x| format!("{x:+.2}"))
                    }
                    _ => both.map_or(String::new(), |(ours, paper)| error(unit, ours, paper)),
                });
            }
        }
        if any || e.kind.parts().is_none() {
            text.line(line);
            last = at;
        }
    }
    let means = if is_any_withheld { format!("{WITHHELD_MEANS}\n") } else { String::new() };
    text.left(&names).bars(bars).text() + &means
}

/// The error of a share is a difference, of all else a percentage.
fn error(unit: &str, ours: f64, paper: f64) -> String {
    match unit {
        "share" => format!("{:+.2}", ours - paper),
        _ if paper != 0.0 => format!("{:+.1} %", 100.0 * (ours / paper - 1.0)),
        _ => String::new(),
    }
}

/// The widest interval of each system: what the seeds leave open.
fn intervals(e: &Experiment, rows: &[&Row], metric: &str, out: &mut String) {
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
    let part = |name: &str| Some(format!("{name} ±{:.1} %", 100.0 * widest(name)?));
    let parts: Vec<String> = e.system.iter().filter_map(|s| part(&s.name)).collect();
    if !parts.is_empty() {
        let _ = writeln!(out, "widest 95 % interval over seeds: {}", parts.join(", "));
    }
}

/// The most cells that are named below a flag.
const FLAGGED_MAX: usize = 24;

/// What is to be known of answers before they are believed.
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
            .map(|r| match &*r.case {
                "" => format!("{} at {}", r.system, r.axes.replace(';', " ")),
                case => format!("{} at {case}", r.system),
            })
            .collect();
        let named = &who[..who.len().min(FLAGGED_MAX)];
        let more = match who.len() - named.len() {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        if !who.is_empty() {
            let _ = writeln!(out, "\n{flag}: {says}\n  {}{more}", named.join("; "));
        }
    }
}
