//! The guarantee of an answer: the rate that a run without end would find lies between the rate that is clearly good and
//! the one that is clearly bad, in as many searches as docs/clusters.md says.
//!
//! ```sh
//! ORRERY_FROM=100000 ORRERY_SEARCHES=300 cargo test --release -p orrery-scenario --lib -- --nocapture enclose_the_answer
//! ```

use super::*;
use crate::policy_spec::PolicySpec;
use crate::scenario::Scenario;

/// What docs/clusters.md promises.
const PROMISED: f64 = 0.93;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|n| n.parse().ok())
}

/// Seeds of so many searches.
fn seeds(few: u64) -> std::ops::Range<u64> {
    let from = number("ORRERY_FROM").unwrap_or(1);
    from..from + number("ORRERY_SEARCHES").unwrap_or(few)
}

fn found(scenario: &Scenario, policy: &str, requests_per_model: u64, seed: u64) -> Found {
    let policy = PolicySpec::parse(policy).unwrap();
    let scenario = scenario.keeping_gaps();
    let (tolerance, target) = (0.005, 0.01);
    let at = |rate: f64, how: How| {
        let setup = scenario.with_rate(rate)?.setup(seed)?;
        let models = setup.slo.len();
        let slo = *setup.slo.iter().max().unwrap();
        let rule = Rule {
            criterion: Criterion::BadRate,
            target,
            tolerance,
            requests_per_model,
            warm_up: Span::from_ms(6_000),
            fills: Span::ZERO,
            least: Span::from_ms(4_000),
            exactly: None,
            stop: Stop::Clear,
            load: Load::Steady { rate_per_s: rate, capacity_per_s: None },
            burst: None,
        };
        let judge = Judge::new(rule.adapted(slo, None).made(how, slo), models);
        let built = setup.policy(&policy, seed);
        let probed = probe(&setup.world, setup.sources(seed)?, built, judge, ());
        Ok::<Probe, crate::SpecError>(probed.unwrap_or_else(|_| panic!("{rate}")).0)
    };
    let (start, step, step_max) = (scenario.rate().unwrap(), 1.02, 4.0);
    let bracket = Bracket { start, tolerance, target, step, step_max, glance: true, around: true };
    bracket.highest(at).unwrap()
}

/// How often the two rates enclose the answer, and how far the value is from it.
fn check(what: &str, searches: &[Found], answer: f64) {
    let n = searches.len() as f64;
    let ends = |f: &Found| f.clearly_good.zip(f.clearly_bad);
    let held = |f: &&Found| {
        f.clearly_good.is_none_or(|good| good <= answer)
            && f.clearly_bad.is_none_or(|bad| answer <= bad)
    };
    let holds = searches.iter().filter(held).count() as f64;
    let with_both = searches.iter().filter_map(ends).count() as f64;
    let widths = searches.iter().filter_map(ends).map(|(good, bad)| (bad - good) / answer);
    let errors = searches.iter().filter_map(|f| f.value).map(|v| v / answer - 1.0);
    let error = errors.clone().sum::<f64>() / n;
    let spread = (errors.map(|e| (e - error) * (e - error)).sum::<f64>() / n).sqrt();
    println!(
        "{what}: {holds} of {n} hold {answer:.2}, {with_both} with both ends; width {:.1} %, error {:.2} %, spread {:.2} %, {:.1} probes, \
         {:.0} requests",
        widths.sum::<f64>() / n * 100.0,
        error * 100.0,
        spread * 100.0,
        searches.iter().map(|f| f64::from(f.probes)).sum::<f64>() / n,
        searches.iter().map(|f| f.requests as f64).sum::<f64>() / n,
    );
    if number("ORRERY_SEARCHES").is_some() {
        for f in searches.iter().filter(|f| !held(f)) {
            println!("  {:?} {:?} {:?}", f.clearly_good, f.value, f.clearly_bad);
        }
    }
    // But for what chance takes from so many searches once in a hundred times.
    let chance = 2.33 * (n * PROMISED * (1.0 - PROMISED)).sqrt();
    assert!(holds >= PROMISED * n - chance, "{what}: {holds} of {n}");
    assert!(with_both >= 0.9 * n, "{what}: {with_both} of {n} have both ends");
    // Nor are answers off by more than chance and 1 %.
    assert!(error.abs() < 0.01 + 3.0 * spread / n.sqrt(), "{what}: answers are {error} off");
}

