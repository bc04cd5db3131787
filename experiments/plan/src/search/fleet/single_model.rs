//! The machines that a model's own Poisson arrivals need at least: few requests make small batches, whoever schedules.
//!
//! ```text
//!  arrivals   |  |    | |       |   | |
//!  windows    [-------)  [-------)  [---      requests of a batch of more than x are no further apart: SLO - l(x)
//! ```
//!
//! A batch has at most x requests, or all of them arrive within SLO - l(x) of its first. Taking the most that this
//! allows from each request on that has none yet makes the fewest batches, and each has `max(x, 1 + N)` requests on
//! average, with N the arrivals of such a window. That holds for each x; the best is taken. A request that is dropped
//! spares one batch at most. So many batches for so many requests take at least what the lower hull of l(b) says.

use crate::input::problem::{Group, Problem};
use orrery_scenario::scenario::file::LatencyLaw;

/// Larger batches are taken for ones of this size, each as good as it gets.
const BATCH_MAX: u32 = 512;

/// A model on a kind.
#[derive(Clone, Debug)]
pub struct Own {
    rate_per_s: f64,
    slo_s: f64,
    /// The share that may be late or dropped.
    target: f64,
    /// The lower hull of (size, seconds) of the batches that fit the SLO.
    hull: Vec<(f64, f64)>,
}

impl Own {
    /// Where nothing is known of its arrivals or batches, none.
    pub fn of(problem: &Problem, group: &Group, kind: usize) -> Option<Own> {
        let instance = &problem.plan.instance[kind];
        let model = group.model(0);
        // Of a trace the Poisson arrivals only stand for its own.
        let slo_ms = group.slo_ms_max().filter(|_| problem.day.own.is_none())?;
        let (law, speed) = match model.latency_on.get(&instance.kind) {
            Some(law) if instance.speed == 1.0 => (law, 1.0),
            Some(_) => return None,
            None => (&model.latency, instance.speed),
        };
        if !matches!(law, LatencyLaw::Affine { .. } | LatencyLaw::Table(_)) {
            return None;
        }
        let law = model.filled(law);
        let ms = |size: u32| law.ms(size) / speed;
        let fits = (1..=BATCH_MAX).take_while(|size| ms(*size) <= slo_ms);
        let points: Vec<(f64, f64)> = fits.map(|b| (f64::from(b), ms(b) / 1e3)).collect();
        Some(Own {
            rate_per_s: group.load_per_s,
            slo_s: slo_ms / 1e3,
            target: problem.plan.target(),
            hull: hull(&points)?,
        })
    }

    /// The machines that a share of the load needs at least.
    pub fn machines(&self, level: f64) -> f64 {
        let rate = self.rate_per_s * level;
        let served = rate * (1.0 - self.target);
        if served <= 0.0 {
            return 0.0;
        }
        let batches = rate / self.batch_max(rate) - rate * self.target;
        // The batch that takes least for each of its requests.
        let best = self.hull.iter().map(|(size, s)| s / size).fold(f64::INFINITY, f64::min);
        if batches <= 0.0 {
            return served * best;
        }
        (batches * self.seconds(served / batches)).max(served * best)
    }

    /// The largest mean size of a batch at a rate.
    fn batch_max(&self, rate_per_s: f64) -> f64 {
        let largest = self.hull.last().map_or(1.0, |p| p.0) as u32;
        let mean = |x: u32| {
            let window_s = (self.slo_s - self.seconds(f64::from(x))).max(0.0);
            f64::from(x) + above(x, rate_per_s * window_s)
        };
        (1..=largest).map(mean).fold(f64::INFINITY, f64::min)
    }

    /// What a batch of a size takes at least, which need not be whole.
    fn seconds(&self, size: f64) -> f64 {
        let first = self.hull.first().map_or(0.0, |p| p.1);
        let last = self.hull.last().copied().unwrap_or((1.0, first));
        if size >= last.0 {
            return last.1 * size / last.0;
        }
        let between = self.hull.windows(2).find(|pair| pair[1].0 >= size);
        between.map_or(first, |pair| {
            let ((a, of_a), (b, of_b)) = (pair[0], pair[1]);
            of_a + (of_b - of_a) * ((size - a) / (b - a)).max(0.0)
        })
    }
}

