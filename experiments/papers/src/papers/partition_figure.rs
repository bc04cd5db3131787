//! `orrery reproduce symphony-fig-16`: how evenly the solvers divide many random configurations.

use super::file::{Method, PartitionFile};
use crate::cells::cell::spec_sha256;
use crate::cli::Reproduce;
use crate::output::{Forms, Progress};
use orrery_partition::Imbalance;
use orrery_results::{Flags, RESULT_VERSION, Row, UNITLESS, seed_list, to_json, wide};
use orrery_scenario::SpecError;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

const FIG_16: &str = include_str!("../../partitions/symphony-fig-16.toml");
/// Points of the CDF.
const QUANTILES: [(&str, f64); 4] = [("p10", 0.1), ("p50", 0.5), ("p90", 0.9), ("max", 1.0)];
/// As for latencies (docs/formats.md): samples that a p90, or a p10, asks for.
const SAMPLES_LEAST: u64 = 64;

/// A figure about partitions, from its file.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Its id on the command line.
    pub id: String,
    /// One line on what it shows.
    pub title: String,
    /// Paper and figure.
    pub source: String,
    /// Seconds that a run takes on 2 cores, for `orrery list`.
    pub expected_s: u32,
    configurations: u32,
    assumption: Vec<String>,
    problem: PartitionFile,
}

/// What a solver made of the configurations.
struct Column {
    method: Method,
    seeds: Vec<u64>,
    found: Vec<Imbalance>,
}

impl Figure {
    /// The ids of the shipped figures.
    pub const IDS: &[&str] = &["symphony-fig-16"];

    /// All shipped figures.
    ///
    /// # Errors
    /// When one is damaged.
    pub fn shipped() -> Result<Vec<Figure>, SpecError> {
        Ok(vec![read()?])
    }

    /// The figure of an id, if there is one.
    ///
    /// # Errors
    /// When it is damaged.
    pub fn find(id: &str) -> Result<Option<Figure>, SpecError> {
        if Figure::IDS.contains(&id) { read().map(Some) } else { Ok(None) }
    }

    /// Runs it: `--seeds` is the number of configurations, `--case` chooses solvers.
    ///
    /// # Errors
    /// When a solver is unknown, not in this build, or finds nothing.
    pub fn reproduce(&self, args: &Reproduce) -> Result<Forms, SpecError> {
        let configurations = args.seeds.unwrap_or(self.configurations);
        let seeds: Vec<u64> = (1..=u64::from(configurations)).collect();
        let column = |method| Column { method, seeds: seeds.clone(), found: Vec::new() };
        let mut columns: Vec<Column> = methods(&args.cases)?.into_iter().map(column).collect();
        let progress =
            Progress::new(columns.iter().map(|c| c.seeds.len() as u64).sum(), "partitions");
        for column in &mut columns {
            let run = |&seed: &u64| {
                let found = self.run(column.method, seed);
                progress.step();
                found
            };
            let found = column.seeds.par_iter().with_max_len(1).map(run).collect::<Result<_, _>>();
            column.found = found.map_err(|e| e.in_file(&self.id))?;
        }
        drop(progress);
        let rows: Vec<Row> = columns.iter().flat_map(|c| self.rows(c)).collect();
        Ok(Forms {
            table: self.text(&columns, &rows),
            wide: wide(&rows),
            json: to_json(&rows, &[("figure", self.id.clone().into())]),
            rows,
        })
    }

    fn run(&self, method: Method, seed: u64) -> Result<Imbalance, SpecError> {
        let named = self.problem.problem(seed)?;
        let solved = self.problem.solve(&named, method, seed)?;
        Ok(named.problem.imbalance(&solved.assignment))
    }

    fn rows(&self, column: &Column) -> Vec<Row> {
        let policy = self.problem.in_words(column.method);
        let spec = toml::to_string(&self.problem).unwrap_or_default();
        let seeds = seed_list(&column.seeds);
        let samples = column.found.len() as u64;
        let mut rows = Vec::new();
        for (what, value) in FACTORS {
            let mut sorted: Vec<f64> = column.found.iter().map(value).collect();
            sorted.sort_by(f64::total_cmp);
            for (name, share) in QUANTILES {
                let mut row = Row {
                    experiment: self.id.clone(),
                    system: column.method.name().to_string(),
                    preset: preset(column.method).to_string(),
                    policy: policy.clone(),
                    scope: "all".to_string(),
                    metric: format!("{what}_imbalance_{name}"),
                    unit: UNITLESS.to_string(),
                    value: Some(quantile(&sorted, share)),
                    samples,
                    seeds: seeds.clone(),
                    spec_sha256: spec_sha256(&[&spec, &policy, &seeds]),
                    result_version: RESULT_VERSION,
                    ..Row::default()
                };
                if share != 0.5 && share != 1.0 && samples < SAMPLES_LEAST {
                    row.flag(Flags::FEW_SAMPLES);
                }
                rows.push(row);
            }
        }
        rows
    }

