//! What all rows of a plan have in common.

use crate::input::problem::Problem;
use orrery_results::{RESULT_VERSION, Row, system_of};

/// What rows have in common: of which group, or of the fleet; in which what-if, at which place, of which pool; under which
/// policy.
pub fn head(p: &Problem, case: &str, axes: [&str; 3], policy: &str) -> Row {
    let last = p.plan.seed.wrapping_add(u64::from(p.plan.seeds) - 1);
    let [what_if, place, pool] = axes;
    Row {
        experiment: p.plan.name().to_string(),
        case: case.to_string(),
        axes: format!("what_if={};place={place};pool={pool}", what_if.replace(';', ",")),
        system: system_of(policy).to_string(),
        policy: policy.to_string(),
        scope: "all".to_string(),
        seeds: format!("{}-{last}", p.plan.seed),
        result_version: RESULT_VERSION,
        ..Row::default()
    }
}