/// The mean of what 1 + N is above `x`, with N of a Poisson law.
fn above(x: u32, mean: f64) -> f64 {
    if mean <= 0.0 {
        return 0.0;
    }
    // Far above the mean nothing is left.
    let last = x.max(mean as u32) + 12 * (libm::sqrt(mean) as u32 + 2);
    let of = |k: u32| {
        let k = f64::from(k);
        let density = libm::exp(k * libm::log(mean) - mean - libm::lgamma(k + 1.0));
        (k + 1.0 - f64::from(x)) * density
    };
    (x..=last).map(of).sum()
}

/// The lower convex hull of points by rising size; none where there is none.
fn hull(points: &[(f64, f64)]) -> Option<Vec<(f64, f64)>> {
    let mut hull: Vec<(f64, f64)> = Vec::new();
    for &(x, y) in points {
        while let [.., (ax, ay), (bx, by)] = hull.as_slice() {
            if (by - ay) * (x - bx) >= (y - by) * (bx - ax) {
                hull.pop();
            } else {
                break;
            }
        }
        hull.push((x, y));
    }
    (!hull.is_empty()).then_some(hull)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_requests_make_small_batches_and_many_the_best_ones() {
        let affine: Vec<(f64, f64)> =
            (1..=16).map(|b| (f64::from(b), 1e-3 * f64::from(b) + 4e-3)).collect();
        let own = |rate_per_s, target| {
            let hull = hull(&affine).expect("points");
            Own { rate_per_s, slo_s: 0.025, target, hull }
        };
        // One request now and then: each is a batch of its own, 5 ms.
        let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 2e-3, "{a} {b}");
        near(own(0.1, 0.0).machines(1.0), 0.1 * 5e-3);
        // Of 100 in a second no more than three on average are in a batch.
        let few = own(100.0, 0.0);
        assert!((1.0..3.0).contains(&few.batch_max(100.0)), "{}", few.batch_max(100.0));
        near(own(200.0, 0.0).machines(0.5), few.machines(1.0));
        // Very many: batches of 16, 20 ms each.
        near(own(1e5, 0.0).machines(1.0), 1e5 * 20e-3 / 16.0);
        assert!(own(100.0, 0.01).machines(1.0) < own(100.0, 0.0).machines(1.0));
    }

    #[test]
    fn a_curve_that_is_not_convex_is_taken_at_its_lower_hull() {
        let points = [(1.0, 1.0), (2.0, 3.0), (3.0, 3.5), (4.0, 4.0), (5.0, 9.0)];
        assert_eq!(hull(&points), Some(vec![(1.0, 1.0), (4.0, 4.0), (5.0, 9.0)]));
        assert_eq!(hull(&[]), None);
    }

    /// Batches that are made of drawn arrivals with all that is known of them are no fewer.
    #[test]
    fn no_batches_of_drawn_arrivals_are_larger_on_average() {
        let points: Vec<(f64, f64)> =
            (1..=40).map(|b| (f64::from(b), 1e-3 * f64::from(b) + 4e-3)).collect();
        let mut stream = orrery_sim::rng::Stream::named(3, "own arrivals", 0);
        for rate in [50.0, 300.0, 1200.0] {
            let hull = hull(&points).expect("points");
            let own = Own { rate_per_s: rate, slo_s: 0.04, target: 0.0, hull };
            let mut at = 0.0;
            let mut next = || {
                at -= libm::log(1.0 - stream.uniform()) / rate;
                at
            };
            let times: Vec<f64> = (0..40_000).map(|_| next()).collect();
            let (mut first, mut batches) = (0, 0);
            while first < times.len() {
                // The most requests from the first on that can be one batch in time.
                let fits = |n: &usize| {
                    let last = times.get(first + n - 1);
                    last.is_some_and(|last| last - times[first] + points[n - 1].1 <= 0.04)
                };
                first += (1..=points.len()).rev().find(fits).unwrap_or(1);
                batches += 1;
            }
            let mean = times.len() as f64 / f64::from(batches);
            assert!(mean <= own.batch_max(rate) * 1.01, "{rate}: {mean} {}", own.batch_max(rate));
            assert!(mean >= own.batch_max(rate) * 0.7, "{rate}: {mean} {}", own.batch_max(rate));
        }
    }
}
