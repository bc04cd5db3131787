//! Intervals from batches of one run: ratio estimators that respect autocorrelation.
//!
//! Almost every figure of a run is a ratio of sums: in time over offered, latencies over answers,
//! busy time over time up. With the sums of each batch, the estimate is r = sum of num / sum of den,
//! and a batch's *residual* is `(num - r den) / sum of den`: what it pushes the estimate up or down.
//! Residuals add up to zero, and the square root of the sum of their squares (times b / (b - 1)) is
//! the estimate's standard error, if batches are independent.
//!
//! ```text
//! while the lag-1 autocorrelation of the residuals is > 1.645 / sqrt(b) - 1 / b
//!       (5 %, one-sided), and half as many batches are still at least 16:
//!     merge neighbouring pairs
//! still so at the end: `correlated`, the interval is too narrow
//! ```
//!
//! It does not decide where batches begin and end: see `metrics::Metrics` and
//! `metrics::TimeSeries`.

use super::{Interval, student_t_975};

/// Batches are not merged to fewer than this. With 15 degrees of freedom Student's factor is 2.13, a
/// ninth above the normal law's; from there on merging costs width quickly, and the test of the
/// correlation, whose bound is then 0.35, no longer sees much.
pub const LEAST_BATCHES: usize = 16;

/// The 0.95 quantile of the normal law: of b independent residuals, the lag-1 autocorrelation is
/// about normal with deviation 1 / sqrt(b), and with mean -1 / b because they add up to zero.
const SIGNIFICANT: f64 = 1.645;

/// Residuals below this share of the estimate are what rounding leaves of zeros.
const ROUNDING: f64 = 1e-12;

/// An estimate from the batches of one run, with its interval by batch means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Batched {
    /// The estimate and its interval.
    pub interval: Interval,
    /// Batches behind the interval, after merging.
    pub batches: usize,
    /// Whether neighbouring batches were still alike when no more could be merged: the run is too
    /// short for what it remembers, and the interval too narrow.
    pub correlated: bool,
}

/// The error of an estimate: its batches' residuals, summed up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    /// The estimate's standard error, in its unit.
    pub error: f64,
    /// As in [`Batched`].
    pub batches: usize,
    /// As in [`Batched`].
    pub correlated: bool,
}

impl Spread {
    /// Of residuals that add up to zero, in the order of the batches; `estimate` is the size that
    /// rounding errors are compared with. `None` below two batches.
    pub(crate) fn of(mut residuals: Vec<f64>, estimate: f64) -> Option<Spread> {
        if residuals.len() < 2 {
            return None;
        }
        loop {
            let batches = residuals.len();
            let b = batches as f64;
            let squares: f64 = residuals.iter().map(|e| e * e).sum();
            let products: f64 = residuals.windows(2).map(|e| e[0] * e[1]).sum();
            let nothing = squares.sqrt() <= ROUNDING * estimate.abs();
            let bound = SIGNIFICANT / b.sqrt() - 1.0 / b;
            let correlated = !nothing && products > bound * squares;
            if !correlated || batches.div_ceil(2) < LEAST_BATCHES {
                let error = (squares * b / (b - 1.0)).sqrt();
                return Some(Spread { error, batches, correlated });
            }
            residuals = residuals.chunks(2).map(|pair| pair.iter().sum()).collect();
        }
    }

    /// Half the width of the estimate's interval.
    pub(crate) fn half_width(&self) -> f64 {
        student_t_975(self.batches as u64 - 1) * self.error
    }

    fn around(self, estimate: f64) -> Batched {
        let Spread { batches, correlated, .. } = self;
        let interval = Interval::around(estimate, self.half_width());
        Batched { interval, batches, correlated }
    }
}

/// The ratio of two sums and each batch's residual; `None` when there is nothing to divide by.
fn ratio(num: &[f64], den: &[f64]) -> Option<(f64, Vec<f64>)> {
    let (n, d) = (num.iter().sum::<f64>(), den.iter().sum::<f64>());
    if d <= 0.0 || d.is_nan() {
        return None;
    }
    let estimate = n / d;
    Some((estimate, num.iter().zip(den).map(|(n, d_i)| (n - estimate * d_i) / d).collect()))
}

/// The ratio of two sums over batches of one run, given batch by batch, with its interval: see the
/// module's text for the rule. The last batch may be shorter than the others. `None` below two
/// batches, when the lists differ in length, and when the denominators add up to nothing.
pub fn ratio_of_batches(num: &[f64], den: &[f64]) -> Option<Batched> {
    if num.len() != den.len() {
        return None;
    }
    let (estimate, residuals) = ratio(num, den)?;
    Some(Spread::of(residuals, estimate)?.around(estimate))
}

