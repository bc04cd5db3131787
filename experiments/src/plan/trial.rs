//! Simulations of a pool: one run, the verdict of several seeds, and the highest rate that a pool
//! carries.
//!
//! A run at a rate has a fixed number of requests (of a trace all), so its verdict is a fact about these
//! requests: the worst model's share of bad ones is within the target or not. Seeds are replications,
//! and all pools meet the same requests at the same rate and seed.

use super::problem::{Group, Problem};
use super::watch::Watch;
use orrery_scenario::{PolicySpec, Scenario, SpecError};
use orrery_sim::driver::simulate;
use orrery_sim::stats::{Interval, replications};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// The lowest and the highest rate tried, as shares of the first.
const REACH: f64 = 1e5;
/// Lower rates that are looked at once the highest is found.
const BELOW: [f64; 3] = [0.9, 0.7, 0.5];
/// A run may have so many times the requests that are expected.
const SPARE: f64 = 1.25;

/// What a run showed.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The worst model's share of bad requests.
    pub bad_rate: f64,
    /// Which model that is.
    pub worst_model: usize,
    /// The share of all requests that were good.
    pub good_share: f64,
    /// By type: the share of the instances' time that they computed; `NaN` where there is none.
    pub busy: Vec<f64>,
    /// By type and model: the largest batch, in items.
    pub largest: Vec<Vec<u32>>,
}

/// A pool at a rate, over all seeds.
#[derive(Clone, Debug)]
pub struct Check {
    /// The worst model's share of bad requests, by seed.
    pub bad_by_seed: Vec<f64>,
    /// Their mean.
    pub bad_rate: f64,
    /// Its 95 % interval.
    pub interval: Option<Interval>,
    /// The share of all requests that were good.
    pub good_share: f64,
    /// Of the first seed.
    pub seen: Seen,
}

impl Check {
    /// Whether the mean is within the target.
    pub fn meets(&self, target: f64) -> bool {
        self.bad_rate <= target
    }

    /// Whether all of the interval is.
    pub fn is_sure(&self, target: f64) -> bool {
        self.meets(target) && self.interval.is_some_and(|i| i.high <= target)
    }
}

/// The highest rate that a pool carries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edge {
    /// By seed, in requests/s; 0 where none is carried.
    pub by_seed_per_s: Vec<f64>,
    /// Their mean.
    pub rate_per_s: f64,
    /// Its 95 % interval.
    pub interval: Option<Interval>,
    /// A lower rate was not carried.
    pub not_monotone: bool,
    /// The search gave up: any rate was carried.
    pub unbounded: bool,
}

/// Where pools of a group are simulated.
pub struct Bench<'a> {
    /// What is searched.
    pub problem: &'a Problem,
    /// The models and their load.
    pub group: &'a Group,
    /// Who schedules.
    pub policy: &'a PolicySpec,
    runs: &'a AtomicU64,
}

