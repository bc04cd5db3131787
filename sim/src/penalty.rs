//! What it costs to answer a request late: Orloj's cost function, one step (Eq. 2's c) or several (Appendix B).
//!
//! Times are parts of the request's SLO, and both they and costs are whole millionths, so that sums are exact
//! and a log can say them. It decides nothing.

use crate::time::Span;

/// Costs and parts of an SLO are in millionths.
pub const MILLION: u64 = 1_000_000;

/// One step of a cost function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The deadline: this part of the SLO after the arrival, millionths.
    pub deadline: u64,
    /// What it costs not to be answered by then, with all the steps before, millionths.
    pub cost: u64,
}

/// A cost function of steps: nothing up to the SLO, and never less later.
///
/// ```
/// use orrery_sim::penalty::{MILLION, Penalty, Step};
/// use orrery_sim::time::Span;
///
/// // 0.4 after the SLO, 1 after three times the SLO.
/// let step = |deadline, cost| Step { deadline, cost };
/// let penalty = Penalty::new(vec![step(MILLION, 400_000), step(3 * MILLION, MILLION)]).unwrap();
/// let slo = Span::from_ms(10);
/// let cost = |ms| penalty.cost(slo, Span::from_ms(ms));
/// assert_eq!([cost(10), cost(11), cost(30), cost(31)], [0, 400_000, 400_000, MILLION]);
/// assert_eq!(penalty.full(), MILLION);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Penalty(Vec<Step>);

impl Default for Penalty {
    /// A cost of one after the SLO: the mean cost is one less the finish rate.
    fn default() -> Penalty {
        Penalty(vec![Step { deadline: MILLION, cost: MILLION }])
    }
}

/// A step that does not follow the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PenaltyError {
    /// Which step, from 0.
    pub step: usize,
    /// Whether its deadline is wrong, or else its cost.
    pub deadline: bool,
    /// What was found, millionths; for a list without steps, or with too many, their number.
    pub found: u64,
    /// What is allowed there.
    pub allowed: String,
}

impl Penalty {
    /// The most steps.
    pub const STEPS_MAX: usize = 16;
    /// The largest deadline and cost, millionths.
    pub const MAX: u64 = 1_000 * MILLION;

    /// A cost function of these steps.
    ///
    /// # Errors
    /// When there is no step or too many, the first deadline is not the SLO, or a deadline or a cost does not
    /// grow.
    pub fn new(steps: Vec<Step>) -> Result<Penalty, PenaltyError> {
        let error =
            |step, deadline, found, allowed| Err(PenaltyError { step, deadline, found, allowed });
        if steps.is_empty() || steps.len() > Penalty::STEPS_MAX {
            let allowed = format!("1 to {} steps", Penalty::STEPS_MAX);
            return error(steps.len(), true, steps.len() as u64, allowed);
        }
        let mut before = Step { deadline: 0, cost: 0 };
        for (i, &step) in steps.iter().enumerate() {
            if i == 0 && step.deadline != MILLION {
                let allowed = "1: the first deadline is the SLO".to_string();
                return error(i, true, step.deadline, allowed);
            }
            let parts = [(true, step.deadline, before.deadline), (false, step.cost, before.cost)];
            for (deadline, found, before) in parts {
                if found <= before || found > Penalty::MAX {
                    let [low, high] = [before, Penalty::MAX].map(in_units);
                    let allowed = format!("more than {low}, at most {high}: steps only grow");
                    return error(i, deadline, found, allowed);
                }
            }
            before = step;
        }
        Ok(Penalty(steps))
    }

    /// The steps, in the order of their deadlines.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// The cost of a request that is never answered, millionths.
    pub fn full(&self) -> u64 {
        self.0.last().map_or(0, |step| step.cost)
    }

    /// The cost of an answer after this time, millionths.
    pub fn cost(&self, slo: Span, latency: Span) -> u64 {
        let missed = self.0.iter().rev().find(|step| latency > step.after(slo));
        missed.map_or(0, |step| step.cost)
    }

    /// From arrival to the last deadline.
    pub fn last(&self, slo: Span) -> Span {
        self.0.last().map_or(slo, |step| step.after(slo))
    }

    /// The single steps whose sum it is (Appendix B): their deadlines, and what each costs by itself.
    pub fn singles(&self) -> impl Iterator<Item = Step> {
        let before = std::iter::once(0).chain(self.0.iter().map(|step| step.cost));
        self.0.iter().zip(before).map(|(step, before)| Step { cost: step.cost - before, ..*step })
    }
}

impl Step {
    /// From arrival to its deadline, to the nearest nanosecond.
    pub fn after(&self, slo: Span) -> Span {
        if slo == Span::MAX {
            return slo;
        }
        let exact = u128::from(slo.ns()) * u128::from(self.deadline) + u128::from(MILLION / 2);
        Span::from_ns(u64::try_from(exact / u128::from(MILLION)).unwrap_or(u64::MAX))
    }
}

/// Millionths as a number to read.
pub fn in_units(millionths: u64) -> f64 {
    millionths as f64 / MILLION as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(of: &[(u64, u64)]) -> Result<Penalty, PenaltyError> {
        Penalty::new(of.iter().map(|&(deadline, cost)| Step { deadline, cost }).collect())
    }

    #[test]
    fn steps_that_do_not_grow_are_told_apart() {
        let m = MILLION;
        for (of, step, deadline) in [
            (vec![], 0, true),
            (vec![(2 * m, m)], 0, true),
            (vec![(m, 0)], 0, false),
            (vec![(m, m), (m, 2 * m)], 1, true),
            (vec![(m, m), (3 * m, m)], 1, false),
            (vec![(m, 1), (2 * m, 2), (3 * m, 1)], 2, false),
            (vec![(m, 1), (1_001 * m, 2)], 1, true),
        ] {
            let error = steps(&of).unwrap_err();
            assert_eq!((error.step, error.deadline), (step, deadline), "{of:?}: {error:?}");
        }
        assert_eq!(steps(&[(m, m)]).unwrap(), Penalty::default());
    }

    #[test]
    fn a_deadline_is_rounded_to_the_nearest_nanosecond() {
        let after = |slo: u64, deadline| Step { deadline, cost: 1 }.after(Span::from_ns(slo)).ns();
        assert_eq!([after(1, 400_000), after(1, 600_000), after(3, 1_500_000)], [0, 1, 5]);
        assert_eq!([in_units(2_500_000), in_units(0)], [2.5, 0.0]);
    }

    #[test]
    fn a_cost_of_steps_is_the_sum_of_single_ones() {
        let whole = steps(&[(MILLION, 200_000), (1_500_001, 700_000), (4 * MILLION, 3 * MILLION)]);
        let (whole, slo) = (whole.unwrap(), Span::from_ns(10_000_001));
        let single = |s: Step| Penalty(vec![s]);
        for us in 0..60_000 {
            for off in 0..3 {
                let latency = Span::from_ns(us * 1_000 + off);
                let sum: u64 = whole.singles().map(|s| single(s).cost(slo, latency)).sum();
                assert_eq!(whole.cost(slo, latency), sum);
            }
        }
        assert_eq!(whole.cost(slo, Span::MAX), whole.full());
        assert_eq!(whole.cost(Span::MAX, Span::MAX), 0, "without a deadline nothing is late");
    }
}
