//! A model's latency on each kind of device: the truth there, and what policies are told.
//!
//! Everything that runs a model asks here, so a kind's `speed` and `latency_on` mean the same everywhere.

use super::file::{Between, Device, LatencyLaw, Model, ScenarioFile};
use super::laws::BATCH_MAX;
use crate::kairos;
use orrery_results::metric;
use orrery_run::error::{SpecError, known};
use orrery_run::replication::MeasuredSizes;
use orrery_sim::latency::{Latency, Replay};

impl Model {
    /// The true law on a kind of device, as a file would say it: `latency_on`, or `latency` divided by the speed.
    /// `None` where such a law cannot be divided.
    pub fn law_on(&self, device: &Device) -> Option<LatencyLaw> {
        match self.latency_on.get(&device.kind) {
            Some(own) => Some(self.filled(own)),
            None if device.speed == 1.0 => Some(self.filled(&self.latency)),
            None => Some(self.filled(&self.latency.faster(device.speed)?)),
        }
    }

    /// A law of the model with what its [`Between`] says of sizes that were not measured.
    pub fn filled(&self, law: &LatencyLaw) -> LatencyLaw {
        match self.between.unwrap_or_default() {
            Between::Linear => law.filled(),
            Between::Next => law.clone(),
        }
    }

    /// The laws of the kinds of device that are there, as they were measured.
    fn laws_of<'a>(&'a self, devices: &'a [Device]) -> impl Iterator<Item = &'a LatencyLaw> {
        devices.iter().map(|d| self.latency_on.get(&d.kind).unwrap_or(&self.latency))
    }

    /// Whether a size lies between two measured ones of some law.
    pub(super) fn has_gaps(&self) -> bool {
        let mut laws = self.latency_on.values().chain(&self.believed).chain([&self.latency]);
        laws.any(|law| law.filled() != *law)
    }

    /// The batch sizes that its latencies were measured at, on each kind of device that is there.
    pub(super) fn measured_sizes(&self, devices: &[Device]) -> Vec<MeasuredSizes> {
        let of = |law: &LatencyLaw| {
            let between = match self.between.unwrap_or_default() {
                Between::Linear => metric::INTERPOLATED,
                Between::Next => metric::ROUNDED_UP,
            };
            let (sizes, between) = match law {
                LatencyLaw::Table(rows) => (rows.iter().map(|r| r.0).collect(), Some(between)),
                LatencyLaw::Grid { rows, .. } | LatencyLaw::Measured(rows) => {
                    (rows.iter().map(|r| r.0).collect(), Some(between))
                }
                // Kairos's own program rounds up to a measured size.
                LatencyLaw::Samples(of) => (kairos::samples(of)?.sizes().to_vec(), None),
                _ => return None,
            };
            Some(MeasuredSizes { sizes, between })
        };
        self.laws_of(devices).filter_map(of).collect()
    }
}

/// Rows for every size from the first to the last, with `mix` of two neighbours and how far a size is from the first of
/// them to the second. What is wrong with the sizes is left to the check of the law.
fn filled<T: Clone>(rows: &[(u32, T)], mix: impl Fn(&T, &T, f64) -> T) -> Vec<(u32, T)> {
    let gaps = rows.windows(2).flat_map(|pair| {
        let [(a, low), (b, high)] = [&pair[0], &pair[1]];
        let width = f64::from(*b) - f64::from(*a);
        let between = a.saturating_add(1)..(*b).min(BATCH_MAX);
        let row = |k: u32| (k, mix(low, high, (f64::from(k) - f64::from(*a)) / width));
        std::iter::once(pair[0].clone()).chain(between.map(row)).collect::<Vec<_>>()
    });
    gaps.chain(rows.last().cloned()).collect()
}

impl LatencyLaw {
    /// The law divided by a speed; `None` of one in which a request alone takes what it takes, and of measured
    /// latencies: `speed` would say what was never measured there.
    fn faster(&self, speed: f64) -> Option<LatencyLaw> {
        match self {
            LatencyLaw::Measured(_) => None,
            _ => self.with_ms(|_, ms| ms / speed),
        }
    }

