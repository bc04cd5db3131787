//! Ribbon (Li et al., "RIBBON: Cost-Effective and QoS-Aware Deep Learning Model Inference using a
//! Diverse Pool of Cloud Computing Instances", SC 2021): the cheapest pool that meets a QoS target
//! at a given load.
//!
//! ```text
//! score of a pool: below the target: 1/2 * met / target
//!                  otherwise:        1/2 + 1/2 * (1 - cost / highest cost)
//! the engine of `bayesian`, and after each evaluation:
//!     the target is met:     rule out every pool that costs more
//!     it is not:             rule out every sub-configuration
//! ```
//!
//! Facts are from Ribbon's released code: the score, the pruning, two random pools, xi of 0.1.
//!
//! # Differences from the released code
//! - The highest cost is that of the dearest pool in the space, which a budget may bound; Ribbon's
//!   is that of the largest count of every type.
//! - A pool that fails rules out the pools with no larger count of any type; the released code asks
//!   for a count of the first type that is smaller, and so keeps some that cannot succeed.
//! - It ends when nothing is open; the released code ends when a known optimum is met.

use super::bayesian::{self, Bayesian};
use super::{Ending, Explorer, Look, Rules, SearchError};
use crate::{PlannerError, Pool, Price, Space};
use orrery_sim::rng::Stream;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ribbon {
    /// The fraction of queries that must meet the QoS target: above 0, at most 1. Ribbon: 0.99.
    pub target: f64,
    /// The most pools that are evaluated; at least 1. Ribbon's code: 200 after the first two.
    pub evaluations_max: usize,
    /// The engine.
    pub engine: Bayesian,
}

impl Default for Ribbon {
    fn default() -> Ribbon {
        Ribbon { target: 0.99, evaluations_max: 202, engine: Bayesian::default() }
    }
}

/// A pool that was evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct MetTrial {
    /// The pool.
    pub pool: Pool,
    /// What it costs.
    pub cost: Price,
    /// The fraction of queries that met the target.
    pub met: f64,
    /// Ribbon's score.
    pub score: f64,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Cheapest {
    /// The cheapest pool evaluated that meets the target; none when none does.
    pub best: Option<MetTrial>,
    /// Each pool evaluated, in order.
    pub trials: Vec<MetTrial>,
    /// How many pools there are.
    pub pools: usize,
    /// How it ended.
    pub ending: Ending,
}

/// Ribbon's score of a pool: the higher the better, and above 1/2 only where the target is met.
pub fn score(met: f64, target: f64, cost: Price, highest: Price) -> f64 {
    if met < target {
        return met / target / 2.0;
    }
    let highest = highest.as_usd_per_hour();
    let share = if highest > 0.0 { cost.as_usd_per_hour() / highest } else { 1.0 };
    (1.0 - share) / 2.0 + 0.5
}

/// Searches with the stream `planner-ribbon` of the seed. `met` is the fraction of queries that a
/// pool serves in time at the load in question.
///
/// # Errors
/// When the parameters are wrong, or a pool cannot be evaluated.
pub fn ribbon<E>(
    space: &Space,
    asked: &Ribbon,
    seed: u64,
    mut met: impl FnMut(&Pool) -> Result<f64, E>,
) -> Result<Cheapest, SearchError<E>> {
    asked.engine.check()?;
    if !(asked.target > 0.0 && asked.target <= 1.0) {
        let (what, allowed) = ("target", "a fraction above 0 and at most 1");
        return Err(PlannerError::Number { what, value: asked.target, allowed }.into());
    }
    let highest = space.costs().iter().copied().max().unwrap_or(Price::ZERO);
    let mut trials: Vec<MetTrial> = Vec::new();
    let mut evaluate = |pool: &Pool| {
        let (met, cost) = (met(pool)?, pool.cost(space.catalogue()));
        let is_share = (0.0..=1.0).contains(&met);
        let score = if is_share { score(met, asked.target, cost, highest) } else { f64::NAN };
        trials.push(MetTrial { pool: pool.clone(), cost, met, score });
        Ok(score)
    };
    let rules = Rules { evaluations_max: asked.evaluations_max, drop_sub_configurations: false };
    let mut explorer = Explorer::new(space, rules, &mut evaluate)?;
    let mut stream = Stream::named(seed, "planner-ribbon", 0);
    let mut known: Vec<(usize, f64)> = Vec::new();
    while explorer.may_go_on() {
        let i = bayesian::next(&explorer, &asked.engine, &known, &mut stream);
        let score = match explorer.look(i) {
            Ok(Look::Value(score)) => score,
            Ok(Look::Dropped | Look::Spent) => continue,
            Err(SearchError::Value { pool, .. }) => {
                let value = trials.last().map_or(f64::NAN, |t| t.met);
                return Err(SearchError::Met { pool, value });
            }
            Err(error) => return Err(error),
        };
        known.push((i, score));
        if score >= 0.5 {
            let costs = space.costs();
            explorer.drop_bounded(|c| costs[c] > costs[i]);
        } else {
            explorer.drop_sub_configurations(i);
        }
    }
    let found = explorer.finish(false);
    let of_best = |t: &&MetTrial| t.pool == found.best.pool && t.met >= asked.target;
    let best = trials.iter().find(of_best).cloned();
    Ok(Cheapest { best, trials, pools: found.pools, ending: found.ending })
}
