//! What-ifs under each of which the machines of an answer are simulated again: what nobody knows exactly is a little worse.
//!
//! Where they do not hold, the next answer is looked for (`replan.rs`). Of the what-if under which most requests are bad,
//! the other schedulers are tried on the same machines, with the first seed.

use crate::input::file::{PlanFile, Pools, Source};
use crate::input::problem::{Group, Problem};
use crate::input::what_if;
use crate::search::after_loss;
use crate::search::answer::{Answer, Choice};
use crate::search::replan::{is_another, is_wanted, next, schedulers};
use crate::search::runners_up::{little_dearer, more_room, roomier};
use crate::search::runs::Runs;
use crate::search::solved::Solved;
use crate::search::trial::Bench;
use crate::search::variants::{Next, Tried, Variant};
use orrery_report::Progress;
use orrery_results::system_of;
use orrery_run::{PolicySpec, SpecError, policies};
use rayon::prelude::*;

/// What is tried where a plan does not say, and what it means.
pub const USUAL: [(&str, &str); 6] = [
    ("noise=0.05", "execution times vary by 5 %"),
    ("noise=mlperf", "execution times vary as MLPerf's repeated runs did"),
    ("delay=1ms", "messages take 1 ms longer each way"),
    ("slo=90%", "SLOs are 10 % tighter"),
    ("load=1.1", "the load is 10 % higher"),
    ("latency=1.05", "models are 5 % slower"),
];

/// What all what-ifs do to all answers.
#[derive(Clone, Debug, Default)]
pub struct Robust {
    /// By what-if, then by group.
    pub all: Vec<Tried>,
    /// Of groups that have one: the runner-up that is better in all but a little money.
    pub worth: Vec<Better>,
    /// Of the first group that does not hold under its worst what-if: that one, and the schedulers that carry
    /// the load on the same machines then.
    pub instead: Option<(String, Vec<String>)>,
}

/// A runner-up that is worth its price, under the what-ifs that the answer was tried under.
#[derive(Clone, Debug)]
pub struct Better {
    /// Whose it is.
    pub group: String,
    /// Its place among the choices.
    pub place: usize,
    /// By what-if.
    pub tried: Vec<Tried>,
    /// The numbers of those under which it holds for sure and the answer does not.
    pub gained: Vec<usize>,
}

impl Robust {
    /// Of the what-ifs under which an answer does not hold, one that has no next answer, or one under another
    /// scheduler only; of equals the one under which most requests are bad.
    pub fn worst(&self, target: f64) -> Option<&Tried> {
        let failing = self.all.iter().filter_map(|s| Some((s, s.bad_rate(target)?)));
        let harm = |(s, bad): &(&Tried, f64)| {
            let lacks = match &s.next {
                Some(Next::None) => 2.0,
                Some(Next::Other(_)) => 1.0,
                _ => 0.0,
            };
            lacks + bad / 2.0
        };
        Some(failing.reduce(|a, b| if harm(&b) > harm(&a) { b } else { a })?.0)
    }
}

/// A plan changed by a what-if, or why it cannot be.
type Change = (String, Result<Problem, String>);

/// The problem of a plan that is changed by a what-if; `models` are those that there are.
///
/// # Errors
/// When the what-if makes no sense, or the changed plan does not.
pub fn changed(
    plan: &PlanFile,
    source: &Source,
    text: &str,
    models: &[String],
) -> Result<Problem, SpecError> {
    let plan = what_if::changed(plan, text, models)?;
    Problem::new(&plan, source).map_err(|error| what_if::about(text, error))
}

