//! A steady rate that ever more applications share (Clockwork, section 6.2: 3,600 models become active one
//! by one), beside others with a steady rate of their own.

use crate::arrivals::{ArrivalProcess, Modulated};
use crate::error::{TraceError, parameter, within};
use crate::query_sizes::largest;
use crate::rate::{RATE_MAX, RATE_MIN, Rate, Segment};
use crate::workload::Application;
use orrery_sim::request::{Arrival, Source};
use orrery_sim::rng::Stream;
use orrery_sim::time::{Span, Time};

/// Who shares what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Requests per second of all that share, once the first is active.
    pub rate_per_s: f64,
    /// When the first becomes active.
    pub from: Time,
    /// One more becomes active after each of these.
    pub every: Span,
    /// Requests per second of the others together, from time zero.
    pub others_per_s: f64,
}

impl Spread {
    /// Passes when the rates are in range and each has somebody to send it.
    ///
    /// # Errors
    /// When not; the parameter is named as the field.
    pub fn check(&self, sharing: usize, others: usize) -> Result<(), TraceError> {
        within("rate_per_s", self.rate_per_s, RATE_MIN, RATE_MAX)?;
        within("others_per_s", self.others_per_s, 0.0, RATE_MAX)?;
        if sharing == 0 {
            let remedy = "name fewer `others`, or more `apps`";
            return Err(parameter("rate_per_s", self.rate_per_s, "somebody to share it", remedy));
        }
        if self.every == Span::ZERO {
            let allowed = "a time above 0";
            return Err(parameter("every_s", 0, allowed, "give the time between two"));
        }
        if (others == 0) != (self.others_per_s == 0.0) {
            let allowed = "a rate above 0 with `others`, and none without";
            let remedy = "give both `others` and `others_per_s`, or neither";
            return Err(parameter("others_per_s", self.others_per_s, allowed, remedy));
        }
        Ok(())
    }

    /// How many of those that share are active.
    fn active(&self, at: Time, all: usize) -> usize {
        if at < self.from {
            return 0;
        }
        let further = at.since(self.from).ns() / self.every.ns();
        usize::try_from(further).map_or(all, |n| n.saturating_add(1).min(all))
    }
}

#[derive(Debug)]
struct Rates {
    spread: Spread,
    begun: bool,
}

impl Rate for Rates {
    fn next_segment(&mut self) -> Option<Segment> {
        let Spread { rate_per_s, from, others_per_s, .. } = self.spread;
        if !std::mem::replace(&mut self.begun, true) && from > Time::ZERO {
            return Some(Segment { len: from.since(Time::ZERO), per_s: others_per_s });
        }
        Some(Segment { len: Span::MAX, per_s: rate_per_s + others_per_s })
    }
}

/// The source: Poisson at the sum of the rates, and a draw of whose each arrival is, which is the same in
/// law as a Poisson process for each application.
pub struct Spreading {
    process: Modulated<Rates>,
    spread: Spread,
    sharing: Vec<Application>,
    others: Vec<Application>,
    exec: Vec<Stream>,
    choose: Stream,
    next: Option<Time>,
}

impl Spreading {
    /// `sharing` become active in this order. Times come from the stream `"arrivals"`, whose they are from
    /// `"apps"`, execution times from `("exec", app)`.
    ///
    /// # Errors
    /// When a rate or a size is out of range, or a rate has nobody to send it.
    pub fn new(
        spread: Spread,
        sharing: Vec<Application>,
        others: Vec<Application>,
        seed: u64,
    ) -> Result<Spreading, TraceError> {
        spread.check(sharing.len(), others.len())?;
        for app in sharing.iter().chain(&others) {
            largest(app.size)?;
        }
        let all = sharing.iter().chain(&others).map(|a| a.app.index()).max().unwrap_or(0);
        let exec = (0..=all as u64).map(|app| Stream::named(seed, "exec", app)).collect();
        let rates = Rates { spread, begun: false };
        let mut process = Modulated::new(rates, Stream::named(seed, "arrivals", 0));
        let next = process.next();
        let choose = Stream::named(seed, "apps", 0);
        Ok(Spreading { process, spread, sharing, others, exec, choose, next })
    }

    fn sender(&mut self, at: Time) -> &Application {
        let active = self.spread.active(at, self.sharing.len());
        let Spread { rate_per_s, others_per_s, .. } = self.spread;
        let share = self.choose.uniform() * (rate_per_s + others_per_s);
        if active > 0 && share < rate_per_s {
            &self.sharing[self.choose.below(active as u64) as usize]
        } else {
            &self.others[self.choose.below(self.others.len() as u64) as usize]
        }
    }
}

impl Source for Spreading {
    fn peek(&mut self) -> Option<Time> {
        self.next
    }

    fn pop(&mut self) -> Option<Arrival> {
        let at = self.next?;
        self.next = self.process.next();
        let app = self.sender(at).clone();
        let exec = &mut self.exec[app.app.index()];
        Some(app.arrival(at, exec))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec_time::ExecLaw;
    use orrery_sim::request::{AppId, ModelId};

    fn apps(from: u32, n: u32) -> Vec<Application> {
        let ms = Span::from_ms(1);
        let app = |i: u32| Application {
            app: AppId(i),
            model: ModelId(i),
            weight: 1.0,
            law: ExecLaw::Constant(ms),
            slo: ms,
            size: 1,
        };
        (from..from + n).map(app).collect()
    }

    const SPREAD: Spread = Spread {
        rate_per_s: 1_000.0,
        from: Time::from_ns(10_000_000_000),
        every: Span::from_secs(1),
        others_per_s: 200.0,
    };

    #[test]
    fn each_is_active_from_its_time_and_all_share_equally() {
        let mut source = Spreading::new(SPREAD, apps(1, 20), apps(0, 1), 3).unwrap();
        // Counts by second and application.
        let mut counts = vec![vec![0u32; 21]; 40];
        while let Some(at) = source.peek().filter(|at| at.as_secs_f64() < 40.0) {
            let a = source.pop().unwrap();
            assert_eq!(a.at, at);
            counts[at.as_secs_f64() as usize][a.app.index()] += 1;
        }
        for (second, of) in counts.iter().enumerate() {
            let active = if second < 10 { 0 } else { (second - 9).min(20) };
            assert!(of[active + 1..].iter().all(|n| *n == 0), "{second}: {of:?}");
            // Within five standard deviations of the Poisson law.
            let near = |n: u32, mean: f64| (f64::from(n) - mean).abs() < 5.0 * mean.sqrt() + 1.0;
            assert!(near(of[0], 200.0), "{second}: {of:?}");
            for n in &of[1..=active] {
                assert!(near(*n, 1_000.0 / active as f64), "{second}: {of:?}");
            }
        }
    }

    #[test]
    fn rates_without_senders_are_refused() {
        let with = |sharing, others: u32| {
            Spreading::new(SPREAD, apps(1, sharing), apps(0, others), 1)
                .err()
                .map(|e| e.to_string())
        };
        assert!(with(0, 1).unwrap().contains("rate_per_s"));
        assert!(with(3, 0).unwrap().contains("others_per_s"));
        assert!(with(3, 1).is_none());
    }
}
