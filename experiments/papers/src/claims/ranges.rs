//! What sentences about a number ask of the values of which they speak.

use super::cells::cells;
use super::claim::{Claim, Take};
use super::estimate::Estimate;
use orrery_results::Row;

/// The rows whose own value a sentence speaks of, with the range that would make it true: of a ratio, the range times
/// the value in its denominator. Left out are sentences with one bound, such as those that say which of two is above,
/// and those that speak of several cells at once.
pub fn ranges(claims: &[Claim], rows: &[Row]) -> Vec<(Row, f64, f64)> {
    claims.iter().flat_map(|claim| of(claim, rows)).collect()
}

fn of(claim: &Claim, rows: &[Row]) -> Vec<(Row, f64, f64)> {
    let Some((least, most)) = claim.number() else { return Vec::new() };
    let range = |(row, estimate): (Row, Estimate)| {
        let by = if claim.over.is_empty() { 1.0 } else { row.value? / estimate.value };
        (by.is_finite() && by > 0.0).then_some((row, least * by, most * by))
    };
    cells(claim, rows).0.into_iter().filter_map(range).collect()
}

impl Claim {
    /// The bounds, where it says of each cell a number that the cell's value should have.
    fn number(&self) -> Option<(f64, f64)> {
        let is_each = self.take == Take::Each && !self.is_of_a_share();
        let is_of_one_metric = self.over_metric.is_empty() || self.over_metric == self.metric;
        let bounds = self.at_least.zip(self.at_most);
        bounds.filter(|_| is_each && is_of_one_metric && self.relative_to.is_empty())
    }
}
