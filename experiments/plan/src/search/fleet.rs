//! Fleets: several models on several kinds, each model on one of them, each kind a cluster of its own.
//!
//! ```text
//!  homes.rs: who runs where, and needs how many machines at least ──> a bound for every assignment
//!      ▲                                                                │ the cheapest by what is known
//!      │                                                                ▼
//!  known.rs: sizes of the clusters that were simulated <── one seed, then all ── its clusters
//! ```
//!
//! The search ends when every cluster of the cheapest assignment is verified: each of the others costs at least
//! what is taken for it, a strict bound or what one seed says. A cluster is sized as `clusters.rs` does it.

mod known;
mod placement;
mod scale;
mod single_model;
#[cfg(test)]
mod tests;

use crate::input::problem::{Group, Problem};
use crate::search::answer::{Answer, Choice, money};
use crate::search::clusters::points;
use crate::search::finish::try_variants;
use crate::search::levels::largest;
use crate::search::runs::Runs;
use crate::search::solved::Fleet;
use crate::search::trial::{Bench, Check};
use known::{Knowledge, Under};
use orrery_report::say;
use orrery_run::SpecError;
use orrery_solvers::Price;
use orrery_solvers::fleet::{
    Assigned, Clusters, Costs, Known, Needs, cheapest, split_bound_usd, whole_bound_usd,
};
use placement::{Cluster, Homes};
use rayon::prelude::*;
use scale::Scale;

/// A fleet that was looked for: its clusters with their answers; one group of all models where there is none.
pub struct Found {
    /// A group for each cluster.
    pub groups: Vec<Group>,
    /// By group.
    pub answers: Vec<Answer>,
    /// What is said of all.
    pub fleet: Fleet,
}

/// About how many simulations a fleet takes, before any is made.
pub fn expected(problem: &Problem) -> u64 {
    let kinds = problem.sales.len() as u64;
    kinds * crate::search::clusters::expected(problem, false) / problem.policies.len() as u64
}

/// The cheapest fleet; with `frontier` also what each number of dollars buys.
///
/// # Errors
/// When a model has no home, or a cluster cannot be simulated.
pub fn search(problem: &Problem, frontier: bool, runs: &Runs<'_>) -> Result<Found, SpecError> {
    let whole = &problem.groups[0];
    let homes = Homes::of(problem, whole)?;
    let mut known = Knowledge::new(problem, whole, &homes, runs);
    let mut fleet = of_homes(problem, whole, &homes);
    let best = best(&mut known, &mut fleet)?;
    let Some(best) = best else {
        let mut answer = Answer::of(whole);
        answer.unknown = none(&known, &mut fleet);
        fleet.asked = known.asked.len();
        fleet.runs = runs.finish();
        answer.searched.runs = fleet.runs;
        return Ok(Found { groups: problem.groups.clone(), answers: vec![answer], fleet });
    };
    others(&mut known, &best, &mut fleet)?;
    fleet.unknown.append(&mut known.not_sure);
    fleet.unknown.extend(not_sure(&known, &best));
    let clusters = best.clusters(problem.sales.len());
    let of = |cluster: &Cluster| answer(&known, *cluster, frontier, runs);
    let found: Vec<Option<(Group, Answer)>> =
        clusters.par_iter().with_max_len(1).map(of).collect::<Result<_, _>>()?;
    let (groups, answers): (Vec<Group>, Vec<Answer>) = found.into_iter().flatten().unzip();
    for (home, kind) in fleet.homes.iter_mut().zip(&best.kind_of) {
        home.1 = Some(*kind);
    }
    fleet.cost = Some(answers.iter().filter_map(Answer::best).map(|b| b.cost).sum());
    fleet.asked = known.asked.len();
    fleet.runs = runs.finish();
    Ok(Found { groups, answers, fleet })
}

/// What is known before anything is simulated.
fn of_homes(problem: &Problem, whole: &Group, homes: &Homes) -> Fleet {
    let kinds = 0..problem.sales.len();
    let mean = problem.day.mean_level();
    let usd: Vec<f64> = kinds.clone().map(|k| problem.least_usd(k) * mean).collect();
    let bound = || {
        let split = split_bound_usd(&homes.needs, &usd, &problem.counts_max);
        let whole = whole_bound(problem, &homes.needs);
        if whole.is_finite() { split.max(whole) } else { split }
    };
    let count = |model: &Vec<Option<f64>>| model.iter().flatten().count() as f64;
    let sets = |kind: usize| {
        let here = homes.needs.iter().filter(|m| m[kind].is_some()).count();
        libm::exp2(here as f64) - 1.0
    };
    let mut unknown = Vec::new();
    if !homes.bounded {
        unknown.push(
            "a bound on the cost: for some model and kind no closed form holds (noise, sampled \
             latencies, sizes that vary, the steps of a trace)"
                .to_string(),
        );
    }
    Fleet {
        homes: whole.models.iter().map(|name| (name.clone(), None)).collect(),
        split_usd: homes.bounded.then(bound),
        not_there: homes.not_there.clone(),
        assignments: homes.needs.iter().map(count).product(),
        clusters: kinds.map(sets).sum(),
        unknown,
        ..Fleet::default()
    }
}