/// One request at a time in 10 ms, first come, first served, within 50 ms.
fn queue(arrivals: &str) -> Scenario {
    let text = format!(
        "policies = [\"fifo[max_batch=1]\"]\n[[model]]\nname = \"m\"\nslo_ms = 50.0\n\
         latency = {{ affine = {{ alpha_ms = 0.0, beta_ms = 10.0 }} }}\n\
         [[app]]\nname = \"a\"\nmodel = \"m\"\ntime = {{ constant = {{ ms = 10.0 }} }}\n\
         [[device]]\ncount = 1\n[arrivals]\n{arrivals}\nrequests = {REQUESTS_ENDLESS}\n"
    );
    Scenario::from_text("t.toml", &text).unwrap()
}

/// P(W <= t) of M/D/1 with service time 1 (Erlang; Crommelin 1932).
fn waits_at_most(rho: f64, t: f64) -> f64 {
    let term = |k: u32| {
        let x = rho * (f64::from(k) - t);
        (1..=k).map(|i| x / f64::from(i)).product::<f64>() * libm::exp(-x)
    };
    (1.0 - rho) * (0..=t.floor() as u32).map(term).sum::<f64>()
}

/// The answer is the closed form's.
#[test]
fn the_clear_rates_enclose_the_answer_of_a_queue() {
    // Within 5 service times, so waiting for at most 4.
    let (mut low, mut high) = (0.0, 0.999);
    while high - low > 1e-9 {
        let rho = (low + high) / 2.0;
        if waits_at_most(rho, 4.0) >= 0.99 { low = rho } else { high = rho }
    }
    let scenario = queue("poisson = { rate_per_s = 60.0 }");
    for requests in [5_000, 20_000] {
        let of = |seed| found(&scenario, "fifo[max_batch=1]", requests, seed);
        let all: Vec<Found> = seeds(60).map(of).collect();
        check(&format!("M/D/1, {requests} requests a probe"), &all, 100.0 * low);
    }
}

/// Worlds without a closed form: the answer is that of probes a hundred times as long.
#[test]
fn the_clear_rates_enclose_the_answer_of_bursty_loads_and_of_several_models() {
    let bursty = queue("gamma = { rate_per_s = 40.0, shape = 0.3 }");
    let mut several = String::from(
        "policies = [\"symphony\"]\n[[device]]\ncount = 4\n[arrivals]\n\
         gamma = { rate_per_s = 800.0, shape = 0.5 }\nper_app = true\n",
    );
    several += &format!("requests = {REQUESTS_ENDLESS}\n");
    for m in 0..4 {
        several += &format!(
            "[[model]]\nname = \"m{m}\"\nslo_ms = 40.0\n\
             latency = {{ affine = {{ alpha_ms = 1.0, beta_ms = 5.0 }} }}\n\
             [[app]]\nname = \"a{m}\"\nmodel = \"m{m}\"\n"
        );
    }
    let several = Scenario::from_text("t.toml", &several).unwrap();
    for (what, scenario, policy) in
        [("bursty", &bursty, "fifo[max_batch=1]"), ("four models, bursty", &several, "symphony")]
    {
        let answer = found(scenario, policy, 500_000, 987_654).value.unwrap();
        let of = |seed| found(scenario, policy, 5_000, seed);
        let all: Vec<Found> = seeds(40).map(of).collect();
        check(what, &all, answer);
    }
}
