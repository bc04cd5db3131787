//! The naive engine's stalls: all of them drawn at once, far beyond the end of a small case.
//!
//! It shares with the simulator the streams of random numbers, and nothing that is made of them.

use orrery_sim::rng::Stream;
use orrery_sim::stalls::Stalls;
use orrery_sim::time::{Span, Time};

/// No case lasts so long, seconds; those that do are not compared.
pub const DRAWN_S: f64 = 60.0;

/// The core of the controller.
pub const CONTROLLER: u64 = 0;

/// The core of an executor.
pub fn core_of(device: u32, executor: usize) -> u64 {
    1 + u64::from(device) * 256 + executor as u64
}

/// When a thread has worked for so long that begins at `now`: a nanosecond of a stall is none of work.
pub fn advance(law: &Stalls, core: u64, now: Time, work: Span) -> Time {
    if law.is_none() {
        return now + work;
    }
    let mut stalls = drawn(law, core, 1.0 - law.shared);
    stalls.extend(drawn(law, u64::MAX, law.shared));
    stalls.sort();
    // Stalls of the two streams may overlap: each counts from where the one before left off.
    let (mut at, mut left) = (now, work);
    for (from, to) in stalls.into_iter().filter(|stall| stall.1 > now) {
        if to <= at {
            continue;
        }
        if from >= at + left {
            break;
        }
        if from > at {
            left = Span::from_ns(left.ns() - (from - at).ns());
        }
        at = to;
    }
    at + left
}

/// All stalls of a core's own stream, or of the one that all cores share.
fn drawn(law: &Stalls, number: u64, share: f64) -> Vec<(Time, Time)> {
    let mut stream = Stream::named(law.seed, "stalls", number);
    let exponential = |stream: &mut Stream, mean: f64| -libm::log(1.0 - stream.uniform()) * mean;
    let (quiet, burst) = (law.quiet.as_secs_f64(), law.burst.as_secs_f64());
    let mut stalls = Vec::new();
    let (mut at, mut changes, mut bursts) = (0.0, f64::INFINITY, false);
    if share <= 0.0 {
        return stalls;
    }
    if burst > 0.0 {
        bursts = stream.uniform() * (quiet + burst) < burst;
        changes = exponential(&mut stream, if bursts { burst } else { quiet });
    }
    while at < DRAWN_S {
        let rate = share * if bursts { law.burst_per_s } else { law.quiet_per_s };
        let begins =
            if rate > 0.0 { at + exponential(&mut stream, 1.0 / rate) } else { f64::INFINITY };
        if begins < changes {
            let length = law.lengths[stream.below(law.lengths.len() as u64) as usize];
            let from = Time::ZERO + Span::from_secs_f64(begins);
            stalls.push((from, from + length));
            at = begins + length.as_secs_f64();
        } else if changes == f64::INFINITY {
            break;
        } else {
            at = at.max(changes);
            bursts = !bursts;
            changes = at + exponential(&mut stream, if bursts { burst } else { quiet });
        }
    }
    stalls
}
