//! The errors against the numbers beside ours: of shares in percentage points, of all else in percent. A line
//! for each group of cells with the median, the mean and the largest error. It runs nothing.

use super::experiment::{ErrorsFile, Experiment};
use super::numbers::axes;
use orrery_report::page::{Field, Part, Table};
use orrery_results::{Flags, Row, UNITLESS, grouped, unit};
use orrery_sim::stats::mean;

/// The axis of cases that are not counted, with the reason.
pub const NOT_COUNTED: &str = "not_counted";

/// The cells of a system at the same values of the axes that make groups.
struct Group<'a> {
    key: Vec<String>,
    cells: Vec<&'a Row>,
}

/// A table of the groups for each metric that has numbers beside it; nothing where the experiment does not ask for it.
pub(super) fn parts(e: &Experiment, rows: &[Row]) -> Vec<Part> {
    let Some(file) = &e.errors else { return Vec::new() };
    let mut parts = Vec::new();
    for metric in &e.show {
        let own = rows.iter().filter(|r| r.metric == *metric);
        if metric == e.main() || own.clone().any(|r| r.paper.is_some()) {
            parts.extend(table(e, file, metric, rows));
        }
    }
    // The cases of each reason.
    let left = grouped(rows.iter().filter_map(|row| {
        // Without cases, the first axis tells cells apart.
        let case = axes(row).next().map_or("", |(_, value)| value);
        Some((row.axis(NOT_COUNTED)?, case))
    }));
    let left = left.iter().map(|(why, cases)| format!("not counted: {}: {why}", cases.join(", ")));
    parts.extend(Part::list(left.collect()));
    parts
}

/// The first lines of such a table, without where the largest error is.
pub(super) fn first(mut table: Table, lines: usize) -> Table {
    let more = table.rows.len().saturating_sub(lines);
    table.rows.truncate(lines);
    table.columns.retain(|column| column != "at");
    table.rows.iter_mut().for_each(|row| row.truncate(table.columns.len()));
    if more > 0 {
        table.caption += &format!("; {more} more lines with --details");
    }
    table
}

fn table(e: &Experiment, file: &ErrorsFile, metric: &str, rows: &[Row]) -> Option<Part> {
    let of = if unit(metric) == UNITLESS { "percentage points" } else { "percent" };
    let several = e.system.len() > 1;
    let all = groups(file, rows, metric, several);
    let endless =
        |g: &Group<'_>| g.cells.iter().filter(|r| r.paper.is_some() && is_infinite(r)).count();
    let with_endless = all.iter().any(|g| endless(g) > 0);
    let note = match with_endless {
        true => {
            "; no end: the queue grows without end or the number beside is 0, infinite in the median, \
             left out of the mean"
        }
        false => "",
    };
    let caption = format!(
        "errors of {} against {}, {of}{note}",
        orrery_results::metric::words(metric),
        file.beside
    );
    let keys = file.by.iter().map(String::as_str).chain(several.then_some("system"));
    let mut head: Vec<&str> = keys.collect();
    let keys = head.len();
    let beside = format!("with {}", file.beside);
    head.extend(["cells", &beside]);
    head.extend(with_endless.then_some("no end"));
    head.extend(["median", "mean", "largest", "at"]);
    let mut table = Table { keys, ..Table::new(caption, &head) };
    for group in all {
        let endless = endless(&group);
        let errors: Vec<(f64, &Row)> =
            group.cells.iter().filter_map(|row| Some((error(row)?, *row))).collect();
        let worst = errors.iter().max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
        let finite: Vec<f64> = errors.iter().map(|e| e.0.abs()).collect();
        let word = |x: Option<f64>| x.map_or("-".to_string(), |x| format!("{x:.2}"));
        let mut line = group.key;
        line.extend([group.cells.len().to_string(), (errors.len() + endless).to_string()]);
        line.extend(with_endless.then(|| endless.to_string()));
        line.push(word(median(&finite, endless)));
        line.push(word(mean(&finite)));
        line.push(worst.map_or("-".to_string(), |w| format!("{:+.2}", w.0)));
        line.push(worst.map_or(String::new(), |w| elsewhere(w.1, file)));
        table.rows.push(line.into_iter().map(Field::text).collect());
    }
    table.part()
}

/// The median of errors, of which some more are infinite; none if it is one of those.
fn median(finite: &[f64], infinite: usize) -> Option<f64> {
    let mut sorted = finite.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() + infinite;
    let upper = *sorted.get(n / 2)?;
    Some(if n % 2 == 1 { upper } else { (sorted[n / 2 - 1] + upper) / 2.0 })
}

/// Whether a latency is of a queue that grows as long as the run goes on.
pub(super) fn is_endless(row: &Row) -> bool {
    row.metric.starts_with("latency") && row.has_flag(Flags::DIVERGING)
}

