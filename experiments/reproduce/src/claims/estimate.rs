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

    /// Of a row whose one seed's value is asked for, not the mean over its seeds: with the interval of another draw.
    pub fn of_one_draw(row: &Row) -> Option<Estimate> {
        // The mean's interval is t s / sqrt(n), that of another draw t s sqrt(1 + 1 / n).
        Some(Estimate::of(row)?.wider((seed_count(&row.seeds) as f64 + 1.0).sqrt()))
    }

    fn around(value: f64, below: f64, above: f64) -> Estimate {
        Estimate { value, low: value - below, high: value + above }
    }

    /// Divided by a value, as if the two had nothing in common; over 0 it is infinite, and 0 over 0 nothing.
    pub fn over(&self, by: &Estimate) -> Option<Estimate> {
        let (value, scale) = (self.value / by.value, by.value.abs());
        if !value.is_finite() {
            return (!value.is_nan()).then(|| match scale {
                0.0 => Estimate { low: self.low / by.high, ..Estimate::exact(value) },
                _ => Estimate::exact(value),
            });
        }
        let side = |own: f64, other: f64| {
            let (own, other) = (own / scale, value * other / scale);
            (own * own + other * other).sqrt()
        };
        let below = side(self.value - self.low, by.high - by.value);
        Some(Estimate::around(value, below, side(self.high - self.value, by.value - by.low)))
    }

    /// 1 + the difference from `by`, divided by it: the ratio of two that were compared seed by seed, whose
    /// common chance this leaves out.
    pub fn ratio_of_difference(&self, by: &Estimate) -> Option<Estimate> {
        let ratio = self.over(by).filter(|r| r.value.is_finite())?;
        Some(Estimate { value: 1.0 + ratio.value, low: 1.0 + ratio.low, high: 1.0 + ratio.high })
    }

    /// With an interval so many times as wide.
    fn wider(&self, times: f64) -> Estimate {
        let side = |x: f64| times * x.abs();
        Estimate::around(self.value, side(self.value - self.low), side(self.high - self.value))
    }

    /// The share of cells in which bounds hold: between those in which they surely do, and those in which they may.
    pub fn share(
        cells: &[Estimate],
        at_least: Option<f64>,
        at_most: Option<f64>,
    ) -> Option<Estimate> {
        if cells.is_empty() {
            return None;
        }
        let of = |is: &dyn Fn(&Estimate) -> bool| {
            cells.iter().filter(|e| is(e)).count() as f64 / cells.len() as f64
        };
        let within = |e: &Estimate| e.is_within(at_least, at_most);
        Some(Estimate {
            value: of(&|e| Estimate::exact(e.value).is_within(at_least, at_most) == Some(true)),
            low: of(&|e| within(e) == Some(true)),
            high: of(&|e| within(e) != Some(false)),
        })
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
        if !value.is_finite() {
            return Some(Estimate::exact(value));
        }
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

/// How many seeds `1-5 7-7` are.
fn seed_count(seeds: &str) -> u64 {
    let of = |part: &str| {
        let (a, b) = part.split_once('-')?;
        (b.parse::<u64>().ok()? + 1).checked_sub(a.parse().ok()?)
    };
    seeds.split(' ').filter_map(of).sum()
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
        let ratio = estimate(10.0, 9.0, 11.0).over(&estimate(5.0, 4.75, 5.25)).unwrap();
        assert!((ratio.low - ratios[1_000]).abs() < 0.01, "{ratio:?} {}", ratios[1_000]);
        assert!((ratio.high - ratios[39_000]).abs() < 0.01, "{ratio:?} {}", ratios[39_000]);
    }

    #[test]
    fn a_ratio_of_two_that_share_their_chance_is_as_sure_as_their_difference() {
        let (by, difference) = (estimate(100.0, 80.0, 120.0), estimate(1.0, 0.5, 1.5));
        let ratio = difference.ratio_of_difference(&by).unwrap();
        assert!((ratio.value - 1.01).abs() < 1e-12 && ratio.low > 1.004 && ratio.high < 1.016);
        let other = difference.negative().ratio_of_difference(&by).unwrap();
        assert!((other.value - 0.99).abs() < 1e-12 && other.high < 1.0, "{other:?}");
    }

    #[test]
    fn a_share_lies_between_what_surely_holds_and_what_may() {
        let cells = [(3.0, 2.0, 4.0), (1.1, 0.9, 1.3), (0.9, 0.8, 1.2), (0.5, 0.4, 0.6)];
        let cells = cells.map(|(value, low, high)| estimate(value, low, high));
        assert_eq!(Estimate::share(&cells, Some(1.0), None), Some(estimate(0.5, 0.25, 0.75)));
        assert_eq!(Estimate::share(&[], Some(1.0), None), None);
    }

    #[test]
    fn the_interval_of_one_draw_is_that_of_many_drawn_ones() {
        // Of n normal values with a standard deviation of 1, the mean's 95 % interval is t / sqrt(n) to both sides,
        // and another draw is within t * sqrt(1 + 1 / n) of the mean in 95 of 100.
        let (n, t) = (20.0_f64, 2.093);
        let of_the_mean = estimate(0.0, -t / n.sqrt(), t / n.sqrt());
        let of_a_draw = of_the_mean.wider((n + 1.0).sqrt());
        assert!((of_a_draw.high - t * (1.0 + 1.0 / n).sqrt()).abs() < 1e-12, "{of_a_draw:?}");
    }

    #[test]
    fn seeds_are_counted_as_they_were_listed() {
        for seeds in [vec![], vec![3], vec![1, 2, 3, 4, 5, 7], vec![9, 10, 12, 13]] {
            let list = orrery_results::seed_list(&seeds);
            assert_eq!(seed_count(&list), seeds.len() as u64, "{list}");
        }
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
