//! Every pool, in the order of the space: what the other searches are measured by.

use super::{Evaluate, Explorer, Found, Rules, SearchError};
use crate::Space;

/// Evaluates every pool.
///
/// # Errors
/// When a pool cannot be evaluated.
pub fn exhaustive<V: Evaluate>(
    space: &Space,
    evaluator: &mut V,
) -> Result<Found, SearchError<V::Error>> {
    let rules = Rules { drop_sub_configurations: false, ..Rules::default() };
    let mut explorer = Explorer::new(space, rules, evaluator)?;
    explorer.look_at_all()?;
    Ok(explorer.finish(true))
}
