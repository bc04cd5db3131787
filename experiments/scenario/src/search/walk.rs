//! From a rate to begin with to the root of a line: glances until two or more lie near the target, then probes of
//! full length where the line meets it.
//!
//! ```text
//!  glance ── far? ──> go on by what it says, by steps that double; between a good and a bad one by the secant
//!     │ near: two of them show a slope
//!     ▼
//!  probe of full length at the root ──> a new root, with its interval
//!     ▲          │ the root moved by more than half the interval, and looks are left
//!     └──────────┘
//! ```
//!
//! It gives up where no line can be seen: a load that is carried, and collapses within 5 %, say. Then the bracket is
//! halved.

use super::asked::{Asked, Bracket, COLLAPSE, LONGER, RATE_MIN_PER_S, REACH};
use super::figure::Figure;
use super::root::{LOOKS, Point, Root, WIDE, root, times_longer};
use super::{Aim, How, Probe};

/// A short probe, to see about where a rate lies.
pub(super) const GLANCE: How = How { aim: Aim::Glance, ..How::USUAL };

/// Glances until it gives up.
const GLANCES: usize = 16;

/// What ln(bad) usually rises by with ln(rate), near the answer.
const SLOPE: f64 = 15.0;

/// The smallest and the largest first step in ln(rate), and the largest of all.
const STEPS: (f64, f64, f64) = (0.02, 0.3, 1.4);

/// So near the target, in ln(bad), a glance is near enough for a probe of full length.
const CLOSE: f64 = 0.8;

/// Probes whose ln(bad) are so far apart show the slope.
const SPREAD: f64 = 0.6;

/// Probes of full length until it gives up.
const FULL: usize = 7;

/// The slope is taken to be between these while only glances tell of it.
const SLOPES: (f64, f64) = (3.0, 60.0);

/// A bracket as narrow as this, in ln(rate), whose upper end collapses shows no line.
const CLIFF: f64 = 0.049;

/// How a walk ended.
pub(super) enum Walked {
    /// At the root of a line.
    Root(Root),
    /// Between a good rate and a bad one, without a line; probes have to be so many times as long.
    Bracket(f64, f64, u32),
    /// All rates were good, up to this one.
    GoodUpTo(f64),
    /// No rate was.
    NeverGood,
}

/// What is known at a rate: ln(rate), ln(bad / target).
#[derive(Clone, Copy)]
struct Seen {
    x: f64,
    y: f64,
    bad_rate: f64,
}

/// What is known so far.
struct Walk {
    target: f64,
    tolerance: f64,
    /// The highest good rate below all bad ones, and the lowest bad one.
    good: Option<Seen>,
    bad: Option<Seen>,
    points: Vec<Point>,
    step: f64,
    /// The slope as glances show it.
    glanced: f64,
    /// Probes of full length are so many times as long as usual.
    longer: u32,
    /// ln of the rate whose requests all probes have.
    reference: f64,
}

impl Walk {
    /// Learns what a probe said.
    fn learn(&mut self, x: f64, probe: &Probe) -> f64 {
        let y = match &probe.figure {
            Some(Figure { excess, .. }) => *excess,
            None => libm::log((probe.bad_rate / self.target).clamp(0.01, 100.0)),
        };
        // A backlog that grows is bad, whatever its share of bad requests is by now.
        let y = if probe.good { y.min(-1e-3) } else { y.max(1e-3) };
        let seen = Seen { x, y, bad_rate: probe.bad_rate.max(1.0 - probe.good_share) };
        if probe.good {
            if self.good.is_none_or(|g| x > g.x) {
                self.good = Some(seen);
            }
            self.bad = self.bad.filter(|b| b.x > x);
        } else {
            if self.bad.is_none_or(|b| x < b.x) {
                self.bad = Some(seen);
            }
            self.good = self.good.filter(|g| g.x < x);
        }
        if let Some(figure) = &probe.figure {
            self.points.push(Point { x, figure: figure.clone() });
        }
        y
    }

    /// The bracket in ln(rate), where both ends are known.
    fn bracket(&self) -> Option<(Seen, Seen)> {
        self.good.zip(self.bad)
    }

    fn is_cliff(&self) -> bool {
        self.bracket().is_some_and(|(g, b)| {
            b.x - g.x < self.tolerance.max(1e-4) || (b.x - g.x < CLIFF && b.bad_rate > COLLAPSE)
        })
    }

    /// The slope of ln(bad) over ln(rate), as far as it is known.
    fn slope(&self) -> f64 {
        root(&self.points).map_or(self.glanced, |root| root.slope)
    }

    /// Where the next glance goes after one at `x` that was `y` from the target.
    fn next(&mut self, x: f64, y: f64, n: usize) -> f64 {
        if let Some((g, b)) = self.bracket() {
            self.glanced = ((b.y - g.y) / (b.x - g.x)).clamp(SLOPES.0, SLOPES.1);
            let part = if n % 3 == 2 { 0.5 } else { (-g.y / (b.y - g.y)).clamp(0.1, 0.9) };
            return g.x + (b.x - g.x) * part;
        }
        let guess = (y.abs() / SLOPE).clamp(STEPS.0, STEPS.1);
        self.step = guess.max(2.0 * self.step).min(STEPS.2);
        if let Some(bad) = self.bad {
            // Little more than what is served in time is carried.
            let served = -libm::log((1.0 - bad.bad_rate).max(0.2));
            return x - self.step.max(served);
        }
        x + self.step
    }

