//! Measured samples, replayed: what a latency model is when the measurements are at hand.
//!
//! Which sample a batch meets depends on (seed, its first request) alone, never on the order of
//! execution, so every policy meets the same truth; on another kind of device the same request meets
//! the sample of the same number.

use crate::request::RequestId;
use crate::rng::{fnv1a, keyed_uniform};
use crate::time::Span;
use std::sync::Arc;

/// Samples by batch size. A size that was not measured is the next larger one's (a padded kernel);
/// beyond the last, samples grow in proportion, as [`super::Latency::Table`] does.
#[derive(Debug, PartialEq)]
pub struct SampleTable {
    sizes: Vec<u32>,
    /// The samples of size `i` are `samples[start[i]..start[i + 1]]`.
    start: Vec<u32>,
    samples: Vec<Span>,
    /// Their means, to the nearest nanosecond.
    means: Vec<Span>,
    /// By batch size up to the largest: which measured size stands for it.
    measured: Vec<u16>,
}

impl SampleTable {
    /// From the samples of each size. `None` when there is no size, a size has no sample, or the
    /// sizes do not grow from at least 1.
    pub fn new(rows: &[(u32, Vec<Span>)]) -> Option<SampleTable> {
        let last = rows.last()?.0;
        let grow = rows.windows(2).all(|r| r[0].0 < r[1].0) && rows[0].0 >= 1;
        if !grow || rows.len() > usize::from(u16::MAX) || rows.iter().any(|r| r.1.is_empty()) {
            return None;
        }
        let mean = |all: &Vec<Span>| {
            let sum: u128 = all.iter().map(|s| u128::from(s.ns())).sum();
            let n = all.len() as u128;
            Span::from_ns(((sum + n / 2) / n) as u64)
        };
        let mut start = vec![0];
        for (_, samples) in rows {
            start.push(start[start.len() - 1] + samples.len() as u32);
        }
        let of = |k: u32| rows.partition_point(|r| r.0 < k) as u16;
        Some(SampleTable {
            sizes: rows.iter().map(|r| r.0).collect(),
            start,
            samples: rows.iter().flat_map(|r| r.1.iter().copied()).collect(),
            means: rows.iter().map(|r| mean(&r.1)).collect(),
            measured: (0..=last).map(of).collect(),
        })
    }

    /// The measured sizes, growing.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// The largest measured size.
    pub fn largest(&self) -> u32 {
        self.sizes[self.sizes.len() - 1]
    }

    /// The samples that stand for a size, as measured.
    pub fn samples(&self, k: u32) -> &[Span] {
        let row = self.row(k);
        &self.samples[self.start[row] as usize..self.start[row + 1] as usize]
    }

    /// The mean latency of a size.
    pub fn mean(&self, k: u32) -> Span {
        self.beyond(k, self.means[self.row(k)])
    }

    #[inline]
    fn row(&self, k: u32) -> usize {
        let row = self.measured.get(k as usize).copied();
        row.map_or(self.sizes.len() - 1, usize::from)
    }

    #[inline]
    fn beyond(&self, k: u32, latency: Span) -> Span {
        let largest = self.largest();
        if k <= largest { latency } else { latency.scale(f64::from(k) / f64::from(largest)) }
    }
}

/// A table of samples and the seed that chooses among them.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// The samples.
    pub table: Arc<SampleTable>,
    /// The run's seed.
    pub seed: u64,
}

impl Replay {
    /// The mean of the samples of a size.
    #[inline]
    pub fn mean(&self, k: u32) -> Span {
        self.table.mean(k)
    }

    /// The sample that a batch of `k` meets whose first request is `first`.
    #[inline]
    pub fn sample(&self, k: u32, first: RequestId) -> Span {
        const PURPOSE: u64 = fnv1a("replayed sample");
        let samples = self.table.samples(k);
        let number = keyed_uniform(self.seed, PURPOSE, first.0) * samples.len() as f64;
        self.table.beyond(k, samples[(number as usize).min(samples.len() - 1)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Span {
        Span::from_ms(ms)
    }

    fn table() -> SampleTable {
        SampleTable::new(&[(10, vec![ms(1), ms(2)]), (20, vec![ms(4), ms(5), ms(9)])]).unwrap()
    }

    #[test]
    fn sizes_are_rounded_up_and_beyond_the_last_grow_in_proportion() {
        let table = table();
        assert_eq!((table.samples(1).len(), table.samples(10).len()), (2, 2));
        assert_eq!((table.samples(11).len(), table.samples(99).len()), (3, 3));
        assert_eq!(table.mean(7), Span::from_us(1_500));
        assert_eq!((table.mean(20), table.mean(40)), (ms(6), ms(12)));
        let replay = Replay { table: Arc::new(table), seed: 1 };
        assert!((0..50).all(|i| {
            [8, 10, 18].contains(&replay.sample(40, RequestId(i)).ns().div_euclid(1_000_000))
        }));
    }

    #[test]
    fn a_request_meets_one_sample_whoever_asks_and_all_samples_are_met_alike() {
        let replay = Replay { table: Arc::new(table()), seed: 3 };
        let mut counts = [0; 3];
        for id in 0..30_000 {
            let sample = replay.sample(15, RequestId(id));
            assert_eq!(sample, replay.sample(15, RequestId(id)));
            counts[[4, 5, 9].iter().position(|&m| ms(m) == sample).unwrap()] += 1;
        }
        // Binomial with n = 30,000 and p = 1/3: four deviations are 327.
        assert!(counts.iter().all(|c| i64::abs(c - 10_000) < 327), "{counts:?}");
        let other = Replay { seed: 4, ..replay.clone() };
        assert!((0..50).any(|i| other.sample(15, RequestId(i)) != replay.sample(15, RequestId(i))));
    }

    #[test]
    fn a_table_without_samples_or_order_is_none() {
        assert!(SampleTable::new(&[]).is_none());
        assert!(SampleTable::new(&[(1, vec![])]).is_none());
        assert!(SampleTable::new(&[(2, vec![ms(1)]), (2, vec![ms(1)])]).is_none());
        assert!(SampleTable::new(&[(0, vec![ms(1)])]).is_none());
    }
}
