//! Pools of several kinds: whole runs of Kairos and those it is compared with, drawing arrivals and
//! sizes included, on a pool of 12 at 90 % of the policy's own allowable throughput. Items are queries.

use divan::Bencher;
use divan::counter::ItemsCount;
use orrery_benches::processor_time;
use orrery_scenario::PolicySpec;
use orrery_scenario::pool::{PoolModel, PoolRun, Search, allowable};
use orrery_traces::arrivals::ArrivalLaw;
use orrery_traces::query_sizes::SizeLaw;

const QUERIES: u64 = 200_000;
/// g4dn.xlarge, c5n.2xlarge, r5n.large, t3.xlarge.
const COUNTS: [u32; 4] = [2, 1, 9, 0];
const LOAD: f64 = 0.9;
const RUNS: usize = 5;
const MODELS: [&str; 5] = ["ncf", "rm2", "wnd", "mtwnd", "dien"];
const POLICIES: [&str; 5] = ["kairos", "kairos[preset=paper]", "clkwrk", "drs", "ribbon"];

fn main() {
    // Cargo says so; as a test, everything runs once and nothing is printed.
    if std::env::args().any(|arg| arg == "--bench") {
        println!("million queries in a second of processor time, the best of {RUNS} runs:");
        for model in MODELS {
            for policy in POLICIES {
                tell(model, policy);
            }
        }
    }
    divan::main();
}

fn with_run<T>(model: &str, policy: &str, queries: u64, then: impl FnOnce(&PoolRun<'_>) -> T) -> T {
    let model = PoolModel::kairos(model).expect("a model of Kairos's");
    let policy = PolicySpec::parse(policy).expect("a policy");
    then(&PoolRun {
        model: &model,
        counts: &COUNTS,
        policy: &policy,
        arrivals: &ArrivalLaw::Poisson { rate_per_s: 1.0 },
        sizes: &SizeLaw::Kairos,
        queries,
        warm_up: queries / 20,
        percentile: 0.99,
        seed: 1,
    })
}

fn simulate(run: &PoolRun<'_>) {
    let setup = run.setup().expect("a pool");
    let sources = setup.sources(run.seed).expect("queries");
    let policy = setup.policy(run.policy, run.seed);
    orrery_sim::driver::simulate(&setup.world, sources, policy, ());
}

fn allowed(model: &str, policy: &str, queries: u64) -> f64 {
    let search = Search { from_per_s: 100.0, precision: 0.02, seeds: vec![1] };
    with_run(model, policy, queries, |run| allowable(run, &search).expect("a rate").rate_per_s)
}

fn tell(model: &str, policy: &str) {
    let rate = allowed(model, policy, 20_000);
    let arrivals = ArrivalLaw::Poisson { rate_per_s: LOAD * rate };
    with_run(model, policy, QUERIES, |run| {
        let run = PoolRun { arrivals: &arrivals, ..run.clone() };
        let mut best = 0.0f64;
        for _ in 0..RUNS {
            let before = processor_time();
            simulate(&run);
            let took = processor_time() - before;
            best = best.max(QUERIES as f64 / took.as_secs_f64() / 1e6);
        }
        println!("{model:6} {policy:22} {best:6.3}  at {:7.1}/s", LOAD * rate);
    });
}

#[divan::bench(args = POLICIES, sample_count = 10)]
fn rm2(bencher: Bencher, policy: &str) {
    let arrivals = ArrivalLaw::Poisson { rate_per_s: LOAD * allowed("rm2", policy, 5_000) };
    with_run("rm2", policy, 20_000, |run| {
        let run = PoolRun { arrivals: &arrivals, ..run.clone() };
        bencher.counter(ItemsCount::new(20_000u64)).bench_local(|| simulate(&run));
    });
}
