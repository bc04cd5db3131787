//! `[scheduler]`: what the scheduler's own processor time costs.

use super::value::within;
use orrery_run::SpecError;
use orrery_sim::policy::served::Cost;
use orrery_sim::time::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The highest cost, microseconds: a minute.
const US_MAX: f64 = 60e6;

/// `[scheduler]`: one server in front of the policy works off what comes, first in, first out. Devices and
/// clients do not wait for it.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Scheduler {
    /// For each request that arrives.
    pub request_us: f64,
    /// For each batch, load, unload and stop that the policy issues.
    pub action_us: f64,
    /// For each result of a batch or a load.
    pub result_us: f64,
}

impl Scheduler {
    /// The cost in the simulator's terms, rounded to nanoseconds.
    ///
    /// # Errors
    /// When a number is out of range.
    pub fn cost(&self) -> Result<Cost, SpecError> {
        let span = |name: &str, us: f64| {
            let us = within(&format!("scheduler.{name}"), us, 0.0, US_MAX)?;
            Ok::<Span, SpecError>(Span::from_ms_f64(us / 1e3))
        };
        Ok(Cost {
            request: span("request_us", self.request_us)?,
            action: span("action_us", self.action_us)?,
            result: span("result_us", self.result_us)?,
        })
    }
}
