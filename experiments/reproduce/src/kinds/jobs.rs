//! Jobs that share devices: Salus's and Fluid's tables and figures.

use super::own::{OverTime, OwnRuns, check_systems};
use super::times;
use crate::experiment::{Experiment, Keys, Kind, Made, Parts, UntilCi, placed};
use crate::options::{CliOption, Refused};
use orrery_report::page::counted;
use orrery_run::SpecError;
use orrery_scenario::jobs::Jobs;
use orrery_sweep::jobs::{groups, over_time, over_time_sha256};
use schemars::JsonSchema;
use serde::Deserialize;

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
        format!("runs of jobs that share devices, {}", counted(seeds, "seed"))
    }

    fn runner<'a>(&'a self, e: &'a Experiment, _: UntilCi) -> Made<'a> {
        placed(e, OwnRuns::new(e, &self.jobs, self.bin_s.map(parts_of_time)))
    }

    fn check(&self, e: &Experiment) -> Result<(), SpecError> {
        times::check(self.bin_s)?;
        check_systems::<Jobs>(e)
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

/// What each job ran on, in parts of this length.
fn parts_of_time(bin_s: f64) -> OverTime<Jobs> {
    OverTime {
        hash: Box::new(move |cell| over_time_sha256(cell, bin_s)),
        groups: Box::new(move |made| {
            if made.jobs.len() > OVER_TIME_MAX {
                let found = format!("{bin_s} with {} jobs", made.jobs.len());
                let allowed = format!("with at most {OVER_TIME_MAX} jobs");
                return Err(SpecError::value("bin_s", found, allowed, "remove it"));
            }
            Ok(groups(made))
        }),
        run: Box::new(move |made, policy| over_time(made, policy, 1, bin_s)),
    }
}
