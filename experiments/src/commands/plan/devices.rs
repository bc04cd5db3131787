//! The devices of a pool that is tried, and what policies are told of them.

use super::file::{Instance, PlanFile};
use orrery_scenario::scenario::file::{Device, LatencyLaw, Model};

/// The catalogue as devices, as a pool or not; without a base the file's own is marked, if any.
pub(super) fn devices(
    plan: &PlanFile,
    counts: &[u32],
    pool: bool,
    base: Option<usize>,
) -> Vec<Device> {
    // A pool of several types is one of instances that are sold one by one.
    let price = |i: usize| Some(plan.sale(i).ok()?.tariff.packs().first()?.price.as_usd_per_hour());
    let of = |(i, (t, count)): (usize, (&Instance, &u32))| Device {
        kind: t.kind.clone(),
        count: *count,
        can_preempt: t.can_preempt,
        memory_pages: t.memory_pages,
        speed: t.speed,
        price_usd_per_hour: price(i).filter(|_| pool),
        base: pool && base.map_or(t.base, |base| base == i),
        ..Device::default()
    };
    let all = plan.instance.iter().zip(counts).enumerate().map(of);
    all.filter(|d| d.count > 0).collect()
}

/// The law that policies are told of a model on devices of one kind: that kind's, as whoever measures there
/// finds it. None where the scenario says what they are told, or the model's own law holds.
pub(super) fn told(model: &Model, device: &Device) -> Option<LatencyLaw> {
    if model.believed.is_some() {
        return None;
    }
    match model.latency_on.get(&device.kind) {
        Some(law) => Some(law.clone()),
        None if device.speed == 1.0 => None,
        None => Some(faster(&model.latency, device.speed)),
    }
}

/// A law divided by a speed. Samples and profiles have none.
fn faster(law: &LatencyLaw, speed: f64) -> LatencyLaw {
    let mut law = law.clone();
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
        | LatencyLaw::Profile { .. } => {}
    }
    law
}
