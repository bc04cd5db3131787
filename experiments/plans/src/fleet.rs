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

mod homes;
mod known;
#[cfg(test)]
mod tests;

use super::answer::{Answer, money};
use super::clusters::{chosen, points};
use super::problem::{Group, Problem};
use super::runs::Runs;
use super::solved::Fleet;
use super::survive::one_less;
use super::trial::{Bench, Check};
use homes::Homes;
use known::{Cluster, Knowledge, Under};
use orrery_output::say;
use orrery_planner::Price;
use orrery_planner::fleet::{Assigned, Clusters, Known, cheapest, split_bound_usd};
use orrery_scenario::SpecError;
use rayon::prelude::*;

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
    kinds * super::clusters::expected(problem, false) / problem.policies.len() as u64
}

/// The cheapest fleet.
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
    let bound = || split_bound_usd(&homes.needs, &usd, &problem.counts_max);
    let count = |model: &Vec<Option<f64>>| model.iter().flatten().count() as f64;
    let sets = |kind: usize| {
        let here = homes.needs.iter().filter(|m| m[kind].is_some()).count();
        libm::exp2(here as f64) - 1.0
    };
    let mut unknown = Vec::new();
    if !homes.bounded {
        unknown.push(
            "a bound on the cost: for some model and kind no closed form holds (noise, sampled \
             latencies, sizes that vary)"
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

/// The cheapest assignment, all clusters of which are verified.
fn best(known: &mut Knowledge<'_>, fleet: &mut Fleet) -> Result<Option<Assigned>, SpecError> {
    let kinds = known.problem.sales.len();
    let most = known.problem.plan.evaluations_max();
    let (mut said, mut cut) = (false, false);
    loop {
        let Some(next) = cheapest(known, &[]) else { return Ok(None) };
        let clusters = next.clusters(kinds);
        let open = unasked(known, &clusters);
        if !open.is_empty() {
            if known.is_enough() {
                // At least no worse than all models on one kind.
                let all = u64::MAX >> (u64::BITS - known.models() as u32);
                let whole: Vec<Cluster> = (0..kinds).map(|kind| (kind, all)).collect();
                let may = |c: &Cluster| known.least(c.0, c.1).is_some();
                let whole: Vec<Cluster> = whole.into_iter().filter(may).collect();
                known.ask(&unasked(known, &whole))?;
                (known.only_known, cut) = (true, true);
                fleet.unknown.push(format!(
                    "whether another assignment costs less: the search was cut off after {most} \
                     simulations (`evaluations_max`), where one might have cost {} $/h",
                    money(next.cost)
                ));
                continue;
            }
            known.ask(&open)?;
            said = said || say_first(known, &next);
            continue;
        }
        said = said || say_first(known, &next);
        let open: Vec<Cluster> =
            clusters.iter().copied().filter(|c| !known.is_verified(*c)).collect();
        if open.is_empty() {
            fleet.proven = next.proven && !cut;
            if !next.proven {
                fleet.unknown.push(
                    "whether another assignment costs less: there are too many to rule out"
                        .to_string(),
                );
            }
            return Ok(Some(next));
        }
        known.verify(&open)?;
    }
}

/// Says an assignment on stderr once all of its clusters were simulated.
fn say_first(known: &Knowledge<'_>, assigned: &Assigned) -> bool {
    let clusters = assigned.clusters(known.problem.sales.len());
    let cost = |(kind, set): &Cluster| match known.known(*kind, *set) {
        Known::Costs(cost) => Some(cost),
        Known::Unknown | Known::Never => None,
    };
    let Some(cost) = clusters.iter().map(cost).sum::<Option<Price>>() else { return false };
    let (words, cost) = (in_words(known, assigned), money(cost));
    say(&format!("first answer (one seed, not yet verified): {words} for {cost} $/h"));
    true
}

fn unasked(known: &Knowledge<'_>, clusters: &[Cluster]) -> Vec<Cluster> {
    clusters.iter().copied().filter(|c| !known.asked.contains_key(c)).collect()
}

/// The next cheapest assignments by one seed.
fn others(known: &mut Knowledge<'_>, best: &Assigned, fleet: &mut Fleet) -> Result<(), SpecError> {
    let plan = &known.problem.plan;
    let mut left_out = vec![best.kind_of.clone()];
    while left_out.len() <= plan.runners_up {
        let Some(next) = cheapest(known, &left_out) else { return Ok(()) };
        let open = unasked(known, &next.clusters(known.problem.sales.len()));
        if open.is_empty() {
            fleet.others.push((in_words(known, &next), next.cost));
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
            "whether {n} {} carry {}: {:.2} % are bad at the load, within the target, but {}",
            known.problem.kind(*kind),
            known.names(*set).join(", "),
            check.bad_rate * 100.0,
            check.why_not_sure()
        )
    };
    others.map(line).collect()
}

/// An assignment with the sizes that are known.
fn in_words(known: &Knowledge<'_>, assigned: &Assigned) -> String {
    let of = |(kind, set): Cluster| {
        let size = match known.best((kind, set)) {
            Some((_, Under::Sizes { sizes, .. })) => sizes[0].to_string(),
            _ => "?".to_string(),
        };
        format!("{size} {} ({})", known.problem.kind(kind), known.names(set).join(", "))
    };
    let all: Vec<String> =
        assigned.clusters(known.problem.sales.len()).into_iter().map(of).collect();
    all.join(" + ")
}

/// Why there is no fleet.
fn none(known: &Knowledge<'_>, fleet: &mut Fleet) -> Vec<String> {
    let problem = known.problem;
    let mut why = vec![
        "the goal is outside what was simulated: no assignment of the models to the kinds carries the load \
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
    cluster: Cluster,
    frontier: bool,
    runs: &Runs<'_>,
) -> Result<Option<(Group, Answer)>, SpecError> {
    let (kind, set) = cluster;
    let problem = known.problem;
    let (Some((policy, Under::Sizes { verified, .. })), Some(group)) =
        (known.best(cluster), known.group(set))
    else {
        return Ok(None);
    };
    let Some((peak, lower)) = verified.split_first() else { return Ok(None) };
    let mut group = group.clone();
    group.name = problem.kind(kind).to_string();
    let mut answer = Answer::of(&group);
    let bench = Bench::new(problem, &group, policy, runs);
    let mut choice = chosen(&bench, kind, peak.clone(), lower.to_vec())?;
    choice.less = one_less(&bench, &choice, peak.left.clone())?;
    if frontier {
        let one = group.bound_of_one_per_s(problem, kind, policy)?;
        let top = peak.n.saturating_mul(2).min(problem.counts_max[kind]);
        answer.frontier = points(&bench, kind, one, top)?;
    }
    // Its cost over a day is not known: only its peak was looked at.
    if let Some((n, check)) = known.close.get(&cluster).filter(|_| !problem.day.follows()) {
        let counts = super::size::counts(problem, kind, *n);
        let cost = problem.cost(&counts);
        if cost < choice.cost {
            answer.close.push((counts, cost, check.clone()));
        }
    }
    answer.choices.push(choice);
    answer.add_doubts(problem, &group);
    Ok(Some((group, answer)))
}
