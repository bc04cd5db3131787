//! A view for reading and for spreadsheets: one row for each cell and scope, one column for each
//! axis and metric.

use crate::Row;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The rows with an axis or a metric in each column: `experiment,case,AXES...,system,preset,policy,
/// scope,METRICS...`; a metric with an interval, with a figure of the paper, or without an answer
/// somewhere, brings `METRIC_ci95_low`, `METRIC_ci95_high`, `METRIC_paper`, `METRIC_reason`. Rows of
/// differences are left out.
pub fn wide(rows: &[Row]) -> String {
    let mut table = Wide::default();
    table.see(rows);
    let mut out = table.header();
    out.push_str(&table.lines(rows));
    out.push_str(&table.rest());
    out
}

/// The same table from rows that come bit by bit, twice: first to see what its columns are, then to
/// write its lines.
#[derive(Clone, Debug, Default)]
pub struct Wide {
    axes: Vec<String>,
    metrics: Vec<Column>,
    /// Those of the last cell: more of it may come.
    held: Vec<Row>,
}

impl Wide {
    /// Takes the columns of rows.
    pub fn see(&mut self, rows: &[Row]) {
        for row in rows.iter().filter(|r| r.versus.is_empty()) {
            row.axis_list().for_each(|(name, _)| self.axis(name));
            let column = self.column(&row.metric);
            column.ci95 |= row.ci95_low.is_some();
            column.paper |= row.paper.is_some();
            column.reason |= row.value.is_none() || !row.reason.is_empty();
        }
    }

    fn axis(&mut self, name: &str) {
        if !self.axes.iter().any(|a| a == name) {
            self.axes.push(name.to_string());
        }
    }

    fn column(&mut self, metric: &str) -> &mut Column {
        let at = self.metrics.iter().position(|c| c.metric == metric).unwrap_or_else(|| {
            self.metrics.push(Column { metric: metric.to_string(), ..Column::default() });
            self.metrics.len() - 1
        });
        &mut self.metrics[at]
    }

    /// The first line.
    pub fn header(&self) -> String {
        let mut out = String::from("experiment,case");
        self.axes.iter().for_each(|a| write_cell(&mut out, a));
        ["system", "preset", "policy", "scope"].iter().for_each(|c| write_cell(&mut out, c));
        for column in &self.metrics {
            column.names().iter().for_each(|n| write_cell(&mut out, n));
        }
        out.push('\n');
        out
    }

    /// The lines of the next rows, but for the last cell.
    pub fn lines(&mut self, rows: &[Row]) -> String {
        let held = std::mem::take(&mut self.held);
        let own = rows.iter().filter(|r| r.versus.is_empty());
        let all: Vec<&Row> = held.iter().chain(own).collect();
        let last = all.chunk_by(is_one_cell).next_back().map_or(0, <[&Row]>::len);
        let (before, last) = all.split_at(all.len() - last);
        self.held = last.iter().map(|row| (*row).clone()).collect();
        self.text(before)
    }

    /// The lines of the last cell.
    pub fn rest(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        self.text(&held.iter().collect::<Vec<_>>())
    }

    fn text(&self, rows: &[&Row]) -> String {
        let mut out = String::new();
        for row in rows.chunk_by(is_one_cell).flat_map(by_scope) {
            let first = row[0];
            out.push_str(&quoted(&first.experiment));
            write_cell(&mut out, &first.case);
            let at = |a: &String| first.axis(a).unwrap_or_default();
            self.axes.iter().for_each(|a| write_cell(&mut out, at(a)));
            for word in [&first.system, &first.preset, &first.policy, &first.scope] {
                write_cell(&mut out, word);
            }
            for column in &self.metrics {
                let of_metric = row.iter().find(|r| r.metric == column.metric);
                column.write(of_metric.copied(), &mut out);
            }
            out.push('\n');
        }
        out
    }
}

/// Whether two neighbours are of one cell.
fn is_one_cell(a: &&Row, b: &&Row) -> bool {
    (&a.experiment, &a.case, &a.axes, &a.system, &a.preset, &a.policy)
        == (&b.experiment, &b.case, &b.axes, &b.system, &b.preset, &b.policy)
}

