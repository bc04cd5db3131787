//! What was evaluated once can be asked again for nothing: several searches over the same pools.

use super::{Evaluate, Found};
use crate::{PlannerError, Pool};
use std::collections::BTreeMap;

/// Pools and what they carry, as an evaluator. The searches still count their own evaluations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known(BTreeMap<Pool, f64>);

impl Known {
    /// From pools and their throughputs in queries/s; of a pool given twice the last counts.
    pub fn new(pools: impl IntoIterator<Item = (Pool, f64)>) -> Known {
        Known(pools.into_iter().collect())
    }

    /// What another search evaluated, such as [`exhaustive()`](super::exhaustive()).
    pub fn of(found: &Found) -> Known {
        Known::new(found.trials.iter().map(|t| (t.pool.clone(), t.allowable_per_s)))
    }
}

impl Evaluate for Known {
    type Error = PlannerError;
    fn allowable_per_s(&mut self, pool: &Pool) -> Result<f64, PlannerError> {
        let unknown = || PlannerError::NotInSpace { pool: pool.to_string() };
        self.0.get(pool).copied().ok_or_else(unknown)
    }
}
