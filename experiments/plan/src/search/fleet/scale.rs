//! What clusters of one model serve, by their size: how many machines a cluster that was not simulated needs at least as
//! far as one seed shows, where the strict bounds are too loose to search by.
//!
//! A machine serves the more, the more of them are in its cluster: fewer requests wait. Of each model on each kind the
//! highest rates of a few sizes are looked for. A cluster of several models is taken to serve no more of each than one
//! of the same size that has it alone, and in no larger batches than the model's own arrivals make (`own`).

use super::placement::{Cluster, Homes};
use super::single_model::Own;
use crate::input::problem::{Group, Problem};
use crate::search::runs::Runs;
use crate::search::trial::Bench;
use orrery_run::SpecError;
use rayon::prelude::*;

/// The sizes that are looked at; of the last one also what larger clusters serve for each machine.
const SIZES: [u32; 9] = [1, 2, 3, 4, 6, 8, 12, 24, 64];
/// Rates are looked for to this share, or to the plan's where that is coarser.
const PRECISION: f64 = 0.03;

/// A size that was too small is too small by more than this.
const SLIGHTLY: f64 = 1e-3;

/// How much of a model's load one machine of a kind serves in a cluster of a size: 2 is twice the load.
#[derive(Clone, Debug)]
struct Rate {
    size: u32,
    share_of_one: f64,
}

/// A model on a kind.
#[derive(Clone, Debug)]
struct Alone {
    /// For rising sizes.
    rates: Vec<Rate>,
    /// By level of the day, the machines that its own arrivals need at least, where that is known.
    own: Vec<(f64, f64)>,
}

/// By model and kind; none where the model does not run.
pub struct Scale(Vec<Vec<Option<Alone>>>);

impl Scale {
    /// Simulates clusters of one model; of each kind no more machines than `most`.
    ///
    /// # Errors
    /// When a cluster cannot be simulated.
    pub fn new(
        problem: &Problem,
        whole: &Group,
        homes: &Homes,
        (most, runs): (&[u32], &Runs<'_>),
    ) -> Result<Scale, SpecError> {
        let kinds = problem.sales.len();
        let mut coarse = problem.clone();
        coarse.plan.precision = coarse.plan.precision.max(PRECISION);
        let problem = &coarse;
        let pairs = (0..homes.needs.len()).flat_map(|m| (0..kinds).map(move |k| (m, k)));
        let pairs: Vec<(usize, usize)> = pairs.collect();
        let of = |&(model, kind): &(usize, usize)| match homes.needs[model][kind] {
            Some(least) => {
                alone(problem, whole, (model, kind, least), (most[kind], runs)).map(Some)
            }
            None => Ok(None),
        };
        let all: Vec<Option<Alone>> =
            pairs.par_iter().with_max_len(1).map(of).collect::<Result<_, SpecError>>()?;
        Ok(Scale(all.chunks(kinds).map(<[Option<Alone>]>::to_vec).collect()))
    }

    /// The machines that a cluster takes of a share of the load, as a number that need not be whole; none where its kind
    /// is no home of a model. `most` are the machines that it has at most.
    pub fn machines(&self, (kind, set): Cluster, level: f64, most: u32) -> Option<f64> {
        let models: Option<Vec<&Alone>> = (0..self.0.len())
            .filter(|m| set >> m & 1 == 1)
            .map(|m| self.0[m][kind].as_ref())
            .collect();
        let models = models?;
        // As much as it takes in the smallest cluster that is large enough for it.
        let in_size = |n: u32| {
            let one = |alone: &&Alone| {
                let rate = alone.rates.iter().find(|rate| rate.size >= n).or(alone.rates.last());
                let own = alone.own.iter().find(|own| own.0 == level).map_or(0.0, |own| own.1);
                rate.map_or(0.0, |rate| level / rate.share_of_one).max(own)
            };
            models.iter().map(one).sum::<f64>()
        };
        let mut last = f64::INFINITY;
        for size in SIZES {
            last = in_size(size);
            if last <= f64::from(size) {
                // A size below it was too small.
                let below = SIZES.iter().rev().find(|s| **s < size).copied().unwrap_or(0);
                return Some(last.max(f64::from(below) + SLIGHTLY));
            }
        }
        Some(last.min(f64::from(most.max(1))))
    }

    /// What a model takes at least of a kind, in the largest cluster.
    pub fn least(&self, model: usize, kind: usize) -> Option<f64> {
        let alone = self.0[model][kind].as_ref()?;
        let own = alone.own.first().map_or(0.0, |own| own.1);
        Some((1.0 / alone.rates.last()?.share_of_one).max(own))
    }
}

fn alone(
    problem: &Problem,
    whole: &Group,
    pair: (usize, usize, f64),
    limits: (u32, &Runs<'_>),
) -> Result<Alone, SpecError> {
    let name = whole.models[pair.0].as_str();
    let own = whole.of_some(name, &[name]).and_then(|group| Own::of(problem, &group, pair.1));
    let at = |level: &f64| Some((*level, own.as_ref()?.machines(*level)));
    let own = problem.day.levels.iter().filter_map(at).collect();
    Ok(Alone { rates: rates(problem, whole, pair, limits)?, own })
}

/// No rate is above the strict bound, and a larger cluster serves no less for each machine.
fn rates(
    problem: &Problem,
    whole: &Group,
    (model, kind, least): (usize, usize, f64),
    (most, runs): (u32, &Runs<'_>),
) -> Result<Vec<Rate>, SpecError> {
    let strict = 1.0 / least.max(1e-12);
    let unknown = || vec![Rate { size: 1, share_of_one: strict }];
    let name = whole.models[model].as_str();
    let Some(group) = whole.of_some(name, &[name]) else { return Ok(unknown()) };
    let group = problem.finished(group, kind)?;
    let mut rates: Vec<Rate> = Vec::new();
    for size in SIZES {
        let before = rates.last();
        let (n, from) = (size.min(most.max(1)), before.map_or(strict * 0.5, |r| r.share_of_one));
        let counts = crate::search::size::counts(problem, kind, n);
        let mut highest = 0.0_f64;
        for policy in &problem.policies {
            let bench = Bench::new(problem, &group, policy, runs);
            let from = (from * f64::from(n) * group.load_per_s).max(1e-6);
            highest = highest.max(bench.highest(&counts, from)?);
        }
        // What was not carried may be more by the search's precision.
        let each = highest * (1.0 + problem.plan.precision) / f64::from(n) / group.load_per_s;
        let share_of_one = each.min(strict).max(before.map_or(1e-9, |r| r.share_of_one));
        rates.push(Rate { size: if n < size { u32::MAX } else { size }, share_of_one });
        if n < size {
            break;
        }
    }
    Ok(rates)
}
