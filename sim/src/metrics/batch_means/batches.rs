//! What a run's batches say: the figures of `Metrics` with intervals.
//!
//! # Quantiles
//! The error of a quantile is that of the share of answers below it, turned into time. Each batch
//! keeps a coarse histogram of latencies (buckets of at most 1/32 of their value). The bucket in
//! which the run's rank `q n` falls is split at that rank, in the same proportion in every batch: so
//! the batches' counts add up to exactly `q n` and the bucket's width biases nothing. What the split
//! hides, which of a bucket's answers were below the quantile, is put back as if by chance:
//! c f (1 - f) for c answers split at the share f. With `h` the half width of the share's interval,
//! the quantile's goes from the quantile `q - h` to the quantile `q + h` of the fine sketch.

use super::super::Sketch;
use crate::penalty::MILLION;
use crate::stats::{Batched, Interval, Spread, ratio_of_batches};
use crate::time::NS_PER_MS;

/// Bits of a latency's leading digits that a batch keeps.
const BITS: u32 = 6;

/// What is known of the requests of one batch, of one model and application or of several.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Batch {
    pub(super) offered: u64,
    pub(super) in_time: u64,
    /// What they cost, millionths; those that have not ended cost all that they can.
    pub(super) cost: u128,
    answered: u64,
    latency_ns: u128,
    queueing_ns: u128,
    /// Answers by the leading bits of their latency; as long as the longest latency needs, and never
    /// longer than 59 powers of two times 32.
    latencies: Vec<u32>,
}

impl Batch {
    #[inline]
    fn bucket(ns: u64) -> usize {
        let shift = (64 - ns.leading_zeros()).saturating_sub(BITS);
        ((ns >> shift) + (u64::from(shift) << (BITS - 1))) as usize
    }

    #[inline]
    pub(super) fn answer(&mut self, latency_ns: u64, queueing_ns: u64) {
        self.answered += 1;
        self.latency_ns += u128::from(latency_ns);
        self.queueing_ns += u128::from(queueing_ns);
        let bucket = Batch::bucket(latency_ns);
        match self.latencies.get_mut(bucket) {
            Some(count) => *count = count.saturating_add(1),
            None => self.lengthen(bucket),
        }
    }

    #[cold]
    fn lengthen(&mut self, bucket: usize) {
        self.latencies.resize(bucket + 1, 0);
        self.latencies[bucket] = 1;
    }

    pub(super) fn add(&mut self, other: &Batch) {
        self.offered += other.offered;
        self.in_time += other.in_time;
        self.cost += other.cost;
        self.answered += other.answered;
        self.latency_ns += other.latency_ns;
        self.queueing_ns += other.queueing_ns;
        if self.latencies.len() < other.latencies.len() {
            self.latencies.resize(other.latencies.len(), 0);
        }
        for (a, b) in self.latencies.iter_mut().zip(&other.latencies) {
            *a = a.saturating_add(*b);
        }
    }
}

/// The batches of a model, of an application, or of everything: intervals for the figures of the
/// same name. `None` where fewer than two batches say something.
#[derive(Clone, Debug, PartialEq)]
pub struct Batches {
    pub(super) batches: Vec<Batch>,
    /// How long each batch took to arrive, seconds.
    pub(super) spans_s: Vec<f64>,
}

impl Batches {
    /// How many batches.
    pub fn len(&self) -> usize {
        self.batches.len()
    }

    /// Whether no request counted.
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// Finished in time over offered.
    pub fn finish_rate(&self) -> Option<Batched> {
        ratio_of_batches(&self.list(|b| b.in_time as f64), &self.list(|b| b.offered as f64))
            .map(share)
    }

    /// The mean cost of a request that arrived.
    pub fn mean_cost(&self) -> Option<Batched> {
        let costs = self.list(|b| b.cost as f64 / MILLION as f64);
        ratio_of_batches(&costs, &self.list(|b| b.offered as f64))
    }

    /// Requests finished in time a second of the measured part.
    pub fn goodput_per_s(&self) -> Option<Batched> {
        ratio_of_batches(&self.list(|b| b.in_time as f64), &self.spans_s)
    }

    /// Arrival to answer, mean over answered requests, milliseconds.
    pub fn mean_latency_ms(&self) -> Option<Batched> {
        let sums = self.list(|b| b.latency_ns as f64 / NS_PER_MS as f64);
        ratio_of_batches(&sums, &self.list(|b| b.answered as f64))
    }

    /// Arrival to the start of the batch, mean over answered requests, milliseconds.
    pub fn mean_queueing_ms(&self) -> Option<Batched> {
        let sums = self.list(|b| b.queueing_ns as f64 / NS_PER_MS as f64);
        ratio_of_batches(&sums, &self.list(|b| b.answered as f64))
    }

    /// The `q` quantile of latency with its interval, milliseconds; `sketch` is the `latency` of
    /// these requests in [`Metrics`](crate::metrics::Metrics). The interval is not symmetric.
    /// Whether there are samples enough is another question: see `stats::enough_for_quantile`.
    pub fn latency_quantile_ms(&self, q: f64, sketch: &Sketch) -> Option<Batched> {
        let spread = self.spread_of_share_below(q)?;
        let h = spread.half_width();
        let ms = |q: f64| sketch.quantile(q.clamp(0.0, 1.0)).as_ms_f64();
        let interval = Interval { mean: ms(q), low: ms(q - h), high: ms(q + h) };
        let Spread { batches, correlated, .. } = spread;
        Some(Batched { interval, batches, correlated })
    }

    /// Requests (offered, finished in time) by batch.
    pub fn offered_and_in_time(&self) -> (Vec<u64>, Vec<u64>) {
        self.batches.iter().map(|b| (b.offered, b.in_time)).unzip()
    }

    fn list(&self, value: impl Fn(&Batch) -> f64) -> Vec<f64> {
        self.batches.iter().map(value).collect()
    }

    /// The error of the share of answers that are at most the `q` quantile.
    fn spread_of_share_below(&self, q: f64) -> Option<Spread> {
        let mut counts: Vec<u64> = Vec::new();
        for batch in &self.batches {
            counts.resize(counts.len().max(batch.latencies.len()), 0);
            counts.iter_mut().zip(&batch.latencies).for_each(|(sum, c)| *sum += u64::from(*c));
        }
        let answered = self.batches.iter().map(|b| b.answered).sum::<u64>() as f64;
        let rank = q.clamp(0.0, 1.0) * answered;
        let mut below = 0.0;
        let holds_rank = |&(_, &count): &(usize, &u64)| {
            let found = count > 0 && below + count as f64 >= rank;
            below += if found { 0.0 } else { count as f64 };
            found
        };
        let (split, count) = counts.iter().enumerate().find(holds_rank)?;
        let in_bucket = *count as f64;
        let part = (rank - below) / in_bucket;
        let residual = |batch: &Batch| {
            let whole: u64 = batch.latencies.iter().take(split).map(|c| u64::from(*c)).sum();
            let parted = batch.latencies.get(split).map_or(0.0, |c| part * f64::from(*c));
            (whole as f64 + parted - q * batch.answered as f64) / answered
        };
        let mut spread = Spread::of(self.batches.iter().map(residual).collect(), q)?;
        let hidden = in_bucket * part * (1.0 - part) / (answered * answered);
        spread.error = (spread.error * spread.error + hidden).sqrt();
        Some(spread)
    }
}

fn share(of: Batched) -> Batched {
    Batched { interval: of.interval.within(0.0, 1.0), ..of }
}
