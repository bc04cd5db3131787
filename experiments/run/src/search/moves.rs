//! How a probe's arrivals are moved in time: by a burst, or by a rate that rises ([`Rise`]).
//!
//! A burst shows whether a system that was overloaded for a moment comes back to what it did before.
//!
//! ```text
//!  rate  ────────┐████┌──────────────────────────────────   twice the rate for one SLO
//!        warm-up │    │ recovery: 96 SLOs, not counted │ counted
//! ```
//!
//! A system that does not come back at a load below its peak is metastable (Bronson et al., HotOS 2021): whether
//! a run at its peak holds is a matter of luck and of the run's length. One that carries 98.5 % of what it can serve
//! works off a burst of one SLO within 65 of them.

use super::ramp::Rise;
use super::{How, Load, Rule, Stop};
use crate::setup::Sources;
use orrery_sim::request::{Arrival, End, Request, Source};
use orrery_sim::time::{Span, Time};

/// So many SLOs after a burst the system is back in its usual state, if it comes back at all.
const RECOVERY: u64 = 96;

/// From when on, and for how long, arrivals come twice as fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    from: Time,
    lasts: Span,
}

/// What moves a probe's arrivals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moves {
    /// A burst within the warm-up.
    Burst(Burst),
    /// A rate that rises behind it.
    Rise(Rise),
}

impl Moves {
    /// When what would come at `at` comes.
    pub(super) fn when(&self, at: Time) -> Time {
        match self {
            Moves::Burst(burst) => burst.when(at),
            Moves::Rise(rise) => rise.when(at),
        }
    }
}

impl Rule {
    /// The rule of a probe that is made like this, where `slo` is the longest SLO of so many models.
    pub(super) fn made(self, how: How, slo: Span, models: usize) -> Rule {
        let rule = self.longer(how.longer);
        let Load::Steady { rate_per_s, .. } = rule.load else { return rule };
        if slo == Span::MAX {
            return rule;
        }
        if let Some(by) = how.rises {
            let requests = rule.requests_per_model.saturating_mul(models as u64);
            // It says about where the answer is, and need not be as slow as its backlogs.
            let follows = slo.scale(0.25);
            let rise = Rise::new((rate_per_s, by), requests, rule.warm_up, follows);
            return rise.map_or(rule.clone(), |rise| {
                let (exactly, moves) = (Some(rise.lasts()), Some(Moves::Rise(rise)));
                Rule { exactly, moves, stop: Stop::AtEnd, ..rule }
            });
        }
        if let (Some(error), Stop::Clear, None) = (how.exact, rule.stop, rule.exactly) {
            return Rule { stop: Stop::Exact(error), ..rule };
        }
        if !how.burst {
            return rule;
        }
        let burst = Burst { from: Time::ZERO + rule.warm_up, lasts: slo };
        let warm_up = rule.warm_up + slo * (1 + RECOVERY);
        Rule { warm_up, moves: Some(Moves::Burst(burst)), ..rule }
    }
}

/// Sources whose arrivals are moved.
pub(super) fn with(moves: Option<Moves>, sources: Sources) -> Sources {
    let Some(moves) = moves else { return sources };
    let with = |inner: Box<dyn Source>| Box::new(Moved { inner, moves }) as Box<dyn Source>;
    sources.into_iter().map(with).collect()
}

struct Moved {
    inner: Box<dyn Source>,
    moves: Moves,
}

impl Burst {
    /// What comes in twice the burst's length comes in its length, and all else as much earlier.
    fn when(&self, at: Time) -> Time {
        let Burst { from, lasts } = *self;
        if at <= from || at == Time::NEVER {
            return at;
        }
        let since = at.since(from);
        if since < lasts * 2 {
            from + Span::from_ns(since.ns() / 2)
        } else {
            from + since.minus(lasts)
        }
    }
}

impl Source for Moved {
    fn peek(&mut self) -> Option<Time> {
        self.inner.peek().map(|at| self.moves.when(at))
    }

