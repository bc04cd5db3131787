//! The devices of a pool that is tried.

use crate::input::file::{Instance, PlanFile};
use orrery_scenario::scenario::file::Device;

/// The catalogue as devices, as a pool or not; without a base the file's own is marked, if any.
pub(crate) fn devices(
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
