//! Arrival processes: generators of instants, in order, one at a time.
//!
//! They know no application and no execution time; [`crate::workload`] adds those. Each process
//! draws from its own named streams and keeps a constant amount of memory.

use crate::error::{TraceError, within};
use crate::gaps::{GammaGaps, Gaps};
use crate::rate::{
    MinuteRate, Minutes, NextState, RATE_MAX, RATE_MIN, Rate, Spacing, Steady, Switching,
    exponential,
};
use orrery_sim::rng::Stream;
use orrery_sim::time::{NS_PER_S, Span, Time};

/// Instants in order of time.
pub trait ArrivalProcess {
    /// The next instant, not before the last one; `None` when the process is over. A process that
    /// runs over the end of time gives [`Time::NEVER`] once, and is over then.
    fn next(&mut self) -> Option<Time>;
}

/// A process that can move to another thread.
pub type BoxedProcess = Box<dyn ArrivalProcess + Send>;

impl<P: ArrivalProcess + ?Sized> ArrivalProcess for Box<P> {
    fn next(&mut self) -> Option<Time> {
        (**self).next()
    }
}

/// The arrival processes by name and parameters. Rates are per second, times in seconds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ArrivalLaw {
    /// Evenly spaced, from time 0 on.
    Constant {
        /// Arrivals per second.
        rate_per_s: f64,
    },
    /// A Poisson process.
    Poisson {
        /// Arrivals per second.
        rate_per_s: f64,
    },
    /// Independent gamma-distributed gaps, the first included; their CV is 1 / sqrt(shape).
    Gamma {
        /// Arrivals per second.
        rate_per_s: f64,
        /// Below 1 is burstier than Poisson, above 1 smoother.
        shape: f64,
    },
    /// Gaps of a whole number of `unit`, Poisson-distributed: no Poisson process. What DeepRecSys's,
    /// Ribbon's and Kairos's released code draw, in ms; the squared CV of a gap is one over its mean.
    IntegerPoisson {
        /// Arrivals per second.
        rate_per_s: f64,
        /// What gaps are counted in.
        unit: Span,
    },
    /// A Markov-modulated Poisson process.
    Mmpp {
        /// Arrivals per second in each state.
        rates_per_s: Vec<f64>,
        /// Mean time in each state.
        mean_sojourns_s: Vec<f64>,
        /// Which state follows.
        next: NextState,
    },
    /// Counts per minute of a trace.
    Minutes(Minutes),
}

