//! Failures: what a pool carries with one machine less; a machine is what is bought together.
//!
//! It is the smaller pool in its own right, from the start on. That a larger pool becomes it when a machine fails in
//! mid-run is simulated as well, with the first seed (`Bench::is_lost`).

use crate::input::file::Pools;
use crate::input::problem::Problem;
use crate::search::answer::Choice;
use crate::search::replan::{Enough, Next};
use crate::search::trial::{Bench, Check};
use crate::search::variants::{Tried, Variant};
use orrery_scenario::SpecError;
use orrery_solvers::Price;

/// The pools that have to carry the load so that this one survives what it has to: itself, or without any one
/// machine.
pub fn pools(problem: &Problem, counts: &[u32]) -> Vec<Vec<u32>> {
    let left: Vec<Vec<u32>> = left(problem, counts).map(|(_, left)| left).collect();
    if left.is_empty() { vec![counts.to_vec()] } else { left }
}

/// The types of a pool of which a machine may be lost, and what is left of it then.
pub fn left<'a>(
    problem: &'a Problem,
    counts: &'a [u32],
) -> impl Iterator<Item = (usize, Vec<u32>)> + 'a {
    let lost = |kind: &usize| counts[*kind] > 0 && problem.plan.may_lose(*kind);
    (0..counts.len()).filter(lost).map(|kind| (kind, without(problem, counts, kind)))
}

/// The verdict of a pool at a load; where a machine may be lost, of the worst that is left of it.
///
/// # Errors
/// When it cannot be simulated.
pub fn worst_left(bench: &Bench<'_>, counts: &[u32], load_per_s: f64) -> Result<Check, SpecError> {
    let of = |left: &Vec<u32>| bench.check(left, load_per_s);
    let mut checks: Vec<Check> =
        pools(bench.problem, counts).iter().map(of).collect::<Result<_, SpecError>>()?;
    // One whose number is not to be trusted is worse than any that is within the target.
    let target = bench.target();
    checks.sort_by(|a, b| {
        a.meets(target).cmp(&b.meets(target)).then(b.bad_rate.total_cmp(&a.bad_rate))
    });
    checks.into_iter().next().map_or_else(|| bench.check(counts, load_per_s), Ok)
}

/// The pool without a machine of a kind: what was bought together is lost together.
fn without(problem: &Problem, counts: &[u32], kind: usize) -> Vec<u32> {
    let mut left = counts.to_vec();
    left[kind] -= problem.machine(kind, counts[kind]).0;
    left
}

/// A pool with one machine less, of each type that it has; of a pool of several types, of each of which one may be lost,
/// or of each where it has none of the one that is named.
///
/// # Errors
/// When it cannot be simulated.
pub fn losses(bench: &Bench<'_>, choice: &Choice) -> Result<Vec<Tried>, SpecError> {
    let (problem, load) = (bench.problem, bench.group.load_per_s);
    // The verdict of a cluster of which one may be lost is there already.
    let known = choice.sizes.get(choice.hardest).and_then(|size| size.left.clone());
    let several = problem.plan.pools == Pools::Heterogeneous;
    let has_none = problem.plan.may_lose_only().is_some_and(|kind| choice.counts[kind] == 0);
    let is_asked = |kind: &usize| !several || has_none || problem.plan.may_lose(*kind);
    let has = (0..choice.counts.len()).filter(|kind| choice.counts[*kind] > 0);
    let of = |kind: usize| {
        let counts = without(problem, &choice.counts, kind);
        let [n, before] = [&counts, &choice.counts].map(|counts| counts.iter().sum::<u32>());
        let (check, carries_per_s) = if n == 0 {
            (Check { bad_rate: 1.0, ..Check::default() }, 0.0)
        } else {
            let check = known.clone().map_or_else(|| bench.check(&counts, load), Ok)?;
            let from = choice.edge.rate_per_s * f64::from(n) / f64::from(before);
            (check, bench.highest(&counts, if from > 0.0 { from } else { load })?)
        };
        let breaks = problem.budget.is_none() && !check.meets(bench.target());
        let next = breaks.then(|| one_more(problem, choice, kind));
        let machine = problem.machine(kind, choice.counts[kind]).1;
        let variant = Variant::Loss { kind, machine, carries_per_s };
        Ok(Tried { variant, group: bench.group.name.clone(), counts, check: Ok(check), next })
    };
    has.filter(is_asked).map(of).collect()
}

/// The same with one more of a type all day: where that is lost, it is what carries the load.
fn one_more(problem: &Problem, choice: &Choice, kind: usize) -> Next {
    let mut counts = choice.counts.clone();
    counts[kind] += problem.machine(kind, counts[kind]).0;
    if counts[kind] > problem.counts_max[kind] {
        return Next::None;
    }
    let [more, now, all] = [problem.cost(&counts), problem.cost(&choice.counts), choice.cost]
        .map(|price| price.as_micro_usd_per_hour());
    let cost = Price::micro_usd_per_hour(all + more.saturating_sub(now));
    Next::Enough(Enough { pools: vec![counts], policy: choice.policy.clone(), cost })
}
