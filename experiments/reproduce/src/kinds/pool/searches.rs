//! Searches for the best pool, and what is told of them: how many evaluations, how good.

use super::evaluate::Evaluator;
use super::scheme::Scheme;
use super::world::{World, planner};
use crate::searching::{Algorithm, Searching};
use orrery_results::metric;
use orrery_results::metric::ALLOWABLE_THROUGHPUT as ALLOWABLE;
use orrery_run::SpecError;
use orrery_solvers::search::annealing::Annealing;
use orrery_solvers::search::bayesian::Bayesian;
use orrery_solvers::search::genetic::Genetic;
use orrery_solvers::search::{
    Found, Rules, SearchError, annealing, bayesian, genetic, kairos_plus, random,
};
use orrery_solvers::{Pool, Ranking, Space};
use orrery_sweep::replication::{Measure, Replication};
use rayon::prelude::*;

/// A pool is near the optimum when it carries this share of it.
const NEAR: f64 = 0.99;

/// A search under one world, in all its runs.
pub struct Ran {
    /// Pools of the space after the prefilter.
    pub pools: usize,
    /// By run.
    pub found: Vec<Found>,
    /// What the best of all pools carries, where every pool was evaluated.
    optimum_per_s: Option<f64>,
    /// The homogeneous pool under the search's scheme, as it is and scaled to the budget.
    homogeneous_per_s: [f64; 2],
    until_per_s: Option<f64>,
}

/// Runs a search as often as it says. `until_per_s` is the throughput that it is to reach.
///
/// # Errors
/// When a pool cannot be evaluated, or the prefilter leaves none.
pub fn run(
    spec: &Searching,
    scheme: &Scheme,
    evaluator: &Evaluator<'_>,
    world: &World,
    until_per_s: Option<f64>,
) -> Result<Ran, SpecError> {
    let runs = if spec.algorithm == Algorithm::KairosPlus { 1 } else { spec.runs };
    let all = if spec.optimum || runs > 1 || spec.prefilter_per_s.is_some() {
        Some(evaluator.each(world, world.space.pools(), scheme)?)
    } else {
        None
    };
    let (space, ranking) = match (spec.prefilter_per_s, &all) {
        (Some(least), Some(all)) => filtered(world, all, least)?,
        _ => (world.space.clone(), world.ranking.clone()),
    };
    let homogeneous = world.homogeneous();
    let cost = homogeneous.cost(world.space.catalogue());
    let own = evaluator.value(world, &homogeneous, scheme)?.mean();
    let homogeneous_per_s = [own, world.space.scaled_to_budget(own, cost)];
    let rules = Rules {
        evaluations_max: spec.evaluations_max.unwrap_or(usize::MAX),
        drop_sub_configurations: spec.prune,
    };
    let one = |seed: u64| {
        let mut evaluate = |pool: &Pool| evaluator.value(world, pool, scheme).map(|v| v.mean());
        let e = &mut evaluate;
        match spec.algorithm {
            Algorithm::KairosPlus => kairos_plus(&space, &ranking, rules, e),
            Algorithm::Random => random(&space, seed, rules, e),
            Algorithm::Genetic => genetic(&space, &Genetic::default(), seed, rules, e),
            Algorithm::Annealing => annealing(&space, &Annealing::default(), seed, rules, e),
            Algorithm::Bayesian => bayesian(&space, &Bayesian::default(), seed, rules, e),
        }
        .map_err(of_search)
    };
    let found: Vec<Found> =
        (1..=u64::from(runs)).into_par_iter().map(one).collect::<Result<_, _>>()?;
    let optimum_per_s = all
        .filter(|_| spec.optimum)
        .and_then(|all| all.iter().map(|(_, v)| v.mean()).reduce(f64::max));
    let pools = space.pools().len();
    let until_per_s = until_per_s.map(|rate| rate * (1.0 - spec.until_within));
    Ok(Ran { pools, found, optimum_per_s, homogeneous_per_s, until_per_s })
}

fn filtered(
    world: &World,
    all: &[(Pool, super::evaluate::Value)],
    least: f64,
) -> Result<(Space, Ranking), SpecError> {
    let keep: Vec<bool> = all.iter().map(|(_, v)| v.mean() >= least).collect();
    let at = |pool: &Pool| world.space.position(pool).expect("it is of the space");
    let wrong = |e: orrery_solvers::PlannerError| planner("search.prefilter_per_s", &e);
    let space = world.space.filtered(|pool| keep[at(pool)]).map_err(wrong)?;
    let bounds = space.pools().iter().map(|p| world.ranking.bounds_per_s()[at(p)]).collect();
    let ranking = Ranking::of_bounds(&space, bounds).map_err(wrong)?;
    Ok((space, ranking))
}

/// The evaluation's error, or the planner's as one of this program.
pub(super) fn of_search(error: SearchError<SpecError>) -> SpecError {
    match error {
        SearchError::Evaluation { error, .. } => error,
        SearchError::Planner(error) => planner("search", &error),
        other => {
            SpecError::value("search", other, "throughputs of at least 0", "change the conditions")
        }
    }
}

impl Ran {
    /// What is told of each run.
    pub fn replications(&self) -> Vec<Replication> {
        self.found.iter().zip(1..).map(|(found, seed)| self.replication(found, seed)).collect()
    }

    fn replication(&self, found: &Found, seed: u64) -> Replication {
        let n = found.evaluations();
        let pools = self.pools as f64;
        let mut measures = Vec::new();
        let mut push = |metric: &str, value: f64| {
            measures.push(Measure::of("all", metric, value, n as u64));
        };
        push(ALLOWABLE, found.best.allowable_per_s);
        push(metric::POOLS, pools);
        push(metric::EVALUATIONS, n as f64);
        push(metric::EVALUATIONS_SHARE, n as f64 / pools);
        let best = found.evaluations_until(found.best.allowable_per_s).unwrap_or(n) as f64;
        push(metric::EVALUATIONS_TO_BEST, best);
        push(metric::EVALUATIONS_TO_BEST_SHARE, best / pools);
        let [own, scaled] =
            self.homogeneous_per_s.map(|rate| found.evaluations_below(rate) as f64 / n as f64);
        push(metric::BELOW_UNSCALED_HOMOGENEOUS, own);
        push(metric::BELOW_HOMOGENEOUS, scaled);
        if let Some(optimum) = self.optimum_per_s {
            push(metric::BEST_OVER_OPTIMUM, found.best.allowable_per_s / optimum);
            for (name, rate) in [("optimum", optimum), ("near_optimum", NEAR * optimum)] {
                let until = found.evaluations_until(rate);
                push(&metric::REACHED.name(&[name]), f64::from(u8::from(until.is_some())));
                if let Some(until) = until {
                    push(&metric::EVALUATIONS_TO.name(&[name]), until as f64);
                    push(&metric::EVALUATIONS_TO_SHARE.name(&[name]), until as f64 / pools);
                }
            }
        }
        if let Some(rate) = self.until_per_s {
            let until = found.evaluations_until(rate);
            push(metric::REACHED_SHARE, f64::from(u8::from(until.is_some())));
            until.iter().for_each(|until| push(metric::EVALUATIONS_UNTIL_REACHED, *until as f64));
        }
        Replication { seed, measures, ..Replication::default() }
    }
}
