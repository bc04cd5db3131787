//! A model's latency on each kind of device: the truth there, and what policies are told.
//!
//! Everything that runs a model asks here, so a kind's `speed` and `latency_on` mean the same everywhere.

use super::file::{Device, LatencyLaw, Model, ScenarioFile};
use crate::error::{SpecError, known};
use crate::kairos;
use orrery_sim::latency::{Latency, Replay};

impl Model {
    /// The true law on a kind of device, as a file would say it: `latency_on`, or `latency` divided by the speed.
    /// `None` where such a law cannot be divided.
    pub fn law_on(&self, device: &Device) -> Option<LatencyLaw> {
        match self.latency_on.get(&device.kind) {
            Some(own) => Some(own.clone()),
            None if device.speed == 1.0 => Some(self.latency.clone()),
            None => self.latency.faster(device.speed),
        }
    }
}

impl LatencyLaw {
    /// The law divided by a speed; `None` of measured latencies, and of one in which a request alone takes what
    /// it takes.
    fn faster(&self, speed: f64) -> Option<LatencyLaw> {
        let mut law = self.clone();
        match &mut law {
            LatencyLaw::Affine { alpha_ms, beta_ms } => {
                (*alpha_ms, *beta_ms) = (*alpha_ms / speed, *beta_ms / speed);
            }
            LatencyLaw::Eq3 { c0_ms, c1 } => (*c0_ms, *c1) = (*c0_ms / speed, *c1 / speed),
            LatencyLaw::Poly { c0_ms, c1, c2_per_ms } => {
                (*c0_ms, *c1, *c2_per_ms) = (*c0_ms / speed, *c1 / speed, *c2_per_ms / speed);
            }
            LatencyLaw::Grid { rows, .. } => {
                rows.iter_mut().flat_map(|row| &mut row.1).for_each(|ms| *ms /= speed);
            }
            LatencyLaw::Table(rows) => rows.iter_mut().for_each(|row| row.1 /= speed),
            LatencyLaw::Proportional { .. }
            | LatencyLaw::Samples(_)
            | LatencyLaw::Measured(_)
            | LatencyLaw::Profile { .. } => return None,
        }
        Some(law)
    }
}

/// The kind whose latencies a policy is told that knows only one, before it is known what is sent: the one that
/// is marked as base, or the first.
pub(super) fn plain_base(devices: &[Device]) -> Option<&Device> {
    devices.iter().find(|d| d.base).or(devices.first())
}

/// The truth about a model on a kind of device. `m` is the model's number, for messages.
pub(super) fn latency_on(m: usize, model: &Model, device: &Device) -> Result<Latency, SpecError> {
    let own = model.latency_on.get(&device.kind);
    let key = match own {
        Some(_) => format!("model[{m}].latency_on.{}", device.kind),
        None => format!("model[{m}].latency"),
    };
    if own.is_none() {
        is_measured_here(&key, model, device)?;
        // What cannot be divided may be wrong by itself.
        model.latency.law(&key)?;
    }
    match model.law_on(device) {
        Some(law) => law.law(&key),
        None => Err(undivided(key, model, device)),
    }
}

/// Samples of a zoo are those of one kind.
fn is_measured_here(key: &str, model: &Model, device: &Device) -> Result<(), SpecError> {
    let LatencyLaw::Samples(name) = &model.latency else { return Ok(()) };
    let on = name.split_once('@').map_or("", |parts| parts.1);
    if kairos::samples(name).is_none() || (on == device.kind && device.speed == 1.0) {
        return Ok(());
    }
    let found = format!("samples of `{on}` for kind `{}`", device.kind);
    let allowed =
        "samples measured on the kind that replays them, at speed 1: the profile has a hole here";
    let remedy = format!(
        "name the kind after what was measured, or give `latency_on = {{ \"{}\" = ... }}`",
        device.kind
    );
    Err(SpecError::value(key, found, allowed, remedy))
}

/// The error of a law that cannot be divided by a speed.
fn undivided(key: String, model: &Model, device: &Device) -> SpecError {
    let Device { kind, speed, .. } = device;
    if let LatencyLaw::Proportional { .. } = model.latency {
        let found = format!("`proportional` on `{kind}`, whose speed is {speed}");
        let allowed = "`affine`, `eq3` or `table` with a speed other than 1";
        let remedy = format!(
            "give the latency model on this type: \
             `latency_on = {{ {kind} = {{ eq3 = {{ c0_ms = 1.0, c1 = 0.5 }} }} }}`"
        );
        return SpecError::value(key, found, allowed, remedy);
    }
    let found = format!("measured latencies on `{kind}`, whose speed is {speed}");
    let allowed = "speed 1: what was measured is not what another kind would take";
    let remedy = format!("give `latency_on = {{ \"{kind}\" = ... }}`");
    SpecError::value(key, found, allowed, remedy)
}

/// What policies are told of a model on each kind: the truth there, or what `believed` says of all of them. Of
/// samples they are told the means, so no seed belongs to them.
pub(super) fn told(
    file: &ScenarioFile,
    m: usize,
    truth: &[Latency],
) -> Result<Vec<Latency>, SpecError> {
    let Some(believed) = &file.model[m].believed else {
        let unseeded = |law: &Latency| match law {
            Latency::Samples(Replay { table, .. }) => {
                Latency::Samples(Replay { table: table.clone(), seed: 0 })
            }
            law => law.clone(),
        };
        return Ok(truth.iter().map(unseeded).collect());
    };
    let law = believed.law(&format!("model[{m}].believed"))?;
    Ok(vec![law; truth.len()])
}

/// Checks that every kind named by `latency_on` exists.
pub(super) fn check_kinds(m: usize, model: &Model, kinds: &[&str]) -> Result<(), SpecError> {
    for kind in model.latency_on.keys() {
        known(&format!("model[{m}].latency_on.{kind}"), kind, kinds)?;
    }
    Ok(())
}
