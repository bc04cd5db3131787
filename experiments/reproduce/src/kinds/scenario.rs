//! Cells that are runs of a scenario, or searches in one: Symphony's and Clockwork's figures.

use super::{bins, times};
use crate::experiment::{Experiment, Keys, Kind, Made, Parts, System, UntilCi};
use crate::options::{CliOption, Refused};
use crate::runner::{Cell, KindDocument, Runner};
use orrery_report::page::counted;
use orrery_results::{Row, distinct};
use orrery_run::{PolicySpec, SpecError};
use orrery_scenario::scenario::Scenario;
use orrery_scenario::scenario::place::{Source, line_of};
use orrery_sweep::goodput::{Find, Search};
use orrery_sweep::grid;
use orrery_sweep::kept::Kept;
use orrery_sweep::manifest::{Listed, ListedCell, Lister, Maker, line};
use orrery_sweep::replication::Replication;
use orrery_sweep::scenario_cell::ScenarioCell;
use orrery_sweep::sweep_file::SweepFile;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The keys of an experiment that runs a scenario.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfScenario {
    /// What is run: a scenario file's text, or the path of one (`.toml`) from the experiment's folder.
    scenario: String,
    /// Search the peak goodput of each cell, in place of one run.
    goodput: Option<Search>,
    /// Also make rows for this many equal parts of the time.
    parts_of_time: Option<usize>,
    /// Rows for each part of the time of this length, and for each `group` of applications, in place of
    /// `parts_of_time`; and the errors of a policy's own predictions. A last part of less than a twentieth
    /// of it is left out.
    bin_s: Option<f64>,
}

impl Keys for OfScenario {
    const KEY: &'static str = "scenario";
    const OF_SYSTEM: &'static [&'static str] = &["set"];
}

impl Kind for OfScenario {
    fn in_words(&self, seeds: u32) -> String {
        let what = match (self.goodput.as_ref().map(|search| search.find), self.parts()) {
            (Some(Find::Rate), _) => "searches for the peak goodput in a scenario",
            (Some(Find::Devices), _) => "searches for the fewest devices in a scenario",
            (None, Some(_)) => "one run of a scenario over time",
            (None, None) => "runs of a scenario",
        };
        format!("{what}, {}", counted(seeds, "seed"))
    }

    fn runner<'a>(&'a self, e: &'a Experiment, until_ci: UntilCi) -> Made<'a> {
        Ok(Box::new(Cells::new(e, self, until_ci)?))
    }

    fn check(&self, e: &Experiment) -> Result<(), SpecError> {
        times::check(self.bin_s)?;
        let remedy = "remove one of the two";
        let wrong =
            |key: &str, found: &str, allowed| Err(SpecError::value(key, found, allowed, remedy));
        let key = if self.parts_of_time.is_some() { "parts_of_time" } else { "bin_s" };
        if self.parts().is_some() && self.goodput.is_some() {
            return wrong(key, "with `goodput`", "one run in each cell");
        }
        if self.parts_of_time.is_some() && self.bin_s.is_some() {
            return wrong("bin_s", "with `parts_of_time`", "one way to cut the time");
        }
        grid::check_apart(&e.point)?;
        policies(e)
    }

    fn refused(&self, option: CliOption) -> Option<Refused> {
        match (option, self.parts(), &self.goodput) {
            (CliOption::Seeds, Some(_), None) => Some(Refused {
                allowed: "1: the experiment shows one run over time",
                remedy: "remove `--seeds`",
                but: Some("1"),
            }),
            (CliOption::UntilCi, Some(_), None) => Some(Refused {
                allowed: "nothing: the experiment shows one run over time",
                remedy: "remove it",
                but: None,
            }),
            (CliOption::UntilCi, _, Some(_)) => Refused::for_seeds(
                "a fixed number of seeds: a search's answer has no finish rate to narrow",
            ),
            _ => None,
        }
    }

    fn parts(&self) -> Option<Parts> {
        self.bin_s.map(Parts::Bins).or(self.parts_of_time.map(Parts::Equal))
    }
}

