//! A minute of the trace of 46,000 functions on 4,026 applications, arrivals alone: what every run of
//! Clockwork's Fig. 9 pays before a policy sees a request. Items are requests.

use divan::Bencher;
use divan::counter::ItemsCount;
use orrery_sim::request::{AppId, ModelId, Source};
use orrery_sim::time::Span;
use orrery_traces::azure2019::{Invocations, MinuteRange};
use orrery_traces::blocks::Blocks;
use orrery_traces::dealt::Dealt;
use orrery_traces::exec_time::ExecLaw;
use orrery_traces::rate::Shape;
use orrery_traces::shipped::shipped;
use orrery_traces::workload::Application;
use std::sync::Arc;

/// Applications: the paper's, and few.
const APPLICATIONS: [usize; 2] = [61, 4_026];

fn main() {
    divan::main();
}

#[divan::bench(args = APPLICATIONS)]
fn dealt(bencher: Bencher, n: usize) {
    let input = shipped("azure2019-f500").expect("it is shipped");
    let sample = Invocations::read(input, None).expect("it is whole");
    let range = MinuteRange { first_label: 480, last_label: 480 };
    let blocks = Blocks::azure_46000(&sample, range, 1.0, n).expect("46,000 functions");
    let (calls, blocks) = (blocks.total() as u64, Arc::new(blocks));
    let app = |i: usize| Application {
        app: AppId(i as u32),
        model: ModelId(i as u32),
        weight: 1.0,
        law: ExecLaw::Constant(Span::from_ms(3)),
        slo: Span::from_ms(100),
        size: 1,
    };
    let apps: Vec<Application> = (0..n).map(app).collect();
    let source = || Dealt::new(blocks.clone(), Shape::default(), apps.clone(), 1).expect("calls");
    bencher.counter(ItemsCount::new(calls)).with_inputs(source).bench_local_values(|mut source| {
        let mut sum = 0u64;
        while let Some(arrival) = source.pop() {
            sum = sum.wrapping_add(u64::from(arrival.app.0));
        }
        sum
    });
}
