//! Interval mathematics: how sure a figure is, from replications or from batches of one run, and how
//! many samples a quantile needs. Pure functions of numbers; nothing here watches a run.
//!
//! Two methods, by what is independent of what:
//!
//! - *Replications*: one value for each seed. Runs with different seeds are independent, so the mean
//!   has a Student interval. Two policies under common random numbers are compared seed by seed
//!   ([`paired`]), which takes the luck of the seed out of the difference.
//! - *Batch means*: one run, cut into batches of consecutive requests. Requests that follow each
//!   other are alike; the sums of long batches are nearly independent. See [`ratio_of_batches`].
//!
//! Every interval is a two-sided one of 95 %.

mod batched;

pub(crate) use batched::Spread;
pub use batched::{Batched, LEAST_BATCHES, paired_ratios_of_batches, ratio_of_batches};

/// An estimate and its 95 % confidence interval, in the unit of the values that it came from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The estimate. Between the two ends, and in their middle unless it is a quantile's.
    pub mean: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// The ends at the same distance from the estimate.
    pub fn around(mean: f64, half_width: f64) -> Interval {
        Interval { mean, low: mean - half_width, high: mean + half_width }
    }

    /// From end to end.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// Whether `value` is in it, the ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The same, with both ends (and the estimate) moved into `[least, most]`: a share is never
    /// above 1.
    pub fn within(&self, least: f64, most: f64) -> Interval {
        let into = |x: f64| x.max(least).min(most);
        Interval { mean: into(self.mean), low: into(self.low), high: into(self.high) }
    }
}

/// The 0.975 quantile of Student's t with `df` degrees of freedom; infinite with none.
pub fn student_t_975(df: u64) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
        2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
        2.052, 2.048, 2.045, 2.042,
    ];
    // Beyond the table, the first two terms of the expansion in 1 / df.
    const Z: f64 = 1.959_964;
    const Z3: f64 = Z * Z * Z;
    let n = df as f64;
    let second = (5.0 * Z3 * Z * Z + 16.0 * Z3 + 3.0 * Z) / (96.0 * n * n);
    let tail = || Z + (Z3 + Z) / (4.0 * n) + second;
    match df.checked_sub(1) {
        None => f64::INFINITY,
        Some(row) => TABLE.get(row as usize).copied().unwrap_or_else(tail),
    }
}