/// The rows of a cell by their scopes, in the order of the first of each. A metric that comes again is of another cell
/// with the same values.
fn by_scope<'a>(cell: &[&'a Row]) -> Vec<Vec<&'a Row>> {
    let mut at: BTreeMap<&str, usize> = BTreeMap::new();
    let mut out: Vec<Vec<&Row>> = Vec::new();
    for row in cell {
        let has = |line: &Vec<&Row>| line.iter().any(|r| r.metric == row.metric);
        match at.get(row.scope.as_str()) {
            Some(i) if !has(&out[*i]) => out[*i].push(row),
            _ => {
                at.insert(&row.scope, out.len());
                out.push(vec![row]);
            }
        }
    }
    out
}

#[derive(Clone, Debug, Default)]
struct Column {
    metric: String,
    ci95: bool,
    paper: bool,
    reason: bool,
}

impl Column {
    fn names(&self) -> Vec<String> {
        let m = &self.metric;
        let mut names = vec![m.clone()];
        if self.ci95 {
            names.extend([format!("{m}_ci95_low"), format!("{m}_ci95_high")]);
        }
        if self.paper {
            names.push(format!("{m}_paper"));
        }
        if self.reason {
            names.push(format!("{m}_reason"));
        }
        names
    }

    fn write(&self, row: Option<&Row>, out: &mut String) {
        let mut number = |x: Option<f64>| {
            out.push(',');
            if let Some(x) = x {
                // With its point: the type of a column is the same in every table.
                let _ = write!(out, "{x:?}");
            }
        };
        number(row.and_then(|r| r.value));
        if self.ci95 {
            number(row.and_then(|r| r.ci95_low));
            number(row.and_then(|r| r.ci95_high));
        }
        if self.paper {
            number(row.and_then(|r| r.paper));
        }
        if self.reason {
            write_cell(out, row.map_or("", |r| &r.reason));
        }
    }
}

fn write_cell(out: &mut String, text: &str) {
    out.push(',');
    out.push_str(&quoted(text));
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_and_metrics_become_columns() {
        let row = |slo: &str, metric: &str, value: f64| Row {
            experiment: "e".into(),
            axes: format!("slo_ms={slo}"),
            policy: "nexus[drop=none,batch=2]".into(),
            scope: "all".into(),
            metric: metric.into(),
            value: Some(value),
            ci95_low: (metric == "finish_rate").then_some(0.5),
            ci95_high: (metric == "finish_rate").then_some(0.75),
            ..Row::default()
        };
        let rows = [
            row("50", "requests", 10.0),
            row("50", "finish_rate", 0.6),
            row("60", "requests", 11.0),
        ];
        assert_eq!(
            wide(&rows),
            "experiment,case,slo_ms,system,preset,policy,scope,requests,finish_rate,\
             finish_rate_ci95_low,finish_rate_ci95_high\n\
             e,,50,,,\"nexus[drop=none,batch=2]\",all,10.0,0.6,0.5,0.75\n\
             e,,60,,,\"nexus[drop=none,batch=2]\",all,11.0,,,\n"
        );
    }

    #[test]
    fn rows_that_come_bit_by_bit_give_the_same_table() {
        let row = |i: usize| Row {
            axes: format!("slo_ms={}", i / 6),
            scope: ["all", "model a"][i / 3 % 2].into(),
            metric: ["requests", "finish_rate", "late"][i % 3].into(),
            value: (!i.is_multiple_of(7)).then_some(i as f64),
            versus: if i == 9 { "fifo".into() } else { String::new() },
            ..Row::default()
        };
        let rows: Vec<Row> = (0..24).map(row).collect();
        for size in 1..rows.len() {
            let mut table = Wide::default();
            rows.chunks(size).for_each(|part| table.see(part));
            let lines: String = rows.chunks(size).map(|part| table.lines(part)).collect();
            // What comes last has to be asked for.
            let text = table.header() + &lines + &table.rest();
            assert_eq!(text, wide(&rows), "{size} at a time");
        }
    }

    #[test]
    fn no_answer_is_an_empty_cell_with_a_reason_beside_it() {
        let row = |slo: &str, value: Option<f64>| {
            let axes = format!("slo_ms={slo}");
            let mut row = Row { axes, metric: "devices_needed".into(), value, ..Row::default() };
            if value.is_none() {
                row.without_answer("not even 4096, ever");
            }
            row
        };
        assert_eq!(
            wide(&[row("50", Some(3.0)), row("5", None)]),
            "experiment,case,slo_ms,system,preset,policy,scope,devices_needed,devices_needed_reason\n\
             ,,50,,,,,3.0,\n\
             ,,5,,,,,,\"not even 4096, ever\"\n"
        );
    }
}
