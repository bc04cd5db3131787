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

use super::counts::{Counts, Ratio};
use super::sketch::{Buckets, Sketch};
use crate::request::End;
use crate::stats::{Batched, Interval, Spread, ratio_of_batches};
use crate::time::Span;

/// Bits of a latency's leading digits that a batch keeps.
const BITS: u32 = 6;
const BLOCK: usize = 64;

/// What is known of the requests of one batch, of one model and application or of several.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Batch {
    pub(super) counts: Counts,
    /// Answers by the leading bits of their latency.
    latencies: Buckets<BITS, BLOCK>,
}

impl Batch {
    #[inline]
    pub(super) fn answer(&mut self, latency: Span) {
        self.latencies.record(latency.ns());
    }

    pub(super) fn add(&mut self, other: &Batch) {
        self.counts.add(&other.counts);
        self.latencies.add(&other.latencies);
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

    /// A ratio with its interval.
    pub fn ratio(&self, ratio: Ratio) -> Option<Batched> {
        let of = ratio_of_batches(&self.list(ratio.top), &self.list(ratio.bottom))?;
        let share = |i: Interval| if ratio.is_share { i.within(0.0, 1.0) } else { i };
        Some(Batched { interval: share(of.interval), ..of })
    }

    /// Requests finished in time a second of the measured part.
    pub fn goodput_per_s(&self) -> Option<Batched> {
        ratio_of_batches(&self.list(|c| c.ended(End::InTime) as f64), &self.spans_s)
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
        let counts = self.batches.iter().map(|b| &b.counts);
        counts.map(|c| (c.offered, c.ended(End::InTime))).unzip()
    }

    fn list(&self, value: impl Fn(&Counts) -> f64) -> Vec<f64> {
        self.batches.iter().map(|b| value(&b.counts)).collect()
    }

    /// The error of the share of answers that are at most the `q` quantile.
    fn spread_of_share_below(&self, q: f64) -> Option<Spread> {
        let mut all = Buckets::<BITS, BLOCK>::default();
        self.batches.iter().for_each(|batch| all.add(&batch.latencies));
        let answered = self.batches.iter().map(|b| b.counts.answered()).sum::<u64>() as f64;
        let rank = q.clamp(0.0, 1.0) * answered;
        let (split, below, count) = all.at_rank((rank.ceil() as u64).max(1))?;
        let in_bucket = count as f64;
        let part = (rank - below as f64) / in_bucket;
        let residual = |batch: &Batch| {
            let (whole, split) = batch.latencies.up_to(split);
            let below = whole as f64 + part * split as f64;
            (below - q * batch.counts.answered() as f64) / answered
        };
        let mut spread = Spread::of(self.batches.iter().map(residual).collect(), q)?;
        let hidden = in_bucket * part * (1.0 - part) / (answered * answered);
        spread.error = (spread.error * spread.error + hidden).sqrt();
        Some(spread)
    }
}

#[cfg(test)]
mod tests;
