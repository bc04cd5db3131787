//! What an answer stands on: the same machines and scheduler, simulated while one thing that nobody knows
//! exactly is a little worse.
//!
//! Where it does not hold, the next answer is looked for (`next`). Of the change under which most requests are bad,
//! the other schedulers are tried on the same machines, with the first seed.

use crate::input::file::{PlanFile, Pools, Source};
use crate::input::problem::{Group, Problem};
use crate::input::what_if::{about, changed};
use crate::search::after_loss;
use crate::search::answer::{Answer, Choice};
use crate::search::replan::{Next, is_another, is_wanted, next};
use crate::search::runners_up::{little_dearer, more_room, roomier};
use crate::search::runs::Runs;
use crate::search::solved::Solved;
use crate::search::trial::{Bench, Check};
use orrery_report::Progress;
use orrery_results::system_of;
use orrery_scenario::{PolicySpec, SpecError, policies};
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

/// What a change does to an answer.
#[derive(Clone, Debug)]
pub struct Strained {
    /// The change, as `--what-if` takes it.
    pub what_if: String,
    /// The group.
    pub group: String,
    /// What came of it.
    pub held: Held,
    /// What carries the load then, where the answer does not and that was looked for; of a fleet with the first of
    /// its clusters that does not hold.
    pub next: Option<Next>,
}

/// Whether an answer holds.
#[derive(Clone, Debug)]
pub enum Held {
    /// It was simulated: whether it meets the target, and whether that is sure.
    Tried(Check),
    /// It cannot be tried, and why.
    Untried(String),
}

/// What all changes do to all answers.
#[derive(Clone, Debug, Default)]
pub struct Robust {
    /// By change, then by group.
    pub all: Vec<Strained>,
    /// Of groups that have one: the runner-up that is better in all but a little money.
    pub worth: Vec<Better>,
    /// Of the first group that does not hold under its worst change: that change, and the schedulers that carry
    /// the load on the same machines then.
    pub instead: Option<(String, Vec<String>)>,
}

/// A runner-up that is worth its price, under the changes that the answer was tried under.
#[derive(Clone, Debug)]
pub struct Better {
    /// Whose it is.
    pub group: String,
    /// Its place among the choices.
    pub place: usize,
    /// By change.
    pub tried: Vec<Strained>,
    /// The changes under which it holds for sure and the answer does not, in words.
    pub gained: Vec<String>,
}

impl Strained {
    /// The change in words.
    pub fn words(&self) -> &str {
        let usual = USUAL.iter().find(|(text, _)| *text == self.what_if);
        usual.map_or(&self.what_if, |(_, words)| words)
    }

    /// Whether it cannot be tried.
    pub fn is_untried(&self) -> bool {
        matches!(self.held, Held::Untried(_))
    }

    /// The share of bad requests, where the answer does not hold.
    pub fn bad_rate(&self, target: f64) -> Option<f64> {
        match &self.held {
            Held::Tried(check) => (!check.meets(target)).then_some(check.bad_rate),
            Held::Untried(_) => None,
        }
    }
}

impl Robust {
    /// Of the changes under which an answer does not hold, one that has no next answer, or one under another
    /// scheduler only; of equals the one under which most requests are bad.
    pub fn worst(&self, target: f64) -> Option<(&Strained, f64)> {
        let failing = self.all.iter().filter_map(|s| Some((s, s.bad_rate(target)?)));
        let harm = |(s, bad): &(&Strained, f64)| {
            let lacks = match &s.next {
                Some(Next::None) => 2.0,
                Some(Next::Other(_)) => 1.0,
                _ => 0.0,
            };
            lacks + bad / 2.0
        };
        failing.reduce(|a, b| if harm(&b) > harm(&a) { b } else { a })
    }
}

/// A plan under each of its changes, or why there is none.
pub struct Changes(Vec<(String, Result<Problem, String>)>);

