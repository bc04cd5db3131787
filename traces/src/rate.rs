//! Rates that change in steps: a stretch of time with one rate, then the next.
//!
//! It makes no arrivals: [`crate::arrivals`] lets a Poisson process run through the steps.

use crate::error::{TraceError, parameter, within};
use orrery_sim::det::Det;
use orrery_sim::rng::Stream;
use orrery_sim::time::{NS_PER_S, Span};
use rand_distr::{Distribution, Exp1};
use std::sync::Arc;

/// The fastest rate accepted: one arrival a nanosecond.
pub(crate) const RATE_MAX: f64 = 1e9;
/// The slowest rate accepted: one arrival in some 30 years.
pub(crate) const RATE_MIN: f64 = 1e-9;

/// A stretch of time with one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// How long; [`Span::MAX`] for ever.
    pub len: Span,
    /// Arrivals per second.
    pub per_s: f64,
}

/// A rate as a sequence of segments; after `None` it stays `None`.
pub trait Rate {
    /// The next stretch of time; `None` when the rate is over.
    fn next_segment(&mut self) -> Option<Segment>;
}

/// One rate for ever.
#[derive(Clone, Copy, Debug)]
pub struct Steady(pub f64);

impl Rate for Steady {
    fn next_segment(&mut self) -> Option<Segment> {
        Some(Segment { len: Span::MAX, per_s: self.0 })
    }
}

/// Which state follows in a [`Switching`] rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NextState {
    /// The next in the list, the first after the last.
    #[default]
    Cyclic,
    /// Any of the others, each as likely.
    Uniform,
}

/// A rate that jumps between states, each held for an exponential time: with Poisson arrivals, a
/// Markov-modulated Poisson process. It begins in its long-run distribution.
#[derive(Clone, Debug)]
pub struct Switching {
    rates_per_s: Vec<f64>,
    sojourns_s: Vec<f64>,
    next: NextState,
    state: Option<usize>,
    stream: Stream,
}

impl Switching {
    /// States with their rates (per second) and mean sojourns (seconds).
    ///
    /// # Errors
    /// When there are fewer than two states, the lists differ in length, a rate is negative or all
    /// are zero, or a sojourn is not from 1 µs to a year.
    pub fn new(
        rates_per_s: Vec<f64>,
        sojourns_s: Vec<f64>,
        next: NextState,
        stream: Stream,
    ) -> Result<Switching, TraceError> {
        if rates_per_s.len() < 2 || rates_per_s.len() != sojourns_s.len() {
            let found = format!("{} rates, {} sojourns", rates_per_s.len(), sojourns_s.len());
            let allowed = "two or more states, a rate and a mean sojourn for each";
            return Err(parameter("rates_per_s", found, allowed, "give as many of both"));
        }
        for (&rate, &sojourn) in rates_per_s.iter().zip(&sojourns_s) {
            within("rates_per_s", rate, 0.0, RATE_MAX)?;
            within("mean_sojourns_s", sojourn, 1e-6, 366.0 * 86_400.0)?;
        }
        if rates_per_s.iter().all(|&rate| rate < RATE_MIN) {
            return Err(parameter("rates_per_s", "all zero", "one above 0", "raise a rate"));
        }
        Ok(Switching { rates_per_s, sojourns_s, next, state: None, stream })
    }

    /// The long-run mean rate, per second: both orders of states visit each equally often.
    pub fn mean_rate_per_s(&self) -> f64 {
        let arrivals: f64 = self.rates_per_s.iter().zip(&self.sojourns_s).map(|(r, s)| r * s).sum();
        arrivals / self.sojourns_s.iter().sum::<f64>()
    }

    fn first_state(&mut self) -> usize {
        let mut u = self.stream.uniform() * self.sojourns_s.iter().sum::<f64>();
        for (state, sojourn) in self.sojourns_s.iter().enumerate() {
            if u < *sojourn {
                return state;
            }
            u -= sojourn;
        }
        self.sojourns_s.len() - 1
    }
}

impl Rate for Switching {
    fn next_segment(&mut self) -> Option<Segment> {
        let n = self.rates_per_s.len();
        let state = match (self.state, self.next) {
            (None, _) => self.first_state(),
            (Some(last), NextState::Cyclic) => (last + 1) % n,
            (Some(last), NextState::Uniform) => {
                (last + 1 + self.stream.below(n as u64 - 1) as usize) % n
            }
        };
        self.state = Some(state);
        let len = Span::from_secs_f64(self.sojourns_s[state] * exponential(&mut self.stream));
        Some(Segment { len, per_s: self.rates_per_s[state] })
    }
}

/// How arrivals lie within a minute of [`Minutes`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spacing {
    /// A Poisson process whose rate is the minute's count; what is left of the wait for the next
    /// arrival at a minute's end is carried over, not drawn anew.
    #[default]
    Poisson,
    /// Exactly the minute's count, evenly spaced from a phase drawn once.
    Even,
}

/// How counts per minute become arrivals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// How arrivals lie within a minute.
    pub spacing: Spacing,
    /// Multiplies every count: 2 is twice the load.
    pub rate_factor: f64,
    /// Divides the length of a minute, its count kept: 60 makes a minute last a second.
    pub compress: f64,
}

