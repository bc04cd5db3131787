//! How the time of a whole run grows: everything of a line doubled, requests included. 2 is linear, an exponent
//! of 1; above 2.3, an exponent of 1.2, it grows faster than n log n.
//!
//! ```text
//! cargo bench -p orrery-benches --features run --bench growth [LINE]        lines whose name contains LINE
//! ```

use orrery_benches::processor_time;
use orrery_run::PolicySpec;
use orrery_scenario::Scenario;
use orrery_sim::jobs::job::{Cluster, Job, MB};
use orrery_sim::jobs::{policy, world};
use orrery_sim::time::Span;
use std::fmt::Write;
use std::hint::black_box;

/// What is run, its policy, and the smaller of the two sizes.
type Line = (&'static str, fn(&str, u64), &'static str, u64);

const LINES: [Line; 28] = [
    ("requests", requests, "fifo", 200_000),
    ("requests", requests, "orloj", 100_000),
    ("backlog", backlog, "orloj", 16_000),
    ("backlog", backlog, "orloj[queue=scan]", 16_000),
    ("backlog", backlog, "orloj[queue=hull]", 16_000),
    ("backlog", backlog, "fifo", 64_000),
    ("backlog", backlog, "nexus", 64_000),
    ("backlog", backlog, "clockwork", 64_000),
    ("applications", applications, "orloj", 256),
    ("bins", bins, "orloj", 256),
    ("batch limit", batch_limit, "orloj", 256),
    ("GPUs", gpus, "shepherd", 1_024),
    ("GPUs", gpus, "alpaserve", 1_024),
    ("GPUs", gpus, "symphony", 1_024),
    ("GPUs", gpus, "clockwork", 1_024),
    ("GPUs", gpus, "eager", 1_024),
    ("GPUs", gpus, "nexus-cluster", 4_096),
    ("GPUs", gpus, "nexus-cluster[plan=static]", 4_096),
    ("models", models, "shepherd", 1_024),
    ("models", models, "eager", 1_024),
    ("models", models, "fifo", 1_024),
    ("models", models, "symphony", 1_024),
    ("models", models, "clockwork", 1_024),
    ("models", models, "nexus-cluster[plan=static]", 512),
    ("jobs", jobs, "srtf", 50_000),
    ("jobs", jobs, "las", 50_000),
    ("jobs", jobs, "rr", 50_000),
    ("jobs", jobs, "pack", 50_000),
];

fn main() {
    // Cargo says so; as a test, every line runs once and small.
    let args: Vec<String> = std::env::args().skip(1).collect();
    let measured = args.iter().any(|arg| arg == "--bench");
    let wanted = args.iter().find(|arg| !arg.starts_with("--"));
    for (name, run, policy, n) in LINES {
        if wanted.is_some_and(|wanted| !name.contains(wanted.as_str())) {
            continue;
        }
        if !measured {
            run(policy, n / 32);
            continue;
        }
        let time = |n| {
            let before = processor_time();
            run(policy, n);
            (processor_time() - before).as_secs_f64()
        };
        // The best of two, for what else the machine does.
        let [small, large] = [n, 2 * n].map(|n| time(n).min(time(n)));
        let growth = large / small;
        let exponent = libm::log2(growth);
        println!(
            "{name:13} {policy:26} {n:7}: {small:7.3} s, twice as many: {growth:.2} times, exponent {exponent:.2}"
        );
    }
}

