//! What intervals cost: whole runs with the metrics alone, and with batch means and the time series
//! beside them. Items are requests.
//!
//! `main` first prints the cost as a ratio of neighbouring runs.

mod shared;

use divan::Bencher;
use orrery_sim::metrics::{Metrics, TimeSeries};
use orrery_sim::observer::Observer;
use shared::{Case, is_measuring};

fn main() {
    if is_measuring() {
        for case in [Case::mm1(), Case::nexus()] {
            println!("{}: statistics cost {:.3} times metrics alone", case.name, case.ratio(all));
        }
    }
    divan::main();
}

fn all() -> impl Observer {
    (Metrics::default(), TimeSeries::default())
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