/// Each system's policy is one of requests.
pub(super) fn policies(e: &Experiment) -> Result<(), SpecError> {
    e.system.iter().enumerate().try_for_each(|(i, s)| {
        let parsed = PolicySpec::parse(&s.policy);
        parsed.map(drop).map_err(|error| error.at(format!("system[{i}].policy")))
    })
}

/// Combinations of axes and points with systems.
pub struct Cells<'a> {
    experiment: &'a Experiment,
    keys: &'a OfScenario,
    parts: Option<Parts>,
    maker: Maker,
    cells: Vec<Place<'a>>,
}

/// Where a cell stands. The cell itself is made when it is run: thousands of scenarios are too many to keep.
struct Place<'a> {
    /// As listed, without the keys of its system.
    listed: ListedCell,
    /// With them, where it has any.
    changed: Option<ListedCell>,
    system: &'a System,
}

impl Place<'_> {
    fn line(&self) -> &ListedCell {
        self.changed.as_ref().unwrap_or(&self.listed)
    }
}

impl<'a> Cells<'a> {
    /// Sets up every cell.
    ///
    /// # Errors
    /// When the scenario, a key or a policy is wrong, or a file cannot be read.
    pub fn new(
        experiment: &'a Experiment,
        keys: &'a OfScenario,
        until_ci: UntilCi,
    ) -> Result<Cells<'a>, SpecError> {
        let file = sweep(experiment, keys, until_ci)?;
        let lister = Lister::new(&file, base(experiment, &keys.scenario)?)?;
        // Systems change fastest; those of one policy share what is listed for it.
        let systems = &experiment.system;
        let (mut cells, mut at_point) = (Vec::new(), Vec::new());
        lister.one_by_one(|cell| {
            at_point.push(cell);
            if at_point.len() < file.policies.len() {
                return Ok(());
            }
            for system in systems {
                let of = file.policies.iter().position(|policy| *policy == system.policy);
                let Some(cell) = of.map(|i| &at_point[i]) else { continue };
                if system.is_run_at(&cell.line.place(&lister.head)) {
                    let listed = cell.line.clone();
                    let changed = set(experiment, &cell.cell, system)?.map(|changed| changed.line);
                    cells.push(Place { listed, changed, system });
                }
            }
            at_point.clear();
            Ok(())
        })?;
        Ok(Cells { experiment, keys, parts: keys.parts(), maker: lister.maker()?, cells })
    }

    fn place(&self, cell: usize) -> Row {
        let Place { system, .. } = &self.cells[cell];
        let preset = system.preset.word().to_string();
        let row = self.cells[cell].line().place(&self.maker.head);
        let experiment = self.experiment.place().experiment;
        Row { experiment, system: system.name.clone(), preset, ..row }
    }

    fn made(&self, cell: usize) -> Result<Listed, SpecError> {
        let Place { listed, system, .. } = &self.cells[cell];
        let made = Listed { cell: self.maker.cell(listed)?, line: listed.clone() };
        Ok(set(self.experiment, &made.cell, system)?.unwrap_or(made))
    }
}

