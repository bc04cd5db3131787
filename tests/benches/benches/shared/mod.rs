//! Workloads, and the cost of an observer as a ratio of neighbouring runs.
//!
//! The cost is a ratio of two times on a machine that has other things to do, so it is taken from
//! neighbours: runs alternate, and the median of the pairs' ratios is the answer.

use divan::Bencher;
use divan::counter::ItemsCount;
use orrery_benches::{Poisson, one_gpu};
use orrery_run::PolicySpec;
use orrery_scenario::Scenario;
use orrery_sim::driver::{World, simulate};
use orrery_sim::metrics::Metrics;
use orrery_sim::observer::Observer;
use orrery_sim::policy::Policy;
use orrery_sim::policy::fifo::{Config, Fifo};
use orrery_sim::request::Source;
use orrery_sim::time::Time;
use std::hint::black_box;
use std::time::Instant;

const REQUESTS: u64 = 500_000;
/// Pairs of runs behind a ratio.
const PAIRS: usize = 15;
const LIGHT: &str = include_str!("../../cases/one-gpu-load-0.9.toml");

/// A workload and the policy that meets it.
pub struct Case {
    pub name: &'static str,
    world: World,
    source: Box<dyn Fn() -> Box<dyn Source>>,
    policy: Box<dyn Fn() -> Box<dyn Policy>>,
}

impl Case {
    /// One request at a time, at load 0.8.
    pub fn mm1() -> Case {
        Case {
            name: "fifo, M/M/1 at load 0.8",
            world: one_gpu(),
            source: Box::new(|| Box::new(Poisson::new(REQUESTS, 0.8))),
            policy: Box::new(|| Box::new(Fifo::new(Config { max_batch: 1, drop_expired: false }))),
        }
    }

    /// Nexus at load 0.9, batches of several requests.
    pub fn nexus() -> Case {
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

    /// The time of a run with this observer, in times of a run with the metrics alone.
    pub fn ratio<O: Observer>(&self, observer: impl Fn() -> O) -> f64 {
        let time = |run: &dyn Fn() -> Time| {
            let start = Instant::now();
            black_box(run());
            start.elapsed().as_secs_f64()
        };
        let pair = |_| {
            let alone = time(&|| self.run(Metrics::default()));
            time(&|| self.run(observer())) / alone
        };
        let mut ratios: Vec<f64> = (0..PAIRS).map(pair).collect();
        ratios.sort_by(f64::total_cmp);
        ratios[PAIRS / 2]
    }

    /// A benchmark whose items are requests.
    pub fn bench<O: Observer>(&self, bencher: Bencher<'_, '_>, observer: impl Fn() -> O) {
        bencher.counter(ItemsCount::new(REQUESTS)).bench_local(|| self.run(observer()));
    }
}

/// Whether times are looked at: as a test, everything runs once and nothing is measured.
pub fn is_measuring() -> bool {
    std::env::args().any(|arg| arg == "--bench")
}
