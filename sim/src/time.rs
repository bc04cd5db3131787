//! Time on the simulated axis: whole nanoseconds, never a float.
//!
//! [`Time`] is an instant counted from the start of the run; [`Span`] is a length of time. They are
//! two types because adding two instants is always a mistake. A float appears only at the edges,
//! where a file or a formula gives one, and is rounded to the nearest nanosecond there.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

/// Nanoseconds in a second.
pub const NS_PER_S: u64 = 1_000_000_000;
/// Nanoseconds in a millisecond.
pub const NS_PER_MS: u64 = 1_000_000;
/// Nanoseconds in a microsecond.
pub const NS_PER_US: u64 = 1_000;

/// An instant: nanoseconds since the run began.
///
/// ```
/// use orrery_sim::time::{Span, Time};
///
/// let arrival = Time::ZERO + Span::from_ms(3);
/// let answer = arrival + Span::from_us(1_500);
/// assert_eq!(answer.since(arrival), Span::from_us(1_500));
/// assert_eq!(arrival.since(answer), Span::ZERO);
/// assert!(answer < Time::NEVER);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// A length of time in nanoseconds.
///
/// ```
/// use orrery_sim::time::Span;
///
/// let batch = Span::from_ms(4) + Span::from_us(500) * 8;
/// assert_eq!(batch.as_ms_f64(), 8.0);
/// assert_eq!(batch.scale(1.25), Span::from_ms(10));
/// assert_eq!(Span::from_ms(1).minus(batch), Span::ZERO);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// The end of time, 2^64 - 1 ns or some 584 years: later than every event, so that a run which
    /// comes to it fails. A deadline of `NEVER` is no deadline.
    pub const NEVER: Time = Time(u64::MAX);

    /// The instant `ns` nanoseconds after the start of the run.
    pub const fn from_ns(ns: u64) -> Time {
        Time(ns)
    }

    /// Nanoseconds since the start of the run.
    pub const fn ns(self) -> u64 {
        self.0
    }

    /// Seconds since the start of the run, for printing.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NS_PER_S as f64
    }

    /// The span since `earlier`, or zero when `earlier` is in fact later.
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// This instant moved back by `span`, but not before the start of the run.
    pub const fn minus(self, span: Span) -> Time {
        Time(self.0.saturating_sub(span.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);
    /// The longest span: used for "without limit".
    pub const MAX: Span = Span(u64::MAX);

    /// A span of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Span {
        Span(ns)
    }

    /// A span of `us` microseconds.
    pub const fn from_us(us: u64) -> Span {
        Span(us * NS_PER_US)
    }

    /// A span of `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Span {
        Span(ms * NS_PER_MS)
    }

    /// A span of `s` seconds.
    pub const fn from_secs(s: u64) -> Span {
        Span(s * NS_PER_S)
    }

    /// `ns` nanoseconds rounded to the nearest whole one (half away from zero). Negative values and
    /// NaN give zero, values beyond the axis give [`Span::MAX`].
    pub fn from_ns_f64(ns: f64) -> Span {
        // `as` saturates and maps NaN to zero; `floor(x + 0.5)` is exact on every platform.
        Span((ns + 0.5) as u64)
    }

    /// `ms` milliseconds, rounded as [`Span::from_ns_f64`].
    pub fn from_ms_f64(ms: f64) -> Span {
        Span::from_ns_f64(ms * NS_PER_MS as f64)
    }

    /// `s` seconds, rounded as [`Span::from_ns_f64`].
    pub fn from_secs_f64(s: f64) -> Span {
        Span::from_ns_f64(s * NS_PER_S as f64)
    }

    /// Nanoseconds.
    pub const fn ns(self) -> u64 {
        self.0
    }

    /// Milliseconds, for printing and for formulas stated in milliseconds.
    pub fn as_ms_f64(self) -> f64 {
        self.0 as f64 / NS_PER_MS as f64
    }

    /// Seconds, for printing.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NS_PER_S as f64
    }

    /// This span less `other`, or zero.
    pub const fn minus(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }

    /// This span times a factor, rounded to the nearest nanosecond.
    pub fn scale(self, factor: f64) -> Span {
        Span::from_ns_f64(self.0 as f64 * factor)
    }
}

impl Add<Span> for Time {
    type Output = Time;
    /// Saturates at [`Time::NEVER`], so that "never" plus anything stays never.
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub<Time> for Time {
    type Output = Span;
    /// # Panics
    /// When `earlier` is later than `self`: only a bug can ask for a negative span.
    fn sub(self, earlier: Time) -> Span {
        Span(self.0.checked_sub(earlier.0).expect("a span of time cannot be negative"))
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, k: u64) -> Span {
        Span(self.0.saturating_mul(k))
    }
}

impl std::iter::Sum for Span {
    fn sum<I: Iterator<Item = Span>>(spans: I) -> Span {
        spans.fold(Span::ZERO, Add::add)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Time::NEVER => f.write_str("never"),
            Time(ns) => write!(f, "{}.{:09}s", ns / NS_PER_S, ns % NS_PER_S),
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}ms", self.0 / NS_PER_MS, self.0 % NS_PER_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_absorbs() {
        assert_eq!(Time::NEVER + Span::from_secs(1), Time::NEVER);
    }

    #[test]
    fn floats_round_to_the_nearest_nanosecond_and_never_below_zero() {
        assert_eq!(Span::from_ns_f64(1.5).ns(), 2);
        assert_eq!(Span::from_ns_f64(1.4).ns(), 1);
        assert_eq!(Span::from_ns_f64(-7.0), Span::ZERO);
        assert_eq!(Span::from_ns_f64(f64::NAN), Span::ZERO);
        assert_eq!(Span::from_ms_f64(2.5).ns(), 2_500_000);
    }
}
