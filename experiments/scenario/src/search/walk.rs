//! From a rate to begin with to the highest good one, by what the shares of bad requests say.
//!
//! ```text
//!  glance ── far from the target? ──> on by what its share says, by steps that double; inside a bracket by the secant
//!     │ near
//!     ▼
//!  probe ──> one end known: over to the other side of the target, by what the share says
//!     │      both: where the line through ln(share) over ln(rate) meets the target, or the middle
//!     ▼
//!  the good end, once the bad one is within the tolerance, or near and the line meets the target within it
//! ```
//!
//! A glance is a short probe that only says where to begin. Next to a collapse, and where a longer probe refuted an
//! answer, a line says nothing: there steps double and the bracket is halved to the tolerance.

use super::asked::{Asked, Bracket, COLLAPSE};
use super::{How, Probe};

/// The search gives up below this share of where it began, and above so many times that.
const REACH: (f64, f64) = (1e-7, 1e5);

/// Nor does it go below this rate: a probe would come to the end of simulated time.
const RATE_MIN_PER_S: f64 = 1e-5;

/// Glances at most.
const GLANCES: usize = 24;

/// So near the target, in ln(share), a glance is near enough.
const CLOSE: f64 = 0.7;

/// And so near to one another, in ln(rate), are two on both sides of it.
const CLOSE_ENDS: f64 = 0.14;

/// What ln(share) usually rises by with ln(rate), near the target, and what it is taken to be at least and at most.
const SLOPE: f64 = 15.0;
const SLOPES: (f64, f64) = (3.0, 60.0);

/// Shares are told apart up to so far from the target, in ln.
const FAR: f64 = 4.0;

/// A step over to the other side aims so far beyond the target, in ln(share).
const BEYOND: f64 = 0.3;

/// A line is believed between ends that are so near to one another, in ln(rate).
const NEAR: f64 = 0.049;

/// The next rate keeps this share of a bracket away from its ends.
const MARGIN: f64 = 0.1;

/// A rate that was probed, in logarithms.
#[derive(Clone, Copy, Debug)]
struct End {
    /// The rate itself.
    rate: f64,
    x: f64,
    /// ln(share of bad requests / target), with the verdict's sign.
    y: f64,
    bad_rate: f64,
}

impl End {
    fn new(rate: f64, probe: &Probe, target: f64) -> End {
        let y = libm::log(probe.bad_rate.max(1e-9) / target).clamp(-FAR, FAR);
        // A backlog that grows is bad, whatever its share is by now.
        let y = if probe.good { y.min(-1e-3) } else { y.max(1e-3) };
        End { rate, x: libm::log(rate), y, bad_rate: probe.bad_rate }
    }
}

/// The ends of the bracket that are known, and how the next step is made.
struct Ends {
    good: Option<End>,
    bad: Option<End>,
    slope: f64,
    step: f64,
    /// Steps inside the bracket.
    inside: u32,
    /// Shares say nothing: steps only double, and the bracket is halved.
    plain: bool,
    /// Where glances saw a good rate and a bad one, in ln.
    glanced: (Option<f64>, Option<f64>),
}

/// What ends a walk.
type Walked = (Option<f64>, Option<f64>);

impl Ends {
    fn new(plain: bool) -> Ends {
        let (good, bad, glanced) = (None, None, (None, None));
        Ends { good, bad, slope: SLOPE, step: 0.0, inside: 0, plain, glanced }
    }

    fn learn(&mut self, good: bool, end: End) {
        let other = if good { self.good.replace(end) } else { self.bad.replace(end) };
        let other = other.or(if good { self.bad } else { self.good });
        // Shares that are not at their limits show the slope.
        if let Some(other) = other
            && other.y.abs().max(end.y.abs()) < FAR / 2.0
        {
            let slope = (end.y - other.y) / (end.x - other.x);
            self.slope = slope.clamp(SLOPES.0, SLOPES.1);
        }
    }

