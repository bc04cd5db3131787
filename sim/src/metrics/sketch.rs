//! A set of spans, summarised in bounded memory.
//!
//! It is not a distribution to compute with: see `distribution` for that.

use crate::time::Span;

/// Bits of a span's leading digits that a sketch keeps: the error is at most 2^-10 of the value.
const BITS: u32 = 11;
const BLOCK: usize = 256;

/// Counts of spans by so many leading bits, kept in blocks of so many buckets.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Buckets<const BITS: u32, const BLOCK: usize> {
    /// The first bucket that is kept; those before it are empty.
    first: usize,
    counts: Vec<u64>,
}

impl<const BITS: u32, const BLOCK: usize> Buckets<BITS, BLOCK> {
    /// Values below 2^BITS have a bucket each; above, each power of two has 2^(BITS - 1).
    #[inline]
    fn bucket(ns: u64) -> usize {
        let shift = (64 - ns.leading_zeros()).saturating_sub(BITS);
        ((ns >> shift) + (u64::from(shift) << (BITS - 1))) as usize
    }

    /// The largest value of a bucket.
    fn top_ns(bucket: usize) -> u64 {
        let half = 1usize << (BITS - 1);
        let shift = (bucket / half).saturating_sub(1);
        let leading = (bucket - shift * half) as u128;
        (((leading + 1) << shift) - 1) as u64
    }

    /// One more span.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        let bucket = Self::bucket(ns);
        match self.counts.get_mut(bucket.wrapping_sub(self.first)) {
            Some(count) => *count += 1,
            None => {
                self.cover(bucket, bucket);
                self.counts[bucket - self.first] += 1;
            }
        }
    }

    /// Makes room for the buckets from `low` to `high`, whole blocks of them: so those of the same spans are
    /// the same.
    #[cold]
    fn cover(&mut self, low: usize, high: usize) {
        let (low, end) = (low / BLOCK * BLOCK, (high / BLOCK + 1) * BLOCK);
        if self.counts.is_empty() {
            self.first = low;
        }
        if low < self.first {
            self.counts.splice(0..0, std::iter::repeat_n(0, self.first - low));
            self.first = low;
        }
        let len = self.counts.len().max(end - self.first);
        self.counts.resize(len, 0);
    }

    pub fn add(&mut self, other: &Self) {
        if !other.counts.is_empty() {
            self.cover(other.first, other.first + other.counts.len() - 1);
            let at = other.first - self.first;
            for (a, b) in self.counts[at..].iter_mut().zip(&other.counts) {
                *a += b;
            }
        }
    }

    /// The bucket of the `rank`th span (from 1), with how many are before it and in it. Blocks before it are only summed.
    pub fn at_rank(&self, rank: u64) -> Option<(usize, u64, u64)> {
        let (mut below, mut at) = (0, 0);
        for block in self.counts.chunks(BLOCK) {
            let sum = block.iter().sum::<u64>();
            if below + sum >= rank {
                break;
            }
            (below, at) = (below + sum, at + block.len());
        }
        for (i, &count) in self.counts.iter().enumerate().skip(at) {
            if below + count >= rank {
                return Some((self.first + i, below, count));
            }
            below += count;
        }
        None
    }

    /// How many spans are in the buckets before one, and in it.
    pub fn up_to(&self, bucket: usize) -> (u64, u64) {
        let Some(at) = bucket.checked_sub(self.first) else { return (0, 0) };
        let before = &self.counts[..at.min(self.counts.len())];
        (before.iter().sum(), self.counts.get(at).copied().unwrap_or(0))
    }
}

/// A set of spans, summarised: counts by the leading bits of the value. A quantile is the largest
/// value of its bucket, at most 0.1 % too large; exact if that was asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sketch {
    buckets: Buckets<BITS, BLOCK>,
    count: u64,
    sum_ns: u128,
    max_ns: u64,
    exact: Option<Vec<u64>>,
}

impl Sketch {
    pub(super) fn new(exact: bool) -> Sketch {
        Sketch { exact: exact.then(Vec::new), ..Sketch::default() }
    }

    /// One more span.
    #[inline]
    pub fn record(&mut self, span: Span) {
        let ns = span.ns();
        self.count += 1;
        self.sum_ns += u128::from(ns);
        self.max_ns = self.max_ns.max(ns);
        self.buckets.record(ns);
        if let Some(all) = &mut self.exact {
            all.push(ns);
        }
    }

    pub(super) fn add(&mut self, other: &Sketch) {
        self.buckets.add(&other.buckets);
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
        if let (Some(a), Some(b)) = (&mut self.exact, &other.exact) {
            a.extend_from_slice(b);
        }
    }

    /// How many spans.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The exact sum, nanoseconds.
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// The exact mean; zero of nothing.
    pub fn mean(&self) -> Span {
        let n = u128::from(self.count.max(1));
        Span::from_ns(((self.sum_ns + n / 2) / n) as u64)
    }

    /// The least span such that a share `q` of all are at most it; zero of nothing.
    pub fn quantile(&self, q: f64) -> Span {
        if self.count == 0 {
            return Span::ZERO;
        }
        let rank = ((q * self.count as f64).ceil() as u64).clamp(1, self.count);
        if let Some(all) = &self.exact {
            let mut sorted = all.clone();
            sorted.sort_unstable();
            return Span::from_ns(sorted[rank as usize - 1]);
        }
        let top = |(bucket, ..): (usize, u64, u64)| {
            Buckets::<BITS, BLOCK>::top_ns(bucket).min(self.max_ns)
        };
        Span::from_ns(self.buckets.at_rank(rank).map_or(self.max_ns, top))
    }

    /// The exact largest span; zero of nothing.
    pub fn max(&self) -> Span {
        Span::from_ns(self.max_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_s_top_is_at_most_a_thousandth_above_its_values() {
        let values = (0..5_000u64).chain((10..64).flat_map(|e| {
            let p = 1u64 << e;
            [p - 1, p, p + 1, p + p / 3, p.saturating_mul(2) - 1]
        }));
        for ns in values {
            let top = Buckets::<BITS, BLOCK>::top_ns(Buckets::<BITS, BLOCK>::bucket(ns));
            assert!(top >= ns && (top - ns) as f64 <= ns as f64 / 1024.0, "{ns}: {top}");
            assert_eq!(Buckets::<BITS, BLOCK>::bucket(top), Buckets::<BITS, BLOCK>::bucket(ns));
            assert!(
                Buckets::<BITS, BLOCK>::bucket(top)
                    < Buckets::<BITS, BLOCK>::bucket(top.saturating_add(1))
                    || top == u64::MAX
            );
        }
    }

    #[test]
    fn quantiles_of_the_sketch_bound_the_exact_ones() {
        let (mut sketch, mut exact) = (Sketch::new(false), Sketch::new(true));
        let mut rng = crate::rng::Stream::named(1, "sketch", 0);
        for _ in 0..10_000 {
            let span = Span::from_ns(1 << rng.below(40) | rng.below(1 << 20));
            sketch.record(span);
            exact.record(span);
        }
        for q in [0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0] {
            let (s, e) = (sketch.quantile(q).ns(), exact.quantile(q).ns());
            assert!(s >= e && (s - e) as f64 <= e as f64 / 1024.0, "{q}: {s}, exact {e}");
        }
        assert_eq!((sketch.mean(), sketch.max()), (exact.mean(), exact.max()));
        let mut both = sketch.clone();
        both.add(&sketch);
        assert_eq!(both.quantile(0.9), sketch.quantile(0.9));
        assert_eq!(both.count(), 20_000);
    }
}
