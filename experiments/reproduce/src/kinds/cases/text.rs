//! Cases as text: for each metric a line for each case, with what was measured, and ours with its error. It
//! formats.

use crate::errors::{self, NOT_COUNTED};
use crate::experiment::Experiment;
use crate::numbers::{WITHHELD, WITHHELD_MEANS, axes, is_withheld};
use orrery_report::tables;
use orrery_results::Row;
use orrery_results::metric::{self, Reading};
use std::fmt::Write;

/// A table for each metric that is shown.
pub fn blocks(e: &Experiment, rows: &[Row]) -> String {
    let mut out = String::new();
    if e.errors.as_ref().is_some_and(|errors| errors.groups_only) {
        return out;
    }
    for metric in &e.show {
        let own: Vec<&Row> =
            rows.iter().filter(|r| r.metric == *metric && r.scope == "all").collect();
        let _ = writeln!(out, "\n{metric}, {}", metric::reading(metric).unit);
        out.push_str(&table(e, metric, &own));
    }
    out
}

fn table(e: &Experiment, metric: &str, own: &[&Row]) -> String {
    let Reading { divisor, digits, unit } = metric::reading(metric);
    let beside = e.errors.as_ref().map_or("measured", |errors| &errors.beside);
    let sign = if unit == "share" { "points" } else { "%" };
    let mut head: Vec<&str> = vec!["case"];
    let first = e.point.first().map_or("", |p| &p.axes);
    let names: Vec<&str> = first.split(';').filter_map(|a| Some(a.split_once('=')?.0)).collect();
    // A row's number is for figures: the name of its case says which it is.
    head.extend(names.iter().filter(|n| ![NOT_COUNTED, "row"].contains(*n)));
    let left = head.clone();
    head.push(beside);
    let mut bars = Vec::new();
    for system in &e.system {
        bars.push(head.len());
        head.extend([&*system.name, sign]);
    }
    let mut table = tables::Text::new(&head);
    let value = |x: f64| format!("{:.digits$}", x / divisor);
    let (mut some, mut is_any_withheld) = (false, false);
    for point in &e.point {
        let here: Vec<&&Row> = own.iter().filter(|r| r.case == point.name).collect();
        let Some(first) = here.first() else { continue };
        some = true;
        let at = |name: &&str| axes(first).find(|a| a.0 == *name).map_or("", |a| a.1).to_string();
        let mut line: Vec<String> = left.iter().map(at).collect();
        let measured = here.iter().find_map(|r| r.paper);
        let kept_away = measured.is_none() && here.iter().any(|r| is_withheld(r, &e.withheld));
        is_any_withheld |= kept_away;
        let none = if kept_away { WITHHELD } else { "-" };
        line.push(measured.map_or(none.to_string(), value));
        for system in &e.system {
            let row = here.iter().find(|r| r.system == system.name);
            line.push(match row {
                Some(row) if errors::is_endless(row) => "no end".to_string(),
                row => row.and_then(|r| r.value).map_or("-".to_string(), value),
            });
            let error = row.and_then(|r| errors::error(r));
            line.push(error.map_or("-".to_string(), |x| format!("{x:+.1}")));
        }
        table.line(line);
    }
    let means = if is_any_withheld { format!("{WITHHELD_MEANS}\n") } else { String::new() };
    match some {
        true => table.left(&left).bars(bars).text() + &means,
        false => "no case has it\n".to_string(),
    }
}
