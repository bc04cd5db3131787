//! Orloj renews its profile from what it measures. Where nothing drifts, that must cost nothing.

use orrery_run::PolicySpec;
use orrery_scenario::Scenario;

/// Two applications, 97 to 3, of which the rare one takes ten times as long; more load than one GPU
/// carries.
fn finish_rate(policy: &str, requests: u32, seed: u64) -> f64 {
    let text = format!(
        r#"
policies = ["{policy}"]
[[model]]
name = "m"
slo_ms = 200.0
latency = {{ eq3 = {{ c0_ms = 1.0, c1 = 0.3 }} }}
[[app]]
name = "short"
model = "m"
weight = 97.0
time = {{ lognormal = {{ mean_ms = 5.0, sd_ms = 1.5 }} }}
[[app]]
name = "long"
model = "m"
weight = 3.0
time = {{ lognormal = {{ mean_ms = 50.0, sd_ms = 15.0 }} }}
[profiler]
every = 1
delay_ms = 0.0
[arrivals]
poisson = {{ rate_per_s = 450.0 }}
requests = {requests}
"#
    );
    let scenario = Scenario::from_text("relearning", &text).expect("a scenario");
    let setup = scenario.setup(seed).expect("a setup");
    let spec = PolicySpec::parse(policy).expect("a policy");
    setup.run(&spec, seed).expect("a run").total().finish_rate()
}

/// The gain of relearning, paired by seed: its mean, and the half width of its 95 % interval.
fn gain(memory: &str, requests: u32) -> (f64, f64) {
    const T_4: f64 = 2.776;
    // Both what is learned of times and what is learned of shares matters.
    let laws = "estimate_law=own,score_law=own,shares=counts";
    let one = |seed| {
        let relearned = format!("orloj[{laws},relearn_every=500,memory={memory}]");
        finish_rate(&relearned, requests, seed)
            - finish_rate(&format!("orloj[{laws}]"), requests, seed)
    };
    let gains: Vec<f64> = (1..=5).map(one).collect();
    let n = gains.len() as f64;
    let mean = gains.iter().sum::<f64>() / n;
    let squares: f64 = gains.iter().map(|g| (g - mean) * (g - mean)).sum();
    (mean, T_4 * (squares / (n - 1.0) / n).sqrt())
}

fn costs_nothing(memory: &str) {
    for requests in [5_000, 20_000, 60_000, 150_000] {
        let (mean, half) = gain(memory, requests);
        eprintln!("{memory}, {requests} requests: {mean:+.4} +- {half:.4}");
        assert!(mean + half >= 0.0, "{requests}: {mean} +- {half}");
        assert!(mean > -0.005 && half < 0.02, "{requests}: {mean} +- {half}");
    }
}

#[test]
fn without_drift_relearning_costs_nothing_at_any_length() {
    costs_nothing("sliding");
}

#[test]
fn a_memory_that_is_reset_costs_nothing_either() {
    costs_nothing("reset");
}
