//! How much longer than usual work takes, over time: from batches that say so, each at its instant.

use crate::quantiles::median;
use orrery_sim::time::{Span, Time};

/// The speed at an instant is the median of batches that are nearer than this.
const NEAR: Span = Span::from_ms(500);
/// It is that of the nearest batches, as few as give no larger standard error than this, percent: a speed may change
/// within milliseconds.
pub(crate) const ERROR_MAX_PERCENT: f64 = 1.0;
/// Of a normal law: from the mean distance to sigma, and from sigma to the error of a median.
const NORMAL: f64 = 1.2533;

/// How much longer than profiled work takes, from each instant to the next.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Speed(pub Vec<(Time, f64)>);

impl Speed {
    /// From half-way to the batch before to half-way to the next, the median of those around each batch, with the median of
    /// their standard errors.
    pub fn of(samples: &[(Time, f64)]) -> (Speed, f64) {
        let near = |at: Time| {
            let first = samples.partition_point(|s| s.0 + NEAR <= at);
            (first, samples.partition_point(|s| s.0 < at + NEAR))
        };
        let middle = |(first, end): (usize, usize)| {
            median(&mut samples[first..end].iter().map(|s| s.1).collect::<Vec<f64>>())
        };
        // From one batch to the next: a speed that changes more slowly is not in it.
        let step = |s: &[(Time, f64)]| (s[1].1 - s[0].1).abs() / middle(near(s[0].0));
        let steps_sum = samples.windows(2).map(step).sum::<f64>();
        let mean_step = steps_sum / samples.len().saturating_sub(1).max(1) as f64;
        let sigma = NORMAL * mean_step / std::f64::consts::SQRT_2;
        let enough = libm::pow(100.0 * NORMAL * sigma / ERROR_MAX_PERCENT, 2.0).ceil() as usize;
        let (mut steps, mut errors) = (Vec::new(), Vec::new());
        for (i, (at, _)) in samples.iter().enumerate() {
            let (first, end) = near(*at);
            // One alone says nothing of its error.
            let alone = end - first == 1;
            let (first, end) =
                (first.max(i.saturating_sub(enough / 2)), end.min(i + enough / 2 + 1));
            let error = NORMAL * sigma / ((end - first) as f64).sqrt();
            errors.push(if alone { 1.0 } else { error });
            let from = match i.checked_sub(1).map(|before| samples[before].0) {
                Some(before) => before + at.since(before).scale(0.5),
                None => Time::ZERO,
            };
            steps.push((from, middle((first, end))));
        }
        (Speed(steps), median(&mut errors))
    }

    /// How much longer work takes at an instant, and until when.
    pub fn at(&self, at: Time) -> (f64, Time) {
        let next = self.0.partition_point(|s| s.0 <= at);
        let until = self.0.get(next).map_or(Time::NEVER, |s| s.0);
        let now = next.checked_sub(1).map_or(1.0, |i| self.0[i].1);
        (now, until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    /// Batches that take 10 % longer for the second half, and one that is far off.
    #[test]
    fn the_speed_is_the_median_of_the_batches_around() {
        let factor = |i: u64| {
            if i == 13 {
                9.0
            } else if i < 20 {
                1.0
            } else {
                1.1
            }
        };
        let samples: Vec<_> = (0..40).map(|i| (at(100_000 * i), factor(i))).collect();
        let (speed, error) = Speed::of(&samples);
        assert_eq!((speed.at(at(0)).0, speed.at(at(1_300_000)).0), (1.0, 1.0));
        assert_eq!(speed.at(at(3_900_000)).0, 1.1);
        // Nine within half a second, and two steps of 8 among 39.
        assert!((error - 0.153).abs() < 0.01, "{error}");
    }

    /// 1,000 batches a second that differ by 5 %, on a device that is 20 % slower for every second tenth of a second.
    #[test]
    fn a_speed_that_changes_quickly_is_followed() {
        let noise = orrery_sim::latency::BatchNoise { sigma: 0.05, seed: 3, ..Default::default() };
        let slow = |i: u64| if (i / 100) % 2 == 1 { 1.2 } else { 1.0 };
        let batch = |i: u64| noise.apply(Span::from_ms(1), i).as_ms_f64() * slow(i);
        let samples: Vec<_> = (0..4_000).map(|i| (at(1_000 * i), batch(i))).collect();
        let (speed, error) = Speed::of(&samples);
        assert!(error <= 0.01, "{error}");
        let far = |i: &u64| (speed.at(at(1_000 * i)).0 / slow(*i) - 1.0).abs() > 0.05;
        let far = (0..4_000).filter(far).count();
        assert!(far < 600, "{far} of 4,000");
    }
}
