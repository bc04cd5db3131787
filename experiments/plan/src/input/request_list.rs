//! The list of requests of a plan: what changes of it at another load, and how its copies are shifted.

use crate::input::file::PlanFile;
use crate::input::origin::written;
use orrery_run::SpecError;
use orrery_scenario::Scenario;
use orrery_scenario::scenario::file::RateBy;

/// How the list of a plan is replayed at its load, and at others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfList {
    /// What another load changes.
    pub by: RateBy,
    /// How many times as fast as it was recorded it is at the plan's load.
    pub speed: f64,
    /// How many copies there are at the plan's load.
    pub copies: f64,
    /// The longest window within which a copy is shifted.
    pub window_s: f64,
}

/// The scenario with what its list's rate changes, at the scenario's own rate; of a list that is a day, each step keeps
/// its number of requests. None is said of what is no list.
///
/// # Errors
/// When copies or a speed are asked of what is no list, or the list cannot be read.
pub(crate) fn settled(
    plan: &PlanFile,
    base: Scenario,
) -> Result<(Scenario, Option<OfList>), SpecError> {
    let growth = plan.growth;
    let Some(pace) = base.pace()? else {
        if growth.by().is_none() {
            return Ok((base, None));
        }
        let allowed = "a factor: only a list with `replay` has copies and a speed";
        let remedy = format!("write `growth = {}`", growth.factor());
        return Err(SpecError::value(growth.key(), growth.factor(), allowed, remedy));
    };
    let rate_per_s = base.rate()?;
    let mut file = base.file.clone();
    let replay = file.arrivals.as_mut().and_then(|a| a.replay.as_mut());
    let Some(replay) = replay else { return Ok((base, None)) };
    let by = growth.by().unwrap_or(replay.rate_by);
    (replay.rate_by, replay.rate_per_s) = (by, Some(rate_per_s));
    (replay.copies, replay.speed) = match by {
        RateBy::Copies => (None, Some(pace.speed).filter(|speed| *speed != 1.0)),
        RateBy::Speed => (Some(pace.copies).filter(|copies| *copies != 1.0), None),
    };
    let mut window_s = replay.shift_s().min(base.trace_length()?.as_secs_f64() * pace.speed);
    if let Some(steps) = plan.day.as_ref().and_then(|day| day.trace_steps) {
        let step_s = base.trace_length()?.as_secs_f64() * pace.speed / f64::from(steps);
        window_s = step_s / (step_s / window_s * (1.0 - 1e-9)).ceil().max(1.0);
        replay.shift_s = Some(window_s);
    }
    let factor = growth.factor();
    let (speed, copies) = match by {
        RateBy::Copies => (pace.speed, pace.copies * factor),
        RateBy::Speed => (pace.speed * factor, pace.copies),
    };
    let base = base.instead(&written(&file)?)?;
    Ok((base, Some(OfList { by, speed, copies, window_s })))
}

impl OfList {
    /// What grew, in a few words after `20 times what the scenario has`.
    pub fn grown(&self) -> &'static str {
        match self.by {
            RateBy::Copies => ", in copies of its list",
            RateBy::Speed => ", its list as much faster",
        }
    }
}
