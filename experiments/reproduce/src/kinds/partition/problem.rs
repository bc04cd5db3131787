//! Models to sub-clusters: a problem with names, and its solvers.

use clap::ValueEnum;
use orrery_solvers::partition::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A solver.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq, ValueEnum, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The best of many random assignments: the paper's baseline.
    Random,
    /// Greedy, then moves and swaps.
    #[default]
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

/// A problem whose models have names.
#[derive(Clone, Debug)]
pub struct Named {
    /// The problem.
    pub problem: Problem,
    /// By model.
    pub names: Vec<String>,
}
