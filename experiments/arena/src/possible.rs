//! What any scheduler could finish at most: the bound of each scenario, and how much of it a policy reaches.

use crate::fight::{Asked, How};
use crate::league::League;
use orrery_results::metric;
use orrery_scenario::SpecError;
use orrery_scenario::bound::Bound;
use orrery_sweep::parts::{Ran, run_parts};

/// The bound of each scenario, on its first seed: none of a score that is no finish rate, and where none is known.
/// `None` where Ctrl-C stopped it.
///
/// # Errors
/// When a scenario cannot be set up, or threads cannot be started.
pub fn bounds(asked: &Asked, how: &How) -> Result<Option<Vec<Option<f64>>>, SpecError> {
    let scenarios = &asked.suite.scenarios;
    let one = |i: usize| {
        let scenario = &scenarios[i].scenario;
        let setup = scenario.setup(scenario.seed)?;
        let bound = Some(setup).filter(|setup| setup.penalties.is_empty());
        Ok(bound.and_then(|setup| Bound::of(&setup, scenario.seed).ok()).map(|b| b.finish_rate()))
    };
    Ok(match run_parts(&(0..scenarios.len()).collect::<Vec<_>>(), how.jobs, one)? {
        Ran::All(bounds) => Some(bounds),
        Ran::Stopped => None,
    })
}

impl League {
    /// The mean of a policy's score over the bound, on the first seed of each scenario that it ran and that has a bound;
    /// and how many these are.
    pub fn of_the_possible(&self, policy: usize) -> Option<(f64, usize)> {
        let of = |(row, bound): (&Vec<crate::fight::Fought>, &Option<f64>)| {
            let score = row[policy].runs.first()?.value("all", metric::ARENA_SCORE)?;
            bound.filter(|bound| *bound > 0.0).map(|bound| score / bound)
        };
        let all: Vec<f64> = self.cells.iter().zip(&self.bounds).filter_map(of).collect();
        (!all.is_empty()).then(|| (crate::board::mean(&all), all.len()))
    }
}
