//! The allowable throughput (Kairos, §3): the highest rate of arrivals at which the percentile of the
//! latencies is within the QoS.
//!
//! Rates are doubled or halved until one holds and the next does not, and bisected then, for each seed by
//! itself; a search knows nothing of bounds but where to begin. One seed's rate is a random number, and
//! the seeds' mean has an interval. A rate below one that failed may hold by chance: the rate found is
//! one that holds with one that does not within `precision` above it.

use super::{PoolRun, simulate_pool};
use crate::error::SpecError;
use orrery_sim::stats::{Interval, replications};
use orrery_traces::arrivals::ArrivalLaw;
use thiserror::Error;

/// The lowest and highest rate tried.
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
/// As [`simulate_pool`], when a setting is out of range, and when the QoS holds at any rate.
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
    let mut runs = 0;
    let mut of_seed = |seed: u64| {
        let mut holds = |rate: f64| {
            runs += 1;
            let arrivals = at_rate(run.arrivals, rate)?;
            let one = PoolRun { arrivals: &arrivals, seed, stop_early: true, ..run.clone() };
            Ok::<bool, SpecError>(simulate_pool(&one)?.holds)
        };
        highest(search, &mut holds)
    };
    let by_seed: Result<Vec<f64>, SearchError> =
        search.seeds.iter().map(|&seed| of_seed(seed)).collect();
    let by_seed_per_s = by_seed?;
    let rate_per_s = by_seed_per_s.iter().sum::<f64>() / by_seed_per_s.len() as f64;
    let interval_per_s = replications(&by_seed_per_s);
    Ok(Allowable { by_seed_per_s, rate_per_s, interval_per_s, runs })
}

/// A law at another rate.
fn at_rate(law: &ArrivalLaw, rate_per_s: f64) -> Result<ArrivalLaw, SpecError> {
    Ok(law.scaled(rate_per_s / law.mean_rate_per_s()?))
}

/// The highest rate that holds, within the precision below one that does not.
fn highest(
    search: &Search,
    holds: &mut impl FnMut(f64) -> Result<bool, SpecError>,
) -> Result<f64, SearchError> {
    let (mut low, mut high) = (search.from_per_s, search.from_per_s);
    if holds(low)? {
        // Small steps first: whoever calls has a good idea of the rate.
        let mut step = 1.0 + 8.0 * search.precision;
        loop {
            high = (low * step).min(RATES_PER_S.1);
            if !holds(high)? {
                break;
            }
            if high >= RATES_PER_S.1 {
                return Err(SearchError::Unbounded { rate_per_s: high });
            }
            low = high;
            step = (step * step).min(4.0);
        }
    } else {
        let mut step = 1.0 + 8.0 * search.precision;
        loop {
            low = high / step;
            if low < RATES_PER_S.0 {
                return Ok(0.0);
            }
            if holds(low)? {
                break;
            }
            high = low;
            step = (step * step).min(4.0);
        }
    }
    while high > low * (1.0 + search.precision) {
        let middle = (low * high).sqrt();
        if holds(middle)? { low = middle } else { high = middle }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_ends_next_to_the_edge_from_wherever_it_begins() {
        for edge in [0.5, 3.0, 100.0, 12_345.0] {
            for from_per_s in [0.01, 99.0, 1e6] {
                let search = Search { from_per_s, precision: 0.01, seeds: vec![1] };
                let mut runs = 0;
                let found = highest(&search, &mut |rate| {
                    runs += 1;
                    Ok(rate <= edge)
                });
                let found = found.unwrap();
                assert!(found <= edge && found * 1.01 >= edge, "{found} {edge}");
                assert!(runs < 40, "{runs} runs");
            }
        }
        let search = Search { from_per_s: 1.0, precision: 0.1, seeds: vec![1] };
        assert_eq!(highest(&search, &mut |_| Ok(false)).unwrap(), 0.0);
        assert!(matches!(highest(&search, &mut |_| Ok(true)), Err(SearchError::Unbounded { .. })));
    }
}
