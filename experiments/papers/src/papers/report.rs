//! A table's results as text, CSV and JSON. Same results, same bytes.
//!
//! It formats; what the figures mean is in `score`.

use crate::cells::cell;
use crate::paper::FinishRates;
use crate::runs::{Cell, Results};
use crate::score::{Row, Scores, improvement, rows, score};
use crate::table_file::{Preset, TableFile};
use orrery_results::{RESULT_VERSION, Row as ResultRow, to_json};
use orrery_sim::stats;
use orrery_traces::stats::BinStats;
use serde_json::{Value, json};
use std::fmt::Write;

/// Results, rows and scores of a table.
pub struct Report<'a> {
    table: &'a TableFile,
    results: &'a Results,
    rows: Vec<Row>,
    groups: Vec<Group>,
}

/// Systems that stand side by side: one preset of each.
struct Group {
    title: &'static str,
    systems: Vec<usize>,
    scores: Scores,
}

impl<'a> Report<'a> {
    /// Scores the results against the paper's figures (which may be none).
    pub fn new(table: &'a TableFile, results: &'a Results, paper: &[FinishRates]) -> Report<'a> {
        let rows = rows(table, results, paper);
        let with = |presets: &[Preset]| -> Vec<usize> {
            let kept = |i: &usize| presets.contains(&table.system[*i].preset);
            (0..table.system.len()).filter(kept).collect()
        };
        let group = |title, systems: Vec<usize>| Group {
            title,
            scores: score(table, &rows, &systems),
            systems,
        };
        let groups = vec![
            group(
                "calibrated for these tables, and references",
                with(&[Preset::Calibrated, Preset::Reference]),
            ),
            group(
                "as released (Orloj: as published; its code was not released)",
                with(&[Preset::Released, Preset::Paper]),
            ),
        ];
        let groups = groups.into_iter().filter(|g| !g.systems.is_empty()).collect();
        Report { table, results, rows, groups }
    }

    /// The table as text.
    pub fn text(&self) -> String {
        let t = self.table;
        let mut out = format!("{}: {}\nsource: {}\n", t.id, t.title, t.source);
        let _ = writeln!(
            out,
            "finish rate = answered in time / all requests; mean over {}; {} requests a run, \
             the first {:.0} % of the run not counted\n",
            self.results.seeds.in_words(),
            t.load.requests,
            100.0 * t.load.warm_up
        );
        for group in &self.groups {
            self.group_text(group, &mut out);
        }
        self.claims_text(&mut out);
        self.loads_text(&mut out);
        out
    }

    fn group_text(&self, group: &Group, out: &mut String) {
        let _ = writeln!(out, "{}:", capitalised(group.title));
        let width = self.rows.iter().map(|r| r.case.len()).max().unwrap_or(4).max(4);
        let (mut names, mut heads) =
            (format!("{:width$}  {:>4}", "", "SLO"), format!("{:width$}  {:>4}", "case", "xP99"));
        for &s in &group.systems {
            let name = &self.table.system[s].name;
            if self.in_paper(s) {
                let _ = write!(names, "  | {name:<16}");
                let _ = write!(heads, "  | {:>4} {:>5} {:>5}", "ours", "paper", "err");
            } else {
                let _ = write!(names, "  | {name:<6}");
                let _ = write!(heads, "  | {:>6}", "ours");
            }
        }
        let _ = writeln!(out, "{}\n{}", names.trim_end(), heads.trim_end());
        let in_group: Vec<&Row> =
            self.rows.iter().filter(|r| group.systems.contains(&r.system)).collect();
        let mut last_case = "";
        for line in in_group.chunks(group.systems.len()) {
            let case = if line[0].case == last_case { "" } else { line[0].case.as_str() };
            last_case = line[0].case.as_str();
            let mut text = format!("{case:width$}  {:>4}", line[0].slo_x_p99);
            for row in line {
                text.push_str(&self.cell_text(row));
            }
            let _ = writeln!(out, "{}", text.trim_end());
        }
        self.scores_text(group, out);
        out.push('\n');
    }

    fn in_paper(&self, system: usize) -> bool {
        matches!(
            self.table.system[system].name.as_str(),
            "clipper" | "nexus" | "clockwork" | "orloj"
        )
    }

    fn cell_text(&self, row: &Row) -> String {
        match (row.paper, row.error()) {
            (Some(paper), Some(error)) => {
                format!("  | {:>4.2} {paper:>5.2} {error:>+5.2}", row.finish_rate)
            }
            _ if self.in_paper(row.system) => {
                format!("  | {:>4.2} {:>5} {:>5}", row.finish_rate, "", "")
            }
            _ => format!("  | {:>6.2}", row.finish_rate),
        }
    }

    fn scores_text(&self, group: &Group, out: &mut String) {
        let scores = &group.scores;
        if scores.systems.is_empty() {
            let _ = writeln!(out, "no figure of the paper to compare with");
            return;
        }
        out.push_str("mean absolute error");
        for s in &scores.systems {
            let _ = write!(out, "  {} {:.3}", self.table.system[s.system].name, s.mae);
        }
        let _ = writeln!(out, "  all {:.3}", self.mae_of_all(scores));
        out.push_str("  of the leave-one-case-out median");
        for s in &scores.systems {
            let _ =
                write!(out, "  {} {}", self.table.system[s.system].name, number(s.median_mae, 3));
        }
        out.push_str("\n  skill (1 - error / that error)");
        for s in &scores.systems {
            let _ = write!(out, "  {} {}", self.table.system[s.system].name, signed(s.skill()));
        }
        let _ = writeln!(
            out,
            "\norder of two systems that the paper separates by more than 0.05: right in {} of {}",
            scores.order.hits, scores.order.of
        );
        let _ = writeln!(
            out,
            "another system above Orloj: {} of the paper's {} places come out so; {} places only with us",
            scores.beats_orloj.hits, scores.beats_orloj.of, scores.wrongly_beaten
        );
        if let Some(worst) = &scores.worst {
            let _ = writeln!(
                out,
                "worst cell: {} at {} x P99, {}: {:.2}, paper {:.2}",
                worst.case,
                worst.slo_x_p99,
                self.table.system[worst.system].name,
                worst.finish_rate,
                worst.paper.unwrap_or(f64::NAN)
            );
        }
        self.paired_text(group, out);
    }

    fn mae_of_all(&self, scores: &Scores) -> f64 {
        let cells: usize = scores.systems.iter().map(|s| s.cells).sum();
        scores.systems.iter().map(|s| s.mae * s.cells as f64).sum::<f64>() / cells.max(1) as f64
    }

    /// "51-80 % under tight SLO, over 100 % under relaxed" (Orloj, §5).
    fn claims_text(&self, out: &mut String) {
        let Some(group) = self.groups.first() else { return };
        let named =
            |name: &str| group.systems.iter().copied().find(|&s| self.table.system[s].name == name);
        let Some(orloj) = named("orloj") else { return };
        let mut lines = String::new();
        for name in ["clipper", "nexus", "clockwork"] {
            let Some(other) = named(name) else { continue };
            let mut line = format!("  over {name:<10}");
            let mut any = false;
            for &slo in &self.table.slo_x_p99 {
                if let Some((ours, paper)) = improvement(&self.rows, orloj, other, slo) {
                    any = true;
                    let _ = write!(
                        line,
                        "  {slo} x P99: {:+.0} % ({:+.0} %)",
                        100.0 * ours,
                        100.0 * paper
                    );
                }
            }
            if any {
                let _ = writeln!(lines, "{line}");
            }
        }
        if !lines.is_empty() {
            out.push_str(
                "The paper's claim: finish rate 51-80 % better under tight SLOs, over 100 % under relaxed \
                 ones.\nOrloj's mean finish rate over this table's cases against each system's, ours (the \
                 paper's table):\n",
            );
            out.push_str(&lines);
            out.push('\n');
        }
    }

    /// What every table must say of its arrivals.
    fn loads_text(&self, out: &mut String) {
        let t = self.table;
        let of = match t.load.of {
            crate::table_file::Normalise::Mean => "mean",
            crate::table_file::Normalise::P99 => "P99",
        };
        let _ = writeln!(
            out,
            "Arrivals (offered load = rate x {of} execution time alone = {}; statistics of the first seed):",
            t.load.offered
        );
        let _ = writeln!(
            out,
            "  {:20} {:>8} {:>8} {:>8}  {:>12}  {:>12}  origin",
            "case", "mean ms", "P99 ms", "rate/s", "1 s CoV p/m", "60 s CoV p/m"
        );
        for load in &self.results.loads {
            let _ = writeln!(
                out,
                "  {:20} {:>8.2} {:>8.2} {:>8.2}  {:>12}  {:>12}  {}",
                load.case,
                load.mean_ms,
                load.p99_ms,
                load.rate_per_s,
                bins(load.stats.second),
                bins(load.stats.minute),
                load.origin
            );
        }
    }

    /// The one schema: every metric of every cell, the paper's figures beside finish rates, and each
    /// group's systems compared with its Orloj.
    pub fn rows(&self) -> Vec<ResultRow> {
        let mut out = Vec::new();
        for (cell, scored) in self.results.cells.iter().zip(&self.rows) {
            let place = self.place(cell);
            for mut row in cell::rows(&place, &self.results.seeds, &cell.runs) {
                if row.scope == "all" && row.metric == "finish_rate" {
                    row.paper = scored.paper;
                    row.abs_error = scored.error().map(f64::abs);
                    if scored.paper.is_some() {
                        row.paper_source = self.table.source.clone();
                    }
                }
                out.push(row);
            }
            let base = self.orloj_beside(cell.system).filter(|o| *o != cell.system);
            let base = base.and_then(|o| {
                let same = |c: &&Cell| {
                    c.system == o && c.case == cell.case && c.slo_x_p99 == cell.slo_x_p99
                };
                self.results.cells.iter().find(same)
            });
            out.extend(base.and_then(|b| {
                cell::difference(&place, &self.table.system[b.system].policy, &cell.runs, &b.runs)
            }));
        }
        out
    }

    /// The Orloj of a system's group.
    fn orloj_beside(&self, system: usize) -> Option<usize> {
        let group = self.groups.iter().find(|g| g.systems.contains(&system))?;
        group.systems.iter().copied().find(|&s| self.table.system[s].name == "orloj")
    }

    fn place(&self, cell: &Cell) -> ResultRow {
        let system = &self.table.system[cell.system];
        ResultRow {
            experiment: self.table.id.clone(),
            case: cell.case.clone(),
            axes: format!("slo_x_p99={}", cell.slo_x_p99),
            system: system.name.clone(),
            preset: system.preset.word().to_string(),
            policy: system.policy.clone(),
            warm_up: format!("the first {} % of the run", 100.0 * self.table.load.warm_up),
            spec_sha256: cell.spec_sha256.clone(),
            result_version: RESULT_VERSION,
            inputs_sha256: self.results.inputs_sha256.clone(),
            ..ResultRow::default()
        }
    }

    /// Each system against Orloj, seed by seed, over all cells of its group.
    fn paired_text(&self, group: &Group, out: &mut String) {
        let Some(&orloj) = group.systems.iter().find(|&&s| self.table.system[s].name == "orloj")
        else {
            return;
        };
        let by_seed = |system: usize| -> Vec<f64> {
            let cells: Vec<Vec<f64>> = self
                .results
                .cells
                .iter()
                .filter(|c| c.system == system)
                .map(Cell::finish_rates)
                .collect();
            let seeds = cells.iter().map(Vec::len).min().unwrap_or(0);
            let of = |i: usize| cell::mean(&cells.iter().map(|c| c[i]).collect::<Vec<f64>>());
            (0..seeds).map(of).collect()
        };
        let base = by_seed(orloj);
        let mut line = String::new();
        for &s in group.systems.iter().filter(|&&s| s != orloj) {
            let Some(i) = stats::paired(&by_seed(s), &base) else { continue };
            let (name, half) = (&self.table.system[s].name, 0.5 * i.width());
            let _ = write!(line, "  {name} {:+.3} ± {half:.3}", i.mean);
        }
        if !line.is_empty() {
            let _ = writeln!(
                out,
                "finish rate less Orloj's, mean over cells (95 %, paired by seed)\n{line}"
            );
        }
    }

    /// The finish rates as CSV: a view of the rows.
    pub fn csv(&self) -> String {
        let mut out = String::from(
            "table,case,slo_x_p99,system,preset,finish_rate,ci95_low,ci95_high,paper,abs_error\n",
        );
        for r in &self.rows {
            let s = &self.table.system[r.system];
            let _ = writeln!(
                out,
                "{},{},{:?},{},{},{:.6},{},{},{},{}",
                self.table.id,
                r.case,
                r.slo_x_p99,
                s.name,
                s.preset.word(),
                r.finish_rate,
                cell(r.ci95.map(|c| c.0)),
                cell(r.ci95.map(|c| c.1)),
                r.paper.map_or(String::new(), |p| format!("{p:?}")),
                cell(r.error().map(f64::abs)),
            );
        }
        out
    }

    /// Rows, scores, loads and the table's file as JSON.
    pub fn json(&self) -> String {
        let scores = |g: &Group| {
            g.scores.systems.iter().map(|s| {
                let system = &self.table.system[s.system];
                json!({
                    "system": system.name, "preset": system.preset.word(), "cells": s.cells,
                    "mean_abs_error": s.mae, "median_mean_abs_error": s.median_mae, "skill": s.skill(),
                })
            }).collect::<Vec<Value>>()
        };
        let load = |l: &crate::runs::Load| {
            json!({
                "case": l.case, "origin": l.origin, "rate_per_s": l.rate_per_s,
                "mean_ms": l.mean_ms, "p99_ms": l.p99_ms,
                "cov_1s": l.stats.second.map(|b| b.cov), "peak_to_mean_1s": l.stats.second.map(|b| b.peak_to_mean()),
                "cov_60s": l.stats.minute.map(|b| b.cov), "peak_to_mean_60s": l.stats.minute.map(|b| b.peak_to_mean()),
            })
        };
        to_json(
            &self.rows(),
            &[
                ("table", self.table.id.clone().into()),
                ("source", self.table.source.clone().into()),
                ("assumptions", json!(self.table)),
                ("scores", self.groups.iter().flat_map(scores).collect()),
                ("loads", self.results.loads.iter().map(load).collect()),
            ],
        )
    }
}

fn bins(b: Option<BinStats>) -> String {
    b.map_or("-".to_string(), |b| format!("{:.2} {:.2}", b.cov, b.peak_to_mean()))
}

fn cell(x: Option<f64>) -> String {
    x.map_or(String::new(), |x| format!("{x:.6}"))
}

fn number(x: Option<f64>, digits: usize) -> String {
    x.map_or("-".to_string(), |x| format!("{x:.digits$}"))
}

fn signed(x: Option<f64>) -> String {
    x.map_or("-".to_string(), |x| format!("{x:+.2}"))
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |c| c.to_uppercase().chain(chars).collect())
}
