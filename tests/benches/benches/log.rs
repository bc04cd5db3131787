//! What the schedule log costs: whole runs with the metrics alone, and with a log beside them, with
//! and without the policy's reasons. Items are requests.
//!
//! `nowhere` throws the bytes away and shows what making them costs; `file` writes them into a
//! temporary file. `main` first prints the costs as ratios of neighbouring runs.

mod shared;

use divan::Bencher;
use orrery_sim::log::LogWriter;
use orrery_sim::metrics::Metrics;
use orrery_sim::observer::Observer;
use shared::{Case, is_measuring};
use std::io::{Sink, sink};

fn main() {
    if is_measuring() {
        for case in [Case::mm1(), Case::nexus()] {
            let costs =
                [case.ratio(nowhere), case.ratio(nowhere_with_reasons), case.ratio(into_a_file)];
            let [made, with_reasons, written] = costs;
            println!(
                "{}: in times of metrics alone, a log costs {made:.3}, with reasons \
                 {with_reasons:.3}, into a file {written:.3}",
                case.name
            );
        }
    }
    divan::main();
}

fn nowhere() -> (Metrics, LogWriter<Sink>) {
    (Metrics::default(), LogWriter::new(sink()))
}

fn nowhere_with_reasons() -> (Metrics, LogWriter<Sink>) {
    (Metrics::default(), LogWriter::new(sink()).ask_for_reasons(true))
}

fn into_a_file() -> impl Observer {
    let file = tempfile::tempfile().expect("a temporary file");
    (Metrics::default(), LogWriter::new(file))
}

#[divan::bench(sample_count = 15)]
fn mm1_metrics_alone(bencher: Bencher) {
    Case::mm1().bench(bencher, Metrics::default);
}

#[divan::bench(sample_count = 15)]
fn mm1_log(bencher: Bencher) {
    Case::mm1().bench(bencher, nowhere);
}

#[divan::bench(sample_count = 15)]
fn mm1_log_into_a_file(bencher: Bencher) {
    Case::mm1().bench(bencher, into_a_file);
}

#[divan::bench(sample_count = 15)]
fn nexus_metrics_alone(bencher: Bencher) {
    Case::nexus().bench(bencher, Metrics::default);
}

#[divan::bench(sample_count = 15)]
fn nexus_log(bencher: Bencher) {
    Case::nexus().bench(bencher, nowhere);
}

#[divan::bench(sample_count = 15)]
fn nexus_log_with_reasons(bencher: Bencher) {
    Case::nexus().bench(bencher, nowhere_with_reasons);
}

#[divan::bench(sample_count = 15)]
fn nexus_log_into_a_file(bencher: Bencher) {
    Case::nexus().bench(bencher, into_a_file);
}