    /// Where the next probe of full length goes after one at `x` that was `y` from the target: to where the target
    /// is met, and beyond it while there is no slope.
    fn next_full(&self, x: f64, y: f64) -> f64 {
        let ys = || self.points.iter().map(|p| p.figure.excess);
        let spread = ys().fold(f64::MIN, f64::max) - ys().fold(f64::MAX, f64::min);
        if spread >= SPREAD / 2.0
            && let Some(root) = root(&self.points)
        {
            return root.x;
        }
        let beyond = y.signum() * (SPREAD - y.abs()).max(0.0);
        x - ((y + beyond) / self.slope()).clamp(-STEPS.1, STEPS.1)
    }

    fn how(&self, aim: Aim, x: f64) -> How {
        How { aim, stretched: libm::exp(self.reference - x), ..How::USUAL }
    }
}

impl<E, F: FnMut(f64, How) -> Result<Probe, E>> Asked<F> {
    /// Walks to the root.
    pub fn walk(&mut self, search: &Bracket, target: f64) -> Result<Walked, E> {
        let start = libm::log(search.start);
        let mut walk = Walk {
            target,
            tolerance: search.tolerance,
            good: None,
            bad: None,
            points: Vec::new(),
            step: 0.0,
            glanced: SLOPE,
            longer: 1,
            reference: start,
        };
        let mut x = start;
        for n in 0.. {
            let probe = self.probe(libm::exp(x), GLANCE)?.clone();
            let y = walk.learn(x, &probe);
            walk.points.clear();
            // A glance that is not far from the target, or two on both sides of it, say where to go.
            let is_close = y.abs() < CLOSE && probe.figure.is_some();
            if is_close || walk.bracket().is_some_and(|(g, b)| b.x - g.x < CLIFF) {
                let first = if is_close { x - y / walk.slope() } else { walk.next(x, y, 0) };
                return self.at_full_length(walk, first);
            }
            if walk.bracket().is_some() && n + 1 >= GLANCES {
                break;
            }
            x = walk.next(x, y, n);
            if x < libm::log((search.start * REACH.0).max(RATE_MIN_PER_S)) {
                return Ok(Walked::NeverGood);
            }
            if x > libm::log(search.start * REACH.1) {
                return Ok(Walked::GoodUpTo(walk.good.map_or(search.start, |g| libm::exp(g.x))));
            }
        }
        Ok(walk.ended())
    }

    /// Probes of full length at the root, until its interval is as narrow as is asked, or looks end.
    fn at_full_length(&mut self, mut walk: Walk, mut x: f64) -> Result<Walked, E> {
        walk.reference = x;
        (walk.good, walk.bad, walk.step) = (None, None, 0.0);
        let (mut last, mut looks) = (None, 0);
        for n in 0..FULL {
            let how = How { longer: walk.longer, ..walk.how(Aim::Figure, x) };
            let probe = self.probe(libm::exp(x), how)?.clone();
            let y = walk.learn(x, &probe);
            let times = probe.figure.as_ref().map_or(1.0, times_longer);
            if times > 1.0 && walk.longer < LONGER {
                // Too few bad requests, or too many of them at once.
                let enough = (f64::from(walk.longer) * times).min(f64::from(LONGER));
                while f64::from(walk.longer) < enough {
                    walk.longer *= 2;
                }
                walk.points.clear();
                continue;
            }
            if let Some(root) = root(&walk.points) {
                looks += 1;
                last = Some(root);
                let off = walk.points.iter().map(|p| (p.x - root.x).abs());
                let near = walk.tolerance.max(root.half().min(WIDE) / 2.0);
                let is_near = off.fold(f64::INFINITY, f64::min) <= near;
                if looks == LOOKS || root.half() <= walk.tolerance || is_near {
                    break;
                }
            }
            if last.is_none() && walk.is_cliff() {
                break;
            }
            x = if walk.points.is_empty() { walk.next(x, y, n) } else { walk.next_full(x, y) };
        }
        Ok(last.map_or_else(|| walk.ended(), Walked::Root))
    }
}

impl Walk {
    /// What is left where there is no line.
    fn ended(&self) -> Walked {
        let rate = |s: Option<Seen>| s.map(|s| libm::exp(s.x));
        match (rate(self.good), rate(self.bad)) {
            (Some(good), Some(bad)) => Walked::Bracket(good, bad, self.longer),
            (Some(good), None) => {
                Walked::Bracket(good, good * (1.0 + 4.0 * self.tolerance), self.longer)
            }
            (None, Some(bad)) => {
                Walked::Bracket(bad / (1.0 + 4.0 * self.tolerance), bad, self.longer)
            }
            (None, None) => Walked::NeverGood,
        }
    }
}
