//! The search itself: about where, then exactly. It knows no scheduler: it asks a closure.
//!
//! ```text
//! highest rate:    glances (short probes) to about where the answer is, then whole probes from there on: up while
//!                  good or down while bad, first as far as the glances' line says and then by steps that grow, until
//!                  both were seen; then where the line through ln(share of bad requests) over ln(rate) meets the
//!                  target, a little to its good side and a little to its bad one, until the two are within
//!                  `tolerance`. A line that leads nowhere (a jump, noise) costs one probe more than halving: each
//!                  rate is near enough to the middle for that (ITP: Oliveira and Takahashi, 2020)
//! fewest devices:  up while bad, by steps that double, then the middle of whole numbers
//! ```
//!
//! A glance says where to begin, and nothing else: an answer and its clear rates are those of whole probes. Who begins
//! with a good idea of the rate needs neither glances nor a line: then the bracket is halved.
//!
//! The search takes for granted that less load is never worse. It looks at some lower rates afterwards
//! and says so when that was wrong. Where a little less than the answer does not come back from a burst, the
//! answer is probed again for longer, and searched anew with such probes when it does not hold.

use super::{How, Probe};

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

/// Glances end with a bracket of this width.
const ROUGH: f64 = 0.1;

/// Shares of bad requests are told apart up to so far from the target, in ln: few bad ones, or none, are a matter of
/// luck.
const FAR: f64 = 4.0;

/// So many probes more than halving needs, at most.
const SLACK: f64 = 1.0;

/// The first step from where glances end, at most.
const FIRST_STEP_MAX: f64 = 1.25;

/// So much of the tolerance below where the target is met, a rate is likely to be good.
const LESS: f64 = 0.25;

/// A share that lies on the other side of the target than its verdict is taken to lie so near, in ln.
const NEAR: f64 = 0.01;

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
    /// Begin with glances, where nobody has a good idea of the rate and probes can be short, and go by the line
    /// through their shares of bad requests to where this one is met. Without it the bracket is halved.
    pub target: Option<f64>,
    /// Look below and above the answer, too.
    pub around: bool,
}

impl Bracket {
    fn glances(&self) -> bool {
        self.target.is_some()
    }
}

/// A rate that was probed.
#[derive(Clone, Copy, Debug)]
struct End {
    rate: f64,
    /// ln(share of bad requests / target), with the verdict's sign.
    y: f64,
}

impl End {
    fn new(rate: f64, probe: &Probe, target: Option<f64>) -> End {
        let y = libm::log(probe.bad_rate.max(1e-9) / target.unwrap_or(1.0)).clamp(-FAR, FAR);
        // A backlog that grows is bad, whatever its share is by now.
        End { rate, y: if probe.good { y.min(-NEAR) } else { y.max(NEAR) } }
    }
}

/// What encloses the target, as far as it was found.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    good: Option<End>,
    bad: Option<End>,
}

/// What is known before a bracket is looked for.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// A bad rate above where it begins.
    bad: Option<End>,
    /// About how much ln(share of bad requests) grows with ln(rate).
    slope: Option<f64>,
}

/// A good rate and a bad one above it.
#[derive(Clone, Copy, Debug)]
struct Between {
    good: End,
    bad: End,
}

impl Between {
    /// In ln(rate).
    fn width(&self) -> f64 {
        libm::log(self.bad.rate / self.good.rate)
    }

    /// Where the line through both meets the target, in ln(rate) above the good end.
    fn root(&self) -> f64 {
        self.width() * self.good.y / (self.good.y - self.bad.y)
    }

    /// So many times it is halved, at most, until it is no wider than `narrow`.
    fn halvings(&self, narrow: f64) -> f64 {
        libm::log2(self.width() / narrow).max(0.0).ceil()
    }

    /// The next rate: a little to the good side of the root, so that the one after it, on the bad side, ends the search;
    /// near enough to the middle for `left` probes, this one among them, to end it.
    fn next(&self, narrow: f64, left: f64) -> f64 {
        let (width, root, less) = (self.width(), self.root(), narrow * LESS);
        let aim = if root > less { root - less } else { root + narrow * 0.7 };
        let from_middle = (narrow * libm::exp2(left - 1.0) - 0.5 * width).max(0.0);
        let (least, most) = (0.5 * width - from_middle, 0.5 * width + from_middle);
        self.at(aim.clamp(0.1 * width, 0.9 * width).clamp(least, most))
    }

    /// By how much ln(share of bad requests) grows with ln(rate).
    fn slope(&self) -> f64 {
        (self.bad.y - self.good.y) / self.width()
    }

    fn middle(&self) -> f64 {
        (self.good.rate * self.bad.rate).sqrt()
    }

