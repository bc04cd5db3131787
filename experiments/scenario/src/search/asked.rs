//! What a search asks and remembers: its settings, its probes, and what it found.

use super::{How, Probe};

/// With 5 % more than the peak a stable scheduler that drops requests in time loses little more than 5 %: more
/// than this share of bad requests is a collapse. Where late requests are answered all the same, every overload
/// is one, and says nothing of the peak.
pub(super) const COLLAPSE: f64 = 0.1;

/// Just above an answer: what becomes of it there.
pub(super) const ABOVE: f64 = 1.05;

/// The share of an answer that has to come back from a burst: at the peak itself there is nothing left to work
/// it off with.
pub const HELD: f64 = 0.985;

/// How a rate is searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracket {
    /// The rate to begin with.
    pub start: f64,
    /// The relative precision: a rate so much higher is bad, or the line through the probes says so.
    pub tolerance: f64,
    /// The share of bad requests that is still good.
    pub target: f64,
    /// The smallest step between rates that are far apart, as a factor.
    pub step: f64,
    /// The largest step.
    pub step_max: f64,
    /// Begin with short probes, to see about where the answer is.
    pub glance: bool,
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
pub(super) struct Asked<F> {
    probe: F,
    /// How the next probe is made.
    pub how: How,
    pub all: Vec<(f64, Probe)>,
    /// Probes of which nothing is kept (after a burst, glances), and their requests.
    others: (u32, u64),
}

impl<E, F: FnMut(f64, How) -> Result<Probe, E>> Asked<F> {
    pub fn new(probe: F) -> Asked<F> {
        Asked { probe, how: How::USUAL, all: Vec::new(), others: (0, 0) }
    }

    pub fn ask(&mut self, at: f64) -> Result<bool, E> {
        let probe = (self.probe)(at, self.how)?;
        let good = probe.good;
        self.all.push((at, probe));
        Ok(good)
    }

    /// A probe that only says where to go on.
    pub fn other(&mut self, at: f64, how: How) -> Result<Probe, E> {
        let probe = (self.probe)(at, how)?;
        self.others = (self.others.0 + 1, self.others.1 + probe.requests);
        Ok(probe)
    }

    /// The share of bad requests after a burst, with a little less than `value`, where it does not come back.
    pub fn after_burst(&mut self, value: f64) -> Result<Option<f64>, E> {
        let probe = self.other(value * HELD, How { burst: true, ..How::USUAL })?;
        Ok(stays_bad(&probe))
    }

    /// The share of bad requests with at most 5 % more than `value`, if it collapses.
    pub fn collapse(&self, value: f64) -> Option<f64> {
        let above = |(v, p): &&(f64, Probe)| {
            *v > value && *v <= value * ABOVE * (1.0 + 1e-9) && p.bad_rate > COLLAPSE
        };
        self.all.iter().filter(above).map(|(_, p)| p.bad_rate).reduce(f64::max)
    }

    /// What was found. What the last probe of a rate said counts.
    pub fn found(&self, value: Option<f64>) -> Found {
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
            probes: self.all.len() as u32 + self.others.0,
            requests: self.all.iter().map(|(_, p)| p.requests).sum::<u64>() + self.others.1,
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
