//! A runner-up that is better in all but a little money.

use super::answer::{Answer, Choice};
use super::problem::Problem;

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
pub fn dearer(best: &Choice, other: &Choice) -> f64 {
    other.cost.as_usd_per_hour() / best.cost.as_usd_per_hour() - 1.0
}
