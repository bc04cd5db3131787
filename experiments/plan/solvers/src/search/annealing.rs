//! Simulated annealing over pools (van Laarhoven and Aarts): the search of Kairos's Fig. 2.
//!
//! ```text
//! x: a random pool, or the one given
//! for each step, at a temperature that falls by the same factor each time:
//!     y: a neighbour of x at random: one instance more, one less, or of another type
//!     when y is better than x, or with probability exp(-(x - y) / (temperature * best so far)):
//!         x := y
//! ```
//!
//! # Differences from the paper
//! - The paper tells no schedule, neighbourhood or start; all are ours. Temperatures are relative
//!   to the best throughput so far, so that the units do not matter.
//! - A pool that was evaluated before is known and costs no evaluation.

use super::{Evaluate, Explorer, Found, Look, Rules, SearchError};
use crate::{PlannerError, Pool, Space};
use orrery_sim::rng::Stream;

/// The schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Annealing {
    /// Where to begin; none for a random pool.
    pub start: Option<Pool>,
    /// The first temperature, as a fraction of the best throughput so far.
    pub temperature: f64,
    /// What the temperature is multiplied by after each step: above 0, at most 1.
    pub cooling: f64,
    /// After how many steps it is over.
    pub steps: usize,
}

impl Default for Annealing {
    fn default() -> Annealing {
        Annealing { start: None, temperature: 0.2, cooling: 0.98, steps: 400 }
    }
}

/// Searches with the stream `planner-annealing` of the seed.
///
/// # Errors
/// When the schedule is wrong, the start is not in the space, or a pool cannot be evaluated.
pub fn annealing<V: Evaluate>(
    space: &Space,
    schedule: &Annealing,
    seed: u64,
    rules: Rules,
    evaluator: &mut V,
) -> Result<Found, SearchError<V::Error>> {
    check(schedule)?;
    let mut explorer = Explorer::new(space, rules, evaluator)?;
    let mut stream = Stream::named(seed, "planner-annealing", 0);
    let mut x = match &schedule.start {
        Some(pool) => space
            .position(pool)
            .ok_or_else(|| PlannerError::NotInSpace { pool: pool.to_string() })?,
        None => stream.below(space.pools().len() as u64) as usize,
    };
    let Look::Value(mut x_value) = explorer.look(x)? else {
        unreachable!("the first pool is open, and one evaluation is allowed");
    };
    let mut temperature = schedule.temperature;
    for _ in 0..schedule.steps {
        let near = neighbours(space, x);
        if near.is_empty() {
            break;
        }
        let y = near[stream.below(near.len() as u64) as usize];
        // Drawn whether it is needed or not, so that the stream does not depend on values.
        let chance = stream.uniform();
        let y_value = match explorer.look(y)? {
            Look::Value(value) => value,
            Look::Dropped => {
                temperature *= schedule.cooling;
                continue;
            }
            Look::Spent => return Ok(explorer.finish(false)),
        };
        let best = explorer.best().map_or(0.0, |(_, value)| value);
        if y_value >= x_value || chance < libm::exp((y_value - x_value) / (temperature * best)) {
            (x, x_value) = (y, y_value);
        }
        temperature *= schedule.cooling;
    }
    Ok(explorer.finish(true))
}

/// The pools of the space with one instance more or less, or one of a type for one of another.
fn neighbours(space: &Space, of: usize) -> Vec<usize> {
    let pool = &space.pools()[of];
    let types = pool.0.len();
    let mut near = Vec::new();
    let mut add = |more: Option<usize>, less: Option<usize>| {
        let mut counts = pool.0.clone();
        if let Some(t) = less {
            let Some(count) = counts[t].checked_sub(1) else { return };
            counts[t] = count;
        }
        if let Some(t) = more {
            counts[t] += 1;
        }
        near.extend(space.position(&Pool(counts)));
    };
    for a in 0..types {
        add(Some(a), None);
        add(None, Some(a));
        for b in (0..types).filter(|b| *b != a) {
            add(Some(a), Some(b));
        }
    }
    near
}

fn check(schedule: &Annealing) -> Result<(), PlannerError> {
    let Annealing { temperature, cooling, .. } = *schedule;
    if !temperature.is_finite() || temperature <= 0.0 {
        let (what, allowed) = ("temperature", "a finite number above 0");
        return Err(PlannerError::Number { what, value: temperature, allowed });
    }
    if !(cooling > 0.0 && cooling <= 1.0) {
        let (what, allowed) = ("cooling", "above 0 and at most 1");
        return Err(PlannerError::Number { what, value: cooling, allowed });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pool, released};

    #[test]
    fn neighbours_are_one_instance_or_one_exchange_apart() {
        let space = Space::within(&released::catalogue(), released::BUDGET).expect("a space");
        let pools = space.pools();
        for of in 0..pools.len() {
            let apart = |other: &Pool| {
                let pairs = pools[of].0.iter().zip(&other.0);
                let more: u32 = pairs.clone().map(|(a, b)| b.saturating_sub(*a)).sum();
                let less: u32 = pairs.map(|(a, b)| a.saturating_sub(*b)).sum();
                (more, less)
            };
            let near = |i: &usize| matches!(apart(&pools[*i]), (1, 0) | (0, 1) | (1, 1));
            let expected: Vec<usize> = (0..pools.len()).filter(near).collect();
            let mut found = neighbours(&space, of);
            found.sort_unstable();
            assert_eq!(found, expected, "{}", pools[of]);
        }
    }
}
