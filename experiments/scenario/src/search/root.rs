//! The answer of a search: where a line through the probes near it meets the target, and how sure that is.
//!
//! ```text
//!  ln(bad / target)
//!        │             ·/        x: the logarithm of the rate
//!      0 ┼───────[──·/──]────    a rate is within the interval when the line at it, give or take
//!        │      ·  /             its error, holds the target (Fieller): the error of the slope
//!        └────────┴──────── x    counts the more the further away the probes are
//! ```
//!
//! All probes of a search have the same requests, so what chance does to them is alike: their errors are combined
//! batch by batch, and the slope between two of them is surer than either.

use super::figure::{Figure, combined};
use orrery_sim::stats::{Spread, student_upper};

/// A search looks at most so often at an interval before it takes one for its answer.
pub const LOOKS: u32 = 3;

/// The probability by which an answer's interval errs, all looks together.
const ERR: f64 = 0.05;

/// Points closer to one another than this show no slope.
const APART: f64 = 0.005;

/// An interval with a side longer than this is as good as none, where a rate is chosen by it.
pub(super) const WIDE: f64 = 0.03;

/// ln(share) is nearly normal where its error is at most this: bad requests come in clumps, and this is the error of
/// about eight of them.
const LOOSE: f64 = 0.35;

/// Neighbouring batches are taken to have no more in common than this.
const KEPT_MAX: f64 = 0.8;

/// Student's quantile is not asked for with less.
const LEAST_FREEDOM: u64 = 4;

/// Ends further away than this are none.
const FAR: f64 = 0.7;

/// A probe near the answer.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// ln(rate).
    pub x: f64,
    /// What it measured.
    pub figure: Figure,
}

/// Where the target is met, in ln(rate).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Root {
    /// The best guess.
    pub x: f64,
    /// The slope of ln(bad) over ln(rate).
    pub slope: f64,
    /// The ends of an interval, where the points show them.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
}

impl Root {
    /// The longer side of its interval.
    pub fn half(&self) -> f64 {
        let side = |end: Option<f64>| end.map_or(f64::INFINITY, |end| (end - self.x).abs());
        side(self.low).max(side(self.high))
    }
}

/// A line through points.
struct Line<'a> {
    points: &'a [Point],
    mean: (f64, f64),
    /// The sum of squares of x around its mean.
    squares: f64,
    slope: f64,
}

impl<'a> Line<'a> {
    fn through(points: &'a [Point]) -> Option<Line<'a>> {
        let n = points.len().max(1) as f64;
        let mean = |of: fn(&Point) -> f64| points.iter().map(of).sum::<f64>() / n;
        let mean = (mean(|p| p.x), mean(|p| p.figure.excess));
        let off = |p: &Point| p.x - mean.0;
        let squares: f64 = points.iter().map(|p| off(p) * off(p)).sum();
        let products: f64 = points.iter().map(|p| off(p) * (p.figure.excess - mean.1)).sum();
        let slope = products / squares;
        (squares > APART * APART && slope > 0.0).then_some(Line { points, mean, squares, slope })
    }

    fn root(&self) -> f64 {
        self.mean.0 - self.mean.1 / self.slope
    }

    fn at(&self, x: f64) -> f64 {
        self.mean.1 + self.slope * (x - self.mean.0)
    }

    /// By how much the line may be off there.
    fn error(&self, x: f64) -> f64 {
        let (off, n) = (x - self.mean.0, self.points.len() as f64);
        let weights =
            self.points.iter().map(|p| 1.0 / n + off * (p.x - self.mean.0) / self.squares);
        let residuals = combined(weights.zip(self.points.iter().map(|p| &p.figure)));
        let Some((error, batches)) = error(&residuals) else { return f64::INFINITY };
        let each = ERR / 2.0 / f64::from(LOOKS);
        student_upper(each, freedom(&residuals, batches)) * error
    }

    /// The end of the interval in a direction.
    fn end(&self, direction: f64) -> Option<f64> {
        let root = self.root();
        let outside = |d: f64| {
            let x = root + direction * d;
            direction * self.at(x) > self.error(x)
        };
        let (mut inner, mut outer) = (0.0, FAR);
        if !outside(outer) {
            return None;
        }
        for _ in 0..30 {
            let middle = (inner + outer) / 2.0;
            if outside(middle) { outer = middle } else { inner = middle }
        }
        Some(root + direction * outer)
    }
}

/// The standard error of a sum of batches, and how many there are after merging.
fn error(residuals: &[f64]) -> Option<(f64, usize)> {
    let spread = Spread::of(residuals.to_vec(), 1.0)?;
    Some((spread.error * alike(residuals, spread.batches), spread.batches))
}

/// By how much longer a probe has to be for its logarithm to be nearly normal.
pub(super) fn times_longer(figure: &Figure) -> f64 {
    let error = error(&figure.residuals).map_or(1.0, |e| e.0);
    (error / LOOSE) * (error / LOOSE)
}

/// By how much the error of a sum is larger than its batches say, because neighbours are alike: that of a series of
/// which each keeps a part r of the one before is sqrt((1 + r) / (1 - r)) times as large.
fn alike(residuals: &[f64], batches: usize) -> f64 {
    let sums = merged(residuals, batches);
    let squares: f64 = sums.iter().map(|r| r * r).sum();
    let products: f64 = sums.windows(2).map(|r| r[0] * r[1]).sum();
    let kept = if squares > 0.0 { (products / squares).clamp(0.0, KEPT_MAX) } else { 0.0 };
    ((1.0 + kept) / (1.0 - kept)).sqrt()
}

/// Sums of neighbours, so that there are so many.
fn merged(residuals: &[f64], batches: usize) -> Vec<f64> {
    let each = residuals.len().div_ceil(batches.max(1)).max(1);
    residuals.chunks(each).map(|some| some.iter().sum()).collect()
}

/// The degrees of freedom of the variance of so many batches. Where few of them have most of what is bad, it is as
/// uncertain as that of few batches: with the kurtosis k of the residuals, n batches tell of it as much as
/// 2 n / (k - 1) normal ones do.
fn freedom(residuals: &[f64], batches: usize) -> u64 {
    let sums = merged(residuals, batches);
    let n = sums.len() as f64;
    let mean = |of: fn(f64) -> f64| sums.iter().map(|r| of(*r)).sum::<f64>() / n;
    let (second, fourth) = (mean(|r| r * r), mean(|r| r * r * r * r));
    let kurtosis = fourth / (second * second);
    let real = if kurtosis > 1.0 { 2.0 * n / (kurtosis - 1.0) } else { n };
    (real.min(n - 1.0) as u64).max(LEAST_FREEDOM)
}

/// The root of a line through points near the target; `None` where they show no line that rises.
pub(super) fn root(points: &[Point]) -> Option<Root> {
    let line = Line::through(points)?;
    Some(Root { x: line.root(), slope: line.slope, low: line.end(-1.0), high: line.end(1.0) })
}