impl Default for Shape {
    /// The counts and the minute as they are, with Poisson arrivals.
    fn default() -> Shape {
        Shape { spacing: Spacing::Poisson, rate_factor: 1.0, compress: 1.0 }
    }
}

/// Counts per minute, as a trace gives them, and how to turn them into arrivals.
#[derive(Clone, Debug, PartialEq)]
pub struct Minutes {
    /// Calls in each minute.
    pub counts: Arc<[u32]>,
    /// How they become arrivals.
    pub shape: Shape,
}

impl Minutes {
    /// The counts as they are, with Poisson arrivals.
    pub fn new(counts: impl Into<Arc<[u32]>>) -> Minutes {
        Minutes { counts: counts.into(), shape: Shape::default() }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// When a factor is out of range or there is no call at all.
    pub fn check(&self) -> Result<(), TraceError> {
        within("rate_factor", self.shape.rate_factor, 1e-9, 1e9)?;
        within("compress", self.shape.compress, 1e-6, 1e6)?;
        if self.counts.iter().all(|&count| count == 0) {
            return Err(parameter(
                "counts",
                format!("no call in {} minutes", self.counts.len()),
                "at least one call",
                "choose other minutes or functions, or leave this function out",
            ));
        }
        Ok(())
    }

    /// When minute `i` begins.
    pub fn starts(&self, i: usize) -> Span {
        const MINUTE_NS: f64 = 60.0 * NS_PER_S as f64;
        Span::from_ns_f64(i as f64 * MINUTE_NS / self.shape.compress)
    }

    /// The mean rate over all minutes, per second.
    pub fn mean_rate_per_s(&self) -> f64 {
        let calls: u64 = self.counts.iter().map(|&c| u64::from(c)).sum();
        calls as f64 * self.shape.rate_factor / self.starts(self.counts.len()).as_secs_f64()
    }
}

/// [`Minutes`] as a rate.
#[derive(Clone, Debug)]
pub struct MinuteRate {
    minutes: Minutes,
    next: usize,
}

impl MinuteRate {
    /// From the first minute.
    pub fn new(minutes: Minutes) -> MinuteRate {
        MinuteRate { minutes, next: 0 }
    }
}

impl Rate for MinuteRate {
    fn next_segment(&mut self) -> Option<Segment> {
        let i = self.next;
        let count = *self.minutes.counts.get(i)?;
        self.next += 1;
        let len = self.minutes.starts(i + 1).minus(self.minutes.starts(i));
        let per_s = f64::from(count) * self.minutes.shape.rate_factor / len.as_secs_f64();
        Some(Segment { len, per_s })
    }
}

/// A draw from the exponential law with mean 1.
#[inline]
pub(crate) fn exponential(stream: &mut Stream) -> f64 {
    let x: Det = Exp1.sample(stream);
    x.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switching_spends_its_long_run_share_in_each_state() {
        for next in [NextState::Cyclic, NextState::Uniform] {
            let stream = Stream::named(1, "rate", 0);
            let (rates, sojourns) = (vec![1.0, 5.0, 0.0], vec![2.0, 1.0, 3.0]);
            let mut rate = Switching::new(rates, sojourns, next, stream).unwrap();
            let (mut time, mut calls, mut last) = (0.0, 0.0, -1.0);
            for _ in 0..300_000 {
                let segment = rate.next_segment().unwrap();
                assert_ne!(segment.per_s, last);
                last = segment.per_s;
                time += segment.len.as_secs_f64();
                calls += segment.len.as_secs_f64() * segment.per_s;
            }
            assert!((calls / time / rate.mean_rate_per_s() - 1.0).abs() < 0.01);
            assert!((rate.mean_rate_per_s() - 7.0 / 6.0).abs() < 1e-12);
        }
    }

    #[test]
    fn compressed_minutes_keep_their_counts_and_do_not_drift() {
        let mut minutes = Minutes::new(vec![6; 7]);
        minutes.shape.compress = 7.0;
        minutes.shape.rate_factor = 0.5;
        assert_eq!(minutes.starts(7), Span::from_secs(60));
        assert!((minutes.mean_rate_per_s() - 0.35).abs() < 1e-12);
        let mut rate = MinuteRate::new(minutes);
        let mut total = Span::ZERO;
        while let Some(segment) = rate.next_segment() {
            assert!((segment.per_s * segment.len.as_secs_f64() - 3.0).abs() < 1e-9);
            total += segment.len;
        }
        assert_eq!((total, rate.next_segment()), (Span::from_secs(60), None));
    }

    #[test]
    fn parameters_out_of_range_are_errors_with_a_remedy() {
        let stream = || Stream::named(1, "rate", 0);
        let switching = |r: &[f64], s: &[f64]| {
            Switching::new(r.to_vec(), s.to_vec(), NextState::Cyclic, stream())
        };
        assert!(switching(&[1.0], &[1.0]).is_err());
        assert!(switching(&[1.0, 2.0], &[1.0]).is_err());
        assert!(switching(&[0.0, 0.0], &[1.0, 1.0]).is_err());
        assert!(switching(&[1.0, f64::NAN], &[1.0, 1.0]).is_err());
        assert!(switching(&[1.0, 2.0], &[1.0, 0.0]).is_err());
        let text = Minutes::new(vec![0, 0]).check().unwrap_err().to_string();
        assert!(text.contains("no call in 2 minutes") && text.contains("leave this"), "{text}");
    }
}
