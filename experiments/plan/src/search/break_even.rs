//! At which prices another type of machine is the answer.

use crate::input::problem::Problem;
use crate::search::answer::{Choice, Turn};

/// The prices at which the answer changes: of the cheapest cluster of each type that carries the load. How
/// many devices a type needs does not depend on its price, so they are exact for these clusters.
pub fn turns(problem: &Problem, choices: &[Choice]) -> Vec<Turn> {
    let mut cheapest: Vec<(usize, &Choice)> = Vec::new();
    for choice in choices {
        let Some(kind) = choice.counts.iter().position(|n| *n > 0) else { continue };
        if cheapest.iter().all(|(other, _)| *other != kind) {
            cheapest.push((kind, choice));
        }
    }
    let mut by_cost = cheapest.iter().map(|(_, c)| c.cost.as_usd_per_hour());
    let (Some(first), Some(second)) = (by_cost.next(), by_cost.next()) else { return Vec::new() };
    let of = |(place, (kind, choice)): (usize, &(usize, &Choice))| {
        let each = problem.cost(&choice.counts).as_usd_per_hour() / f64::from(choice.counts[*kind]);
        let other = if place == 0 { second } else { first };
        Turn {
            kind: *kind,
            now_usd_per_hour: each,
            at_usd_per_hour: each * other / choice.cost.as_usd_per_hour(),
            is_answer: place == 0,
        }
    };
    cheapest.iter().enumerate().map(of).collect()
}