    /// ln of the next rate while one end is known: over to the other side of the target.
    fn over(&mut self, search: &Bracket) -> f64 {
        let (least, most) = (libm::log(search.step), libm::log(search.step_max));
        let (slope, plain) = (self.slope, self.plain);
        let guess = |y: f64| if plain { 0.0 } else { (y.abs() + BEYOND) / slope };
        // The first step goes no further than to where a glance was on the other side.
        let to = |x: Option<f64>, from: f64| x.map_or(f64::INFINITY, |x| (x - from).abs());
        let first = self.step == 0.0;
        let most = most.max(least);
        match (self.good, self.bad) {
            (Some(good), _) => {
                let most = if first { most.min(to(self.glanced.1, good.x)) } else { most };
                self.step = guess(good.y).max(2.0 * self.step).min(most).max(least);
                good.x + self.step
            }
            (None, Some(bad)) => {
                // Little more than what is served in time is carried.
                let served = if plain { 0.0 } else { -libm::log(1.0 - bad.bad_rate.min(0.99)) };
                let step = guess(bad.y).max(served).max(2.0 * self.step);
                let most = if first { most.min(to(self.glanced.0, bad.x)) } else { most };
                self.step = step.min(most).max(least);
                bad.x - self.step
            }
            (None, None) => libm::log(search.start),
        }
    }

    /// ln of the next rate inside the bracket; `None` where it is done.
    fn between(&mut self, (good, bad): (End, End), tolerance: f64) -> Option<f64> {
        let width = bad.x - good.x;
        let narrow = libm::log1p(tolerance);
        let root = width * -good.y / (bad.y - good.y);
        let is_cliff = bad.bad_rate > COLLAPSE;
        let is_line = !is_cliff && !self.plain && width <= NEAR;
        // A line is trusted to half of the tolerance.
        if width <= narrow || (is_line && root <= narrow / 2.0) {
            return None;
        }
        self.inside += 1;
        if self.plain || (is_cliff && width <= NEAR) || self.inside.is_multiple_of(3) {
            return Some(good.x + width / 2.0);
        }
        // A little below the root, so that it is good; where a good one is there, the bad end has to come near.
        let aim = if root <= narrow / 2.0 { NEAR / 2.0 } else { root - narrow / 4.0 };
        Some(good.x + aim.clamp(MARGIN * width, (1.0 - MARGIN) * width))
    }
}

impl<E, F: FnMut(f64, How) -> Result<Probe, E>> Asked<F> {
    /// The highest good rate and a bad one above it. Where one of them was not found the other is the last that was
    /// tried.
    pub fn walk(&mut self, search: &Bracket) -> Result<Walked, E> {
        let lowest = (search.start * REACH.0).max(RATE_MIN_PER_S);
        let highest = search.start * REACH.1;
        let mut ends = Ends::new(self.how.longer > 1);
        let mut rate = search.start;
        if search.glance {
            (rate, ends.glanced) = self.glances(search)?;
            rate = rate.clamp(lowest, highest);
        }
        loop {
            let good = self.ask(rate)?;
            let probe = &self.all.last().expect("just asked").1;
            let end = End::new(rate, probe, search.target);
            ends.learn(good, end);
            match (ends.good, ends.bad) {
                (Some(good), Some(bad)) => match ends.between((good, bad), search.tolerance) {
                    Some(x) => rate = libm::exp(x),
                    None => return Ok((Some(good.rate), Some(bad.rate))),
                },
                (good, bad) => {
                    rate = libm::exp(ends.over(search));
                    if !(lowest..=highest).contains(&rate) {
                        return Ok((good.map(|e| e.rate), bad.map(|e| e.rate)));
                    }
                }
            }
        }
    }

    /// About where the answer is, and ln of the good and the bad rate that enclose it.
    fn glances(&mut self, search: &Bracket) -> Result<(f64, Walked), E> {
        let mut ends = Ends::new(false);
        let rate = self.glance_into(search, &mut ends)?;
        Ok((rate, (ends.good.map(|e| e.x), ends.bad.map(|e| e.x))))
    }

    fn glance_into(&mut self, search: &Bracket, ends: &mut Ends) -> Result<f64, E> {
        let mut rate = search.start;
        for _ in 0..GLANCES {
            let probe = self.other(rate, How::GLANCE)?;
            let end = End::new(rate, &probe, search.target);
            ends.learn(probe.good, end);
            if end.y.abs() < CLOSE && !probe.is_sure() {
                return Ok(libm::exp(end.x - end.y / ends.slope));
            }
            rate = match (ends.good, ends.bad) {
                (Some(good), Some(bad)) if bad.x - good.x <= CLOSE_ENDS => {
                    let root = (bad.x - good.x) * -good.y / (bad.y - good.y);
                    return Ok(libm::exp(good.x + root));
                }
                (Some(good), Some(bad)) => {
                    let next = ends.between((good, bad), search.tolerance);
                    next.map_or(good.rate, libm::exp)
                }
                _ => libm::exp(ends.over(search)),
            };
            if !(search.start * REACH.0..=search.start * REACH.1).contains(&rate) {
                break;
            }
        }
        Ok(rate)
    }
}
