//! `[partition]`: models that are drawn, limits, and how far the solvers search.

use super::error::in_words;
use super::generate::Generate;
use orrery_run::SpecError;
use orrery_run::limits::{COUNT_MAX, count};
use orrery_solvers::partition::{Assignment, Problem, local_search, random};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A partition problem; each seed draws other models.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartitionKeys {
    /// Number of sub-clusters.
    pub clusters: usize,
    /// The highest rate that a dispatcher sustains; no limit if omitted.
    #[serde(default = "unlimited")]
    pub rate_max_per_s: f64,
    /// The memory of a backend; no limit if omitted.
    #[serde(default = "unlimited")]
    pub memory_max_mb: f64,
    /// Number of assignments that `random` draws.
    #[serde(default = "draws")]
    pub draws: u64,
    /// Maximum number of evaluations of `local-search`.
    #[serde(default = "evaluations")]
    pub evaluations: u64,
    /// How the models are drawn.
    pub generate: Generate,
}

/// A solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The best of many random assignments: the paper's baseline.
    Random,
    /// Greedy, then moves and swaps.
    LocalSearch,
}

impl Method {
    /// All of them.
    pub const ALL: [Method; 2] = [Method::Random, Method::LocalSearch];

    /// Its name in files and results.
    pub fn name(self) -> &'static str {
        match self {
            Method::Random => "random",
            Method::LocalSearch => "local-search",
        }
    }
}

fn unlimited() -> f64 {
    f64::INFINITY
}
fn draws() -> u64 {
    20_000
}
fn evaluations() -> u64 {
    20_000_000
}

impl PartitionKeys {
    /// The problem of a seed.
    ///
    /// # Errors
    /// When the number of sub-clusters or the generator is wrong.
    pub fn problem(&self, seed: u64) -> Result<Problem, SpecError> {
        count("clusters", self.clusters as u64, 1, COUNT_MAX)?;
        let models = self.generate.models(seed)?;
        Ok(Problem {
            memory_weight: Problem::even_weight(&models),
            models,
            clusters: self.clusters,
            rate_max: self.rate_max_per_s,
            memory_max: self.memory_max_mb,
        })
    }

    /// Solves a problem within the bounds of the keys.
    ///
    /// # Errors
    /// As the solvers.
    pub fn solve(
        &self,
        problem: &Problem,
        method: Method,
        seed: u64,
    ) -> Result<Assignment, SpecError> {
        let solved = match method {
            Method::Random => random(problem, seed, self.draws),
            Method::LocalSearch => local_search(problem, seed, self.evaluations),
        };
        solved.map_err(in_words)
    }

    /// A method with its bounds, as results name it.
    pub fn in_words(&self, method: Method) -> String {
        let (draws, evaluations) = (self.draws, self.evaluations);
        match method {
            Method::Random => format!("random[draws={draws}]"),
            Method::LocalSearch => format!("local-search[evaluations={evaluations}]"),
        }
    }

    /// What is hashed. Keys that there were once are in it with the values that they had, so that hashes stay.
    pub fn hashed(&self) -> String {
        let text = toml::to_string(self).unwrap_or_default();
        let once = "cost_max = inf\nseed = 1\nmethod = \"local-search\"\ndraws = ";
        text.replacen("draws = ", once, 1).replacen("\n[generate]", "model = []\n\n[generate]", 1)
    }
}
