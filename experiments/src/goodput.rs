//! Peak goodput: the highest offered rate that a cluster carries within its SLOs, and its inverse, the
//! fewest devices for a rate (Symphony, §2.1 and §5).
//!
//! ```text
//!  scenario ── bracket.rs asks ──> probe.rs runs it at a rate (or with so many devices) until it is
//!     │                            clear whether the worst model's bad rate is within the target
//!     └── at the answer: one run with all metrics, whose rows the cell has beside the answer
//! ```
//!
//! A request is bad when it is dropped or late. All policies meet the same arrivals at the same rate
//! and seed, and a rate only stretches them; each seed is a search of its own, so the interval over
//! seeds is the search's spread.

mod bracket;
mod command;
mod probe;

pub use bracket::{Found, fewest, highest};
pub use command::{Goodput, command};
pub use probe::{Probe, probe};

use crate::cell::{Measure, Replication, Watch};
use crate::scenario_cell::{scope_names, watch};
use orrery_scenario::scenario::Scenario;
use orrery_scenario::{PolicySpec, SpecError};
use orrery_sim::metrics::Metrics;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Value;

/// The metric of a search for a rate.
pub const PEAK: &str = "peak_goodput_per_s";
/// The metric of a search for devices.
pub const DEVICES: &str = "devices_needed";

/// The most devices that a search tries.
const MOST_DEVICES: u32 = 4_096;

/// Requests of a source that a probe stops.
const MOST_REQUESTS: u64 = 1_000_000_000_000;

/// Requests of the run at the answer, at most.
const RUN_REQUESTS: u64 = 2_000_000;

/// What is looked for.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq, Eq, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Find {
    /// The highest offered rate that is good.
    #[default]
    Rate,
    /// The fewest devices (of the first kind) with which the scenario's rate is good.
    Devices,
}

/// What must hold for every model.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq, Eq, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// Dropped and late requests are at most the target's share of all.
    #[default]
    BadRate,
    /// Late answers are at most the target's share of all answers: p99 within the SLO at 0.01.
    /// Dropped requests do not count, but a load of which more than half is dropped is not carried.
    P99,
}

/// `[goodput]`: how a search is made.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Search {
    /// What is looked for.
    pub find: Find,
    /// What must hold.
    pub criterion: Criterion,
    /// The largest share of bad requests of the worst model.
    pub target: f64,
    /// A probe that is not clear after so many requests for each model, on average, is decided by
    /// its estimate.
    pub requests_per_model: u64,
    /// The relative width of the final bracket.
    pub tolerance: f64,
    /// What arrives before this is not counted: rate estimates of 5 s have settled.
    pub warm_up_s: f64,
    /// A probe is called good after so long at the earliest.
    pub least_s: f64,
}

impl Default for Search {
    fn default() -> Search {
        Search {
            find: Find::Rate,
            criterion: Criterion::BadRate,
            target: 0.01,
            requests_per_model: 20_000,
            tolerance: 0.005,
            warm_up_s: 6.0,
            least_s: 4.0,
        }
    }
}

impl Search {
    /// Whether its values make sense.
    ///
    /// # Errors
    /// Names the key, what was found and what is allowed.
    pub fn check(&self) -> Result<(), SpecError> {
        let wrong = |key: &str, found: String, allowed: &str| {
            let key = format!("goodput.{key}");
            Err(SpecError::value(key, found, allowed, "correct it or leave it out"))
        };
        let number = |x: f64, low: f64, high: f64| x >= low && x <= high;
        if !number(self.target, 1e-6, 0.9) {
            return wrong("target", self.target.to_string(), "a share from 0.000001 to 0.9");
        }
        if !(1_000..=1_000_000_000).contains(&self.requests_per_model) {
            let found = self.requests_per_model.to_string();
            return wrong("requests_per_model", found, "1000 to 1000000000");
        }
        if !number(self.tolerance, 1e-4, 0.5) {
            return wrong("tolerance", self.tolerance.to_string(), "a share from 0.0001 to 0.5");
        }
        for (key, seconds) in [("warm_up_s", self.warm_up_s), ("least_s", self.least_s)] {
            if !number(seconds, 0.0, 86_400.0) {
                return wrong(key, seconds.to_string(), "seconds from 0 to 86400");
            }
        }
        Ok(())
    }

    /// The rule by which warm-up is cut, in words.
    pub fn warm_up(&self) -> String {
        format!("arrivals before {} s are not counted", self.warm_up_s)
    }

    /// As part of a specification.
    pub fn words(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }

