//! Pools: how many instances of each type; and every pool that a budget pays for.

use crate::{Catalogue, PlannerError, Price};
use std::collections::BTreeMap;
use std::fmt;

/// The most pools that are listed.
pub const POOLS_MAX: usize = 1_000_000;

/// Counts of instances, in the order of the catalogue. The paper's *configuration*.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pool(pub Vec<u32>);

impl Pool {
    /// What it costs. The catalogue is that of the pool.
    pub fn cost(&self, catalogue: &Catalogue) -> Price {
        catalogue.types().iter().zip(&self.0).map(|(t, n)| t.price * *n).sum()
    }

    /// Whether instances could be added to it to become the other (§5.2): no count is larger, and
    /// the two differ.
    pub fn is_sub_of(&self, other: &Pool) -> bool {
        self != other && self.0.iter().zip(&other.0).all(|(a, b)| a <= b)
    }

    /// The squared Euclidean distance of the counts.
    pub fn squared_distance(&self, other: &Pool) -> u64 {
        let square = |(a, b): (&u32, &u32)| u64::from(a.abs_diff(*b)) * u64::from(a.abs_diff(*b));
        self.0.iter().zip(&other.0).map(square).sum()
    }
}

/// As the paper writes it: `(3, 1, 3)`.
impl fmt::Display for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts: Vec<String> = self.0.iter().map(u32::to_string).collect();
        f.pad(&format!("({})", counts.join(", ")))
    }
}

/// The pools that are searched, in the order that breaks every tie: by the count of the first type,
/// then of the second, and so on, each ascending. It is the order of the released code.
#[derive(Clone, Debug, PartialEq)]
pub struct Space {
    catalogue: Catalogue,
    budget: Price,
    pools: Vec<Pool>,
    costs: Vec<Price>,
    index: BTreeMap<Pool, usize>,
}

impl Space {
    /// Every pool with at least one base instance and no count above its type's largest that costs
    /// no more than the budget.
    ///
    /// # Errors
    /// When the budget is 0 or pays for no base instance, or there are more than [`POOLS_MAX`]
    /// pools.
    pub fn within(catalogue: &Catalogue, budget: Price) -> Result<Space, PlannerError> {
        if budget == Price::ZERO {
            return Err(PlannerError::ZeroBudget);
        }
        let base = &catalogue.types()[catalogue.base()];
        if base.price > budget {
            let (budget, price) = (budget.to_string(), base.price.to_string());
            return Err(PlannerError::BudgetBelowBase { budget, name: base.name.clone(), price });
        }
        let mut pools = Vec::new();
        let mut counts = vec![0; catalogue.types().len()];
        list(catalogue, budget, base.price, 0, &mut counts, &mut pools)?;
        Ok(Space::of(catalogue.clone(), budget, pools))
    }

    fn of(catalogue: Catalogue, budget: Price, pools: Vec<Pool>) -> Space {
        let costs = pools.iter().map(|p| p.cost(&catalogue)).collect();
        let index = pools.iter().cloned().enumerate().map(|(i, p)| (p, i)).collect();
        Space { catalogue, budget, pools, costs, index }
    }

    /// The pools of this space that are to be kept, in the same order.
    ///
    /// # Errors
    /// When none is.
    pub fn filtered(&self, mut keep: impl FnMut(&Pool) -> bool) -> Result<Space, PlannerError> {
        let pools: Vec<Pool> = self.pools.iter().filter(|p| keep(p)).cloned().collect();
        if pools.is_empty() {
            return Err(PlannerError::NoPools);
        }
        Ok(Space::of(self.catalogue.clone(), self.budget, pools))
    }

    /// What the counts of the pools count.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// What no pool costs more than.
    pub fn budget(&self) -> Price {
        self.budget
    }

    /// The pools, in order; never none.
    pub fn pools(&self) -> &[Pool] {
        &self.pools
    }

    /// What each pool costs, in the order of the pools.
    pub fn costs(&self) -> &[Price] {
        &self.costs
    }

    /// The place of a pool in the order; none when it is not in the space.
    pub fn position(&self, pool: &Pool) -> Option<usize> {
        self.index.get(pool).copied()
    }

    /// The largest pool of base instances alone: the paper's best homogeneous pool (§8.1). None
    /// when a filter took them all out.
    pub fn homogeneous(&self) -> Option<usize> {
        let base = self.catalogue.base();
        let alone = |p: &Pool| p.0.iter().enumerate().all(|(i, n)| i == base || *n == 0);
        (0..self.pools.len())
            .filter(|i| alone(&self.pools[*i]))
            .max_by_key(|i| self.pools[*i].0[base])
    }

    /// A throughput scaled up as if the rest of the budget were spent on more of the same: the
    /// advantage that the paper gives to homogeneous pools (§4, §8.1). `cost` is above 0.
    pub fn scaled_to_budget(&self, rate_per_s: f64, cost: Price) -> f64 {
        let ratio =
            self.budget.as_micro_usd_per_hour() as f64 / cost.as_micro_usd_per_hour() as f64;
        rate_per_s * ratio
    }
}

/// Adds the pools that begin with `counts[..at]`. `reserve` is what a base instance still to be
/// counted will cost at least, so that no branch without a pool is entered for long.
fn list(
    catalogue: &Catalogue,
    left: Price,
    reserve: Price,
    at: usize,
    counts: &mut [u32],
    pools: &mut Vec<Pool>,
) -> Result<(), PlannerError> {
    let Some(t) = catalogue.types().get(at) else {
        if pools.len() == POOLS_MAX {
            return Err(PlannerError::TooManyPools { most: POOLS_MAX });
        }
        pools.push(Pool(counts.to_vec()));
        return Ok(());
    };
    let is_base = at == catalogue.base();
    let reserve = if is_base { Price::ZERO } else { reserve };
    for count in u32::from(is_base)..=t.max_count {
        let cost = t.price * count;
        if cost + reserve > left {
            break;
        }
        counts[at] = count;
        let left = left.as_micro_usd_per_hour() - cost.as_micro_usd_per_hour();
        list(catalogue, Price::micro_usd_per_hour(left), reserve, at + 1, counts, pools)?;
    }
    counts[at] = 0;
    Ok(())
}
