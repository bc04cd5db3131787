//! The kind of experiment that runs pools of instances, or bounds them.

use super::{Bounds, KAIROS, MODEL, Pools};
use crate::experiment::{CasesOf, Experiment, Keys, Kind, Made, UntilCi, placed};
use crate::options::{CliOption, Refused};
use orrery_report::page::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The keys of an experiment about pools.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfPool {
    /// What is run: Kairos's pools of several instance types, with the axis `model`.
    pool: PoolOptions,
}

/// `[pool]`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct PoolOptions {
    /// List every pool with its upper bound, instead of running systems.
    bounds: bool,
}

impl Keys for OfPool {
    const KEY: &'static str = "pool";
    const OF_SYSTEM: &'static [&'static str] = &["pool", "search"];
}

impl Kind for OfPool {
    fn in_words(&self, seeds: u32) -> String {
        match self.pool.bounds {
            true => "no run: upper bounds of pools".to_string(),
            false => format!(
                "pools of several instance types, each with a search for its throughput, {}",
                counted(seeds, "seed")
            ),
        }
    }

    fn runner<'a>(&'a self, e: &'a Experiment, _: UntilCi) -> Made<'a> {
        match self.pool.bounds {
            true => placed(e, Bounds::new(e)),
            false => placed(e, Pools::new(e)),
        }
    }

    fn refused(&self, option: CliOption) -> Option<Refused> {
        let bounds = "nothing: bounds are computed, without chance";
        let allowed =
            "a fixed number of seeds: an allowable throughput has no finish rate to narrow";
        match (self.pool.bounds, option) {
            (true, option) => Refused::computed(option, bounds),
            (false, CliOption::UntilCi) => Refused::for_seeds(allowed),
            _ => None,
        }
    }

    fn cases(&self) -> CasesOf {
        CasesOf::Axis { name: MODEL, open: false }
    }

    fn curves(&self) -> Vec<&str> {
        if self.pool.bounds { vec![KAIROS] } else { Vec::new() }
    }
}