/// After so many looks at likely assignments of which none was cheaper than the best that is known, the search ends.
const PATIENCE: u32 = 12;

/// The cheapest assignment, all clusters of which are verified.
fn best(known: &mut Knowledge<'_>, fleet: &mut Fleet) -> Result<Option<Assigned>, SpecError> {
    let kinds = known.problem.sales.len();
    let most = known.problem.plan.evaluations_max();
    let (mut said, mut cut, mut in_vain) = (false, false, 0);
    loop {
        let Some(next) = next(known, &[]) else { return Ok(None) };
        let is_loose = || known.has_time() && (!next.proven || known.is_half());
        if known.is_by_bounds() && is_loose() {
            // There are too many assignments that might be cheaper by the bounds.
            let most = affordable(known)?;
            let scale = Scale::new(known.problem, known.whole, known.homes, (&most, known.runs))?;
            known.go_by_likely(scale);
            continue;
        }
        let clusters = next.clusters(kinds);
        let open = known.unasked(&clusters);
        if !open.is_empty() {
            if known.is_enough() {
                ask_whole(known)?;
                (known.only_known, cut) = (true, true);
                fleet.unknown.push(format!(
                    "whether another assignment costs less: the search was cut off after {most} \
                     simulations (`evaluations_max`), where one might have cost {} $/h",
                    money(next.cost)
                ));
                continue;
            }
            let before = known.cheapest_known(&[]).map(|best| best.cost);
            known.ask(&open)?;
            said = said || say_first(known, &next);
            let after = known.cheapest_known(&[]).map(|best| best.cost);
            let is_cheaper = after.is_some_and(|after| before.is_none_or(|before| after < before));
            in_vain = if is_cheaper || known.is_by_bounds() { 0 } else { in_vain + 1 };
            known.only_known = in_vain >= PATIENCE && after.is_some();
            continue;
        }
        said = said || say_first(known, &next);
        let open: Vec<Cluster> =
            clusters.iter().copied().filter(|c| !known.is_verified(*c)).collect();
        if open.is_empty() && !known.is_by_bounds() && !known.only_known {
            known.only_known = true;
            continue;
        }
        if open.is_empty() {
            fleet.proven = next.proven && known.is_by_bounds() && !cut;
            return Ok(Some(next));
        }
        known.verify(&open)?;
    }
}

/// How many machines of each kind a fleet has at most that is cheaper than one that is known.
fn affordable(known: &mut Knowledge<'_>) -> Result<Vec<u32>, SpecError> {
    ask_whole(known)?;
    let problem = known.problem;
    let usd = known.cheapest_known(&[]).map(|best| best.cost.as_usd_per_hour());
    let mean = problem.day.mean_level();
    let of = |kind: usize| {
        let all = usd.map_or(f64::INFINITY, |usd| usd / (problem.least_usd(kind) * mean));
        (all.ceil().min(f64::from(problem.counts_max[kind])) as u32).max(1)
    };
    Ok((0..problem.sales.len()).map(of).collect())
}

/// The cheapest assignment by what is known; where no other cluster is asked about, of those that are.
fn next(known: &Knowledge<'_>, left_out: &[Vec<usize>]) -> Option<Assigned> {
    if known.only_known { known.cheapest_known(left_out) } else { cheapest(known, left_out) }
}

/// All models on one kind, where they may be: the answer is no worse than that.
fn ask_whole(known: &mut Knowledge<'_>) -> Result<(), SpecError> {
    let all = u64::MAX >> (u64::BITS - known.models() as u32);
    let whole: Vec<Cluster> = (0..known.kinds()).map(|kind| (kind, all)).collect();
    let may = |c: &Cluster| known.least(c.0, c.1).is_some();
    let whole: Vec<Cluster> = whole.into_iter().filter(may).collect();
    known.ask(&known.unasked(&whole))
}

/// The least that whole machines cost which hold what models need.
fn whole_bound(problem: &Problem, needs: &[Needs]) -> f64 {
    let mean = problem.day.mean_level();
    let of = |kind: usize| -> Costs {
        // Of a day, parts of machines: they are fewer at night.
        let one = problem.least_usd(kind) * mean;
        let usd = |n: u32| match problem.day.follows() {
            true => one * f64::from(n),
            false => problem.cost_of_kind(kind, n).as_usd_per_hour(),
        };
        (0..=problem.counts_max[kind]).map(usd).collect()
    };
    let costs: Vec<Costs> = (0..problem.sales.len()).map(of).collect();
    whole_bound_usd(needs, &costs)
}