/// The what-ifs that the answers of a plan are tried under, made before the first run.
///
/// # Errors
/// When one that the plan names makes no sense.
pub fn changes(
    plan: &PlanFile,
    source: &Source,
    models: &[String],
) -> Result<Vec<Change>, SpecError> {
    let usual = || USUAL.map(|(text, _)| text.to_string()).to_vec();
    let texts = plan.robust.clone().unwrap_or_else(usual);
    let of = |text: String| {
        match changed(plan, source, &text, models) {
            Ok(problem) => Ok((text, Ok(problem))),
            // The usual ones are for every plan, whatever its laws are.
            Err(SpecError::Value { found, .. }) if plan.robust.is_none() => Ok((text, Err(found))),
            Err(error) if plan.robust.is_none() => Ok((text, Err(error.to_string()))),
            Err(error) => Err(error),
        }
    };
    texts.into_iter().map(of).collect()
}

/// Tries a plan's answers under each of its what-ifs.
///
/// # Errors
/// When a pool cannot be simulated.
pub fn robust(changes: &[Change], solved: &Solved) -> Result<Robust, SpecError> {
    let (problem, target) = (&solved.problem, solved.problem.plan.target());
    let progress = Progress::estimated("simulations");
    let runs = Runs::new(Some(&progress));
    let carried: Vec<(&Group, &Choice)> = (problem.groups.iter().zip(&solved.answers))
        .filter_map(|(group, answer)| Some((group, answer.best()?)))
        .filter(|(_, best)| best.at_load.meets(target))
        .collect();
    runs.expect((changes.len() * carried.len() * (problem.seeds().len() + 1)) as u64);
    let mut robust = Robust::default();
    for change in changes {
        let all = carried.par_iter().with_max_len(1);
        let mut all: Vec<Tried> =
            all.map(|of| tried(change, of, &runs)).collect::<Result<_, SpecError>>()?;
        if let Ok(problem) = &change.1 {
            add_next(problem, &mut all, &runs)?;
        }
        robust.all.extend(all);
    }
    for (group, answer) in problem.groups.iter().zip(&solved.answers) {
        let own: Vec<&Tried> = robust.all.iter().filter(|s| s.group == group.name).collect();
        let better = better(changes, problem, (group, answer), &own, &runs)?;
        robust.worth.extend(better);
    }
    robust.instead = instead(changes, &robust, &carried, target, &runs)?;
    runs.finish();
    Ok(robust)
}

/// The what-ifs under which a runner-up holds for sure and the answer does not; none where the answer holds under another
/// that the runner-up does not.
fn gained(own: &[&Tried], others: &[Tried], target: f64) -> Vec<usize> {
    let fails = |s: &Tried| s.bad_rate(target).is_some();
    let is_gain = |i: &usize| fails(own[*i]) && others[*i].is_sure(target);
    match own.iter().zip(others).any(|(own, other)| fails(other) && !fails(own)) {
        true => Vec::new(),
        false => (0..own.len().min(others.len())).filter(is_gain).collect(),
    }
}

/// The runner-up of a group that is better in all but a little money: it holds under most what-ifs that the answer does
/// not hold under, and under all others that it does; or it carries much more.
fn better(
    changes: &[Change],
    problem: &Problem,
    (group, answer): (&Group, &Answer),
    own: &[&Tried],
    runs: &Runs<'_>,
) -> Result<Option<Better>, SpecError> {
    let target = problem.plan.target();
    let roomier = roomier(problem, answer);
    let fails = own.iter().any(|s| s.bad_rate(target).is_some());
    let mut best: Option<Better> = None;
    for (place, choice) in little_dearer(problem, answer) {
        let is_roomier = roomier == Some(place);
        if !is_roomier && (!fails || more_room(answer, choice) < 0.0) {
            continue;
        }
        runs.expect((changes.len() * (problem.seeds().len() + 1)) as u64);
        let of = |change: &Change| self::tried(change, &(group, choice), runs);
        let tried: Vec<Tried> =
            changes.par_iter().with_max_len(1).map(of).collect::<Result<_, SpecError>>()?;
        let gained = gained(own, &tried, target);
        let more = best.as_ref().is_none_or(|best| gained.len() > best.gained.len());
        if more && (is_roomier || !gained.is_empty()) {
            best = Some(Better { group: group.name.clone(), place, tried, gained });
        }
    }
    Ok(best)
}

