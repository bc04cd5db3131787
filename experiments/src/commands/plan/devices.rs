//! The devices of a pool that is tried.

use super::file::{Instance, PlanFile};
use orrery_scenario::scenario::file::Device;

/// The catalogue as devices, as a pool or not; without a base the file's own is marked, if any.
pub(super) fn devices(
    plan: &PlanFile,
    counts: &[u32],
    pool: bool,
    base: Option<usize>,
) -> Vec<Device> {
    let of = |(i, (t, count)): (usize, (&Instance, &u32))| Device {
        kind: t.kind.clone(),
        count: *count,
        can_preempt: t.can_preempt,
        memory_pages: t.memory_pages,
        speed: t.speed,
        price_usd_per_hour: pool.then_some(t.price_usd_per_hour),
        base: pool && base.map_or(t.base, |base| base == i),
        ..Device::default()
    };
    let all = plan.instance.iter().zip(counts).enumerate().map(of);
    all.filter(|d| d.count > 0).collect()
}
