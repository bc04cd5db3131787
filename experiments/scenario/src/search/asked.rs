//! The probes of a search: asked for, remembered, and what follows from them all.

use super::{Aim, How, Probe};

/// And just above it, to see what becomes of it there.
pub(super) const ABOVE: f64 = 1.05;

/// With 5 % more than the peak a stable scheduler that drops requests in time loses little more than 5 %: more
/// than this share of bad requests is a collapse. Where late requests are answered all the same, every overload
/// is one, and says nothing of the peak.
pub(super) const COLLAPSE: f64 = 0.1;

/// The share of an answer that has to come back from a burst: at the peak itself there is nothing left to work
/// it off with.
pub const HELD: f64 = 0.985;

/// An answer that does not come back, or is next to a collapse, is probed again for so many times as long: a
/// system may collapse so seldom that most probes see nothing of it.
pub(super) const LONGER: u32 = 8;

/// The search gives up below this share of where it began, and above so many times that.
pub(super) const REACH: (f64, f64) = (1e-7, 1e5);

/// Nor does it go below this rate: a probe would come to the end of simulated time.
pub(super) const RATE_MIN_PER_S: f64 = 1e-5;

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
    /// The largest share of bad requests, where probes can tell how far they are from it: then the answer is the root
    /// of a line through them. Without it the bracket is halved.
    pub target: Option<f64>,
    /// Look below and above the answer, too.
    pub around: bool,
}

/// The end of an interval is not looked for beyond so many times the answer, or below that part of it.
const FURTHER: f64 = 16.0;

/// It is looked for by steps of this.
const FARTHER: f64 = 1.1;

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The highest good rate, or the smallest good number; `None` when there is no answer.
    pub value: Option<f64>,
    /// Its 95 % interval: of a highest rate.
    pub interval: Option<(f64, f64)>,
    /// The rate of the probe for a figure that is nearest to it, where there is an interval.
    pub nearest: Option<f64>,
    /// The probe that it was found by, or that nearest one.
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
pub(super) struct Asked<F> {
    probe: F,
    /// How the next probe is made.
    pub how: How,
    pub all: Vec<(f64, Probe)>,
    /// How each of them was made.
    made: Vec<How>,
    /// Probes after a burst, and their requests.
    bursts: (u32, u64),
}

impl<E, F: FnMut(f64, How) -> Result<Probe, E>> Asked<F> {
    pub fn new(probe: F) -> Asked<F> {
        Asked { probe, how: How::USUAL, all: Vec::new(), made: Vec::new(), bursts: (0, 0) }
    }

    pub fn ask(&mut self, at: f64) -> Result<bool, E> {
        Ok(self.probe(at, self.how)?.good)
    }

    /// A probe made like this.
    pub fn probe(&mut self, at: f64, how: How) -> Result<&Probe, E> {
        let probe = (self.probe)(at, how)?;
        self.all.push((at, probe));
        self.made.push(how);
        Ok(&self.all[self.all.len() - 1].1)
    }

    /// The share of bad requests after a burst, with a little less than `value`, where it does not come back.
    pub fn after_burst(&mut self, value: f64) -> Result<Option<f64>, E> {
        let probe = (self.probe)(value * HELD, How { burst: true, ..How::USUAL })?;
        self.bursts = (self.bursts.0 + 1, self.bursts.1 + probe.requests);
        Ok(stays_bad(&probe))
    }

    /// From `good` to `bad`, none of which need be known, to a bracket of the tolerance. Neither end may
    /// be found: then the other is.
    pub fn bracket(&mut self, search: &Bracket) -> Result<(Option<f64>, Option<f64>), E> {
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

    /// The probe for a figure that is nearest to a rate.
    pub fn nearest(&self, rate: f64) -> Option<(f64, Probe)> {
        let figures = self.all.iter().filter(|(_, p)| p.figure.is_some());
        let off = |v: f64| libm::log(v / rate).abs();
        figures.min_by(|a, b| off(a.0).total_cmp(&off(b.0))).cloned()
    }

    /// The interval of an answer. An end that no line shows is the nearest rate that is good, or bad, beyond doubt by
    /// probes as long as `how` says; where there is none yet, it is looked for.
    pub fn interval(
        &mut self,
        value: f64,
        (low, high): (Option<f64>, Option<f64>),
        how: How,
    ) -> Result<(f64, f64), E> {
        let low = match low {
            Some(low) => low,
            None => self.clearly(value, true, how)?.unwrap_or(0.0),
        };
        let high = match high {
            Some(high) => high,
            None => self.clearly(value, false, how)?.unwrap_or(f64::INFINITY),
        };
        Ok((low, high))
    }

    /// The rate next to an answer that is good (not above it) or bad (above it) beyond doubt.
    fn clearly(&mut self, value: f64, good: bool, how: How) -> Result<Option<f64>, E> {
        let is_long = |h: &How| h.aim != Aim::Glance && h.longer >= how.longer;
        let mut off = 1.0;
        loop {
            let sure = |wanted: bool| {
                let these =
                    self.all.iter().zip(&self.made).filter(move |((_, p), how)| {
                        p.good == wanted && p.is_sure() && is_long(how)
                    });
                these.map(|((v, _), _)| *v)
            };
            let lowest_bad = sure(false).fold(f64::INFINITY, f64::min);
            let found = match good {
                true => sure(true).filter(|v| *v <= value && *v < lowest_bad).reduce(f64::max),
                false => sure(false).filter(|v| *v > value).reduce(f64::min),
            };
            if found.is_some() || off > FURTHER {
                return Ok(found);
            }
            off *= FARTHER;
            let at = if good { value / off } else { value * off };
            self.probe(at, How { aim: Aim::Verdict, ..how })?;
        }
    }

    /// The share of bad requests with at most 5 % more than `value`, if it collapses.
    pub fn collapse(&self, value: f64) -> Option<f64> {
        let above = |(v, p): &&(f64, Probe)| {
            *v > value && *v <= value * ABOVE * (1.0 + 1e-9) && p.bad_rate > COLLAPSE
        };
        self.all.iter().filter(above).map(|(_, p)| p.bad_rate).reduce(f64::max)
    }

    /// What was found. What the last probe of a rate said counts. Below `low` no rate should be bad.
    pub fn found(self, value: Option<f64>, low: Option<f64>) -> Found {
        let of = |at: f64| self.all.iter().rev().find(|(v, _)| *v == at).map(|(_, p)| p);
        let sure = |good: bool| {
            self.all.iter().filter(move |(v, p)| {
                p.good == good && p.is_sure() && of(*v).is_some_and(|last| last.good == good)
            })
        };
        let below = |(v, p): &&(f64, Probe)| {
            !p.good && low.is_some_and(|low| *v < low) && of(*v).is_some_and(|last| !last.good)
        };
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
