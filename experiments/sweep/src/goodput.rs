//! Peak goodput: the highest offered rate that a cluster carries within its SLOs, and its inverse, the
//! fewest devices for a rate (Symphony, §2.1 and §5).
//!
//! ```text
//!  scenario ── the search asks ──> a probe at a rate (or with so many devices): is the worst model's
//!     │                           bad rate within the target?
//!     └── at the answer: one run with all metrics, whose rows the cell has beside the answer
//! ```
//!
//! What is searched is [`Searched`]: a scenario, or a file of tokens, whose requests are bad when their first token or
//! the further ones come too late.
//!
//! A request is bad when it is dropped or late. All policies meet the same arrivals at the same rate
//! and seed, and a rate only stretches them; each seed is a search of its own, so the interval over
//! seeds is the searches' spread, or wider by the errors of each.

pub use orrery_run::search::Criterion;

use super::replication::{DEVICES, Measure, PEAK, Replication};
use orrery_results::metric;
use orrery_run::SpecError;
use orrery_run::search::{Bracket, Doubt, Found, How, Probe, Terms, fewest};
use orrery_sim::time::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most devices that a search tries.
const MOST_DEVICES: u32 = 4_096;

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

/// What a search is made in.
pub trait Searched: Sized {
    /// Its policies.
    type Policy;

    /// It, and those made from it, share what is the same in all probes.
    ///
    /// # Errors
    /// When a probe's answer would depend on its length.
    fn for_probes(&self) -> Result<Self, SpecError>;

    /// Its mean rate, in requests per second.
    ///
    /// # Errors
    /// When it has no such rate.
    fn rate(&self) -> Result<f64, SpecError>;

    /// Whether its requests end by themselves, and all of them are judged.
    fn is_finite(&self) -> bool;

    /// What its devices can compute at most, where a closed form says so.
    ///
    /// # Errors
    /// When it cannot be set up.
    fn capacity_per_s(&self, policy: &Self::Policy, seed: u64) -> Result<Option<f64>, SpecError>;

    /// It at another rate.
    ///
    /// # Errors
    /// When it has no rate, or the rate is out of range.
    fn with_rate(&self, rate_per_s: f64) -> Result<Self, SpecError>;

    /// Its number of devices of the first kind.
    ///
    /// # Errors
    /// When devices cannot be counted.
    fn devices(&self) -> Result<u32, SpecError>;

    /// It with so many devices of the first kind.
    ///
    /// # Errors
    /// As [`Searched::devices`].
    fn with_devices(&self, count: u32) -> Result<Self, SpecError>;

    /// Is its load within the target?
    ///
    /// # Errors
    /// When it cannot be set up, or a run fails.
    fn probe(
        &self,
        search: &Search,
        policy: &Self::Policy,
        seed: u64,
        how: How,
    ) -> Result<Probe, SpecError>;

    /// One run with all metrics.
    ///
    /// # Errors
    /// As [`Searched::probe`].
    fn run_at(
        &self,
        search: &Search,
        policy: &Self::Policy,
        seed: u64,
    ) -> Result<Replication, SpecError>;

    /// The name of a model, where there are several to be told apart.
    fn model(&self, number: usize) -> Option<String>;
}

