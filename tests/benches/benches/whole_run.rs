//! Whole runs: source, driver, core, policy and metrics on one GPU. Items are requests.
//!
//! `source_alone` is the cost of drawing the arrivals, which every run below pays too.

use divan::Bencher;
use divan::counter::ItemsCount;
use orrery_benches::{MAX_BATCH, Poisson, one_gpu};
use orrery_sim::driver::simulate;
use orrery_sim::metrics::Metrics;
use orrery_sim::observer::Observer;
use orrery_sim::policy::Policy;
use orrery_sim::policy::fifo::{Config, Fifo};
use orrery_sim::request::Source;

const REQUESTS: u64 = 500_000;
/// Requests a millisecond: mean batches of 1.2, 1.9 and 5.4.
const LOADS: [f64; 3] = [0.5, 1.0, 1.6];

fn main() {
    divan::main();
}

fn run<P: Policy, O: Observer>(
    bencher: Bencher<'_, '_>,
    per_ms: f64,
    policy: impl Fn() -> P,
    observer: impl Fn() -> O,
) {
    let world = one_gpu();
    bencher.counter(ItemsCount::new(REQUESTS)).bench_local(|| {
        let source = Box::new(Poisson::new(REQUESTS, per_ms));
        simulate(&world, vec![source], policy(), observer()).end
    });
}

fn fifo_of(max_batch: u32) -> Fifo {
    Fifo::new(Config { max_batch, drop_expired: false })
}

#[divan::bench]
fn source_alone(bencher: Bencher) {
    bencher.counter(ItemsCount::new(REQUESTS)).bench_local(|| {
        let mut source = Poisson::new(REQUESTS, 1.0);
        let mut sum = 0;
        while let Some(arrival) = source.pop() {
            sum += arrival.alone.ns();
        }
        sum
    });
}

#[divan::bench(args = LOADS)]
fn fifo(bencher: Bencher, per_ms: f64) {
    run(bencher, per_ms, || fifo_of(MAX_BATCH), Metrics::default);
}

#[divan::bench(args = LOADS)]
fn fifo_without_metrics(bencher: Bencher, per_ms: f64) {
    run(bencher, per_ms, || fifo_of(MAX_BATCH), || ());
}
