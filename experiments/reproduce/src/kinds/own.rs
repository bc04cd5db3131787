//! Runs of the small worlds beside that of requests: each system at each point is a part.

use super::times;
use crate::experiment::{Experiment, System};
use crate::runner::{Cell, Runner};
use orrery_results::Row;
use orrery_run::SpecError;
use orrery_run::policy_spec;
use orrery_scenario::scenario::with_keys;
use orrery_sim::policy::parameters::Named;
use orrery_sweep::grid::{self, combinations};
use orrery_sweep::kept::Kept;
use orrery_sweep::own::{OwnWorld, Spec, spec_sha256};
use orrery_sweep::replication::Replication;
use orrery_sweep::seeds::Seeds;
use toml::Value;

/// Whether every system has a policy of the world.
///
/// # Errors
/// When one has not.
pub fn check_systems<W: OwnWorld>(e: &Experiment) -> Result<(), SpecError> {
    let policy = |(i, s): (usize, &System)| policy::<W>(i, s).map(drop);
    grid::check_apart(&e.point)?;
    e.system.iter().enumerate().try_for_each(policy)
}

fn policy<W: OwnWorld>(i: usize, system: &System) -> Result<Spec<W>, SpecError> {
    policy_spec::Spec::parse_at(format!("system[{i}].policy"), &system.policy)
}

/// Rows for parts of the time: of what groups, and how they are made.
pub struct OverTime<W: OwnWorld> {
    /// The hash of a cell, from that of its whole.
    pub hash: Box<dyn Fn(&str) -> String + Sync>,
    /// The groups of a point.
    #[allow(clippy::type_complexity)]
    pub groups: Box<dyn Fn(&W::Made) -> Result<Vec<String>, SpecError> + Sync>,
    /// The whole, then each part.
    #[allow(clippy::type_complexity)]
    pub run: Box<dyn Fn(&W::Made, &Spec<W>) -> Vec<Replication> + Sync>,
}

/// A system at a point.
struct Planned<'a, W: OwnWorld> {
    axes: String,
    world: W,
    system: &'a System,
    policy: Spec<W>,
    hash: String,
}

/// Each system at each point is a part.
pub struct OwnRuns<'a, W: OwnWorld> {
    experiment: &'a Experiment,
    over_time: Option<OverTime<W>>,
    cells: Vec<Planned<'a, W>>,
    groups: Vec<String>,
}

impl<'a, W: OwnWorld> OwnRuns<'a, W> {
    /// Sets up every cell, and makes its world once.
    ///
    /// # Errors
    /// When a key of the world, a value or a policy is wrong.
    pub fn new(
        experiment: &'a Experiment,
        world: &W,
        over_time: Option<OverTime<W>>,
    ) -> Result<OwnRuns<'a, W>, SpecError> {
        let folder = experiment.folder();
        let (mut cells, mut groups) = (Vec::new(), Vec::new());
        let of = format!("`[{0}]` (docs/{0}.md)", W::KEY);
        for c in combinations(&experiment.point, &experiment.axis, experiment.sample) {
            let changes: Vec<(String, Value)> =
                experiment.set.clone().into_iter().chain(c.changes).collect();
            let world = with_keys(world, &changes, &of)?;
            let made = world.make(1, folder).map_err(W::in_table)?;
            let axes = c.axes.join(";");
            let place = Row { axes: axes.clone(), ..Row::default() };
            for (i, system) in experiment.system.iter().enumerate() {
                if !system.is_run_at(&place) {
                    continue;
                }
                let policy = policy::<W>(i, system)?;
                world.check_for(&policy, &made).map_err(W::in_table)?;
                let hash = spec_sha256(&world, folder, &policy)?;
                let (axes, world) = (axes.clone(), world.clone());
                cells.push(Planned { axes, world, system, policy, hash });
            }
            if let Some(over_time) = &over_time {
                groups = (over_time.groups)(&made)?;
            }
        }
        Ok(OwnRuns { experiment, over_time, cells, groups })
    }

    fn place(&self, cell: &Planned<'_, W>) -> Row {
        Row {
            axes: cell.axes.clone(),
            policy: cell.policy.name(),
            warm_up: "none".to_string(),
            spec_sha256: cell.hash.clone(),
            ..cell.system.row(&self.experiment.place())
        }
    }
}

impl<W: OwnWorld> Runner for OwnRuns<'_, W> {
    fn parts(&self) -> Vec<String> {
        self.cells.iter().map(|c| format!("{} {}", c.axes, c.system.name)).collect()
    }

    fn places(&self) -> Vec<Row> {
        let whole = self.over_time.is_none();
        self.cells.iter().filter(|_| whole).map(|c| self.place(c)).collect()
    }

    fn drawn(&self, _: &[String]) -> Vec<Row> {
        match self.over_time {
            None => self.places(),
            Some(_) => {
                let of = |c| times::drawn(&self.place(c), &self.groups);
                self.cells.iter().flat_map(of).collect()
            }
        }
    }

    fn run(&self, part: usize, kept: &Kept) -> Result<Vec<Cell>, SpecError> {
        let cell = &self.cells[part];
        let folder = self.experiment.folder();
        let what = format!("cell {} ({} {})", part + 1, cell.axes, cell.system.name);
        let place = self.place(cell);
        let seeds = Seeds { first: 1, count: self.experiment.seeds, until_ci: None };
        if let Some(over_time) = &self.over_time {
            let hash = (over_time.hash)(&cell.hash);
            let make = || Ok((over_time.run)(&cell.world.make(1, folder)?, &cell.policy));
            let runs = kept.runs(&hash, &what, make)?;
            return Ok(times::cells(&Row { spec_sha256: hash, ..place }, seeds, runs));
        }
        let run = |seed| Ok(W::one(&cell.world.make(seed, folder)?, &cell.policy, seed));
        let runs = kept.seeds(&cell.hash, &what, &seeds, run)?;
        Ok(vec![Cell { place, seeds: Some(seeds), runs, more: Vec::new() }])
    }
}
