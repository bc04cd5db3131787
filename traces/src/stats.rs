//! Statistics of arrivals, in one pass and constant memory: rates, burstiness in bins of 1 s and
//! 60 s, and the spread of the gaps.
//!
//! They describe a load, not a result: what became of requests is the simulator's to say. All sums
//! are of whole numbers, so the order of addition cannot change a digit.

use orrery_sim::time::{NS_PER_S, Span, Time};

/// How counts vary from bin to bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BinStats {
    /// How many whole bins there are.
    pub bins: u64,
    /// Mean count of a bin.
    pub mean: f64,
    /// The largest count.
    pub peak: u64,
    /// Standard deviation over mean of the counts (dividing by the number of bins).
    pub cov: f64,
}

impl BinStats {
    /// The largest count over the mean.
    pub fn peak_to_mean(&self) -> f64 {
        self.peak as f64 / self.mean
    }

    /// Of counts in memory; `None` when there are none or all are zero.
    pub fn of(counts: impl IntoIterator<Item = u64>) -> Option<BinStats> {
        let mut sums = Sums::default();
        counts.into_iter().for_each(|count| sums.add(count));
        sums.stats(sums.bins)
    }
}

/// Sums over bins.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    bins: u64,
    sum: u64,
    squares: u128,
    peak: u64,
}

impl Sums {
    fn add(&mut self, count: u64) {
        self.bins += 1;
        self.sum = self.sum.saturating_add(count);
        self.squares = self.squares.saturating_add(u128::from(count) * u128::from(count));
        self.peak = self.peak.max(count);
    }

    /// Over `bins` bins, those not added being empty.
    fn stats(&self, bins: u64) -> Option<BinStats> {
        if self.sum == 0 {
            return None;
        }
        let mean = self.sum as f64 / bins as f64;
        let variance = (self.squares as f64 / bins as f64 - mean * mean).max(0.0);
        Some(BinStats { bins, mean, peak: self.peak, cov: variance.sqrt() / mean })
    }
}

/// Counts arrivals in bins of one width.
#[derive(Clone, Copy, Debug)]
struct Binning {
    width_ns: u64,
    current: u64,
    in_current: u64,
    closed: Sums,
}

impl Binning {
    fn new(seconds: u64) -> Binning {
        let width_ns = seconds * NS_PER_S;
        Binning { width_ns, current: 0, in_current: 0, closed: Sums::default() }
    }

    fn push(&mut self, at: Time) {
        let bin = at.ns() / self.width_ns;
        if bin != self.current {
            if self.in_current > 0 {
                self.closed.add(self.in_current);
            }
            (self.current, self.in_current) = (bin, 0);
        }
        self.in_current += 1;
    }

    /// Over the whole bins before `end`, which is not before the last arrival.
    fn stats(&self, end: Time) -> Option<BinStats> {
        let bins = end.ns() / self.width_ns;
        let mut sums = self.closed;
        if self.current < bins && self.in_current > 0 {
            sums.add(self.in_current);
        }
        sums.stats(bins)
    }
}

/// Takes arrivals one at a time, in order.
#[derive(Clone, Copy, Debug)]
pub struct RateStats {
    count: u64,
    last: Time,
    gaps: u64,
    gap_sum_ns: u128,
    gap_squares: u128,
    second: Binning,
    minute: Binning,
}

/// What [`RateStats`] found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSummary {
    /// How many arrivals there were.
    pub count: u64,
    /// From time zero to the end.
    pub span: Span,
    /// Arrivals per second over the span; 0 when the span is zero.
    pub mean_per_s: f64,
    /// Counts per second; `None` without a whole second that has an arrival.
    pub second: Option<BinStats>,
    /// Counts per minute; `None` without a whole minute that has an arrival.
    pub minute: Option<BinStats>,
    /// Standard deviation over mean of the gaps between arrivals; `None` without a gap above zero.
    pub gap_cv: Option<f64>,
}

impl Default for RateStats {
    fn default() -> RateStats {
        RateStats::new()
    }
}

