//! Peak goodput: the highest offered rate that a cluster carries within its SLOs, and its inverse, the
//! fewest devices for a rate (Symphony, §2.1 and §5).
//!
//! ```text
//!  scenario ── the search asks ──> a probe at a rate (or with so many devices): is the worst model's
//!     │                           bad rate within the target?
//!     └── at the answer: one run with all metrics, whose rows the cell has beside the answer
//! ```
//!
//! A request is bad when it is dropped or late. All policies meet the same arrivals at the same rate
//! and seed, and a rate only stretches them; each seed is a search of its own, so the interval over
//! seeds is the search's spread.

pub use orrery_scenario::search::Criterion;

use super::replication::{DEVICES, Measure, PEAK, Replication};
use super::watch::{run_one, scope_names};
use orrery_results::metric;
use orrery_scenario::scenario::Scenario;
use orrery_scenario::scenario::file::Arrivals;
use orrery_scenario::search::{
    self, Bracket, Doubt, Found, How, Load, Probe, REQUESTS_ENDLESS, Rule, Stop, capacity_per_s,
    fewest,
};
use orrery_scenario::{PolicySpec, Setup, SpecError};
use orrery_sim::time::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Value;

/// The most devices that a search tries.
const MOST_DEVICES: u32 = 4_096;

/// Requests of the run at the answer, at most.
const RUN_REQUESTS: u64 = 2_000_000;

/// The quantity to search for.
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