/// A pool under a what-if; with a machine that may be lost the worst of what is left of it.
fn tried(
    (text, problem): &Change,
    (group, best): &(&Group, &Choice),
    runs: &Runs<'_>,
) -> Result<Tried, SpecError> {
    let of = |problem: &Problem| {
        let (group, policy) = (same(problem, group, best)?, PolicySpec::parse(&best.policy)?);
        let bench = Bench::new(problem, &group, &policy, runs).at(best.hardest);
        after_loss::worst_left(&bench, &best.counts, group.load_per_s)
    };
    let check = match problem {
        Ok(problem) => Ok(of(problem)?),
        Err(why) => Err(why.clone()),
    };
    let (variant, counts) = (Variant::WhatIf(text.clone()), best.counts.clone());
    Ok(Tried { variant, group: group.name.clone(), counts, check, next: None })
}

/// The worst what-if, and the schedulers, as they are without parameters, that carry the load on the same machines then
/// with the first seed.
fn instead(
    changes: &[Change],
    robust: &Robust,
    carried: &[(&Group, &Choice)],
    target: f64,
    runs: &Runs<'_>,
) -> Result<Option<(String, Vec<String>)>, SpecError> {
    let Some(worst) = robust.worst(target) else { return Ok(None) };
    let is_it = |change: &&Change| worst.variant == Variant::WhatIf(change.0.clone());
    let own = carried.iter().find(|(group, _)| group.name == worst.group);
    let (Some((text, Ok(problem))), Some((group, best))) = (changes.iter().find(is_it), own) else {
        return Ok(None);
    };
    let group = same(problem, group, best)?;
    let own = system_of(&best.policy);
    let names = policies::all().map(|t| t.about.name.to_string());
    let names: Vec<String> = names.filter(|name| is_another(name, own)).collect();
    let pools = after_loss::pools(problem, &best.counts);
    // One that needs what these machines do not have is no scheduler for them.
    let holds = |bench: &Bench<'_>, counts: &Vec<u32>| {
        bench.at(best.hardest).holds(counts, group.load_per_s).unwrap_or(false)
    };
    let carries = |bench: &Bench<'_>| pools.iter().all(|counts| holds(bench, counts));
    let carriers = schedulers((problem, &group), &names, runs, carries);
    Ok(Some((text.clone(), carriers.iter().map(|policy| policy.text().to_string()).collect())))
}

/// The next answers under a what-if, where the answers do not hold.
fn add_next(problem: &Problem, tried: &mut [Tried], runs: &Runs<'_>) -> Result<(), SpecError> {
    if !is_wanted(&problem.plan) {
        return Ok(());
    }
    let target = problem.plan.target();
    for strained in tried.iter_mut().filter(|s| s.bad_rate(target).is_some()) {
        let fleet = problem.plan.pools == Pools::Fleet;
        let group = problem.groups.iter().find(|g| fleet || g.name == strained.group);
        let Some(group) = group else { continue };
        strained.next = Some(next(problem, group, runs)?);
        if fleet {
            // One for all of its clusters.
            break;
        }
    }
    Ok(())
}

/// The same models in the changed problem.
fn same(problem: &Problem, group: &Group, best: &Choice) -> Result<Group, SpecError> {
    if problem.plan.pools != Pools::Fleet {
        let same = problem.groups.iter().find(|g| g.name == group.name);
        return Ok(same.unwrap_or(group).clone());
    }
    // A cluster of a fleet is made of those of the fleet's models that it has.
    let models: Vec<&str> = group.models.iter().map(String::as_str).collect();
    let all = problem.groups.first().and_then(|fleet| fleet.of_some(&group.name, &models));
    let kind = best.counts.iter().position(|n| *n > 0).unwrap_or(0);
    all.map_or_else(|| Ok(group.clone()), |part| problem.finished(part, kind))
}
