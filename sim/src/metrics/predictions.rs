//! How far off a policy's own predictions are, action by action (Clockwork, section 6.5 and Fig. 10).
//!
//! A policy that predicts says with each action when it will begin and how long it will take
//! ([`Actions::expect`](crate::policy::Actions::expect)). The error of a duration is that of the action
//! itself; the error of a completion adds that of its start, where errors of the actions before it have
//! piled up. Actions that never ran to their end have none.

use super::Sketch;
use crate::observer::{Batch, Load, Observer};
use crate::ordered::ById;
use crate::policy::{Expected, Outcome};
use crate::request::ActionId;
use crate::time::{Span, Time};

/// Errors with their sign: two tails, each with the actions of its side alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tails {
    /// What happened was shorter or earlier than predicted: by how much.
    pub over: Sketch,
    /// It was longer or later: by how much.
    pub under: Sketch,
    /// It was exactly as predicted.
    pub exact: u64,
}

impl Tails {
    fn add(&mut self, predicted: u64, real: u64) {
        match predicted.cmp(&real) {
            std::cmp::Ordering::Greater => self.over.record(Span::from_ns(predicted - real)),
            std::cmp::Ordering::Less => self.under.record(Span::from_ns(real - predicted)),
            std::cmp::Ordering::Equal => self.exact += 1,
        }
    }

    /// The least error to that side which a share `q` of *all* actions does not exceed: those that err
    /// to the other side, or not at all, count as zero.
    pub fn quantile(&self, q: f64, over: bool) -> Span {
        let side = if over { &self.over } else { &self.under };
        let all = (self.over.count() + self.under.count() + self.exact) as f64;
        let zero = all - side.count() as f64;
        if q * all <= zero {
            return Span::ZERO;
        }
        side.quantile((q * all - zero) / side.count() as f64)
    }
}

/// The errors of one kind of action.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PredictionErrors {
    /// Of how long it took.
    pub duration: Tails,
    /// Of when it ended.
    pub completion: Tails,
}

impl PredictionErrors {
    fn add(&mut self, expected: Expected, start: Time, end: Time) {
        self.duration.add(expected.duration.ns(), (end - start).ns());
        self.completion.add((expected.start + expected.duration).ns(), end.ns());
    }
}

/// The observer. See the module's text.
#[derive(Clone, Debug, Default)]
pub struct Predictions {
    expected: ById<Expected>,
    /// Of batches.
    pub batches: PredictionErrors,
    /// Of loads.
    pub loads: PredictionErrors,
}

impl Predictions {
    fn close(&mut self, action: ActionId, outcome: Outcome) -> Option<(Expected, Time, Time)> {
        let expected = self.expected.remove(action.0)?;
        let Outcome::Done { start, end, .. } = outcome else { return None };
        Some((expected, start, end))
    }
}

impl Observer for Predictions {
    fn wants_expected(&self) -> bool {
        true
    }

    fn expected(&mut self, _now: Time, action: ActionId, expected: Expected) {
        self.expected.insert(action.0, expected);
    }

    fn closed(&mut self, _now: Time, batch: &Batch<'_>, _: Option<Time>, outcome: Outcome) {
        if let Some((expected, start, end)) = self.close(batch.action, outcome) {
            self.batches.add(expected, start, end);
        }
    }

    fn load_closed(&mut self, _now: Time, load: &Load, _: Option<Time>, outcome: Outcome) {
        if let Some((expected, start, end)) = self.close(load.action, outcome) {
            self.loads.add(expected, start, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_of_all_actions() {
        let mut tails = Tails::default();
        (1..=10).for_each(|i| tails.add(100, 100 + i));
        (0..80).for_each(|_| tails.add(100, 100));
        (1..=10).for_each(|i| tails.add(100 + i, 100));
        let under = |q| tails.quantile(q, false).ns();
        assert_eq!((under(0.9), under(0.91), under(0.99), under(1.0)), (0, 1, 9, 10));
        assert_eq!(tails.quantile(0.95, true).ns(), 5);
        assert_eq!((tails.over.count(), tails.under.count(), tails.exact), (10, 10, 80));
    }

    #[test]
    fn a_late_start_is_an_error_of_the_completion_alone() {
        let mut errors = PredictionErrors::default();
        let at = Time::from_ns;
        let expected = Expected { start: at(10), duration: Span::from_ns(5) };
        errors.add(expected, at(13), at(18));
        assert_eq!((errors.duration.exact, errors.completion.under.max().ns()), (1, 3));
    }
}
