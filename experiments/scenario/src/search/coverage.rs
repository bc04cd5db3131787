//! The guarantee of an answer's interval: over many searches in worlds with a known answer, it holds the answer at
//! least as often as it says.
//!
//! ```sh
//! ORRERY_SEARCHES=2000 cargo test --release -p orrery-scenario --lib -- --nocapture coverage
//! ORRERY_FROM=100000 ...   # other seeds
//! ```

use super::*;
use crate::policy_spec::PolicySpec;
use crate::scenario::Scenario;
use orrery_sim::rng::Stream;
use orrery_sim::stats::ratio_of_batches;
use std::convert::Infallible;

/// What intervals promise.
const PROMISED: f64 = 0.95;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|n| n.parse().ok())
}

/// Seeds of so many searches.
fn seeds(few: u64) -> std::ops::Range<u64> {
    let from = number("ORRERY_FROM").unwrap_or(1);
    from..from + number("ORRERY_SEARCHES").unwrap_or(few)
}

fn bracket(start: f64, tolerance: f64) -> Bracket {
    let (step, step_max, target) = (2.0, 2.0, Some(0.01));
    Bracket { start, tolerance, step, step_max, target, around: false }
}

/// How often the intervals held the answer.
#[derive(Default)]
struct Score {
    searches: u64,
    with_interval: u64,
    held: u64,
    /// Sums: of widths and errors, relative; of probes and requests.
    width: f64,
    error: f64,
    probes: u64,
    requests: u64,
}

impl Score {
    fn add(&mut self, found: &Found, answer: f64) {
        self.searches += 1;
        self.probes += u64::from(found.probes);
        self.requests += found.requests;
        let (Some((low, high)), Some(value)) = (found.interval, found.value) else { return };
        self.with_interval += 1;
        self.held += u64::from((low..=high).contains(&answer));
        self.width += (high - low) / answer;
        self.error += (value / answer - 1.0).abs();
    }

    /// At least what is promised, but for what chance takes from so many searches once in a hundred times.
    fn check(&self, what: &str) {
        let n = self.with_interval as f64;
        println!(
            "{what}: {} of {} intervals hold the answer; {} searches; width {:.2} %, error {:.2} %, \
             {:.1} probes, {:.0} requests",
            self.held,
            self.with_interval,
            self.searches,
            self.width / n * 100.0,
            self.error / n * 100.0,
            self.probes as f64 / self.searches as f64,
            self.requests as f64 / self.searches as f64
        );
        assert!(self.with_interval as f64 > 0.97 * self.searches as f64, "{what}: few intervals");
        let chance = 2.33 * (n * PROMISED * (1.0 - PROMISED)).sqrt();
        assert!(self.held as f64 >= PROMISED * n - chance, "{what}");
    }
}

/// A world without a simulation: ln(bad) rises with ln(rate) along a curve, and batches are alike by chance.
struct Model {
    seed: u64,
    slope: f64,
    curve: f64,
    /// By how much a batch's ln(bad) is off, and what the next one keeps of it.
    noise: f64,
    keeps: f64,
    /// The part of it that another rate has in common.
    common: f64,
    requests: u64,
}

