//! Probes against what is known of a load in closed form.

mod coverage;

use super::*;
use crate::scenario::Scenario;
use orrery_run::PolicySpec;
use orrery_run::search::*;
use orrery_sim::time::Span;

/// One GPU, `1 ms k + 4 ms`, largest batch 16: at most 800 requests/s.
fn scenario(slo_s: f64, rate_per_s: f64) -> Scenario {
    let text = format!(
        "policies = [\"fifo\"]\n[[model]]\nname = \"m\"\nslo_ms = {:.1}\n\
         latency = {{ affine = {{ alpha_ms = 1.0, beta_ms = 4.0 }} }}\n\
         [[app]]\nname = \"a\"\nmodel = \"m\"\ntime = {{ constant = {{ ms = 5.0 }} }}\n\
         [[device]]\ncount = 1\n[arrivals]\npoisson = {{ rate_per_s = {rate_per_s:.3} }}\nrequests = {REQUESTS_ENDLESS}\n",
        slo_s * 1e3
    );
    Scenario::from_text("t.toml", &text).unwrap()
}

/// Models `m0`, `m1`, ... with these SLOs and batches of `alpha k + beta`, each with an application of its own, behind
/// `head`, which ends within `[arrivals]`.
fn models(
    head: &str,
    (alpha_ms, beta_ms): (f64, f64),
    slos_ms: impl IntoIterator<Item = f64>,
) -> Scenario {
    let mut text = format!("{head}\nper_app = true\nrequests = {REQUESTS_ENDLESS}\n");
    for (m, slo_ms) in slos_ms.into_iter().enumerate() {
        text += &format!(
            "[[model]]\nname = \"m{m}\"\nslo_ms = {slo_ms:.1}\n\
             latency = {{ affine = {{ alpha_ms = {alpha_ms:.1}, beta_ms = {beta_ms:.1} }} }}\n\
             [[app]]\nname = \"a{m}\"\nmodel = \"m{m}\"\n"
        );
    }
    Scenario::from_text("t.toml", &text).unwrap()
}

fn rule(rate_per_s: f64) -> Rule {
    Rule {
        criterion: Criterion::BadRate,
        target: 0.01,
        tolerance: 0.01,
        requests_per_model: 20_000,
        warm_up: Span::from_ms(1_000),
        least: Span::from_ms(4_000),
        exactly: None,
        stop: Stop::Clear,
        load: Load::Steady { rate_per_s, capacity_per_s: None },
        moves: None,
        by_flow: false,
    }
}

fn judged(policy: &str, slo_s: f64, rate_per_s: f64, rule: Rule) -> Probe {
    let setup = scenario(slo_s, rate_per_s).setup(1).unwrap();
    let rule = rule.adapted(setup.slo[0], None);
    probe(&setup, &PolicySpec::parse(policy).unwrap(), 1, rule).unwrap()
}

/// Without knowing the capacity: the probe itself has to see the backlog.
#[test]
fn a_load_above_the_capacity_is_not_good_however_long_the_slo() {
    for policy in ["fifo[max_batch=16]", "timeout[max_batch=16,max_wait_ms=1]"] {
        for slo_s in [0.05, 0.3, 1.0, 10.0, 60.0, 600.0] {
            for over in [1.03, 1.3, 10.0] {
                let rate = 800.0 * over;
                let probe = judged(policy, slo_s, rate, rule(rate));
                assert!(!probe.good, "{policy} SLO {slo_s} s, {rate}/s: {probe:?}");
            }
        }
    }
}

#[test]
fn a_load_well_below_the_capacity_is_good_however_long_the_slo() {
    // Neighbouring requests fare alike for some 40 in a row: 20,000 without a bad one could still be luck.
    let long = Rule { requests_per_model: 80_000, ..rule(700.0) };
    for slo_s in [0.3, 1.0, 10.0, 3_600.0] {
        let probe = judged("fifo[max_batch=16]", slo_s, 700.0, long.clone());
        assert!(probe.good && probe.is_sure(), "SLO {slo_s} s: {probe:?}");
    }
}

#[test]
fn a_probe_lasts_as_long_as_its_longest_delay_needs() {
    let probe = judged("fifo[max_batch=16]", 60.0, 780.0, rule(780.0));
    assert!(probe.good, "{probe:?}");
    // Delays near the edge are far above a batch's 20 ms, and the probe is 100 times as long as they.
    assert!(probe.measured_s > 4.0, "{probe:?}");
}

#[test]
fn a_probe_that_was_told_to_be_short_says_so() {
    let short =
        |seconds: u64| Rule { exactly: Some(Span::from_ms(seconds * 1_000)), ..rule(820.0) };
    let probe = judged("fifo[max_batch=16]", 10.0, 820.0, short(10));
    assert_eq!(probe.doubt, Some(Doubt::Short), "{probe:?}");
    assert!((probe.measured_s - 10.0).abs() < 0.1, "{probe:?}");
    let probe = judged("fifo[max_batch=16]", 10.0, 820.0, short(2_000));
    assert!(!probe.good && probe.is_sure(), "{probe:?}");
}

#[test]
fn the_known_capacity_decides_at_once_what_a_probe_would_take_long_for() {
    // Of these, 99 of 100 are more than 800.
    let (rate_per_s, slo_s) = (809.0, 1e4);
    let capacity_per_s = Some(800.0);
    let known = Rule { load: Load::Steady { rate_per_s, capacity_per_s }, ..rule(rate_per_s) };
    let probe = judged("fifo[max_batch=16]", slo_s, rate_per_s, known);
    assert!(!probe.good && probe.is_sure() && probe.diverging, "{probe:?}");
}

