//! One watched run.

use super::replication::ScopeNames;
use orrery_scenario::scenario::Scenario;
use orrery_scenario::setup::Setup;
use orrery_scenario::{PolicySpec, SpecError};
use orrery_sim::driver::ready;
use orrery_sim::metrics::{Metrics, TimeSeries};

/// One run, watched.
///
/// # Errors
/// As [`Setup::run_with`].
pub fn run_one(
    setup: &Setup,
    policy: &PolicySpec,
    seed: u64,
) -> Result<(Metrics, TimeSeries), SpecError> {
    Ok(setup.run_by(policy, seed, TimeSeries::default(), ready::watched)?.observer)
}

/// The names that scopes go by.
pub fn scope_names(scenario: &Scenario) -> ScopeNames {
    let (models, apps) = (scenario.model_names(), scenario.app_names());
    let scales = scenario.file.autoscale.is_some();
    let measured = scenario.measured_sizes();
    ScopeNames { models, apps, groups: scenario.group_names(), measured, scales }
}
