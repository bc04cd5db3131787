//! What a pool of several types has to carry.

use crate::input::problem::Problem;
use crate::search::after_loss;
use crate::search::trial::{Bench, Check};
use orrery_run::SpecError;

/// What a pool has to carry: the load, in each step of a trace, or one level of a day.
pub(super) struct Asked<'a> {
    pub steps: Vec<Bench<'a>>,
    pub levels: Vec<usize>,
    pub load_per_s: f64,
}

impl<'a> Asked<'a> {
    /// The load; where pools follow the day, that of its peak.
    pub fn first(bench: &Bench<'a>) -> Asked<'a> {
        let day = &bench.problem.day;
        if day.follows() {
            return Asked::at(bench, 0);
        }
        let levels = (0..day.levels.len()).collect();
        Asked { steps: bench.steps(), levels, load_per_s: bench.group.load_per_s }
    }

    /// The load of a level.
    pub fn at(bench: &Bench<'a>, level: usize) -> Asked<'a> {
        let (steps, load_per_s) = (vec![bench.at(level)], bench.load_at(level));
        Asked { steps, levels: vec![level], load_per_s }
    }

    /// No pool with a lower bound carries it: its own step with most requests counts, the peak of all models may be
    /// another.
    pub fn least_per_s(&self) -> Result<f64, SpecError> {
        self.steps[0].busiest_per_s(&self.levels)
    }

    /// Whether the first seed leaves it open that a pool carries it.
    pub fn may_hold(&self, counts: &[u32]) -> Result<bool, SpecError> {
        for step in &self.steps {
            if !step.may_hold(counts, self.load_per_s)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The same, of a pool and what is left of it.
    pub fn may_survive(&self, problem: &Problem, counts: &[u32]) -> Result<bool, SpecError> {
        for pool in after_loss::pools(problem, counts) {
            if !self.may_hold(&pool)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The verdict of a pool with all seeds; of the steps of a trace, that of the one in which it does worst, as far as the
    /// first that it does not carry.
    pub fn in_each_step(&self, counts: &[u32]) -> Result<(Bench<'a>, Check), SpecError> {
        let target = self.steps[0].target();
        let mut worst = (self.steps[0], self.steps[0].check(counts, self.load_per_s)?);
        for step in &self.steps[1..] {
            if !worst.1.meets(target) {
                break;
            }
            let check = step.check(counts, self.load_per_s)?;
            let order = |check: &Check| (!check.is_sure(target), check.bad_rate);
            if order(&check) > order(&worst.1) {
                worst = (*step, check);
            }
        }
        Ok(worst)
    }

    /// Whether what is left of a pool carries it with all seeds, and it comes back from the loss.
    pub fn survives(&self, problem: &Problem, counts: &[u32]) -> Result<bool, SpecError> {
        let target = problem.plan.target();
        for (kind, left) in after_loss::left(problem, counts) {
            let carries = self.in_each_step(&left)?.1.is_sure(target);
            if !carries || self.steps[0].is_lost(counts, kind, self.load_per_s)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
