//! ORCL on a pool of a figure's world.

use super::world::World;
use orrery_sim::latency::{Latency, Replay};
use orrery_sim::orcl::{Sized, orcl};
use orrery_sim::request::RequestId;
use orrery_sim::rng::Stream;
use orrery_sim::time::Span;
use orrery_solvers::Pool;
use std::sync::Arc;

/// The oracle on a pool: the sizes and service times that a simulation of the seed would draw.
pub(super) fn oracle(world: &World, pool: &Pool, seed: u64) -> f64 {
    // The stream that `with_sizes` draws from.
    let mut stream = Stream::named(seed, "query sizes", 0);
    let n = world.conditions.queries;
    let sizes: Vec<u32> = (0..n).map(|_| world.sizes.draw(&mut stream)).collect();
    let of_seed = |law: &Latency| match law {
        Latency::Samples(r) => Latency::Samples(Replay { table: Arc::clone(&r.table), seed }),
        law => law.clone(),
    };
    let truth: Vec<Latency> = world.truth.truth.iter().map(of_seed).collect();
    let base = world.truth.base as usize;
    let kinds = pool.0.iter().enumerate();
    let instances: Vec<(bool, usize)> =
        kinds.flat_map(|(kind, &n)| (0..n).map(move |_| (kind == base, kind))).collect();
    let takes = |q: Sized, kind: usize| {
        truth[kind].of_batch(q.size, Span::ZERO, RequestId(q.number as u64))
    };
    orcl(&sizes, &instances, world.truth.qos, takes).throughput_per_s
}
