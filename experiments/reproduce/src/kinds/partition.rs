//! Models divided among sub-clusters (Symphony, Fig. 16): how evenly the solvers do that, over many random
//! configurations.

mod error;
mod file;
mod generate;

use crate::experiment::{CasesOf, Experiment, Keys, Kind, Made, System, UntilCi, placed};
use crate::options::{CliOption, Refused};
use crate::runner::{Cell, KindDocument, Runner};
use file::{Method, PartitionKeys};
use orrery_report::page::{Field, Part, Table};
use orrery_results::{Flags, Row, UNITLESS, metric, seed_list};
use orrery_run::SpecError;
use orrery_sim::stats::nearest_rank;
use orrery_sweep::hash::spec_sha256;
use orrery_sweep::kept::Kept;
use orrery_sweep::replication::Replication;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

/// The keys of an experiment that divides models.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfPartition {
    /// What is run: a partition problem; each seed is a configuration.
    partition: PartitionKeys,
}

impl Keys for OfPartition {
    const KEY: &'static str = "partition";
}

impl Kind for OfPartition {
    fn in_words(&self, seeds: u32) -> String {
        format!("partitions of {seeds} configurations")
    }

    fn runner<'a>(&'a self, e: &'a Experiment, _: UntilCi) -> Made<'a> {
        placed(e, Solvers::new(e, &self.partition))
    }

    fn refused(&self, option: CliOption) -> Option<Refused> {
        let allowed =
            "a fixed number of configurations, each of a seed: there is no finish rate to narrow";
        match option {
            CliOption::UntilCi => Refused::for_seeds(allowed),
            CliOption::Set => Refused::for_set("the problem of the file: only its seed varies"),
            _ => None,
        }
    }

    fn cases(&self) -> CasesOf {
        CasesOf::Systems
    }
}

/// Points of the CDF.
const QUANTILES: [(&str, f64); 4] = [("p10", 0.1), ("p50", 0.5), ("p90", 0.9), ("max", 1.0)];
/// As for latencies (docs/formats.md): samples that a p90, or a p10, asks for.
const SAMPLES_LEAST: u64 = 64;
/// The factors of a configuration that are kept.
const FACTORS: [&str; 2] = ["rate", "memory"];

/// Each solver is a part; each seed a configuration.
pub struct Solvers<'a> {
    experiment: &'a Experiment,
    problem: &'a PartitionKeys,
    solvers: Vec<(&'a System, Method)>,
    seeds: Vec<u64>,
}

impl<'a> Solvers<'a> {
    /// Checks the problem and the solvers' names.
    ///
    /// # Errors
    /// When the problem is wrong, or a solver is unknown or not in this build.
    pub fn new(
        experiment: &'a Experiment,
        problem: &'a PartitionKeys,
    ) -> Result<Solvers<'a>, SpecError> {
        let varied = !experiment.axis.is_empty() || !experiment.point.is_empty();
        if varied || !experiment.set.is_empty() {
            let key = if experiment.axis.is_empty() { "point" } else { "axis" };
            let remedy = "remove it: only the configuration varies, by its seed";
            return Err(SpecError::value(key, "an axis", "none with `partition`", remedy));
        }
        problem.problem(1).map_err(|e| e.in_table("partition"))?;
        let find = |(i, s): (usize, &'a System)| {
            let known = || Method::ALL.iter().map(|m| m.name());
            let method = Method::ALL.into_iter().find(|m| m.name() == s.policy);
            method.map(|m| (s, m)).ok_or_else(|| {
                let allowed = format!("one of {}", known().collect::<Vec<_>>().join(", "));
                let remedy = "name a solver";
                let key = format!("system[{i}].policy");
                SpecError::value(key, format!("`{}`", s.policy), allowed, remedy)
            })
        };
        let solvers = experiment.system.iter().enumerate().map(find).collect::<Result<_, _>>()?;
        let seeds = (1..=u64::from(experiment.seeds)).collect();
        Ok(Solvers { experiment, problem, solvers, seeds })
    }

    fn hash(&self, method: Method) -> String {
        spec_sha256(&[
            &self.problem.hashed(),
            &self.problem.in_words(method),
            &seed_list(&self.seeds),
        ])
    }

    fn configuration(&self, method: Method, seed: u64) -> Result<Replication, SpecError> {
        let problem = self.problem.problem(seed)?;
        let found = problem.imbalance(&self.problem.solve(&problem, method, seed)?);
        let mut one = Replication { seed, ..Replication::default() };
        for (factor, value) in FACTORS.into_iter().zip([found.rate, found.memory]) {
            one.push("all", factor, value, 1);
        }
        Ok(one)
    }

    fn rows(&self, system: &System, method: Method, runs: &[Replication]) -> Vec<Row> {
        let samples = runs.len() as u64;
        let mut rows = Vec::new();
        for factor in FACTORS {
            let mut sorted: Vec<f64> = runs.iter().filter_map(|r| r.value("all", factor)).collect();
            sorted.sort_by(f64::total_cmp);
            for (name, share) in QUANTILES {
                let mut row = Row {
                    policy: self.problem.in_words(method),
                    scope: "all".to_string(),
                    metric: metric::IMBALANCE.name(&[factor, name]),
                    unit: UNITLESS.to_string(),
                    value: nearest_rank(&sorted, share),
                    samples,
                    seeds: seed_list(&self.seeds),
                    spec_sha256: self.hash(method),
                    ..system.row(&self.experiment.place())
                };
                if share != 0.5 && share != 1.0 && samples < SAMPLES_LEAST {
                    row.flag(Flags::FEW_SAMPLES);
                }
                rows.push(row);
            }
        }
        rows
    }
}

