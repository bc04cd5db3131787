//! Cells that are runs of a scenario, or searches in one: Symphony's and Clockwork's figures.

use super::{bins, times};
use crate::cells::kept::Kept;
use crate::cells::plan::{Head, Planned, Planner, line};
use crate::cells::sweep_file::SweepFile;
use crate::papers::experiment::{Experiment, Kind, System};
use crate::papers::numbers::is_at;
use crate::papers::runner::{Cell, Runner};
use orrery_results::Row;
use orrery_scenario::SpecError;
use orrery_scenario::scenario::Scenario;
use orrery_scenario::scenario::place::{Source, line_of};
use std::path::{Path, PathBuf};

/// Combinations of axes and points with systems.
pub struct Cells<'a> {
    experiment: &'a Experiment,
    head: Head,
    cells: Vec<(Planned, &'a System)>,
}

impl<'a> Cells<'a> {
    /// Sets up every cell.
    ///
    /// # Errors
    /// When the scenario, a key or a policy is wrong, or a file cannot be read.
    pub fn new(
        experiment: &'a Experiment,
        until_ci: Option<(f64, u32)>,
    ) -> Result<Cells<'a>, SpecError> {
        let file = sweep(experiment, until_ci)?;
        let planner = Planner::new(&file, base(experiment)?)?;
        // Systems change fastest.
        let systems = experiment.system.iter().cycle();
        let is_asked = |(planned, system): &(Planned, &System)| {
            let place = planned.line.place(&planner.head);
            system.at.is_empty() || system.at.iter().any(|at| is_at(&place, at))
        };
        let cells = planner.all()?.into_iter().zip(systems).filter(is_asked);
        let mut cells: Vec<(Planned, &System)> = cells.collect();
        for (planned, system) in &mut cells {
            set(experiment, planned, system)?;
        }
        let (parts, bins) = (experiment.parts_of_time.is_some(), experiment.bin_s.is_some());
        let remedy = "remove one of the two";
        let wrong = |key: &str, found: &str, allowed: &str| {
            Err(experiment.origin.placed(SpecError::value(key, found, allowed, remedy)))
        };
        if (parts || bins) && experiment.goodput.is_some() {
            let key = if parts { "parts_of_time" } else { "bin_s" };
            return wrong(key, "with `goodput`", "one run in each cell");
        }
        if parts && bins {
            return wrong("bin_s", "with `parts_of_time`", "one way to cut the time");
        }
        let head = planner.head;
        Ok(Cells { experiment, head, cells })
    }

    fn is_over_time(&self) -> bool {
        self.experiment.kind() == Kind::OverTime
    }

    fn place(&self, cell: usize) -> Row {
        let (planned, system) = &self.cells[cell];
        let preset = system.preset.word().to_string();
        Row { system: system.name.clone(), preset, ..planned.line.place(&self.head) }
    }
}

impl Runner for Cells<'_> {
    fn parts(&self) -> Vec<String> {
        let words = |c: &(Planned, &System)| format!("{} {}", c.0.cell.axes, c.1.name);
        self.cells.iter().map(words).collect()
    }

    fn places(&self) -> Vec<Row> {
        let whole = !self.is_over_time();
        let cells = if whole { self.cells.len() } else { 0 };
        (0..cells).map(|i| self.place(i)).collect()
    }

    fn groups(&self) -> Vec<String> {
        let first = self.cells.first().filter(|_| self.experiment.bin_s.is_some());
        let names = first.map(|c| c.0.cell.scenario.group_names()).unwrap_or_default();
        if names.len() > 1 { names } else { Vec::new() }
    }

    fn run(&self, part: usize, kept: &Kept) -> Result<Vec<Cell>, SpecError> {
        let (Planned { cell, line }, system) = &self.cells[part];
        let place = self.place(part);
        let what = format!("cell {} ({} {})", part + 1, cell.axes, system.name);
        let all = cell.seeds;
        if let Some(bin_s) = self.experiment.bin_s {
            let hash = bins::spec_sha256(&line.spec_sha256, bin_s);
            let runs = kept.runs(&hash, &what, || bins::run(cell, bin_s))?;
            return Ok(times::cells(&Row { spec_sha256: hash, ..place }, all, runs));
        }
        if let Some(parts) = self.experiment.parts_of_time {
            let hash = times::spec_sha256(&line.spec_sha256, parts);
            let runs = kept.runs(&hash, &what, || times::run(cell, parts))?;
            return Ok(times::cells(&Row { spec_sha256: hash, ..place }, all, runs));
        }
        let runs = kept.seeds(&line.entry_sha256, &what, &all, |seed| cell.one(seed))?;
        Ok(vec![Cell { place, seeds: Some(all), runs, more: Vec::new() }])
    }

    fn wide(&self, _: &[Cell], rows: &[Row]) -> Option<String> {
        let whole = !self.is_over_time();
        whole.then(|| crate::papers::wide::of_main(self.experiment, rows))
    }
}

/// The keys of a system alone.
fn set(e: &Experiment, planned: &mut Planned, system: &System) -> Result<(), SpecError> {
    if system.set.is_empty() {
        return Ok(());
    }
    let Planned { cell, line: planned } = planned;
    let keys: Vec<_> = system.set.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
    let changed = cell.scenario.with(&keys);
    let set_up = |scenario: Scenario| scenario.setup(cell.seeds.first).map(|_| scenario);
    cell.scenario = changed.and_then(set_up).map_err(|e_set| SpecError::Within {
        file: format!("{}, `set` of the system `{}`", e.origin.path, system.name),
        source: Box::new(e_set),
    })?;
    *planned = line(cell, Vec::new());
    Ok(())
}

/// The sweep that it is.
fn sweep(e: &Experiment, until_ci: Option<(f64, u32)>) -> Result<SweepFile, SpecError> {
    let file = SweepFile {
        name: e.id.clone(),
        scenario: PathBuf::new(),
        seeds: e.seeds,
        first_seed: None,
        until_ci: until_ci.map(|(width, _)| width),
        max_seeds: until_ci.map(|(_, most)| most),
        policies: e.system.iter().map(|s| s.policy.clone()).collect(),
        compare_to: None,
        goodput: e.goodput.clone(),
        set: e.set.clone(),
        axis: e.axis.clone(),
        point: e.point.clone(),
        sample: e.sample,
        path: PathBuf::from(&e.origin.path),
        text: e.origin.text.clone(),
    };
    file.checked()
}

/// The base scenario: of a file beside the experiment's, or of its own text. The text is moved to the
/// lines that it has in the experiment's file, so that messages name these.
fn base(e: &Experiment) -> Result<Scenario, SpecError> {
    let scenario = e.scenario.as_deref().unwrap_or_default();
    let Source { path, text } = &e.scenario_in;
    if scenario.ends_with(".toml") && !scenario.contains('\n') {
        let folder = Path::new(path).parent().unwrap_or(Path::new(""));
        return Scenario::load(folder.join(scenario));
    }
    let policies: Vec<&String> = e.system.iter().map(|s| &s.policy).collect();
    let line = line_of(text, "scenario").unwrap_or(1);
    let rest = text.lines().nth(line - 1).and_then(|l| l.split_once('='));
    let opens = |quotes: &str| rest.is_some_and(|(_, value)| value.trim() == quotes);
    let is_block = opens("'''") || opens("\"\"\"");
    let (name, before) = match is_block {
        true => (path.clone(), "\n".repeat(line)),
        false => (format!("{path}:{line} (scenario)"), "\n".to_string()),
    };
    Scenario::from_text(&name, &format!("policies = {policies:?}{before}{scenario}"))
}