/// The refusal of a list that is over before anything counts, or nothing.
pub(crate) fn over_in_warm_up<S: Searched>(
    of: &S,
    (key, remedy): (&str, &str),
    (probe, how): (&Probe, How),
    warm_up: Span,
) -> Result<Option<SpecError>, SpecError> {
    if !of.is_finite() || probe.doubt != Some(Doubt::Short) || how.burst {
        return Ok(None);
    }
    let found = format!("a list that ends within the warm-up at {:.6} requests/s", of.rate()?);
    let allowed = format!("one that goes on for longer than {} s", warm_up.as_secs_f64());
    Ok(Some(SpecError::value(key, found, allowed, remedy)))
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
    /// Requests per model (on average) of a probe near the answer; half as many where the share is exact enough by then, up
    /// to 8 times as many where it is not (64 where the answer would be undecided). Another probe without a clear
    /// verdict after as many is undecided; then its estimate decides.
    pub requests_per_model: u64,
    /// Relative standard error of the answer, times 1.25; width of the final bracket where the share jumps.
    pub tolerance: f64,
    /// Arrivals before this time are not counted. Without it 6 s, in which rate estimates over 5 s settle, or in probes 40
    /// of the longest SLO where that is sooner and the policy does not plan in epochs. A list has the scenario's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up_s: Option<f64>,
    /// Minimum length of a probe before it can be called good. Without it 4 s, or 40 of the longest SLO where that is
    /// shorter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_s: Option<f64>,
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
            warm_up_s: None,
            least_s: None,
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
            if let Some(seconds) = seconds.filter(|s| !number(*s, 0.0, 86_400.0)) {
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
        format!("arrivals before {} s are not counted", self.run_warm_up_s())
    }

    /// The warm-up of the run at the answer.
    pub(crate) fn run_warm_up_s(&self) -> f64 {
        self.warm_up_s.unwrap_or(6.0)
    }

    /// The largest share of bad requests, in words.
    pub fn target_in_words(&self) -> String {
        let kind = match self.criterion {
            Criterion::BadRate => "dropped or late",
            Criterion::P99 => "late among the answered",
        };
        format!("at most {} % {kind}", self.target * 100.0)
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

    /// The metrics of the loads, or devices, next to the answer that are clearly good and clearly bad.
    pub(crate) fn clear(&self) -> [&'static str; 2] {
        match self.find {
            Find::Rate => [metric::CLEARLY_GOOD, metric::CLEARLY_BAD],
            Find::Devices => [metric::CLEARLY_ENOUGH, metric::CLEARLY_TOO_FEW],
        }
    }

    /// Searches, and runs at the answer: the cell's values of one seed.
    ///
    /// # Errors
    /// When there is no rate that can be changed, or a run cannot be made.
    pub fn run<S: Searched>(
        &self,
        of: &S,
        policy: &S::Policy,
        seed: u64,
    ) -> Result<Replication, SpecError> {
        let of = &of.for_probes()?;
        let at = |value: f64| match self.find {
            Find::Rate => of.with_rate(value),
            Find::Devices => of.with_devices(value as u32),
        };
        let found = match self.find {
            Find::Rate => {
                let capacity = of.capacity_per_s(policy, seed)?;
                Bracket::new(&self.terms(), of.rate()?, capacity, of.is_finite())
                    .highest(|rate, how| at(rate)?.probe(self, policy, seed, how))?
            }
            Find::Devices => {
                let probe = |n: f64, how| at(n)?.probe(self, policy, seed, how);
                let usual = |n: u32| probe(n.into(), How::USUAL);
                let mut found = fewest(of.devices()?, 1, MOST_DEVICES, usual)?;
                if let Some(value) = found.value {
                    found.add_burst(&probe(value, How { burst: true, ..How::USUAL })?);
                }
                found
            }
        };
        let mut replication = match found.value {
            Some(value) => at(value)?.run_at(self, policy, seed)?,
            _ => Replication { seed, ..Replication::default() },
        };
        self.add(&found, of, &mut replication);
        Ok(replication)
    }

    /// As the one search takes it.
    pub fn terms(&self) -> Terms {
        Terms {
            criterion: self.criterion,
            target: self.target,
            tolerance: self.tolerance,
            requests_per_model: self.requests_per_model,
            warm_up: self.warm_up_s.map(Span::from_secs_f64),
            least: self.least_s.map(Span::from_secs_f64),
            exactly: self.probe_s.map(Span::from_secs_f64),
        }
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
    fn add<S: Searched>(&self, found: &Found, of: &S, replication: &mut Replication) {
        let own = std::mem::take(&mut replication.measures);
        replication.measures.push(match (found.value, self.no_answer(found)) {
            (_, Some(why)) => Measure::unanswered("all", self.metric(), why, found.requests),
            // However small the load, too much of it was bad: that is the answer.
            (value, None) => Measure {
                within: found.within,
                ..Measure::of("all", self.metric(), value.unwrap_or(0.0), found.requests)
            },
        });
        let mut push = |metric: &str, value: f64| {
            replication.push("all", metric, value, found.requests);
        };
        let [good, bad] = self.clear();
        found.clearly_good.into_iter().for_each(|value| push(good, value));
        found.clearly_bad.into_iter().for_each(|value| push(bad, value));
        found.refuted.into_iter().for_each(|rate| push(metric::REFUTED, rate));
        found.worse_below.into_iter().for_each(|rate| push(metric::BAD_BELOW, rate));
        found.collapse.into_iter().for_each(|bad| push(metric::BAD_RATE_ABOVE, bad));
        found.metastable.into_iter().for_each(|bad| push(metric::BAD_RATE_AFTER_BURST, bad));
        found.undecided.into_iter().for_each(|n| push(metric::REQUESTS_TO_DECIDE, n as f64));
        if let Some(at) = &found.at {
            replication.push("all", metric::WORST_BAD_RATE, at.bad_rate, at.requests);
            replication.push("all", metric::PROBE, at.measured_s, at.requests);
            let worst = of.model(at.worst_model);
            replication.notes.extend(worst.map(|name| format!("worst-model:{name}")));
        }
        replication.notes.extend(notes(found).into_iter().map(str::to_string));
        replication.tolerance = (self.find == Find::Rate).then_some(self.tolerance);
        replication.push("all", metric::PROBES, f64::from(found.probes), found.requests);
        replication.measures.extend(own);
    }
}

/// The flags of an answer, in words.
pub const FLAGS: [(&str, &str); 9] = [
    (
        "never-good",
        "no load was within the target; the goodput is 0. Is the SLO below one request's latency?",
    ),
    (
        "bisected",
        "the share of SLO violations jumps at the answer (or the load is a list, which is judged whole): it is the highest probed rate within the target, and its interval reaches to the lowest one above it.",
    ),
    (
        "undecided",
        "the longest probe near the answer does not say it to four times the tolerance, and several seeds together not to eight times it; of devices, the 95 % interval at the answer spans the target. The load is clearly within it up to `clearly_good_per_s` (with `devices_clearly_enough`) and clearly above it from `clearly_bad_per_s` (with `devices_clearly_too_few`); where one is missing, no probed load was clear. Longer probes narrow this range: about `requests_to_decide` a model (`--requests-per-model`).",
    ),
    ("short-probe", "`probe_s` is shorter than the verdict at the answer needs; remove it."),
    ("probe-cut-off", "the probe at the answer was cut off before its verdict was clear."),
    (
        "not-monotone",
        "a lower rate violated the target where a higher one did not, so the search may miss the peak; see `bad_below_per_s`.",
    ),
    (
        "metastable",
        "at 1.5 % below the answer the system does not recover from a burst (twice the rate for one SLO): a share of `bad_rate_after_burst` still misses its SLO long after it. Whether a run at the answer holds is a matter of luck.",
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
    let doubt = found.at.as_ref().and_then(|at| at.doubt).filter(|_| found.undecided.is_none());
    let undecided = found.undecided.map(|_| "undecided");
    let doubt = doubt.map(|doubt| match doubt {
        Doubt::Undecided => "undecided",
        Doubt::Short => "short-probe",
        Doubt::TooLong => "probe-cut-off",
    });
    let flags = [
        (found.never_good, "never-good"),
        (found.by_bracket && found.value.is_some(), "bisected"),
        (found.good_up_to.is_some(), "no-peak"),
        (found.worse_below.is_some(), "not-monotone"),
        (found.metastable.is_some(), "metastable"),
        (found.refuted.is_some(), "refuted"),
    ];
    doubt
        .into_iter()
        .chain(undecided)
        .chain(flags.into_iter().filter(|f| f.0).map(|f| f.1))
        .collect()
}

#[cfg(test)]
mod law;
#[cfg(test)]
mod tests;
