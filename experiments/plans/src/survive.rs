//! Failures: what a pool carries with one machine less; a machine is what is bought together.
//!
//! It is the smaller pool in its own right, from the start on. That a larger pool becomes it when a machine fails in
//! mid-run is simulated as well, with the first seed (`Bench::is_lost`).

use super::answer::Choice;
use super::problem::Problem;
use super::size::Less;
use super::trial::{Bench, Check};
use orrery_scenario::SpecError;

/// The pools that have to carry the load so that this one survives what it has to: itself, or without any one
/// machine.
pub fn pools(problem: &Problem, counts: &[u32]) -> Vec<Vec<u32>> {
    if problem.plan.lost() == 0 {
        return vec![counts.to_vec()];
    }
    let some = (0..counts.len()).filter(|kind| counts[*kind] > 0);
    some.map(|kind| without(problem, counts, kind)).collect()
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
    if problem.plan.lost() == 0 {
        return Ok(true);
    }
    for pool in pools(problem, counts) {
        if !carries(&pool)? {
            return Ok(false);
        }
    }
    for kind in (0..counts.len()).filter(|kind| counts[*kind] > 0) {
        if is_lost(kind)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A pool of one kind with one machine less; `known` is its verdict where there is one already.
///
/// # Errors
/// When it cannot be simulated.
pub fn one_less(
    bench: &Bench<'_>,
    choice: &Choice,
    known: Option<Check>,
) -> Result<Vec<Less>, SpecError> {
    let mut all = Vec::new();
    for kind in (0..choice.counts.len()).filter(|k| choice.counts[*k] > 0) {
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
