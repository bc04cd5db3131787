//! The search itself. It knows no scheduler: it asks a closure.
//!
//! ```text
//! about:           a short ramp, from below the start to three times that, moved until the share of bad requests meets
//!                  the target in it; where the load cannot rise, probes whose rate doubles or is halved
//! highest rate:    probes at single rates, each until ln(share) is exact enough. The line through the last one, with the
//!                  slope of the share's ln odds over ln(rate), says where the target is met: the next probe's rate, and the answer
//!                  once that is known within the tolerance. Where the share jumps, the bracket of good and bad rates is
//!                  halved until it is as narrow, and its good end is the answer
//! of verdicts:     (lists that are judged whole, probes of a given length) up while good or down while bad, by steps
//!                  that grow, until both were seen, then halved
//! fewest devices:  up while bad, by steps that double, then the middle of whole numbers
//! ```
//!
//! The search takes for granted that less load is never worse. It looks at lower rates, too, and says so when that was
//! wrong. Where a little less than an answer does not come back from a burst, it is probed again for longer, and searched
//! anew with such probes when it does not hold.

use super::crossing::{Crossing, ERRORS_95, Ends, ROUNDING, Sides, UNKNOWN, slope_around};
use super::found::{Found, UNDECIDED, stays_bad};
use super::tally::{MOST, must_be_in_time, odds};
use super::{Doubt, How, Met, Probe, Ramp, Terms};

/// Shares of the found rate that are probed afterwards: below it, to see whether less is worse.
const BELOW: [f64; 3] = [0.9, 0.7, 0.5];

/// And just above it, to see what becomes of it there.
const ABOVE: f64 = 1.05;

/// Where nothing near the answer is clear: further below and above it, until something is.
const GOOD_UP_TO: [f64; 2] = [0.3, 0.1];
const BAD_FROM: [f64; 5] = [1.1, 1.2, 1.5, 2.0, 4.0];

/// With 5 % more than the peak a stable scheduler that drops requests in time loses little more than 5 %: more
/// than this share of bad requests is a collapse. Where late requests are answered all the same, every overload
/// is one, and says nothing of the peak. It is that much above the target.
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

/// The first ramp begins at this share of the start, and rises by so much.
const ROUGH: (f64, f64) = (0.7, 3.0);

/// The slope of ln(share of bad requests) over ln(rate), where no ramp has shown one.
const SLOPE: f64 = 15.0;

/// Odds that are farther from the target's are taken for that.
const FARTHEST: f64 = 3.0;

/// How far a slope may be off: without a ramp, that of a ramp, and that of two probes with common random numbers.
const OFF: [f64; 3] = [1.0, 0.3, 0.25];

/// A share within so much of the target, in ln of the odds, says by its line where the target is met.
const NEAR: f64 = 2.0;

/// A share that is closer to the target is no clear verdict.
const CLEAR: f64 = 0.7;

/// A probe is asked for a standard error of ln(share) within these; where the slope is steeper, up to that.
const ERRORS: (f64, f64) = (0.1, 0.3);
const STEEP: (f64, f64) = (150.0, 0.6);

/// So many errors from the answer a rate is clear.
const SURE: f64 = 6.0;

/// An answer is exact enough whose error is so many times the tolerance.
const EXACT: f64 = 1.25;

/// A longer probe below a line's answer refutes it with so many times the target.
const WELL_ABOVE: f64 = 1.5;

/// The largest step of one probe to the next, as a factor, and how many there are at most.
const STEP: f64 = 1.2;
const PROBES_MAX: u32 = 40;

/// A search that is less exact has so many times the tolerance.
const ROUGHLY: f64 = 4.0;

/// Ramps begin at this share of what the devices can compute at most.
const BEGIN_AT: f64 = 0.5;

