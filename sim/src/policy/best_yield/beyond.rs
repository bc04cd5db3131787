//! What batches take beyond their law.

use crate::time::Span;

/// What a model's batches take from their decision to their result beyond what its law says: messages, inputs, noise.
/// A mean and a mean deviation, kept as TCP keeps those of a round trip (RFC 6298), but that an outlier is learned as
/// one of [`Beyond::OUTLIER`] deviations at most.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Beyond {
    pub mean_ns: f64,
    deviation_ns: f64,
    has_one: bool,
}

impl Beyond {
    const OUTLIER: f64 = 4.0;
    /// No more is kept free before a deadline than this part of the SLO.
    const MOST: f64 = 0.25;

    pub fn learn(&mut self, ns: f64, own_ns: f64) {
        let most = Self::OUTLIER * self.deviation_ns.max(0.02 * own_ns);
        let ns = if self.has_one { ns.clamp(self.mean_ns - most, self.mean_ns + most) } else { ns };
        self.deviation_ns += 0.25 * ((ns - self.mean_ns).abs() - self.deviation_ns);
        self.mean_ns += 0.125 * (ns - self.mean_ns);
        self.has_one = true;
    }

    pub fn mean(self) -> Span {
        Span::from_ns_f64(self.mean_ns.max(0.0))
    }

    /// What is kept free before a deadline.
    pub fn reserve(self, slo: Span) -> Span {
        let ns = (self.mean_ns + 2.0 * self.deviation_ns).max(0.0);
        Span::from_ns_f64(ns.min(Self::MOST * slo.ns() as f64))
    }
}
