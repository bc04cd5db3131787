//! The search itself: two ramps, or a bracket. It knows no scheduler: it asks a closure.
//!
//! ```text
//! highest rate:    a short ramp from below the start to three times that, moved until the share of bad requests meets
//!                  the target in it; a whole one of a few percent around there, whose line says the rate. Where there
//!                  is no line (a jump, few bad requests, models that differ, a burst that is not recovered from, a load
//!                  that cannot rise) a bracket: up while good or down while bad, by steps that grow, until both were
//!                  seen, then halved until the two are within `tolerance`
//! fewest devices:  up while bad, by steps that double, then the middle of whole numbers
//! ```
//!
//! The search takes for granted that less load is never worse. It looks at lower rates, too, and says so when that was
//! wrong. Where a little less than a bracket's answer does not come back from a burst, the answer is probed again for
//! longer, and searched anew with such probes when it does not hold.

use super::{How, Met, Probe, Ramp, Root};

/// Shares of the found rate that are probed afterwards: below it, to see whether less is worse.
const BELOW: [f64; 3] = [0.9, 0.7, 0.5];

/// And just above it, to see what becomes of it there.
const ABOVE: f64 = 1.05;

/// Where nothing near the answer is clear: further below and above it, until something is.
const GOOD_UP_TO: [f64; 2] = [0.3, 0.1];
const BAD_FROM: [f64; 5] = [1.1, 1.2, 1.5, 2.0, 4.0];

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

/// Two rates that are one step apart are within the tolerance, whatever rounding says.
const ROUNDING: f64 = 1.0 + 1e-12;

/// The first ramp begins at this share of the start, and rises by so much.
const ROUGH: (f64, f64) = (0.7, 3.0);

/// ln(share of bad requests) changes by so much to each side of the answer, in the second ramp; and its ends, in ln.
const REACHED: f64 = 2.0;
const HALF: (f64, f64) = (0.01, 0.2);

/// A root in the middle part of a ramp is believed.
const INNER: f64 = 0.8;

/// Student's 0.9995 quantile, 6 degrees of freedom: so many errors from the answer a rate is clear.
const SURE: f64 = 6.0;

/// A line is exact enough whose error is so many times the tolerance; else there is a longer ramp, too.
const EXACT: f64 = 1.25;

/// The second ramp is moved so often, at most.
const MOVED: u32 = 4;

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
    /// The share of bad requests that ramps look for, where the load can rise. Without it there is a bracket only.
    pub target: Option<f64>,
    /// Look below and above the answer, too.
    pub around: bool,
}

/// What encloses the target, as far as it was found.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    good: Option<f64>,
    bad: Option<f64>,
}

/// What ramps say.
#[derive(Clone, Copy, Debug)]
enum Risen {
    /// The rate, with what its line is.
    At { rate: f64, root: Root, collapse: Option<f64> },
    /// About where it is, if they know.
    About(Option<f64>),
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
    /// A rate that was bad below the answer, or below one that was good beyond doubt.
    pub worse_below: Option<f64>,
    /// The share of bad requests with 5 % more, where that is a collapse.
    pub collapse: Option<f64>,
    /// The share of bad requests with 1.5 % less, after a burst from which it does not come back.
    pub metastable: Option<f64>,
    /// The rate that was found first, where a longer probe refuted it.
    pub refuted: Option<f64>,
    /// Ramps were asked, and a bracket had to say it.
    pub by_bracket: bool,
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
    /// Probes of which nothing is kept (glances, those after a burst), and their requests.
    others: (u32, u64),
    /// Longer probes refuted shorter ones: what these said of higher rates is no evidence.
    refuted: bool,
}

