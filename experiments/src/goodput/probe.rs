//! One probe: is this load within the target?
//!
//! Requests stream in without end, and the run is stopped when it is decided. At some arrivals, each
//! time twice as many as before, each model's share of bad requests is looked at:
//!
//! ```text
//! bad:   some model's interval lies above the target
//! good:  every model's interval lies below it, and the run is long enough
//! else:  go on; at the last look the estimate of the worst model decides, and is called unsure
//! ```
//!
//! The interval is that of batch means, 95 % stretched to 99.9 %: there are many looks at many models,
//! and a probe that errs early misleads the whole search.

use super::{Criterion, Search};
use orrery_scenario::setup::Setup;
use orrery_scenario::{PolicySpec, SpecError};
use orrery_sim::driver::simulate;
use orrery_sim::observer::Observer;
use orrery_sim::request::{Arrival, End, Request, Source};
use orrery_sim::stats::ratio_of_batches;
use orrery_sim::time::{Span, Time};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::rc::Rc;

/// Student's 0.9995 quantile over its 0.975, about 60 degrees of freedom.
const STRETCH: f64 = 1.73;

/// The most batches of a model; neighbours are merged when they are full.
const BATCHES: usize = 64;

/// The first look, in arrivals for each model.
const FIRST_LOOK: u64 = 1000;

/// What a probe said.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
pub struct Probe {
    /// Whether the load is within the target.
    pub good: bool,
    /// Whether the interval says so, not only the estimate.
    pub sure: bool,
    /// The worst model's share of bad requests.
    pub bad_rate: f64,
    /// Which model that is.
    pub worst_model: usize,
    /// Requests simulated.
    pub requests: u64,
}

/// Probes a load: `setup`'s source must not end by itself before the search's limit.
///
/// # Errors
/// When the workload cannot be made.
pub fn probe(
    setup: &Setup,
    policy: &PolicySpec,
    seed: u64,
    search: &Search,
) -> Result<Probe, SpecError> {
    let stop = Rc::new(Cell::new(false));
    let sources = setup.sources(seed)?.into_iter();
    let sources: Vec<Box<dyn Source>> = sources
        .map(|inner| Box::new(Stoppable { inner, stop: stop.clone() }) as Box<dyn Source>)
        .collect();
    let judge = Judge::new(search, setup.slo.len(), stop);
    let built = setup.policy(policy, seed);
    let finished = simulate(&setup.world, sources, built, judge);
    if let Some(failure) = finished.failure {
        return Err(setup.failed(&failure));
    }
    Ok(finished.observer.verdict())
}

/// A source that ends when it is told to.
struct Stoppable {
    inner: Box<dyn Source>,
    stop: Rc<Cell<bool>>,
}

impl Source for Stoppable {
    fn peek(&mut self) -> Option<Time> {
        if self.stop.get() { None } else { self.inner.peek() }
    }
    fn pop(&mut self) -> Option<Arrival> {
        self.inner.pop()
    }
    fn failure(&mut self) -> Option<String> {
        self.inner.failure()
    }
}

/// The requests of one model that count.
#[derive(Clone, Debug, Default)]
struct Tally {
    arrived: u64,
    ended: u64,
    /// Those that were dropped and do not count as bad.
    shed: u64,
    slo: Span,
    /// Requests and bad ones, in the order of their ends.
    batches: Vec<(u64, u64)>,
    /// A batch has so many requests.
    size: u64,
}

impl Tally {
    fn add(&mut self, bad: bool) {
        if self.batches.last().is_none_or(|b| b.0 >= self.size) {
            if self.batches.len() == BATCHES {
                let merged = self.batches.chunks(2).map(|p| (p[0].0 + p[1].0, p[0].1 + p[1].1));
                self.batches = merged.collect();
                self.size *= 2;
            }
            self.size = self.size.max(1);
            self.batches.push((0, 0));
        }
        if let Some(last) = self.batches.last_mut() {
            last.0 += 1;
            last.1 += u64::from(bad);
        }
    }

    /// Requests that should have ended long ago: a policy may starve a model for ever.
    fn overdue(&self, measured: Span) -> u64 {
        let per_ns = self.arrived as f64 / measured.ns().max(1) as f64;
        let allowed = 2.0 * per_ns * self.slo.ns() as f64 + 100.0;
        ((self.arrived - self.ended) as f64 - allowed).max(0.0) as u64
    }