impl<'a> Bench<'a> {
    /// A bench that counts its runs.
    pub fn new(
        problem: &'a Problem,
        group: &'a Group,
        policy: &'a PolicySpec,
        runs: &'a AtomicU64,
    ) -> Bench<'a> {
        Bench { problem, group, policy, runs }
    }

    fn target(&self) -> f64 {
        self.problem.plan.target()
    }

    fn first_seed(&self) -> u64 {
        self.problem.plan.seed
    }

    /// Whether a pool carries a rate, with the first seed alone.
    ///
    /// # Errors
    /// When the pool cannot be simulated.
    pub fn holds(&self, counts: &[u32], rate_per_s: f64) -> Result<bool, SpecError> {
        self.holds_with(counts, rate_per_s, self.first_seed())
    }

    fn holds_with(&self, counts: &[u32], rate_per_s: f64, seed: u64) -> Result<bool, SpecError> {
        let scenario = self.group.scenario(self.problem, counts, rate_per_s)?;
        Ok(self.run(&scenario, rate_per_s, seed, true)?.is_some())
    }

    /// A run; none when it was stopped because the target was missed for sure.
    fn run(
        &self,
        scenario: &Scenario,
        rate_per_s: f64,
        seed: u64,
        stop_early: bool,
    ) -> Result<Option<Seen>, SpecError> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let setup = scenario.setup(seed)?;
        let group = self.group;
        let scale = if group.is_trace { rate_per_s / group.load_per_s } else { 1.0 };
        let limit = |expected: &f64| (expected * scale * SPARE + 20.0) * self.target();
        let kinds =
            scenario.file.device.iter().map(|d| {
                self.problem.plan.instance.iter().position(|t| t.kind == d.kind).unwrap_or(0)
            });
        let kinds: Vec<usize> = kinds.collect();
        let devices = setup.world.core.devices.iter();
        let watch = Watch {
            from: setup.window.from,
            limit: group.expected.iter().map(limit).collect(),
            stop_early,
            over: false,
            bad: vec![0; group.models.len()],
            all: vec![0; group.models.len()],
            kind_of: devices.map(|d| kinds[d.kind as usize]).collect(),
            busy_ns: vec![0; self.problem.plan.instance.len()],
            largest: vec![vec![0; group.models.len()]; self.problem.plan.instance.len()],
        };
        let policy = setup.policy(self.policy, seed);
        let finished = simulate(&setup.world, setup.sources(seed)?, policy, watch);
        if let Some(failure) = finished.failure {
            return Err(setup.failed(&failure));
        }
        let watch = finished.observer;
        if watch.over {
            return Ok(None);
        }
        let seen = watch.seen(finished.end);
        Ok((!stop_early || seen.bad_rate <= self.target()).then_some(seen))
    }

    /// A pool at a rate, over all seeds.
    ///
    /// # Errors
    /// When the pool cannot be simulated.
    pub fn check(&self, counts: &[u32], rate_per_s: f64) -> Result<Check, SpecError> {
        let scenario = self.group.scenario(self.problem, counts, rate_per_s)?;
        let one = |seed: &u64| {
            let seen = self.run(&scenario, rate_per_s, *seed, false)?;
            Ok(seen.unwrap_or_default())
        };
        let seeds = self.problem.seeds();
        let all: Vec<Seen> = seeds.par_iter().map(one).collect::<Result<_, SpecError>>()?;
        let bad_by_seed: Vec<f64> = all.iter().map(|s| s.bad_rate).collect();
        let n = all.len() as f64;
        Ok(Check {
            bad_rate: bad_by_seed.iter().sum::<f64>() / n,
            interval: replications(&bad_by_seed).map(|i| i.within(0.0, 1.0)),
            good_share: all.iter().map(|s| s.good_share).sum::<f64>() / n,
            seen: all.into_iter().next().unwrap_or_default(),
            bad_by_seed,
        })
    }

    /// A pool at a rate with the first seed, whatever becomes of it.
    ///
    /// # Errors
    /// When the pool cannot be simulated.
    pub fn seen(&self, counts: &[u32], rate_per_s: f64) -> Result<Seen, SpecError> {
        let scenario = self.group.scenario(self.problem, counts, rate_per_s)?;
        Ok(self.run(&scenario, rate_per_s, self.first_seed(), false)?.unwrap_or_default())
    }

    /// The highest rate that a pool carries with the first seed, looked for from a rate on.
    ///
    /// # Errors
    /// When the pool cannot be simulated.
    pub fn highest(&self, counts: &[u32], from_per_s: f64) -> Result<f64, SpecError> {
        let ask = |rate: f64| self.holds(counts, rate);
        Ok(highest(from_per_s, self.problem.plan.precision, ask)?.0)
    }

    /// The highest rate with each seed, looked for from a rate on.
    ///
    /// # Errors
    /// When the pool cannot be simulated.
    pub fn edge(&self, counts: &[u32], from_per_s: f64) -> Result<Edge, SpecError> {
        let seeds = self.problem.seeds();
        let of = |seed: &u64| {
            let ask = |rate: f64| self.holds_with(counts, rate, *seed);
            highest(from_per_s, self.problem.plan.precision, ask)
        };
        let found: Vec<(f64, bool)> = seeds.par_iter().map(of).collect::<Result<_, _>>()?;
        let by_seed_per_s: Vec<f64> = found.iter().map(|f| f.0).collect();
        let first = by_seed_per_s.first().copied().unwrap_or(0.0);
        let lower: Vec<bool> = match first > 0.0 {
            true => BELOW
                .par_iter()
                .map(|share| self.holds(counts, first * share))
                .collect::<Result<_, _>>()?,
            false => Vec::new(),
        };
        let interval = replications(&by_seed_per_s).map(|i| i.within(0.0, f64::INFINITY));
        Ok(Edge {
            rate_per_s: by_seed_per_s.iter().sum::<f64>() / by_seed_per_s.len() as f64,
            interval,
            not_monotone: lower.contains(&false),
            unbounded: found.iter().any(|f| f.1),
            by_seed_per_s,
        })
    }
}

/// The highest rate that holds, within the precision below one that does not, and whether the search
/// gave up because all held; 0 when none holds.
fn highest(
    from: f64,
    precision: f64,
    mut holds: impl FnMut(f64) -> Result<bool, SpecError>,
) -> Result<(f64, bool), SpecError> {
    let (mut low, mut high) = (from, from);
    // Small steps first: whoever asks has a good idea of the rate.
    let mut step = 1.0 + 4.0 * precision;
    if holds(from)? {
        loop {
            high = low * step;
            if high > from * REACH {
                return Ok((low, true));
            }
            if !holds(high)? {
                break;
            }
            low = high;
            step = (step * step).min(4.0);
        }
    } else {
        loop {
            low = high / step;
            if low < from / REACH {
                return Ok((0.0, false));
            }
            if holds(low)? {
                break;
            }
            high = low;
            step = (step * step).min(4.0);
        }
    }
    while high > low * (1.0 + precision) {
        let middle = (low * high).sqrt();
        if holds(middle)? { low = middle } else { high = middle }
    }
    Ok((low, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_ends_next_to_the_edge_from_wherever_it_begins() {
        for edge in [0.5, 3.0, 100.0, 2_345.0] {
            for from in [0.9, 99.0, 2e4] {
                let mut runs = 0;
                let found = highest(from, 0.01, |rate| {
                    runs += 1;
                    Ok(rate <= edge)
                });
                let (found, gave_up) = found.unwrap();
                assert!(found <= edge && found * 1.01 >= edge && !gave_up, "{found} {edge}");
                assert!(runs < 40, "{runs} runs");
            }
        }
        assert_eq!(highest(1.0, 0.1, |_| Ok(false)).unwrap(), (0.0, false));
        assert!(highest(1.0, 0.1, |_| Ok(true)).unwrap().1);
    }
}