/// `models` models on `gpus` GPUs, kept busy for four fifths of the time by batches of eight.
fn cluster(models: u64, gpus: u64, policy: &str) {
    let rate_per_s = 0.8 * gpus as f64 * 8.0 / 0.012;
    let mut text = format!(
        "[arrivals]\npoisson = {{ rate_per_s = {rate_per_s} }}\nrequests = {}\n\n\
         [[device]]\nkind = \"gpu\"\ncount = {gpus}\ncan_preempt = true\n\n\
         [profile]\nsizes = [1, 2, 4, 8, 16, 32]\n",
        40 * models.max(gpus)
    );
    for m in 0..models {
        let model = format!(
            "\n[[model]]\nname = \"m{m}\"\nslo_ms = 100.0\n\
             latency = {{ affine = {{ alpha_ms = 1.0, beta_ms = 4.0 }} }}\n\n\
             [[app]]\nname = \"a{m}\"\nmodel = \"m{m}\"\ntime = {{ constant = {{ ms = 5.0 }} }}\n"
        );
        text.write_str(&model).expect("a string");
    }
    simulate(&text, policy);
}

fn gpus(policy: &str, gpus: u64) {
    cluster(8, gpus, policy);
}

fn models(policy: &str, models: u64) {
    cluster(models, 16, policy);
}

/// One GPU, applications of different lengths; `more` are further tables of the file.
fn one_gpu(applications: u64, slo_ms: u64, (load, requests): (f64, u64), more: &str, policy: &str) {
    let rate_per_s = 10.0 * load;
    let mut text = format!(
        "[arrivals]\npoisson = {{ rate_per_s = {rate_per_s} }}\nrequests = {requests}\n\n{more}\
         [[model]]\nname = \"m\"\nslo_ms = {slo_ms}\nlatency = {{ proportional = {{ c1 = 0.1 }} }}\n"
    );
    for a in 0..applications {
        let mean_ms = 50 + 100 * a / applications;
        let app = format!(
            "\n[[app]]\nname = \"a{a}\"\nmodel = \"m\"\n\
             time = {{ normal = {{ mean_ms = {mean_ms}, sd_ms = 10.0 }} }}\n"
        );
        text.write_str(&app).expect("a string");
    }
    simulate(&text, policy);
}

fn requests(policy: &str, requests: u64) {
    one_gpu(3, 500, (0.9, requests), "", policy);
}

/// Far too many requests, which may wait for ever longer.
fn backlog(policy: &str, requests: u64) {
    one_gpu(3, requests, (20.0, requests), "", policy);
}

fn applications(policy: &str, applications: u64) {
    one_gpu(applications.max(1), 500, (0.9, 100 * applications), "", policy);
}

/// Bins of a profile's histograms.
fn bins(policy: &str, bins: u64) {
    let profile = format!("[profile]\nsizes = [1, 2, 4, 8, 16]\nbins = {}\n\n", bins.max(1));
    one_gpu(3, 500, (0.9, 200 * bins), &profile, policy);
}

/// The largest batch, and an SLO in which it can be filled.
fn batch_limit(policy: &str, most: u64) {
    let sizes: Vec<u64> = (0..).map(|i| 1 << i).take_while(|size| *size <= most.max(1)).collect();
    let profile = format!("[profile]\nsizes = {sizes:?}\n\n");
    let policy = format!("{policy}[max_batch={}]", most.max(1));
    one_gpu(3, 60 * most.max(10), (5.0, 200 * most), &profile, &policy);
}

fn simulate(text: &str, policy: &str) {
    let scenario = Scenario::from_text("case.toml", text).expect("a case");
    let setup = scenario.setup(1).expect("the case can be set up");
    let policy = PolicySpec::parse(policy).expect("a known policy");
    black_box(setup.run(&policy, 1).expect("a run"));
}

/// Jobs that are there from the beginning and fit all into one GPU.
fn jobs(order: &str, count: u64) {
    let job = |j: u64| Job {
        iterations: 1 + j % 7,
        iteration: Span::from_ms(1 + j % 3),
        ephemeral: MB,
        ..Job::default()
    };
    let jobs: Vec<Job> = (0..count).map(job).collect();
    let salus = policy::ALL.iter().find(|p| p.about.name == "salus").expect("a policy of jobs");
    let built = salus.parse(&[("order", order)]).expect("an order").build();
    black_box(world::simulate(&Cluster::gpu(100), &jobs, built, ()).end);
}
