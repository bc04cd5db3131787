//! What Clockwork believes of a duration: of batches of one size, or of the loads of a model.
//!
//! It knows nothing of what is measured.

use super::config::Estimator;
use crate::time::{Span, Time};

const WINDOW: usize = 10;

/// The last ten durations, and the estimate that follows from them.
pub(super) struct Durations {
    pub estimate: Span,
    last: [Span; WINDOW],
    measured: usize,
    /// When the last one was measured.
    at: Time,
    /// The estimate before any.
    seed: Span,
}

impl Durations {
    /// None was measured.
    pub fn new(seed: Span) -> Durations {
        let last = [Span::ZERO; WINDOW];
        Durations { estimate: seed, last, measured: 0, at: Time::ZERO, seed }
    }

    pub fn learn(&mut self, now: Time, duration: Span, estimator: Estimator) {
        if estimator == Estimator::StaticMean {
            return;
        }
        self.at = now;
        self.last[self.measured % WINDOW] = duration;
        self.measured += 1;
        let window = &self.last[..self.measured.min(WINDOW)];
        self.estimate = if estimator == Estimator::WindowMean {
            Span::from_ns(window.iter().copied().sum::<Span>().ns() / window.len() as u64)
        } else {
            p99(window)
        };
    }

    /// Returns to the seed, if nothing was measured for so long; whether it did.
    pub fn probe(&mut self, now: Time, after: Span) -> bool {
        let stale = self.measured > 0 && now.since(self.at) >= after;
        if stale {
            self.measured = 0;
            self.estimate = self.seed;
        }
        stale
    }
}

/// The 0.99 quantile with linear interpolation over the sorted window (sliding_window.h). With at
/// most ten samples it lies between the two largest.
fn p99(window: &[Span]) -> Span {
    let n = window.len();
    let (mut first, mut second) = (Span::ZERO, Span::ZERO);
    for &s in window {
        if s > first {
            (first, second) = (s, first);
        } else if s > second {
            second = s;
        }
    }
    if n < 2 {
        return first;
    }
    let share = 0.99 * (n - 1) as f64 - (n - 2) as f64;
    second + first.minus(second).scale(share)
}