impl<E, F: FnMut(f64, How) -> Result<Probe, E>> Asked<F> {
    fn new(probe: F) -> Asked<F> {
        Asked { probe, how: How::USUAL, all: Vec::new(), others: (0, 0), refuted: false }
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

    /// From `start` to a bracket of the tolerance, below a rate that is known to be bad. Where one of its ends was not
    /// found the other is the last rate that was tried.
    fn bracket(&mut self, search: &Bracket, bad: Option<f64>) -> Result<Ends, E> {
        let lowest = (search.start * REACH.0).max(RATE_MIN_PER_S);
        let highest = search.start * REACH.1;
        let (mut step, mut rate) = (search.step, search.start);
        let mut ends = Ends { bad, good: None };
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

    /// About where a short ramp sees the target met, and the slope of its line there; no slope where nothing is to be
    /// gained by ramps, and no rate where none was seen.
    fn roughly(&mut self, search: &Bracket, target: f64) -> Result<Option<(f64, Option<f64>)>, E> {
        let (mut from, by) = (search.start * ROUGH.0, ROUGH.1);
        let lowest = (search.start * REACH.0).max(RATE_MIN_PER_S);
        let (unknown, mut moved) = (Some(REACHED / HALF.1), None);
        while (lowest..=search.start * REACH.1).contains(&from) {
            let Some(ramp) = self.ramp(from, by, How::GLANCE)? else { return Ok(None) };
            match ramp.meets(target) {
                Met::At(root) => {
                    let is_monotone = !ramp.is_worse_below(root.factor, target);
                    let slope = is_monotone.then_some(root.slope);
                    return Ok(Some((from * root.factor, slope)));
                }
                Met::Jump(low, high) => return Ok(Some((from * (low * high).sqrt(), unknown))),
                // Two that contradict each other have it between them.
                Met::Beyond(way) if moved.is_some_and(|m| m != way) => {
                    return Ok(Some((if way.is_lt() { from * by } else { from }, unknown)));
                }
                Met::Beyond(way) => {
                    moved = Some(way);
                    from = if way.is_lt() { from * by } else { from / by };
                }
            }
        }
        Ok(None)
    }

    /// The rate by two ramps, or three.
    fn by_ramps(&mut self, search: &Bracket, target: f64) -> Result<Risen, E> {
        let (mut rate, mut slope) = match self.roughly(search, target)? {
            Some((rate, Some(slope))) => (rate, slope),
            about => return Ok(Risen::About(about.map(|about| about.0))),
        };
        let (mut how, mut before) = (How::USUAL, None);
        for _ in 0..MOVED {
            let half = (REACHED / slope).clamp(HALF.0, HALF.1);
            let from = rate * libm::exp(-half);
            let Some(ramp) = self.ramp(from, libm::exp(2.0 * half), how)? else { break };
            match ramp.meets(target) {
                Met::At(root) => {
                    let inner = (1.0 - INNER) * half..=(1.0 + INNER) * half;
                    let is_inner = inner.contains(&libm::log(root.factor));
                    let most = ramp.most_up_to(root.factor * ABOVE);
                    let both = before.take().map_or(root, |(rate, of): (f64, Root)| {
                        root.with(of, libm::log(rate / from))
                    });
                    (rate, slope) = (from * both.factor, root.slope);
                    let off = both.error / search.tolerance;
                    if is_inner && (off < EXACT || how.longer > 1) {
                        let collapse = (most > COLLAPSE).then_some(most);
                        return Ok(Risen::At { rate, root: both, collapse });
                    }
                    if is_inner {
                        before = Some((from, root));
                        how.longer = (off * off).clamp(1.0, 3.0).ceil() as u32;
                    }
                }
                Met::Jump(low, high) => {
                    rate = from * (low * high).sqrt();
                    if how.longer > 1 {
                        break;
                    }
                    slope *= 2.0;
                    how.longer = 4;
                }
                Met::Beyond(way) => rate *= libm::exp(if way.is_lt() { half } else { -half }),
            }
        }
        Ok(Risen::About(Some(rate)))
    }

    /// The highest good rate by a bracket.
    fn by_bracket(&mut self, search: &Bracket) -> Result<Found, E> {
        let mut value = match self.bracket(search, None)? {
            Ends { good: Some(good), bad: Some(_) } => good,
            Ends { good: Some(good), bad: None } => {
                return Ok(Found { good_up_to: Some(good), ..self.found(None) });
            }
            _ => return Ok(Found { never_good: true, ..self.found(None) }),
        };
        let (mut refuted, mut metastable) = (None, None);
        if search.around {
            self.ask(value * ABOVE)?;
            metastable = self.after_burst(search, value)?;
            if metastable.is_some() || self.collapse(value).is_some() {
                self.how.longer = LONGER;
                if !self.ask(value)? {
                    (refuted, self.refuted) = (Some(value), true);
                    let start = value / (1.0 + 4.0 * search.tolerance);
                    match self.bracket(&search.near(start), Some(value))?.good {
                        Some(good) => value = good,
                        None => {
                            return Ok(Found { never_good: true, refuted, ..self.found(None) });
                        }
                    }
                    metastable = self.after_burst(search, value)?;
                }
                self.how = How::USUAL;
            }
            self.look_around(search, value)?;
        }
        Ok(Found { refuted, metastable, ..self.found(Some(value)) })
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
        let above = |(v, p): &&(f64, Probe)| {
            *v > value && *v <= value * ABOVE * (1.0 + 1e-9) && p.bad_rate > COLLAPSE
        };
        self.all.iter().filter(above).map(|(_, p)| p.bad_rate).reduce(f64::max)
    }

    /// What was found. What the last probe of a rate said counts.
    fn found(&self, value: Option<f64>) -> Found {
        let of = |at: f64| self.all.iter().rev().find(|(v, _)| *v == at).map(|(_, p)| p);
        let sure = |good: bool| {
            self.all.iter().filter(move |(v, p)| {
                p.good == good && p.is_sure() && of(*v).is_some_and(|last| last.good == good)
            })
        };
        let clear = sure(true).map(|(v, _)| *v).filter(|_| !self.refuted);
        let highest = clear.chain(value).fold(0.0, f64::max);
        let below = |(v, p): &&(f64, Probe)| !p.good && value.is_some() && *v < highest;
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

impl Bracket {
    /// The highest good rate. The closure is asked for a probe at a rate, and how it is to be made.
    ///
    /// # Errors
    /// The first error of a probe.
    pub fn highest<E>(&self, probe: impl FnMut(f64, How) -> Result<Probe, E>) -> Result<Found, E> {
        let mut asked = Asked::new(probe);
        let Some(target) = self.target else { return asked.by_bracket(self) };
        match asked.by_ramps(self, target)? {
            Risen::At { rate, root, collapse } => {
                if !self.around || asked.after_burst(self, rate)?.is_none() {
                    let off = libm::exp(SURE * root.error);
                    let (clearly_good, clearly_bad) = (Some(rate / off), Some(rate * off));
                    let of_ramps =
                        Found { clearly_good, clearly_bad, collapse, ..asked.found(None) };
                    return Ok(Found { value: Some(rate), ..of_ramps });
                }
                asked.by_bracket(&self.near(rate))
            }
            Risen::About(None) => asked.by_bracket(self),
            Risen::About(Some(rate)) => asked.by_bracket(&self.near(rate)),
        }
        .map(|found| Found { by_bracket: true, ..found })
    }

    /// With small steps from a rate on that is nearly right.
    fn near(&self, start: f64) -> Bracket {
        Bracket { start, step: 1.0 + 4.0 * self.tolerance, ..*self }
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