/// How a rate is searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracket {
    /// The rate to begin with.
    pub start: f64,
    /// The relative error of the answer, and the width of the final bracket.
    pub tolerance: f64,
    /// The first step, as a factor; each next one is its square.
    pub step: f64,
    /// The largest step.
    pub step_max: f64,
    /// The share of bad requests that is looked for. Without it each probe's verdict decides.
    pub target: Option<f64>,
    /// Look below and above the answer, too.
    pub around: bool,
    /// About where the answer is, if that is known: no ramp is asked then.
    pub hint: Option<f64>,
    /// Above this rate no load is good, by the closed form.
    pub most: Option<f64>,
}

/// Asks, and remembers all answers.
struct Asked<F> {
    probe: F,
    /// How the next probe is made.
    how: How,
    all: Vec<(f64, Probe)>,
    /// Probes of which nothing is kept (glances, those after a burst), and their requests.
    others: (u32, u64),
    /// Longer probes refuted shorter ones: what these said of higher rates is no evidence.
    refuted: bool,
    /// A rate just above the answer, and the share of bad requests there.
    above: Option<(f64, f64)>,
    /// The share of bad requests that is looked for; 0 where verdicts are.
    target: f64,
}

impl<E, F: FnMut(f64, How) -> Result<Probe, E>> Asked<F> {
    fn new(probe: F) -> Asked<F> {
        Asked {
            probe,
            how: How::USUAL,
            all: Vec::new(),
            others: (0, 0),
            refuted: false,
            above: None,
            target: 0.0,
        }
    }

    fn ask(&mut self, at: f64) -> Result<bool, E> {
        let probe = (self.probe)(at, self.how)?;
        let good = probe.good;
        self.all.push((at, probe));
        Ok(good)
    }

    /// A probe of which nothing is kept.
    fn other(&mut self, at: f64, how: How) -> Result<Probe, E> {
        let probe = (self.probe)(at, how)?;
        self.others = (self.others.0 + 1, self.others.1 + probe.requests);
        Ok(probe)
    }

    /// The share of bad requests after a burst, with a little less than `value`, where it does not come back.
    /// Who does not come back is far from the target: where a glance sees nothing bad there is nothing.
    fn after_burst(&mut self, search: &Bracket, value: f64) -> Result<Option<f64>, E> {
        let how = How { burst: true, ..How::USUAL };
        let at = value * HELD;
        if search.target.is_some() && self.other(at, How { glance: true, ..how })?.good {
            return Ok(None);
        }
        Ok(stays_bad(&self.other(at, how)?))
    }

    /// From `start` to a bracket of the tolerance. Where one of its ends was not found the other is the last rate that was
    /// tried.
    fn bracket(&mut self, search: &Bracket) -> Result<Ends, E> {
        let lowest = (search.start * REACH.0).max(RATE_MIN_PER_S);
        let highest = search.start * REACH.1;
        let (mut step, mut rate) = (search.step, search.hint.unwrap_or(search.start));
        let mut ends = Ends::default();
        let (mut good, mut bad) = loop {
            let is_good = self.ask(rate)?;
            *(if is_good { &mut ends.good } else { &mut ends.bad }) = Some(rate);
            if let Ends { good: Some(good), bad: Some(bad) } = ends {
                break (good, bad);
            }
            rate = if is_good { rate * step } else { rate / step };
            if !(lowest..=highest).contains(&rate) {
                return Ok(ends);
            }
            step = (step * step).min(search.step_max);
        };
        while bad > good * (1.0 + search.tolerance) * ROUNDING {
            let middle = (good * bad).sqrt();
            *(if self.ask(middle)? { &mut good } else { &mut bad }) = middle;
        }
        Ok(Ends { good: Some(good), bad: Some(bad) })
    }

    /// A ramp from a rate to `by` times that, if the load can rise.
    fn ramp(&mut self, from: f64, by: f64, how: How) -> Result<Option<Ramp>, E> {
        Ok(self.other(from, How { rises: Some(by), ..how })?.ramp)
    }

