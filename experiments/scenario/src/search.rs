//! [The one search](orrery_run::search), and what the devices of a scenario can compute at most.

mod capacity;
#[cfg(test)]
mod tests;

pub use capacity::{alone, capacity_per_s};
use orrery_run::search::{Load, Subject};

use crate::scenario::Scenario;
use orrery_run::PolicySpec;
use orrery_run::Setup;
use orrery_sim::time::Span;

/// A scenario under a policy as a search probes it.
pub fn subject(scenario: &Scenario, setup: &Setup, policy: &PolicySpec, load: Load) -> Subject {
    let epoch = policy.epoch();
    let is_the_same = setup.world.changes.is_empty() && epoch.is_none();
    Subject {
        load,
        slo: longest_slo(setup),
        epoch,
        can_rise: scenario.can_rise() && is_the_same,
        models: setup.slo.len(),
        warm_up: Span::from_secs_f64(scenario.file.warm_up_s),
    }
}

/// The longest SLO of any application.
pub fn longest_slo(setup: &Setup) -> Span {
    setup.apps.iter().map(|a| a.slo).chain(setup.slo.iter().copied()).max().unwrap_or(Span::ZERO)
}
