//! The kinds of experiments: how a point of each is run.

pub mod applications;
mod arithmetic;
mod bins;
mod jobs;
pub mod left_out;
pub mod means;
pub mod partition;
pub mod pool;
mod pool_text;
pub mod scenario;
mod times;

use super::experiment::{Experiment, Kind};
use super::runner::Runner;
use orrery_scenario::SpecError;

/// What runs an experiment. Everything that can be wrong with its file is found here, before any run.
///
/// # Errors
/// When what is run is wrong.
pub fn of<'a>(
    experiment: &'a Experiment,
    until_ci: Option<(f64, u32)>,
) -> Result<Box<dyn Runner + 'a>, SpecError> {
    let made: Result<Box<dyn Runner>, SpecError> = match experiment.kind() {
        Kind::Scenario | Kind::Search | Kind::OverTime => {
            return Ok(Box::new(scenario::Cells::new(experiment, until_ci)?));
        }
        Kind::Applications | Kind::Means => {
            applications::Cases::new(experiment, until_ci).map(|c| Box::new(c) as Box<dyn Runner>)
        }
        Kind::Pool => pool::Pools::new(experiment).map(|p| Box::new(p) as Box<dyn Runner>),
        Kind::Score => arithmetic::Scores::new(experiment).map(|s| Box::new(s) as Box<dyn Runner>),
        Kind::Laws => arithmetic::Laws::new(experiment).map(|l| Box::new(l) as Box<dyn Runner>),
        Kind::Jobs => jobs::JobRuns::new(experiment).map(|j| Box::new(j) as Box<dyn Runner>),
        Kind::Bounds => pool::Bounds::new(experiment).map(|p| Box::new(p) as Box<dyn Runner>),
        Kind::Partition => {
            partition::Solvers::new(experiment).map(|p| Box::new(p) as Box<dyn Runner>)
        }
    };
    made.map_err(|e| experiment.origin.placed(e))
}