    /// The law with a row for every size between two measured ones, on a line between them. Measured latencies are those
    /// of the larger size, scaled so that their mean is on it.
    pub(super) fn filled(&self) -> LatencyLaw {
        let line = |a: &f64, b: &f64, share: f64| a + (b - a) * share;
        let mean = |all: &[f64]| orrery_sim::stats::mean(all).unwrap_or(0.0);
        match self {
            LatencyLaw::Table(rows) => LatencyLaw::Table(filled(rows, line)),
            LatencyLaw::Grid { lengths_ms, rows } => LatencyLaw::Grid {
                lengths_ms: lengths_ms.clone(),
                rows: filled(rows, |low, high, share| {
                    low.iter().zip(high).map(|(a, b)| line(a, b, share)).collect()
                }),
            },
            LatencyLaw::Measured(rows) => LatencyLaw::Measured(filled(rows, |low, high, share| {
                let (low, own) = (mean(low), mean(high));
                let factor = if own > 0.0 { line(&low, &own, share) / own } else { 1.0 };
                high.iter().map(|ms| ms * factor).collect()
            })),
            law => law.clone(),
        }
    }

    /// Its times and coefficients, and whether each is the whole time of a batch, its fixed part, or what grows
    /// with it. `None` of a law in which a request alone takes what it takes, or whose numbers are in a file.
    fn parts(&mut self) -> Option<Vec<(LatencyPart, &mut f64)>> {
        fn whole(ms: &mut f64) -> (LatencyPart, &mut f64) {
            (LatencyPart::Whole, ms)
        }
        Some(match self {
            LatencyLaw::Affine { alpha_ms, beta_ms } => {
                vec![(LatencyPart::Growing, alpha_ms), (LatencyPart::Fixed, beta_ms)]
            }
            LatencyLaw::Eq3 { c0_ms, c1 } => {
                vec![(LatencyPart::Fixed, c0_ms), (LatencyPart::Growing, c1)]
            }
            LatencyLaw::Poly { c0_ms, c1, c2_per_ms } => {
                vec![
                    (LatencyPart::Fixed, c0_ms),
                    (LatencyPart::Growing, c1),
                    (LatencyPart::Growing, c2_per_ms),
                ]
            }
            LatencyLaw::Grid { rows, .. } | LatencyLaw::Measured(rows) => {
                rows.iter_mut().flat_map(|row| &mut row.1).map(whole).collect()
            }
            LatencyLaw::Table(rows) => rows.iter_mut().map(|row| whole(&mut row.1)).collect(),
            LatencyLaw::Proportional { .. }
            | LatencyLaw::Samples(_)
            | LatencyLaw::Profile { .. } => return None,
        })
    }

    /// The law with other numbers, measured ones too; `None` where it has none of its own.
    pub fn with_ms(&self, each: impl Fn(LatencyPart, f64) -> f64) -> Option<LatencyLaw> {
        let mut law = self.clone();
        law.parts()?.into_iter().for_each(|(part, ms)| *ms = each(part, *ms));
        Some(law)
    }

    /// The smallest fixed part of a batch, or whole time where the law has those; `None` where it has neither.
    pub fn least_ms(&self) -> Option<(LatencyPart, f64)> {
        let mut law = self.clone();
        let parts = law.parts()?.into_iter().filter(|p| p.0 != LatencyPart::Growing);
        parts.map(|(part, ms)| (part, *ms)).reduce(|a, b| if b.1 < a.1 { b } else { a })
    }
}

/// What a number of a latency model is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatencyPart {
    /// The time of a batch.
    Whole,
    /// The part of it that every batch has.
    Fixed,
    /// A coefficient of what grows with the batch or its requests.
    Growing,
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
    let law = file.model[m].filled(believed).law(&format!("model[{m}].believed"))?;
    Ok(vec![law; truth.len()])
}

/// Checks that every kind named by `latency_on` exists.
pub(super) fn check_kinds(m: usize, model: &Model, kinds: &[&str]) -> Result<(), SpecError> {
    for kind in model.latency_on.keys() {
        known(&format!("model[{m}].latency_on.{kind}"), kind, kinds)?;
    }
    Ok(())
}