    /// About where a short ramp sees the target met, and the slope of its line there; no slope where it is none, and no
    /// rate where none was seen or less is worse.
    fn roughly(&mut self, search: &Bracket, target: f64) -> Result<Option<(f64, Option<f64>)>, E> {
        let (mut from, by) = (search.start * ROUGH.0, ROUGH.1);
        let lowest = (search.start * REACH.0).max(RATE_MIN_PER_S);
        let mut moved = None;
        while (lowest..=search.start * REACH.1).contains(&from) {
            let Some(ramp) = self.ramp(from, by, How::GLANCE)? else { return Ok(None) };
            match ramp.meets(target) {
                Met::At(root) => {
                    let is_monotone = !ramp.is_worse_below(root.factor, target);
                    let found = (from * root.factor, Some(root.slope));
                    return Ok(is_monotone.then_some(found));
                }
                Met::Jump(low, high) => return Ok(Some((from * (low * high).sqrt(), None))),
                // Two that contradict each other have it between them.
                Met::Beyond(way) if moved.is_some_and(|m| m != way) => {
                    return Ok(Some((if way.is_lt() { from * by } else { from }, None)));
                }
                Met::Beyond(way) => {
                    moved = Some(way);
                    from = if way.is_lt() { from * by } else { from / by };
                }
            }
        }
        Ok(None)
    }

    /// A probe near the answer, for a line of this slope.
    fn ask_near(&mut self, at: f64, (slope, tolerance): (f64, f64)) -> Result<(bool, Probe), E> {
        let most = if slope > STEEP.0 { STEEP.1 } else { ERRORS.1 };
        let error = (EXACT * tolerance * slope).clamp(ERRORS.0, most);
        let how = How { exact: Some(error), ..self.how };
        let probe = (self.probe)(at, how)?;
        self.all.push((at, probe.clone()));
        Ok((probe.good, probe))
    }

    /// From about where the target is met to where it is.
    fn near(
        &mut self,
        (search, target): (&Bracket, f64),
        (mut rate, slope): (f64, Option<f64>),
        mut ends: Ends,
    ) -> Result<Crossing, E> {
        let (lowest, highest) = (search.start * REACH.0, search.start * REACH.1);
        let (mut off, mut step) = (OFF[usize::from(slope.is_some())], STEP);
        let mut slope = slope.unwrap_or(SLOPE);
        let mut seen: Vec<(f64, f64, f64)> = Vec::new();
        let mut sides = Sides::default();
        let exact = EXACT * search.tolerance;
        for _ in 0..PROBES_MAX {
            let (good, probe) = self.ask_near(rate, (slope, search.tolerance))?;
            ends = ends.with(rate, good);
            let error_of_odds = probe.log_error / (1.0 - probe.bad_rate.min(MOST));
            // The logarithm of a share that varies is below that of its mean.
            let above = odds(probe.bad_rate) - odds(target) + error_of_odds * error_of_odds / 2.0;
            let mut next = if good { rate * step } else { rate / step };
            // Of a share that is hardly known, what it may be at most.
            let most = probe.shares.iter().map(|s| s.most).fold(0.0, f64::max);
            let known = match above < 0.0 && probe.log_error > UNKNOWN {
                true => (odds(most) - odds(target)).min(0.0),
                false => above,
            };
            seen.push((libm::log(rate), known.clamp(-FARTHEST, FARTHEST), error_of_odds));
            sides.see(rate, &probe, (odds(target), error_of_odds));
            if let Some(steep) = slope_around(&seen) {
                (slope, off) = (steep, OFF[2]);
            }
            if above.abs() < NEAR {
                let by = -above / slope;
                let by_slope = off * by.abs();
                // Not beyond rates that were seen to be good and bad.
                let answer = ends.clamp(rate * libm::exp(by), search.most);
                let error = sides.error_of(answer, (error_of_odds / slope).hypot(by_slope));
                // A share that is hardly known says nothing until some rate is above the target.
                let is_known = probe.log_error <= UNKNOWN || sides.above.is_some();
                // As long as a probe may be: the next one would say no more.
                let is_longest =
                    probe.doubt.is_some_and(|d| d != Doubt::Short) && by_slope <= exact && is_known;
                // So it is where good and bad are close together, and no jump.
                if error <= exact || is_longest || ends.are_within(search.tolerance) {
                    let more = error / exact;
                    let needs = (probe.requests as f64 * more * more) as u64;
                    let undecided = (error > UNDECIDED * search.tolerance).then_some(needs);
                    return Ok(Crossing::Line { rate: answer, error, undecided });
                }
                if is_known {
                    next = (rate * libm::exp(by)).clamp(rate / STEP, rate * STEP);
                }
            } else if ends.good.is_none() || ends.bad.is_none() {
                step = (step * step).min(search.step_max);
            }
            match ends {
                Ends { good: Some(good), bad: Some(bad) } => {
                    if ends.are_within(search.tolerance) {
                        return Ok(self.jump(good, bad));
                    }
                    if above.abs() >= NEAR || !(next > good && next < bad) {
                        next = (good * bad).sqrt();
                    }
                }
                _ if !(lowest.max(RATE_MIN_PER_S)..=highest).contains(&next) => {
                    return Ok(Crossing::Never(ends.good));
                }
                _ => {}
            }
            rate = next;
        }
        // It goes up and down: no line is believed.
        Ok(match (ends.good, ends.bad) {
            (Some(good), Some(bad)) => self.jump(good, bad),
            (good, _) => Crossing::Never(good),
        })
    }