impl ArrivalLaw {
    /// The process, drawing from the streams `"arrivals"` and `"arrivals rate"` of this seed and
    /// index.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn start(&self, seed: u64, index: u64) -> Result<BoxedProcess, TraceError> {
        self.start_with(seed, index, &Gaps::default())
    }

    /// The same process, whose gaps are kept for the next one of this seed, index and shape.
    ///
    /// # Errors
    /// As [`ArrivalLaw::start`].
    pub fn start_with(
        &self,
        seed: u64,
        index: u64,
        gaps: &Gaps,
    ) -> Result<BoxedProcess, TraceError> {
        let stream = Stream::named(seed, "arrivals", index);
        let rate_stream = || Stream::named(seed, "arrivals rate", index);
        let rate_in_range = |rate| within("rate_per_s", rate, RATE_MIN, RATE_MAX);
        Ok(match self {
            ArrivalLaw::Constant { rate_per_s } => {
                Box::new(Renewal::constant(rate_in_range(*rate_per_s)?))
            }
            ArrivalLaw::Poisson { rate_per_s } => {
                Box::new(Modulated::new(Steady(rate_in_range(*rate_per_s)?), stream))
            }
            ArrivalLaw::Gamma { rate_per_s, shape } => {
                let rate_per_s = rate_in_range(*rate_per_s)?;
                within("shape", *shape, 1e-3, 1e6)?;
                let scale_ns = NS_PER_S as f64 / (rate_per_s * shape);
                Box::new(Renewal::gamma(GammaGaps::new(*shape, scale_ns, seed, index, gaps)))
            }
            ArrivalLaw::IntegerPoisson { rate_per_s, unit } => {
                Box::new(IntegerPoisson::new(rate_in_range(*rate_per_s)?, *unit, stream)?)
            }
            ArrivalLaw::Mmpp { rates_per_s, mean_sojourns_s, next } => {
                let (rates, sojourns) = (rates_per_s.clone(), mean_sojourns_s.clone());
                Box::new(Modulated::new(
                    Switching::new(rates, sojourns, *next, rate_stream())?,
                    stream,
                ))
            }
            ArrivalLaw::Minutes(minutes) => {
                minutes.check()?;
                match minutes.shape.spacing {
                    Spacing::Poisson => {
                        Box::new(Modulated::new(MinuteRate::new(minutes.clone()), stream))
                    }
                    Spacing::Even => Box::new(EvenMinutes::new(minutes.clone(), stream)),
                }
            }
        })
    }

    /// The long-run mean rate, per second; of [`ArrivalLaw::Minutes`], over its minutes.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn mean_rate_per_s(&self) -> Result<f64, TraceError> {
        match self {
            ArrivalLaw::Constant { rate_per_s }
            | ArrivalLaw::Poisson { rate_per_s }
            | ArrivalLaw::IntegerPoisson { rate_per_s, .. }
            | ArrivalLaw::Gamma { rate_per_s, .. } => {
                within("rate_per_s", *rate_per_s, RATE_MIN, RATE_MAX)
            }
            ArrivalLaw::Mmpp { rates_per_s, mean_sojourns_s, next } => {
                let (rates, sojourns) = (rates_per_s.clone(), mean_sojourns_s.clone());
                let unused = Stream::named(0, "arrivals rate", 0);
                Ok(Switching::new(rates, sojourns, *next, unused)?.mean_rate_per_s())
            }
            ArrivalLaw::Minutes(minutes) => {
                minutes.check()?;
                Ok(minutes.mean_rate_per_s())
            }
        }
    }
}

/// A point on the axis finer than a nanosecond, so that many small steps do not drift.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    whole_ns: u64,
    /// From 0 to below 1.
    part_ns: f64,
}

impl Clock {
    /// Moves on by `ns`, which is not negative.
    fn advance(&mut self, ns: f64) {
        let sum = self.part_ns + ns;
        if sum < i64::MAX as f64 {
            // The floor of what is not negative, without a call.
            let whole = sum as i64;
            self.whole_ns = self.whole_ns.saturating_add(whole as u64);
            self.part_ns = sum - whole as f64;
        } else {
            self.whole_ns = self.whole_ns.saturating_add(sum as u64);
            self.part_ns = sum - sum.floor();
        }
    }

    fn set(&mut self, time: Time) {
        *self = Clock { whole_ns: time.ns(), part_ns: 0.0 };
    }

    /// Nanoseconds until `end`; not negative.
    fn until_ns(&self, end: Time) -> f64 {
        (end.ns().saturating_sub(self.whole_ns) as f64 - self.part_ns).max(0.0)
    }

    /// The nearest whole nanosecond; `NEVER` at the end of time.
    fn time(&self) -> Time {
        Time::from_ns(self.whole_ns.saturating_add(u64::from(self.part_ns >= 0.5)))
    }

    fn is_at_the_end(&self) -> bool {
        self.time() == Time::NEVER
    }
}

/// Independent, equally distributed gaps.
#[derive(Debug)]
struct Renewal {
    clock: Clock,
    gap: Gap,
}

#[derive(Debug)]
enum Gap {
    ConstantNs(f64),
    GammaNs(Box<GammaGaps>),
}

impl Renewal {
    /// From time 0 on: so `n` seconds have `n` times the rate.
    fn constant(rate_per_s: f64) -> Renewal {
        Renewal::after(0.0, rate_per_s)
    }

    /// As [`Renewal::constant`], but after a part of a gap, drawn once.
    fn phased(rate_per_s: f64, mut stream: Stream) -> Renewal {
        Renewal::after(stream.uniform(), rate_per_s)
    }

    fn after(part: f64, rate_per_s: f64) -> Renewal {
        let gap_ns = NS_PER_S as f64 / rate_per_s;
        let clock = Clock { part_ns: (part - 1.0) * gap_ns, ..Clock::default() };
        Renewal { clock, gap: Gap::ConstantNs(gap_ns) }
    }

