//! `slo_steps`: SLOs that change in steps during a run, as Clockwork's Fig. 7 and 8 have them.
//!
//! It checks values; [`orrery_traces::slo_steps`] gives requests their SLOs.

use super::value::{MS_MAX, S_MAX, within};
use orrery_run::SpecError;
use orrery_sim::time::Span;
use orrery_traces::slo_steps::Steps;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most steps.
const STEPS_MAX: u32 = 1_000;

/// The SLO of requests that arrive in step k is `first_ms * factor^k`.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct SloSteps {
    /// The SLO of the first step, which begins at time 0.
    pub first_ms: f64,
    /// Multiplies the SLO from step to step.
    pub factor: f64,
    /// Length of a step.
    pub every_s: f64,
    /// Number of steps; the last lasts to the end.
    pub count: u32,
}

impl SloSteps {
    /// The SLO of each step: `first_ms`, multiplied by `factor` step after step, each product rounded to the
    /// nearest nanosecond for itself. `key` is where it stands, for messages.
    ///
    /// # Errors
    /// When a number, or the SLO of a step, is out of range.
    pub fn steps(&self, key: &str) -> Result<Steps, SpecError> {
        let part = |name: &str| format!("{key}.{name}");
        let mut ms = within(&part("first_ms"), self.first_ms, 1e-6, MS_MAX)?;
        within(&part("factor"), self.factor, 1e-3, 1e3)?;
        within(&part("every_s"), self.every_s, 1e-6, S_MAX)?;
        within(&part("count"), f64::from(self.count), 1.0, f64::from(STEPS_MAX))?;
        let mut slos = Vec::with_capacity(self.count as usize);
        for k in 0..self.count {
            if !(1e-6..=MS_MAX).contains(&ms) {
                let found = format!("{}, so that step {k} has an SLO of {ms} ms", self.factor);
                let allowed = format!("steps from 0.000001 to {MS_MAX} ms");
                let remedy = "lower `count`, or choose a factor nearer to 1";
                return Err(SpecError::value(part("factor"), found, allowed, remedy));
            }
            slos.push(Span::from_ms_f64(ms));
            ms *= self.factor;
        }
        Ok(Steps::new(slos, Span::from_secs_f64(self.every_s)))
    }
}
