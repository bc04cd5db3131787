//! The rows of a scenario's policies, each compared with the first; and those of any cells.

use super::notes::say_slow;
use super::replication::Replication;
use super::rows::{difference, rows};
use super::scenario_cell::{Cell, ScenarioCell, Subject};
use super::seeds::Seeds;
use orrery_report::{Progress, say};
use orrery_results::{Row, metric};
use orrery_run::bound::Bound;
use orrery_run::{PolicySpec, SpecError};
use orrery_scenario::scenario::Scenario;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The rows of a scenario's policies; each after the first is compared with the first. `done` is a run
/// of the first policy that was made already. With `bound`, each run also has the bound of its seed.
///
/// # Errors
/// When a run cannot be made, or there is no bound of the scenario.
pub fn rows_of_scenario(
    scenario: &Scenario,
    policies: &[PolicySpec],
    seeds: Seeds,
    done: Option<&Replication>,
    bound: bool,
) -> Result<Vec<Row>, SpecError> {
    scenario.setup(seeds.first)?;
    scenario.notes().iter().for_each(|note| say(note));
    say_slow::<Scenario>(policies);
    let bound_of =
        |seed: u64| Bound::of(&scenario.setup(seed)?, seed).map_err(|error| scenario.placed(error));
    // A scenario without a bound is refused before anything runs.
    let mut bounds = BTreeMap::new();
    if bound {
        bounds.insert(seeds.first, bound_of(seeds.first)?);
    }
    let cells = ScenarioCell::of_policies(scenario, policies, seeds, None)?;
    let progress = Progress::new(cells.len() as u64, "policies");
    let run = |(i, c): (usize, &ScenarioCell)| {
        let done = done.filter(|_| i == 0);
        let runs = c.seeds.run(|seed| match done.filter(|done| done.seed == seed) {
            Some(done) => Ok(done.clone()),
            None => c.one(seed),
        });
        progress.step();
        runs
    };
    let mut runs: Vec<_> = cells.par_iter().enumerate().map(run).collect::<Result<_, _>>()?;
    for run in runs.iter_mut().flatten().filter(|_| bound) {
        let of_seed = match bounds.entry(run.seed) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(other) => *other.insert(bound_of(run.seed)?),
        };
        run.push("all", metric::FINISH_RATE_BOUND, of_seed.finish_rate(), of_seed.offered);
    }
    let mut out = Vec::new();
    for (i, (cell, own)) in cells.iter().zip(&runs).enumerate() {
        let place = cell.place(&scenario.name);
        out.extend(rows(&place, &seeds, own));
        if i > 0 {
            out.extend(difference(&place, policies[0].text(), own, &runs[0]));
        }
    }
    Ok(out)
}

/// The rows of cells, in their order, each on its own: of a file of tokens, or of a whole sweep that is small enough
/// for memory.
///
/// # Errors
/// When a run cannot be made.
pub fn rows_of_cells<S: Subject>(
    experiment: &str,
    cells: &[Cell<S>],
) -> Result<Vec<Row>, SpecError> {
    let progress = Progress::new(cells.len() as u64, "cells");
    let one = |cell: &Cell<S>| {
        let runs = cell.run()?;
        progress.step();
        Ok(rows(&cell.place(experiment), &cell.seeds, &runs))
    };
    let all: Vec<Vec<Row>> = cells.par_iter().map(one).collect::<Result<_, SpecError>>()?;
    Ok(all.concat())
}