    fn gamma(gaps: GammaGaps) -> Renewal {
        Renewal { clock: Clock::default(), gap: Gap::GammaNs(Box::new(gaps)) }
    }
}

impl ArrivalProcess for Renewal {
    fn next(&mut self) -> Option<Time> {
        if self.clock.is_at_the_end() {
            return None;
        }
        let gap_ns = match &mut self.gap {
            Gap::ConstantNs(ns) => *ns,
            Gap::GammaNs(gaps) => gaps.next_ns(),
        };
        self.clock.advance(gap_ns);
        Some(self.clock.time())
    }
}

/// Gaps that are Poisson-distributed whole numbers.
#[derive(Clone, Debug)]
struct IntegerPoisson {
    stream: Stream,
    unit: Span,
    at: Time,
    /// The mean as parts of at most [`IntegerPoisson::PART`], which add up to it: so many of the
    /// largest, and one rest, each with the probability of zero.
    parts: u64,
    rest: (f64, f64),
}

impl IntegerPoisson {
    /// exp(-500) is still a float with all its bits.
    const PART: f64 = 500.0;
    /// So many units between arrivals cost too many steps to draw.
    const MEAN_MAX: f64 = 1e6;

    fn new(rate_per_s: f64, unit: Span, stream: Stream) -> Result<IntegerPoisson, TraceError> {
        within("unit_ns", unit.ns() as f64, 1.0, NS_PER_S as f64)?;
        let mean = NS_PER_S as f64 / (rate_per_s * unit.ns() as f64);
        within("mean gap in units", mean, 1e-6, IntegerPoisson::MEAN_MAX)?;
        let parts = (mean / IntegerPoisson::PART).floor();
        let rest = mean - parts * IntegerPoisson::PART;
        let rest = (rest, libm::exp(-rest));
        Ok(IntegerPoisson { stream, unit, at: Time::ZERO, parts: parts as u64, rest })
    }

    /// A Poisson variate by inversion.
    fn draw(stream: &mut Stream, (mean, of_zero): (f64, f64)) -> u64 {
        let (mut left, mut share, mut n) = (stream.uniform(), of_zero, 0u64);
        while left >= share && share > 0.0 {
            left -= share;
            n += 1;
            share *= mean / n as f64;
        }
        n
    }
}

impl ArrivalProcess for IntegerPoisson {
    fn next(&mut self) -> Option<Time> {
        if self.at == Time::NEVER {
            return None;
        }
        let part = (IntegerPoisson::PART, libm::exp(-IntegerPoisson::PART));
        let mut gap = IntegerPoisson::draw(&mut self.stream, self.rest);
        for _ in 0..self.parts {
            gap += IntegerPoisson::draw(&mut self.stream, part);
        }
        self.at += self.unit * gap;
        Some(self.at)
    }
}

/// A Poisson process through the steps of a rate. The wait for the next arrival is an exponential
/// amount of work that the rate wears down; what a segment leaves of it, the next one continues.
#[derive(Clone, Debug)]
pub struct Modulated<R> {
    rate: R,
    stream: Stream,
    clock: Clock,
    segment_end: Time,
    per_ns: f64,
    work: f64,
}

impl<R: Rate> Modulated<R> {
    /// Arrivals at this rate, from time zero.
    pub fn new(rate: R, mut stream: Stream) -> Modulated<R> {
        let work = exponential(&mut stream);
        let (clock, segment_end) = (Clock::default(), Time::ZERO);
        Modulated { rate, stream, clock, segment_end, per_ns: 0.0, work }
    }

    /// The rate, where the last arrival left it.
    pub(crate) fn rate(&self) -> &R {
        &self.rate
    }

    /// What follows when no arrival fits before the end of time: one after it, if the rate goes on.
    fn end_of_time(&mut self) -> Option<Time> {
        if self.clock.is_at_the_end() {
            return None;
        }
        self.clock.set(Time::NEVER);
        while self.per_ns.is_nan() || self.per_ns <= 0.0 {
            self.per_ns = self.rate.next_segment()?.per_s;
        }
        Some(Time::NEVER)
    }
}