impl Model {
    fn probe(&self, rate: f64, how: How) -> Result<Probe, Infallible> {
        const BATCHES: usize = 40;
        let part = if how.aim == Aim::Glance { 4 } else { 1 };
        let x = libm::log(rate);
        let bad = (0.01 * libm::exp(self.slope * x + self.curve * x * x)).min(0.9);
        let each = self.requests / part / BATCHES as u64;
        let kind = u64::from(part == 1);
        let mut shared = Stream::named(self.seed, "noise of all rates", kind);
        let mut own = Stream::named(self.seed, "noise of a rate", rate.to_bits() ^ kind);
        let normal = |s: &mut Stream| (0..12).map(|_| s.uniform()).sum::<f64>() - 6.0;
        let (mut last, mut counts) = (normal(&mut shared), Vec::new());
        for _ in 0..BATCHES {
            last = self.keeps * last + (1.0 - self.keeps * self.keeps).sqrt() * normal(&mut shared);
            let both = self.common.sqrt() * last + (1.0 - self.common).sqrt() * normal(&mut own);
            let p = bad * libm::exp(self.noise * both - self.noise * self.noise / 2.0);
            let of = (0..each).filter(|_| own.uniform() < p).count() as u64;
            counts.push((each, of));
        }
        let all: u64 = counts.iter().map(|c| c.1).sum();
        let bad_rate = all as f64 / (each * BATCHES as u64) as f64;
        // As the judge does: far is beyond doubt three times the target, or a third of it.
        let (of, all): (Vec<f64>, Vec<f64>) =
            counts.iter().map(|c| (c.1 as f64, c.0 as f64)).unzip();
        let half = ratio_of_batches(&of, &all).map_or(1.0, |r| r.interval.width() * 0.87);
        let beyond = |times: f64| bad_rate - half > 0.01 * times || bad_rate + half < 0.01 / times;
        let figure = Figure::of(&counts, each, bad_rate, 0.01).filter(|_| !beyond(3.0));
        let requests = each * BATCHES as u64;
        Ok(Probe {
            good: bad_rate <= 0.01,
            doubt: (!beyond(1.0)).then_some(Doubt::Undecided),
            diverging: false,
            bad_rate,
            shares: Vec::new(),
            good_share: 1.0 - bad_rate,
            worst_model: 0,
            requests,
            measured_s: 1.0,
            figure,
        })
    }
}

/// The answer of a model world is 1.
#[test]
fn intervals_cover_in_model_worlds() {
    let worlds = [
        // slope, curve, noise, keeps, common, requests
        (20.0, 0.0, 0.0, 0.0, 1.0, 20_000),
        (20.0, 0.0, 1.0, 0.0, 1.0, 20_000),
        (20.0, 0.0, 1.0, 0.0, 0.0, 20_000),
        (10.0, 10.0, 0.7, 0.3, 0.5, 5_000),
        (40.0, -100.0, 0.7, 0.5, 0.9, 20_000),
    ];
    for (slope, curve, noise, keeps, common, requests) in worlds {
        let mut score = Score::default();
        for seed in seeds(300) {
            let model = Model { seed, slope, curve, noise, keeps, common, requests };
            let start = 0.8 + 0.5 * Stream::named(seed, "start", 0).uniform();
            let Ok(found) = bracket(start, 0.005).highest(|rate, how| model.probe(rate, how));
            score.add(&found, 1.0);
        }
        score.check(&format!("slope {slope}, curve {curve}, noise {noise}, keeps {keeps}"));
    }
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

fn found(scenario: &Scenario, policy: &str, requests_per_model: u64, seed: u64) -> Found {
    let policy = PolicySpec::parse(policy).unwrap();
    let at = |rate: f64, how: How| {
        let setup = scenario.with_rate(rate)?.setup(seed)?;
        let models = setup.slo.len();
        let slo = *setup.slo.iter().max().unwrap();
        let rule = Rule {
            criterion: Criterion::BadRate,
            target: 0.01,
            tolerance: 0.005,
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
    bracket(scenario.rate().unwrap(), 0.005).highest(at).unwrap()
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
fn intervals_cover_in_the_simulator() {
    // Within 5 service times, so waiting for at most 4.
    let (mut low, mut high) = (0.0, 0.999);
    while high - low > 1e-9 {
        let rho = (low + high) / 2.0;
        if waits_at_most(rho, 4.0) >= 0.99 { low = rho } else { high = rho }
    }
    let scenario = queue("poisson = { rate_per_s = 60.0 }");
    for requests in [5_000, 20_000] {
        let mut score = Score::default();
        for seed in seeds(60) {
            score.add(&found(&scenario, "fifo[max_batch=1]", requests, seed), 100.0 * low);
        }
        score.check(&format!("M/D/1, {requests} requests a probe"));
    }
}

/// Worlds without a closed form: the answer is that of probes a hundred times as long.
#[test]
fn intervals_cover_in_bursty_worlds_and_with_several_models() {
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
        let long = found(scenario, policy, 500_000, 987_654);
        let answer = long.value.unwrap();
        let mut score = Score::default();
        for seed in seeds(40) {
            score.add(&found(scenario, policy, 5_000, seed), answer);
        }
        let (low, high) = long.interval.unwrap();
        println!("{what}: the answer is {answer:.2} ({low:.2} to {high:.2})");
        score.check(what);
    }
}
