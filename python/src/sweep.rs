//! A sweep in memory: the cells of a sweep file, with the file's policies or others, one's own among them.

use crate::call::{Call, Chosen, Given, refused, runs};
use crate::policy::{Failed, outside};
use crate::table::{Of, Table};
use orrery_sweep::manifest::Lister;
use orrery_sweep::notes::say_slow;
use orrery_sweep::replication::Replication;
use orrery_sweep::rows::{difference, rows};
use orrery_sweep::scenario_cell::ScenarioCell;
use orrery_sweep::seeds::Until;
use orrery_sweep::sweep_file::SweepFile;
use orrery_results::Row;
use orrery_run::SpecError;
use orrery_scenario::Scenario;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A cell, and what runs it.
struct Task {
    call: Arc<Call>,
    chosen: Chosen,
    cell: ScenarioCell,
}

impl Task {
    /// Its runs, seed by seed; of a search, the answers.
    fn run(&self) -> PyResult<Vec<Replication>> {
        let mut raised = None;
        let one = |seed| match self.cell.search {
            Some(_) => self.cell.one(seed),
            None => self.call.run(&self.chosen, seed).map(|ran| ran.replication).map_err(|error| {
                raised = Some(error);
                SpecError::value("run", "an exception", "a run to its end", "see what was raised")
            }),
        };
        let ran = self.cell.seeds.run(one);
        match raised {
            Some(error) => Err(error),
            None => ran.map_err(refused),
        }
    }
}

/// Runs a sweep file: its rows, as `orrery sweep --format csv` has them. `policies` stand for the file's.
#[pyfunction]
pub fn sweep(
    py: Python<'_>,
    path: &str,
    policies: Vec<Given>,
    seeds: Option<u32>,
    audit: bool,
    jobs: u16,
) -> PyResult<Table> {
    outside("sweep")?;
    let rows = py.detach(|| {
        let file = SweepFile::load(Path::new(path)).map_err(refused)?;
        let file = file.with(seeds, Until::default()).map_err(refused)?;
        let lister = Lister::new(&file, file.base().map_err(refused)?).map_err(refused)?;
        let mut listed = Vec::new();
        let keep = |one| {
            listed.push(one);
            Ok(())
        };
        lister.one_by_one(keep).map_err(refused)?;
        let failed = Arc::<Failed>::default();
        let mut tasks: Vec<Task> = Vec::new();
        for cell in listed.into_iter().map(|p| p.cell) {
            let is_next = tasks.last().is_none_or(|t| t.cell.axes != cell.axes);
            let call = match tasks.last() {
                Some(task) if !is_next => task.call.clone(),
                _ => Arc::new(Call::of(cell.scenario.clone(), failed.clone(), audit)),
            };
            let given = match (policies.is_empty(), is_next) {
                (true, _) => vec![Given::Published(cell.policy.text().to_string())],
                // The file's other policies at the same place are not asked for.
                (false, true) => policies.iter().map(Given::again).collect(),
                (false, false) => Vec::new(),
            };
            for chosen in call.choose_all(given)? {
                let own = call.cell(&chosen, cell.seeds)?;
                let (axes, search) = (cell.axes.clone(), cell.search.clone());
                let cell = ScenarioCell { axes, search, ..own };
                tasks.push(Task { call: call.clone(), chosen, cell });
            }
        }
        let of_first = tasks.iter().take_while(|t| t.cell.axes == tasks[0].cell.axes);
        say_slow::<Scenario>(of_first.map(|t| &t.chosen.policy));
        let is_own: Vec<bool> = tasks.iter().map(|t| t.chosen.is_own()).collect();
        let ran = runs(&is_own, jobs.into(), &failed, |i| tasks[i].run())?;
        // The file's choice where it is among the policies, or the first.
        let compared = &lister.head.compare_to;
        let has = tasks.iter().any(|t| t.cell.policy.text() == compared);
        let first = tasks.first().map_or("", |t| t.cell.policy.text());
        let compared = if has { compared.as_str() } else { first };
        let is_base = |task: &Task| task.cell.policy.text() == compared;
        let based = tasks.iter().zip(&ran).filter(|(task, _)| is_base(task));
        let bases: BTreeMap<&str, &Vec<Replication>> =
            based.map(|(task, runs)| (task.cell.axes.as_str(), runs)).collect();
        let mut out: Vec<Row> = Vec::new();
        for (task, own) in tasks.iter().zip(&ran) {
            let place = task.cell.place(&lister.head.name);
            out.extend(rows(&place, &task.cell.seeds, own));
            if let Some(base) = bases.get(task.cell.axes.as_str()).filter(|_| !is_base(task)) {
                out.extend(difference(&place, compared, own, base));
            }
        }
        PyResult::Ok(out)
    })?;
    Table::of(Of::Results(rows))
}