impl Changes {
    /// Made before the first run.
    ///
    /// # Errors
    /// When a change that the plan names makes no sense.
    pub fn of(plan: &PlanFile, source: &Source, models: &[String]) -> Result<Changes, SpecError> {
        let usual = || USUAL.map(|(text, _)| text.to_string()).to_vec();
        let texts = plan.robust.clone().unwrap_or_else(usual);
        let of = |text: String| {
            let problem = changed(plan, &text, models);
            match problem.and_then(|plan| Problem::new(&plan, source)) {
                Ok(problem) => Ok((text, Ok(problem))),
                // The usual ones are for every plan, whatever its laws are.
                Err(error) if plan.robust.is_none() => Ok((text, Err(why(&error)))),
                Err(error) => Err(about(&text, error)),
            }
        };
        Ok(Changes(texts.into_iter().map(of).collect::<Result<_, SpecError>>()?))
    }
}

/// Tries a plan's answers under each of its changes.
///
/// # Errors
/// When a pool cannot be simulated.
pub fn robust(changes: &Changes, solved: &Solved) -> Result<Robust, SpecError> {
    let target = solved.problem.plan.target();
    let progress = Progress::estimated("simulations");
    let runs = Runs::new(Some(&progress));
    let carried: Vec<(&Group, &Choice)> = (solved.problem.groups.iter().zip(&solved.answers))
        .filter_map(|(group, answer)| Some((group, answer.best()?)))
        .filter(|(_, best)| best.at_load.meets(target))
        .collect();
    let tries = changes.0.len() * carried.len();
    runs.expect((tries * (solved.problem.seeds().len() + 1)) as u64);
    let mut robust = Robust::default();
    for (text, problem) in &changes.0 {
        let all = |choices: &[(&Group, &Choice)]| -> Result<Vec<Strained>, SpecError> {
            choices.par_iter().with_max_len(1).map(|c| tried(text, problem, c, &runs)).collect()
        };
        let mut tried = all(&carried)?;
        if let Ok(problem) = problem {
            add_next(problem, &mut tried, &runs)?;
        }
        robust.all.extend(tried);
    }
    for (group, answer) in solved.problem.groups.iter().zip(&solved.answers) {
        let own: Vec<&Strained> = robust.all.iter().filter(|s| s.group == group.name).collect();
        let better = better(changes, solved, (group, answer), &own, &runs)?;
        robust.worth.extend(better);
    }
    robust.instead = instead(changes, &robust, &carried, target, &runs)?;
    runs.finish();
    Ok(robust)
}

/// The changes under which a runner-up holds for sure and the answer does not; none where the answer holds under another
/// that the runner-up does not.
fn gained(own: &[&Strained], others: &[Strained], target: f64) -> Option<Vec<String>> {
    let fails = |s: &Strained| s.bad_rate(target).is_some();
    let holds = |s: &Strained| matches!(&s.held, Held::Tried(check) if check.is_sure(target));
    let pairs = || own.iter().zip(others);
    let is_worse = pairs().any(|(own, other)| fails(other) && !fails(own));
    let gained = pairs().filter(|(own, other)| fails(own) && holds(other));
    (!is_worse).then(|| gained.map(|(own, _)| own.words().to_string()).collect())
}

/// The runner-up of a group that is better in all but a little money: it holds under most changes that the answer does
/// not hold under, and under all others that it does; or it carries much more.
fn better(
    changes: &Changes,
    solved: &Solved,
    (group, answer): (&Group, &Answer),
    own: &[&Strained],
    runs: &Runs<'_>,
) -> Result<Option<Better>, SpecError> {
    let problem = &solved.problem;
    let target = problem.plan.target();
    let roomier = roomier(problem, answer);
    let fails = own.iter().any(|s| s.bad_rate(target).is_some());
    let mut best: Option<Better> = None;
    for (place, choice) in little_dearer(problem, answer) {
        let is_roomier = roomier == Some(place);
        if !is_roomier && (!fails || more_room(answer, choice) < 0.0) {
            continue;
        }
        runs.expect((changes.0.len() * (problem.seeds().len() + 1)) as u64);
        let of = |(text, problem): &(String, Result<Problem, String>)| {
            tried(text, problem, &(group, choice), runs)
        };
        let all: Vec<Strained> =
            changes.0.par_iter().with_max_len(1).map(of).collect::<Result<_, SpecError>>()?;
        let gained = gained(own, &all, target).unwrap_or_default();
        let more = best.as_ref().is_none_or(|best| gained.len() > best.gained.len());
        if more && (is_roomier || !gained.is_empty()) {
            best = Some(Better { group: group.name.clone(), place, tried: all, gained });
        }
    }
    Ok(best)
}

