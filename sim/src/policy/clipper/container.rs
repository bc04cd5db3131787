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
            let growth =
                Normal::new(Det(0.1), Det(0.05)).expect("a proper distribution").sample(draws).0;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The same over all that was seen, from the start.
    fn plain_estimate(seen: &[(u32, Span)], budget: Span) -> u32 {
        let of = |size: u32| seen.iter().filter(move |s| s.0 == size).map(|s| s.1.as_ms_f64());
        let largest = seen.iter().map(|s| s.0).max().unwrap_or(0);
        let sizes: Vec<u32> = (1..=largest).filter(|n| of(*n).count() as u64 >= FEW).collect();
        if sizes.len() < 2 {
            return 1;
        }
        let n = |size: u32| of(size).count() as f64;
        let mean = |size: u32| of(size).sum::<f64>() / n(size);
        let square = |x: f64| x * x;
        let scatter = |size: u32| of(size).map(|ms| square(ms - mean(size))).sum::<f64>();
        let sum = |f: &dyn Fn(u32) -> f64| sizes.iter().map(|size| f(*size)).sum::<f64>();
        let std = (sum(&scatter) / sum(&|size| n(size) - 1.0)).sqrt();
        let points = sizes.len() as f64;
        let (x, y) = (sum(&mean) / points, sum(&|size| f64::from(size)) / points);
        let slope = sum(&|size| (mean(size) - x) * (f64::from(size) - y))
            / sum(&|size| square(mean(size) - x));
        (y + slope * (budget.as_ms_f64() - STD_FACTOR * std - x)).max(1.0) as u32
    }

    #[test]
    fn the_sums_are_those_of_a_regression_over_all_that_was_seen() {
        let mut draws = Stream::named(3, "container", 0);
        let mut container = Container::new(Span::from_ms(100));
        let mut seen = Vec::new();
        let mut differ = 0;
        for _ in 0..400 {
            let size = 1 + draws.below(6) as u32;
            let ms = 4.0 + 3.0 * f64::from(size) + 2.0 * draws.uniform();
            let latency = Span::from_ns((ms * 1e6) as u64);
            seen.push((size, latency));
            container.learn(size, latency);
            let budget = Span::from_us(10_000 + draws.below(80_000));
            let (own, plain) = (container.estimate(budget), plain_estimate(&seen, budget));
            // Of doubles added in another order.
            differ += u32::from(own != plain);
            assert!(own.abs_diff(plain) <= 1, "{own}, {plain}");
        }
        assert!(differ < 4, "{differ}");
    }

    /// Released: by a tenth, with a standard deviation of half of that, and never to less.
    #[test]
    fn a_size_that_is_known_well_is_exceeded_by_a_tenth_in_the_mean() {
        let mut container = Container::new(Span::from_ms(100));
        (0..ENOUGH).for_each(|_| container.learn(1_000, Span::from_ms(50)));
        let mut draws = Stream::named(1, "explore", 0);
        let sizes: Vec<u32> = (0..2_000).map(|_| container.explore(&mut draws)).collect();
        let mean = f64::from(sizes.iter().sum::<u32>()) / 2_000.0;
        assert!(sizes.iter().all(|size| *size >= 1_000));
        assert!((mean - 1_100.0).abs() < 5.0, "{mean}");
    }
}
