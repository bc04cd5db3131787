//! RAND: pools in a random order, none twice.

use super::{Evaluate, Explorer, Found, Look, Rules, SearchError};
use crate::Space;
use orrery_sim::rng::Stream;

/// Evaluates pools in an order drawn from the stream `planner-random` of the seed, until all are
/// evaluated or ruled out, or no evaluation is left.
///
/// # Errors
/// When a pool cannot be evaluated.
pub fn random<V: Evaluate>(
    space: &Space,
    seed: u64,
    rules: Rules,
    evaluator: &mut V,
) -> Result<Found, SearchError<V::Error>> {
    let mut explorer = Explorer::new(space, rules, evaluator)?;
    let mut stream = Stream::named(seed, "planner-random", 0);
    let mut order: Vec<usize> = (0..space.pools().len()).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, stream.below(last as u64 + 1) as usize);
    }
    for i in order {
        if explorer.look(i)? == Look::Spent {
            break;
        }
    }
    Ok(explorer.finish(false))
}
