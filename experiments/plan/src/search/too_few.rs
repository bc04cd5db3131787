//! Numbers of machines with which no scheduler reaches a plan's goal, whatever it knows: by the bound of `docs/bound.md`.
//!
//! A bound is of a finite run, and a goal is of the long run: a number is too few only where the run of each seed of the
//! plan is. Every model meets its SLOs as often as the goal says, so all requests together do. Nothing is simulated here.

use crate::input::file::Pools;
use crate::input::problem::{Group, Problem};
use crate::search::size::counts;
use orrery_run::SpecError;
use orrery_run::bound::Bound;
use orrery_sweep::parts::go_on;
use rayon::prelude::*;

/// The most machines of a type that are proven to be too few.
#[derive(Clone, Debug)]
pub struct TooFew {
    /// The type.
    pub kind: usize,
    /// How many of it; 0 where not even one is proven to be.
    pub n: u32,
    /// With so many, the bound of each seed's run; empty where `n` is 0.
    pub bounds: Vec<Bound>,
    /// Why no bound is known.
    pub refused: Option<String>,
}

impl TooFew {
    /// Why no number is proven to be too few.
    pub fn why(&self) -> &str {
        self.refused.as_deref().unwrap_or("the bound excludes no number of them")
    }
}

/// By type, fewer machines than any cluster that was found has of it, or all that are allowed where none was. Nothing of
/// plans under a budget, over a day, and of several types that work together.
///
/// # Errors
/// When a load cannot be read.
pub fn too_few(
    problem: &Problem,
    group: &Group,
    found: &[&[u32]],
) -> Result<Vec<TooFew>, SpecError> {
    let plan = &problem.plan;
    if plan.pools != Pools::Homogeneous || problem.budget.is_some() || plan.day.is_some() {
        return Ok(Vec::new());
    }
    let below = |kind: usize| {
        let own = found.iter().map(|counts| counts[kind]).filter(|n| *n > 0);
        own.min().map_or(problem.counts_max[kind], |n| n - 1)
    };
    let kinds = (0..problem.sales.len()).filter(|k| group.lacking(&plan.instance[*k]).is_empty());
    let kinds = kinds.map(|kind| (kind, below(kind))).filter(|(_, most)| *most > 0);
    kinds.map(|(kind, most)| of_kind(problem, group, kind, most)).collect()
}

/// The bound falls with the machines: by bisection with the first seed, and from there on with all.
fn of_kind(problem: &Problem, group: &Group, kind: usize, most: u32) -> Result<TooFew, SpecError> {
    let seeds = problem.seeds();
    let missed = |n: u32, seeds: &[u64]| {
        let bounds = bounds(problem, group, &counts(problem, kind, n), seeds)?;
        let all = bounds.iter().all(|bound| is_missed(bound, problem.plan.target()));
        Ok::<_, SpecError>(Some(bounds).filter(|_| all))
    };
    let search = || {
        let (mut n, mut open) = (0, most + 1);
        while open - n > 1 {
            let middle = n.midpoint(open);
            match missed(middle, &seeds[..1])? {
                Some(_) => n = middle,
                None => open = middle,
            }
        }
        while n > 0 {
            if let Some(bounds) = missed(n, &seeds)? {
                return Ok((n, bounds));
            }
            n -= 1;
        }
        Ok((0, Vec::new()))
    };
    match search() {
        Ok((n, bounds)) => Ok(TooFew { kind, n, bounds, refused: None }),
        Err(SpecError::Value { key, found: why, .. }) if key == "bound" => {
            Ok(TooFew { kind, n: 0, bounds: Vec::new(), refused: Some(why) })
        }
        Err(error) => Err(error),
    }
}

/// Whether more requests are sure to be bad than the goal allows.
fn is_missed(bound: &Bound, target: f64) -> bool {
    (bound.offered - bound.in_time) as f64 > bound.offered as f64 * target
}

/// Those of some seeds: as many requests as the plan asks for, or its whole trace.
pub(crate) fn bounds(
    problem: &Problem,
    group: &Group,
    counts: &[u32],
    seeds: &[u64],
) -> Result<Vec<Bound>, SpecError> {
    go_on()?;
    problem.plan.watcher.as_ref().map_or(Ok(()), |watcher| watcher.go_on())?;
    let mut scenario = group.scenario(problem, counts, group.load_per_s)?;
    scenario.file.allow_hopeless_slo = true;
    let of = |seed: &u64| Bound::of(&scenario.setup(*seed)?, *seed);
    seeds.par_iter().map(of).collect()
}
