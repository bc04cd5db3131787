//! Searches against closed forms.

use super::*;
use orrery_run::PolicySpec;
use orrery_scenario::own::WorldFile;
use orrery_scenario::scenario::Scenario;
use orrery_scenario::tokens::{TokenPolicySpec, TokensFile};
use std::path::Path;
use toml::Value;

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

/// The utilisation at which 99 of 100 of M/D/1 are answered within 5 service times, so wait for at most 4.
fn rho_within_5() -> f64 {
    let (mut low, mut high) = (0.0, 0.999);
    while high - low > 1e-9 {
        let rho = (low + high) / 2.0;
        if waits_at_most(rho, 4.0) >= 0.99 { low = rho } else { high = rho }
    }
    low
}

#[test]
fn the_peak_of_m_d_1_is_the_closed_form_s() {
    let search = Search { requests_per_model: 200_000, ..Search::default() };
    let s = scenario("poisson = { rate_per_s = 17.0 }", 50.0, 1);
    let replication = answer(&search, &s);
    let found = replication.value("all", PEAK).unwrap();
    let peak = 100.0 * rho_within_5();
    assert!((found / peak - 1.0).abs() < 0.02, "{found}, closed form {peak}");
    let finished = replication.value("all", "finish_rate").unwrap();
    assert!((finished - 0.99).abs() < 0.002, "{finished}");
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
    let search = Search { requests_per_model: 1_000, warm_up_s: Some(0.0), ..Search::default() };
    let found = Found { good_up_to: Some(16_384.0), ..Found::default() };
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

/// One GPU, `1 ms k + 4 ms`.
fn batching(slo_ms: f64) -> Scenario {
    let s = scenario("poisson = { rate_per_s = 100.0 }", slo_ms, 1);
    let table = "x = { affine = { alpha_ms = 1.0, beta_ms = 4.0 } }";
    let law = table.parse::<toml::Table>().unwrap()["x"].clone();
    let preempt = ("device[0].can_preempt".to_string(), Value::Boolean(true));
    s.with(&[("model.m.latency".to_string(), law), preempt]).unwrap()
}

/// The closed form: a batch of k takes `k + 4` ms, so at most `k / (k + 4)` requests/ms are answered in
/// time, and of what is offered 1 % may be bad.
#[test]
fn no_answer_exceeds_the_capacity_whatever_slo_batch_limit_and_policy() {
    let search = Search { requests_per_model: 4_000, tolerance: 0.02, ..Search::default() };
    for (slo_ms, largest) in [(30.0, 16), (200.0, 4), (1e3, 16), (5e3, 16), (1e4, 64), (6e4, 1)] {
        let capacity = f64::from(largest) / (f64::from(largest) + 4.0) * 1e3;
        let scenario = batching(slo_ms);
        for policy in ["fifo", "timeout", "symphony", "shepherd", "eager", "clipper", "clockwork"] {
            if policy == "shepherd" && slo_ms > 1e3 {
                continue; // its queue is scanned for each arrival
            }
            let text = format!("{policy}[max_batch={largest}]");
            let r = search.run(&scenario, &PolicySpec::parse(&text).unwrap(), 1).unwrap();
            let found = r.value("all", PEAK).unwrap_or(0.0);
            assert!(
                found * (1.0 - search.target) <= capacity * 1.000_001,
                "{text}, SLO {slo_ms} ms: {found}/s of at most {capacity}, {:?}",
                r.notes
            );
        }
        let fifo = PolicySpec::parse(&format!("fifo[max_batch={largest}]")).unwrap();
        let found = search.run(&scenario, &fifo, 1).unwrap().value("all", PEAK).unwrap();
        assert!(found > 0.7 * capacity && found <= capacity, "{found} of {capacity}");
    }
}

/// The example of the audit: 879, 1371 and 819,200 requests/s were printed.
#[test]
fn a_long_slo_carries_no_more_than_the_device() {
    let search = Search { requests_per_model: 5_000, ..Search::default() };
    let fifo = PolicySpec::parse("fifo[max_batch=16]").unwrap();
    for slo_ms in [1e3, 5e3, 1e4, 1e5] {
        let r = search.run(&batching(slo_ms), &fifo, 1).unwrap();
        let found = r.value("all", PEAK).unwrap();
        assert!(found <= 800.0 * 1.005 && found > 780.0, "SLO {slo_ms}: {found} {:?}", r.notes);
    }
}

#[test]
fn a_probe_that_was_told_to_be_short_says_so() {
    let fifo = PolicySpec::parse("fifo[max_batch=16]").unwrap();
    let of =
        |probe_s| Search { probe_s, ..Search::default() }.run(&batching(1e4), &fifo, 1).unwrap();
    assert!(of(Some(2.0)).notes.contains(&"short-probe".to_string()));
    assert!(!of(None).notes.contains(&"short-probe".to_string()));
}

/// Clockwork on eight GPUs with an SLO of 30 batches of one runs well near its peak until it collapses to batches of
/// one, and stays so. Who answers late requests, too, is late for good above its peak, and comes back below it.
#[test]
fn what_does_not_come_back_from_a_burst_is_metastable_and_nothing_else() {
    let search = Search { requests_per_model: 5_000, tolerance: 0.01, ..Search::default() };
    let of = |slo_ms: f64, law: &str, devices: u32, policy: &str| {
        let law = format!("x = {law}").parse::<toml::Table>().unwrap()["x"].clone();
        let padded = ("model.m.between".to_string(), "next".into());
        let changes = [("model.m.latency".to_string(), law), padded];
        let s = scenario("poisson = { rate_per_s = 1000.0 }", slo_ms, devices);
        let s = s.with(&changes).unwrap();
        search.run(&s, &PolicySpec::parse(policy).unwrap(), 1).unwrap()
    };
    let table = "{ table = [[1, 6.367], [2, 10.3182], [4, 17.7267], [16, 60.696]] }";
    let r = of(191.01, table, 8, "clockwork");
    assert!(r.notes.contains(&"metastable".to_string()), "{:?}", r.notes);
    assert!(r.value("all", "bad_rate_after_burst").unwrap() > 0.05);
    let (good, answer) = (r.value("all", "clearly_good_per_s"), r.value("all", PEAK));
    assert!(good <= answer, "{good:?} {answer:?}");
    let law = "{ affine = { alpha_ms = 1.0, beta_ms = 4.0 } }";
    for policy in ["timeout[max_batch=16,max_wait_ms=2]", "fifo[max_batch=16]"] {
        for (slo_ms, devices) in [(30.0, 1), (60.0, 2), (300.0, 4), (2e3, 1)] {
            let r = of(slo_ms, law, devices, policy);
            assert!(
                !r.notes.contains(&"metastable".to_string()),
                "{policy} {slo_ms}: {:?}",
                r.notes
            );
        }
    }
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

/// A policy of tokens that runs one request at a time, first in first out, whose prompt is all of its work.
fn one_by_one(drop: &str) -> TokenPolicySpec {
    let text = format!("continuous[drop={drop},sequences=1]");
    TokenPolicySpec::parse(&text).unwrap()
}

/// Requests of one step each that want it within 5 of them, and how long a step is.
fn steps(folder: &Path, lines: &str, load: &str) -> (TokensFile, f64) {
    std::fs::write(folder.join("list.csv"), format!("at_s,tokens_in,tokens_out\n{lines}")).unwrap();
    let of = |ttft_ms: f64| {
        let text = format!(
            "policies = [\"continuous\"]\n[tokens]\nprofile = \"step-rtx4090-llama-3.1-8b\"\n\
             kv_blocks = 500\nrequests = \"list.csv\"\n{load}\n[[tokens.slo]]\nttft_ms = {ttft_ms}\n\
             tpot_ms = 1.0\n"
        );
        let path = folder.join("tokens.toml").display().to_string();
        TokensFile::from_text(&path, &text).unwrap_or_else(|e| panic!("{e}"))
    };
    let machine = of(1.0).offered(1, &one_by_one("none")).unwrap().machine;
    let step_s = machine.law.prompt_alone(300, 2_048).as_secs_f64();
    (of(5e3 * step_s), step_s)
}

/// Of a queue with one server it does not matter whether what is served is a batch or a prompt.
#[test]
fn the_peak_of_prompts_one_by_one_is_that_of_m_d_1() {
    let folder = tempfile::tempdir().unwrap();
    let (file, step_s) = steps(folder.path(), "0,300,1\n", "rate_per_s = 3.0");
    let search = Search { requests_per_model: 200_000, ..Search::default() };
    let replication = search.run(&file, &one_by_one("none"), 1).unwrap();
    let (found, peak) = (replication.value("all", PEAK).unwrap(), rho_within_5() / step_s);
    assert!((found / peak - 1.0).abs() < 0.02, "{found}, closed form {peak}");
    let finished = replication.value("all", "finish_rate").unwrap();
    assert!((finished - 0.99).abs() < 0.002, "{finished}");
    assert_eq!(replication.measures[0].metric, PEAK, "the answer comes first");
    // Who is given up makes room for others.
    let dropping = search.run(&file, &one_by_one("infeasible"), 1).unwrap();
    assert!(dropping.value("all", PEAK).unwrap() > found, "{:?}", dropping.measures[0]);
}

/// A list is judged as a whole: with regular arrivals it may be as fast as leaves 99 of 100 within 5 steps.
#[test]
fn the_peak_of_a_list_of_prompts_is_what_its_last_may_wait() {
    let folder = tempfile::tempdir().unwrap();
    let lines: String = (0..3_000).map(|i| format!("{i},300,1\n")).collect();
    let (file, step_s) = steps(folder.path(), &lines, "");
    let (warm_up_s, tolerance) = (Some(0.0), 0.001);
    let search = Search { warm_up_s, tolerance, ..Search::default() };
    let found = search.run(&file, &one_by_one("none"), 1).unwrap().value("all", PEAK).unwrap();
    // Request k has waited k (step - gap), and 99 of 100 may wait for 4 steps.
    let peak = 1.0 / step_s / (1.0 - 4.0 / (0.99 * 3_000.0));
    assert!((found / peak - 1.0).abs() < 0.002, "{found}, closed form {peak}");
    let short = file.with(&[("tokens.count".to_string(), Value::Integer(5))]).unwrap();
    let search = Search { warm_up_s: None, ..search };
    let error = search.run(&short, &one_by_one("none"), 1).unwrap_err().to_string();
    assert!(error.contains("ends within the warm-up") && error.contains("rate_per_s"), "{error}");
}

#[test]
fn a_search_for_devices_or_without_an_slo_is_refused_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let (file, _) = steps(folder.path(), "0,300,1\n1,300,1\n", "rate_per_s = 3.0");
    let error = |search: &Search, file: &TokensFile| {
        search.run(file, &one_by_one("none"), 1).unwrap_err().to_string()
    };
    let devices = error(&Search { find: Find::Devices, ..Search::default() }, &file);
    assert!(devices.contains("there is one executor"), "{devices}");
    let with = |key: &str, value: Value| file.with(&[(key.to_string(), value)]).unwrap();
    let none = error(&Search::default(), &with("tokens.slo", Value::Array(Vec::new())));
    assert!(none.contains("tokens.slo") && none.contains("no request is late"), "{none}");
    let long = with("tokens.slo[0].ttft_ms", Value::Float(86_400e3));
    let long = error(&Search::default(), &long);
    assert!(long.contains("at most 7200 s") && long.contains("ttft_ms"), "{long}");
    let (at_once, _) = steps(folder.path(), "0,300,1\n", "");
    let at_once = error(&Search::default(), &at_once);
    assert!(
        at_once.contains("requests at one instant") && at_once.contains("rate_per_s"),
        "{at_once}"
    );
}
