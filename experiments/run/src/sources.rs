//! What keeps a source of arrivals within the scenario's limits and numbers.
//!
//! It is not for closed loops, which keep their own limits.

use orrery_sim::request::{Arrival, ModelId, Source};
use orrery_sim::time::Time;

/// A source that stops at a limit, and at the first arrival that the scenario has no name for.
pub struct Bounded {
    inner: Box<dyn Source>,
    until: Time,
    left: u64,
    /// The model of each application.
    models: Vec<ModelId>,
    next: Option<Arrival>,
    failure: Option<String>,
}

impl Bounded {
    /// At most `requests` arrivals, all before `until`; application `i` asks for `models[i]`.
    pub fn new(
        inner: Box<dyn Source>,
        requests: u64,
        until: Time,
        models: Vec<ModelId>,
    ) -> Bounded {
        let (next, failure) = (None, None);
        let mut bounded = Bounded { inner, until, left: requests, models, next, failure };
        bounded.fill();
        bounded
    }

    /// Looks one arrival ahead, so that what is shown is what is given.
    fn fill(&mut self) {
        self.next = None;
        if self.left == 0 {
            return;
        }
        match self.inner.pop() {
            None => self.failure = self.inner.failure(),
            Some(arrival) if arrival.at >= self.until && self.until < Time::NEVER => self.left = 0,
            Some(arrival) => match self.wrong(&arrival) {
                None => {
                    self.left -= 1;
                    self.next = Some(arrival);
                }
                failure => self.failure = failure,
            },
        }
    }

    /// Why an arrival does not fit the scenario.
    fn wrong(&self, a: &Arrival) -> Option<String> {
        let apps = self.models.len();
        match self.models.get(a.app.index()) {
            None => Some(format!(
                "an arrival at {} of application {}, where the scenario has 0 to {}",
                a.at,
                a.app.0,
                apps.saturating_sub(1)
            )),
            Some(model) if *model != a.model => Some(format!(
                "an arrival at {} of application {} for model {}, where the scenario's asks for {}",
                a.at, a.app.0, a.model.0, model.0
            )),
            Some(_) => None,
        }
    }
}

impl Source for Bounded {
    fn peek(&mut self) -> Option<Time> {
        self.next.map(|a| a.at)
    }

    fn pop(&mut self) -> Option<Arrival> {
        let arrival = self.next.take()?;
        self.fill();
        Some(arrival)
    }

    fn failure(&mut self) -> Option<String> {
        self.failure.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_sim::request::{AppId, VecSource};
    use orrery_sim::time::Span;

    fn bounded(requests: u64, until_ms: u64, models: Vec<ModelId>) -> Bounded {
        let arrival = |i: u32| Arrival {
            at: Time::ZERO + Span::from_ms(u64::from(i)),
            app: AppId(i % 3),
            model: ModelId(0),
            size: 1,
            slo: Span::MAX,
            alone: Span::from_ms(1),
        };
        let inner = VecSource::new((0..10).map(arrival).collect());
        let until = Time::ZERO + Span::from_ms(until_ms);
        Bounded::new(Box::new(inner), requests, until, models)
    }

    fn drain(source: &mut Bounded) -> usize {
        let mut n = 0;
        while let Some(at) = source.peek() {
            assert_eq!(source.pop().map(|a| a.at), Some(at));
            n += 1;
        }
        n
    }

    #[test]
    fn requests_and_time_both_limit_a_source() {
        let models = vec![ModelId(0); 3];
        for (requests, until, expected) in [(4, 100, 4), (100, 5, 5), (100, 100, 10)] {
            let mut source = bounded(requests, until, models.clone());
            assert_eq!(drain(&mut source), expected);
            assert_eq!(source.failure(), None);
        }
    }

    #[test]
    fn an_application_or_model_that_the_scenario_lacks_ends_the_source() {
        let mut source = bounded(100, 100, vec![ModelId(0); 2]);
        assert_eq!(drain(&mut source), 2);
        assert!(source.failure().unwrap().contains("application 2"));
        let mut source = bounded(100, 100, vec![ModelId(0), ModelId(1), ModelId(0)]);
        assert_eq!(drain(&mut source), 1);
        assert!(source.failure().unwrap().contains("model 0"));
    }
}
