//! What is looked at for an answer alone: one machine less, and where its machines change over the day.

use crate::input::file::Pools;
use crate::input::problem::{Group, Problem};
use crate::search::after_loss::without;
use crate::search::answer::{Answer, Choice};
use crate::search::change_over::change_over;
use crate::search::runs::Runs;
use crate::search::trial::{Bench, Check};
use crate::search::variants::{Enough, Next, Tried, Variant};
use orrery_run::SpecError;
use orrery_solvers::Price;

/// An answer with its runners-up, the best of which is tried in these variants, and what is to be known of it.
///
/// # Errors
/// When a variant cannot be simulated.
pub fn finish(
    mut answer: Answer,
    problem: &Problem,
    group: &Group,
    runs: &Runs<'_>,
) -> Result<Answer, SpecError> {
    answer.choices.truncate(problem.plan.runners_up + 1);
    if let Some(best) = answer.choices.first_mut()
        && let Some(policy) = problem.policies.iter().find(|p| p.text() == best.policy)
    {
        try_variants(best, &Bench::new(problem, group, policy, runs))?;
    }
    answer.searched.runs = runs.finish();
    answer.add_doubts(problem, group);
    Ok(answer)
}

/// Tries a pool with a machine less, and where its machines change over the day.
///
/// # Errors
/// When one of these cannot be simulated.
pub fn try_variants(choice: &mut Choice, bench: &Bench<'_>) -> Result<(), SpecError> {
    let bench = bench.at(choice.hardest);
    choice.tried.extend(losses(&bench, choice)?);
    choice.tried.extend(change_over(&bench, &choice.sizes)?);
    Ok(())
}

/// A pool with one machine less, of each type that it has; of a pool of several types, of each of which one may be lost,
/// or of each where it has none of the one that is named.
///
/// # Errors
/// When it cannot be simulated.
fn losses(bench: &Bench<'_>, choice: &Choice) -> Result<Vec<Tried>, SpecError> {
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
