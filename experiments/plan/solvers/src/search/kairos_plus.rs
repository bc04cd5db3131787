//! Kairos+ (Li et al., HPDC 2023), Algorithm 1: as few evaluations as the upper bounds allow.
//!
//! ```text
//! for each pool x, the highest upper bound first:
//!     if x is still among the pools:
//!         evaluate x
//!         if it is the best so far:
//!             take out every pool whose upper bound is not above it
//!         take out every sub-configuration of x
//! ```
//!
//! Where the bounds hold and more instances never carry less, what it returns is an optimum.
//!
//! # Differences from the paper
//! - None in what is evaluated. Among pools of the same throughput the cheapest evaluated is
//!   returned, not the first.
//! - Pruning of sub-configurations can be turned off, for evaluators that are not monotone.

use super::{Evaluate, Explorer, Found, Look, Rules, SearchError};
use crate::{PlannerError, Ranking, Space};

/// Searches in the order of a ranking. The released code has no Kairos+.
///
/// # Errors
/// When a pool cannot be evaluated, or the ranking is of another space.
pub fn kairos_plus<V: Evaluate>(
    space: &Space,
    ranking: &Ranking,
    rules: Rules,
    evaluator: &mut V,
) -> Result<Found, SearchError<V::Error>> {
    let bounds = ranking.bounds_per_s();
    let (found, expected) = (bounds.len(), space.pools().len());
    if found != expected {
        return Err(PlannerError::Length { what: "bounds", found, expected, of: "pools" }.into());
    }
    let mut explorer = Explorer::new(space, rules, evaluator)?;
    let mut best = f64::NEG_INFINITY;
    for &x in ranking.order() {
        match explorer.look(x)? {
            Look::Value(value) if value > best => {
                best = value;
                explorer.drop_bounded(|c| bounds[c] <= best);
            }
            Look::Value(_) | Look::Dropped => (),
            Look::Spent => break,
        }
    }
    Ok(explorer.finish(false))
}
