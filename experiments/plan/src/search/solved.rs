//! A plan's problem with its answers, and what is said of a fleet as a whole.

use crate::input::problem::Problem;
use crate::search::answer::{Answer as Answered, Choice};
use orrery_solvers::Price;

/// A problem with its answers.
#[derive(Clone, Debug)]
pub struct Solved {
    /// What was changed; none in the plan as it is written.
    pub what_if: Option<String>,
    /// What was asked.
    pub problem: Problem,
    /// By group.
    pub answers: Vec<Answered>,
    /// Of a fleet: what is said of all its clusters.
    pub fleet: Option<Fleet>,
}

impl Solved {
    /// Whether each group has a pool that does what was asked.
    pub fn is_answered(&self) -> bool {
        let does = |a: &Answered, b: &Choice| {
            b.edge.rate_per_s > 0.0 && b.not_trusted(&self.problem, a.load_per_s).is_none()
        };
        self.answers.iter().all(|a| a.best().is_some_and(|b| does(a, b)))
    }
}

/// What is said of a fleet as a whole.
#[derive(Clone, Debug, Default)]
pub struct Fleet {
    /// All models, and the kind of each where there is an answer.
    pub homes: Vec<(String, Option<usize>)>,
    /// What all clusters cost.
    pub cost: Option<Price>,
    /// Whether no other assignment of whole models costs less, as far as one seed shows.
    pub proven: bool,
    /// No fleet costs less in dollars per hour, even with loads split between kinds; none without bounds.
    pub split_usd: Option<f64>,
    /// The next cheapest assignments by one seed: in words, and their costs.
    pub others: Vec<(String, Price)>,
    /// Where models do not run, and why.
    pub not_there: Vec<String>,
    /// What is not known.
    pub unknown: Vec<String>,
    /// How many assignments there are.
    pub assignments: f64,
    /// How many clusters they are made of.
    pub clusters: f64,
    /// How many of these were simulated.
    pub asked: usize,
    /// Runs of all kinds.
    pub runs: u64,
}

impl Fleet {
    /// By how much the answer may be above the cheapest fleet: 0.1 is a tenth.
    pub fn gap(&self) -> Option<f64> {
        let (cost, bound) = (self.cost?, self.split_usd?);
        (bound > 0.0).then(|| (cost.as_usd_per_hour() / bound - 1.0).max(0.0))
    }
}
