//! A ramp: one run whose rate rises, and the rate at which its share of bad requests meets the target.
//!
//! ```text
//!  rate      hi ┤            ____╱      share of     ┤            ∙╱
//!               │      ____╱           bad requests  ┤ target ──∙╱─
//!            lo ┤─────╱                     (ln)     ┤      ∙ ╱
//!               └warm-up┴── in `bins` ──             └──────┴──────  ln(rate)
//! ```
//!
//! The rate grows exponentially, so that bins of equal time are equally far apart in ln(rate). Shares are those of all
//! models together; the worst model's is taken to be so many times that, near the target. They are pooled until none
//! falls (isotonic regression). A line is fitted through the bins up to [`NEAR`] above the target, ln(share) over
//! ln(rate), by Poisson regression, whose error is as much wider as bad requests come in clumps, or as the bins scatter
//! about the line.

use super::tally::{Fate, Share, worst};
use orrery_sim::time::{Span, Time};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// Bins of a ramp.
const BINS: usize = 32;

/// Shares are fitted up to so far from the target, in ln.
const NEAR: f64 = 1.5;

/// Slopes of a line that is believed: a flatter one has no root, a steeper one is a jump.
const SLOPES: std::ops::RangeInclusive<f64> = 2.0..=400.0;

/// Bins that a line needs, and bad requests in them.
const ENOUGH: (usize, f64) = (4, 10.0);

/// In the time that backlogs need, ln(rate) grows by one in so many, and a ramp is made so many times as long for that.
const SLOW: f64 = 200.0;
const LENGTHENED: u64 = 16;

/// A bin with a larger share of bad requests ends the ramp, as far above the target: all above it is overload.
const OVERLOAD: f64 = 0.3;

/// How a rate rises: by a factor, within a time.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq)]
#[serde(from = "(u64, u64, f64)", into = "(u64, u64, f64)")]
pub struct Rise {
    from: Time,
    lasts: Span,
    by: f64,
}

impl From<Rise> for (u64, u64, f64) {
    fn from(rise: Rise) -> (u64, u64, f64) {
        (rise.from.ns(), rise.lasts.ns(), rise.by)
    }
}

impl From<(u64, u64, f64)> for Rise {
    fn from((from_ns, lasts_ns, by): (u64, u64, f64)) -> Rise {
        Rise { from: Time::from_ns(from_ns), lasts: Span::from_ns(lasts_ns), by }
    }
}

impl Rise {
    /// From a rate in requests/s to `by` times that, with so many requests in between, behind the warm-up; slow enough
    /// for backlogs of a span to follow, unless that takes many more.
    pub(super) fn new(
        (rate_per_s, by): (f64, f64),
        requests: u64,
        warm_up: Span,
        follows: Span,
    ) -> Option<Rise> {
        let growth_per_s = rate_per_s * (by - 1.0) / requests as f64;
        let lasts = Span::from_secs_f64(libm::log(by) / growth_per_s);
        let slow = follows.scale(SLOW * libm::log(by));
        let from = Time::ZERO + warm_up;
        (slow <= lasts * LENGTHENED).then_some(Rise { from, lasts: lasts.max(slow), by })
    }

    /// Its length.
    pub(super) fn lasts(&self) -> Span {
        self.lasts
    }

    /// How much of it is over.
    pub(super) fn part(&self, at: Time) -> f64 {
        at.since(self.from).ns() as f64 / self.lasts.ns() as f64
    }

    /// When what comes at `at` at the lowest rate comes. Behind its end the rate goes on to grow.
    pub(super) fn when(&self, at: Time) -> Time {
        if at <= self.from || at == Time::NEVER {
            return at;
        }
        let growth_per_ns = libm::log(self.by) / self.lasts.ns() as f64;
        let since = at.since(self.from).ns() as f64;
        self.from + Span::from_ns((libm::log1p(growth_per_ns * since) / growth_per_ns) as u64)
    }
}

/// Requests of a bin that were judged, the bad ones, and those that were dropped, judged or not.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq)]
struct Bin {
    of: u64,
    bad: u64,
    all: u64,
    dropped: u64,
    /// What bad requests added to the sum of their clumps' squares.
    squares: u64,
}

impl Bin {
    /// Bad requests, and of how many: all of them where drops are not judged and more than half was dropped.
    fn counts(&self) -> (u64, u64) {
        if self.dropped > self.all / 2 && self.of < self.all {
            (self.all, self.all)
        } else {
            (self.bad, self.of)
        }
    }

