//! The searches by name, an evaluator that keeps its own books, and a made-up truth.

use orrery_sim::rng::{fnv1a, keyed_uniform};
use orrery_solvers::search::annealing::Annealing;
use orrery_solvers::search::bayesian::Bayesian;
use orrery_solvers::search::genetic::Genetic;
use orrery_solvers::search::{
    Evaluate, Found, Rules, SearchError, annealing, bayesian, genetic, kairos_plus, random,
};
use orrery_solvers::{Pool, Ranking, Space, released, upper_bound_per_s};
use std::convert::Infallible;

/// No limits, and nothing is ruled out as a sub-configuration.
pub const NO_PRUNING: Rules = Rules { evaluations_max: usize::MAX, drop_sub_configurations: false };

/// What a pool is said to carry: its upper bound, less up to a seventh that depends on the pool.
pub fn below_bound(model: &str, seed: u64) -> impl Fn(&Pool) -> f64 {
    let ingredients = released::ingredients(model).unwrap();
    move |pool: &Pool| {
        let name = pool.0.iter().fold(0, |name, n| name * 100 + u64::from(*n));
        let share = 1.0 - keyed_uniform(seed, fnv1a("test-below"), name) / 7.0;
        upper_bound_per_s(&ingredients, pool).unwrap() * share
    }
}

/// A search with its default parameters.
pub type Search = Box<dyn Fn(&Space, &Ranking, Rules, u64, &mut Counted) -> Outcome>;
pub type Outcome = Result<Found, SearchError<Infallible>>;

/// An evaluator that keeps its own books.
pub struct Counted {
    pub value: Box<dyn Fn(&Pool) -> f64>,
    pub asked: Vec<Pool>,
}

impl Counted {
    pub fn new(value: impl Fn(&Pool) -> f64 + 'static) -> Counted {
        Counted { value: Box::new(value), asked: Vec::new() }
    }
}

impl Evaluate for Counted {
    type Error = Infallible;
    fn allowable_per_s(&mut self, pool: &Pool) -> Result<f64, Infallible> {
        self.asked.push(pool.clone());
        Ok((self.value)(pool))
    }
}

/// Every search that takes rules, by name.
pub fn searches() -> Vec<(&'static str, Search)> {
    vec![
        ("kairos+", Box::new(|space, ranking, rules, _, e| kairos_plus(space, ranking, rules, e))),
        ("random", Box::new(|space, _, rules, seed, e| random(space, seed, rules, e))),
        (
            "genetic",
            Box::new(|space, _, rules, seed, e| {
                genetic(space, &Genetic::default(), seed, rules, e)
            }),
        ),
        (
            "annealing",
            Box::new(|space, _, rules, seed, e| {
                annealing(space, &Annealing::default(), seed, rules, e)
            }),
        ),
        (
            "bayesian",
            Box::new(|space, _, rules, seed, e| {
                bayesian(space, &Bayesian::default(), seed, rules, e)
            }),
        ),
    ]
}

pub fn ranking(space: &Space, model: &str) -> Ranking {
    Ranking::new(space, &released::ingredients(model).unwrap()).unwrap()
}
