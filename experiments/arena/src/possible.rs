//! What any scheduler could finish at most: the bound of each run, and how much of it a policy reaches.

use crate::board::mean;
use crate::fight::{Asked, Fought, How};
use crate::league::League;
use orrery_results::metric;
use orrery_scenario::SpecError;
use orrery_scenario::bound::Bound;
use orrery_sweep::parts::{Ran, run_parts};

/// The bound of each seed of each scenario that was run: nothing of a score that is no finish rate, and where none is
/// known. `None` where Ctrl-C stopped it.
///
/// # Errors
/// When a scenario cannot be set up, or threads cannot be started.
pub fn bounds(
    asked: &Asked,
    cells: &[Vec<Fought>],
    how: &How,
) -> Result<Option<Vec<Option<Vec<f64>>>>, SpecError> {
    let scenarios = asked.suite.scenarios.iter().zip(cells).enumerate();
    let runs = |row: &Vec<Fought>| row.iter().map(|cell| cell.runs.len()).max().unwrap_or(0);
    let parts: Vec<(usize, u64)> = scenarios
        .flat_map(|(s, (of, row))| {
            (0..runs(row) as u64).map(move |i| (s, of.scenario.seed.wrapping_add(i)))
        })
        .collect();
    let one = |i: usize| {
        let (s, seed) = parts[i];
        let setup = asked.suite.scenarios[s].scenario.setup(seed)?;
        let bound = Bound::of(&setup, seed).ok().filter(|_| setup.penalties.is_empty());
        Ok(bound.map(|b| b.finish_rate()))
    };
    Ok(match run_parts(&(0..parts.len()).collect::<Vec<_>>(), how.jobs, one)? {
        Ran::All(found) => {
            let mut out = vec![Vec::new(); cells.len()];
            parts.iter().zip(found).for_each(|((s, _), bound)| out[*s].push(bound));
            Some(out.into_iter().map(|all: Vec<_>| all.into_iter().collect()).collect())
        }
        Ran::Stopped => None,
    })
}

impl League {
    /// The mean bound of a scenario.
    pub fn bound(&self, scenario: usize) -> Option<f64> {
        self.bounds.get(scenario)?.as_deref().filter(|all| !all.is_empty()).map(mean)
    }

    /// The mean of a policy's score over the bound, seed by seed, over the scenarios that it ran and that have one; and
    /// how many these are.
    pub fn of_the_possible(&self, policy: usize) -> Option<(f64, usize)> {
        let of = |(row, bounds): (&Vec<Fought>, &Option<Vec<f64>>)| {
            let scores = row[policy].values(metric::ARENA_SCORE)?;
            let each = scores.iter().zip(bounds.as_ref()?).filter(|(_, bound)| **bound > 0.0);
            let parts: Vec<f64> = each.map(|(score, bound)| score / bound).collect();
            (!parts.is_empty()).then(|| mean(&parts))
        };
        let all: Vec<f64> = self.cells.iter().zip(&self.bounds).filter_map(of).collect();
        (!all.is_empty()).then(|| (mean(&all), all.len()))
    }
}
