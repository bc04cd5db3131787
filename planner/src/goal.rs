//! The cheapest pool that carries a given load.
//!
//! ```text
//! for each pool, the cheapest first:
//!     skip it when its upper bound is below the goal
//!     evaluate it; when it carries the goal, it is the answer
//! go on for as many runners-up as are wanted
//! ```
//!
//! Pools of the same cost are taken by bound, the highest first, then in the order of the space.

use crate::search::{Ending, Evaluate, Explorer, Look, Rules, SearchError, Trial};
use crate::{PlannerError, Ranking, Space};

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// The load to be carried, in queries/s; above 0.
    pub load_per_s: f64,
    /// By how much a pool may be better than its upper bound says, as a fraction of it; 0 or more.
    /// Kairos's bound is exceeded by up to about 4 % by an oracle.
    pub bound_slack: f64,
    /// How many more pools that meet the goal are looked for.
    pub runners_up: usize,
    /// The most pools that are evaluated; at least 1.
    pub evaluations_max: usize,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct GoalAnswer {
    /// The pools that meet the goal, the cheapest first, then its runners-up by rising cost.
    pub meeting: Vec<Trial>,
    /// Each pool evaluated, in order.
    pub trials: Vec<Trial>,
    /// How many pools there are.
    pub pools: usize,
    /// How many pools were skipped because of their bound.
    pub skipped_by_bound: usize,
    /// [`Ending::Complete`]: all pools were evaluated or skipped. [`Ending::Settled`]: all that
    /// were wanted are found, and each pool that is left costs no less.
    pub ending: Ending,
}

impl GoalAnswer {
    /// The cheapest pool that meets the goal; none when none that was evaluated does.
    pub fn cheapest(&self) -> Option<&Trial> {
        self.meeting.first()
    }

    /// Why there is no answer, in words; none when there is one.
    pub fn why_none(&self, goal: &Goal) -> Option<String> {
        if !self.meeting.is_empty() {
            return None;
        }
        let Goal { load_per_s, evaluations_max, .. } = *goal;
        Some(match self.ending {
            Ending::OutOfEvaluations => format!(
                "none of the {evaluations_max} pools evaluated carries {load_per_s} queries/s, and \
                 the search did not converge: allow more evaluations"
            ),
            Ending::Complete | Ending::Settled => format!(
                "no pool of {} carries {load_per_s} queries/s: {} were evaluated, {} are below it \
                 by their upper bound; raise the budget or lower the goal",
                self.pools,
                self.trials.len(),
                self.skipped_by_bound
            ),
        })
    }
}

/// Looks for the cheapest pool that carries the load. Without a ranking nothing is skipped.
///
/// # Errors
/// When the goal is wrong, the ranking is of another space, or a pool cannot be evaluated.
pub fn cheapest_for<V: Evaluate>(
    space: &Space,
    ranking: Option<&Ranking>,
    goal: &Goal,
    evaluator: &mut V,
) -> Result<GoalAnswer, SearchError<V::Error>> {
    goal.check()?;
    let pools = space.pools().len();
    let bounds = ranking.map_or_else(|| vec![f64::INFINITY; pools], |r| r.bounds_per_s().to_vec());
    if bounds.len() != pools {
        let (what, found, of) = ("bounds", bounds.len(), "pools");
        return Err(PlannerError::Length { what, found, expected: pools, of }.into());
    }
    let mut order: Vec<usize> = (0..pools).collect();
    let costs = space.costs();
    order.sort_by(|&a, &b| costs[a].cmp(&costs[b]).then(bounds[b].total_cmp(&bounds[a])));
    let rules = Rules { evaluations_max: goal.evaluations_max, drop_sub_configurations: false };
    let mut explorer = Explorer::new(space, rules, evaluator)?;
    explorer.drop_bounded(|i| bounds[i] * (1.0 + goal.bound_slack) < goal.load_per_s);
    let skipped_by_bound = order.iter().filter(|i| !explorer.is_open(**i)).count();
    let mut meeting = 0;
    for i in order {
        if meeting > goal.runners_up {
            break;
        }
        match explorer.look(i)? {
            Look::Value(value) if value >= goal.load_per_s => meeting += 1,
            Look::Value(_) | Look::Dropped => (),
            Look::Spent => break,
        }
    }
    let (trials, ending) = explorer.finish_trials(meeting > goal.runners_up);
    let meets = |t: &&Trial| t.allowable_per_s >= goal.load_per_s;
    let meeting = trials.iter().filter(meets).cloned().collect();
    Ok(GoalAnswer { meeting, trials, pools, skipped_by_bound, ending })
}

impl Goal {
    fn check(&self) -> Result<(), PlannerError> {
        let wrong = |what, value, allowed| Err(PlannerError::Number { what, value, allowed });
        if !self.load_per_s.is_finite() || self.load_per_s <= 0.0 {
            return wrong("load", self.load_per_s, "a finite number of queries/s above 0");
        }
        if !self.bound_slack.is_finite() || self.bound_slack < 0.0 {
            return wrong("bound_slack", self.bound_slack, "a finite number from 0 on");
        }
        Ok(())
    }
}