/// A pool under a change.
fn tried(
    text: &str,
    problem: &Result<Problem, String>,
    (group, best): &(&Group, &Choice),
    runs: &Runs<'_>,
) -> Result<Strained, SpecError> {
    let held = match problem {
        Ok(problem) => {
            let (group, policy) = (same(problem, group, best)?, PolicySpec::parse(&best.policy)?);
            Held::Tried(check(problem, &group, &policy, best, runs)?)
        }
        Err(why) => Held::Untried(why.clone()),
    };
    Ok(Strained { what_if: text.to_string(), group: group.name.clone(), held, next: None })
}

/// The worst change, and the schedulers that carry the load on the same machines then.
fn instead(
    changes: &Changes,
    robust: &Robust,
    carried: &[(&Group, &Choice)],
    target: f64,
    runs: &Runs<'_>,
) -> Result<Option<(String, Vec<String>)>, SpecError> {
    let worst = robust.worst(target).map(|(s, _)| (s.what_if.clone(), s.group.clone()));
    let place = |(what_if, name): &(String, String)| {
        let problem = changes.0.iter().find(|(text, _)| text == what_if)?.1.as_ref().ok()?;
        Some((problem, *carried.iter().find(|(group, _)| group.name == *name)?))
    };
    let Some((what_if, (problem, (group, best)))) =
        worst.and_then(|w| Some((w.0.clone(), place(&w)?)))
    else {
        return Ok(None);
    };
    let carriers = carriers(problem, &same(problem, group, best)?, best, runs)?;
    Ok(Some((what_if, carriers)))
}

/// The next answers under a change, where the answers do not hold.
fn add_next(problem: &Problem, tried: &mut [Strained], runs: &Runs<'_>) -> Result<(), SpecError> {
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

/// Why a change cannot be tried, in a line.
fn why(error: &SpecError) -> String {
    match error {
        SpecError::Value { found, .. } => found.clone(),
        other => other.to_string(),
    }
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

/// The pool at the load; with a machine that may be lost the worst of what is left of it.
fn check(
    problem: &Problem,
    group: &Group,
    policy: &PolicySpec,
    best: &Choice,
    runs: &Runs<'_>,
) -> Result<Check, SpecError> {
    let bench = Bench::new(problem, group, policy, runs).at(best.hardest);
    after_loss::worst_left(&bench, &best.counts, group.load_per_s)
}

/// The schedulers, as they are without parameters, that carry the load on the same machines with the first seed.
fn carriers(
    problem: &Problem,
    group: &Group,
    best: &Choice,
    runs: &Runs<'_>,
) -> Result<Vec<String>, SpecError> {
    let own = system_of(&best.policy);
    let names: Vec<&str> =
        policies::all().map(|t| t.about.name).filter(|name| is_another(name, own)).collect();
    let pools = after_loss::pools(problem, &best.counts);
    runs.expect((names.len() * pools.len()) as u64);
    let carries = |name: &&str| {
        let policy = PolicySpec::parse(name).ok()?;
        problem.fits(&policy).then_some(())?;
        let bench = Bench::new(problem, group, &policy, runs).at(best.hardest);
        // One that needs what these machines do not have is no scheduler for them.
        let holds = |counts: &Vec<u32>| bench.holds(counts, group.load_per_s).unwrap_or(false);
        pools.iter().all(holds).then(|| (*name).to_string())
    };
    Ok(names.par_iter().with_max_len(1).filter_map(carries).collect())
}