    /// The metric of its answer.
    pub fn metric(&self) -> &'static str {
        match self.find {
            Find::Rate => PEAK,
            Find::Devices => DEVICES,
        }
    }

    /// Searches, and runs the scenario at the answer: the cell's values of one seed.
    ///
    /// # Errors
    /// When the scenario has no rate that can be changed, or a run cannot be made.
    pub fn run(
        &self,
        scenario: &Scenario,
        policy: &PolicySpec,
        seed: u64,
    ) -> Result<Replication, SpecError> {
        let start = scenario.rate()?;
        let at = |value: f64| match self.find {
            Find::Rate => scenario.with_rate(value),
            Find::Devices => with_devices(scenario, value as u32),
        };
        let ask = |value: f64| probe(&endless(at(value)?).setup(seed)?, policy, seed, self);
        let found = match self.find {
            Find::Rate => highest(start, self.tolerance, ask)?,
            Find::Devices => fewest(first_kind(scenario), MOST_DEVICES, ask)?,
        };
        let mut replication = match found.at {
            Some(_) if self.no_answer(&found).is_none() => {
                self.run_at(&at(found.value)?, policy, seed)?
            }
            _ => Replication { seed, ..Replication::default() },
        };
        self.add(&found, scenario, &mut replication);
        Ok(replication)
    }

    /// One run with all metrics.
    fn run_at(
        &self,
        scenario: &Scenario,
        policy: &PolicySpec,
        seed: u64,
    ) -> Result<Replication, SpecError> {
        let models = scenario.model_names().len() as u64;
        let mut limited = endless(scenario.clone());
        limited.file.warm_up_s = self.warm_up_s;
        if let Some(arrivals) = &mut limited.file.arrivals {
            let counted = self.requests_per_model.saturating_mul(models).min(RUN_REQUESTS);
            let before = (self.warm_up_s * scenario.rate()?) as u64;
            arrivals.requests = Some(counted.saturating_add(before));
        }
        let setup = limited.setup(seed)?;
        let (metrics, watch): (Metrics, Watch) =
            setup.run_with(policy, seed, watch(&setup))?.observer;
        let mut replication = Replication::of(seed, &metrics, &watch, &scope_names(scenario));
        let sizes = metrics.batch_sizes();
        let batches: u64 = sizes.iter().sum();
        let queueing = metrics.total().queueing;
        for (q, name) in [(0.1, "p10"), (0.5, "p50"), (0.9, "p90")] {
            if let Some(size) = quantile(sizes, q) {
                replication.push("all", &format!("batch_size_{name}"), size as f64, batches);
            }
        }
        for (q, name) in [(0.5, "p50"), (0.9, "p90"), (0.99, "p99")] {
            let ns = queueing.quantile(q).ns() as f64;
            replication.push("all", &format!("queueing_{name}_ns"), ns, queueing.count());
        }
        Ok(replication)
    }

    /// Why what was found is no answer, if so. That no load at all is carried is one: a goodput of 0.
    fn no_answer(&self, found: &Found) -> Option<String> {
        match (self.find, &found.at) {
            (Find::Devices, None) => Some(format!("not even {MOST_DEVICES} devices are enough")),
            (Find::Rate, _) if found.no_peak => {
                Some(format!("no peak: every rate up to {:.0}/s was good", found.value))
            }
            _ => None,
        }
    }

    /// The answer, first of all values.
    fn add(&self, found: &Found, scenario: &Scenario, replication: &mut Replication) {
        let own = std::mem::take(&mut replication.measures);
        replication.measures.push(match self.no_answer(found) {
            None => Measure::of("all", self.metric(), found.value, found.requests),
            Some(why) => Measure::unanswered("all", self.metric(), why, found.requests),
        });
        if let Some(at) = found.at.as_ref().filter(|_| !found.no_peak) {
            replication.push("all", "worst_bad_rate", at.bad_rate, at.requests);
            let name = scenario.model_names().get(at.worst_model).cloned().unwrap_or_default();
            replication.notes.push(format!("worst-model:{name}"));
            if !at.sure {
                replication.notes.push("unsure".to_string());
            }
        }
        if found.at.is_none() {
            replication.notes.push("never-good".to_string());
        }
        if found.no_peak {
            replication.notes.push("no-peak".to_string());
        }
        if let Some(rate) = found.worse_below {
            replication.push("all", "bad_below_per_s", rate, found.requests);
            replication.notes.push("not-monotone".to_string());
        }
        if let Some(bad) = found.collapse {
            replication.push("all", "bad_rate_above", bad, found.requests);
            replication.notes.push("metastable".to_string());
        }
        replication.push("all", "probes", f64::from(found.probes), found.requests);
        replication.measures.extend(own);
    }
}

impl Replication {
    /// Adds a value without an interval of its own.
    pub fn push(&mut self, scope: &str, metric: &str, value: f64, samples: u64) {
        self.measures.push(Measure::of(scope, metric, value, samples));
    }
}

/// The smallest size that at least a share `q` of the batches do not exceed; `sizes[i]` counts size
/// `i`.
fn quantile(sizes: &[u64], q: f64) -> Option<usize> {
    let all: u64 = sizes.iter().sum();
    let mut below = 0;
    sizes.iter().position(|n| {
        below += n;
        all > 0 && below as f64 >= q * all as f64
    })
}

/// A scenario whose arrivals do not end.
fn endless(mut scenario: Scenario) -> Scenario {
    scenario.file.until_s = None;
    if let Some(arrivals) = &mut scenario.file.arrivals {
        arrivals.requests = Some(MOST_REQUESTS);
        arrivals.duration_s = None;
    }
    scenario
}

fn first_kind(scenario: &Scenario) -> u32 {
    scenario.file.device.first().map_or(1, |d| d.count)
}

fn with_devices(scenario: &Scenario, count: u32) -> Result<Scenario, SpecError> {
    scenario.with(&[("device[0].count".to_string(), Value::Integer(count.into()))])
}

#[cfg(test)]
mod tests;
