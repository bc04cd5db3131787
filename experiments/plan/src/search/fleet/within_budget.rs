//! The fleet that carries most for a budget: the largest part of the load, or multiple of it, whose cheapest fleet the
//! budget pays for.
//!
//! ```text
//!  factor of the load   ──the cheapest fleet──>   its cost   ──within the budget?──>   a larger or a smaller factor
//! ```
//!
//! The models keep their shares of the load. What costs too much by the bound on every fleet is not simulated.

use super::{Beside, Found, best, of_homes, search};
use crate::input::problem::Problem;
use crate::search::answer::significant;
use crate::search::fleet::known::Knowledge;
use crate::search::fleet::placement::Homes;
use crate::search::runs::Runs;
use crate::search::solved::{Fleet, Within};
use orrery_scenario::SpecError;
use orrery_solvers::Price;

/// At most so many factors are tried.
const STEPS_MAX: u32 = 24;
/// A smaller part of the load is none.
const LEAST: f64 = 1e-3;
/// A larger multiple of it is not looked for.
const MOST: f64 = 1e3;

/// The problem at the largest load that the budget pays for, and its fleet; at the plan's own load, with no answer,
/// where it pays for none.
///
/// # Errors
/// When a model has no home, or a cluster cannot be simulated.
pub fn within(
    problem: &Problem,
    budget: Price,
    frontier: bool,
    runs: &Runs<'_>,
) -> Result<(Problem, Found), SpecError> {
    let precision = problem.plan.precision;
    let (mut low, mut high): (Option<f64>, Option<f64>) = (None, None);
    let mut factor = 1.0;
    for _ in 0..STEPS_MAX {
        let cost = cost(&scaled(problem, factor), budget, runs)?;
        match cost {
            Some(_) => low = Some(factor),
            None => high = Some(factor),
        }
        factor = match (low, high) {
            (Some(low), Some(high)) if high <= low * (1.0 + precision) => break,
            (Some(low), Some(high)) => libm::sqrt(low * high),
            // At least as much more as money is left.
            (Some(low), None) => {
                let part = cost.map_or(1.0, Price::as_usd_per_hour);
                low * (budget.as_usd_per_hour() / part.max(1e-9)).clamp(1.0 + precision, 4.0)
            }
            (None, Some(high)) => high / 2.0,
            (None, None) => factor,
        };
        if !(LEAST..=MOST).contains(&factor) {
            break;
        }
    }
    let Some(low) = low else {
        let mut found = none(problem, budget);
        found.fleet.runs = runs.finish();
        return Ok((problem.clone(), found));
    };
    let problem = scaled(problem, low);
    let mut found = search(&problem, Beside { frontier, prices: false }, runs)?;
    let load_per_s = problem.groups[0].load_per_s;
    found.fleet.within = Some(Within { budget, factor: low, load_per_s, too_dear: high });
    if high.is_none_or(|high| high > low * (1.0 + precision)) {
        found.fleet.unknown.push(format!(
            "whether the budget pays for more than {} requests/s: the search ended before it was sure",
            significant(load_per_s)
        ));
    }
    Ok((problem, found))
}

/// The problem at a multiple of its load.
fn scaled(problem: &Problem, factor: f64) -> Problem {
    let mut scaled = problem.clone();
    scaled.plan.growth = scaled.plan.growth.scaled(factor);
    scaled.groups.iter_mut().for_each(|group| group.load_per_s *= factor);
    scaled
}

/// What the cheapest fleet costs, where the budget pays for it.
fn cost(problem: &Problem, budget: Price, runs: &Runs<'_>) -> Result<Option<Price>, SpecError> {
    let whole = &problem.groups[0];
    let homes = Homes::of(problem, whole)?;
    let mut fleet = of_homes(problem, whole, &homes);
    if fleet.split_usd.is_some_and(|least| least > budget.as_usd_per_hour()) {
        return Ok(None);
    }
    let mut known = Knowledge::new(problem, whole, &homes, runs);
    let cost = best(&mut known, &mut fleet)?.map(|best| best.cost);
    Ok(cost.filter(|cost| *cost <= budget))
}

/// No fleet.
fn none(problem: &Problem, budget: Price) -> Found {
    let mut answer = crate::search::answer::Answer::of(&problem.groups[0]);
    answer.unknown.push(format!(
        "no fleet for {} $/h sustains even {} % of the load",
        crate::search::answer::money(budget),
        LEAST * 100.0
    ));
    let homes = problem.groups[0].models.iter().map(|name| (name.clone(), None)).collect();
    let fleet = Fleet { homes, ..Fleet::default() };
    Found { groups: problem.groups.clone(), answers: vec![answer], fleet }
}
