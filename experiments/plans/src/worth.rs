//! A runner-up that is better in all but a little money.

use super::answer::{Answer, Choice, percent};
use super::money::month;
use super::problem::Problem;
use super::robust::Robust;

/// It costs at most this share more than the answer,
const DEARER_MAX: f64 = 0.1;
/// and its headroom is at least this much more of the load.
const HEADROOM_LEAST: f64 = 0.1;

/// The cheapest runner-up that costs little more than the answer and carries much more.
pub fn worth<'a>(problem: &Problem, answer: &'a Answer) -> Option<&'a Choice> {
    let best = answer.best().filter(|_| problem.budget.is_none())?;
    let load = answer.load_per_s;
    let enough = best.headroom(load) + HEADROOM_LEAST;
    let is_worth = |c: &&Choice| {
        dearer(best, c) <= DEARER_MAX
            && c.headroom(load) >= enough
            && c.at_load.is_sure(problem.plan.target())
    };
    answer.choices.iter().skip(1).filter(is_worth).min_by_key(|c| c.cost)
}

/// By which share a choice costs more.
fn dearer(best: &Choice, other: &Choice) -> f64 {
    other.cost.as_usd_per_hour() / best.cost.as_usd_per_hour() - 1.0
}

/// `16 V100 cost 4 % more (9227 $/month) and have 78 % of headroom in place of 1 %`, and whether they hold where the
/// answer does not.
pub fn words(problem: &Problem, answer: &Answer, robust: Option<&Robust>) -> Option<String> {
    let (best, other) = (answer.best()?, worth(problem, answer)?);
    let headroom = |c: &Choice| format!("{:.0} %", c.headroom(answer.load_per_s) * 100.0);
    let pool = match problem.policies.len() {
        1 => problem.words(&other.counts),
        _ => format!("{} under {}", problem.words(&other.counts), other.policy),
    };
    let tried = robust.iter().flat_map(|robust| &robust.worth);
    let tried: Vec<_> = tried.filter(|s| s.group == answer.group && !s.is_untried()).collect();
    let target = problem.plan.target();
    let fails: Vec<&str> =
        tried.iter().filter(|s| s.bad_rate(target).is_some()).map(|s| s.words()).collect();
    let stands = match (tried.len(), fails.as_slice()) {
        (0, _) => String::new(),
        (1, []) => "; they hold under the change below".to_string(),
        (n, []) => format!("; they hold under all {n} changes below"),
        (_, some) => format!("; they do not hold when {}", some.join(", or when ")),
    };
    Some(format!(
        "{}: for little more: {pool} cost {} % more ({} $/month) and have {} of headroom in place of {}{stands}",
        answer.group,
        percent((dearer(best, other) * 100.0).round() / 100.0),
        month(other.cost),
        headroom(other),
        headroom(best),
    ))
}
