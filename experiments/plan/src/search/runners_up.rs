//! A runner-up that is better in all but a little money: it carries much more, or holds where the answer does not.

use crate::input::problem::Problem;
use crate::search::answer::{Answer, Choice};

/// It costs at most this share more than the answer.
const DEARER_MAX: f64 = 0.1;
/// Much more is this share of the load.
const HEADROOM_LEAST: f64 = 0.1;

/// The runners-up that cost little more than the answer, with their places, the cheapest first.
pub fn little_dearer<'a>(problem: &Problem, answer: &'a Answer) -> Vec<(usize, &'a Choice)> {
    let Some(best) = answer.best().filter(|_| problem.budget.is_none()) else { return Vec::new() };
    let is_one = |(_, c): &(usize, &Choice)| {
        dearer(best, c) <= DEARER_MAX && c.at_load.is_sure(problem.plan.target())
    };
    let mut all: Vec<(usize, &Choice)> =
        answer.choices.iter().enumerate().skip(1).filter(is_one).collect();
    all.sort_by_key(|(_, c)| c.cost);
    all
}

/// The cheapest of them that carries much more than the answer.
pub fn roomier(problem: &Problem, answer: &Answer) -> Option<usize> {
    let all = little_dearer(problem, answer);
    all.into_iter().find(|(_, c)| more_room(answer, c) >= HEADROOM_LEAST).map(|(place, _)| place)
}

/// By how much of the load a choice carries more than the answer.
pub fn more_room(answer: &Answer, other: &Choice) -> f64 {
    let load = answer.load_per_s;
    let own = answer.best().and_then(|best| best.headroom(load));
    other.headroom(load).zip(own).map_or(0.0, |(other, own)| other - own)
}

/// By which share a choice costs more.
pub fn dearer(best: &Choice, other: &Choice) -> f64 {
    other.cost.as_usd_per_hour() / best.cost.as_usd_per_hour() - 1.0
}
