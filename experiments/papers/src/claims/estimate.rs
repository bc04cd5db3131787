//! A value with what is known of its error, and what that says about a bound.

use orrery_results::Row;

/// A value and its 95 % interval; where nothing is known of its error, an interval of no width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Estimate {
    pub fn exact(value: f64) -> Estimate {
        Estimate { value, low: value, high: value }
    }

    pub fn of(row: &Row) -> Option<Estimate> {
        let value = row.value?;
        let (low, high) = row.ci95().unwrap_or((value, value));
        Some(Estimate { value, low, high })
    }

    fn around(value: f64, below: f64, above: f64) -> Estimate {
        Estimate { value, low: value - below, high: value + above }
    }

    /// Divided by a value that is not 0, as if the two had nothing in common.
    pub fn over(&self, by: &Estimate) -> Estimate {
        let (value, scale) = (self.value / by.value, by.value.abs());
        if !value.is_finite() {
            return Estimate::exact(value);
        }
        let side = |own: f64, other: f64| {
            let (own, other) = (own / scale, value * other / scale);
            (own * own + other * other).sqrt()
        };
        let below = side(self.value - self.low, by.high - by.value);
        Estimate::around(value, below, side(self.high - self.value, by.value - by.low))
    }

    /// 1 + the difference from `by`, divided by it: the ratio of two that were compared seed by seed, whose
    /// common chance this leaves out.
    pub fn ratio_of_difference(&self, by: &Estimate) -> Estimate {
        let ratio = self.over(by);
        Estimate { value: 1.0 + ratio.value, low: 1.0 + ratio.low, high: 1.0 + ratio.high }
    }

    pub fn negative(&self) -> Estimate {
        Estimate { value: -self.value, low: -self.high, high: -self.low }
    }

    /// The interval, where it has a width.
    pub fn interval(&self) -> Option<[f64; 2]> {
        (self.low < self.high).then_some([self.low, self.high])
    }

    pub fn largest(all: &[Estimate]) -> Option<Estimate> {
        all.iter().copied().reduce(|a, b| Estimate {
            value: a.value.max(b.value),
            low: a.low.max(b.low),
            high: a.high.max(b.high),
        })
    }

    pub fn smallest(all: &[Estimate]) -> Option<Estimate> {
        let negative: Vec<Estimate> = all.iter().map(Estimate::negative).collect();
        Estimate::largest(&negative).map(|e| e.negative())
    }

    pub fn mean(all: &[Estimate]) -> Option<Estimate> {
        if all.is_empty() {
            return None;
        }
        let n = all.len() as f64;
        let root = |side: fn(&Estimate) -> f64| {
            all.iter().map(|e| side(e) * side(e)).sum::<f64>().sqrt() / n
        };
        let value = all.iter().map(|e| e.value).sum::<f64>() / n;
        Some(Estimate::around(value, root(|e| e.value - e.low), root(|e| e.high - e.value)))
    }

    /// Whether it lies between the bounds; none where its interval crosses one.
    pub fn is_within(&self, at_least: Option<f64>, at_most: Option<f64>) -> Option<bool> {
        let (least, most) =
            (at_least.unwrap_or(f64::NEG_INFINITY), at_most.unwrap_or(f64::INFINITY));
        if self.high < least || self.low > most {
            return Some(false);
        }
        (self.low >= least && self.high <= most).then_some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, low: f64, high: f64) -> Estimate {
        Estimate { value, low, high }
    }

    #[test]
    fn a_ratio_s_interval_is_that_of_many_drawn_ratios() {
        // Two normal estimates, 10 +- 1 and 5 +- 0.25: drawn, and the middle 95 % of their ratios.
        let mut stream = orrery_sim::rng::Stream::named(7, "ratios", 0);
        let mut normal = || ((0..12).map(|_| stream.uniform()).sum::<f64>() - 6.0) / 1.96;
        let mut ratios: Vec<f64> =
            (0..40_000).map(|_| (10.0 + normal()) / (5.0 + 0.25 * normal())).collect();
        ratios.sort_by(f64::total_cmp);
        let ratio = estimate(10.0, 9.0, 11.0).over(&estimate(5.0, 4.75, 5.25));
        assert!((ratio.low - ratios[1_000]).abs() < 0.01, "{ratio:?} {}", ratios[1_000]);
        assert!((ratio.high - ratios[39_000]).abs() < 0.01, "{ratio:?} {}", ratios[39_000]);
    }

    #[test]
    fn a_ratio_of_two_that_share_their_chance_is_as_sure_as_their_difference() {
        let (by, difference) = (estimate(100.0, 80.0, 120.0), estimate(1.0, 0.5, 1.5));
        let ratio = difference.ratio_of_difference(&by);
        assert!((ratio.value - 1.01).abs() < 1e-12 && ratio.low > 1.004 && ratio.high < 1.016);
        let other = difference.negative().ratio_of_difference(&by);
        assert!((other.value - 0.99).abs() < 1e-12 && other.high < 1.0, "{other:?}");
    }

    #[test]
    fn of_several_the_largest_the_smallest_and_the_mean_have_intervals() {
        let all = [estimate(1.0, 0.0, 3.0), estimate(2.0, 1.5, 2.5)];
        assert_eq!(Estimate::largest(&all), Some(estimate(2.0, 1.5, 3.0)));
        assert_eq!(Estimate::smallest(&all), Some(estimate(1.0, 0.0, 2.5)));
        let mean = Estimate::mean(&all).unwrap();
        assert_eq!(mean.value, 1.5);
        assert!((mean.value - mean.low - 0.5 * 1.25_f64.sqrt()).abs() < 1e-12, "{mean:?}");
        assert_eq!(Estimate::mean(&[]), None);
    }
}
