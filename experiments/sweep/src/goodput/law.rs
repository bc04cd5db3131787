//! The law of the search: answers of random worlds against long runs at constant rates, which share nothing with it.
//!
//! ```sh
//! ORRERY_WORLD=45 ...  # one world, named by a failure
//! ORRERY_WORLDS=200 cargo test --release -p orrery-sweep --lib -- --nocapture law_of_the_search
//! ```

use super::*;
use crate::rows::rows;
use crate::seeds::Seeds;
use orrery_results::Row;
use orrery_run::PolicySpec;
use orrery_scenario::scenario::Scenario;
use orrery_sim::request::End;
use orrery_sim::rng::Stream;
use orrery_sim::stats::replications;
use rayon::prelude::*;
use std::fmt::Write;

/// All that schedule open loads on any devices.
const POLICIES: [&str; 14] = [
    "clockwork",
    "symphony",
    "shepherd",
    "timeout[max_batch=16,max_wait_ms=2]",
    "nexus",
    "eager",
    "fifo[max_batch=16]",
    "clipper",
    "orloj",
    "best-yield",
    "alpaserve",
    "infaas",
    "kairos",
    "ribbon",
];

const TARGETS: [f64; 7] = [0.01, 0.01, 0.001, 0.003, 0.03, 0.1, 0.5];

/// They learn while they run, and their state decides for a long time: what the search says of them is not this law's.
const LEARN: [&str; 2] = ["clipper", "infaas"];

/// As many as `orrery plan` takes.
const SEEDS: u64 = 5;

/// The smallest share of worlds whose interval holds the truth, the largest error in the median, and the largest share
/// of clear rates on the wrong side of it.
const HOLD: f64 = 0.85;
const MEDIAN: f64 = 0.005;
const WRONG: f64 = 0.03;

/// Seeds of the long runs.
const TRUTH_SEEDS: u64 = 4;

/// A world, how it is scheduled, and what is asked of it.
struct World {
    scenario: Scenario,
    policy: PolicySpec,
    target: f64,
    /// One model, Poisson arrivals and a target of 1 %.
    is_ordinary: bool,
}