/// What a standard normal value exceeds with probability `q`, from 0 to 1.
pub fn normal_upper(q: f64) -> f64 {
    let beyond = |z: f64| libm::erfc(z / std::f64::consts::SQRT_2) / 2.0;
    let (mut low, mut high) = (-40.0, 40.0);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if beyond(middle) > q { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// The mean of independent replications; `None` below two of them.
///
/// ```
/// // The finish rates of three seeds: mean 0.92, standard error 0.01, Student's t 4.303.
/// let rates = [0.92, 0.92 - 0.01 * 3_f64.sqrt(), 0.92 + 0.01 * 3_f64.sqrt()];
/// let interval = orrery_sim::stats::replications(&rates).unwrap();
/// assert!((interval.high - (0.92 + 0.04303)).abs() < 1e-9);
/// ```
pub fn replications(values: &[f64]) -> Option<Interval> {
    if values.len() < 2 {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>();
    let error = (squares / (n - 1.0) / n).sqrt();
    Some(Interval::around(mean, student_t_975(values.len() as u64 - 1) * error))
}

/// The mean of `a - b` over replications with common random numbers: the k-th of both had the same
/// seed. Values beyond the shorter list are left out; `None` below two pairs.
pub fn paired(a: &[f64], b: &[f64]) -> Option<Interval> {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    replications(&differences)
}

/// The fewest samples with which the `q` quantile may be printed as sound: MLPerf's early-stopping
/// bound. It is the smallest n with P(Binomial(n, 1 - q) <= 1) <= 0.01: so many samples that, but for
/// one chance in a hundred, at least two of them lie beyond the true quantile. 64 for p90, 662 for
/// p99. A quantile below the median is as hard as its mirror image; the extremes, 0 and 1, never have
/// enough (`u64::MAX`).
pub fn quantile_needs(q: f64) -> u64 {
    let beyond = q.min(1.0 - q);
    if beyond.is_nan() || beyond <= 0.0 {
        return u64::MAX;
    }
    let at_most_one = |n: u64| {
        let n = n as f64;
        let none_after_the_first = libm::exp((n - 1.0) * libm::log1p(-beyond));
        none_after_the_first * (1.0 - beyond + n * beyond)
    };
    // The probability falls with n; 2^62 is where counts of requests end anyway.
    let (mut too_few, mut enough) = (1, 2);
    while at_most_one(enough) > 0.01 {
        if enough >= 1 << 62 {
            return u64::MAX;
        }
        (too_few, enough) = (enough, 2 * enough);
    }
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        if at_most_one(middle) > 0.01 { too_few = middle } else { enough = middle }
    }
    enough
}

/// Whether `n` samples are enough for the `q` quantile: see [`quantile_needs`].
pub fn enough_for_quantile(q: f64, n: u64) -> bool {
    n >= quantile_needs(q)
}

/// The mean, summed in the order given; `None` of none: what was not measured is not 0.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The median of sorted values: of an even number of them the middle of the two in the middle; `None` of none.
pub fn median(sorted: &[f64]) -> Option<f64> {
    let (low, high) =
        (sorted.get(sorted.len().saturating_sub(1) / 2)?, sorted.get(sorted.len() / 2)?);
    Some(f64::midpoint(*low, *high))
}

/// The least of sorted values that at least a share `q` of them does not exceed (the nearest rank); `None` of none.
pub fn nearest_rank(sorted: &[f64], q: f64) -> Option<f64> {
    let rank = (q * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

/// The value at or below which `of_100` of 100 sorted values are, as most tables have it: between two
/// neighbours in proportion, rounded down; zero of none.
pub(crate) fn between_neighbours(sorted: &[u64], of_100: u64) -> u64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0 };
    let place = of_100.min(100) * last as u64;
    let (below, part) = ((place / 100) as usize, place % 100);
    let above = sorted[(below + 1).min(last)];
    let step = u128::from(above - sorted[below]) * u128::from(part) / 100;
    sorted[below] + step as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn student_s_t_is_the_table_s_and_then_the_expansion_s() {
        assert_eq!((student_t_975(1), student_t_975(30)), (12.706, 2.042));
        // From tables of four decimals.
        for (df, t) in [(31, 2.0395), (60, 2.0003), (63, 1.9983), (120, 1.9799), (1_000_000, 1.96)]
        {
            assert!((student_t_975(df) - t).abs() < 2e-4, "{df}: {}", student_t_975(df));
        }
        assert_eq!(student_t_975(0), f64::INFINITY, "one value says nothing about its error");
    }

    #[test]
    fn medians_lie_between_two_values_and_ranks_on_one() {
        assert_eq!(
            (median(&[]), median(&[3.0]), median(&[1.0, 2.0])),
            (None, Some(3.0), Some(1.5))
        );
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        let at = |share| nearest_rank(&values, share);
        assert_eq!(
            (at(0.1), at(0.5), at(0.9), at(1.0)),
            (Some(1.0), Some(5.0), Some(9.0), Some(10.0))
        );
        assert_eq!((nearest_rank(&[3.0], 0.1), nearest_rank(&[], 0.5)), (Some(3.0), None));
    }

    #[test]
    fn the_normal_law_is_the_table_s() {
        for (q, z) in [(0.5, 0.0), (0.025, 1.959_964), (0.000_5, 3.290_527), (0.9, -1.281_552)] {
            assert!((normal_upper(q) - z).abs() < 1e-6, "{q}: {}", normal_upper(q));
        }
    }

    #[test]
    fn the_interval_of_replications_by_hand() {
        // Mean 2, deviation 1, error 1/sqrt(3), two degrees of freedom.
        let i = replications(&[1.0, 2.0, 3.0]).unwrap();
        let half = 4.303 / 3f64.sqrt();
        assert!(near(i.mean, 2.0) && near(i.low, 2.0 - half) && near(i.high, 2.0 + half));
        assert!(near(i.width(), 2.0 * half));
        assert!(i.contains(i.low) && i.contains(4.0) && !i.contains(4.5));
        assert_eq!(replications(&[1.0]), None);
        assert_eq!(replications(&[]), None);
        assert_eq!(replications(&[0.5, 0.5]), Some(Interval::around(0.5, 0.0)));
    }

    #[test]
    fn pairs_take_the_luck_of_the_seed_out() {
        // The seeds differ by whole units, the policies by 0.1, 0.2 and 0.3.
        let (a, b) = ([1.1, 5.2, 9.3, 7.0], [1.0, 5.0, 9.0]);
        let i = paired(&a, &b).unwrap();
        let half = 4.303 * 0.1 / 3f64.sqrt();
        assert!(near(i.mean, 0.2) && near(i.low, 0.2 - half) && near(i.high, 0.2 + half), "{i:?}");
        assert!(replications(&a[..3]).unwrap().width() > 20.0 * i.width());
        assert_eq!(paired(&a, &b[..1]), None);
    }

    #[test]
    fn a_share_stays_within_its_bounds() {
        let i = Interval::around(0.9, 0.25).within(0.0, 1.0);
        assert!(near(i.low, 0.65) && i.high == 1.0 && i.mean == 0.9);
    }

    #[test]
    fn quantiles_need_what_mlperf_says() {
        // P(at most one of n beyond): (1 + n) / 2^n is 0.0107 for 10 and 0.0059 for 11.
        assert_eq!(quantile_needs(0.5), 11);
        assert_eq!(quantile_needs(0.9), 64);
        assert_eq!(quantile_needs(0.99), 662);
        // Nearly Poisson: the mean m with (1 + m) exp(-m) = 0.01 is 6.6384.
        assert_eq!(quantile_needs(0.999), 6636);
        assert_eq!(quantile_needs(0.25), quantile_needs(0.75));
        for q in [0.0, 1.0, -1.0, 2.0, f64::NAN] {
            assert_eq!(quantile_needs(q), u64::MAX, "{q}");
        }
        assert!(enough_for_quantile(0.99, 662) && !enough_for_quantile(0.99, 661));
        assert!(!enough_for_quantile(1.0, 1 << 60));
    }
}
