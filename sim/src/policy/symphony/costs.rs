//! What a batch of each size costs in time, as the scheduler believes.
//!
//! A table for each model, so that no law is evaluated while requests pass.

use crate::latency::Latency;
use crate::time::{Span, Time};

/// A model's latency by batch size, and the time that messages take.
#[derive(Debug)]
pub(super) struct Costs {
    /// By size, from 0; the last one, which is beyond the largest batch, is endless.
    latency: Vec<Span>,
    /// The most that a request can cost: the largest l(b)/b, in seconds.
    dearest_s: f64,
    ctrl: Span,
    data: Span,
}

impl Costs {
    /// The costs of a law for requests that take `alone` by themselves.
    pub fn new(law: &Latency, alone: Span, max_batch: u32, ctrl: Span, data: Span) -> Costs {
        // Never shorter than a smaller batch, as released (ForceMonotonicity): searches rely on it.
        let mut longest = Span::ZERO;
        let mut latency = vec![Span::ZERO];
        for size in 1..=max_batch {
            longest = longest.max(law.batch(size, alone));
            latency.push(longest);
        }
        let each = |(b, l): (usize, &Span)| l.as_secs_f64() / b as f64;
        let dearest_s = latency.iter().enumerate().skip(1).map(each).fold(0.0, f64::max);
        latency.push(Span::MAX);
        Costs { latency, dearest_s, ctrl, data }
    }

    pub fn max_batch(&self) -> usize {
        self.latency.len() - 2
    }

    /// The paper's l(b).
    #[inline]
    pub fn latency(&self, size: usize) -> Span {
        self.latency[size.min(self.latency.len() - 1)]
    }

    pub fn dearest_s(&self) -> f64 {
        self.dearest_s
    }

    /// The network's time for one request's data.
    pub fn data(&self) -> Span {
        self.data
    }

    /// How long before its start a batch must be sent.
    #[inline]
    pub fn lead(&self, size: usize) -> Span {
        self.ctrl + self.data * size as u64
    }

    /// When a batch that is sent at `now` to a GPU that is free at `free` ends, at the earliest.
    #[inline]
    pub fn finish(&self, now: Time, free: Time, size: usize) -> Time {
        (now + self.lead(size)).max(free) + self.latency(size)
    }
}
