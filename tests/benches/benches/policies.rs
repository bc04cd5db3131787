//! Whole runs of the published policies with all metrics, workload generation included, on the
//! committed case files in `cases/`. Items are requests.

use divan::Bencher;
use divan::counter::ItemsCount;
use orrery_run::PolicySpec;
use orrery_scenario::Scenario;

const LIGHT: &str = include_str!("../cases/one-gpu-load-0.9.toml");
const OVERLOAD: &str = include_str!("../cases/one-gpu-load-2.5.toml");
const REQUESTS: u64 = 500_000;

const POLICIES: [&str; 10] = [
    "fifo",
    "clockwork",
    "clockwork[estimator=static-mean,max_batch=16]",
    "nexus",
    "nexus[drop=elapsed,batch=16]",
    "clipper",
    "clipper[sizing=fixed,size=16,default_reply=false]",
    "orloj",
    "orloj[estimate=quantile,quantile=0.999]",
    "orloj[queue=hull]",
];

fn main() {
    divan::main();
}

fn run(bencher: Bencher<'_, '_>, case: &str, policy: &str) {
    let scenario = Scenario::from_text("case.toml", case).expect("the case file is right");
    let setup = scenario.setup(1).expect("the case can be set up");
    let policy = PolicySpec::parse(policy).expect("a known policy");
    bencher.counter(ItemsCount::new(REQUESTS)).bench_local(|| setup.run(&policy, 1).unwrap());
}

#[divan::bench(args = POLICIES, sample_count = 5)]
fn load_0_9(bencher: Bencher, policy: &str) {
    run(bencher, LIGHT, policy);
}

#[divan::bench(args = POLICIES, sample_count = 5)]
fn load_2_5(bencher: Bencher, policy: &str) {
    run(bencher, OVERLOAD, policy);
}