    /// A jump is undecided where neither end's share is away from the target.
    fn jump(&self, good: f64, bad: f64) -> Crossing {
        let at = |end: f64| self.all.iter().rev().find(|(rate, _)| *rate == end).map(|(_, p)| p);
        let ends = [good, bad].map(at);
        let is_near =
            |p: &&Probe| (odds(p.bad_rate) - odds(self.target)).abs() < CLEAR.max(p.log_error);
        let near = ends.iter().flatten().filter(|p| is_near(p)).count();
        let most = ends.iter().flatten().map(|p| p.requests).max().unwrap_or(0);
        Crossing::Jump { good, bad, undecided: (near == 2).then_some(2 * most) }
    }

    /// The highest rate, by a line or the good end of a bracket.
    fn by_line(&mut self, search: &Bracket, target: f64) -> Result<Found, E> {
        let about = match search.hint {
            Some(rate) => Some((rate, None)),
            None => self.roughly(search, target)?,
        };
        let below_most = |rate: f64| search.most.map_or(rate, |most| rate.min(most));
        let ends = Ends { bad: search.most.map(|most| most * ROUNDING), good: None };
        let is_monotone = about.is_some();
        let (about, slope) = about.unwrap_or((search.start, None));
        let mut met = self.near((search, target), (below_most(about), slope), ends)?;
        let (mut refuted, mut metastable) = (None, None);
        if let (true, Some((value, is_jump))) = (search.around, met.value()) {
            // Where the answer is not well known, less of it is sure to be below it.
            let value = met.at_least().unwrap_or(value);
            if self.collapse(value).is_none() {
                self.glance_above(value)?;
            }
            metastable = self.after_burst(search, value)?;
            if metastable.is_some() || (is_jump && self.collapse(value).is_some()) {
                self.how.longer = LONGER;
                let at = if is_jump { value } else { value * HELD };
                let is_refuted = !self.ask(at)? && self.is_well_above(target);
                if is_refuted {
                    (refuted, self.refuted) = (Some(value), true);
                    let (lower, bad) = (at / (1.0 + 4.0 * search.tolerance), Some(at));
                    met = self.near((search, target), (lower, None), Ends { bad, good: None })?;
                    if let Some(value) = met.at_least() {
                        metastable = self.after_burst(search, value)?;
                    }
                }
                self.how = How::USUAL;
            }
            // A ramp has seen what is below the answer.
            if let Some((value, is_jump)) = met.value()
                && (is_jump || !is_monotone)
            {
                self.look_around(search, value)?;
            }
        }
        let found = Found { refuted, metastable, ..self.found(met.value().map(|v| v.0)) };
        let at = found.at.clone().map(|at| Probe { doubt: None, ..at });
        let found = Found { at, ..found };
        // How long a run holds is a matter of luck: no rate near the answer is clear.
        let is_bad_clear = metastable.is_none();
        let is_good_clear = is_bad_clear && refuted.is_none();
        let only_clear = |found: Found| Found {
            clearly_good: found.clearly_good.filter(|_| is_good_clear),
            clearly_bad: found.clearly_bad.filter(|_| is_bad_clear),
            ..found
        };
        Ok(only_clear(match met {
            Crossing::Line { rate, error, undecided } => {
                let [clear, within] = [SURE, ERRORS_95]
                    .map(|of| (rate * libm::exp(-of * error), rate * libm::exp(of * error)));
                Found {
                    at: None,
                    clearly_good: Some(clear.0),
                    clearly_bad: Some(clear.1),
                    within: Some(within),
                    undecided,
                    ..found
                }
            }
            Crossing::Jump { good, bad, undecided } => {
                Found { by_bracket: true, within: Some((good, bad)), undecided, ..found }
            }
            Crossing::Never(good_up_to) => {
                Found { good_up_to, never_good: good_up_to.is_none(), ..found }
            }
        }))
    }

