//! What sentences about a number ask of the values of which they speak.

use super::cells::cells;
use super::claim::{Claim, Take};
use super::estimate::Estimate;
use orrery_plots::is_same_value;
use orrery_results::Row;

/// A ratio this near to 1 says which of two is above, and that is seen without a mark.
const ORDER: f64 = 0.02;
/// A sentence with one bound stands at each of so many values, else only at the one that decides it.
const EACH_MAX: usize = 12;

/// The rows whose own value a sentence speaks of, with the range that would make it true; an end without a bound is
/// infinite. Of a ratio it is the range times the value in its denominator. Several sentences about one value ask what
/// would make all of them true; where nothing would, the first one stands.
///
/// Left out are claims that are not the paper's, sentences that say only which of two is above, and those of a mean or of
/// a share of the cells, which are of no value by itself.
pub fn ranges(claims: &[Claim], rows: &[Row]) -> Vec<(Row, f64, f64)> {
    let mut out: Vec<(Row, f64, f64)> = Vec::new();
    let papers = claims.iter().filter(|claim| !claim.own);
    for (row, least, most) in papers.flat_map(|claim| of(claim, rows)) {
        let is_same = |known: &&mut (Row, f64, f64)| is_same_value(&known.0, &row);
        match out.iter_mut().find(is_same) {
            Some((_, low, high)) if least <= *high && most >= *low => {
                (*low, *high) = (low.max(least), high.min(most));
            }
            Some(_) => {}
            None => out.push((row, least, most)),
        }
    }
    out
}

fn of(claim: &Claim, rows: &[Row]) -> Vec<(Row, f64, f64)> {
    let Some((least, most)) = claim.number() else { return Vec::new() };
    let mut found = cells(claim, rows).0;
    let has_one_bound = claim.at_least.is_none() || claim.at_most.is_none();
    let by_value = |a: &&(Row, Estimate), b: &&(Row, Estimate)| a.1.value.total_cmp(&b.1.value);
    let decides = match claim.take {
        Take::Largest => found.iter().max_by(by_value),
        Take::Smallest => found.iter().min_by(by_value),
        _ if has_one_bound && found.len() > EACH_MAX => match claim.at_least {
            Some(_) => found.iter().min_by(by_value),
            None => found.iter().max_by(by_value),
        },
        _ => None,
    };
    if let Some(one) = decides.cloned() {
        found = vec![one];
    }
    let range = |(row, estimate): (Row, Estimate)| {
        let by = if claim.over.is_empty() { 1.0 } else { row.value? / estimate.value };
        (by.is_finite() && by > 0.0).then_some((row, least * by, most * by))
    };
    found.into_iter().filter_map(range).collect()
}

impl Claim {
    /// The bounds, where it says of single values a number that each, the largest or the smallest of them should have.
    fn number(&self) -> Option<(f64, f64)> {
        let is_of_one_metric = self.over_metric.is_empty() || self.over_metric == self.metric;
        let bounds = match (self.at_least, self.at_most) {
            (None, None) => return None,
            (Some(one), None) | (None, Some(one)) => {
                let is_order = !self.over.is_empty() && (one - 1.0).abs() <= ORDER + 1e-9;
                (!is_order).then_some(())?;
                (self.at_least.unwrap_or(f64::NEG_INFINITY), self.at_most.unwrap_or(f64::INFINITY))
            }
            (Some(least), Some(most)) => (least, most),
        };
        let is_of_values = self.take != Take::Mean && !self.is_of_a_share();
        Some(bounds).filter(|_| is_of_values && is_of_one_metric && self.relative_to.is_empty())
    }
}
