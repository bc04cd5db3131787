//! The score as a line over u = exp(b (t - T0)), §4.4: a point (alpha, beta) for Orloj's hull.

use super::ScoreTable;
use crate::time::Span;

/// A score as a line over u = exp(b (t - T0)), for as long as the slack is more than `until_ns` (§4.4).
///
/// From one edge of the law to the next, with e the edge below the slack, the score is
///
/// ```text
/// 1 / (E[L] b) * (h + (S - h) exp(b (e - D)) exp(b t))
/// ```
///
/// where h is the density of the bin that begins at e, and S the sum over the bins below, relative to e.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Line {
    /// Factor of u.
    pub alpha: f64,
    /// Constant term.
    pub beta: f64,
    /// Rounding errors: [`ScoreTable::at`] is at most (alpha u + beta + doubt) (1 + 1e-12), and at least
    /// (alpha u + beta - doubt) (1 - 1e-12).
    pub doubt: f64,
    /// The edge of the law below the slack, nanoseconds: the next milestone.
    pub until_ns: f64,
}

/// Below this a factor of u counts as zero: its products with u are far below the doubt.
const LEAST_ALPHA: f64 = f64::from_bits((1023 - 400) << 52);

impl ScoreTable {
    /// The score of a request with this slack whose deadline is this long after T0, as a line that is used
    /// up to b (t - T0) = `reach`. None if the score is zero from now on.
    pub fn line(&self, slack: Span, deadline: Span, reach: f64) -> Option<Line> {
        let s = slack.ns() as f64;
        let i = self.edges_ns.partition_point(|&e| e < s).checked_sub(1)?;
        let (edge, (below, density)) = (self.edges_ns[i], self.rows[i]);
        let deadline = deadline.ns() as f64;
        let alpha = self.factor * (below - density) * libm::exp(-self.b_per_ns * (deadline - edge));
        // Beyond a law or in a gap nothing cancels, but `at` takes 1 + expm1. Inside a bin alpha u takes beta
        // away, both with the errors of their exponents.
        let units = match density > 0.0 {
            true => 16.0 + 4.0 * (self.b_per_ns * deadline + reach),
            false => 4.0,
        };
        Some(Line {
            alpha: if alpha.abs() < LEAST_ALPHA { 0.0 } else { alpha },
            beta: self.factor * density,
            doubt: self.factor * below.max(density) * units * f64::EPSILON,
            until_ns: edge,
        })
    }
}

#[cfg(test)]
mod tests;