    /// Whether the last probe's share is more than chance makes of one near the target.
    fn is_well_above(&self, target: f64) -> bool {
        self.all.last().is_some_and(|(_, p)| p.bad_rate > WELL_ABOVE * target)
    }

    /// A short probe of 5 % more than the answer, to see a collapse.
    fn glance_above(&mut self, value: f64) -> Result<(), E> {
        let at = value * ABOVE;
        let probe = self.other(at, How::GLANCE)?;
        self.above = Some((at, probe.bad_rate));
        Ok(())
    }

    /// The highest good rate by verdicts.
    fn by_verdicts(&mut self, search: &Bracket) -> Result<Found, E> {
        let (good, bad) = match self.bracket(search)? {
            Ends { good: Some(good), bad: Some(bad) } => (good, bad),
            Ends { good: Some(good), bad: None } => {
                return Ok(Found { good_up_to: Some(good), ..self.found(None) });
            }
            _ => return Ok(Found { never_good: true, ..self.found(None) }),
        };
        if search.around {
            self.ask(good * ABOVE)?;
            self.look_around(search, good)?;
        }
        Ok(Found { within: Some((good, bad)), ..self.found(Some(good)) })
    }

    /// Whether less is worse, and from where on rates are good and bad beyond doubt.
    fn look_around(&mut self, search: &Bracket, value: f64) -> Result<(), E> {
        let is_clear = |asked: &Self, good: bool| {
            let found = asked.found(Some(value));
            if good { found.clearly_good.is_some() } else { found.clearly_bad.is_some() }
        };
        for share in BELOW {
            // Where something is clear, a glance that finds nothing is enough.
            let at = value * share;
            let seen = search.target.is_some()
                && is_clear(self, true)
                && self.other(at, How::GLANCE)?.good;
            if !seen {
                self.ask(at)?;
            }
        }
        for share in GOOD_UP_TO {
            if search.target.is_some() && !is_clear(self, true) {
                self.ask(value * share)?;
            }
        }
        for times in BAD_FROM {
            if search.target.is_some() && !is_clear(self, false) {
                self.ask(value * times)?;
            }
        }
        Ok(())
    }

    /// The share of bad requests with at most 5 % more than `value`, if it collapses.
    fn collapse(&self, value: f64) -> Option<f64> {
        let above = |(v, bad): &(f64, f64)| {
            *v > value && *v <= value * ABOVE * (1.0 + 1e-9) && *bad > self.target + COLLAPSE
        };
        let asked = self.all.iter().map(|(v, p)| (*v, p.bad_rate)).chain(self.above);
        asked.filter(above).map(|(_, bad)| bad).reduce(f64::max)
    }

