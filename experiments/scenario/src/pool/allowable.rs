//! The allowable throughput (Kairos, §3): the highest rate of arrivals at which the percentile of the
//! latencies is within the QoS.
//!
//! Each seed is a search of its own (see [`search`](crate::search)); a search knows nothing of bounds but
//! where to begin. One seed's rate is a random number, and the seeds' mean has an interval. A rate below
//! one that failed may hold by chance: the rate found is one that holds with one that does not within
//! `precision` above it.

use super::PoolRun;
use crate::error::SpecError;
use crate::search::{self, Bracket, Criterion, Load, Probe, REQUESTS_ENDLESS, Rule, Stop};
use orrery_sim::stats::{Interval, replications};
use orrery_sim::time::Span;
use orrery_traces::arrivals::ArrivalLaw;
use thiserror::Error;

/// The lowest and highest rate that a search may begin with.
const RATES_PER_S: (f64, f64) = (1e-3, 1e7);

/// How to search.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// The rate to begin with.
    pub from_per_s: f64,
    /// The rate found and the one that fails differ by this share at most.
    pub precision: f64,
    /// The seeds.
    pub seeds: Vec<u64>,
}

/// The allowable throughput of a pool.
#[derive(Clone, Debug, PartialEq)]
pub struct Allowable {
    /// By seed: the highest rate that holds; 0 when none does.
    pub by_seed_per_s: Vec<f64>,
    /// Their mean.
    pub rate_per_s: f64,
    /// Its 95 % interval, where there are several seeds.
    pub interval_per_s: Option<Interval>,
    /// Runs simulated.
    pub runs: u64,
}

/// What can be wrong with a search.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum SearchError {
    #[error(transparent)]
    Spec(#[from] SpecError),
    #[error("the QoS still holds at {rate_per_s} queries/s, the highest rate that is tried")]
    Unbounded { rate_per_s: f64 },
}

/// Searches the allowable throughput. `run` says all but the rate and the seed; its arrivals are scaled.
///
/// # Errors
/// As [`probe`], when a setting is out of range, and when the QoS holds at any rate.
pub fn allowable(run: &PoolRun<'_>, search: &Search) -> Result<Allowable, SearchError> {
    let out = |key: &str, found: f64, allowed: &str| {
        Err(SpecError::value(key, found, allowed, "choose another").into())
    };
    if !(RATES_PER_S.0..=RATES_PER_S.1).contains(&search.from_per_s) {
        return out("from_per_s", search.from_per_s, "a rate from 0.001 to 1e7");
    }
    if !(1e-6..=0.5).contains(&search.precision) {
        return out("precision", search.precision, "a share from 0.000001 to 0.5");
    }
    if search.seeds.is_empty() {
        return out("seeds", 0.0, "at least one seed");
    }
    // Small steps first: whoever calls has a good idea of the rate.
    let bracket = Bracket {
        start: search.from_per_s,
        tolerance: search.precision,
        target: None,
        step: 1.0 + 8.0 * search.precision,
        step_max: 4.0,
        around: false,
    };
    let mut runs = 0;
    let mut by_seed_per_s = Vec::with_capacity(search.seeds.len());
    for &seed in &search.seeds {
        let found = bracket.highest(|rate_per_s, _| {
            runs += 1;
            probe(&PoolRun { seed, ..run.clone() }, rate_per_s, search.precision)
        })?;
        if let Some(rate_per_s) = found.good_up_to {
            return Err(SearchError::Unbounded { rate_per_s });
        }
        by_seed_per_s.push(found.value.unwrap_or(0.0));
    }
    let rate_per_s = by_seed_per_s.iter().sum::<f64>() / by_seed_per_s.len() as f64;
    let interval_per_s = replications(&by_seed_per_s);
    Ok(Allowable { by_seed_per_s, rate_per_s, interval_per_s, runs })
}

/// Whether the QoS holds at a rate, by `run`'s number of queries unless it is clear before.
///
/// # Errors
/// When a parameter of the arrivals is out of range, or the counts are not those of the model's kinds.
pub fn probe(run: &PoolRun<'_>, rate_per_s: f64, precision: f64) -> Result<Probe, SpecError> {
    let arrivals = at_rate(run.arrivals, rate_per_s)?;
    let endless = PoolRun { arrivals: &arrivals, queries: REQUESTS_ENDLESS, ..run.clone() };
    let rule = Rule {
        criterion: Criterion::BadRate,
        target: 1.0 - run.percentile,
        tolerance: precision,
        requests_per_model: run.queries.saturating_sub(run.warm_up),
        warm_up: Span::from_secs_f64(run.warm_up as f64 / rate_per_s),
        least: Span::ZERO,
        exactly: None,
        stop: Stop::Clear,
        load: Load::Steady { rate_per_s, capacity_per_s: None },
        moves: None,
        by_flow: false,
    };
    search::probe(&endless.setup()?, run.policy, run.seed, rule)
}

/// A law at another rate.
fn at_rate(law: &ArrivalLaw, rate_per_s: f64) -> Result<ArrivalLaw, SpecError> {
    Ok(law.scaled(rate_per_s / law.mean_rate_per_s()?))
}