/// `[goodput]`: how a search is made.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Search {
    /// The quantity to search for.
    pub find: Find,
    /// The criterion for a good load.
    pub criterion: Criterion,
    /// Maximum share of bad requests of the worst model.
    pub target: f64,
    /// A probe without a clear verdict after this many requests per model (on average) is undecided; then
    /// its estimate decides.
    pub requests_per_model: u64,
    /// Relative width of the final bracket.
    pub tolerance: f64,
    /// Arrivals before this time are not counted; rate estimates over 5 s have settled by then.
    pub warm_up_s: f64,
    /// Minimum length of a probe before it can be called good.
    pub least_s: f64,
    /// A fixed length for probes; by default each is as long as its verdict needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_s: Option<f64>,
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
            probe_s: None,
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
            Err(SpecError::value(key, found, allowed, "correct or remove it"))
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
        if let Some(seconds) = self.probe_s.filter(|s| !number(*s, 0.001, 1e7)) {
            return wrong("probe_s", seconds.to_string(), "seconds from 0.001 to 10000000");
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
        let scenario = &scenario.keeping_gaps();
        let start = scenario.rate()?;
        let at = |value: f64| match self.find {
            Find::Rate => scenario.with_rate(value),
            Find::Devices => with_devices(scenario, value as u32),
        };
        let found = match self.find {
            Find::Rate => {
                let (step, step_max) = (2.0, 2.0);
                // What is judged whole, or for a length of its own, cannot be glanced at.
                let short = self.probe_s.is_none() && !is_finite(scenario);
                let (tolerance, target) = (self.tolerance, short.then_some(self.target));
                Bracket { start, tolerance, target, step, step_max, around: true }
                    .highest(|rate, how| self.probe(&at(rate)?, policy, seed, how))?
            }
            Find::Devices => {
                let probe = |n: f64, how| self.probe(&at(n)?, policy, seed, how);
                let usual = |n: u32| probe(n.into(), How::USUAL);
                let mut found = fewest(first_kind(scenario), 1, MOST_DEVICES, usual)?;
                if let Some(value) = found.value {
                    found.add_burst(&probe(value, How { burst: true, ..How::USUAL })?);
                }
                found
            }
        };
        let mut replication = match found.value {
            Some(value) => self.run_at(&at(value)?, policy, seed)?,
            _ => Replication { seed, ..Replication::default() },
        };
        self.add(&found, scenario, &mut replication);
        Ok(replication)
    }

    /// Is this scenario's load within the target?
    fn probe(
        &self,
        scenario: &Scenario,
        policy: &PolicySpec,
        seed: u64,
        how: How,
    ) -> Result<Probe, SpecError> {
        let setup = endless(scenario.clone()).setup(seed)?;
        let rule = self.rule(scenario, &setup, policy, how)?.made(how, longest_slo(&setup));
        let is_finite = matches!(rule.load, Load::Finite { .. });
        let warm_up_s = rule.warm_up.as_secs_f64();
        let probe = search::probe(&setup, policy, seed, rule)?;
        if is_finite && probe.doubt == Some(Doubt::Short) && !how.burst {
            let rate = scenario.rate()?;
            let found = format!("a list that ends within the warm-up at {rate:.6} requests/s");
            let allowed = format!("one that goes on for longer than {warm_up_s} s");
            let remedy = "choose a longer one (a list: `replay.times`), or lower `goodput.warm_up_s` in a sweep";
            return Err(scenario.placed(SpecError::value("arrivals", found, allowed, remedy)));
        }
        Ok(probe)
    }

    fn rule(
        &self,
        scenario: &Scenario,
        setup: &Setup,
        policy: &PolicySpec,
        how: How,
    ) -> Result<Rule, SpecError> {
        let load = if is_finite(scenario) {
            Load::Finite { bad_max: Vec::new() }
        } else {
            let capacity_per_s = capacity_per_s(scenario, setup, Some(policy), None);
            Load::Steady { rate_per_s: scenario.rate()?, capacity_per_s }
        };
        let rule = Rule {
            criterion: self.criterion,
            target: self.target,
            tolerance: self.tolerance,
            requests_per_model: self.requests_per_model,
            warm_up: Span::from_secs_f64(self.warm_up_s),
            least: Span::from_secs_f64(self.least_s),
            exactly: self.probe_s.map(Span::from_secs_f64),
            stop: Stop::Clear,
            load,
            burst: None,
        };
        Ok(rule.at_a_glance(how).adapted(longest_slo(setup), policy.epoch()))
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
        let (metrics, watch) = run_one(&setup, policy, seed)?;
        let mut replication = Replication::of(seed, &metrics, &watch, &scope_names(scenario));
        let sizes = metrics.batch_sizes();
        let batches: u64 = sizes.iter().sum();
        let queueing = metrics.total().queueing;
        for (q, name) in [
            (0.1, metric::BATCH_SIZE_P10),
            (0.5, metric::BATCH_SIZE_P50),
            (0.9, metric::BATCH_SIZE_P90),
        ] {
            if let Some(size) = quantile(sizes, q) {
                replication.push("all", name, size as f64, batches);
            }
        }
        for (q, name) in
            [(0.5, metric::QUEUEING_P50), (0.9, metric::QUEUEING_P90), (0.99, metric::QUEUEING_P99)]
        {
            let ns = queueing.quantile(q).ns() as f64;
            replication.push("all", name, ns, queueing.count());
        }
        Ok(replication)
    }

    /// Why what was found is no answer, if so. That no load at all is carried is one: a goodput of 0.
    fn no_answer(&self, found: &Found) -> Option<String> {
        match (self.find, found.good_up_to) {
            (Find::Devices, _) if found.never_good => {
                Some(format!("not even {MOST_DEVICES} devices are enough"))
            }
            (_, Some(rate)) => Some(format!("no peak: every rate up to {rate:.0}/s was good")),
            _ => None,
        }
    }

    /// The answer, first of all values.
    fn add(&self, found: &Found, scenario: &Scenario, replication: &mut Replication) {
        let own = std::mem::take(&mut replication.measures);
        replication.measures.push(match (found.value, self.no_answer(found)) {
            (_, Some(why)) => Measure::unanswered("all", self.metric(), why, found.requests),
            // However small the load, too much of it was bad: that is the answer.
            (value, None) => {
                Measure::of("all", self.metric(), value.unwrap_or(0.0), found.requests)
            }
        });
        let mut push = |metric: &str, value: f64| {
            replication.push("all", metric, value, found.requests);
        };
        let (good, bad) = match self.find {
            Find::Rate => (metric::CLEARLY_GOOD, metric::CLEARLY_BAD),
            Find::Devices => (metric::CLEARLY_ENOUGH, metric::CLEARLY_TOO_FEW),
        };
        found.clearly_good.into_iter().for_each(|value| push(good, value));
        found.clearly_bad.into_iter().for_each(|value| push(bad, value));
        found.refuted.into_iter().for_each(|rate| push(metric::REFUTED, rate));
        found.worse_below.into_iter().for_each(|rate| push(metric::BAD_BELOW, rate));
        found.collapse.into_iter().for_each(|bad| push(metric::BAD_RATE_ABOVE, bad));
        found.metastable.into_iter().for_each(|bad| push(metric::BAD_RATE_AFTER_BURST, bad));
        if let Some(at) = &found.at {
            replication.push("all", metric::WORST_BAD_RATE, at.bad_rate, at.requests);
            replication.push("all", metric::PROBE, at.measured_s, at.requests);
            let name = scenario.model_names().get(at.worst_model).cloned().unwrap_or_default();
            replication.notes.push(format!("worst-model:{name}"));
        }
        replication.notes.extend(notes(found).into_iter().map(str::to_string));
        replication.push("all", metric::PROBES, f64::from(found.probes), found.requests);
        replication.measures.extend(own);
    }
}

