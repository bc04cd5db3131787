//! What a pool carries under a scheme, each asked for once and kept; and the pool that carries most.
//!
//! A value depends on the world, the pool and the scheme alone: not on what was asked before, and not
//! on how many threads ask.

use super::oracle::oracle;
use super::scheme::Scheme;
use super::world::World;
use orrery_results::metric::ALLOWABLE_THROUGHPUT as ALLOWABLE;
use orrery_run::search::{self, Bracket, Criterion, Load, Rule, Stop};
use orrery_run::{PolicySpec, SpecError};
use orrery_scenario::Scenario;
use orrery_sim::stats;
use orrery_sim::time::Span;
use orrery_solvers::search::threshold;
use orrery_solvers::{PlannerError, Pool};
use orrery_sweep::hash::spec_sha256;
use orrery_sweep::kept::Kept;
use orrery_sweep::replication::{Measure, Replication};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// The percentile that the QoS is of (§7).
const PERCENTILE: f64 = 0.99;
/// A search begins at this share of the upper bound: a hint, by which nothing but its length changes
/// beyond the precision.
const HINT: f64 = 0.6;
/// How many pools are raced at a time when the best of all is looked for.
const RACE: usize = 16;

/// What a pool carries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Value {
    /// By seed, in queries/s.
    pub by_seed_per_s: Vec<f64>,
    /// DRS's threshold.
    pub threshold: Option<u32>,
}

impl Value {
    /// The mean over seeds.
    pub fn mean(&self) -> f64 {
        stats::mean(&self.by_seed_per_s).expect("a value is of one seed or more")
    }
}

/// Values that were found already.
pub type Known = Mutex<BTreeMap<String, Value>>;

/// Evaluates pools.
pub struct Evaluator<'a> {
    seeds: Vec<u64>,
    known: &'a Known,
    kept: &'a Kept,
    runs: AtomicU64,
}

