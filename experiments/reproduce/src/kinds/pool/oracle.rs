//! ORCL on a pool of a figure's world.

use super::world::World;
use orrery_run::SpecError;
use orrery_sim::orcl::{Sized, orcl};
use orrery_sim::request::RequestId;
use orrery_sim::time::Span;
use orrery_solvers::Pool;

/// The oracle on a pool: the sizes and service times that a simulation of the seed draws.
pub(super) fn oracle(world: &World, pool: &Pool, seed: u64) -> Result<f64, SpecError> {
    let setup = world.of(pool)?.setup(seed)?;
    let mut queries = setup.sources(seed)?.remove(0);
    let sizes: Vec<u32> = (0..world.conditions.queries)
        .filter_map(|_| queries.pop().map(|query| query.size))
        .collect();
    let base = setup.kinds[0].base;
    let devices = setup.world.core.devices.iter();
    let instances: Vec<(bool, usize)> =
        devices.map(|d| (d.kind == base, d.kind as usize)).collect();
    let takes = |q: Sized, kind: usize| {
        setup.world.latency[kind][0].of_batch(q.size, Span::ZERO, RequestId(q.number as u64))
    };
    Ok(orcl(&sizes, &instances, world.qos, takes).throughput_per_s)
}
