//! The most requests of one device that runs one batch at a time, where all requests are alike: one model, one time,
//! one SLO. What the fluid leaves out counts here: a device that runs a batch cannot take the requests that come
//! meanwhile and cannot wait.
//!
//! There is a best schedule whose batches are neighbours in the order of arrival. So it is found by going through
//! the requests: for each, and for each instant from which the device is free, the most that were finished before.
//! Instants are rounded down to steps, which only helps.

use super::shares::Least;
use orrery_sim::driver::World;
use orrery_sim::latency::Noise;
use orrery_sim::request::Arrival;
use orrery_sim::time::{Span, Time};

/// The shortest step, as a part of a batch of one; a step longer than `COARSE` of it says too little.
const FINE: f64 = 1.0 / 1000.0;
const COARSE: f64 = 1.0 / 20.0;
/// About so many batches are looked at.
const BATCHES: f64 = 3e8;

/// The most requests that end in time, of those that count; `None` where requests are not alike, there are more
/// devices, or it would take too long.
pub fn most(world: &World, all: &[Arrival], counts: impl Fn(&Arrival) -> bool) -> Option<u64> {
    let latencies = latencies(world, all)?;
    let slo = all[0].slo.ns();
    let span = |k: usize| slo.checked_sub(*latencies.get(k - 1)?);
    let fits = |i: usize, k: usize| {
        let last = all.get(i + k - 1);
        last.zip(span(k)).is_some_and(|(last, span)| last.at.since(all[i].at).ns() <= span)
    };
    // The largest batch of neighbours.
    let largest =
        (0..all.len()).fold(1, |most, i| (most..).find(|k| !fits(i, k + 1)).unwrap_or(most));
    let first = latencies[0] as f64;
    let states = all.len() as f64 * slo as f64 * largest as f64;
    let step = (first * FINE).max(states / BATCHES).max(1.0) as u64;
    if step as f64 > first * COARSE {
        return None;
    }
    let width = (slo / step) as usize + 1;
    // By request, in a ring: the most finished before it, by the steps from its arrival until the device is free.
    let mut rows = vec![vec![None; width]; largest + 1];
    rows[0][0] = Some(0u64);
    let mut best = 0;
    for i in 0..all.len() {
        let row = std::mem::replace(&mut rows[i % (largest + 1)], vec![None; width]);
        let mut most = None;
        for (steps, finished) in row.into_iter().enumerate() {
            // No better than a device that is free earlier.
            let Some(finished) = finished.filter(|f| most.is_none_or(|m| *f > m)) else { continue };
            most = Some(finished);
            let free = all[i].at + Span::from_ns(steps as u64 * step);
            let mut go_on = |k: usize, free: Time, finished: u64| {
                best = best.max(finished);
                let Some(next) = all.get(i + k) else { return };
                let steps = (free.since(next.at.min(free)).ns() / step) as usize;
                if let Some(place) = rows[(i + k) % (largest + 1)].get_mut(steps) {
                    *place = (*place).max(Some(finished));
                }
            };
            go_on(1, free, finished);
            let mut gain = 0;
            for (k, latency) in (1..=largest).zip(&latencies) {
                let Some(last) = all.get(i + k - 1) else { break };
                let end = free.max(last.at) + Span::from_ns(*latency);
                if end > all[i].at + all[i].slo {
                    break;
                }
                gain += u64::from(counts(last));
                go_on(k, end, finished + gain);
            }
        }
    }
    Some(best)
}

/// The latencies of batches of 1, 2, ... that fit the SLO, where the requests are alike and one device runs one
/// batch at a time.
fn latencies(world: &World, all: &[Arrival]) -> Option<Vec<u64>> {
    let first = all.first()?;
    let alike =
        |a: &Arrival| (a.model, a.size, a.slo, a.alone) == (first.model, 1, first.slo, first.alone);
    let [device] = &world.core.devices[..] else { return None };
    let is_plain = world.changes.is_empty()
        && (device.lanes, device.stages) == (1, 1)
        && world.noise == Noise::None
        && world.batch_noise.is_empty();
    if !is_plain || first.at + first.slo == Time::NEVER || !all.iter().all(alike) {
        return None;
    }
    let least = Least::new(world, first.model.index(), &[]);
    let of = (1..=all.len() as u64).map(|k| least.at(k, first.alone));
    let fit: Vec<u64> = of.take_while(|l| *l <= first.slo.ns()).collect();
    (!fit.is_empty() && fit[0] > 0).then_some(fit)
}
