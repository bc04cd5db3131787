//! Failures: what a pool carries with one machine less; a machine is what is bought together.
//!
//! It is the smaller pool in its own right, from the start on. That a larger pool becomes it when a machine fails in
//! mid-run is simulated as well, with the first seed (`Bench::is_lost`).

use crate::input::problem::Problem;
use crate::search::trial::{Bench, Check};
use orrery_run::SpecError;

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
pub fn without(problem: &Problem, counts: &[u32], kind: usize) -> Vec<u32> {
    let mut left = counts.to_vec();
    left[kind] -= problem.machine(kind, counts[kind]).0;
    left
}
