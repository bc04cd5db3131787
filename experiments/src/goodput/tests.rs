//! Searches against closed forms.

use super::*;

/// Deterministic service of 10 ms, one request at a time, first in first out.
fn scenario(arrivals: &str, slo_ms: f64, devices: u32) -> Scenario {
    let text = format!(
        r#"
policies = ["fifo[max_batch=1]"]
[[model]]
name = "m"
slo_ms = {slo_ms}
latency = {{ affine = {{ alpha_ms = 0.0, beta_ms = 10.0 }} }}
[[app]]
name = "a"
model = "m"
time = {{ constant = {{ ms = 10.0 }} }}
[[device]]
count = {devices}
[arrivals]
{arrivals}
requests = 10
"#
    );
    Scenario::from_text("test", &text).unwrap_or_else(|e| panic!("{e}"))
}

fn answer(search: &Search, scenario: &Scenario) -> Replication {
    let policy = PolicySpec::parse("fifo[max_batch=1]").unwrap();
    search.run(scenario, &policy, 1).unwrap_or_else(|e| panic!("{e}"))
}

/// P(W <= t) of M/D/1 with service time 1 (Erlang; Crommelin 1932).
fn waits_at_most(rho: f64, t: f64) -> f64 {
    let term = |k: u32| {
        let x = rho * (f64::from(k) - t);
        (1..=k).map(|i| x / f64::from(i)).product::<f64>() * libm::exp(-x)
    };
    (1.0 - rho) * (0..=t.floor() as u32).map(term).sum::<f64>()
}

#[test]
fn the_peak_of_regular_arrivals_is_the_capacity() {
    let search = Search { requests_per_model: 5_000, ..Search::default() };
    for (devices, capacity) in [(1, 100.0), (3, 300.0)] {
        let s = scenario("constant = { rate_per_s = 17.0 }", 25.0, devices);
        let found = answer(&search, &s).value("all", PEAK).unwrap();
        assert!(found <= capacity * 1.001 && found > 0.99 * capacity, "{devices}: {found}");
    }
}

#[test]
fn the_peak_of_m_d_1_is_the_closed_form_s() {
    // Within 5 service times, so waiting for at most 4.
    let (mut low, mut high) = (0.0, 0.999);
    while high - low > 1e-9 {
        let rho = (low + high) / 2.0;
        if waits_at_most(rho, 4.0) >= 0.99 { low = rho } else { high = rho }
    }
    let search = Search { requests_per_model: 200_000, ..Search::default() };
    let s = scenario("poisson = { rate_per_s = 17.0 }", 50.0, 1);
    let replication = answer(&search, &s);
    let found = replication.value("all", PEAK).unwrap();
    let peak = 100.0 * low;
    assert!((found / peak - 1.0).abs() < 0.02, "{found}, closed form {peak}");
    assert!(replication.value("all", "worst_bad_rate").unwrap() <= 0.01);
    assert_eq!(replication.value("all", "batch_size_p50"), Some(1.0));
    assert_eq!(replication.measures[0].metric, PEAK, "the answer comes first");
}

#[test]
fn the_fewest_devices_for_regular_arrivals() {
    let search = Search { find: Find::Devices, requests_per_model: 5_000, ..Search::default() };
    let s = scenario("constant = { rate_per_s = 420.0 }", 25.0, 1);
    assert_eq!(answer(&search, &s).value("all", DEVICES), Some(5.0));
}

#[test]
fn what_can_never_be_in_time_has_goodput_zero() {
    let text = "constant = { rate_per_s = 17.0 }";
    let mut s = scenario(text, 25.0, 1);
    s = s
        .with(&[
            ("allow_hopeless_slo".to_string(), Value::Boolean(true)),
            ("model.m.slo_ms".to_string(), Value::Float(9.0)),
        ])
        .unwrap();
    let search = Search { requests_per_model: 1_000, ..Search::default() };
    let r = answer(&search, &s);
    assert_eq!(r.value("all", PEAK), Some(0.0));
    assert!(r.notes.contains(&"never-good".to_string()));
}

/// Nothing is in time on any number of devices.
fn hopeless() -> Scenario {
    let changes = [
        ("allow_hopeless_slo".to_string(), Value::Boolean(true)),
        ("model.m.slo_ms".to_string(), Value::Float(9.0)),
    ];
    scenario("constant = { rate_per_s = 17.0 }", 25.0, 1).with(&changes).unwrap()
}

#[test]
fn no_number_of_devices_is_no_answer_and_no_number() {
    let search = Search { find: Find::Devices, requests_per_model: 1_000, ..Search::default() };
    let r = answer(&search, &hopeless());
    assert_eq!(r.value("all", DEVICES), None);
    assert_eq!(r.no_answer(), Some("not even 4096 devices are enough"));
    assert!(r.notes.contains(&"never-good".to_string()));
    assert!(r.value("all", "finish_rate").is_none(), "there is no run at an answer");
}

#[test]
fn a_load_that_is_always_carried_has_no_peak() {
    let search = Search { requests_per_model: 1_000, warm_up_s: 0.0, ..Search::default() };
    let found = Found {
        value: 16_384.0,
        at: Some(Probe { good: true, sure: true, bad_rate: 0.0, worst_model: 0, requests: 10 }),
        worse_below: None,
        collapse: None,
        no_peak: true,
        probes: 15,
        requests: 150,
    };
    let mut r = Replication::default();
    search.add(&found, &hopeless(), &mut r);
    assert_eq!(r.value("all", PEAK), None);
    assert_eq!(r.no_answer(), Some("no peak: every rate up to 16384/s was good"));
}

#[test]
fn a_search_is_the_same_each_time() {
    let search = Search { requests_per_model: 5_000, ..Search::default() };
    let s = scenario("poisson = { rate_per_s = 50.0 }", 50.0, 2);
    assert_eq!(answer(&search, &s), answer(&search, &s));
}

#[test]
fn late_answers_and_drops_are_told_apart() {
    // What has expired is dropped: answered requests are late only if they began in time and ended
    // late, so the p99 criterion allows more load than the bad rate.
    let search = Search { requests_per_model: 5_000, ..Search::default() };
    let p99 = Search { criterion: Criterion::P99, ..search.clone() };
    let s = scenario("poisson = { rate_per_s = 50.0 }", 50.0, 1);
    let policy = PolicySpec::parse("nexus[batch=1]").unwrap();
    let of = |search: &Search| search.run(&s, &policy, 1).unwrap().value("all", PEAK).unwrap();
    let (bad, late) = (of(&search), of(&p99));
    assert!(late > 1.2 * bad, "{late} and {bad}");
}

#[test]
fn the_quantiles_of_counts() {
    assert_eq!(quantile(&[0, 3, 1], 0.5), Some(1));
    assert_eq!(quantile(&[0, 1, 3], 0.5), Some(2));
    assert_eq!(quantile(&[0, 9, 1], 0.9), Some(1));
    assert_eq!(quantile(&[0, 0], 0.5), None);
}