impl RateStats {
    /// Nothing seen yet.
    pub fn new() -> RateStats {
        RateStats {
            count: 0,
            last: Time::ZERO,
            gaps: 0,
            gap_sum_ns: 0,
            gap_squares: 0,
            second: Binning::new(1),
            minute: Binning::new(60),
        }
    }

    /// Takes the next arrival.
    ///
    /// # Panics
    /// When it comes before the last one.
    pub fn push(&mut self, at: Time) {
        assert!(at >= self.last, "arrivals must be in order of time");
        if self.count > 0 {
            let gap_ns = u128::from((at - self.last).ns());
            self.gaps += 1;
            self.gap_sum_ns += gap_ns;
            self.gap_squares = self.gap_squares.saturating_add(gap_ns * gap_ns);
        }
        self.count += 1;
        self.last = at;
        self.second.push(at);
        self.minute.push(at);
    }

    /// Statistics from time zero to `end`, or to the last arrival if that is later. Bins that `end`
    /// cuts are left out.
    pub fn summary(&self, end: Time) -> RateSummary {
        let end = end.max(self.last);
        let span = end - Time::ZERO;
        let seconds = span.as_secs_f64();
        RateSummary {
            count: self.count,
            span,
            mean_per_s: if seconds > 0.0 { self.count as f64 / seconds } else { 0.0 },
            second: self.second.stats(end),
            minute: self.minute.stats(end),
            gap_cv: self.gap_cv(),
        }
    }

    fn gap_cv(&self) -> Option<f64> {
        if self.gap_sum_ns == 0 {
            return None;
        }
        let n = self.gaps as f64;
        let mean = self.gap_sum_ns as f64 / n;
        Some((self.gap_squares as f64 / n - mean * mean).max(0.0).sqrt() / mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::ArrivalLaw;

    #[test]
    fn bins_count_empty_stretches_and_leave_out_a_cut_end() {
        let mut stats = RateStats::new();
        for ms in [100, 200, 300, 3100, 4500] {
            stats.push(Time::from_ns(ms * 1_000_000));
        }
        // Seconds 0 to 3 hold 3, 0, 0, 1; second 4 is cut.
        let s = stats.summary(Time::ZERO);
        let second = s.second.unwrap();
        assert_eq!((s.count, second.bins, second.peak, second.mean), (5, 4, 3, 1.0));
        assert!((second.cov - 1.5f64.sqrt()).abs() < 1e-12);
        assert_eq!((second.peak_to_mean(), s.minute), (3.0, None));
        let whole = stats.summary(Time::from_ns(5 * NS_PER_S)).second.unwrap();
        assert_eq!((whole.bins, whole.mean), (5, 1.0));
    }

    #[test]
    fn a_poisson_process_has_the_known_burstiness() {
        let mut process = ArrivalLaw::Poisson { rate_per_s: 25.0 }.start(1, 0).unwrap();
        let mut stats = RateStats::new();
        let end = Time::from_ns(20_000 * NS_PER_S);
        while let Some(at) = process.next().filter(|&at| at < end) {
            stats.push(at);
        }
        let s = stats.summary(end);
        assert!((s.mean_per_s / 25.0 - 1.0).abs() < 0.01);
        assert!((s.second.unwrap().cov / 0.2 - 1.0).abs() < 0.02); // 1 / sqrt(25)
        assert!((s.minute.unwrap().cov * 1500f64.sqrt() - 1.0).abs() < 0.15);
        assert!((s.gap_cv.unwrap() - 1.0).abs() < 0.01);
    }

    #[test]
    fn nothing_and_one_instant_have_no_ratios() {
        let mut stats = RateStats::new();
        assert_eq!(stats.summary(Time::ZERO).mean_per_s, 0.0);
        stats.push(Time::ZERO);
        stats.push(Time::ZERO);
        let s = stats.summary(Time::ZERO);
        assert_eq!((s.count, s.mean_per_s, s.second, s.gap_cv), (2, 0.0, None, None));
        assert_eq!(BinStats::of([0, 0]), None);
    }
}
