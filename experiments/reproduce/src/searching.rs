//! `search` of a system: the keys of a search for the best pool.

use orrery_run::SpecError;
use orrery_run::limits::{SEEDS_MAX, count};
use orrery_scenario::defaults::one;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `search` of a system: how the best pool is looked for.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Searching {
    /// The search algorithm.
    pub algorithm: Algorithm,
    /// Number of runs, with seeds 1, 2, ...; algorithms without randomness run once.
    #[serde(default = "one::<u32>")]
    pub runs: u32,
    /// Maximum number of pools to evaluate.
    pub evaluations_max: Option<usize>,
    /// Whether evaluating a pool rules out its sub-configurations.
    #[serde(default = "yes")]
    pub prune: bool,
    /// First remove the pools that sustain less than this, in queries/s.
    pub prefilter_per_s: Option<f64>,
    /// Also evaluate every pool, to compare the search's result with the optimum.
    #[serde(default)]
    pub optimum: bool,
    /// Also count the evaluations until another system's throughput is reached.
    #[serde(default)]
    pub until: String,
    /// It is reached by what is less by at most this fraction.
    #[serde(default)]
    pub until_within: f64,
    /// Number of evaluations of the first run to list.
    #[serde(default)]
    pub trajectory: usize,
}

/// How pools are chosen.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Algorithm 1.
    KairosPlus,
    /// RAND.
    Random,
    /// GENE.
    Genetic,
    /// Simulated annealing.
    Annealing,
    /// Ribbon's Bayesian optimisation, for throughput.
    Bayesian,
}

impl Searching {
    /// Whether its values make sense.
    ///
    /// # Errors
    /// Names the key, what was found and what is allowed.
    pub fn check(&self) -> Result<(), SpecError> {
        if !(0.0..1.0).contains(&self.until_within) {
            let remedy = "give it as a fraction: 0.02 for 2 %";
            let found = self.until_within;
            return Err(SpecError::value("until_within", found, "0 to below 1", remedy));
        }
        count("runs", self.runs.into(), 1, SEEDS_MAX)
    }
}

fn yes() -> bool {
    true
}