impl<R: Rate> ArrivalProcess for Modulated<R> {
    fn next(&mut self) -> Option<Time> {
        loop {
            let left_ns = self.clock.until_ns(self.segment_end);
            let needed_ns = self.work / self.per_ns; // infinite at rate zero
            if needed_ns < left_ns {
                self.clock.advance(needed_ns);
                self.work = exponential(&mut self.stream);
                return Some(self.clock.time());
            }
            if self.segment_end == Time::NEVER {
                return self.end_of_time();
            }
            self.work = (self.work - self.per_ns * left_ns).max(0.0);
            self.clock.set(self.segment_end);
            let segment = self.rate.next_segment()?;
            self.segment_end += segment.len;
            self.per_ns = segment.per_s / NS_PER_S as f64;
        }
    }
}

/// Exactly each minute's count, evenly spaced.
#[derive(Clone, Debug)]
struct EvenMinutes {
    minutes: Minutes,
    /// Where in its own gap each arrival lies: from 0 to below 1.
    phase: f64,
    minute: usize,
    /// Calls before this minute, as counted in the trace.
    before: u64,
    in_minute: u64,
    done: u64,
}

impl EvenMinutes {
    fn new(minutes: Minutes, mut stream: Stream) -> EvenMinutes {
        let phase = stream.uniform();
        let mut even = EvenMinutes { minutes, phase, minute: 0, before: 0, in_minute: 0, done: 0 };
        even.in_minute = even.scaled_count(0);
        even
    }

    /// This minute's count times the factor; rounding is carried from minute to minute.
    fn scaled_count(&self, count_before: u64) -> u64 {
        let count = self.minutes.counts.get(self.minute).map_or(0, |&c| u64::from(c));
        let scaled =
            |calls: u64| (calls as f64 * self.minutes.shape.rate_factor + 1e-6).floor() as u64;
        scaled(count_before + count) - scaled(count_before)
    }
}

impl ArrivalProcess for EvenMinutes {
    fn next(&mut self) -> Option<Time> {
        while self.done == self.in_minute {
            self.before += u64::from(*self.minutes.counts.get(self.minute)?);
            self.minute += 1;
            self.done = 0;
            self.in_minute = self.scaled_count(self.before);
        }
        let (start, end) = (self.minutes.starts(self.minute), self.minutes.starts(self.minute + 1));
        let share = (self.done as f64 + self.phase) / self.in_minute as f64;
        self.done += 1;
        if Time::ZERO + end == Time::NEVER {
            // No minute follows, and the counts of this one are not whole.
            self.minute = self.minutes.counts.len();
            (self.done, self.in_minute) = (0, 0);
            return Some(Time::NEVER);
        }
        // Downwards, so that no arrival is rounded into the next minute.
        let offset = Span::from_ns((end.minus(start).ns() as f64 * share) as u64);
        Some(Time::ZERO + start + offset)
    }
}

/// A process that stops before an instant, or after so many arrivals.
#[derive(Clone, Debug)]
pub struct Limited<P> {
    inner: P,
    horizon: Time,
    left: u64,
}

impl<P: ArrivalProcess> Limited<P> {
    /// Keeps arrivals before `horizon` ([`Time::NEVER`]: all, one after the end of time too), at
    /// most `max` of them.
    pub fn new(inner: P, horizon: Time, max: u64) -> Limited<P> {
        Limited { inner, horizon, left: max }
    }
}

impl<P: ArrivalProcess> ArrivalProcess for Limited<P> {
    fn next(&mut self) -> Option<Time> {
        if self.left == 0 {
            return None;
        }
        match self.inner.next() {
            Some(at) if at < self.horizon || self.horizon == Time::NEVER => {
                self.left -= 1;
                Some(at)
            }
            _ => {
                self.left = 0;
                None
            }
        }
    }
}

/// Evenly spaced arrivals from a phase of the stream `"arrivals"`, for processes that run side by
/// side: from time zero they would all arrive at once.
pub(crate) fn evenly(rate_per_s: f64, seed: u64, index: u64) -> Result<BoxedProcess, TraceError> {
    within("rate_per_s", rate_per_s, RATE_MIN, RATE_MAX)?;
    Ok(Box::new(Renewal::phased(rate_per_s, Stream::named(seed, "arrivals", index))))
}

#[cfg(test)]
mod tests;