    fn share(&self) -> f64 {
        let (bad, of) = self.counts();
        bad as f64 / of.max(1) as f64
    }
}

/// The bins of a ramp, in the order of rates.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
pub struct Ramp {
    rise: Rise,
    overload: f64,
    bins: Vec<Bin>,
    /// By bin and model: requests that were judged, and bad ones.
    models: Vec<Vec<(u64, u64)>>,
}

/// Where the target is met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Met {
    /// Not where the ramp was: it is too low (`Less`) or too high (`Greater`).
    Beyond(Ordering),
    /// At so many times the lowest rate, by a line that is believed.
    At(Root),
    /// Between these factors, where the share jumps.
    Jump(f64, f64),
}

/// The root of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Root {
    /// The rate over the lowest one.
    pub factor: f64,
    /// By how much ln(share) grows with ln(rate).
    pub slope: f64,
    /// The standard error of ln(factor).
    pub error: f64,
}

impl Ramp {
    /// How many numbers it holds.
    pub fn values(&self) -> usize {
        5 * self.bins.len() + self.models.iter().map(|of| 2 * of.len()).sum::<usize>()
    }

    /// Of no requests yet.
    pub(super) fn new(rise: Rise, target: f64) -> Ramp {
        let overload = target + (1.0 - target) * OVERLOAD;
        Ramp { rise, overload, bins: Vec::new(), models: Vec::new() }
    }

    /// A request that was decided, in the order of arrival, and if it is judged, what it adds to the squares of clumps;
    /// says whether the ramp is over, because all further is overload.
    pub(super) fn add(
        &mut self,
        (arrival, model): (Time, usize),
        fate: Fate,
        judged: Option<u64>,
    ) -> bool {
        let bin = ((self.rise.part(arrival) * BINS as f64) as usize).min(BINS - 1);
        if bin >= self.bins.len() {
            if self.bins.last().is_some_and(|last| last.share() > self.overload) {
                return true;
            }
            self.bins.resize(bin + 1, Bin::default());
            self.models.resize(bin + 1, Vec::new());
        }
        let models = &mut self.models[bin];
        models.resize(models.len().max(model + 1), (0, 0));
        let bin = &mut self.bins[bin];
        bin.all += 1;
        bin.dropped += u64::from(fate == Fate::Dropped);
        if let Some(squares) = judged {
            let bad = u64::from(fate != Fate::Good);
            (bin.of, bin.bad, bin.squares) = (bin.of + 1, bin.bad + bad, bin.squares + squares);
            models[model] = (models[model].0 + 1, models[model].1 + bad);
        }
        false
    }

    /// ln(rate over the lowest one) in the middle of a bin.
    fn at(&self, bin: usize) -> f64 {
        libm::log(self.rise.by) * (bin as f64 + 0.5) / BINS as f64
    }

    /// Each bin's share, pooled until none falls.
    fn pooled(&self) -> Vec<f64> {
        let mut blocks: Vec<(u64, u64, usize)> = Vec::new();
        for bin in &self.bins {
            let (bad, of) = bin.counts();
            let mut block = (bad, of, 1);
            while let Some(before) = blocks.pop_if(|b| b.0 * block.1 >= block.0 * b.1) {
                block = (before.0 + block.0, before.1 + block.1, before.2 + block.2);
            }
            blocks.push(block);
        }
        let share = |(bad, of, bins): &(u64, u64, usize)| {
            std::iter::repeat_n(*bad as f64 / (*of).max(1) as f64, *bins)
        };
        blocks.iter().flat_map(share).collect()
    }

    /// Where the worst model's share of bad requests meets the target.
    pub fn meets(&self, target: f64) -> Met {
        let shares = self.pooled();
        let near = |target: f64| {
            let most = target * libm::exp(NEAR);
            shares.iter().take_while(|share| **share < most).count()
        };
        let target = target / self.worse(near(target));
        let above = match shares.iter().position(|share| *share > target) {
            None => return Met::Beyond(Ordering::Less),
            Some(0) => return Met::Beyond(Ordering::Greater),
            Some(above) => above,
        };
        let jump = || {
            let step = libm::log(self.rise.by) / BINS as f64;
            Met::Jump(libm::exp(self.at(above - 1) - step), libm::exp(self.at(above) + step))
        };
        self.line(near(target), target).map_or_else(jump, Met::At)
    }

