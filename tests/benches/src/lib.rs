//! What the benchmarks share: a stream of arrivals and the world that they meet. It measures
//! nothing.

use orrery_sim::det::Det;
use orrery_sim::driver::World;
use orrery_sim::latency::Latency;
use orrery_sim::request::{AppId, Arrival, ModelId, Source};
use orrery_sim::rng::Stream;
use orrery_sim::time::{NS_PER_MS, Span, Time};
use rand_distr::{Distribution, Exp1};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Largest batch in [`one_gpu`]'s runs.
pub const MAX_BATCH: u32 = 16;

/// The share of a batch's latency that one more request costs.
const C1: f64 = 0.1;

/// Exponential variates of this mean.
pub struct Exponential {
    mean_ns: f64,
    stream: Stream,
}

impl Exponential {
    /// From the stream named so.
    pub fn new(purpose: &str, mean_ns: f64) -> Exponential {
        Exponential { mean_ns, stream: Stream::named(1, purpose, 0) }
    }

    /// The next one.
    #[inline]
    pub fn draw(&mut self) -> Span {
        let unit: Det = Exp1.sample(&mut self.stream);
        Span::from_ns_f64(self.mean_ns * unit.0)
    }
}

/// Poisson arrivals with exponential execution times of 1 ms and an SLO of 20 ms, drawn one at a
/// time.
pub struct Poisson {
    gap: Exponential,
    alone: Exponential,
    left: u64,
    at: Time,
}

impl Poisson {
    /// `requests` arrivals, `per_ms` of them in a millisecond.
    pub fn new(requests: u64, per_ms: f64) -> Poisson {
        let mut gap = Exponential::new("gaps", NS_PER_MS as f64 / per_ms);
        let at = Time::ZERO + gap.draw();
        let alone = Exponential::new("alone", NS_PER_MS as f64);
        Poisson { gap, alone, left: requests, at }
    }
}

impl Source for Poisson {
    fn peek(&mut self) -> Option<Time> {
        (self.left > 0).then_some(self.at)
    }

    fn pop(&mut self) -> Option<Arrival> {
        let at = self.peek()?;
        self.left -= 1;
        self.at = at + self.gap.draw();
        let slo = Span::from_ms(20);
        let alone = self.alone.draw();
        Some(Arrival { at, app: AppId(0), model: ModelId(0), size: 1, slo, alone })
    }
}

/// What this thread has spent on a processor, where the system says so, else the time that has passed: on
/// a machine that is shared the first tells more.
pub fn processor_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ns = text.as_deref().and_then(|text| text.split_whitespace().next()?.parse().ok());
    ns.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// One device that serves batches after Orloj's Eq. 3.
pub fn one_gpu() -> World {
    World::single(Latency::Proportional { c1: C1 })
}
