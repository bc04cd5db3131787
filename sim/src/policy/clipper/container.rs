//! What a container of Clipper's has learnt of its latency, and the batch sizes that follow from it
//! (§4.3.1; released: src/containers.cpp).
//!
//! It knows no queue.

use super::config::Sizing;
use crate::det::Det;
use crate::rng::Stream;
use crate::time::Span;
use rand_distr::{Distribution, Normal};

/// Standard deviations above the mean in the regression. Released.
const STD_FACTOR: f64 = 3.0;
/// Samples after which a size counts, and after which it may grow faster. Released.
const FEW: u64 = 5;
const ENOUGH: u64 = 10;

/// What was seen of one batch size.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    samples: u64,
    sum_ms: f64,
    squares: f64,
}

impl Seen {
    fn mean_ms(&self) -> f64 {
        self.sum_ms / self.samples as f64
    }
    /// Sum of squared deviations from the mean.
    fn scatter(&self) -> f64 {
        (self.squares - self.sum_ms * self.mean_ms()).max(0.0)
    }
}

/// Sums over the batch sizes that count (enough samples), for the regression: one point a size, at
/// its mean latency. Three pooled standard deviations are added to every point alike, which moves
/// the line and does not turn it.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    sizes: f64,
    x: f64,
    xx: f64,
    y: f64,
    xy: f64,
    freedom: f64,
    scatter: f64,
}

impl Sums {
    fn add(&mut self, size: usize, seen: &Seen, sign: f64) {
        if seen.samples < FEW {
            return;
        }
        let (x, y) = (seen.mean_ms(), size as f64);
        self.sizes += sign;
        self.x += sign * x;
        self.xx += sign * x * x;
        self.y += sign * y;
        self.xy += sign * x * y;
        self.freedom += sign * (seen.samples - 1) as f64;
        self.scatter += sign * seen.scatter();
    }

    /// The size at a latency, by least squares; `None` with less than two sizes.
    fn size_at(&self, ms: f64) -> Option<f64> {
        let (x, y) = (self.x / self.sizes, self.y / self.sizes);
        let spread = self.xx - self.sizes * x * x;
        if self.sizes < 2.0 || spread <= 0.0 {
            return None;
        }
        let slope = (self.xy - self.sizes * x * y) / spread;
        let std = (self.scatter / self.freedom).max(0.0).sqrt();
        Some(y + slope * (ms - STD_FACTOR * std - x))
    }
}

/// One model's container: what it has learnt.
#[derive(Debug)]
pub(super) struct Container {
    /// By batch size; as long as the largest size seen.
    seen: Vec<Seen>,
    sums: Sums,
    pub longest: Span,
    /// AIMD's limit.
    pub limit: f64,
    pub slo: Span,
}

impl Container {
    /// Nothing was seen yet.
    pub fn new(slo: Span) -> Container {
        Container { seen: Vec::new(), sums: Sums::default(), longest: Span::ZERO, limit: 1.0, slo }
    }

    pub fn explore(&self, draws: &mut Stream) -> u32 {
        let Some(seen) = self.seen.last() else { return 1 };
        let largest = self.seen.len() as u32 - 1;
        if seen.samples < FEW {
            largest
        } else if seen.samples < ENOUGH {
            largest + 1
        } else {
            let growth = Normal::new(Det(0.1), Det(0.05)).expect("a proper law").sample(draws).0;
            (f64::from(largest) * (1.0 + growth.max(0.0))) as u32
        }
    }

    /// Where a batch's size comes from, for its reason.
    pub fn limit_in_words(&self, sizing: Sizing, size: u32, explores: bool) -> String {
        match sizing {
            Sizing::Fixed(_) => format!("at most {size}, as configured"),
            Sizing::Aimd { .. } => format!("at most {size}, the limit found so far (AIMD)"),
            Sizing::Adaptive if explores => {
                let longest = self.longest;
                format!(
                    "padded to {size} to explore: 0.92 of the time left is beyond {longest}, the \
                     longest latency seen"
                )
            }
            Sizing::Adaptive => {
                format!("at most {size}, which the regression says fits 0.92 of the time left")
            }
        }
    }

    pub fn estimate(&self, budget: Span) -> u32 {
        self.sums.size_at(budget.as_ms_f64()).unwrap_or(1.0).max(1.0) as u32
    }

    pub fn learn(&mut self, size: u32, latency: Span) {
        self.longest = self.longest.max(latency);
        let (ms, size) = (latency.as_ms_f64(), size as usize);
        if self.seen.len() <= size {
            self.seen.resize(size + 1, Seen::default());
        }
        let seen = &mut self.seen[size];
        self.sums.add(size, seen, -1.0);
        seen.samples += 1;
        seen.sum_ms += ms;
        seen.squares += ms * ms;
        self.sums.add(size, seen, 1.0);
    }
}