    /// How many times the share of all models the worst one's is, in so many bins.
    fn worse(&self, bins: usize) -> f64 {
        let count = self.models[..bins].iter().map(Vec::len).max().unwrap_or(0);
        let sum = |model: usize| {
            let of = self.models[..bins].iter().filter_map(|models| models.get(model));
            of.fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1))
        };
        let sums: Vec<(u64, u64)> = (0..count).map(sum).collect();
        let (of, bad) = sums.iter().fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
        if bad == 0 {
            return 1.0;
        }
        let clump = self.clump(bins);
        let share = |(of, bad): &(u64, u64)| {
            let error = (clump * (*bad as f64).max(1.0)).sqrt() / (*of).max(1) as f64;
            let rate = *bad as f64 / (*of).max(1) as f64;
            Share { rate, error, half: error, most: rate }
        };
        let shares: Vec<Share> = sums.iter().map(share).collect();
        let overall = bad as f64 / of as f64;
        worst(&shares, overall, true).1 / overall
    }

    /// The size of the clump that a bad request of so many bins is in, on average.
    fn clump(&self, bins: usize) -> f64 {
        let sum = |of: fn(&Bin) -> u64| self.bins[..bins].iter().map(of).sum::<u64>() as f64;
        (sum(|b| b.squares) / sum(|b| b.bad).max(1.0)).max(1.0)
    }

    /// The root of the line through so many bins.
    fn line(&self, near: usize, target: f64) -> Option<Root> {
        let clump = self.clump(near);
        let near: Vec<usize> = (0..near).collect();
        let near = &near[..];
        let bad = near.iter().map(|i| self.bins[*i].counts().0 as f64).sum::<f64>();
        if near.len() < ENOUGH.0 || bad < ENOUGH.1 * clump {
            return None;
        }
        // Newton's steps to the most likely line, ln(share / target) = a + b x, with x from the middle on.
        let middle = near.iter().map(|i| self.at(*i)).sum::<f64>() / near.len() as f64;
        let expected = |i: usize, (a, b): (f64, f64)| {
            self.bins[i].counts().1 as f64 * target * libm::exp(a + b * (self.at(i) - middle))
        };
        let (mut line, mut fisher) = ((0.0, 10.0), [0.0; 3]);
        for _ in 0..20 {
            let (mut off, mut information) = ([0.0; 2], [0.0; 3]);
            for &i in near {
                let (x, mean) = (self.at(i) - middle, expected(i, line));
                let residual = self.bins[i].counts().0 as f64 - mean;
                (off[0], off[1]) = (off[0] + residual, off[1] + residual * x);
                [mean, mean * x, mean * x * x]
                    .iter()
                    .zip(&mut information)
                    .for_each(|(x, sum)| *sum += x);
            }
            let [s, sx, sxx] = information;
            let det = s * sxx - sx * sx;
            let step = ((sxx * off[0] - sx * off[1]) / det, (s * off[1] - sx * off[0]) / det);
            line = (line.0 + step.0.clamp(-1.0, 1.0), line.1 + step.1.clamp(-20.0, 20.0));
            fisher = [sxx / det, -sx / det, s / det];
        }
        let (a, slope) = line;
        let root = -a / slope;
        let scatter = near.iter().map(|&i| {
            let mean = expected(i, line);
            (self.bins[i].counts().0 as f64 - mean) * (self.bins[i].counts().0 as f64 - mean) / mean
        });
        let scatter = (scatter.sum::<f64>() / (near.len() - 2) as f64).max(clump);
        let variance = scatter * (fisher[0] + 2.0 * root * fisher[1] + root * root * fisher[2]);
        let error = variance.sqrt() / slope;
        let is_within = |x: f64| x > self.at(near[0]) && x < self.at(near[near.len() - 1]);
        let root = Root { factor: libm::exp(middle + root), slope, error };
        let is_believed =
            SLOPES.contains(&slope) && error.is_finite() && is_within(libm::log(root.factor));
        is_believed.then_some(root)
    }

    /// Whether a rate well below `factor` times the lowest one is clearly bad.
    pub fn is_worse_below(&self, factor: f64, target: f64) -> bool {
        let mut below = (0..self.bins.len()).filter(|i| self.at(*i) < libm::log(0.9 * factor));
        let is_bad = |bin: &Bin| bin.share() > 3.0 * target && bin.counts().0 as f64 > ENOUGH.1;
        below.any(|i| is_bad(&self.bins[i]))
    }
}
