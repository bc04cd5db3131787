//! Jobs that share devices: Salus's and Fluid's tables and figures.

use super::overlay::overlay;
use super::times;
use crate::experiment::{Experiment, Keys, Kind, Made, Parts, System, UntilCi, placed};
use crate::options::{CliOption, Refused};
use crate::runner::{Cell, Runner};
use orrery_cells::grid::combinations;
use orrery_cells::jobs::{groups, one, over_time, spec_sha256};
use orrery_cells::kept::Kept;
use orrery_cells::seeds::Seeds;
use orrery_results::Row;
use orrery_scenario::SpecError;
use orrery_scenario::jobs::{JobPolicySpec, Jobs, in_table};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Value;

/// The keys of an experiment that runs jobs.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfJobs {
    /// What is run: jobs that share a GPU or workers; axes set its keys.
    jobs: Jobs,
    /// Rows for each part of the time of this length: what each job ran on.
    bin_s: Option<f64>,
}

impl Keys for OfJobs {
    const KEY: &'static str = "jobs";
}

impl Kind for OfJobs {
    fn in_words(&self, seeds: u32) -> String {
        format!("runs of jobs that share devices, {seeds} seed(s)")
    }

    fn runner<'a>(&'a self, e: &'a Experiment, _: UntilCi) -> Made<'a> {
        placed(e, JobRuns::new(e, &self.jobs, self.bin_s))
    }

    fn check(&self, e: &Experiment) -> Result<(), SpecError> {
        times::check(self.bin_s)?;
        let policy = |(i, s): (usize, &System)| {
            JobPolicySpec::parse_at(format!("system[{i}].policy"), &s.policy).map(drop)
        };
        e.system.iter().enumerate().try_for_each(policy)
    }

    fn refused(&self, option: CliOption) -> Option<Refused> {
        let allowed = "a fixed number of seeds: jobs have no finish rate to narrow";
        if option == CliOption::UntilCi { Refused::for_seeds(allowed) } else { None }
    }

    fn parts(&self) -> Option<Parts> {
        self.bin_s.map(Parts::Bins)
    }
}

/// With more jobs than this, parts of the time would be too many rows.
const OVER_TIME_MAX: usize = 50;

/// A system at a point.
struct Planned<'a> {
    axes: String,
    jobs: Jobs,
    system: &'a System,
    policy: JobPolicySpec,
    hash: String,
}

/// Each system at each point is a part.
pub struct JobRuns<'a> {
    experiment: &'a Experiment,
    bin_s: Option<f64>,
    cells: Vec<Planned<'a>>,
    groups: Vec<String>,
}

impl<'a> JobRuns<'a> {
    /// Sets up every cell, and makes its jobs once.
    ///
    /// # Errors
    /// When a key of the jobs, a value or a policy is wrong.
    pub fn new(
        experiment: &'a Experiment,
        jobs: &Jobs,
        bin_s: Option<f64>,
    ) -> Result<JobRuns<'a>, SpecError> {
        let folder = experiment.folder();
        let (mut cells, mut all_groups) = (Vec::new(), Vec::new());
        for c in combinations(&experiment.point, &experiment.axis, experiment.sample) {
            let changes: Vec<(String, Value)> =
                experiment.set.clone().into_iter().chain(c.changes).collect();
            let jobs = with(jobs, &changes)?;
            let made = jobs.make(1, folder).map_err(in_table)?;
            let axes = c.axes.join(";");
            let place = Row { axes: axes.clone(), ..Row::default() };
            for (i, system) in experiment.system.iter().enumerate() {
                if !system.is_run_at(&place) {
                    continue;
                }
                let key = format!("system[{i}].policy");
                let policy = JobPolicySpec::parse_at(key, &system.policy)?;
                jobs.check_for(&policy, &made).map_err(in_table)?;
                let hash = spec_sha256(&jobs, folder, &policy)?;
                let (axes, jobs) = (axes.clone(), jobs.clone());
                cells.push(Planned { axes, jobs, system, policy, hash });
            }
            if let Some(bin_s) = bin_s {
                if made.jobs.len() > OVER_TIME_MAX {
                    let found = format!("{bin_s} with {} jobs", made.jobs.len());
                    let allowed = format!("with at most {OVER_TIME_MAX} jobs");
                    return Err(SpecError::value("bin_s", found, allowed, "remove it"));
                }
                all_groups = groups(&made);
            }
        }
        Ok(JobRuns { experiment, bin_s, cells, groups: all_groups })
    }

    fn place(&self, cell: &Planned<'_>) -> Row {
        Row {
            axes: cell.axes.clone(),
            system: cell.system.name.clone(),
            preset: cell.system.preset.word().to_string(),
            policy: cell.policy.name(),
            warm_up: "none".to_string(),
            spec_sha256: cell.hash.clone(),
            ..self.experiment.place()
        }
    }
}

/// `[jobs]` with some of its keys changed; a key may have dots.
fn with(jobs: &Jobs, changes: &[(String, Value)]) -> Result<Jobs, SpecError> {
    let wrong = |found: String| {
        let keys: Vec<&str> = changes.iter().map(|c| c.0.as_str()).collect();
        let remedy = format!("correct one of {}; docs/jobs.md lists the keys", keys.join(", "));
        SpecError::value("jobs", found, "the keys of `[jobs]`", remedy)
    };
    let mut table = Value::try_from(jobs).map_err(|error| wrong(error.to_string()))?;
    for (key, value) in changes {
        let nested = key.rsplit('.').fold(value.clone(), |value, part| {
            Value::Table(toml::Table::from_iter([(part.to_string(), value)]))
        });
        overlay(&mut table, nested);
    }
    table
        .try_into()
        .map_err(|error: toml::de::Error| wrong(error.to_string().trim_end().replace('\n', " ")))
}

impl Runner for JobRuns<'_> {
    fn parts(&self) -> Vec<String> {
        self.cells.iter().map(|c| format!("{} {}", c.axes, c.system.name)).collect()
    }

    fn places(&self) -> Vec<Row> {
        let whole = self.bin_s.is_none();
        self.cells.iter().filter(|_| whole).map(|c| self.place(c)).collect()
    }

    fn drawn(&self, _: &[String]) -> Vec<Row> {
        match self.bin_s {
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
        if let Some(bin_s) = self.bin_s {
            let hash = orrery_cells::hash::spec_sha256(&["bins", &cell.hash, &bin_s.to_string()]);
            let make = || Ok(over_time(&cell.jobs.make(1, folder)?, &cell.policy, 1, bin_s));
            let runs = kept.runs(&hash, &what, make)?;
            return Ok(times::cells(&Row { spec_sha256: hash, ..place }, seeds, runs));
        }
        let run = |seed| Ok(one(&cell.jobs.make(seed, folder)?, &cell.policy, seed));
        let runs = kept.seeds(&cell.hash, &what, &seeds, run)?;
        Ok(vec![Cell { place, seeds: Some(seeds), runs, more: Vec::new() }])
    }
}
