//! What a search has seen: values, pools ruled out, and the way.

use super::{Ending, Evaluate, Found, Rules, SearchError, Trial};
use crate::{PlannerError, Space};

/// What there is to know of a pool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Look {
    /// Its value, known or just evaluated.
    Value(f64),
    /// It was ruled out.
    Dropped,
    /// It is unknown, and no evaluation is left.
    Spent,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Pool {
    Open,
    Known(f64),
    DroppedByBound,
    DroppedAsSub,
}

pub(crate) struct Explorer<'a, V: Evaluate> {
    pub space: &'a Space,
    evaluator: &'a mut V,
    rules: Rules,
    pools: Vec<Pool>,
    /// How many are [`Pool::Open`].
    open: usize,
    trials: Vec<Trial>,
    best: Option<usize>,
}

impl<'a, V: Evaluate> Explorer<'a, V> {
    pub fn new(
        space: &'a Space,
        rules: Rules,
        evaluator: &'a mut V,
    ) -> Result<Explorer<'a, V>, PlannerError> {
        if rules.evaluations_max == 0 {
            let (what, value) = ("evaluations_max", 0.0);
            return Err(PlannerError::Number { what, value, allowed: "at least 1" });
        }
        let open = space.pools().len();
        let pools = vec![Pool::Open; open];
        Ok(Explorer { space, evaluator, rules, pools, open, trials: Vec::new(), best: None })
    }

    pub fn is_open(&self, i: usize) -> bool {
        self.pools[i] == Pool::Open
    }

    pub fn is_known(&self, i: usize) -> bool {
        matches!(self.pools[i], Pool::Known(_))
    }

    /// Whether a pool is left that is neither known nor ruled out, and may still be evaluated.
    pub fn may_go_on(&self) -> bool {
        self.open > 0 && self.trials.len() < self.rules.evaluations_max
    }

    /// The number and value of the best pool so far.
    pub fn best(&self) -> Option<(usize, f64)> {
        match self.pools[self.best?] {
            Pool::Known(value) => self.best.map(|i| (i, value)),
            _ => None,
        }
    }

    /// The value of a pool, evaluated when it is open.
    pub fn look(&mut self, i: usize) -> Result<Look, SearchError<V::Error>> {
        match self.pools[i] {
            Pool::Known(value) => return Ok(Look::Value(value)),
            Pool::DroppedByBound | Pool::DroppedAsSub => return Ok(Look::Dropped),
            Pool::Open if self.trials.len() >= self.rules.evaluations_max => {
                return Ok(Look::Spent);
            }
            Pool::Open => (),
        }
        let pool = &self.space.pools()[i];
        let value = self.evaluator.allowable_per_s(pool);
        let value = value.map_err(|error| SearchError::Evaluation { pool: pool.clone(), error })?;
        self.learn(i, value)?;
        Ok(Look::Value(value))
    }

    fn learn(&mut self, i: usize, value: f64) -> Result<(), SearchError<V::Error>> {
        let pool = &self.space.pools()[i];
        if !value.is_finite() || value < 0.0 {
            return Err(SearchError::Value { pool: pool.clone(), value });
        }
        self.pools[i] = Pool::Known(value);
        self.open -= 1;
        let costs = self.space.costs();
        let better = self.best().is_none_or(|(best, most)| {
            value > most || value == most && (costs[i], i) < (costs[best], best)
        });
        if better {
            self.best = Some(i);
        }
        let best_per_s = self.best().map_or(value, |(_, most)| most);
        let (pool, cost) = (pool.clone(), costs[i]);
        self.trials.push(Trial { pool, cost, allowable_per_s: value, best_per_s });
        if self.rules.drop_sub_configurations {
            self.drop_sub_configurations(i);
        }
        Ok(())
    }

    /// Rules out every open pool that is a sub-configuration of this one.
    pub fn drop_sub_configurations(&mut self, of: usize) {
        let pools = self.space.pools();
        self.drop_where(Pool::DroppedAsSub, |i| pools[i].is_sub_of(&pools[of]));
    }

    /// Rules out every open pool for which this holds.
    pub fn drop_bounded(&mut self, hopeless: impl Fn(usize) -> bool) {
        self.drop_where(Pool::DroppedByBound, hopeless);
    }

    fn drop_where(&mut self, reason: Pool, out: impl Fn(usize) -> bool) {
        for i in 0..self.pools.len() {
            if self.is_open(i) && out(i) {
                self.pools[i] = reason;
                self.open -= 1;
            }
        }
    }

    /// What was found; at least one pool was evaluated. `by_own_rule` tells that the search would not
    /// have gone on.
    pub fn finish(self, by_own_rule: bool) -> Found {
        let best = self.best.expect("a search evaluates at least one pool");
        let best = &self.space.pools()[best];
        let best = self.trials.iter().find(|t| t.pool == *best).expect("it was evaluated").clone();
        let count = |what: Pool| self.pools.iter().filter(|p| **p == what).count();
        let dropped_by_bound = count(Pool::DroppedByBound);
        let dropped_as_sub_configurations = count(Pool::DroppedAsSub);
        let pools = self.pools.len();
        let ending = match (self.open, by_own_rule) {
            (0, _) => Ending::Complete,
            (_, true) => Ending::Settled,
            (_, false) => Ending::OutOfEvaluations,
        };
        let trials = self.trials;
        Found { best, trials, pools, dropped_by_bound, dropped_as_sub_configurations, ending }
    }
}
