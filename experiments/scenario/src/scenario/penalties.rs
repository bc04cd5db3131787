//! `penalties`: what a late answer costs, in steps (Orloj, Eq. 2 and Appendix B).
//!
//! It checks values; [`orrery_sim::penalty`] is the cost function.

use super::value::within;
use orrery_run::SpecError;
use orrery_sim::penalty::{MILLION, Penalty, Step, in_units};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A step: the cost of a request that is not answered by a deadline.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct PenaltyStep {
    /// The deadline, from the arrival, as a multiple of the SLO; the first is 1.
    pub deadline_x_slo: f64,
    /// The cost of an answer after it, or of none, with all steps before.
    pub cost: f64,
}

/// The cost function of these steps. `key` is where they stand, for messages.
///
/// # Errors
/// When a number is out of range or does not follow the step before.
pub fn penalty(key: &str, steps: &[PenaltyStep]) -> Result<Penalty, SpecError> {
    let millionths = |key: String, x: f64| -> Result<u64, SpecError> {
        let x = within(&key, x, in_units(1), in_units(Penalty::MAX))?;
        Ok((x * MILLION as f64).round() as u64)
    };
    let mut whole = Vec::with_capacity(steps.len());
    for (i, step) in steps.iter().enumerate() {
        let part = |name: &str| format!("{key}[{i}].{name}");
        whole.push(Step {
            deadline: millionths(part("deadline_x_slo"), step.deadline_x_slo)?,
            cost: millionths(part("cost"), step.cost)?,
        });
    }
    Penalty::new(whole).map_err(|e| match steps.get(e.step) {
        None => {
            let found = format!("{} steps", e.found);
            SpecError::value(key, found, e.allowed, "remove steps, or write those that differ")
        }
        Some(_) => {
            let (part, remedy) = match (e.deadline, e.step) {
                (true, 0) => ("deadline_x_slo", "set the SLO to the first deadline"),
                (true, _) => ("deadline_x_slo", "sort the steps by deadline, each once"),
                (false, _) => (
                    "cost",
                    "let costs grow: a later step has the cost of all before, and no penalty falls",
                ),
            };
            let key = format!("{key}[{}].{part}", e.step);
            SpecError::value(key, in_units(e.found), e.allowed, remedy)
        }
    })
}