impl Runner for Solvers<'_> {
    fn parts(&self) -> Vec<String> {
        self.solvers.iter().map(|(s, _)| s.name.clone()).collect()
    }

    fn run(&self, part: usize, kept: &Kept) -> Result<Vec<Cell>, SpecError> {
        let (system, method) = self.solvers[part];
        let one = |&seed: &u64| self.configuration(method, seed);
        let make = || self.seeds.par_iter().with_max_len(1).map(one).collect::<Result<_, _>>();
        let runs = kept.runs(&self.hash(method), &format!("solver {}", system.name), make)?;
        let more = self.rows(system, method, &runs);
        let place = Row { system: system.name.clone(), ..self.experiment.place() };
        Ok(vec![Cell { place, seeds: None, runs, more }])
    }

    /// In how many configurations a solver is better than random by both factors: the sentence (A.1) is
    /// about each of them.
    fn document(&self, cells: &[Cell], rows: &[Row]) -> KindDocument {
        let mut results = Vec::new();
        for factor in FACTORS {
            let caption = format!("imbalance of {factor}, (max - min) / mean, over configurations");
            let head = ["solver", "configurations"].into_iter().chain(QUANTILES.map(|q| q.0));
            let head: Vec<&str> = head.collect();
            let mut table = Table { keys: 1, ..Table::new(caption, &head) };
            for (system, _) in &self.solvers {
                let mut line = vec![system.name.clone(), self.seeds.len().to_string()];
                line.extend(QUANTILES.map(|(name, _)| {
                    let metric = metric::IMBALANCE.name(&[factor, name]);
                    let is = |r: &&Row| r.metric == metric && r.system == system.name;
                    let value = rows.iter().find(is).and_then(|r| r.value);
                    value.map_or("-".to_string(), |x| format!("{x:.5}"))
                }));
                table.rows.push(line.into_iter().map(Field::text).collect());
            }
            results.extend(table.part());
        }
        let random = cells.iter().find(|c| c.place.system == "random");
        let others = cells.iter().filter(|c| c.place.system != "random");
        let line = |(cell, random): (&Cell, &Cell)| {
            let better = |(a, b): &(&Replication, &Replication)| {
                FACTORS.iter().all(|f| a.value("all", f) < b.value("all", f))
            };
            let pairs = || cell.runs.iter().zip(&random.runs);
            format!(
                "{} is better than random by both factors in {} of {} configurations",
                cell.place.system,
                pairs().filter(better).count(),
                pairs().count()
            )
        };
        let lines = random.into_iter().flat_map(|r| others.clone().map(move |c| line((c, r))));
        results.extend(Part::list(lines.collect()));
        let solvers: Vec<String> =
            self.solvers.iter().map(|(_, m)| self.problem.in_words(*m)).collect();
        let asked = vec![("solvers", solvers.join(", "))];
        KindDocument { asked, results: Some(results), ..KindDocument::default() }
    }
}

#[cfg(test)]
mod tests {
    /// Clockwork's Table 1, "weights": what the sizes of symphony-fig-16 are drawn from.
    #[test]
    fn the_sizes_are_those_of_the_shipped_weights() {
        let logs = [56.5, 95.3, 19.0, 46.7, 102.3, 240.9].map(libm::log);
        let mean = logs.iter().sum::<f64>() / 6.0;
        let variance = logs.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 5.0;
        assert_eq!((libm::exp(mean).round(), (variance.sqrt() * 100.0).round()), (70.0, 86.0));
    }
}