/// The difference of two such ratios, a - b, from runs of the same workload that were cut into the
/// same batches; each is given as (numerators, denominators). Residuals are subtracted batch by
/// batch, so what both runs have in common does not widen the interval. `None` as in
/// [`ratio_of_batches`], for either.
pub fn paired_ratios_of_batches(a: (&[f64], &[f64]), b: (&[f64], &[f64])) -> Option<Batched> {
    if [a.1.len(), b.0.len(), b.1.len()] != [a.0.len(); 3] {
        return None;
    }
    let (of_a, residuals_a) = ratio(a.0, a.1)?;
    let (of_b, residuals_b) = ratio(b.0, b.1)?;
    let differences = residuals_a.iter().zip(&residuals_b).map(|(a, b)| a - b).collect();
    let size = of_a.abs().max(of_b.abs());
    Some(Spread::of(differences, size)?.around(of_a - of_b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn the_interval_of_a_ratio_by_hand() {
        // r = 12 / 6 = 2; residuals (4 - 2 * 1, 5 - 2 * 3, 3 - 2 * 2) / 6 = (2, -1, -1) / 6; the sum
        // of squares 6 / 36, times 3 / 2: an error of 1 / 2, with two degrees of freedom.
        let r = ratio_of_batches(&[4.0, 5.0, 3.0], &[1.0, 3.0, 2.0]).unwrap();
        assert!(near(r.interval.mean, 2.0), "{r:?}");
        assert!(
            near(r.interval.low, 2.0 - 4.303 / 2.0) && near(r.interval.high, 2.0 + 4.303 / 2.0)
        );
        // Lag 1: (2 * -1 + -1 * -1) / 6 is below zero.
        assert_eq!((r.batches, r.correlated), (3, false));
    }

    #[test]
    fn equal_denominators_give_the_interval_of_a_mean() {
        let values = [3.0, 1.0, 4.0, 1.0, 5.0];
        let r = ratio_of_batches(&values, &[1.0; 5]).unwrap();
        let m = crate::stats::replications(&values).unwrap();
        assert!(near(r.interval.low, m.low) && near(r.interval.high, m.high));
    }

    #[test]
    fn the_difference_of_two_ratios_by_hand() {
        let (num, den) = ([4.0, 5.0, 3.0], [1.0, 3.0, 2.0]);
        let worse = [3.0, 5.0, 1.0];
        // 2 and 9 / 6; residuals (4 - 3 - 0.5, 5 - 5 - 1.5, 3 - 1 - 1) / 6 = (0.5, -1.5, 1) / 6; the
        // sum of squares 3.5 / 36, times 3 / 2.
        let d = paired_ratios_of_batches((&num, &den), (&worse, &den)).unwrap();
        let half = 4.303 * (3.5f64 / 24.0).sqrt();
        assert!(near(d.interval.mean, 0.5) && near(d.interval.width(), 2.0 * half), "{d:?}");
        let none = paired_ratios_of_batches((&num, &den), (&num, &den)).unwrap();
        assert_eq!(none.interval, Interval::around(0.0, 0.0));
    }

    #[test]
    fn what_cannot_be_divided_has_no_interval() {
        assert_eq!(ratio_of_batches(&[], &[]), None);
        assert_eq!(ratio_of_batches(&[1.0], &[1.0]), None);
        assert_eq!(ratio_of_batches(&[0.0; 9], &[0.0; 9]), None);
        assert_eq!(ratio_of_batches(&[1.0; 9], &[1.0; 8]), None);
        assert_eq!(paired_ratios_of_batches((&[1.0; 2], &[1.0; 2]), (&[1.0; 3], &[1.0; 3])), None);
    }

    #[test]
    fn a_constant_ratio_is_not_called_correlated() {
        let den: Vec<f64> = (1..=64).map(f64::from).collect();
        let num: Vec<f64> = den.iter().map(|d| 0.1 * d).collect();
        let r = ratio_of_batches(&num, &den).unwrap();
        assert!(!r.correlated && r.batches == 64 && r.interval.width() < 1e-12, "{r:?}");
    }

    /// A random walk that forgets a share of where it was at each step.
    fn remembering(keeps: f64, seed: u64) -> Vec<f64> {
        let (mut stream, mut at) = (Stream::named(seed, "batches", 0), 0.0);
        let mut step = || {
            at = keeps * at + stream.uniform() - 0.5;
            at
        };
        (0..64).map(|_| step()).collect()
    }

    #[test]
    fn independent_batches_are_merged_seldom_and_alike_ones_until_they_are_not() {
        let verdicts = |keeps: f64| -> Vec<Batched> {
            let of = |seed| ratio_of_batches(&remembering(keeps, seed), &[1.0; 64]).unwrap();
            (0..400).map(of).collect()
        };
        let merged = |all: &[Batched]| all.iter().filter(|r| r.batches < 64).count();
        let correlated = |all: &[Batched]| all.iter().filter(|r| r.correlated).count();
        // One-sided at 5 %, a little less because the residuals' mean was taken out.
        let independent = verdicts(0.0);
        assert!((4..30).contains(&merged(&independent)), "{}", merged(&independent));
        assert!(correlated(&independent) <= 2);
        // Half is remembered: pairs of pairs remember little.
        let half = verdicts(0.5);
        assert!(merged(&half) > 360 && correlated(&half) < 60, "{}", correlated(&half));
        // A walk that forgets nothing cannot be helped.
        let all = verdicts(1.0);
        assert!(correlated(&all) > 380, "{}", correlated(&all));
        assert!(all.iter().all(|r| r.batches == LEAST_BATCHES));
    }

    #[test]
    fn merging_brings_the_coverage_back() {
        // The mean of the walk is zero.
        let covered = |of: fn(&[f64]) -> Interval| {
            (0..1000).filter(|seed| of(&remembering(0.5, *seed)).contains(0.0)).count()
        };
        let plain = covered(|walk| crate::stats::replications(walk).unwrap());
        let merged = covered(|walk| ratio_of_batches(walk, &[1.0; 64]).unwrap().interval);
        assert!((700..800).contains(&plain), "{plain} of 1000 as if independent");
        assert!((870..960).contains(&merged), "{merged} of 1000");
    }
}