impl Runner for Cells<'_> {
    fn parts(&self) -> Vec<String> {
        let words = |c: &Place<'_>| format!("{} {}", c.listed.axes, c.system.name);
        self.cells.iter().map(words).collect()
    }

    fn places(&self) -> Vec<Row> {
        let cells = if self.parts.is_none() { self.cells.len() } else { 0 };
        (0..cells).map(|i| self.place(i)).collect()
    }

    fn drawn(&self, _: &[String]) -> Vec<Row> {
        let Some(parts) = self.parts else { return self.places() };
        let first = (!self.cells.is_empty() && matches!(parts, Parts::Bins(_))).then_some(0);
        let made = first.and_then(|cell| self.made(cell).ok());
        let groups = made.map(|made| made.cell.scenario.group_names()).unwrap_or_default();
        let groups = if groups.len() > 1 { groups } else { Vec::new() };
        (0..self.cells.len()).flat_map(|i| times::drawn(&self.place(i), &groups)).collect()
    }

    fn run(&self, part: usize, kept: &Kept) -> Result<Vec<Cell>, SpecError> {
        let Listed { cell, line } = &self.made(part)?;
        let system = self.cells[part].system;
        let place = self.place(part);
        let what = format!("cell {} ({} {})", part + 1, cell.axes, system.name);
        let all = cell.seeds;
        if let Some(parts) = self.parts {
            let hash = match parts {
                Parts::Bins(bin_s) => bins::spec_sha256(&line.spec_sha256, bin_s),
                Parts::Equal(parts) => times::spec_sha256(&line.spec_sha256, parts),
            };
            let run = || match parts {
                Parts::Bins(bin_s) => bins::run(cell, bin_s),
                Parts::Equal(parts) => times::run(cell, parts),
            };
            let runs = kept.runs(&hash, &what, run)?;
            return Ok(times::cells(&Row { spec_sha256: hash, ..place }, all, runs));
        }
        let mut runs = kept.seeds(&line.entry_sha256, &what, &all, |seed| cell.one(seed))?;
        if !self.experiment.details || self.experiment.kind.parts().is_some() {
            runs.iter_mut().for_each(Replication::drop_details);
        }
        Ok(vec![Cell { place, seeds: Some(all), runs, more: Vec::new() }])
    }

    fn document(&self, _: &[Cell], _: &[Row]) -> KindDocument {
        let keys = self.without_effect().unwrap_or_default();
        let asked = (!keys.is_empty()).then(|| ("without effect", keys.join("\n")));
        KindDocument { asked: asked.into_iter().collect(), ..KindDocument::default() }
    }
}

impl Cells<'_> {
    /// Keys of the scenario that change nothing in any cell.
    fn without_effect(&self) -> Result<Vec<String>, SpecError> {
        let e = self.experiment;
        let set = e.system.iter().filter(|system| !system.set.is_empty());
        let set: Vec<_> = set.map(|s| s.set.clone().into_iter().collect()).collect();
        Ok(sweep(e, self.keys, None)?.without_effect(&base(e, &self.keys.scenario)?, &set))
    }
}

/// A cell with the keys of a system alone, where it has any.
fn set(e: &Experiment, cell: &ScenarioCell, system: &System) -> Result<Option<Listed>, SpecError> {
    if system.set.is_empty() {
        return Ok(None);
    }
    let mut cell = cell.clone();
    let keys: Vec<_> = system.set.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
    let changed = cell.scenario.with(&keys);
    let set_up = |scenario: Scenario| scenario.setup(cell.seeds.first).map(|_| scenario);
    cell.scenario = changed.and_then(set_up).map_err(|e_set| SpecError::Within {
        file: format!("{}, `set` of the system `{}`", e.origin.path, system.name),
        source: Box::new(e_set),
    })?;
    let line = line(&cell, &cell.scenario.canonical(), Vec::new());
    Ok(Some(Listed { cell, line }))
}

/// The systems' policies, each once.
fn policies_once(e: &Experiment) -> Vec<String> {
    distinct(e.system.iter().map(|s| s.policy.clone()))
}

/// The sweep that it is.
fn sweep(e: &Experiment, keys: &OfScenario, until_ci: UntilCi) -> Result<SweepFile, SpecError> {
    let file = SweepFile {
        name: e.id.clone(),
        scenario: PathBuf::new(),
        seeds: e.seeds,
        first_seed: None,
        until_ci: until_ci.map(|(width, _)| width),
        max_seeds: until_ci.map(|(_, most)| most),
        policies: policies_once(e),
        compare_to: None,
        goodput: keys.goodput.clone(),
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
fn base(e: &Experiment, scenario: &str) -> Result<Scenario, SpecError> {
    let Source { path, text, .. } = &e.scenario_in;
    if scenario.ends_with(".toml") && !scenario.contains('\n') {
        let folder = Path::new(path).parent().unwrap_or(Path::new(""));
        return Scenario::load(folder.join(scenario));
    }
    let policies = policies_once(e);
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
