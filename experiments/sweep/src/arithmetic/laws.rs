//! The laws of execution times alone that Orloj's tables assume, as histograms (its Fig. 2, and the laws beside
//! Fig. 7 to 9).

use super::Point;
use crate::applications::cases::Case;
use crate::applications::within;
use orrery_scenario::SpecError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[laws]`: with `applications`, the laws of its cases in place of runs.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct LawsFile {
    /// Number of bins of a histogram.
    pub bins: u32,
    /// Where it ends, as a multiple of the law's P99.
    pub to_x_p99: f64,
}

/// The metric of a histogram: the share of the requests in a bin.
pub use orrery_results::metric::SHARE;

impl LawsFile {
    /// Whether its values make sense.
    ///
    /// # Errors
    /// When a number is out of range.
    pub fn check(&self) -> Result<(), SpecError> {
        within("laws.bins", f64::from(self.bins), 1.0, 1_000.0)?;
        within("laws.to_x_p99", self.to_x_p99, 1e-3, 1e3)
    }

    /// The shares of a case's requests by bins, at their middles as multiples of P99; then its mean and P99.
    pub fn points(&self, case: &Case) -> Vec<Point> {
        let p99 = case.law.quantile_ns(0.99);
        let width = self.to_x_p99 / f64::from(self.bins);
        let cdf = |edge: u32| case.law.cdf_ns(f64::from(edge) * width * p99);
        let point = |metric, at, value| Point { of: case.name.clone(), metric, at, value };
        // A constant is in the bin that ends above it.
        let share = |i: u32| {
            let below = if i == 0 { 0.0 } else { cdf(i) };
            point(SHARE, (f64::from(i) + 0.5) * width, cdf(i + 1) - below)
        };
        (0..self.bins).map(share).collect()
    }
}
