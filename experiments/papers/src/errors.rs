//! The errors of shares against the numbers beside them, in percentage points: a line for each group of
//! cells with its mean and its largest error. It runs nothing.

use super::experiment::{ErrorsFile, Experiment};
use super::numbers::axes;
use orrery_cells::rows::mean;
use orrery_output::tables;
use orrery_results::Row;
use std::fmt::Write;

/// The cells of a system at the same values of the axes that make groups.
struct Group<'a> {
    key: Vec<String>,
    cells: Vec<&'a Row>,
}

/// The table of the groups; empty where the experiment does not ask for it.
pub(super) fn text(e: &Experiment, rows: &[Row]) -> String {
    let Some(file) = &e.errors else { return String::new() };
    let metric = e.main();
    let mut out = format!("\nerrors of {metric} against {}, percentage points\n", file.beside);
    let mut head: Vec<&str> = file.by.iter().map(String::as_str).collect();
    let several = e.system.len() > 1;
    if several {
        head.push("system");
    }
    let left: Vec<&str> = head.iter().copied().chain(["at"]).collect();
    let beside = format!("with {}", file.beside);
    head.extend(["cells", &beside, "mean", "largest", "at"]);
    let mut table = tables::Text::new(&head);
    for group in groups(file, rows, metric, several) {
        let errors: Vec<(f64, &Row)> =
            group.cells.iter().filter_map(|row| Some((points(row)?, *row))).collect();
        let worst = errors.iter().max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
        let all: Vec<f64> = errors.iter().map(|e| e.0.abs()).collect();
        let mean = if all.is_empty() { "-".to_string() } else { format!("{:.2}", mean(&all)) };
        let mut line = group.key;
        line.extend([group.cells.len().to_string(), errors.len().to_string(), mean]);
        line.push(worst.map_or("-".to_string(), |w| format!("{:+.2}", w.0)));
        line.push(worst.map_or(String::new(), |w| elsewhere(w.1, file)));
        table.line(line);
    }
    let _ = write!(out, "{}", table.left(&left).text());
    out
}

/// Our share less the one beside it, in percentage points.
pub(super) fn points(row: &Row) -> Option<f64> {
    Some(100.0 * (row.value? - row.paper?))
}

fn groups<'a>(file: &ErrorsFile, rows: &'a [Row], metric: &str, by_system: bool) -> Vec<Group<'a>> {
    let mut all: Vec<Group<'a>> = Vec::new();
    for row in rows.iter().filter(|r| r.metric == metric && r.scope == "all") {
        if !row.versus.is_empty() {
            continue;
        }
        let at = |name: &String| axes(row).find(|a| a.0 == name).map(|a| a.1.to_string());
        let mut key: Vec<String> = file.by.iter().map(|n| at(n).unwrap_or_default()).collect();
        if by_system {
            key.push(row.system.clone());
        }
        match all.iter_mut().find(|g| g.key == key) {
            Some(group) => group.cells.push(row),
            None => all.push(Group { key, cells: vec![row] }),
        }
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
        let text = text(&experiment, &rows);
        let words = |line: &str| line.split_whitespace().map(str::to_string).collect::<Vec<_>>();
        let lines: Vec<Vec<String>> = text.lines().map(words).collect();
        assert!(text.contains("against measured, percentage points"), "{text}");
        let has = |line: &[&str]| lines.iter().any(|l| l == line);
        assert!(has(&["a", "3", "2", "2.00", "+3.00", "slo=2"]), "{text}");
        assert!(has(&["b", "1", "0", "-", "-"]), "{text}");
    }
}