    fn pop(&mut self) -> Option<Arrival> {
        let arrival = self.inner.pop()?;
        Some(Arrival { at: self.moves.when(arrival.at), ..arrival })
    }

    fn on_reply(&mut self, request: &Request, now: Time, end: End) {
        self.inner.on_reply(request, now, end);
    }

    fn is_closed_loop(&self) -> bool {
        self.inner.is_closed_loop()
    }

    fn failure(&mut self) -> Option<String> {
        self.inner.failure()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_sim::request::{AppId, ModelId};

    struct Regular(u64);

    impl Source for Regular {
        fn peek(&mut self) -> Option<Time> {
            Some(Time::from_ns(self.0))
        }

        fn pop(&mut self) -> Option<Arrival> {
            let at = Time::from_ns(self.0);
            self.0 += 10;
            let (app, model) = (AppId(0), ModelId(0));
            Some(Arrival { at, app, model, size: 1, slo: Span::MAX, alone: Span::ZERO })
        }
    }

    #[test]
    fn for_its_length_arrivals_come_twice_as_fast() {
        let burst = Burst { from: Time::from_ns(100), lasts: Span::from_ns(50) };
        let mut all = with(Some(Moves::Burst(burst)), vec![Box::new(Regular(0))]);
        let times: Vec<u64> = (0..30)
            .map(|_| {
                let next = all[0].peek();
                let at = all[0].pop().unwrap().at;
                assert_eq!(next, Some(at));
                at.ns()
            })
            .collect();
        let count = |from: u64, to: u64| times.iter().filter(|t| (from..to).contains(*t)).count();
        assert_eq!((count(0, 100), count(100, 150), count(150, 200)), (10, 10, 5));
        assert!(times.windows(2).all(|t| t[0] < t[1]), "{times:?}");
    }

    /// What came at 100/s within 10 s, 1,000 requests, comes while the rate doubles: within ln(2) of 10 s.
    #[test]
    fn a_rate_rises_to_its_factor_with_its_requests() {
        let (warm_up, no_backlog) = (Span::from_secs(1), Span::ZERO);
        let rise = Rise::new((100.0, 2.0), 1_000, warm_up, no_backlog).expect("slow enough");
        let at = |ms: u64| rise.when(Time::ZERO + warm_up + Span::from_ms(ms)).since(Time::ZERO);
        assert_eq!(at(0), warm_up);
        let near = |span: Span, s: f64| assert!((span.as_secs_f64() - s).abs() < 1e-5, "{span:?}");
        near(rise.lasts(), 10.0 * libm::log(2.0));
        near(at(10_000), 1.0 + 10.0 * libm::log(2.0));
        near(at(10_010).minus(at(10_000)), 0.005);
    }

    /// Clients that wait for answers, of a file that cannot be read on.
    struct Broken(std::rc::Rc<std::cell::Cell<u32>>);

    impl Source for Broken {
        fn peek(&mut self) -> Option<Time> {
            None
        }

        fn pop(&mut self) -> Option<Arrival> {
            None
        }

        fn on_reply(&mut self, _: &Request, _: Time, _: End) {
            self.0.set(self.0.get() + 1);
        }

        fn is_closed_loop(&self) -> bool {
            true
        }

        fn failure(&mut self) -> Option<String> {
            Some("line 7".into())
        }
    }

    #[test]
    fn what_is_no_arrival_is_the_source_s_own() {
        let burst = Burst { from: Time::ZERO, lasts: Span::from_ns(50) };
        let replies = std::rc::Rc::new(std::cell::Cell::new(0));
        let mut all = with(Some(Moves::Burst(burst)), vec![Box::new(Broken(replies.clone()))]);
        let request = Request::default();
        all[0].on_reply(&request, Time::ZERO, End::InTime);
        assert_eq!((replies.get(), all[0].is_closed_loop()), (1, true));
        assert_eq!(all[0].failure().as_deref(), Some("line 7"));
    }
}