/// The flags of an answer, in words.
pub const FLAGS: [(&str, &str); 8] = [
    (
        "never-good",
        "no load was within the target; the goodput is 0. Is the SLO below one request's latency?",
    ),
    (
        "undecided",
        "the interval at the answer contains the target; the load is clearly good up to `clearly_good_per_s` and clearly bad from `clearly_bad_per_s`; of one that is missing no probed load was clear. More `requests_per_model` narrow this range.",
    ),
    ("short-probe", "`probe_s` is shorter than the verdict at the answer needs; remove it."),
    ("probe-cut-off", "the probe at the answer was cut off before its verdict was clear."),
    (
        "not-monotone",
        "a lower rate was worse than a higher one, so the search may miss the peak; see `bad_below_per_s`.",
    ),
    (
        "metastable",
        "at 1.5 % less than the answer the system does not come back from a burst (twice the rate for one SLO): a share of `bad_rate_after_burst` is bad long after it. Whether a run at the answer holds is a matter of luck.",
    ),
    (
        "refuted",
        "a longer probe refuted a higher peak, `refuted_per_s`; the answer comes from longer probes.",
    ),
    ("diverging", "the backlog still grew in the run at the answer."),
];

/// The flags of an answer that speak of its trust.
pub fn flags(row: &orrery_results::Row) -> Vec<&'static str> {
    FLAGS.into_iter().map(|f| f.0).filter(|flag| row.has_flag(flag)).collect()
}

/// What is to be known of an answer before it is believed, as flags.
fn notes(found: &Found) -> Vec<&'static str> {
    let doubt = found.at.as_ref().and_then(|at| at.doubt).map(|doubt| match doubt {
        Doubt::Undecided => "undecided",
        Doubt::Short => "short-probe",
        Doubt::TooLong => "probe-cut-off",
    });
    let flags = [
        (found.never_good, "never-good"),
        (found.good_up_to.is_some(), "no-peak"),
        (found.worse_below.is_some(), "not-monotone"),
        (found.metastable.is_some(), "metastable"),
        (found.refuted.is_some(), "refuted"),
    ];
    doubt.into_iter().chain(flags.into_iter().filter(|f| f.0).map(|f| f.1)).collect()
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

/// Whether its arrivals end by themselves, and all of them are judged.
fn is_finite(scenario: &Scenario) -> bool {
    scenario.file.arrivals.as_ref().is_some_and(Arrivals::is_finite)
}

/// A scenario whose arrivals do not end.
fn endless(mut scenario: Scenario) -> Scenario {
    scenario.file.until_s = None;
    if let Some(arrivals) = &mut scenario.file.arrivals {
        arrivals.requests = Some(REQUESTS_ENDLESS);
        arrivals.duration_s = None;
    }
    scenario
}

/// The longest SLO of any application.
pub fn longest_slo(setup: &Setup) -> Span {
    setup.apps.iter().map(|a| a.slo).chain(setup.slo.iter().copied()).max().unwrap_or(Span::ZERO)
}

fn first_kind(scenario: &Scenario) -> u32 {
    scenario.file.device.first().map_or(1, |d| d.count)
}

fn with_devices(scenario: &Scenario, count: u32) -> Result<Scenario, SpecError> {
    scenario.with(&[("device[0].count".to_string(), Value::Integer(count.into()))])
}

#[cfg(test)]
mod holds;
#[cfg(test)]
mod tests;
