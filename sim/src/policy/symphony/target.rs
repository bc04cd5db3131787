//! The batch size that a model should run at, from the rate at which its requests come.
//!
//! It counts and computes; it drops nothing.

use super::costs::Costs;
use crate::time::{Span, Time};
use std::collections::VecDeque;

/// A model's rate: requests in whole samples of time, over the last `window` of them.
///
/// Samples end at multiples of their length on the clock of the run. None is kept before the one
/// with the first request (rps_meter.cpp). A request at the very end of a sample counts in the next.
#[derive(Debug)]
pub(super) struct RateMeter {
    sample: Span,
    window: usize,
    counts: VecDeque<u32>,
    sum: u64,
    /// Requests of the sample that has not ended.
    hits: u32,
    ends: Time,
}

impl RateMeter {
    pub fn new(sample: Span, window: usize) -> RateMeter {
        assert!(sample > Span::ZERO && window > 0, "a rate is measured over some time");
        let ends = Time::ZERO + sample;
        RateMeter { sample, window, counts: VecDeque::new(), sum: 0, hits: 0, ends }
    }

    /// A request came.
    pub fn hit(&mut self) {
        self.hits += 1;
    }

    /// Ends the samples that are over at `now`. True when the rate may have changed.
    #[inline]
    pub fn advance(&mut self, now: Time) -> bool {
        now >= self.ends && self.end_samples(now)
    }

    fn end_samples(&mut self, now: Time) -> bool {
        let (before, kept) = (self.sum, self.counts.len());
        let over = (now - self.ends).ns() / self.sample.ns() + 1;
        self.ends += self.sample * over;
        let first = std::mem::take(&mut self.hits);
        if first > 0 || kept > 0 {
            self.push(first);
            // After a whole window of silence nothing changes any more.
            (1..over.min(self.window as u64 + 1)).for_each(|_| self.push(0));
        }
        (before, kept) != (self.sum, self.counts.len())
    }

    fn push(&mut self, count: u32) {
        if self.counts.len() == self.window {
            self.sum -= u64::from(self.counts.pop_front().expect("a full window"));
        }
        self.counts.push_back(count);
        self.sum += u64::from(count);
    }

    /// Requests per second; `None` before the first sample.
    pub fn rate_per_s(&self) -> Option<f64> {
        let time = self.sample * self.counts.len() as u64;
        (!self.counts.is_empty()).then(|| self.sum as f64 / time.as_secs_f64())
    }
}

/// The target before a rate is known: the largest batch within half the SLO, less a margin.
pub(super) fn first_target(costs: &Costs, slo: Span, margin: Span) -> usize {
    let budget = Span::from_ns(slo.ns() / 2).minus(margin);
    (1..=costs.max_batch()).take_while(|&b| costs.latency(b) <= budget).last().unwrap_or(1)
}

/// The target at a rate (batch_size_estimator.cpp; §3.3, Eqs. 1 and 2).
///
/// As many GPUs as the rate needs at a batch of b, and never less than one, run in a staggered
/// pattern, in which a request waits for l(b)/n and then for its batch. Where less than one GPU is
/// needed, a request waits for its batch to fill instead.
pub(super) fn target(costs: &Costs, budget: Span, rate_per_s: f64) -> usize {
    let budget = budget.as_secs_f64();
    let data = costs.data().as_secs_f64();
    let latency = |b: usize| costs.latency(b).as_secs_f64();
    let mut b = 1;
    // Most models of a large zoo never need a GPU, whatever the batch: nothing to look for. But when
    // even the largest batch is short enough, it is the target (as released).
    let most = costs.max_batch();
    let all_fit = latency(most) * 2.0 <= budget - data * most as f64;
    if all_fit || rate_per_s * costs.dearest_s() > 1.0 {
        let gpus = loop {
            let l = latency(b);
            let gpus = rate_per_s * l / b as f64;
            if b > most || l * (1.0 + 1.0 / gpus.max(1.0)) > budget - data * b as f64 {
                break gpus;
            }
            b += 1;
        };
        if gpus > 1.0 {
            return (b - 1).max(1);
        }
    }
    let fills = |b: usize| latency(b) + b as f64 / rate_per_s + data * b as f64 <= budget;
    let (mut low, mut high) = (1, most + 1);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if fills(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latency::Latency;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn samples_begin_with_the_first_request_and_leave_the_window() {
        let mut meter = RateMeter::new(Span::from_ms(50), 4);
        assert!(!meter.advance(at(120)), "silence before the first request");
        assert_eq!(meter.rate_per_s(), None);
        meter.hit();
        meter.hit();
        assert!(!meter.advance(at(149)));
        assert!(meter.advance(at(150)));
        assert_eq!(meter.rate_per_s(), Some(40.0));
        meter.hit();
        assert!(meter.advance(at(210)));
        assert_eq!(meter.rate_per_s(), Some(30.0));
        assert!(meter.advance(at(300)), "two empty samples");
        assert_eq!(meter.rate_per_s(), Some(15.0));
        assert!(meter.advance(at(350)), "the first has left");
        assert_eq!(meter.rate_per_s(), Some(5.0));
        assert!(meter.advance(at(9_999)));
        assert_eq!(meter.rate_per_s(), Some(0.0));
        assert!(!meter.advance(at(99_999)));
    }

    #[test]
    fn targets_by_hand() {
        let ms = Span::from_ms;
        let law = Latency::Affine { alpha: ms(1), beta: ms(5) };
        let costs = Costs::new(&law, Span::ZERO, 499, Span::ZERO, Span::ZERO);
        // 24 / 2 - 2 = 10 ms hold a batch of 5.
        assert_eq!(first_target(&costs, ms(24), ms(2)), 5);
        assert_eq!(first_target(&costs, ms(4), ms(2)), 1, "at least one");
        // 4/3 requests a ms: a batch of 4 needs 3 GPUs, and 9 ms (1 + 1/3) = 12 ms.
        assert_eq!(target(&costs, ms(13), 4e3 / 3.0), 4);
        assert_eq!(target(&costs, ms(11), 4e3 / 3.0), 3);
        // 0.1 requests a ms: less than one GPU; 7 + 20 = 27 ms for two, 8 + 30 = 38 ms for three.
        assert_eq!(target(&costs, ms(37), 100.0), 2);
        assert_eq!(target(&costs, ms(38), 100.0), 3);
        assert_eq!(target(&costs, ms(37), 0.0), 1);
        assert_eq!(target(&costs, Span::from_secs(9_999), 1e4), 499, "the largest batch");
    }
}
