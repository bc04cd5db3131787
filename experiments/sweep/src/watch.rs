//! What watches a run, and one watched run.

use super::replication::{ScopeNames, Watch};
use orrery_scenario::scenario::Scenario;
use orrery_scenario::setup::Setup;
use orrery_scenario::{PolicySpec, SpecError};
use orrery_sim::driver::ready;
use orrery_sim::metrics::{BatchMeans, Metrics, TimeSeries};

/// One run, watched.
///
/// # Errors
/// As [`Setup::run_with`].
pub fn run_one(
    setup: &Setup,
    policy: &PolicySpec,
    seed: u64,
) -> Result<(Metrics, Watch), SpecError> {
    Ok(setup.run_by(policy, seed, watch(setup), ready::watched)?.observer)
}

/// The observers of a run beside its metrics.
pub fn watch(setup: &Setup) -> Watch {
    let means = BatchMeans::new(setup.window)
        .with_scopes(setup.scopes.clone())
        .with_penalties(setup.penalties.clone());
    (means, TimeSeries::default())
}

/// The names that scopes go by.
pub fn scope_names(scenario: &Scenario) -> ScopeNames {
    let (models, apps) = (scenario.model_names(), scenario.app_names());
    ScopeNames { models, apps, groups: scenario.group_names() }
}