/// Ours against the number beside it: percentage points of a share, percent of all else.
pub(super) fn error(row: &Row) -> Option<f64> {
    if unit(&row.metric) == UNITLESS {
        return points(row);
    }
    let (ours, theirs) = (row.value?, row.paper?);
    // No error where both are 0.
    let ratio = if ours == theirs { 1.0 } else { ours / theirs };
    (!is_infinite(row)).then_some(100.0 * (ratio - 1.0))
}

/// Whether an error in percent has no end.
fn is_infinite(row: &Row) -> bool {
    let of_zero = row.paper == Some(0.0) && row.value.is_some_and(|ours| ours != 0.0);
    is_endless(row) || (of_zero && unit(&row.metric) != UNITLESS)
}

/// Our share less the one beside it, in percentage points.
pub(super) fn points(row: &Row) -> Option<f64> {
    Some(100.0 * (row.value? - row.paper?))
}

fn groups<'a>(file: &ErrorsFile, rows: &'a [Row], metric: &str, by_system: bool) -> Vec<Group<'a>> {
    let mut all: Vec<Group<'a>> = Vec::new();
    let own = rows.iter().filter(|r| r.metric == metric && r.scope == "all");
    for row in own.filter(|r| r.versus.is_empty() && r.axis(NOT_COUNTED).is_none()) {
        let at = |name: &String| axes(row).find(|a| a.0 == name).map(|a| a.1.to_string());
        let own: Vec<String> = file.by.iter().map(|n| at(n).unwrap_or_default()).collect();
        // The group itself, and all that begin as it does.
        let least = if file.totals { 0 } else { own.len() };
        for known in least..=own.len() {
            let mut key = own.clone();
            key[known..].iter_mut().for_each(|value| *value = "all".to_string());
            if by_system {
                key.push(row.system.clone());
            }
            match all.iter_mut().find(|g| g.key == key) {
                Some(group) => group.cells.push(row),
                None => all.push(Group { key, cells: vec![row] }),
            }
        }
    }
    if file.totals {
        // Sums first, numbers by their size; systems as they were.
        let place = |g: &Group<'_>| -> (usize, Vec<(u64, String)>) {
            let own = &g.key[..file.by.len()];
            let sums = own.iter().filter(|value| *value == "all").count();
            let number = |value: &String| value.parse().unwrap_or(u64::MAX);
            (file.by.len() - sums, own.iter().map(|v| (number(v), v.clone())).collect())
        };
        all.sort_by_cached_key(place);
    }
    all
}

/// Where a row stands within its group.
fn elsewhere(row: &Row, file: &ErrorsFile) -> String {
    let own = axes(row).filter(|(name, _)| !file.by.iter().any(|by| by == name));
    own.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_report::page::Page;

    fn row(axes: &str, value: f64, paper: Option<f64>) -> Row {
        Row {
            axes: axes.into(),
            scope: "all".into(),
            metric: "finish_rate".into(),
            value: Some(value),
            paper,
            ..Row::default()
        }
    }

    #[test]
    fn a_group_has_its_mean_and_its_largest_error_and_counts_cells_without_a_number() {
        let e: ErrorsFile = toml::from_str("by = [\"kind\"]\nbeside = \"measured\"").unwrap();
        let rows = [
            row("kind=a;slo=1", 0.50, Some(0.51)),
            row("kind=a;slo=2", 0.90, Some(0.87)),
            row("kind=a;slo=3", 0.95, None),
            row("kind=b;slo=1", 0.20, None),
        ];
        let mut experiment = crate::registry::find("clockwork-fig-7").unwrap();
        experiment.system.truncate(1);
        experiment.errors = Some(e);
        let mut page = Page::new("errors", "");
        page.section("Errors", parts(&experiment, &rows));
        let text = page.to_text();
        let words = |line: &str| line.split_whitespace().map(str::to_string).collect::<Vec<_>>();
        let lines: Vec<Vec<String>> = text.lines().map(words).collect();
        assert!(text.contains("against measured, percentage points"), "{text}");
        let has = |line: &[&str]| lines.iter().any(|l| l == line);
        assert!(has(&["a", "3", "2", "2.00", "2.00", "+3.00", "slo=2"]), "{text}");
        assert!(has(&["b", "1", "0", "-", "-", "-"]), "{text}");
    }

    #[test]
    fn an_error_against_0_is_infinite_and_none_where_both_are_0() {
        let late = |value, paper| Row { metric: "late".into(), ..row("", value, Some(paper)) };
        assert_eq!([late(2.0, 0.0), late(0.0, 0.0)].map(|r| error(&r)), [None, Some(0.0)]);
        assert_eq!([late(2.0, 0.0), late(0.0, 0.0)].map(|r| is_infinite(&r)), [true, false]);
        assert_eq!(error(&row("", 0.5, Some(0.0))), Some(50.0));
    }
}
