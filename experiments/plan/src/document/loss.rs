//! The loss of a machine that breaks an answer, for its first sentence.

use crate::document::sentences::of_group;
use crate::input::problem::Problem;
use crate::search::answer::{Answer, money, percent};
use crate::search::size::Less;
use crate::search::solved::Solved;
use orrery_solvers::Price;

/// What of answers breaks when a machine is lost, and what one more costs; none where nothing does, or where the load need
/// not be sustained.
pub fn breaks_on_loss(problem: &Problem, answers: &[Answer]) -> Option<String> {
    if problem.budget.is_some() {
        return None;
    }
    let broken: Vec<(&Answer, &Less)> =
        answers.iter().filter_map(|a| Some((a, worst(problem, a)?))).collect();
    let costs = broken.iter().map(|(a, less)| one_more(problem, a, less));
    let cost: Option<Price> =
        costs.collect::<Option<Vec<Price>>>().map(|all| all.into_iter().sum());
    let more = |what: &str| match cost {
        Some(cost) => format!("; {what} costs {} $/h", money(cost)),
        None => format!("; the plan does not allow {what}"),
    };
    match (broken.as_slice(), answers.len()) {
        ([], _) => None,
        ([(_, less)], 1) => Some(format!("{}{}", without(less), more("one more"))),
        (some, of) => Some(format!(
            "the loss of a machine breaks {} of {of} pools{}",
            some.len(),
            more("one more in each of them")
        )),
    }
}

/// That an answer tolerates the loss of the type that `survive` names for want of it, and what the loss of another does.
pub fn holds_for_want(problem: &Problem, answer: &Answer) -> Option<String> {
    let best = answer.best()?;
    let kind = problem.plan.may_lose_only().filter(|kind| best.counts[*kind] == 0)?;
    let kind = problem.kind(kind);
    let others: Vec<String> = best.less.iter().map(without).collect();
    Some(format!("tolerates the loss of one {kind} for want of any {kind}; {}", others.join("; ")))
}

/// The same of a what-if, by its group.
pub fn what_if_for_want(solved: &Solved) -> Vec<String> {
    let about = solved.what_if.as_deref().unwrap_or_default();
    let of = |a: &Answer| {
        let line = of_group(solved, a, &holds_for_want(&solved.problem, a)?);
        Some(format!("{about}: {line}"))
    };
    solved.answers.iter().filter_map(of).collect()
}

/// The loss with the most violations, where that is above the target.
fn worst<'a>(problem: &Problem, answer: &'a Answer) -> Option<&'a Less> {
    let target = problem.plan.target();
    let is_broken = |less: &&Less| less.bad_rate() > target;
    let all = answer.best()?.less.iter().filter(is_broken);
    all.reduce(|a, b| if b.bad_rate() > a.bad_rate() { b } else { a })
}

/// `without one T4: 29.93 % SLO violations`.
fn without(less: &Less) -> String {
    match &less.at_load {
        None => format!("without one {}: no machine is left", less.machine),
        Some(check) => {
            format!("without one {}: {} % SLO violations", less.machine, percent(check.bad_rate))
        }
    }
}

/// What one more of the type costs, as it is bought; none where the plan allows no more.
fn one_more(problem: &Problem, answer: &Answer, less: &Less) -> Option<Price> {
    let best = answer.best()?;
    let mut counts = best.counts.clone();
    counts[less.kind] += problem.machine(less.kind, counts[less.kind]).0;
    let is_allowed = counts[less.kind] <= problem.counts_max[less.kind];
    let [more, now] = [&counts, &best.counts].map(|counts| problem.cost(counts).as_usd_per_hour());
    is_allowed.then(|| Price::usd_per_hour("one more", more - now).ok())?
}
