//! What intervals cost: whole runs with the metrics alone, and with batch means and the time series
//! beside them. Items are requests.
//!
//! The cost is a ratio of two times on a machine that has other things to do, so `main` first takes
//! it from neighbours: runs alternate, and the median of the pairs' ratios is printed.

use divan::Bencher;
use divan::counter::ItemsCount;
use orrery_benches::{Poisson, one_gpu};
use orrery_scenario::{PolicySpec, Scenario};
use orrery_sim::driver::{World, simulate};
use orrery_sim::metrics::{BatchMeans, Metrics, TimeSeries};
use orrery_sim::observer::Observer;
use orrery_sim::policy::Policy;
use orrery_sim::policy::fifo::{Config, Fifo};
use orrery_sim::request::Source;
use orrery_sim::time::Time;
use std::hint::black_box;
use std::time::Instant;

const REQUESTS: u64 = 500_000;
/// Pairs of runs behind a printed ratio.
const PAIRS: usize = 15;
const LIGHT: &str = include_str!("../cases/one-gpu-load-0.9.toml");

fn main() {
    // Cargo says so; as a test, everything runs once and no time is looked at.
    if std::env::args().any(|arg| arg == "--bench") {
        for case in [Case::mm1(), Case::nexus()] {
            println!("{}: statistics cost {:.3} times metrics alone", case.name, case.ratio());
        }
    }
    divan::main();
}

fn all() -> impl Observer {
    (Metrics::default(), (BatchMeans::default(), TimeSeries::default()))
}

/// A workload and the policy that meets it.
struct Case {
    name: &'static str,
    world: World,
    source: Box<dyn Fn() -> Box<dyn Source>>,
    policy: Box<dyn Fn() -> Box<dyn Policy>>,
}

impl Case {
    /// One request at a time, at load 0.8.
    fn mm1() -> Case {
        Case {
            name: "fifo, M/M/1 at load 0.8",
            world: one_gpu(),
            source: Box::new(|| Box::new(Poisson::new(REQUESTS, 0.8))),
            policy: Box::new(|| Box::new(Fifo::new(Config { max_batch: 1, drop_expired: false }))),
        }
    }

    /// Nexus at load 0.9, batches of several requests.
    fn nexus() -> Case {
        let scenario = Scenario::from_text("case.toml", LIGHT).expect("the case file is right");
        let setup = scenario.setup(1).expect("the case can be set up");
        let spec = PolicySpec::parse("nexus").expect("a known policy");
        let profiles = setup.profiles(1);
        let world = setup.world.clone();
        let source = move || setup.sources(1).expect("a sound workload").remove(0);
        let policy = Box::new(move || spec.build(&profiles, 1));
        Case { name: "nexus at load 0.9", world, source: Box::new(source), policy }
    }

    fn run<O: Observer>(&self, observer: O) -> Time {
        let finished = simulate(&self.world, vec![(self.source)()], (self.policy)(), observer);
        black_box(&finished.observer);
        finished.end
    }

    fn ratio(&self) -> f64 {
        let time = |run: &dyn Fn() -> Time| {
            let start = Instant::now();
            black_box(run());
            start.elapsed().as_secs_f64()
        };
        let pair = |_| {
            let alone = time(&|| self.run(Metrics::default()));
            time(&|| self.run(all())) / alone
        };
        let mut ratios: Vec<f64> = (0..PAIRS).map(pair).collect();
        ratios.sort_by(f64::total_cmp);
        ratios[PAIRS / 2]
    }

    fn bench<O: Observer>(&self, bencher: Bencher<'_, '_>, observer: impl Fn() -> O) {
        bencher.counter(ItemsCount::new(REQUESTS)).bench_local(|| self.run(observer()));
    }
}

#[divan::bench(sample_count = 15)]
fn mm1_metrics_alone(bencher: Bencher) {
    Case::mm1().bench(bencher, Metrics::default);
}

#[divan::bench(sample_count = 15)]
fn mm1_all_statistics(bencher: Bencher) {
    Case::mm1().bench(bencher, all);
}

#[divan::bench(sample_count = 15)]
fn nexus_metrics_alone(bencher: Bencher) {
    Case::nexus().bench(bencher, Metrics::default);
}

#[divan::bench(sample_count = 15)]
fn nexus_all_statistics(bencher: Bencher) {
    Case::nexus().bench(bencher, all);
}
