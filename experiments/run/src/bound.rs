//! A certified upper bound on what any scheduler finishes in time, a clairvoyant one included.
//!
//! It is no schedule, and it simulates nothing: the very requests of a run are read, and what no device can do is
//! left out. `docs/bound.md` has the proof, step by step.
//!
//! ```text
//! requests ── shares ──> least device time of each ── fluid ──────> the most whose time fits
//!                                                  └─ one_device ─> the most of one device, alike requests
//! ```

mod fluid;
mod one_device;
mod shares;
#[cfg(test)]
mod tests;

use crate::error::SpecError;
use crate::setup::Setup;
use orrery_sim::request::{Arrival, Source};
use orrery_sim::time::Time;

/// More requests are not read.
const REQUESTS_MAX: usize = 2_000_000;

/// No scheduler finishes more in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Requests that count.
    pub offered: u64,
    /// The most of them that end in time.
    pub in_time: u64,
}

impl Bound {
    /// The highest finish rate; 1 of nothing.
    pub fn finish_rate(&self) -> f64 {
        if self.offered == 0 { 1.0 } else { self.in_time as f64 / self.offered as f64 }
    }

    /// The bound of a run of this seed. It is on the finish rate alone: late answers count nothing.
    ///
    /// # Errors
    /// When the sources cannot be made, or no bound is known of such a world.
    pub fn of(setup: &Setup, seed: u64) -> Result<Bound, SpecError> {
        check(setup)?;
        let arrivals = arrivals(setup, seed)?;
        let window = setup.window;
        let counts = |a: &Arrival| window.from <= a.at && a.at < window.to;
        let work = shares::of(&setup.world, &arrivals);
        let fluid = fluid::most(&setup.world, &arrivals, &work, counts);
        // Alike requests that come after the window are not worth a batch.
        let end = arrivals.partition_point(|a| a.at < window.to);
        let one = one_device::most(&setup.world, &arrivals[..end], counts);
        let offered = arrivals.iter().filter(|a| counts(a)).count() as u64;
        Ok(Bound { offered, in_time: one.map_or(fluid, |one| one.min(fluid)).min(offered) })
    }
}

/// Passes when the steps of the proof hold in such a world.
fn check(setup: &Setup) -> Result<(), SpecError> {
    let world = &setup.world;
    let reason = if setup.autoscale.is_some() {
        "autoscaling: how many devices there are is the scheduler's choice"
    } else if world.machine.is_some() {
        "what a machine did, in place of latency models"
    } else if !world.stalls.is_none() && world.until.is_some() {
        "stalls with `until_s`: which requests arrive depends on the stalls"
    } else {
        return Ok(());
    };
    Err(refused(reason))
}

fn refused(reason: &str) -> SpecError {
    let allowed = "open arrivals, and devices and latencies that do not depend on the scheduler";
    SpecError::value("bound", reason, allowed, "run it without the bound")
}

/// The requests of a run, by number.
fn arrivals(setup: &Setup, seed: u64) -> Result<Vec<Arrival>, SpecError> {
    let mut sources = setup.sources(seed)?;
    if sources.iter().any(|s| s.is_closed_loop()) {
        return Err(refused("a closed loop: when requests arrive depends on the scheduler"));
    }
    let until = setup.world.until.unwrap_or(Time::NEVER);
    let mut out = Vec::new();
    let first = |sources: &mut [Box<dyn Source>]| {
        let shown = sources.iter_mut().enumerate().filter_map(|(i, s)| Some((s.peek()?, i)));
        shown.min().filter(|(at, _)| *at <= until && *at < Time::NEVER)
    };
    while let Some((_, source)) = first(&mut sources) {
        if out.len() == REQUESTS_MAX {
            return Err(refused("more than 2,000,000 requests"));
        }
        out.extend(sources[source].pop());
    }
    let failure = sources.iter_mut().find_map(|s| s.failure());
    failure.map_or(Ok(out), |why| Err(setup.failed(&orrery_sim::driver::Failure::Source(why))))
}