impl<'a> Evaluator<'a> {
    /// With these seeds; what is found is `known` at once, and kept.
    pub fn new(seeds: Vec<u64>, known: &'a Known, kept: &'a Kept) -> Evaluator<'a> {
        Evaluator { seeds, known, kept, runs: AtomicU64::new(0) }
    }

    /// The seeds.
    pub fn seeds(&self) -> &[u64] {
        &self.seeds
    }

    /// Evaluations that were made, and not found.
    pub fn evaluations(&self) -> u64 {
        self.runs.load(Ordering::Relaxed)
    }

    /// Everything that a value depends on, hashed.
    pub fn hash(&self, world: &World, pool: &Pool, scheme: &Scheme) -> String {
        let c = &world.conditions;
        let thresholds = match scheme {
            Scheme::Drs { .. } => format!("{:?}", c.drs_thresholds),
            _ => String::new(),
        };
        let truth = format!("{} {:?} {}", world.model, c.types, world.qos.ns());
        let run = format!("{:?} {:?} {} {}", c.sizes, c.arrivals, c.queries, c.precision);
        let from = format!("{:e} {:?}", self.hint(world, pool), self.seeds);
        spec_sha256(&[
            "pool as a scenario",
            &truth,
            &run,
            &from,
            scheme.text(),
            &thresholds,
            &pool.to_string(),
        ])
    }

    /// The values of several pools, in their order.
    ///
    /// # Errors
    /// The first of their errors.
    pub fn each(
        &self,
        world: &World,
        pools: &[Pool],
        scheme: &Scheme,
    ) -> Result<Vec<(Pool, Value)>, SpecError> {
        let one = |pool: &Pool| Ok((pool.clone(), self.value(world, pool, scheme)?));
        pools.par_iter().with_max_len(1).map(one).collect()
    }

    /// What a pool carries.
    ///
    /// # Errors
    /// When a run cannot be made, or the QoS holds at any rate.
    pub fn value(&self, world: &World, pool: &Pool, scheme: &Scheme) -> Result<Value, SpecError> {
        let hash = self.hash(world, pool, scheme);
        let known = |of: &Known| {
            of.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get(&hash).cloned()
        };
        if let Some(value) = known(self.known) {
            return Ok(value);
        }
        let what = format!("{} of {}, {}", pool, world.model, scheme.text());
        let runs = self.kept.runs(&hash, &what, || {
            self.runs.fetch_add(1, Ordering::Relaxed);
            Ok(to_runs(&self.evaluate(world, pool, scheme)?, &self.seeds))
        })?;
        let value = from_runs(&runs);
        let mut all = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        all.insert(hash, value.clone());
        Ok(value)
    }

    fn evaluate(&self, world: &World, pool: &Pool, scheme: &Scheme) -> Result<Value, SpecError> {
        let from_per_s = self.hint(world, pool);
        let by_seed_per_s = match scheme {
            Scheme::UpperBound => vec![world.bound_per_s(pool)],
            Scheme::Orcl => {
                let of = |&seed| oracle(world, pool, seed);
                self.seeds.iter().map(of).collect::<Result<_, _>>()?
            }
            Scheme::Policy(policy) => self.allowable(world, pool, policy, from_per_s)?,
            Scheme::Drs { scan } => return self.drs(world, pool, *scan, from_per_s),
        };
        Ok(Value { by_seed_per_s, threshold: None })
    }

    fn hint(&self, world: &World, pool: &Pool) -> f64 {
        (HINT * world.bound_per_s(pool)).clamp(0.01, 1e6)
    }

    /// The allowable throughput (Kairos, section 3) by seed: the highest rate at which the percentile of the latencies is
    /// within the QoS; 0 where there is none. A rate below one that failed may hold by chance: the rate found is one that
    /// holds with one that does not within `precision` above it.
    fn allowable(
        &self,
        world: &World,
        pool: &Pool,
        policy: &PolicySpec,
        from_per_s: f64,
    ) -> Result<Vec<f64>, SpecError> {
        let precision = world.conditions.precision;
        let scenario = world.of(pool)?;
        // Small steps first: the bound is a good idea of the rate.
        let bracket = Bracket {
            start: from_per_s,
            tolerance: precision,
            target: None,
            step: 1.0 + 8.0 * precision,
            step_max: 4.0,
            around: false,
            hint: None,
            most: None,
        };
        let of = |&seed: &u64| {
            let found = bracket.highest(|rate, _| probe(world, &scenario, policy, seed, rate))?;
            if let Some(rate) = found.good_up_to {
                let found = format!("the QoS still holds at {rate} queries/s");
                let remedy = "give more queries, or a smaller pool";
                return Err(SpecError::value(
                    "queries",
                    found,
                    "a rate that breaks the QoS",
                    remedy,
                ));
            }
            Ok(found.value.unwrap_or(0.0))
        };
        self.seeds.iter().map(of).collect()
    }

    /// The best threshold for the pool. The thresholds' values are means over the seeds.
    fn drs(
        &self,
        world: &World,
        pool: &Pool,
        scan: bool,
        mut from_per_s: f64,
    ) -> Result<Value, SpecError> {
        let mut found: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        let evaluate = |threshold: u32| {
            let policy = drs(threshold).map_err(Failed::Spec)?;
            let rates = self.allowable(world, pool, &policy, from_per_s).map_err(Failed::Spec)?;
            let rate_per_s = stats::mean(&rates).expect("rates are of one seed or more");
            if rate_per_s > 0.01 {
                from_per_s = rate_per_s;
            }
            found.insert(threshold, rates);
            Ok::<f64, Failed>(rate_per_s)
        };
        let thresholds = world.conditions.drs_thresholds.as_slice();
        let split = if scan {
            threshold::scan(thresholds, evaluate)
        } else {
            threshold::hill_climbing(thresholds, evaluate)
        };
        let split = split.map_err(|e| match e {
            Failed::Spec(e) => e,
            Failed::Planner(e) => super::world::planner("drs_thresholds", &e),
        })?;
        let by_seed_per_s = found.remove(&split.threshold).unwrap_or_default();
        Ok(Value { by_seed_per_s, threshold: Some(split.threshold) })
    }

    /// The pool that carries most of all, and its value; at a tie the one of the higher rank.
    ///
    /// Pools are taken in the order of their upper bounds. One that, at the rates that the best so far
    /// carries, breaks the QoS with every seed is not searched further: by the rule of the search it
    /// carries less.
    ///
    /// # Errors
    /// As [`Evaluator::value`].
    pub fn best(&self, world: &World, scheme: &Scheme) -> Result<(Pool, Value), SpecError> {
        let mut best: Option<(Pool, Value)> = None;
        for some in world.ranking.order().chunks(RACE) {
            let race = |&i: &usize| {
                let pool = &world.space.pools()[i];
                let hopeless = match &best {
                    Some((_, value)) => !self.may_beat(world, pool, scheme, value)?,
                    None => false,
                };
                let value = if hopeless { None } else { Some(self.value(world, pool, scheme)?) };
                Ok((i, value))
            };
            let raced: Result<Vec<(usize, Option<Value>)>, SpecError> =
                some.par_iter().with_max_len(1).map(race).collect();
            for (i, value) in raced? {
                let Some(value) = value else { continue };
                if best.as_ref().is_none_or(|(_, most)| value.mean() > most.mean()) {
                    best = Some((world.space.pools()[i].clone(), value));
                }
            }
        }
        Ok(best.expect("a space has pools"))
    }

    /// Whether a pool holds the QoS at the rate of the best with some seed.
    fn may_beat(
        &self,
        world: &World,
        pool: &Pool,
        scheme: &Scheme,
        best: &Value,
    ) -> Result<bool, SpecError> {
        let policies = match scheme {
            Scheme::Policy(policy) => vec![policy.clone()],
            Scheme::Drs { .. } => {
                world.conditions.drs_thresholds.iter().map(|&t| drs(t)).collect::<Result<_, _>>()?
            }
            Scheme::Orcl | Scheme::UpperBound => return Ok(true),
        };
        let scenario = world.of(pool)?;
        for policy in &policies {
            for (&seed, &rate) in self.seeds.iter().zip(&best.by_seed_per_s) {
                if rate <= 0.0 {
                    return Ok(true);
                }
                if probe(world, &scenario, policy, seed, rate)?.good {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// Why no threshold was found.
enum Failed {
    Spec(SpecError),
    Planner(PlannerError),
}

impl std::convert::From<PlannerError> for Failed {
    fn from(error: PlannerError) -> Failed {
        Failed::Planner(error)
    }
}

fn drs(threshold: u32) -> Result<PolicySpec, SpecError> {
    PolicySpec::parse(&format!("drs[threshold={threshold}]"))
}

/// Whether the QoS holds at a rate, by as many queries as the conditions say unless it is clear before.
fn probe(
    world: &World,
    pool: &Scenario,
    policy: &PolicySpec,
    seed: u64,
    rate_per_s: f64,
) -> Result<search::Probe, SpecError> {
    let rule = Rule {
        criterion: Criterion::BadRate,
        target: 1.0 - PERCENTILE,
        tolerance: world.conditions.precision,
        requests_per_model: world.conditions.queries,
        warm_up: Span::ZERO,
        least: Span::ZERO,
        exactly: None,
        stop: Stop::Clear,
        load: Load::Steady { rate_per_s, capacity_per_s: None },
        moves: None,
        by_flow: false,
    };
    search::probe(&pool.with_rate(rate_per_s)?.setup(seed)?, policy, seed, rule)
}

/// As an entry of the store.
fn to_runs(value: &Value, seeds: &[u64]) -> Vec<Replication> {
    let of = |(i, &value_per_s): (usize, &f64)| {
        let measure = |metric: &str, value: f64| Measure::of("all", metric, value, 1);
        let mut measures = vec![measure(ALLOWABLE, value_per_s)];
        measures.extend(value.threshold.map(|t| measure("threshold", f64::from(t))));
        let seed = seeds.get(i).copied().unwrap_or(0);
        Replication { seed, measures, ..Replication::default() }
    };
    value.by_seed_per_s.iter().enumerate().map(of).collect()
}

fn from_runs(runs: &[Replication]) -> Value {
    let by_seed_per_s = runs.iter().filter_map(|r| r.value("all", ALLOWABLE)).collect();
    let threshold = runs.first().and_then(|r| r.value("all", "threshold")).map(|t| t as u32);
    Value { by_seed_per_s, threshold }
}

#[cfg(test)]
mod tests;