    /// Whether a probe's verdict is beyond doubt: one near the answer was asked for its share.
    fn is_clear(&self, probe: &Probe) -> bool {
        let is_near = (odds(probe.bad_rate) - odds(self.target)).abs() < CLEAR;
        probe.is_sure() && (self.target == 0.0 || !is_near)
    }

    /// What was found. What the last probe of a rate said counts.
    fn found(&self, value: Option<f64>) -> Found {
        let of = |at: f64| self.all.iter().rev().find(|(v, _)| *v == at).map(|(_, p)| p);
        let sure = |good: bool| {
            self.all.iter().filter(move |(v, p)| {
                p.good == good && self.is_clear(p) && of(*v).is_some_and(|last| last.good == good)
            })
        };
        let clear = sure(true).map(|(v, _)| *v).filter(|_| !self.refuted);
        let highest = clear.chain(value).fold(0.0, f64::max);
        // Near the target chance has good above bad.
        let is_bad = |p: &Probe| !p.good && (self.target == 0.0 || self.is_clear(p));
        let below = |(v, p): &&(f64, Probe)| is_bad(p) && value.is_some() && *v < highest;
        // Where the share jumps, chance moves the jump.
        let near = if self.target > 0.0 { HELD } else { 1.0 };
        Found {
            value,
            at: value.and_then(of).cloned(),
            clearly_good: sure(true)
                .map(|(v, _)| *v)
                .filter(|v| value.is_none_or(|x| *v <= x * near))
                .reduce(f64::max),
            clearly_bad: sure(false)
                .map(|(v, _)| *v)
                .filter(|v| value.is_none_or(|x| *v > x / near))
                .reduce(f64::min),
            worse_below: self.all.iter().filter(below).map(|(v, _)| *v).reduce(f64::max),
            collapse: value.and_then(|value| self.collapse(value)),
            probes: self.all.len() as u32 + self.others.0,
            requests: self.all.iter().map(|(_, p)| p.requests).sum::<u64>() + self.others.1,
            ..Found::default()
        }
    }
}

impl Bracket {
    /// As [`Terms`] ask of a load with a mean rate, on devices that can compute so much at most: the same for whoever
    /// searches. What is judged whole, or for a length of its own, is searched by its verdicts.
    pub fn new(
        terms: &Terms,
        rate_per_s: f64,
        capacity_per_s: Option<f64>,
        is_list: bool,
    ) -> Bracket {
        let by_line = terms.exactly.is_none() && !is_list;
        let capacity = capacity_per_s.filter(|capacity| by_line && *capacity > 0.0);
        Bracket {
            start: capacity.map_or(rate_per_s, |capacity| capacity * BEGIN_AT),
            tolerance: terms.tolerance,
            step: 2.0,
            step_max: 2.0,
            target: by_line.then_some(terms.target),
            around: true,
            hint: None,
            most: capacity
                .map(|capacity| capacity / must_be_in_time(terms.criterion, terms.target)),
        }
    }

    /// From about where the answer is, with small steps, without a look around it, and less exact.
    pub fn from_hint(self, rate_per_s: f64) -> Bracket {
        let (step, step_max) = (1.0 + 4.0 * self.tolerance, 4.0);
        let tolerance =
            if self.target.is_some() { self.tolerance * ROUGHLY } else { self.tolerance };
        Bracket { hint: Some(rate_per_s), tolerance, step, step_max, around: false, ..self }
    }

    /// The highest good rate. The closure is asked for a probe at a rate, and how it is to be made.
    ///
    /// # Errors
    /// The first error of a probe.
    pub fn highest<E>(&self, probe: impl FnMut(f64, How) -> Result<Probe, E>) -> Result<Found, E> {
        let mut asked = Asked::new(probe);
        match self.target {
            None => asked.by_verdicts(self),
            Some(target) => {
                asked.target = target;
                asked.by_line(self, target)
            }
        }
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
