//! Searches for the pool that carries most, and what they have in common: each pool is evaluated at
//! most once, each evaluation is counted, and the way is kept.
//!
//! | search | where it is from |
//! |---|---|
//! | [`kairos_plus()`] | Kairos, Algorithm 1: in the order of the upper bounds |
//! | [`random()`] | RAND in Fig. 11 |
//! | [`genetic()`] | GENE in Fig. 11 |
//! | [`annealing()`] | simulated annealing, Fig. 2 |
//! | [`bayesian()`] | Ribbon's engine, in Fig. 11, for throughput |
//! | [`threshold`] | not over pools: DeepRecSys's split of the queries of one pool |
//!
//! Each gives the same answer whenever it is asked, and random ones draw from streams named after
//! them alone.

pub mod annealing;
pub mod bayesian;
mod explorer;
pub mod genetic;
mod kairos_plus;
mod random;
pub mod threshold;

pub use annealing::annealing;
pub use bayesian::bayesian;
pub use genetic::genetic;
pub use kairos_plus::kairos_plus;
pub use random::random;

pub(crate) use explorer::{Explorer, Look};

use crate::{PlannerError, Pool, Price};
use std::fmt;
use thiserror::Error;

/// Who knows what a pool carries: a simulation, a measurement, a formula.
///
/// A closure from a pool to a result is one.
pub trait Evaluate {
    /// Why a pool could not be evaluated.
    type Error;

    /// The allowable throughput of a pool in queries/s: the highest rate at which the QoS target is
    /// met. Finite, 0 or more, and the same whenever it is asked for the same pool.
    ///
    /// # Errors
    /// When it could not be found out.
    fn allowable_per_s(&mut self, pool: &Pool) -> Result<f64, Self::Error>;
}

impl<F, E> Evaluate for F
where
    F: FnMut(&Pool) -> Result<f64, E>,
{
    type Error = E;
    fn allowable_per_s(&mut self, pool: &Pool) -> Result<f64, E> {
        self(pool)
    }
}

/// Why a search came to nothing. `E` is the evaluator's.
#[derive(Clone, Debug, Error, PartialEq)]
#[allow(missing_docs)]
pub enum SearchError<E> {
    #[error("pool {pool} could not be evaluated: {error}")]
    Evaluation { pool: Pool, error: E },

    #[error("pool {pool} was evaluated to {value}; it must be a finite number, at least 0")]
    Value { pool: Pool, value: f64 },

    #[error(transparent)]
    Planner(#[from] PlannerError),
}

/// What every search obeys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The most pools that are evaluated; at least 1.
    pub evaluations_max: usize,
    /// Whether a pool is no longer looked at once one was evaluated that it is a sub-configuration
    /// of (§5.2). Right as long as more instances never carry less.
    pub drop_sub_configurations: bool,
}

/// No limit, and with the pruning that the paper gives to every search (§8.3).
impl Default for Rules {
    fn default() -> Rules {
        Rules { evaluations_max: usize::MAX, drop_sub_configurations: true }
    }
}

/// A pool that was evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The pool.
    pub pool: Pool,
    /// What it costs.
    pub cost: Price,
    /// Its allowable throughput, in queries/s.
    pub allowable_per_s: f64,
    /// The largest of this and all trials before it.
    pub best_per_s: f64,
}

/// How a search came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every pool was evaluated or ruled out. None is better, as far as what ruled them out is
    /// right: that bounds hold, and that more instances never carry less.
    Complete,
    /// The search's own rule says that it is over; there may be a better pool.
    Settled,
    /// The evaluations allowed were not enough: the search did not converge.
    OutOfEvaluations,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Ending::Complete => "every pool was evaluated or ruled out",
            Ending::Settled => "the search ended by its own rule; other pools were not looked at",
            Ending::OutOfEvaluations => {
                "the search did not converge: it ran out of evaluations; allow more"
            }
        })
    }
}

/// What a search found, and the way there.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The best trial: the highest throughput; at a tie the lowest cost, then the order of the
    /// space.
    pub best: Trial,
    /// Each pool evaluated, in the order of evaluation.
    pub trials: Vec<Trial>,
    /// How many pools there are.
    pub pools: usize,
    /// How many pools were ruled out because their upper bound is not above what was found.
    pub dropped_by_bound: usize,
    /// How many pools were ruled out as sub-configurations.
    pub dropped_as_sub_configurations: usize,
    /// How it ended.
    pub ending: Ending,
}

impl Found {
    /// How many pools were evaluated.
    pub fn evaluations(&self) -> usize {
        self.trials.len()
    }

    /// How many evaluations it took to reach a throughput; none when it was not reached.
    pub fn evaluations_until(&self, rate_per_s: f64) -> Option<usize> {
        self.trials.iter().position(|t| t.allowable_per_s >= rate_per_s).map(|i| i + 1)
    }

    /// How many of the pools evaluated carry less than this: of Fig. 2, with the throughput of the
    /// homogeneous pool.
    pub fn evaluations_below(&self, rate_per_s: f64) -> usize {
        self.trials.iter().filter(|t| t.allowable_per_s < rate_per_s).count()
    }
}
