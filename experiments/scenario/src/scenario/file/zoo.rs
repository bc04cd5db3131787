//! The keys of `[[zoo]]` and of popularity, as `serde` reads and writes them.
//!
//! It checks no value and holds no model: `expand.rs` does the one, `zoo.rs` the other.

use super::{Between, SizesLaw, SloSteps};
use crate::defaults::{is_one, one};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[[zoo]]`: published models, and an application for each.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Zoo {
    /// Its name; `orrery list` prints all names.
    pub name: String,
    /// The GPU whose latencies are used, if the zoo has several.
    pub gpu: Option<String>,
    /// Only these models, in this order.
    #[schemars(extend("x-default" = "all"))]
    pub models: Option<Vec<String>>,
    /// Only models whose batching effect is strong or weak: `"strong"`, `"weak"` (Symphony, §5.1).
    #[schemars(extend("x-default" = "all"))]
    pub select: Option<Select>,
    /// Number of copies of each model; several are called `NAME#1`, `NAME#2` and so on.
    #[serde(default = "one::<u32>", skip_serializing_if = "is_one")]
    #[schemars(extend("x-default" = "1"))]
    pub copies: u32,
    /// Put before the names, so that the same models may be there twice.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(extend("x-default" = "none"))]
    pub prefix: String,
    /// The group of its applications.
    #[schemars(extend("x-default" = "none"))]
    pub group: Option<String>,
    /// One SLO for all models.
    #[schemars(extend("x-default" = "the published ones"))]
    pub slo_ms: Option<f64>,
    /// The `between` of its models.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "`\"linear\"`; `\"next\"` for Clockwork's zoos"))]
    pub between: Option<Between>,
    /// SLOs that change in steps (see below).
    pub slo_steps: Option<SloSteps>,
    /// Sizes of the requests.
    #[schemars(extend("x-default" = "1; for `kairos`, its own distribution"))]
    pub sizes: Option<SizesLaw>,
}

/// Which models of a zoo (Symphony, §5.1).
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Select {
    /// `beta` is more than twice `alpha`.
    Strong,
    /// It is less.
    Weak,
}

/// How the applications share the arrivals.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Popularity {
    /// By their weights alone.
    #[default]
    Equal,
    /// The r-th application's weight is divided by `r` to this power.
    Zipf(f64),
}