    fn at(&self, above_good: f64) -> f64 {
        self.good.rate * libm::exp(above_good)
    }
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
        if search.glances() && self.other(at, How { glance: true, ..how })?.good {
            return Ok(None);
        }
        Ok(stays_bad(&self.other(at, how)?))
    }

    /// The end of a bracket that a rate is, and whether it is the good one.
    fn end(&mut self, rate: f64, target: Option<f64>) -> Result<(bool, End), E> {
        let good = self.ask(rate)?;
        Ok((good, End::new(rate, &self.all.last().expect("just asked").1, target)))
    }

    /// From `start` to a bracket of the tolerance, with what is `known` before. Where one of its ends was not found the
    /// other is the last rate that was tried.
    fn bracket(&mut self, search: &Bracket, known: Known) -> Result<Ends, E> {
        let lowest = (search.start * REACH.0).max(RATE_MIN_PER_S);
        let highest = search.start * REACH.1;
        let narrow = libm::log1p(search.tolerance);
        let (mut step, mut rate, mut slope) = (search.step, search.start, known.slope);
        let mut ends = Ends { bad: known.bad, ..Ends::default() };
        let mut found = loop {
            let (good, end) = self.end(rate, search.target)?;
            if good {
                ends.good = Some(end);
            } else {
                ends.bad = Some(end);
            }
            if let Some(slope) = slope.take() {
                let far = libm::exp(end.y.abs() / slope + 0.5 * narrow);
                step = far.clamp(search.step, FIRST_STEP_MAX.max(search.step));
            }
            if let Ends { good: Some(good), bad: Some(bad) } = ends {
                break Between { good, bad };
            }
            rate = if good { rate * step } else { rate / step };
            if !(lowest..=highest).contains(&rate) {
                return Ok(ends);
            }
            step = (step * step).min(search.step_max);
        };
        let is_wide = |f: &Between| f.bad.rate > f.good.rate * (1.0 + search.tolerance) * ROUNDING;
        let mut left = found.halvings(narrow) + SLACK;
        while is_wide(&found) {
            let rate = if search.glances() { found.next(narrow, left) } else { found.middle() };
            left -= 1.0;
            let (good, end) = self.end(rate, search.target)?;
            if good {
                found.good = end;
            } else {
                found.bad = end;
            }
        }
        Ok(Ends { good: Some(found.good), bad: Some(found.bad) })
    }

    /// The search for the exact rate, from where glances say that it is, and what they know.
    fn about_where(&mut self, search: &Bracket) -> Result<(Bracket, Known), E> {
        self.how = How::GLANCE;
        let rough = Bracket { tolerance: ROUGH.max(search.tolerance), ..*search };
        let ends = self.bracket(&rough, Known::default())?;
        self.how = How::USUAL;
        for (_, probe) in self.all.drain(..) {
            self.others = (self.others.0 + 1, self.others.1 + probe.requests);
        }
        let Ends { good: Some(good), bad: Some(bad) } = ends else {
            return Ok((*search, Known::default()));
        };
        let found = Between { good, bad };
        let start = found.at(found.root() - libm::log1p(search.tolerance) * LESS);
        let known = Known { slope: Some(found.slope()), bad: None };
        Ok((Bracket { start, step: 1.0 + search.tolerance, ..*search }, known))
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
            let seen =
                search.glances() && is_clear(self, true) && self.other(at, How::GLANCE)?.good;
            if !seen {
                self.ask(at)?;
            }
        }
        for share in GOOD_UP_TO {
            if search.glances() && !is_clear(self, true) {
                self.ask(value * share)?;
            }
        }
        for times in BAD_FROM {
            if search.glances() && !is_clear(self, false) {
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
        let (exact, known) = match self.glances() {
            true => asked.about_where(self)?,
            false => (*self, Known::default()),
        };
        let mut value = match asked.bracket(&exact, known)? {
            Ends { good: Some(good), bad: Some(_) } => good.rate,
            Ends { good: Some(good), bad: None } => {
                return Ok(Found { good_up_to: Some(good.rate), ..asked.found(None) });
            }
            _ => return Ok(Found { never_good: true, ..asked.found(None) }),
        };
        let (mut refuted, mut metastable) = (None, None);
        if self.around {
            asked.ask(value * ABOVE)?;
            metastable = asked.after_burst(self, value)?;
            if metastable.is_some() || asked.collapse(value).is_some() {
                asked.how.longer = LONGER;
                let (holds, end) = asked.end(value, None)?;
                if !holds {
                    (refuted, asked.refuted) = (Some(value), true);
                    let start = value / (1.0 + 4.0 * self.tolerance);
                    let step = 1.0 + 4.0 * self.tolerance;
                    // No line leads over the edge of a collapse.
                    let again = Bracket { start, step, target: None, ..*self };
                    let known = Known { bad: Some(end), slope: None };
                    match asked.bracket(&again, known)?.good {
                        Some(good) => value = good.rate,
                        None => {
                            return Ok(Found { never_good: true, refuted, ..asked.found(None) });
                        }
                    }
                    metastable = asked.after_burst(self, value)?;
                }
                asked.how = How::USUAL;
            }
            asked.look_around(self, value)?;
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
