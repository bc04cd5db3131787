//! Intervals from one run mean what they say: over many runs of a queue whose figures are known, the
//! 95 % interval holds the true figure in 90 to 98 % of them; and a run that diverges is told from
//! one that does not.
//!
//! The queue is M/M/1 at load 0.8 with a mean service of 1 ms: neighbours in it are alike for about
//! a hundred requests, so an interval that took requests for independent would be nine times too
//! narrow. In release builds, 100 runs of 125 thousand requests, or of a million with `ORRERY_WHOLE`; in
//! debug builds 20 of 20 thousand, which are too few for a share and only show that nothing is far off.
//!
//! ```text
//! ORRERY_WHOLE=1 cargo test --release -p orrery-tests -- intervals --nocapture
//! ```

use orrery_sim::driver::{World, simulate};
use orrery_sim::latency::Latency;
use orrery_sim::metrics::{Metrics, Ratio, View};
use orrery_sim::policy::fifo::{Config, Fifo};
use orrery_sim::request::{AppId, Arrival, ModelId, Source};
use orrery_sim::stats::Batched;
use orrery_sim::time::{Span, Time};
use orrery_traces::arrivals::{ArrivalLaw, BoxedProcess};
use rayon::prelude::*;
use std::f64::consts::LN_10;

const DEBUG: bool = cfg!(debug_assertions);
const RUNS: u64 = if DEBUG { 20 } else { 100 };
const REQUESTS: u64 = match (DEBUG, option_env!("ORRERY_WHOLE")) {
    (true, _) => 20_000,
    (false, None) => 125_000,
    (false, Some(_)) => 1_000_000,
};
const LOAD: f64 = 0.8;
/// The sojourn's rate, mu - lambda per ms: the sojourn is exponential.
const RATE: f64 = 1.0 - LOAD;

/// Poisson arrivals and exponential services with a mean of 1 ms, which are the gaps of another
/// Poisson process.
struct MarkovSource {
    arrivals: BoxedProcess,
    services: BoxedProcess,
    next: Option<Time>,
    served: Time,
    left: u64,
    slo: Span,
}

impl MarkovSource {
    fn new(load: f64, requests: u64, slo: Span, seed: u64) -> MarkovSource {
        let poisson = |per_s, index| {
            ArrivalLaw::Poisson { rate_per_s: per_s }.start(seed, index).expect("a sound rate")
        };
        let (mut arrivals, services) = (poisson(load * 1000.0, 0), poisson(1000.0, 1));
        let next = arrivals.next();
        MarkovSource { arrivals, services, next, served: Time::ZERO, left: requests, slo }
    }
}

impl Source for MarkovSource {
    fn peek(&mut self) -> Option<Time> {
        self.next
    }

    fn pop(&mut self) -> Option<Arrival> {
        let at = self.next?;
        self.left -= 1;
        self.next = if self.left > 0 { self.arrivals.next() } else { None };
        let served = self.services.next()?;
        let alone = served.since(self.served);
        self.served = served;
        Some(Arrival { at, app: AppId(0), model: ModelId(0), size: 1, slo: self.slo, alone })
    }
}

/// The metrics of a run of M/M/1, which serves everyone, late or not.
fn mm1(load: f64, requests: u64, slo: Span, seed: u64) -> Metrics {
    let world = World::single(Latency::Proportional { c1: 0.5 });
    let source = Box::new(MarkovSource::new(load, requests, slo, seed));
    let fifo = Fifo::new(Config { max_batch: 1, drop_expired: false });
    simulate(&world, vec![source], fifo, Default::default()).observer
}

/// What is estimated, and its closed form.
const FIGURES: [(&str, f64); 7] = [
    ("mean time in system, ms", 1.0 / RATE),
    ("mean wait, ms", LOAD / RATE),
    ("p50 of time in system, ms", std::f64::consts::LN_2 / RATE),
    ("p99 of time in system, ms", 2.0 * LN_10 / RATE),
    ("share within the SLO", 0.9),
    ("answers within the SLO, per s", 0.9 * LOAD * 1000.0),
    ("utilisation", LOAD),
];

fn estimates(seed: u64) -> [Batched; FIGURES.len()] {
    // Nine tenths of an exponential law lie below LN_10 / rate.
    let slo = Span::from_ms_f64(LN_10 / RATE);
    let metrics = mm1(LOAD, REQUESTS, slo, seed);
    let (batches, latency) = (metrics.batches(View::Total).remove(0), metrics.total().latency);
    [
        batches.ratio(Ratio::MEAN_LATENCY_MS),
        batches.ratio(Ratio::MEAN_QUEUEING_MS),
        batches.latency_quantile_ms(0.5, &latency),
        batches.latency_quantile_ms(0.99, &latency),
        batches.ratio(Ratio::FINISH_RATE),
        batches.goodput_per_s(),
        metrics.series().utilisation(),
    ]
    .map(|estimate| estimate.expect("a long run"))
}

#[test]
fn intervals_of_one_run_hold_the_closed_form_as_often_as_they_say() {
    let runs: Vec<_> = (1..=RUNS).into_par_iter().map(estimates).collect();
    for (figure, (name, truth)) in FIGURES.iter().enumerate() {
        let of_runs = || runs.iter().map(move |run| run[figure]);
        let covered = of_runs().filter(|e| e.interval.contains(*truth)).count() as u64;
        let correlated = of_runs().filter(|e| e.correlated).count();
        let width = of_runs().map(|e| e.interval.width()).sum::<f64>() / RUNS as f64;
        println!(
            "{name:<32} {covered} of {RUNS}, width {width:.4} of {truth:.4}, {correlated} correlated"
        );
        let least = if DEBUG { 70 } else { 90 };
        assert!(100 * covered >= least * RUNS, "{name}: in {covered} of {RUNS}");
        assert!(DEBUG || 100 * covered <= 98 * RUNS, "{name}: in {covered} of {RUNS}");
    }
}

#[test]
fn a_queue_below_its_capacity_is_not_called_diverging_and_one_above_is() {
    let trips = |load: f64, requests: u64| -> u64 {
        let seeds: Vec<u64> = (1..=RUNS / 2).collect();
        let diverges = |seed: &u64| mm1(load, requests, Span::MAX, *seed).series().diverging();
        seeds.par_iter().filter(|seed| diverges(seed)).count() as u64
    };
    let (n, all) = (20_000, RUNS / 2);
    for load in [0.8, 0.9] {
        assert_eq!(trips(load, n), 0, "load {load}");
    }
    // A random walk that drifts upwards by a twentieth now and then hardly rises.
    let trips_at = |load| trips(load, n);
    assert!(100 * trips_at(1.05) >= 97 * all, "load 1.05: {} of {all}", trips_at(1.05));
    assert_eq!(trips_at(1.1), all, "load 1.1");
}
