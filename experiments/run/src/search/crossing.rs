//! Between which rates the target is met, as far as probes have shown.

use super::tally::odds;
use super::{Probe, Share};

/// Two rates that are one step apart are within the tolerance, whatever rounding says.
pub(super) const ROUNDING: f64 = 1.0 + 1e-12;

/// The slopes that are believed.
const SLOPES: (f64, f64) = (0.5, 400.0);

/// A share with a larger error is hardly known.
pub(super) const UNKNOWN: f64 = 0.9;

/// Two shares that are so far apart say the slope.
const APART: f64 = 0.3;

/// Half a 95 % interval in errors.
pub(super) const ERRORS_95: f64 = 2.0;

/// What encloses the target, as far as it was found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ends {
    pub(super) good: Option<f64>,
    pub(super) bad: Option<f64>,
}

impl Ends {
    /// Whether both are known, and close together.
    pub(super) fn are_within(self, tolerance: f64) -> bool {
        let both = self.good.zip(self.bad);
        both.is_some_and(|(good, bad)| bad <= good * (1.0 + tolerance) * ROUNDING)
    }

    /// A rate between them, and below what the devices can do at most.
    pub(super) fn clamp(self, rate: f64, most: Option<f64>) -> f64 {
        let rate = most.map_or(rate, |most| rate.min(most));
        rate.max(self.good.unwrap_or(0.0)).min(self.bad.unwrap_or(f64::MAX))
    }

    /// With one more verdict. One that contradicts an earlier one takes its place.
    pub(super) fn with(self, rate: f64, good: bool) -> Ends {
        match good {
            true => Ends { good: Some(rate), bad: self.bad.filter(|bad| *bad > rate) },
            false => Ends { bad: Some(rate), good: self.good.filter(|good| *good < rate) },
        }
    }
}

/// The nearest rates that are below and above the target by two errors: the answer is between them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sides {
    below: Option<f64>,
    pub(super) above: Option<f64>,
}

impl Sides {
    pub(super) fn see(&mut self, rate: f64, probe: &Probe, (target, error): (f64, f64)) {
        let off = odds(probe.bad_rate) - target;
        let likely = probe.shares.iter().map(Share::likely).fold(0.0, f64::max);
        if off > ERRORS_95 * error {
            self.above = Some(self.above.map_or(rate, |above| above.min(rate)));
        } else if (probe.log_error < UNKNOWN && off < -ERRORS_95 * error) || odds(likely) < target {
            self.below = Some(self.below.map_or(rate, |below| below.max(rate)));
        }
    }

    /// The error of ln(rate), at most half the way to the farther of them.
    pub(super) fn error_of(self, rate: f64, error: f64) -> f64 {
        match (self.below, self.above) {
            (Some(below), Some(above)) if below < rate && rate < above => {
                error.min(libm::log(rate / below).max(libm::log(above / rate)) / ERRORS_95)
            }
            _ => error,
        }
    }
}

/// Where probes near the answer meet the target.
#[derive(Clone, Copy, Debug)]
pub(super) enum Crossing {
    /// On a line, with the standard error of ln(rate); and if that is too large, the requests that would decide it.
    Line { rate: f64, error: f64, undecided: Option<u64> },
    /// Between a good and a bad rate.
    Jump { good: f64, bad: f64, undecided: Option<u64> },
    /// Nowhere: the highest good rate that was tried, if any was.
    Never(Option<f64>),
}

impl Crossing {
    /// The answer, and whether the share jumps there.
    pub(super) fn value(self) -> Option<(f64, bool)> {
        match self {
            Crossing::Line { rate, .. } => Some((rate, false)),
            Crossing::Jump { good, .. } => Some((good, true)),
            Crossing::Never(_) => None,
        }
    }

    /// What the answer is at least, with 97.5 % confidence.
    pub(super) fn at_least(self) -> Option<f64> {
        match self {
            Crossing::Line { rate, error, .. } => Some(rate * libm::exp(-ERRORS_95 * error)),
            _ => self.value().map(|v| v.0),
        }
    }
}

/// The slope between the probes on both sides of the target that are next to each other, or else between the last and the
/// one before that is apart from it: by ln(rate), ln of the odds over the target's, and its error.
pub(super) fn slope_around(seen: &[(f64, f64, f64)]) -> Option<f64> {
    let by_rate = |a: &&(f64, f64, f64), b: &&(f64, f64, f64)| a.0.total_cmp(&b.0);
    let below = seen.iter().filter(|s| s.1 < -APART / 2.0).max_by(by_rate);
    let above = |below: f64| seen.iter().filter(move |s| s.1 > 0.0 && s.0 > below).min_by(by_rate);
    let slope = |a: &(f64, f64, f64), b: &(f64, f64, f64)| {
        let apart = (a.1 - b.1).abs();
        let slope = (a.1 - b.1) / (a.0 - b.0);
        let is_one = apart > APART.max(a.2.hypot(b.2)) && slope > 0.0;
        is_one.then(|| slope.clamp(SLOPES.0, SLOPES.1))
    };
    let around = below.and_then(|below| slope(below, above(below.0)?));
    let last = seen.last()?;
    around.or_else(|| seen.iter().rev().skip(1).find_map(|one| slope(one, last)))
}
