//! Under what a pool figure runs: budget, types, QoS, sizes, arrivals, and how long a run is.

use orrery_scenario::kairos::instance_types;
use orrery_solvers::Region;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Under what everything runs.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Conditions {
    /// What no pool of the space costs more than.
    pub budget_usd_per_hour: f64,
    /// The instance types, in the order of counts.
    pub types: Vec<String>,
    /// The QoS target is that of the model's table times this.
    pub qos_factor: f64,
    /// The law of query sizes.
    pub sizes: Sizes,
    /// The law of arrivals.
    pub arrivals: Arrivals,
    /// What upper bounds are made of.
    pub ingredients: From,
    /// Which queries an auxiliary type is said to serve.
    pub region: Region,
    /// Queries of a run.
    pub queries: u64,
    /// The allowable throughput is found to so much, as a share.
    pub precision: f64,
    /// DRS's thresholds, ascending.
    pub drs_thresholds: Vec<u32>,
}

/// The law of query sizes.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Sizes {
    /// The authors' mixture.
    Kairos,
    /// Lognormal, 1 to 999.
    Lognormal {
        /// Mean of the logarithm.
        mu: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// Gaussian, 1 to 999.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        sd: f64,
    },
}

/// The law of arrivals.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// A Poisson process, as the paper says.
    Poisson,
    /// Poisson-distributed gaps of whole milliseconds, as the released code draws.
    IntegerPoisson,
}

/// What upper bounds are made of.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum From {
    /// The measured samples and the law of sizes.
    Samples,
    /// The profile that was released; only for the default QoS and sizes.
    Released,
}

impl Default for Conditions {
    fn default() -> Conditions {
        Conditions {
            budget_usd_per_hour: 2.5,
            types: instance_types().iter().map(|t| t.name.to_string()).collect(),
            qos_factor: 1.0,
            sizes: Sizes::Kairos,
            arrivals: Arrivals::Poisson,
            ingredients: From::Samples,
            region: Region::Released,
            queries: 4_000,
            precision: 0.01,
            drs_thresholds: vec![50, 100, 125, 150, 175, 200, 250, 300, 400, 500, 600, 700, 800],
        }
    }
}
