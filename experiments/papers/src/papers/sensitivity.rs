//! A sensitivity table: one assumption changed at a time, and what that does to the errors.

use crate::cells::cell;
use crate::paper::FinishRates;
use crate::runs::{Cell, Progress, run};
use crate::score::{Row, rows, score};
use crate::table_file::{Preset, TableFile};
use orrery_results::{RESULT_VERSION, Row as ResultRow, UNITLESS, seed_list, to_json};
use orrery_scenario::SpecError;
use orrery_sim::stats;
use serde_json::json;
use std::fmt::Write;

/// One line of the table.
pub struct Line {
    name: String,
    keys: String,
    /// Calibrated systems in file order.
    systems: Vec<SystemLine>,
    rows: Vec<Row>,
    seeds: Vec<u64>,
    warm_up: f64,
    spec_sha256: String,
    inputs_sha256: String,
}

/// The line in which nothing is changed.
const BASE: &str = "as in the table's file";

fn changed(name: &str) -> String {
    format!("changed={}", name.replace(';', ","))
}

/// A system under one change.
struct SystemLine {
    name: String,
    policy: String,
    cells: usize,
    mae: Option<f64>,
    /// Mean finish rate over its cells.
    rate: f64,
    /// The same by seed.
    by_seed: Vec<f64>,
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
        let mut lines = vec![line(BASE.into(), String::new(), table, paper, progress)?];
        for vary in &table.vary {
            let changes = vary.set.iter().map(|(k, v)| format!("{k} = {v}"));
            let keys = changes.collect::<Vec<_>>().join("; ");
            lines.push(line(vary.name.clone(), keys, &table.with(vary)?, paper, progress)?);
        }
        Ok(Sensitivity { table, lines })
    }

    /// Rows as it will have them, all values 0.5: for a picture of no data.
    pub fn rows_of_no_data(table: &TableFile) -> Vec<ResultRow> {
        let calibrated = || table.system.iter().filter(|s| s.preset == Preset::Calibrated);
        let row = |name: &str, system: &str| ResultRow {
            experiment: table.id.clone(),
            axes: changed(name),
            system: system.to_string(),
            preset: Preset::Calibrated.word().to_string(),
            scope: "all".to_string(),
            metric: "mean_finish_rate".to_string(),
            value: Some(0.5),
            ..ResultRow::default()
        };
        let names = std::iter::once(BASE).chain(table.vary.iter().map(|v| v.name.as_str()));
        names.flat_map(|name| calibrated().map(move |s| row(name, &s.name))).collect()
    }

    /// How many cells that takes.
    pub fn cells(table: &TableFile) -> u64 {
        let systems = table.system.iter().filter(|s| s.preset == Preset::Calibrated).count();
        let one = table.cases.names.len() * table.slo_x_p99.len() * systems;
        (one * (table.vary.len() + 1)) as u64
    }

    /// The one schema: errors and mean finish rates under the axis `changed`.
    pub fn rows(&self) -> Vec<ResultRow> {
        let mut out = Vec::new();
        for line in &self.lines {
            for s in &line.systems {
                let place = ResultRow {
                    experiment: self.table.id.clone(),
                    axes: changed(&line.name),
                    system: s.name.clone(),
                    preset: Preset::Calibrated.word().to_string(),
                    policy: s.policy.clone(),
                    scope: "all".to_string(),
                    unit: UNITLESS.to_string(),
                    samples: s.cells as u64,
                    seeds: seed_list(&line.seeds),
                    warm_up: format!("the first {} % of the run", 100.0 * line.warm_up),
                    spec_sha256: line.spec_sha256.clone(),
                    result_version: RESULT_VERSION,
                    inputs_sha256: line.inputs_sha256.clone(),
                    ..ResultRow::default()
                };
                if let Some(mae) = s.mae {
                    let metric = "mean_abs_error".to_string();
                    let paper_source = self.table.source.clone();
                    out.push(ResultRow { metric, value: Some(mae), paper_source, ..place.clone() });
                }
                let interval = stats::replications(&s.by_seed);
                out.push(ResultRow {
                    metric: "mean_finish_rate".to_string(),
                    value: Some(s.rate),
                    ci95_low: interval.map(|i| i.low),
                    ci95_high: interval.map(|i| i.high),
                    ci_method: interval.map_or(String::new(), |_| "replications".to_string()),
                    ..place
                });
            }
        }
        out
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
            let _ = write!(head, "  {:>13}", s.name);
        }
        let _ = writeln!(out, "{head}  {:>6}", "all");
        for line in &self.lines {
            let _ = write!(out, "{:width$}", line.name);
            for SystemLine { mae, rate, .. } in &line.systems {
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
        let calibrated: Vec<&str> = self.lines[0].systems.iter().map(|s| s.name.as_str()).collect();
        calibrated[row.system]
    }

    /// The table as CSV.
    pub fn csv(&self) -> String {
        let mut out = String::from(
            "table,changed,keys,system,preset,cells,mean_abs_error,mean_finish_rate\n",
        );
        for line in &self.lines {
            for SystemLine { name: system, cells, mae, rate, .. } in &line.systems {
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
            let systems: Vec<_> = l.systems.iter().map(|s| {
                json!({"system": s.name, "cells": s.cells, "mean_abs_error": s.mae, "mean_finish_rate": s.rate})
            }).collect();
            json!({"changed": l.name, "keys": l.keys, "systems": systems})
        };
        to_json(
            &self.rows(),
            &[
                ("table", self.table.id.clone().into()),
                ("assumptions", json!(self.table)),
                ("lines", self.lines.iter().map(line).collect()),
            ],
        )
    }
}

impl Line {
    fn all(&self) -> Option<f64> {
        let cells: usize = self.systems.iter().filter(|s| s.mae.is_some()).map(|s| s.cells).sum();
        let sum: f64 = self.systems.iter().filter_map(|s| s.mae.map(|m| m * s.cells as f64)).sum();
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
        let of_system = results.cells.iter().filter(|c| c.system == s);
        let by_cell: Vec<Vec<f64>> = of_system.map(Cell::finish_rates).collect();
        let at = |i: usize| cell::mean(&by_cell.iter().map(|c| c[i]).collect::<Vec<f64>>());
        let name = table.system[s].name.clone();
        let policy = table.system[s].policy.clone();
        let by_seed = (0..table.seeds as usize).map(at).collect();
        SystemLine { name, policy, cells, mae: scored.map(|x| x.mae), rate: mean, by_seed }
    };
    let systems = all.iter().map(system).collect();
    let hashes: Vec<&str> = results.cells.iter().map(|c| c.spec_sha256.as_str()).collect();
    let spec_sha256 = cell::spec_sha256(&hashes);
    let seeds = (0..u64::from(table.seeds)).collect();
    let (warm_up, inputs_sha256) = (table.load.warm_up, results.inputs_sha256.clone());
    Ok(Line { name, keys, systems, rows, seeds, warm_up, spec_sha256, inputs_sha256 })
}
