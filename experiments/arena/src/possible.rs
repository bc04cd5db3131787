//! What any scheduler could finish at most: the bound of each run, and how much of it a policy reaches.

use crate::fight::{Asked, Fought, How};
use crate::league::League;
use orrery_results::metric;
use orrery_run::SpecError;
use orrery_run::bound::Bound;
use orrery_sim::stats::mean;
use orrery_sweep::parts::{Ran, run_parts};
use std::collections::BTreeSet;

/// Gives every run its bound: none to one whose score is no finish rate, and none where none is known. False where
/// Ctrl-C stopped it.
///
/// # Errors
/// When a scenario cannot be set up, or threads cannot be started.
pub fn add(asked: &Asked, cells: &mut [Vec<Fought>], how: &How) -> Result<bool, SpecError> {
    let parts: BTreeSet<(usize, u64)> = cells
        .iter()
        .enumerate()
        .flat_map(|(s, row)| row.iter().flat_map(|c| &c.runs).map(move |run| (s, run.seed)))
        .collect();
    let parts: Vec<(usize, u64)> = parts.into_iter().collect();
    let one = |i: usize| {
        let (s, seed) = parts[i];
        let setup = asked.suite.scenarios[s].scenario.setup(seed)?;
        Ok(Bound::of(&setup, seed).ok().filter(|_| setup.penalties.is_empty()))
    };
    let order: Vec<usize> = (0..parts.len()).collect();
    let Ran::All(found) = run_parts(&order, how.jobs, one)? else { return Ok(false) };
    for ((s, seed), bound) in parts.into_iter().zip(found) {
        let Some(bound) = bound else { continue };
        let runs = cells[s].iter_mut().flat_map(|c| &mut c.runs).filter(|run| run.seed == seed);
        runs.for_each(|run| {
            run.push("all", metric::FINISH_RATE_BOUND, bound.finish_rate(), bound.offered);
        });
    }
    Ok(true)
}

impl League {
    /// Whether any run has a bound.
    pub fn has_bounds(&self) -> bool {
        (0..self.cells.len()).any(|s| self.bound(s).is_some())
    }

    /// The mean bound of a scenario.
    pub fn bound(&self, scenario: usize) -> Option<f64> {
        let of = |cell: &Fought| cell.values(metric::FINISH_RATE_BOUND);
        self.cells[scenario].iter().find_map(of).as_deref().and_then(mean)
    }

    /// The mean of a policy's score over the bound, seed by seed, over the scenarios that it ran and that have one; and
    /// how many these are.
    pub fn of_the_possible(&self, policy: usize) -> Option<(f64, usize)> {
        let of = |row: &Vec<Fought>| {
            let scores = row[policy].values(metric::ARENA_SCORE)?;
            let bounds = row[policy].values(metric::FINISH_RATE_BOUND)?;
            let each = scores.iter().zip(&bounds).filter(|(_, bound)| **bound > 0.0);
            let parts: Vec<f64> = each.map(|(score, bound)| score / bound).collect();
            mean(&parts)
        };
        let all: Vec<f64> = self.cells.iter().filter_map(of).collect();
        Some((mean(&all)?, all.len()))
    }
}
