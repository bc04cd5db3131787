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
    /// Where the next one goes: in the place of the oldest.
    next: usize,
    /// When the last one was measured.
    at: Time,
    /// The estimate before any.
    seed: Span,
}

impl Durations {
    /// None was measured.
    pub fn new(seed: Span) -> Durations {
        Durations {
            estimate: seed,
            last: [Span::ZERO; WINDOW],
            measured: 0,
            next: 0,
            at: Time::ZERO,
            seed,
        }
    }

    pub fn learn(&mut self, now: Time, duration: Span, estimator: Estimator) {
        if estimator == Estimator::StaticMean {
            return;
        }
        self.at = now;
        self.last[self.next] = duration;
        self.next = if self.next + 1 == WINDOW { 0 } else { self.next + 1 };
        self.measured += 1;
        let window = &self.last[..self.measured.min(WINDOW)];
        self.estimate = if estimator == Estimator::WindowMean {
            let sum = window.iter().copied().sum::<Span>();
            Span::from_ns(sum.ns() / window.len() as u64)
        } else {
            p99(window.len(), two_largest(window))
        };
    }

    /// Returns to the seed, if nothing was measured for so long; whether it did.
    pub fn probe(&mut self, now: Time, after: Span) -> bool {
        let stale = self.measured > 0 && now.since(self.at) >= after;
        if stale {
            (self.measured, self.next) = (0, 0);
            self.estimate = self.seed;
        }
        stale
    }
}

fn two_largest(window: &[Span]) -> (Span, Span) {
    let (mut first, mut second) = (Span::ZERO, Span::ZERO);
    for &s in window {
        if s > first {
            (first, second) = (s, first);
        } else if s > second {
            second = s;
        }
    }
    (first, second)
}

/// The 0.99 quantile with linear interpolation over the sorted window (sliding_window.h). With at
/// most ten samples it lies between the two largest.
fn p99(n: usize, (first, second): (Span, Span)) -> Span {
    if n < 2 {
        return first;
    }
    let share = 0.99 * (n - 1) as f64 - (n - 2) as f64;
    second + first.minus(second).scale(share)
}