    fn text(&self, columns: &[Column], rows: &[Row]) -> String {
        let mut out = format!("{}: {}\nsource: {}\n", self.id, self.title, self.source);
        for (what, _) in FACTORS {
            let _ = writeln!(out, "\nimbalance of {what}, (max - min) / mean, over configurations");
            let _ = write!(out, "{:13} {:>14}", "solver", "configurations");
            QUANTILES.iter().for_each(|(name, _)| _ = write!(out, " {name:>9}"));
            out.push('\n');
            for column in columns {
                let _ = write!(out, "{:13} {:>14}", column.method.name(), column.found.len());
                for (name, _) in QUANTILES {
                    let metric = format!("{what}_imbalance_{name}");
                    let is_it = |r: &&Row| r.metric == metric && r.system == column.method.name();
                    let value = rows.iter().find(is_it).and_then(|r| r.value).unwrap_or(f64::NAN);
                    let _ = write!(out, " {value:>9.5}");
                }
                out.push('\n');
            }
        }
        claim(columns, &mut out);
        let bounds: Vec<String> = columns.iter().map(|c| self.problem.in_words(c.method)).collect();
        let _ = writeln!(out, "\nsolvers: {}", bounds.join(", "));
        out.push_str("\nassumed, where the paper is silent:\n");
        self.assumption.iter().for_each(|a| _ = writeln!(out, "- {a}"));
        out
    }
}

/// A factor, and how metrics name it.
type Factor = (&'static str, fn(&Imbalance) -> f64);
const FACTORS: [Factor; 2] =
    [("rate", |i: &Imbalance| i.rate), ("memory", |i: &Imbalance| i.memory)];

fn read() -> Result<Figure, SpecError> {
    toml::from_str(FIG_16)
        .map_err(|e| SpecError::Parse { file: Figure::IDS[0].to_string(), message: e.to_string() })
}

/// The paper's sentence (A.1): any solver is significantly better than random assignments.
fn claim(columns: &[Column], out: &mut String) {
    let Some(random) = columns.iter().find(|c| c.method == Method::Random) else { return };
    for column in columns.iter().filter(|c| c.method != Method::Random) {
        let pairs = || column.found.iter().zip(&random.found);
        let better = pairs().filter(|(a, b)| a.rate < b.rate && a.memory < b.memory).count();
        let verdict = if better == pairs().count() { "holds" } else { "does not hold" };
        let _ = writeln!(
            out,
            "\n{verdict}: {} is better than random by both factors (A.1): {better} of {}",
            column.method.name(),
            pairs().count()
        );
    }
}

/// The solvers that were asked for; all of this build when none was.
fn methods(cases: &[String]) -> Result<Vec<Method>, SpecError> {
    if cases.is_empty() {
        return Ok(Method::ALL.to_vec());
    }
    let find = |case: &String| {
        let known = || Method::ALL.iter().map(|m| m.name());
        Method::ALL.iter().copied().find(|m| m.name() == case).ok_or_else(|| {
            let allowed = format!("one of {}", known().collect::<Vec<_>>().join(", "));
            let remedy = "leave `--case` out to run all";
            SpecError::value("--case", format!("`{case}`"), allowed, remedy)
        })
    };
    cases.iter().map(find).collect()
}

/// Whose solver it is: the paper has a random one, and CPLEX in place of ours.
fn preset(method: Method) -> &'static str {
    if method == Method::Random { "paper" } else { "reference" }
}

/// The least value that at least this share of the values does not exceed.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_figure_is_sound() {
        let figures = Figure::shipped().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(figures.iter().map(|f| f.id.as_str()).collect::<Vec<_>>(), Figure::IDS);
        let named = figures[0].problem.problem(1).unwrap();
        assert_eq!((named.names.len(), named.problem.clusters), (800, 20));
        assert!(named.problem.check().is_ok());
        // What its rows are hashed by.
        assert!(toml::to_string(&figures[0].problem).is_ok());
    }

    /// Clockwork's Table 1, "weights": what the sizes of the figure are drawn from.
    #[test]
    fn the_sizes_are_those_of_the_shipped_weights() {
        let logs = [56.5, 95.3, 19.0, 46.7, 102.3, 240.9].map(libm::log);
        let mean = logs.iter().sum::<f64>() / 6.0;
        let variance = logs.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 5.0;
        assert_eq!((libm::exp(mean).round(), (variance.sqrt() * 100.0).round()), (70.0, 86.0));
    }

    #[test]
    fn a_quantile_is_one_of_the_values() {
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        let at = |share| quantile(&values, share);
        assert_eq!((at(0.1), at(0.5), at(0.9), at(1.0)), (1.0, 5.0, 9.0, 10.0));
        assert_eq!(quantile(&[3.0], 0.1), 3.0);
    }
}
