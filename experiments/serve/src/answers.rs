//! Answers to a question: for every policy first a short run, then the whole one, then more seeds; each is sharper
//! than the one before. Answers are kept by what they depend on.

use super::question::Question;
use orrery_results::Row;
use orrery_run::SpecError;
use orrery_scenario::scenario::Scenario;
use orrery_sim::driver::ready::{UntilTold, until_told};
use orrery_sweep::goodput::Search;
use orrery_sweep::replication::Replication;
use orrery_sweep::rows::rows;
use orrery_sweep::scenario_cell::ScenarioCell;
use orrery_sweep::seeds::Seeds;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Requests of the first look.
const FIRST_LOOK: u64 = 2_000;
/// Runs that are kept: a page moves back to where it was.
const KEPT_MAX: usize = 2_000;

/// One run, by what it depends on.
type Kept = BTreeMap<(String, u64), Replication>;

/// Runs questions.
pub struct Answers {
    pool: Option<rayon::ThreadPool>,
    kept: Mutex<Kept>,
}

/// How far an answer is: the last one is whole.
pub struct Sharpness {
    /// Whether it is a first look, of fewer requests than were asked for.
    pub is_short: bool,
    /// How many seeds it has.
    pub seeds: u32,
    /// Whether nothing sharper comes.
    pub is_last: bool,
}

impl Answers {
    /// On these threads; without any, on the thread that asks.
    pub fn new(pool: Option<rayon::ThreadPool>) -> Answers {
        Answers { pool, kept: Mutex::default() }
    }

    /// Answers a question, step by step: `tell` is given the rows of one policy, whenever there are sharper ones.
    /// Whether it came to its end.
    ///
    /// # Errors
    /// When a run cannot be made.
    pub fn answer(
        &self,
        question: &Question,
        told_to_end: &Arc<AtomicBool>,
        tell: impl Fn(&Sharpness, &[Row]) + Sync,
    ) -> Result<bool, SpecError> {
        let whole = &question.scenario;
        let mut steps: Vec<(Scenario, bool, u32)> = Vec::new();
        if question.requests.is_some_and(|n| n > FIRST_LOOK) {
            steps.push((question.short(FIRST_LOOK)?, true, 1));
        }
        steps.push((whole.clone(), false, 1));
        if question.seeds > 1 {
            steps.push((whole.clone(), false, question.seeds));
        }
        let last = steps.len() - 1;
        for (i, (scenario, is_short, seeds)) in steps.iter().enumerate() {
            let sharpness = Sharpness { is_short: *is_short, seeds: *seeds, is_last: i == last };
            let seeds = Seeds { first: scenario.seed, count: *seeds, until_ci: None };
            let cells = ScenarioCell::of_policies(scenario, &question.policies, seeds, None)?;
            self.each(&cells, told_to_end, |rows| tell(&sharpness, rows))?;
            if told_to_end.load(Ordering::Relaxed) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Searches the highest load that each policy carries, as `orrery goodput --seeds 1` does: `tell` is given the
    /// rows of a policy when its search is done. A search that has begun is finished. Whether all were made.
    ///
    /// # Errors
    /// When the scenario has no rate, or a run cannot be made.
    pub fn goodput(
        &self,
        question: &Question,
        told_to_end: &Arc<AtomicBool>,
        tell: impl Fn(&[Row]) + Sync,
    ) -> Result<bool, SpecError> {
        let scenario = &question.scenario;
        let seeds = Seeds { first: scenario.seed, count: 1, until_ci: None };
        let search = Search::default();
        let policies = &question.policies;
        let cells = ScenarioCell::of_policies(scenario, policies, seeds, Some(&search))?;
        self.each(&cells, told_to_end, tell)?;
        Ok(!told_to_end.load(Ordering::Relaxed))
    }

    /// Runs something on the threads of all answers.
    pub fn install<T: Send>(&self, run: impl FnOnce() -> T + Send) -> T {
        match &self.pool {
            Some(pool) => pool.install(run),
            None => run(),
        }
    }

    /// Runs cells side by side: `tell` is given the rows of each that came to its end.
    fn each(
        &self,
        cells: &[ScenarioCell],
        told_to_end: &Arc<AtomicBool>,
        tell: impl Fn(&[Row]) + Sync,
    ) -> Result<(), SpecError> {
        let one = |cell: &ScenarioCell| -> Result<(), SpecError> {
            if let Some(runs) = self.runs(cell, told_to_end)? {
                tell(&rows(&cell.place(&cell.scenario.name), &cell.seeds, &runs));
            }
            Ok(())
        };
        self.install(|| cells.par_iter().with_max_len(1).map(one).collect())
    }

    /// The runs of a cell; none when they were told to end.
    fn runs(
        &self,
        cell: &ScenarioCell,
        told_to_end: &Arc<AtomicBool>,
    ) -> Result<Option<Vec<Replication>>, SpecError> {
        let (hash, _) = cell.hashes();
        let mut runs = Vec::new();
        for i in 0..cell.seeds.count {
            let seed = cell.seeds.first.wrapping_add(i.into());
            let key = (hash.clone(), seed);
            let known = self.kept.lock().ok().and_then(|kept| kept.get(&key).cloned());
            if let Some(run) = known {
                runs.push(run);
                continue;
            }
            if told_to_end.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let run = match &cell.search {
                Some(_) => cell.one(seed)?,
                None => {
                    let setup = cell.scenario.setup(seed)?;
                    let observer = UntilTold(told_to_end.clone());
                    let ran = setup.run_by(&cell.policy, seed, observer, until_told)?;
                    // What was cut short says nothing.
                    if told_to_end.load(Ordering::Relaxed) {
                        return Ok(None);
                    }
                    let (metrics, _) = ran.observer;
                    Replication::of(seed, &metrics, &cell.scenario.scope_names())
                }
            };
            if let Ok(mut kept) = self.kept.lock() {
                if kept.len() >= KEPT_MAX {
                    kept.clear();
                }
                kept.insert(key, run.clone());
            }
            runs.push(run);
        }
        Ok(Some(runs))
    }
}