/// Says an assignment on stderr once all of its clusters were simulated.
fn say_first(known: &Knowledge<'_>, assigned: &Assigned) -> bool {
    let clusters = assigned.clusters(known.problem.sales.len());
    let cost = |(kind, set): &Cluster| match known.known(*kind, *set) {
        Known::Costs(cost) => Some(cost),
        Known::Unknown | Known::Never => None,
    };
    let Some(cost) = clusters.iter().map(cost).sum::<Option<Price>>() else { return false };
    let (words, cost) = (known.in_words(assigned), money(cost));
    say(&format!("first answer (one seed, not yet verified): {words} for {cost} $/h"));
    true
}

/// The next cheapest assignments by one seed.
fn others(known: &mut Knowledge<'_>, best: &Assigned, fleet: &mut Fleet) -> Result<(), SpecError> {
    let plan = &known.problem.plan;
    let mut left_out = vec![best.kind_of.clone()];
    while left_out.len() <= plan.runners_up {
        let Some(next) = next(known, &left_out) else { return Ok(()) };
        let open = known.unasked(&next.clusters(known.problem.sales.len()));
        if open.is_empty() {
            fleet.others.push((known.in_words(&next), next.cost));
            left_out.push(next.kind_of);
        } else if known.is_enough() {
            known.only_known = true;
        } else {
            known.ask(&open)?;
        }
    }
    Ok(())
}

/// Clusters that might have been smaller than was taken for them, where the answer has others in their place.
fn not_sure(known: &Knowledge<'_>, best: &Assigned) -> Vec<String> {
    let clusters = best.clusters(known.problem.sales.len());
    let others = known.close.iter().filter(|(cluster, _)| !clusters.contains(cluster));
    let line = |((kind, set), (n, check)): (&Cluster, &(u32, Check))| {
        format!(
            "whether {n} {} sustain {}: {:.2} % SLO violations at the load, within the target, but {}",
            known.problem.kind(*kind),
            known.names(*set).join(", "),
            check.bad_rate * 100.0,
            check.why_not_sure()
        )
    };
    others.map(line).collect()
}

/// Why there is no fleet.
fn none(known: &Knowledge<'_>, fleet: &mut Fleet) -> Vec<String> {
    let problem = known.problem;
    let mut why = vec![
        "the goal is outside what was simulated: no assignment of the models to the types sustains the load \
         within `count_max`"
            .to_string(),
    ];
    for (name, needs) in known.whole.models.iter().zip(&known.homes.needs) {
        let some = needs.iter().enumerate().filter_map(|(kind, need)| Some((kind, (*need)?)));
        let all = some.map(|(kind, need)| {
            let machines = need.ceil().max(1.0) + f64::from(problem.lost(kind));
            format!("{machines:.0} of {} {}", problem.counts_max[kind], problem.kind(kind))
        });
        let all: Vec<String> = all.collect();
        why.push(format!("{name} needs at least {}", all.join(", or ")));
    }
    let never = known.asked.values().flatten().filter_map(|under| match under {
        Under::Never(why) => Some(why.clone()),
        Under::Sizes { .. } => None,
    });
    why.extend(never.take(problem.plan.runners_up));
    why.append(&mut fleet.unknown);
    why
}

/// A cluster of the answer.
fn answer(
    known: &Knowledge<'_>,
    (kind, set): Cluster,
    frontier: bool,
    runs: &Runs<'_>,
) -> Result<Option<(Group, Answer)>, SpecError> {
    let problem = known.problem;
    let Some((policy, Under::Sizes { verified: sizes, .. })) = known.best((kind, set)) else {
        return Ok(None);
    };
    if sizes.is_empty() {
        return Ok(None);
    }
    let Some(mut group) = known.group(set).cloned() else { return Ok(None) };
    let close = known.close.get(&(kind, set));
    group.name = problem.kind(kind).to_string();
    let mut answer = Answer::of(&group);
    let bench = Bench::new(problem, &group, policy, runs);
    let mut choice = Choice::over_day(&bench, largest(sizes), sizes.clone())?;
    try_variants(&mut choice, &bench)?;
    if frontier {
        let one = group.bound_of_one_per_s(problem, kind, policy)?;
        let top = sizes[0].n().saturating_mul(2).min(problem.counts_max[kind]);
        answer.frontier = points(&bench.at(choice.hardest), kind, one, top)?;
    }
    // Its cost over a day is not known: only its peak was looked at.
    if let Some((n, check)) = close.filter(|_| problem.day.levels.len() == 1) {
        let counts = crate::search::size::counts(problem, kind, *n);
        let cost = problem.cost(&counts);
        if cost < choice.cost {
            answer.close.push((counts, cost, check.clone()));
        }
    }
    answer.choices.push(choice);
    answer.agree();
    answer.add_doubts(problem, &group);
    Ok(Some((group, answer)))
}
