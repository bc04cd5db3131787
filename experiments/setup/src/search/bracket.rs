//! The search itself: bracket, then bisect. It knows no scheduler: it asks a closure.
//!
//! ```text
//! highest rate:    from `start`, up while good or down while bad, by steps that may grow, until both
//!                  were seen; then the geometric middle, until the bracket is narrower than `tolerance`
//! fewest devices:  up while bad, by steps that double, then the middle of whole numbers
//! ```
//!
//! Bisection takes for granted that less load is never worse. It looks at some lower rates afterwards
//! and says so when that was wrong. Where a little less than the answer does not come back from a burst, the
//! answer is probed again for longer, and searched anew with such probes when it does not hold.

use super::{How, Probe};

/// Shares of the found rate that are probed afterwards: below it, to see whether less is worse.
const BELOW: [f64; 3] = [0.9, 0.7, 0.5];

/// And just above it, to see what becomes of it there.
const ABOVE: f64 = 1.05;

/// With 5 % more than the peak a stable scheduler that drops requests in time loses little more than 5 %: more
/// than this share of bad requests is a collapse. Where late requests are answered all the same, every overload
/// is one, and says nothing of the peak.
const COLLAPSE: f64 = 0.1;

/// The share of an answer that has to come back from a burst: at the peak itself there is nothing left to work
/// it off with.
pub const HELD: f64 = 0.985;

/// An answer that does not come back, or is next to a collapse, is probed again for so many times as long: a
/// system may collapse so seldom that most probes see nothing of it.
const LONGER: u32 = 8;

/// The search gives up below this share of where it began, and above so many times that.
const REACH: (f64, f64) = (1e-7, 1e5);

/// Nor does it go below this rate: a probe would come to the end of simulated time.
const RATE_MIN_PER_S: f64 = 1e-5;

/// How a rate is searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracket {
    /// The rate to begin with.
    pub start: f64,
    /// The relative width of the final bracket.
    pub tolerance: f64,
    /// The first step, as a factor; each next one is its square.
    pub step: f64,
    /// The largest step.
    pub step_max: f64,
    /// Look below and above the answer, too.
    pub around: bool,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The highest good rate, or the smallest good number; `None` when there is no answer.
    pub value: Option<f64>,
    /// The probe that it was found by.
    pub at: Option<Probe>,
    /// No load was good, however small, or not even the most devices were enough.
    pub never_good: bool,
    /// Every rate was good, up to this one: there is no answer.
    pub good_up_to: Option<f64>,
    /// The highest rate (smallest number) that was good beyond doubt.
    pub clearly_good: Option<f64>,
    /// The lowest rate above the answer (largest number below it) that was bad beyond doubt.
    pub clearly_bad: Option<f64>,
    /// A lower rate that was bad.
    pub worse_below: Option<f64>,
    /// The share of bad requests with 5 % more, where that is a collapse.
    pub collapse: Option<f64>,
    /// The share of bad requests with 1.5 % less, after a burst from which it does not come back.
    pub metastable: Option<f64>,
    /// The rate that was found first, where a longer probe refuted it.
    pub refuted: Option<f64>,
    /// Probes made.
    pub probes: u32,
    /// Requests simulated by all probes.
    pub requests: u64,
}

/// Asks, and remembers all answers.
struct Asked<F> {
    probe: F,
    /// How the next probe is made.
    how: How,
    all: Vec<(f64, Probe)>,
    /// Probes after a burst, and their requests.
    bursts: (u32, u64),
}

impl<E, F: FnMut(f64, How) -> Result<Probe, E>> Asked<F> {
    fn new(probe: F) -> Asked<F> {
        Asked { probe, how: How::USUAL, all: Vec::new(), bursts: (0, 0) }
    }

    fn ask(&mut self, at: f64) -> Result<bool, E> {
        let probe = (self.probe)(at, self.how)?;
        let good = probe.good;
        self.all.push((at, probe));
        Ok(good)
    }

    /// The share of bad requests after a burst, with a little less than `value`, where it does not come back.
    fn after_burst(&mut self, value: f64) -> Result<Option<f64>, E> {
        let probe = (self.probe)(value * HELD, How { burst: true, ..How::USUAL })?;
        self.bursts = (self.bursts.0 + 1, self.bursts.1 + probe.requests);
        Ok(stays_bad(&probe))
    }

    /// From `good` to `bad`, none of which need be known, to a bracket of the tolerance. Neither end may
    /// be found: then the other is.
    fn bracket(&mut self, search: &Bracket) -> Result<(Option<f64>, Option<f64>), E> {
        let next = |step: f64| (step * step).min(search.step_max);
        let mut step = search.step;
        let (mut good, mut bad) = (search.start, search.start);
        if self.ask(search.start)? {
            loop {
                bad = good * step;
                if bad > search.start * REACH.1 {
                    return Ok((Some(good), None));
                }
                if !self.ask(bad)? {
                    break;
                }
                good = bad;
                step = next(step);
            }
        } else {
            loop {
                good = bad / step;
                if good < (search.start * REACH.0).max(RATE_MIN_PER_S) {
                    return Ok((None, Some(bad)));
                }
                if self.ask(good)? {
                    break;
                }
                bad = good;
                step = next(step);
            }
        }
        while bad > good * (1.0 + search.tolerance) {
            let middle = (good * bad).sqrt();
            if self.ask(middle)? { good = middle } else { bad = middle }
        }
        Ok((Some(good), Some(bad)))
    }

