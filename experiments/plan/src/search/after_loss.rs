//! Failures: what a pool carries with one machine less; a machine is what is bought together.
//!
//! It is the smaller pool in its own right, from the start on. That a larger pool becomes it when a machine fails in
//! mid-run is simulated as well, with the first seed (`Bench::is_lost`).

use crate::input::file::Pools;
use crate::input::problem::Problem;
use crate::search::answer::Choice;
use crate::search::size::Less;
use crate::search::trial::{Bench, Check};
use orrery_scenario::SpecError;

/// The pools that have to carry the load so that this one survives what it has to: itself, or without any one
/// machine.
pub fn pools(problem: &Problem, counts: &[u32]) -> Vec<Vec<u32>> {
    let left: Vec<Vec<u32>> =
        lost(problem, counts).map(|kind| without(problem, counts, kind)).collect();
    if left.is_empty() { vec![counts.to_vec()] } else { left }
}

/// The types of a pool of which a machine may be lost.
fn lost<'a>(problem: &'a Problem, counts: &'a [u32]) -> impl Iterator<Item = usize> + 'a {
    (0..counts.len()).filter(|kind| counts[*kind] > 0 && problem.plan.may_lose(*kind))
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

/// Whether a pool survives what it has to: `carries` says whether what is left of it does, `is_lost` whether it does
/// not come back from the loss of a machine of a kind in mid-run.
///
/// # Errors
/// Those of the two.
pub fn survives<E>(
    problem: &Problem,
    counts: &[u32],
    carries: impl Fn(&[u32]) -> Result<bool, E>,
    is_lost: impl Fn(usize) -> Result<bool, E>,
) -> Result<bool, E> {
    if lost(problem, counts).next().is_none() {
        return Ok(true);
    }
    for pool in pools(problem, counts) {
        if !carries(&pool)? {
            return Ok(false);
        }
    }
    for kind in lost(problem, counts) {
        if is_lost(kind)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A pool with one machine less, of each type that it has; of a pool of several types, of each of which one may be lost,
/// or of each where it has none of the one that is named. `known` is the verdict of a pool of one type where there is one already.
///
/// # Errors
/// When it cannot be simulated.
pub fn one_less(
    bench: &Bench<'_>,
    choice: &Choice,
    known: Option<Check>,
) -> Result<Vec<Less>, SpecError> {
    let mut all = Vec::new();
    let several = bench.problem.plan.pools == Pools::Heterogeneous;
    let has_none = bench.problem.plan.may_lose_only().is_some_and(|kind| choice.counts[kind] == 0);
    let is_asked = |kind: &usize| !several || has_none || bench.problem.plan.may_lose(*kind);
    let has = (0..choice.counts.len()).filter(|kind| choice.counts[*kind] > 0);
    for kind in has.filter(is_asked) {
        let counts = without(bench.problem, &choice.counts, kind);
        let machine = bench.problem.machine(kind, choice.counts[kind]).1;
        if counts.iter().all(|n| *n == 0) {
            all.push(Less { kind, machine, at_load: None, carries_per_s: 0.0 });
            continue;
        }
        let load = bench.group.load_per_s;
        let at_load = known.clone().map_or_else(|| bench.check(&counts, load), Ok)?;
        let n: u32 = counts.iter().sum();
        let before: u32 = choice.counts.iter().sum();
        let from = choice.edge.rate_per_s * f64::from(n) / f64::from(before);
        let carries_per_s = bench.highest(&counts, if from > 0.0 { from } else { load })?;
        all.push(Less { kind, machine, at_load: Some(at_load), carries_per_s });
    }
    Ok(all)
}
