//! SLOs that change in steps during a run: a source around any other.
//!
//! A request's SLO is that of the step in which it arrives; policies see it in the deadline, and what they
//! have learned carries over from step to step. It moves no arrival.

use crate::changed::Changed;
use orrery_sim::request::{Arrival, Source};
use orrery_sim::time::{Span, Time};
use std::sync::Arc;

/// The SLOs of steps of equal length; the last lasts for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    slos: Arc<[Span]>,
    every: Span,
}

impl Steps {
    /// # Panics
    /// When there is no step, or a step has no length.
    pub fn new(slos: Vec<Span>, every: Span) -> Steps {
        assert!(!slos.is_empty() && every > Span::ZERO, "steps have a number and a length");
        Steps { slos: slos.into(), every }
    }

    /// The SLO of a request that arrives then.
    #[inline]
    pub fn slo(&self, arrival: Time) -> Span {
        let step = (arrival.ns() / self.every.ns()) as usize;
        self.slos[step.min(self.slos.len() - 1)]
    }

    /// The SLO of each step.
    pub fn slos(&self) -> &[Span] {
        &self.slos
    }

    /// When the last step begins.
    pub fn last_begins(&self) -> Time {
        Time::ZERO + self.every * (self.slos.len() as u64 - 1)
    }
}

/// A source whose requests have SLOs that change in steps.
///
/// `steps` is by number of the application; `None` leaves its SLOs as they are.
pub fn stepped_slos<S: Source>(
    inner: S,
    steps: Arc<[Option<Steps>]>,
) -> Changed<S, impl FnMut(&mut Arrival)> {
    Changed::new(inner, move |arrival: &mut Arrival| {
        if let Some(Some(steps)) = steps.get(arrival.app.index()) {
            arrival.slo = steps.slo(arrival.at);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_sim::request::{AppId, ModelId, VecSource};

    #[test]
    fn a_request_has_the_slo_of_the_step_in_which_it_arrives() {
        let ms = Span::from_ms;
        let steps = Steps::new(vec![ms(3), ms(5), ms(4)], ms(10));
        assert_eq!(steps.last_begins(), Time::ZERO + ms(20));
        let arrival = |(at, app): (u64, u32)| Arrival {
            at: Time::from_ns(at),
            app: AppId(app),
            model: ModelId(0),
            size: 1,
            slo: ms(77),
            alone: ms(1),
        };
        let at = [
            (0, 1),
            (9_999_999, 1),
            (10_000_000, 0),
            (10_000_000, 1),
            (25_000_000, 1),
            (99_000_000, 1),
        ];
        let inner = VecSource::new(at.map(arrival).to_vec());
        let mut source = stepped_slos(inner, vec![None, Some(steps)].into());
        let slos: Vec<Span> = std::iter::from_fn(|| source.pop()).map(|a| a.slo).collect();
        assert_eq!(slos, [3, 3, 77, 5, 4, 4].map(ms));
    }
}
