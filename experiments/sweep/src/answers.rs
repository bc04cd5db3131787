//! The searches of several policies, side by side.

use crate::parts::go_on;
use crate::replication::Replication;
use crate::rows::rows;
use crate::scenario_cell::{Cell, Subject};
use crate::seeds::Seeds;
use orrery_report::Progress;
use orrery_results::Row;
use orrery_run::SpecError;
use rayon::prelude::*;

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// The rows of every policy: the answers' means, and one run's figures at each answer.
    pub rows: Vec<Row>,
    /// By policy: the answer of each seed that has one.
    pub each: Vec<Vec<f64>>,
}

/// Searches for each cell with each of its seeds; they all run side by side. `experiment` is their name in rows.
///
/// # Errors
/// When a cell has no rate that can be changed, or a run cannot be made.
pub fn answers<S: Subject>(experiment: &str, cells: &[Cell<S>]) -> Result<Answers, SpecError> {
    let one = |cell: &Cell<S>, i: u32| {
        let first = cell.seeds.first.wrapping_add(i.into());
        Cell { seeds: Seeds { first, count: 1, until_ci: None }, ..cell.clone() }
    };
    let searches: Vec<Cell<S>> =
        cells.iter().flat_map(|c| (0..c.seeds.count).map(|i| one(c, i))).collect();
    let progress = Progress::new(searches.len() as u64, "searches");
    let run = |c: &Cell<S>| {
        go_on()?;
        let runs = c.run();
        progress.step();
        runs
    };
    let mut runs: Vec<Vec<Replication>> =
        searches.par_iter().with_max_len(1).map(run).collect::<Result<_, _>>()?;
    drop(progress);
    let mut out = Answers::default();
    for cell in cells {
        let own: Vec<Replication> = runs.drain(..cell.seeds.count as usize).flatten().collect();
        let metric = cell.search.as_ref().map_or("", |search| search.metric());
        out.each.push(own.iter().filter_map(|r| r.value("all", metric)).collect());
        out.rows.extend(rows(&cell.place(experiment), &cell.seeds, &own));
    }
    Ok(out)
}
