//! Whether a run's backlog was still growing when its arrivals ended.
//!
//! Looked at in arrivals, not in time: each arrival notes how many requests it finds in the system.
//! So what happens after the last arrival, when even an overloaded system drains, plays no part.

/// Blocks of arrivals that are kept: 32 to 64 in a long run.
const MOST: usize = 64;

/// Blocks of arrivals that are compared.
const BLOCKS: usize = 12;

/// Below so many arrivals nothing is said: at load 0.8 a queue remembers the last hundred, and of
/// 200 runs of M/M/1 with a thousand arrivals 5 looked as if they diverged, with two thousand none.
pub const LEAST_ARRIVALS: u64 = 2_000;

/// Of the arrivals, the share that stayed: a backlog that grows by less could be a busy system's.
const STAYED: f64 = 0.005;

/// How much larger the backlog of the last third is than that of the first.
const GROWN: f64 = 1.5;

/// How much larger the backlog of the last third is than that of the middle one: a system that has
/// filled up and is full does not grow.
const STILL: f64 = 1.05;

/// Kendall's S of twelve values in random order is at least this in less than one case in a hundred.
const RISING: i32 = 34;

/// The numbers in the system that arrivals found, in order, summed over blocks of equal size.
#[derive(Clone, Debug)]
pub(super) struct Backlog {
    found: [u64; MOST],
    arrivals: u64,
    /// A block has `1 << shift` arrivals.
    shift: u32,
}

impl Default for Backlog {
    fn default() -> Self {
        Backlog { found: [0; MOST], arrivals: 0, shift: 0 }
    }
}

impl Backlog {
    /// An arrival found so many requests in the system.
    #[inline]
    pub(super) fn arrived(&mut self, found: u64) {
        if self.arrivals >> self.shift == MOST as u64 {
            self.merge();
        }
        self.found[(self.arrivals >> self.shift) as usize % MOST] += found;
        self.arrivals += 1;
    }

    #[cold]
    fn merge(&mut self) {
        self.shift += 1;
        for i in 0..MOST {
            self.found[i] = self.found.get(2 * i..2 * i + 2).unwrap_or(&[]).iter().sum();
        }
    }

    /// The rule is stated at `TimeSeries::diverging`.
    pub(super) fn grows(&self) -> bool {
        let full = (self.arrivals >> self.shift) as usize;
        let size = full / BLOCKS;
        if self.arrivals < LEAST_ARRIVALS || size == 0 {
            return false;
        }
        let of_block = (size << self.shift) as f64;
        // The first blocks that do not fill a twelfth are left out.
        let used = &self.found[full - size * BLOCKS..full];
        let means = used.chunks(size).map(|block| block.iter().sum::<u64>() as f64 / of_block);
        let means: Vec<f64> = means.collect();
        let third =
            |k: usize| means[k * BLOCKS / 3..(k + 1) * BLOCKS / 3].iter().sum::<f64>() / 4.0;
        let (first, middle, last) = (third(0), third(1), third(2));
        let between = of_block * (BLOCKS * 2 / 3) as f64;
        let grown = last > GROWN * first && last > STILL * middle;
        grown && last - first > STAYED * between && kendall(&means) >= RISING
    }
}

/// Kendall's S: pairs that rise less pairs that fall.
fn kendall(values: &[f64]) -> i32 {
    let sign = |a: f64, b: f64| i32::from(b > a) - i32::from(b < a);
    let after = |i: usize| values[i + 1..].iter().map(move |b| sign(values[i], *b)).sum::<i32>();
    (0..values.len()).map(after).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grows(found: impl IntoIterator<Item = u64>) -> bool {
        let mut backlog = Backlog::default();
        found.into_iter().for_each(|n| backlog.arrived(n));
        backlog.grows()
    }

    #[test]
    fn kendall_s_s_by_hand() {
        assert_eq!(kendall(&[1.0, 2.0, 3.0]), 3);
        assert_eq!(kendall(&[3.0, 1.0, 1.0]), -2, "equal ones count for neither");
        assert_eq!(kendall(&[1.0, 3.0, 2.0, 4.0]), 4);
        assert_eq!(kendall(&[]), 0);
    }

    #[test]
    fn a_backlog_that_keeps_a_share_of_the_arrivals_grows() {
        for n in [2_000, 4_095, 4_096, 4_097, 1_000_000] {
            // One in a hundred stays, one in a thousand does.
            assert!(grows((0..n).map(|i| i / 100)), "{n}");
            assert!(!grows((0..n).map(|i| i / 1000)), "{n}");
            assert!(!grows((0..n).map(|_| 500)), "{n}: a level one, however high");
            assert!(!grows((0..n).map(|i| (n - i) / 100)), "{n}: a falling one");
        }
        assert!(!grows((0..1_999).map(|i| i / 2)), "too few to say");
        assert!(!grows([]));
    }

    #[test]
    fn a_backlog_that_has_come_down_again_does_not_grow() {
        let n = 100_000u64;
        assert!(!grows((0..n).map(|i| i.min(n - i) / 10)), "as high at the end as at the start");
        // Nothing, then a jump to a level that holds: it grew, and grows no more.
        assert!(!grows((0..n).map(|i| if i < n / 2 { 0 } else { 10_000 - i / 50 })));
    }

    #[test]
    fn a_warm_up_that_ends_in_the_first_half_does_not_grow() {
        // A system of many servers fills, then is full.
        let n = 100_000u64;
        assert!(!grows((0..n).map(|i| i.min(n / 4) / 10)));
    }
}
