//! What a search found, and what the searches of several seeds found together.

use super::Probe;
use super::crossing::ERRORS_95;
use orrery_sim::stats::{Interval, replications};

/// An answer is undecided with an error of so many times the tolerance.
pub(super) const UNDECIDED: f64 = 4.0;

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The highest good rate, or the smallest good number; `None` when there is no answer.
    pub value: Option<f64>,
    /// The probe that it was found by.
    pub at: Option<Probe>,
    /// No load was good, however small, or not even the most devices were enough.
    pub never_good: bool,
    /// Every rate was good, up to this one: there is no answer.
    pub good_up_to: Option<f64>,
    /// The highest rate (smallest number) that was good beyond doubt.
    pub clearly_good: Option<f64>,
    /// The lowest rate above the answer (largest number below it) that was bad beyond doubt.
    pub clearly_bad: Option<f64>,
    /// A rate that was bad below the answer, or below one that was good beyond doubt.
    pub worse_below: Option<f64>,
    /// The share of bad requests with 5 % more, where that is a collapse.
    pub collapse: Option<f64>,
    /// The share of bad requests with 1.5 % less, after a burst from which it does not come back.
    pub metastable: Option<f64>,
    /// The rate that was found first, where a longer probe refuted it.
    pub refuted: Option<f64>,
    /// It is the good end of a bracket, in which the share of bad requests jumps.
    pub by_bracket: bool,
    /// Where the target may be met beyond the seeds' spread: a bracket's ends, or the clear rates of what is undecided.
    pub within: Option<(f64, f64)>,
    /// About how many requests of each model would decide what is undecided.
    pub undecided: Option<u64>,
    /// Probes made.
    pub probes: u32,
    /// Requests simulated by all probes.
    pub requests: u64,
}

/// The 95 % interval of answers of some seeds: their spread, at least as wide as their own errors say, and above it the
/// width of brackets, which is no matter of chance ([`Found::within`]).
pub fn interval(values: &[f64], within: &[Option<(f64, f64)>]) -> Option<Interval> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let ends = || values.iter().zip(within).filter_map(|(v, w)| w.map(|(l, h)| (v - l, h - v)));
    let lines = || ends().filter(|(low, _)| *low > 0.0);
    let low = lines().map(|(low, _)| low * low).sum::<f64>().sqrt() / n;
    let high = lines().map(|(_, high)| high * high).sum::<f64>().sqrt() / n;
    let brackets = ends().filter(|(low, _)| *low <= 0.0).map(|(_, high)| high).sum::<f64>() / n;
    let seeds = replications(values);
    if seeds.is_none() && low + high + brackets == 0.0 {
        return None;
    }
    let seeds = seeds.unwrap_or(Interval::around(mean, 0.0));
    let (low, high) = (seeds.low.min(mean - low), seeds.high.max(mean + high) + brackets);
    Some(Interval { mean, low: low.max(0.0), high })
}

/// Whether the answers of some seeds are undecided together, where one is by itself: their interval is wider than that of
/// one search may be.
pub fn are_undecided(interval: Option<Interval>, tolerance: f64) -> bool {
    let most = ERRORS_95 * UNDECIDED * tolerance;
    interval.is_none_or(|i| i.width() / 2.0 > most * i.mean)
}

impl Found {
    /// Adds what a probe after a burst said.
    pub fn add_burst(&mut self, probe: &Probe) {
        (self.probes, self.requests) = (self.probes + 1, self.requests + probe.requests);
        self.metastable = stays_bad(probe);
    }
}

/// The share of bad requests long after a burst, where that is above the target beyond doubt.
pub(super) fn stays_bad(probe: &Probe) -> Option<f64> {
    (!probe.good && probe.is_sure()).then_some(probe.bad_rate)
}
