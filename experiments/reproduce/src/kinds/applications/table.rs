//! Orloj's tables: applications of one model on one GPU, by the rules that make a case from its name.
//!
//! It knows what a table assumes, and checks it; how it is run is in [`super::run`].

use orrery_run::SpecError;
use orrery_run::limits::within;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `[applications]`: everything that its cells have in common.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Applications {
    /// The offered load.
    pub load: OfferedLoad,
    /// The arrivals.
    pub arrivals: Arrivals,
    /// The true latency of a batch.
    pub latency: LatencyLaw,
    /// What policies are told.
    pub profile: Profile,
    /// The rules that make applications from the name of a case.
    pub cases: Cases,
}

/// What the load is.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct OfferedLoad {
    /// Offered load: the arrival rate times the execution time that `of` names.
    pub offered: f64,
    /// The execution time in this product.
    pub of: Normalise,
    /// Number of requests in a run.
    pub requests: u64,
    /// Share of the run, at its start, whose arrivals are not counted.
    pub warm_up: f64,
    /// The P99 that the SLO is a multiple of.
    pub p99: P99,
}

/// Which execution time the load is normalised by.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Normalise {
    /// The mean, alone.
    Mean,
    /// The 99th percentile, alone.
    P99,
    /// The mean, alone, that a synthetic case had if all its modes held equal shares: cases with the same
    /// modes get the same arrivals. Of other cases the mean.
    Modes,
}

impl Normalise {
    /// Its word in tables.
    pub fn word(self) -> &'static str {
        match self {
            Normalise::Mean => "mean",
            Normalise::P99 => "P99",
            Normalise::Modes => "equal modes'",
        }
    }
}

/// Whose P99 the SLO is a multiple of.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum P99 {
    /// The law's.
    Law,
    /// That of the execution times drawn in the run.
    Draw,
}

/// Where arrivals come from.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Arrivals {
    /// A shipped Azure 2019 sample, or `poisson`, `constant`, `gamma:SHAPE`.
    pub trace: String,
    /// Label of the first minute.
    pub first_minute: u32,
    /// Maximum number of minutes.
    pub minutes: u32,
    /// `all`, `without-top:N`, `ranks:A-B` or `trigger:NAME`.
    pub functions: String,
    /// `poisson` or `even`.
    pub inside: Inside,
}

/// How arrivals lie within a minute.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Inside {
    /// A Poisson process.
    Poisson,
    /// Evenly spaced.
    Even,
}

/// The true latency of a batch.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct LatencyLaw {
    /// `proportional` or `eq3`.
    pub law: LawName,
    /// Marginal cost of an item.
    pub c1: f64,
    /// Constant cost of a batch under `eq3`, as a share of the case's mean execution time.
    #[serde(default)]
    pub c0_share_of_mean: f64,
    /// Marginal cost of an item of these models, where it differs.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    pub c1_of: BTreeMap<String, f64>,
}

/// The law's form.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum LawName {
    /// (1 - c1 + c1 k) max l.
    Proportional,
    /// c0 + c1 k max l, as the paper prints it.
    Eq3,
}

/// What policies are told.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The batch sizes that are profiled.
    pub sizes: Vec<u32>,
    /// Number of batches measured for each size.
    pub batches: u32,
    /// Number of bins of a histogram.
    pub bins: usize,
}

/// The applications of every case, by rule.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Cases {
    /// Length of a unit in the synthetic cases.
    pub unit_ms: f64,
    /// Distance between modes, in units.
    pub spacing_units: f64,
    /// Standard deviation of a mode, in units.
    pub sd_units: f64,
    /// Position of the mode of the one-modal case, in units.
    pub single_at_units: f64,
    /// Share of the narrow peak if peaks differ.
    pub narrow_share: f64,
    /// Share of the short group of a real task.
    pub short_share: f64,
    /// Maximum sd / mean of a real task's groups.
    pub sd_cap: f64,
    /// sd / mean of a real task's groups, per unit of (P99 / mean - 1).
    pub sd_slope: f64,
    /// The model of the synthetic cases.
    pub synthetic_model: String,
    /// Execution times of the static models.
    pub static_ms: BTreeMap<String, f64>,
}

/// The bounds of an SLO as a multiple of P99.
pub const SLO_X_P99: (f64, f64) = (1e-3, 1e6);

impl Applications {
    /// Whether its values make sense.
    ///
    /// # Errors
    /// Names the key, what was found and what is allowed.
    pub fn check(&self) -> Result<(), SpecError> {
        within("load.offered", self.load.offered, 1e-6, 1e3)?;
        within("load.warm_up", self.load.warm_up, 0.0, 0.9)?;
        within("load.requests", self.load.requests as f64, 1.0, 1e10)?;
        within("latency.c1", self.latency.c1, 1e-9, 10.0)?;
        for (model, c1) in &self.latency.c1_of {
            within(&format!("latency.c1_of.{model}"), *c1, 1e-9, 10.0)?;
        }
        within("latency.c0_share_of_mean", self.latency.c0_share_of_mean, 0.0, 10.0)?;
        within("arrivals.first_minute", f64::from(self.arrivals.first_minute), 0.0, 1e6)?;
        within("arrivals.minutes", f64::from(self.arrivals.minutes), 1.0, 1e6)?;
        let c = &self.cases;
        within("cases.unit_ms", c.unit_ms, 1e-6, 1e6)?;
        within("cases.spacing_units", c.spacing_units, 0.0, 1e6)?;
        within("cases.sd_units", c.sd_units, 0.0, 1e6)?;
        within("cases.single_at_units", c.single_at_units, 1e-6, 1e6)?;
        within("cases.narrow_share", c.narrow_share, 1e-6, 1.0 - 1e-6)?;
        within("cases.short_share", c.short_share, 1e-6, 1.0 - 1e-6)?;
        within("profile.batches", f64::from(self.profile.batches), 1.0, 1e6)?;
        within("profile.bins", self.profile.bins as f64, 1.0, 1e5)?;
        if self.profile.sizes.is_empty() {
            return Err(SpecError::value("profile.sizes", "nothing", "at least one", "add one"));
        }
        let sizes = &self.profile.sizes;
        if !sizes.is_sorted_by(|a, b| a < b) || sizes[0] != 1 || sizes.len() > 24 {
            let (found, allowed) =
                (format!("{sizes:?}"), "increasing sizes, the first 1, at most 24");
            return Err(SpecError::value("profile.sizes", found, allowed, "correct the list"));
        }
        Ok(())
    }
}
