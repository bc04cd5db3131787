//! Every pool by its upper bound, and the pool that Kairos picks without evaluating any (§5.2).

use crate::bound::upper_bound_per_s;
use crate::{Ingredients, PlannerError, Space};
use std::collections::BTreeSet;

/// How many pools must have the same number of base instances for the first to be picked.
const AGREEING: usize = 3;
/// Among how many pools the central one is looked for otherwise.
const CLUSTER: usize = 10;

/// The upper bound of every pool of a space, and the order by it.
///
/// The order is by bound, descending; pools of the same bound stay in the order of the space.
/// Bounds are the same only when all their bits are.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    bounds_per_s: Vec<f64>,
    order: Vec<usize>,
}

/// Why a pool was picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PickedBy {
    /// The three pools of the highest bounds have the same number of base instances: the first.
    Agreement,
    /// They have not: of the ten pools of the highest bounds, the one with the least sum of squared
    /// distances to the others; at a tie, the one of the higher rank.
    Centre,
}

impl Ranking {
    /// Ranks the pools of a space.
    ///
    /// # Errors
    /// When the ingredients are those of another catalogue.
    pub fn new(space: &Space, ingredients: &Ingredients) -> Result<Ranking, PlannerError> {
        let bounds = space.pools().iter().map(|pool| upper_bound_per_s(ingredients, pool));
        Ranking::of_bounds(space, bounds.collect::<Result<_, _>>()?)
    }

    /// Ranks the pools by bounds of any origin, in the order of the space.
    ///
    /// # Errors
    /// When there are not as many as pools, or one is negative or not a number. Infinity is
    /// allowed: nothing is known of that pool.
    pub fn of_bounds(space: &Space, bounds_per_s: Vec<f64>) -> Result<Ranking, PlannerError> {
        let (found, expected) = (bounds_per_s.len(), space.pools().len());
        if found != expected {
            return Err(PlannerError::Length { what: "bounds", found, expected, of: "pools" });
        }
        if let Some(&value) = bounds_per_s.iter().find(|b| b.is_nan() || **b < 0.0) {
            let allowed = "0 or more";
            return Err(PlannerError::Number { what: "upper bound", value, allowed });
        }
        let mut order: Vec<usize> = (0..found).collect();
        // Stable: this is where the order of the space breaks ties.
        order.sort_by(|a, b| bounds_per_s[*b].total_cmp(&bounds_per_s[*a]));
        Ok(Ranking { bounds_per_s, order })
    }

    /// The bound of each pool, in the order of the space, in queries/s.
    pub fn bounds_per_s(&self) -> &[f64] {
        &self.bounds_per_s
    }

    /// The numbers of the pools, the highest bound first.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The pool that Kairos builds, without any evaluation, and why that one.
    pub fn pick(&self, space: &Space) -> (usize, PickedBy) {
        let pool = |i: usize| &space.pools()[i];
        let base = space.catalogue().base();
        let first = &self.order[..AGREEING.min(self.order.len())];
        let bases: BTreeSet<u32> = first.iter().map(|i| pool(*i).0[base]).collect();
        if bases.len() == 1 {
            return (self.order[0], PickedBy::Agreement);
        }
        let top = &self.order[..CLUSTER.min(self.order.len())];
        let apart =
            |i: &usize| top.iter().map(|j| pool(*i).squared_distance(pool(*j))).sum::<u64>();
        let centre = top.iter().min_by_key(|i| apart(i)).expect("a space has pools");
        (*centre, PickedBy::Centre)
    }
}
