//! What a run costs by the number of its models, from 1 to 10,000: memory when it begins (the scenario and
//! the policy), what is added until its peak, and the time before the first event, in between and after
//! the last. Figures are kept of one group, as by default.
//!
//! The same load goes to all models: 200,000 requests of 2,000 a second on 4 GPUs that hold every
//! model. Each line is a process of its own, because a peak is.

use orrery_scenario::PolicySpec;
use orrery_scenario::scenario::Scenario;
use orrery_sim::driver::ready;
use orrery_sim::metrics::{Metrics, TimeSeries, View};
use std::process::Command;
use std::time::{Duration, Instant};

const MODELS: [u32; 5] = [1, 10, 100, 1_000, 10_000];
const REQUESTS: u64 = 200_000;
/// The child's argument.
const ONE: &str = "--models";

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, models, ..] = &args[..]
        && flag == ONE
    {
        println!("{}", measure(models.parse().expect("a number of models"), REQUESTS));
    } else if args.iter().any(|arg| arg == "--bench") {
        let head = ["models", "at start", "added", "before", "run", "after"];
        println!(
            "{:>7} {:>10} {:>10} {:>9} {:>9} {:>9}",
            head[0], head[1], head[2], head[3], head[4], head[5]
        );
        let program = std::env::current_exe().expect("this program has a path");
        for models in MODELS {
            let child = Command::new(&program).args([ONE, &models.to_string()]).output();
            let out = child.expect("this program runs").stdout;
            print!("{models:>7} {}", String::from_utf8_lossy(&out));
        }
    } else {
        // As a test: it runs.
        measure(2, 1_000);
    }
}

/// Memory and three times, as a line.
fn measure(models: u32, requests: u64) -> String {
    let text = format!(
        "policies = [\"clockwork\"]\nscopes = \"groups\"\n\
         [[model]]\nname = \"m\"\ncopies = {models}\nslo_ms = 100.0\n\
         latency = {{ affine = {{ alpha_ms = 0.5, beta_ms = 0.5 }} }}\n\
         [[app]]\nname = \"a\"\nmodel = \"m\"\n\
         [[device]]\nkind = \"gpu\"\ncount = 4\n\
         [arrivals]\npoisson = {{ rate_per_s = 2000.0 }}\nrequests = {requests}\n"
    );
    let began = Instant::now();
    let scenario = Scenario::from_text("models.toml", &text).expect("a scenario");
    let setup = scenario.setup(1).expect("a setup");
    let policy = setup.policy(&PolicySpec::parse("clockwork").expect("a policy"), 1);
    let metrics = Metrics::new(setup.window, false).with_scopes(setup.scopes.clone());
    let sources = setup.sources(1).expect("sources");
    let before = began.elapsed();
    let at_start = mib("VmRSS:");
    let finished = ready::watched(&setup.world, sources, policy, (metrics, TimeSeries::default()));
    let ran = began.elapsed() - before;
    let (metrics, series) = finished.observer;
    let total = metrics.total();
    assert_eq!(total.offered, requests);
    assert_eq!(metrics.figures(View::Groups).len(), 1);
    assert!(metrics.models().is_empty() && metrics.apps().is_empty());
    let intervals = (metrics.batches(View::Total)[0].finish_rate(), series.utilisation());
    std::hint::black_box((total.latency.quantile(0.99), intervals));
    drop((metrics, series, finished.policy));
    let after = began.elapsed() - before - ran;
    let ms = |d: Duration| format!("{:>6.1} ms", d.as_secs_f64() * 1e3);
    let added = mib("VmHWM:").zip(at_start).map(|(peak, start)| peak - start);
    let mib = |x: Option<f64>| x.map_or("unknown".to_string(), |mib| format!("{mib:>6.1} MiB"));
    format!("{} {} {} {} {}", mib(at_start), mib(added), ms(before), ms(ran), ms(after))
}

/// The resident set of this process, or its peak, where Linux tells it.
fn mib(which: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix(which))?;
    let kib: f64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib / 1024.0)
}
