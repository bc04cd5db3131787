//! The names of what is measured.

use super::replication::ScopeNames;
use orrery_scenario::scenario::Scenario;

/// The names that scopes go by.
pub fn scope_names(scenario: &Scenario) -> ScopeNames {
    let (models, apps) = (scenario.model_names(), scenario.app_names());
    let scales = scenario.file.autoscale.is_some();
    let measured = scenario.measured_sizes();
    ScopeNames { models, apps, groups: scenario.group_names(), measured, scales }
}