/// World `number`: one to eight devices, one to five models, SLOs of 3 to 40 times a batch of one.
fn world(number: u64) -> World {
    let mut random = Stream::named(number, "random worlds of searches", 0);
    let mut pick = |n: u64| random.below(n);
    // Every third one is ordinary: its target and arrivals are those that most people have.
    let is_ordinary = number.is_multiple_of(3);
    let policy = POLICIES[(number % POLICIES.len() as u64) as usize];
    let target = if is_ordinary { 0.01 } else { TARGETS[pick(TARGETS.len() as u64) as usize] };
    let models = if is_ordinary { 1 } else { 1 + pick(5) };
    let arrivals = match if is_ordinary { 0 } else { pick(6) } {
        0 | 1 => "poisson = { rate_per_s = 200.0 }",
        2 => "gamma = { rate_per_s = 200.0, shape = 0.3 }",
        3 => "gamma = { rate_per_s = 200.0, shape = 4.0 }",
        4 => "constant = { rate_per_s = 200.0 }",
        _ => "mmpp = { rates_per_s = [100.0, 300.0], mean_sojourns_s = [0.5, 0.5] }",
    };
    let per_app = pick(2) == 0;
    let (more, noise, delay) = (pick(3) == 0, pick(4) == 0, pick(4) == 0);
    let count = 1 + pick(4);
    let mut text = format!(
        "policies = [{policy:?}]\nallow_hopeless_slo = true\n[[device]]\ncount = {count}\ncan_preempt = true\n"
    );
    if more && !is_ordinary {
        text += "[[device]]\nkind = \"slow\"\ncount = 2\nspeed = 0.5\ncan_preempt = true\n";
    }
    if noise && !is_ordinary {
        text += "[noise]\nlognormal = 0.1\n";
    }
    if delay && !is_ordinary {
        text += "[delays]\ndispatch_ms = 0.5\nfetch_per_request_ms = 0.01\n";
    }
    let _ = write!(text, "[arrivals]\n{arrivals}\nper_app = {per_app}\nrequests = 10\n");
    for m in 0..models {
        let (alpha, beta) = (0.2 + 4.0 * random.uniform(), 8.0 * random.uniform());
        let slo = 2.0 + (alpha + beta) * (3.0 + 37.0 * random.uniform());
        let weight = 1 + random.below(3);
        let _ = write!(
            text,
            "[[model]]\nname = \"m{m}\"\nslo_ms = {slo:.3}\n\
             latency = {{ affine = {{ alpha_ms = {alpha:.3}, beta_ms = {beta:.3} }} }}\n\
             [[app]]\nname = \"a{m}\"\nmodel = \"m{m}\"\nweight = {weight}.0\n"
        );
    }
    if std::env::var("ORRERY_WORLD").is_ok() {
        println!("{text}");
    }
    let scenario = Scenario::from_text("world", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let policy = PolicySpec::parse(policy).unwrap();
    World { scenario, policy, target, is_ordinary }
}

impl World {
    /// The worst model's share of bad requests in long runs at a rate, by seed.
    fn bad(&self, rate_per_s: f64, requests: u64) -> Vec<f64> {
        let mut scenario = self.scenario.with_rate(rate_per_s).unwrap();
        scenario.file.arrivals.as_mut().unwrap().requests = Some(requests / TRUTH_SEEDS);
        // A tenth is the warm-up.
        scenario.file.warm_up_s = 0.1 * (requests / TRUTH_SEEDS) as f64 / rate_per_s;
        let one = |seed: u64| {
            let metrics = scenario.setup(seed).unwrap().run(&self.policy, seed).unwrap();
            let of = metrics.models();
            let bad = |m: &orrery_sim::metrics::Figures| {
                1.0 - m.ended(End::InTime) as f64 / m.offered.max(1) as f64
            };
            of.iter().map(bad).collect::<Vec<f64>>()
        };
        let all: Vec<Vec<f64>> = (1..=TRUTH_SEEDS).map(|seed| one(90_000 + seed)).collect();
        let mean = |m: usize| all.iter().map(|run| run[m]).sum::<f64>() / all.len() as f64;
        let worst = (0..all[0].len()).max_by(|a, b| mean(*a).total_cmp(&mean(*b))).unwrap();
        all.iter().map(|run| run[worst]).collect()
    }

    /// The highest rate by bisection, and its standard error: that of the share, by its slope between the last two ends.
    fn truth(&self, near_per_s: f64, requests: u64) -> (f64, f64) {
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        let (mut low, mut high) = (near_per_s / 1.05, near_per_s * 1.05);
        let mut seen = Vec::new();
        let mut bad = |rate: f64| {
            let all = self.bad(rate, requests);
            let share = mean(&all);
            seen.push((rate, share, replications(&all).map_or(0.0, |i| i.width() / 6.4)));
            share
        };
        while bad(low) > self.target && low > near_per_s * 0.01 {
            (low, high) = (low / 1.3, low);
        }
        while bad(high) <= self.target && high < near_per_s * 100.0 {
            (low, high) = (high, high * 1.3);
        }
        while high > low * 1.001 {
            let middle = (low * high).sqrt();
            if bad(middle) <= self.target { low = middle } else { high = middle }
        }
        // The share's error over its slope, from the rates within 3 % of the answer.
        let root = (low * high).sqrt();
        let near: Vec<&(f64, f64, f64)> =
            seen.iter().filter(|s| (s.0 / root - 1.0).abs() < 0.03).collect();
        let ends = near.iter().fold((f64::MAX, 0.0_f64, 0.0, 0.0), |e, s| {
            let e = if s.0 < e.0 { (s.0, e.1, s.1, e.3) } else { e };
            if s.0 > e.1 { (e.0, s.0, e.2, s.1) } else { e }
        });
        let slope = (ends.3 - ends.2) / (ends.1 - ends.0);
        let error = near.iter().map(|s| s.2).sum::<f64>() / near.len() as f64;
        let error = if slope > 0.0 { error / slope } else { 0.0 };
        (root, error.min(0.1 * root).max(0.0005 * root))
    }

    fn search(&self) -> Vec<Replication> {
        let search = Search { target: self.target, ..Search::default() };
        let of =
            |seed| search.run(&self.scenario, &self.policy, seed).unwrap_or_else(|e| panic!("{e}"));
        (1..=SEEDS).map(of).collect()
    }
}

/// What became of a world.
#[derive(Default)]
struct Judged {
    line: String,
    error: f64,
    holds: bool,
    is_undecided: bool,
    is_ordinary: bool,
    /// Clear rates on the wrong side: of the answers, and of single seeds.
    wrong: [usize; 2],
    clear: [usize; 2],
    requests: u64,
}

fn judged(number: u64, requests: u64) -> Judged {
    let world = world(number);
    let found = world.search();
    let values: Vec<f64> = found.iter().map(|r| r.value("all", PEAK).unwrap_or(0.0)).collect();
    let seeds = Seeds { first: 1, count: SEEDS as u32, until_ci: None };
    let rows = rows(&Row::default(), &seeds, &found);
    let row = rows.iter().find(|r| r.metric == PEAK).expect("an answer");
    let answer = values.iter().sum::<f64>() / values.len() as f64;
    let asked = found.iter().map(|r| r.measures[0].samples).sum();
    let notes = flags(row);
    let head = format!(
        "world {number}{}, {}, target {}",
        if world.is_ordinary { "o" } else { "" },
        world.policy.text(),
        world.target
    );
    if answer == 0.0 {
        let line = format!("{head}: nothing [{}]", notes.join(" "));
        return Judged { line, holds: true, requests: asked, ..Judged::default() };
    }
    let (truth, error) = world.truth(answer, requests);
    let (low, high) = row.ci95().unwrap();
    let off = truth - answer;
    let half = if off > 0.0 { high - answer } else { answer - low };
    let holds = off.abs() <= half.hypot(2.0 * error);
    let is_wrong = |metric: &str, rate: f64| match metric {
        metric::CLEARLY_GOOD => rate > truth + 3.0 * error,
        _ => rate < truth - 3.0 * error,
    };
    let clear = [metric::CLEARLY_GOOD, metric::CLEARLY_BAD];
    let of_answer: Vec<(&str, f64)> = clear
        .iter()
        .filter_map(|m| Some((*m, rows.iter().find(|r| r.metric == *m)?.value?)))
        .collect();
    let of_seeds: Vec<(&str, f64)> = found
        .iter()
        .flat_map(|r| clear.iter().filter_map(|m| Some((*m, r.value("all", m)?))))
        .collect();
    let wrong = |of: &[(&str, f64)]| of.iter().filter(|(m, rate)| is_wrong(m, *rate)).count();
    let wrong = [wrong(&of_answer), wrong(&of_seeds)];
    let line = format!(
        "{head}: {answer:.2} ({:.2} to {:.2}), truth {truth:.2} +- {:.2} %: {:+.2} %{}{} [{}] {}",
        low,
        high,
        100.0 * error / truth,
        100.0 * (answer / truth - 1.0),
        if holds { "" } else { " MISSES" },
        if wrong[1] > 0 { format!(" WRONG {wrong:?}: {of_seeds:.1?}") } else { String::new() },
        notes.join(" "),
        asked,
    );
    Judged {
        line,
        error: answer / truth - 1.0,
        holds,
        is_undecided: notes.contains(&"undecided"),
        is_ordinary: world.is_ordinary,
        wrong,
        clear: [of_answer.len(), of_seeds.len()],
        requests: asked,
    }
}

#[test]
fn law_of_the_search() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let one = number("ORRERY_WORLD");
    let worlds = number("ORRERY_WORLDS");
    let requests = number("ORRERY_REQUESTS").unwrap_or(if worlds.or(one).is_some() {
        1_000_000
    } else {
        200_000
    });
    let first = number("ORRERY_FROM").unwrap_or(0);
    let numbers: Vec<u64> = match one {
        Some(one) => vec![one],
        None => (first..first + worlds.unwrap_or(12)).collect(),
    };
    let learns = |n: &u64| LEARN.contains(&POLICIES[(n % POLICIES.len() as u64) as usize]);
    let judge = |n: u64| {
        let judged = judged(n, requests);
        println!("{}", judged.line);
        (!learns(&n)).then_some(judged)
    };
    let all: Vec<Judged> = numbers.into_par_iter().with_max_len(1).filter_map(judge).collect();
    let mut errors: Vec<f64> = all.iter().map(|j| j.error).collect();
    errors.sort_by(f64::total_cmp);
    let error = |q: f64| errors[(q * (errors.len() - 1) as f64) as usize];
    let sum = |of: fn(&Judged) -> usize| all.iter().map(of).sum::<usize>();
    let (n, holds) = (all.len(), sum(|j| j.holds.into()));
    let wrong = [sum(|j| j.wrong[0]), sum(|j| j.wrong[1])];
    let clear = [sum(|j| j.clear[0]), sum(|j| j.clear[1])];
    let line = format!(
        "{n} worlds: intervals hold the truth in {holds}; error {:+.2} % in the median, {:+.2} to {:+.2} from p5 to \
         p95; {wrong:?} of {clear:?} clear rates of answers and of single seeds on the wrong side; undecided: {} of {n}, and {} of {} ordinary ones; {} \
         requests",
        100.0 * error(0.5),
        100.0 * error(0.05),
        100.0 * error(0.95),
        sum(|j| j.is_undecided.into()),
        sum(|j| (j.is_undecided && j.is_ordinary).into()),
        sum(|j| j.is_ordinary.into()),
        all.iter().map(|j| j.requests).sum::<u64>(),
    );
    println!("{line}");
    if one.is_none() {
        assert!(holds as f64 >= HOLD * n as f64 && error(0.5).abs() <= MEDIAN, "{line}");
        assert!(wrong[1] as f64 <= WRONG * clear[1] as f64 && wrong[0] <= 1, "{line}");
    }
}