    /// The share of bad requests and half the width of its interval.
    fn bad_rate(&self, measured: Span) -> (f64, f64) {
        if self.shed > self.ended / 2 {
            return (1.0, 0.0);
        }
        let overdue = self.overdue(measured) as f64;
        let (n, bad): (u64, u64) =
            self.batches.iter().fold((0, 0), |sum, b| (sum.0 + b.0, sum.1 + b.1));
        let of = n as f64 + overdue;
        if of == 0.0 {
            return (0.0, if self.arrived == 0 { 0.0 } else { 1.0 });
        }
        let floats = |f: fn(&(u64, u64)) -> u64| -> Vec<f64> {
            self.batches.iter().map(|b| f(b) as f64).collect()
        };
        let interval = ratio_of_batches(&floats(|b| b.1), &floats(|b| b.0));
        let half = interval.map_or(1.0, |b| b.interval.width() / 2.0 * STRETCH);
        // Where nothing was bad the batches say nothing: one bad of n may still come.
        ((bad as f64 + overdue) / of, half.max(5.0 / of))
    }
}

/// Watches a probe and stops it.
struct Judge {
    criterion: Criterion,
    target: f64,
    from: Time,
    least: Span,
    models: Vec<Tally>,
    arrived: u64,
    /// Look again at so many arrivals; the last look is at `last`.
    look: u64,
    last: u64,
    now: Time,
    stop: Rc<Cell<bool>>,
    said: Option<Probe>,
    all: u64,
}

impl Judge {
    fn new(search: &Search, models: usize, stop: Rc<Cell<bool>>) -> Judge {
        let m = models.max(1) as u64;
        let last = search.requests_per_model.saturating_mul(m);
        Judge {
            criterion: search.criterion,
            target: search.target,
            from: Time::ZERO + Span::from_secs_f64(search.warm_up_s),
            least: Span::from_secs_f64(search.least_s),
            models: vec![Tally::default(); models],
            arrived: 0,
            look: (FIRST_LOOK * m).min(last),
            last,
            now: Time::ZERO,
            stop,
            said: None,
            all: 0,
        }
    }

    /// What the estimate of the worst model says.
    fn estimate(&self, measured: Span) -> Probe {
        let rates = self.models.iter().map(|t| t.bad_rate(measured).0).enumerate();
        let worst =
            |worst: (usize, f64), this: (usize, f64)| if this.1 > worst.1 { this } else { worst };
        let (worst_model, bad_rate) = rates.fold((0, 0.0), worst);
        let good = bad_rate <= self.target;
        Probe { good, sure: false, bad_rate, worst_model, requests: 0 }
    }

    fn look(&mut self) {
        let measured = self.now.since(self.from);
        let long_enough = measured >= self.least;
        let each: Vec<(f64, f64)> = self.models.iter().map(|t| t.bad_rate(measured)).collect();
        let bad = each.iter().any(|(rate, half)| rate - half > self.target);
        let good = long_enough && each.iter().all(|(rate, half)| rate + half < self.target);
        let over = self.arrived >= self.last && long_enough;
        if bad || good || over {
            self.said = Some(Probe { sure: bad || good, ..self.estimate(measured) });
            if bad {
                self.said.iter_mut().for_each(|p| p.good = false);
            }
            self.stop.set(true);
        }
        while self.look <= self.arrived {
            self.look = self.look.saturating_mul(2);
            if self.arrived < self.last {
                self.look = self.look.min(self.last);
            }
        }
    }

    fn verdict(self) -> Probe {
        // Where the source ended first, what there is decides.
        let said = self.said.clone().unwrap_or_else(|| self.estimate(self.now.since(self.from)));
        Probe { requests: self.all, ..said }
    }
}

impl Observer for Judge {
    #[inline]
    fn arrived(&mut self, _now: Time, request: &Request) {
        self.all += 1;
        self.now = request.arrival;
        if request.arrival < self.from || self.said.is_some() {
            return;
        }
        let tally = &mut self.models[request.model.index()];
        tally.arrived += 1;
        tally.slo = tally.slo.max(request.slo());
        self.arrived += 1;
        if self.arrived >= self.look {
            self.look();
        }
    }

    #[inline]
    fn ended(&mut self, _now: Time, request: &Request, end: End, _start: Option<Time>) {
        if request.arrival < self.from || self.said.is_some() {
            return;
        }
        let tally = &mut self.models[request.model.index()];
        tally.ended += 1;
        match (self.criterion, end) {
            (Criterion::P99, End::Dropped(_)) => tally.shed += 1,
            (_, End::Pending) => {}
            (_, end) => tally.add(end != End::InTime),
        }
    }
}