#[test]
fn who_waits_for_ever_is_bad() {
    // The timer policy keeps the last requests; here a batch never fills.
    let endless = "timeout[max_batch=4096,max_wait_ms=1000000]";
    let probe = judged(endless, 0.1, 100.0, rule(100.0));
    assert!(!probe.good && probe.bad_rate > 0.9, "{probe:?}");
}

#[test]
fn the_closed_form_by_hand() {
    let of = |policy: Option<&str>, slo_s: f64, change: &str| {
        let mut scenario = scenario(slo_s, 10.0);
        if !change.is_empty() {
            let (key, value) = change.split_once('=').unwrap();
            let value = format!("x={value}").parse::<toml::Table>().unwrap()["x"].clone();
            scenario = scenario.with(&[(key.to_string(), value)]).unwrap();
        }
        let setup = scenario.setup(1).unwrap();
        let policy = policy.map(|p| PolicySpec::parse(p).unwrap());
        capacity_per_s(&scenario, &setup, policy.as_ref(), None)
    };
    let near = |found: Option<f64>, expected: f64| {
        let found = found.unwrap();
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    };
    near(of(Some("fifo[max_batch=16]"), 10.0, ""), 800.0);
    near(of(Some("fifo[max_batch=1]"), 10.0, ""), 200.0);
    // l(k) <= 12 ms: batches of 8.
    near(of(Some("fifo[max_batch=16]"), 0.012, ""), 8.0 / 0.012);
    near(of(None, 0.012, "device[0].count=3"), 3.0 * 8.0 / 0.012);
    near(of(None, 10.0, "model.m.latency={ table = [[1, 5.0], [4, 8.0]] }"), 500.0);
    // (0.5 + 0.5 k) 5 ms within 10 s: batches of 3999.
    near(of(None, 10.0, "model.m.latency={ proportional = { c1 = 0.5 } }"), 399.9);
    assert_eq!(of(None, 10.0, "noise={ uniform = 0.1 }"), None);
    assert_eq!(of(None, 10.0, "app.a.time={ lognormal = { mean_ms = 5.0, sd_ms = 1.0 } }"), {
        // The law does not depend on the requests.
        of(None, 10.0, "")
    });
}

/// Models of `1 ms k + 4 ms` on a GPU each, at 100 requests/s each; `hopeless` has an SLO that no batch meets.
fn several(n: usize, hopeless: usize) -> Scenario {
    let head = format!(
        "policies = [\"fifo\"]\nallow_hopeless_slo = true\n[[device]]\ncount = {n}\n[arrivals]\n\
         poisson = {{ rate_per_s = {}.0 }}",
        100 * n
    );
    models(&head, (1.0, 4.0), (0..n).map(|m| if m == hopeless { 4.9 } else { 500.0 }))
}

/// However the probe ends: clear, after all requests, at a length that was asked for, or with its load.
#[test]
fn one_bad_model_among_several_is_seen_wherever_it_is() {
    let finite = Load::Finite { bad_max: Vec::new() };
    let rate = rule(300.0);
    let rules = [
        ("clear", rate.clone()),
        ("at its end", Rule { stop: Stop::AtEnd, requests_per_model: 1_500, ..rate.clone() }),
        ("exactly", Rule { exactly: Some(Span::from_ms(20_000)), ..rate.clone() }),
        ("finite", Rule { load: finite, ..rate }),
    ];
    for models in [1, 2, 3, 5] {
        for hopeless in 0..models {
            for (name, rule) in &rules {
                let mut scenario = several(models, hopeless);
                if *name == "finite" {
                    scenario.file.arrivals.as_mut().unwrap().requests = Some(3_000);
                }
                let setup = scenario.setup(1).unwrap();
                let policy = PolicySpec::parse("fifo[max_batch=16]").unwrap();
                let probe = probe(&setup, &policy, 1, rule.clone()).unwrap();
                let what = format!("{name}, model {hopeless} of {models}: {probe:?}");
                assert!(!probe.good && probe.worst_model == hopeless, "{what}");
                assert!(probe.bad_rate > 0.9 && probe.shares.len() == models, "{what}");
            }
        }
    }
}

/// Thirty-two equal models on eight GPUs: how long the probes are is no matter of the highest good rate.
#[test]
fn equal_models_have_one_answer_whatever_the_length_of_the_probes() {
    let head = "policies = [\"fifo\"]\n[[device]]\ncount = 8\n[arrivals]\npoisson = { rate_per_s = 1000.0 }";
    let scenario = models(head, (5.0, 0.0), [15.0; 32]);
    let policy = PolicySpec::parse("fifo[max_batch=1]").unwrap();
    let bracket = Bracket {
        start: 1_400.0,
        tolerance: 0.002,
        target: None,
        step: 1.02,
        step_max: 2.0,
        around: false,
        hint: None,
        most: None,
    };
    let highest = |requests_per_model: u64, seed: u64| {
        let at = |rate: f64, _| {
            let setup = scenario.with_rate(rate)?.setup(seed)?;
            let rule = Rule { requests_per_model, ..rule(rate) }.adapted(setup.slo[0], None);
            probe(&setup, &policy, seed, rule)
        };
        bracket.highest(at).unwrap().value.unwrap()
    };
    let mean = |n| (1..=4).map(|seed| highest(n, seed)).sum::<f64>() / 4.0;
    let (short, long) = (mean(1_250), mean(5_000));
    assert!((short / long - 1.0).abs() < 0.01, "{short} and {long}");
}
