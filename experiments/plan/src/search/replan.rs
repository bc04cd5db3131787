//! The next answer: what carries the load under a change that the answer does not hold.
//!
//! It is what `--what-if` finds, without its edge. Of clusters that takes some thirty simulations, so it is always
//! looked for; fleets and pools of several types are searched whole, which has to be asked for.

use crate::input::file::{PlanFile, Pools};
use crate::input::problem::{Group, Problem};
use crate::search::answer::Answer;
use crate::search::clusters;
use crate::search::fleet;
use crate::search::runs::Runs;
use crate::search::solve::of_group;
use crate::search::trial::Bench;
use crate::search::variants::{Enough, Next};
use orrery_results::PolicyText;
use orrery_run::{PolicySpec, SpecError, policies};
use rayon::prelude::*;

/// Whether the next answer of a plan is looked for.
pub fn is_wanted(plan: &PlanFile) -> bool {
    plan.next || is_quick(plan)
}

/// Whether it takes few simulations.
pub fn is_quick(plan: &PlanFile) -> bool {
    plan.pools == Pools::Homogeneous && plan.goal.is_some()
}

/// The next answer for a group, of the plan under the change.
///
/// # Errors
/// When a pool cannot be simulated.
pub fn next(problem: &Problem, group: &Group, runs: &Runs<'_>) -> Result<Next, SpecError> {
    match problem.plan.pools {
        Pools::Homogeneous if problem.budget.is_none() => of_clusters(problem, group, runs),
        Pools::Fleet => of_fleet(problem, runs),
        _ => Ok(of_answer(problem, &of_group(problem, group, false, runs)?)),
    }
}

fn of_clusters(problem: &Problem, group: &Group, runs: &Runs<'_>) -> Result<Next, SpecError> {
    runs.expect(30 * problem.policies.len() as u64);
    if let Some(enough) = clusters::cheapest(problem, group, &problem.policies, runs)? {
        return Ok(Next::Enough(enough));
    }
    let others = others(problem, group, runs);
    let other = clusters::cheapest(problem, group, &others, runs)?;
    Ok(other.map_or(Next::None, Next::Other))
}

/// Of the smallest SLO, what Symphony is given in reserve where it fails without.
const RESERVE: f64 = 0.1;

/// Other schedulers that carry the load on some type with as many machines as there may be, by the first seed: the
/// plan's own with a reserve, where they have one, and the shipped ones as they are without parameters.
fn others(problem: &Problem, group: &Group, runs: &Runs<'_>) -> Vec<PolicySpec> {
    let own: Vec<&str> = problem.policies.iter().map(PolicySpec::system).collect();
    let names = policies::all().map(|table| table.about.name.to_string());
    let names = names.filter(|name| own.iter().all(|own| is_another(name, own)));
    let reserved = problem.policies.iter().filter_map(|policy| with_reserve(problem, policy));
    let names: Vec<String> = reserved.chain(names).collect();
    let most = &problem.counts_max;
    // One that needs what these machines do not have is no scheduler for them.
    let holds = |bench: &Bench<'_>, kind: usize| {
        let counts = crate::search::size::counts(problem, kind, most[kind]);
        most[kind] > 0 && bench.holds(&counts, group.load_per_s).unwrap_or(false)
    };
    let carries = |bench: &Bench<'_>| (0..most.len()).any(|kind| holds(bench, kind));
    schedulers((problem, group), &names, runs, carries)
}

/// Those of some schedulers that carry the load of a group's models, as far as a bench shows.
pub fn schedulers(
    (problem, group): (&Problem, &Group),
    names: &[String],
    runs: &Runs<'_>,
    carries: impl Fn(&Bench<'_>) -> bool + Sync,
) -> Vec<PolicySpec> {
    runs.expect(names.len() as u64);
    let of = |name: &String| {
        let policy = PolicySpec::parse(name).ok().filter(|policy| problem.fits(policy))?;
        carries(&Bench::new(problem, group, &policy, runs)).then(|| policy.clone())
    };
    names.par_iter().with_max_len(1).filter_map(of).collect()
}

/// Symphony with a tenth of the smallest SLO in reserve, unless the plan says how much.
fn with_reserve(problem: &Problem, policy: &PolicySpec) -> Option<String> {
    let text = policy.text();
    if policy.system() != "symphony" || text.contains("resp_ms") {
        return None;
    }
    let slos = problem.slos_ms().into_iter().map(|(_, ms)| ms);
    let slo_ms = slos.reduce(f64::min).filter(|ms| ms.is_finite())?;
    let reserve = (slo_ms * RESERVE * 100.0).round() / 100.0;
    Some(PolicyText::new(text).with("resp_ms", &reserve.to_string()))
}

fn of_fleet(problem: &Problem, runs: &Runs<'_>) -> Result<Next, SpecError> {
    let found = fleet::search(problem, false, runs)?;
    let pools = found.answers.iter().map(|a| Some(a.best()?.counts.clone()));
    let all = pools.collect::<Option<Vec<_>>>().zip(found.fleet.cost);
    let enough = |(pools, cost)| Next::Enough(Enough { pools, policy: String::new(), cost });
    Ok(all.map_or(Next::None, enough))
}

/// The best of a whole search, where it carries the load: under a budget it may not.
fn of_answer(problem: &Problem, answer: &Answer) -> Next {
    let best = answer.best().filter(|best| best.at_load.is_sure(problem.plan.target()));
    best.map_or(Next::None, |best| {
        let (pools, policy) = (vec![best.counts.clone()], best.policy.clone());
        Next::Enough(Enough { pools, policy, cost: best.cost })
    })
}

/// Whether a scheduler is another one that can be had: an oracle cannot.
pub fn is_another(name: &str, own: &str) -> bool {
    name != own && !name.starts_with("oracle")
}
