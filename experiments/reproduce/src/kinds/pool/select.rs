//! Which pools a column is about.

use super::evaluate::{Evaluator, Value};
use super::scheme::Scheme;
use super::searches::of_search;
use super::world::World;
use orrery_run::SpecError;
use orrery_run::limits::{COUNT_MAX, count};
use orrery_solvers::Pool;
use orrery_solvers::search::{Rules, kairos_plus};

/// Which pools. A file says `homogeneous`, `homogeneous-scaled`, `pick`, `best`, `best-of:SCHEME`,
/// `best-in-top:N`, `kairos+`, `top:N`, or counts such as `2-0-9-0`, several with `,` between.
#[derive(Clone, Debug)]
pub enum Selector {
    /// As many base instances as the budget pays for.
    Homogeneous {
        /// Its throughput is scaled up to the budget (§8.1).
        scaled: bool,
    },
    /// What Kairos picks by the upper bounds, without any evaluation.
    Pick,
    /// The pool that carries most under this scheme, or under the column's own, of all.
    Best(Option<Scheme>),
    /// The pool that carries most, of the N with the highest upper bounds.
    BestInTop(usize),
    /// The pool that Kairos+ finds.
    KairosPlus,
    /// The N pools with the highest upper bounds.
    Top(usize),
    /// These.
    Counts(Vec<Pool>),
}

/// The counts of a pool as rows have them: `2-0-9-0`.
pub fn dashed(pool: &Pool) -> String {
    pool.0.iter().map(u32::to_string).collect::<Vec<_>>().join("-")
}

impl Selector {
    /// From its text in a file.
    ///
    /// # Errors
    /// When it is none.
    pub fn parse(text: &str) -> Result<Selector, SpecError> {
        let wrong = || {
            let allowed = "`homogeneous`, `homogeneous-scaled`, `pick`, `best`, `best-of:SCHEME`, \
                           `best-in-top:N`, `kairos+`, `top:N`, or counts such as `2-0-9-0`";
            SpecError::value("pool", format!("`{text}`"), allowed, "write one of them")
        };
        let number = |n: &str| n.parse().ok().filter(|n| *n > 0).ok_or_else(wrong);
        if let Some(scheme) = text.strip_prefix("best-of:") {
            return Ok(Selector::Best(Some(Scheme::parse(scheme)?)));
        }
        if let Some(n) = text.strip_prefix("best-in-top:") {
            return Ok(Selector::BestInTop(number(n)?));
        }
        if let Some(n) = text.strip_prefix("top:") {
            return Ok(Selector::Top(number(n)?));
        }
        Ok(match text {
            "homogeneous" => Selector::Homogeneous { scaled: false },
            "homogeneous-scaled" => Selector::Homogeneous { scaled: true },
            "pick" => Selector::Pick,
            "best" => Selector::Best(None),
            "kairos+" => Selector::KairosPlus,
            counts => {
                let pool = |one: &str| {
                    let counts = one.trim().split('-').map(|n| n.parse().ok());
                    counts.collect::<Option<Vec<u32>>>().map(Pool)
                };
                let pools: Option<Vec<Pool>> = counts.split(',').map(pool).collect();
                let pools = pools.ok_or_else(wrong)?;
                for pool in &pools {
                    let instances = pool.0.iter().map(|n| u64::from(*n)).sum();
                    count("pool", instances, 1, COUNT_MAX)?;
                }
                Selector::Counts(pools)
            }
        })
    }

    /// The pools and their values under a scheme.
    ///
    /// # Errors
    /// When a pool does not fit the types, or cannot be evaluated.
    pub fn values(
        &self,
        evaluator: &Evaluator<'_>,
        world: &World,
        scheme: &Scheme,
    ) -> Result<Vec<(Pool, Value)>, SpecError> {
        let at = |i: usize| world.space.pools()[i].clone();
        let top = |n: usize| world.ranking.order().iter().take(n).map(|&i| at(i));
        let pools = match self {
            Selector::Homogeneous { .. } => vec![world.homogeneous()],
            Selector::Pick => vec![at(world.ranking.pick(&world.space).0)],
            Selector::Best(of) => {
                let (pool, value) = evaluator.best(world, of.as_ref().unwrap_or(scheme))?;
                if of.is_none() {
                    return Ok(vec![(pool, value)]);
                }
                vec![pool]
            }
            Selector::BestInTop(n) => {
                let values = evaluator.each(world, &top(*n).collect::<Vec<_>>(), scheme)?;
                return Ok(best_of(values).into_iter().collect());
            }
            Selector::KairosPlus => {
                let mut evaluate =
                    |pool: &Pool| evaluator.value(world, pool, scheme).map(|v| v.mean());
                let found =
                    kairos_plus(&world.space, &world.ranking, Rules::default(), &mut evaluate);
                vec![found.map_err(of_search)?.best.pool]
            }
            Selector::Top(n) => top(*n).collect(),
            Selector::Counts(pools) => pools.clone(),
        };
        for pool in &pools {
            let (found, expected) = (pool.0.len(), world.conditions.types.len());
            if found != expected {
                let allowed = format!("{expected} counts: {}", world.conditions.types.join(", "));
                let remedy = "give one for each type";
                return Err(SpecError::value("pool", dashed(pool), allowed, remedy));
            }
        }
        let mut values = evaluator.each(world, &pools, scheme)?;
        if let Selector::Homogeneous { scaled: true } = self {
            for (pool, value) in &mut values {
                let cost = pool.cost(world.space.catalogue());
                let scale = |x: &mut f64| *x = world.space.scaled_to_budget(*x, cost);
                value.by_seed_per_s.iter_mut().for_each(scale);
            }
        }
        Ok(values)
    }
}

/// The largest mean; the first at a tie.
fn best_of(values: Vec<(Pool, Value)>) -> Option<(Pool, Value)> {
    values.into_iter().reduce(|a, b| if b.1.mean() > a.1.mean() { b } else { a })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_read() {
        for text in [
            "homogeneous",
            "homogeneous-scaled",
            "pick",
            "best",
            "best-of:orcl",
            "best-in-top:10",
            "kairos+",
            "top:20",
            "4-0-0-0",
            "4-0-0, 3-1-3",
        ] {
            assert!(Selector::parse(text).is_ok(), "{text}");
        }
        for text in ["", "top:0", "top:x", "4-x", "bst", "best-of:kairso"] {
            assert!(Selector::parse(text).is_err(), "{text}");
        }
    }
}
