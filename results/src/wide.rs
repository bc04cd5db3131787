//! A view for reading and for spreadsheets: one row for each cell and scope, one column for each
//! axis and metric.

use crate::Row;
use std::fmt::Write;

/// The rows with an axis or a metric in each column: `experiment,case,AXES...,system,preset,policy,
/// scope,METRICS...`; a metric with an interval, with a figure of the paper, or without an answer
/// somewhere, brings `METRIC_ci95_low`, `METRIC_ci95_high`, `METRIC_paper`, `METRIC_reason`. Rows of
/// differences are left out.
pub fn wide(rows: &[Row]) -> String {
    let rows: Vec<&Row> = rows.iter().filter(|r| r.versus.is_empty()).collect();
    let mut axes: Vec<&str> = Vec::new();
    let mut metrics: Vec<Column<'_>> = Vec::new();
    for row in &rows {
        for (name, _) in row.axis_list() {
            if !axes.contains(&name) {
                axes.push(name);
            }
        }
        let at = match metrics.iter().position(|c| c.metric == row.metric) {
            Some(at) => at,
            None => {
                metrics.push(Column {
                    metric: &row.metric,
                    ci95: false,
                    paper: false,
                    reason: false,
                });
                metrics.len() - 1
            }
        };
        metrics[at].ci95 |= row.ci95_low.is_some();
        metrics[at].paper |= row.paper.is_some();
        metrics[at].reason |= row.value.is_none();
    }
    let mut out = String::from("experiment,case");
    axes.iter().for_each(|a| write_cell(&mut out, a));
    ["system", "preset", "policy", "scope"].iter().for_each(|c| write_cell(&mut out, c));
    for column in &metrics {
        column.names().iter().for_each(|n| write_cell(&mut out, n));
    }
    out.push('\n');
    for cell in cells(&rows) {
        let first = cell[0];
        out.push_str(&quoted(&first.experiment));
        write_cell(&mut out, &first.case);
        axes.iter().for_each(|a| write_cell(&mut out, first.axis(a).unwrap_or_default()));
        for word in [&first.system, &first.preset, &first.policy, &first.scope] {
            write_cell(&mut out, word);
        }
        for column in &metrics {
            let row = cell.iter().find(|r| r.metric == column.metric);
            column.write(row.copied(), &mut out);
        }
        out.push('\n');
    }
    out
}

struct Column<'a> {
    metric: &'a str,
    ci95: bool,
    paper: bool,
    reason: bool,
}

impl Column<'_> {
    fn names(&self) -> Vec<String> {
        let m = self.metric;
        let mut names = vec![m.to_string()];
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

/// Neighbouring rows of one cell and scope.
fn cells<'a>(rows: &'a [&'a Row]) -> impl Iterator<Item = &'a [&'a Row]> {
    let place = |r: &Row| {
        let parts = [&r.experiment, &r.case, &r.axes, &r.system, &r.preset, &r.policy, &r.scope];
        parts.map(Clone::clone)
    };
    rows.chunk_by(move |a, b| place(a) == place(b))
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