    /// The share of bad requests with at most 5 % more than `value`, if it collapses.
    fn collapse(&self, value: f64) -> Option<f64> {
        let above = |(v, p): &&(f64, Probe)| {
            *v > value && *v <= value * ABOVE * (1.0 + 1e-9) && p.bad_rate > COLLAPSE
        };
        self.all.iter().filter(above).map(|(_, p)| p.bad_rate).reduce(f64::max)
    }

    /// What was found. What the last probe of a rate said counts.
    fn found(self, value: Option<f64>) -> Found {
        let of = |at: f64| self.all.iter().rev().find(|(v, _)| *v == at).map(|(_, p)| p);
        let sure = |good: bool| {
            self.all.iter().filter(move |(v, p)| {
                p.good == good && p.is_sure() && of(*v).is_some_and(|last| last.good == good)
            })
        };
        let below = |(v, p): &&(f64, Probe)| !p.good && value.is_some_and(|value| *v < value);
        Found {
            value,
            at: value.and_then(of).cloned(),
            clearly_good: sure(true)
                .map(|(v, _)| *v)
                .filter(|v| value.is_none_or(|x| *v <= x))
                .reduce(f64::max),
            clearly_bad: sure(false)
                .map(|(v, _)| *v)
                .filter(|v| value.is_none_or(|x| *v > x))
                .reduce(f64::min),
            worse_below: self.all.iter().filter(below).map(|(v, _)| *v).reduce(f64::max),
            collapse: value.and_then(|value| self.collapse(value)),
            probes: self.all.len() as u32 + self.bursts.0,
            requests: self.all.iter().map(|(_, p)| p.requests).sum::<u64>() + self.bursts.1,
            ..Found::default()
        }
    }
}

/// The share of bad requests long after a burst, where that is above the target beyond doubt.
fn stays_bad(probe: &Probe) -> Option<f64> {
    (!probe.good && probe.is_sure()).then_some(probe.bad_rate)
}

impl Found {
    /// Adds what a probe after a burst said.
    pub fn add_burst(&mut self, probe: &Probe) {
        (self.probes, self.requests) = (self.probes + 1, self.requests + probe.requests);
        self.metastable = stays_bad(probe);
    }
}

impl Bracket {
    /// The highest good rate. The closure is asked for a probe at a rate, and how it is to be made.
    ///
    /// # Errors
    /// The first error of a probe.
    pub fn highest<E>(&self, probe: impl FnMut(f64, How) -> Result<Probe, E>) -> Result<Found, E> {
        let mut asked = Asked::new(probe);
        let mut value = match asked.bracket(self)? {
            (Some(good), Some(_)) => good,
            (Some(good), None) => {
                return Ok(Found { good_up_to: Some(good), ..asked.found(None) });
            }
            (None, _) => return Ok(Found { never_good: true, ..asked.found(None) }),
        };
        let (mut refuted, mut metastable) = (None, None);
        if self.around {
            asked.ask(value * ABOVE)?;
            metastable = asked.after_burst(value)?;
            if metastable.is_some() || asked.collapse(value).is_some() {
                asked.how.longer = LONGER;
                if !asked.ask(value)? {
                    refuted = Some(value);
                    let start = value / (1.0 + 4.0 * self.tolerance);
                    let again = Bracket { start, step: 1.0 + 4.0 * self.tolerance, ..*self };
                    match asked.bracket(&again)?.0 {
                        Some(good) => value = good,
                        None => {
                            return Ok(Found { never_good: true, refuted, ..asked.found(None) });
                        }
                    }
                    metastable = asked.after_burst(value)?;
                }
                asked.how = How::USUAL;
            }
            for share in BELOW {
                asked.ask(value * share)?;
            }
        }
        Ok(Found { refuted, metastable, ..asked.found(Some(value)) })
    }
}

/// The smallest good number from `least` to `most`, looked for from `start` on by steps that double.
///
/// # Errors
/// The first error of a probe.
pub fn fewest<E>(
    start: u32,
    least: u32,
    most: u32,
    mut probe: impl FnMut(u32) -> Result<Probe, E>,
) -> Result<Found, E> {
    let mut asked = Asked::new(|at: f64, _| probe(at as u32));
    let mut high = start.clamp(least, most);
    let mut low = least - 1; // the largest number known to be too few
    let mut step = (high - low).max(1);
    while !asked.ask(f64::from(high))? {
        if high == most {
            return Ok(Found { never_good: true, ..asked.found(None) });
        }
        low = high;
        high = high.saturating_add(step).min(most);
        step = step.saturating_mul(2);
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if asked.ask(f64::from(middle))? { high = middle } else { low = middle }
    }
    let value = f64::from(high);
    let sure = |good: bool| {
        let these = asked.all.iter().filter(move |(_, p)| p.good == good && p.is_sure());
        these.map(|(v, _)| *v).collect::<Vec<f64>>()
    };
    let clearly_good = sure(true).into_iter().reduce(f64::min);
    let clearly_bad = sure(false).into_iter().filter(|v| *v < value).reduce(f64::max);
    // Fewer are worse by themselves: what bisection saw below the answer is no warning.
    Ok(Found {
        worse_below: None,
        collapse: None,
        clearly_good,
        clearly_bad,
        ..asked.found(Some(value))
    })
}

#[cfg(test)]
mod tests;
