//! A sensitivity table: one assumption changed at a time, and what that does to the errors.

use crate::paper::FinishRates;
use crate::runs::{Progress, run};
use crate::score::{Row, rows, score};
use crate::table_file::{Preset, TableFile};
use orrery_scenario::SpecError;
use serde_json::json;
use std::fmt::Write;

/// One line of the table.
pub struct Line {
    name: String,
    keys: String,
    /// (system, cells, mean absolute error, mean finish rate), calibrated systems in file order.
    systems: Vec<(String, usize, Option<f64>, f64)>,
    rows: Vec<Row>,
}

/// A sensitivity table that has been run.
pub struct Sensitivity<'a> {
    table: &'a TableFile,
    lines: Vec<Line>,
}

impl<'a> Sensitivity<'a> {
    /// Runs the base and every variation, calibrated systems only.
    ///
    /// # Errors
    /// When a variation names no key of the table, or a run cannot be made.
    pub fn run(
        table: &'a TableFile,
        paper: &[FinishRates],
        progress: &dyn Progress,
    ) -> Result<Sensitivity<'a>, SpecError> {
        let mut lines =
            vec![line("as in the table's file".into(), String::new(), table, paper, progress)?];
        for vary in &table.vary {
            let changes = vary.set.iter().map(|(k, v)| format!("{k} = {v}"));
            let keys = changes.collect::<Vec<_>>().join("; ");
            lines.push(line(vary.name.clone(), keys, &table.with(vary)?, paper, progress)?);
        }
        Ok(Sensitivity { table, lines })
    }

    /// How many simulations that takes.
    pub fn simulations(table: &TableFile) -> u64 {
        let systems = table.system.iter().filter(|s| s.preset == Preset::Calibrated).count();
        let one = table.cases.names.len() * table.slo_x_p99.len() * systems * table.seeds as usize;
        (one * (table.vary.len() + 1)) as u64
    }

    /// The table as text.
    pub fn text(&self) -> String {
        let t = self.table;
        let mut out = format!("{}: {}\nsource: {}\n", t.id, t.title, t.source);
        let _ = writeln!(
            out,
            "mean absolute error against the paper, calibrated systems, {} seed(s), {} requests a run; \
             in brackets the mean finish rate\n",
            t.seeds, t.load.requests
        );
        let width = self.lines.iter().map(|l| l.name.chars().count()).max().unwrap_or(0);
        let mut head = format!("{:width$}", "changed");
        for s in &self.lines[0].systems {
            let _ = write!(head, "  {:>13}", s.0);
        }
        let _ = writeln!(out, "{head}  {:>6}", "all");
        for line in &self.lines {
            let _ = write!(out, "{:width$}", line.name);
            for (_, _, mae, rate) in &line.systems {
                let mae = mae.map_or("-".to_string(), |m| format!("{m:.3}"));
                let _ = write!(out, "  {:>13}", format!("{mae} ({rate:.2})"));
            }
            let all = line.all().map_or("-".to_string(), |m| format!("{m:.3}"));
            let _ = writeln!(out, "  {all:>6}");
        }
        self.fig_11(&mut out);
        out
    }

    /// Orloj's finish rate on the three-modal case as its parameter b changes (Fig. 11).
    fn fig_11(&self, out: &mut String) {
        let lines: Vec<&Line> =
            self.lines.iter().filter(|l| l.name.starts_with("orloj b =")).collect();
        if lines.is_empty() {
            return;
        }
        out.push_str("\nFig. 11, Orloj on three-modal; the paper: no line depends on b\n");
        let _ = write!(out, "{:20}", "SLO x P99");
        self.table.slo_x_p99.iter().for_each(|slo| {
            let _ = write!(out, "  {slo:>5}");
        });
        out.push('\n');
        for line in lines {
            let _ = write!(out, "{:20}", line.name);
            for row in line.rows.iter().filter(|r| r.case == "three-modal") {
                if self.table_system(row) == "orloj" {
                    let _ = write!(out, "  {:>5.3}", row.finish_rate);
                }
            }
            out.push('\n');
        }
    }

    fn table_system(&self, row: &Row) -> &str {
        let calibrated: Vec<&str> = self.lines[0].systems.iter().map(|s| s.0.as_str()).collect();
        calibrated[row.system]
    }

    /// The table as CSV.
    pub fn csv(&self) -> String {
        let mut out = String::from(
            "table,changed,keys,system,preset,cells,mean_abs_error,mean_finish_rate\n",
        );
        for line in &self.lines {
            for (system, cells, mae, rate) in &line.systems {
                let mae = mae.map_or(String::new(), |m| format!("{m:.6}"));
                let keys = line.keys.replace('"', "'");
                let _ = writeln!(
                    out,
                    "{},\"{}\",\"{keys}\",{system},calibrated,{cells},{mae},{rate:.6}",
                    self.table.id, line.name
                );
            }
        }
        out
    }

    /// The table as JSON.
    pub fn json(&self) -> String {
        let line = |l: &Line| {
            let systems: Vec<_> = l.systems.iter().map(|(s, cells, mae, rate)| {
                json!({"system": s, "cells": cells, "mean_abs_error": mae, "mean_finish_rate": rate})
            }).collect();
            json!({"changed": l.name, "keys": l.keys, "systems": systems})
        };
        let value = json!({
            "table": self.table.id, "assumptions": self.table,
            "lines": self.lines.iter().map(line).collect::<Vec<_>>(),
        });
        let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
        text.push('\n');
        text
    }
}

impl Line {
    fn all(&self) -> Option<f64> {
        let cells: usize = self.systems.iter().filter(|s| s.2.is_some()).map(|s| s.1).sum();
        let sum: f64 = self.systems.iter().filter_map(|s| s.2.map(|m| m * s.1 as f64)).sum();
        (cells > 0).then(|| sum / cells as f64)
    }
}

fn line(
    name: String,
    keys: String,
    table: &TableFile,
    paper: &[FinishRates],
    progress: &dyn Progress,
) -> Result<Line, SpecError> {
    let mut table = table.clone();
    table.system.retain(|s| s.preset == Preset::Calibrated);
    let results = run(&table, progress)?;
    let rows = rows(&table, &results, paper);
    let all: Vec<usize> = (0..table.system.len()).collect();
    let scores = score(&table, &rows, &all);
    let system = |&s: &usize| {
        let scored = scores.systems.iter().find(|x| x.system == s);
        let rates: Vec<f64> =
            rows.iter().filter(|r| r.system == s).map(|r| r.finish_rate).collect();
        let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
        let cells = scored.map_or(rates.len(), |x| x.cells);
        (table.system[s].name.clone(), cells, scored.map(|x| x.mae), mean)
    };
    Ok(Line { name, keys, systems: all.iter().map(system).collect(), rows })
}
