//! What the judge and the search say in worlds whose answer is known: how often a load above the edge is called
//! *clearly good* and one below it *clearly bad*, and how often the edge lies between a search's clear rates.
//!
//! ```sh
//! ORRERY_FROM=100000 ORRERY_SEARCHES=300 cargo test --release -p orrery-scenario --lib -- --nocapture coverage
//! ```
//!
//! Bad requests come in clumps here: one backlog makes many of them late, and most backlogs make none. A judge that
//! takes requests for independent is wrong near the edge far more often than it says.

use super::*;
use crate::scenario::Scenario;
use orrery_run::PolicySpec;
use orrery_run::SpecError;
use orrery_run::search::*;

/// The target of all these worlds.
const TARGET: f64 = 0.01;

/// Of the recursion that finds an edge.
const ARRIVALS: usize = 3_000_000;

/// A world, and the highest rate that a run without end would call good.
struct Known {
    name: &'static str,
    scenario: Scenario,
    policy: PolicySpec,
    edge: f64,
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|n| n.parse().ok())
}

/// Seeds of so many searches, or of as many as are asked for.
fn seeds(few: u64) -> std::ops::Range<u64> {
    let from = number("ORRERY_FROM").unwrap_or(1);
    from..from + number("ORRERY_SEARCHES").unwrap_or(few)
}

/// Requests per model: these, or where more searches are asked for, up to as many as `orrery goodput` takes.
fn lengths(few: &[u64]) -> Vec<u64> {
    number("ORRERY_SEARCHES").map_or(few.to_vec(), |_| vec![1_000, 5_000, 20_000])
}

/// As `orrery goodput` asks, with so many requests.
fn terms(requests_per_model: u64) -> Terms {
    Terms {
        criterion: Criterion::BadRate,
        target: TARGET,
        tolerance: 0.005,
        requests_per_model,
        warm_up: None,
        least: None,
        exactly: None,
    }
}

impl Known {
    fn probe(&self, rate: f64, requests: u64, seed: u64, how: How) -> Result<Probe, SpecError> {
        let scenario = self.scenario.with_rate(rate)?;
        let setup = scenario.setup(seed)?;
        let load = Load::Steady { rate_per_s: rate, capacity_per_s: None };
        let rule = terms(requests).rule(subject(&scenario, &setup, &self.policy, load), how);
        probe(&setup, &self.policy, seed, rule)
    }

    fn search(&self, requests: u64, seed: u64) -> Found {
        Bracket::new(&terms(requests), self.scenario.rate().unwrap(), None, false)
            .highest(|rate, how| self.probe(rate, requests, seed, how))
            .unwrap()
    }
}

/// Models of `alpha_ms` each on some GPUs, in batches of up to `batch`, first come, first served; nothing is dropped.
struct Queue {
    models: usize,
    gpus: usize,
    /// Largest batch, ms for each request of it, ms for each batch.
    batch: usize,
    alpha_ms: f64,
    beta_ms: f64,
    slo_ms: f64,
    arrivals: &'static str,
}

impl Queue {
    fn scenario(&self) -> Scenario {
        let Queue { gpus, arrivals, .. } = self;
        let head =
            format!("policies = [\"fifo\"]\n[[device]]\ncount = {gpus}\n[arrivals]\n{arrivals}");
        models(&head, (self.alpha_ms, self.beta_ms), vec![self.slo_ms; self.models])
    }

    /// With the edge that the recursion found, or the closed form: where many searches are asked for, it is found again.
    fn known(self, name: &'static str, edge: f64) -> Known {
        if number("ORRERY_SEARCHES").is_some() {
            let again = self.edge();
            assert!((again / edge - 1.0).abs() < 0.005, "{name}: {edge}, by the recursion {again}");
        }
        let policy = format!("fifo[max_batch={}]", self.batch);
        Known { name, scenario: self.scenario(), policy: PolicySpec::parse(&policy).unwrap(), edge }
    }

    /// By a recursion over many arrivals, which knows nothing of the simulator.
    fn edge(&self) -> f64 {
        let scenario = self.scenario();
        let per_s = scenario.rate().unwrap();
        let mut sources = scenario.setup(77).unwrap().sources(77).unwrap();
        let next = |_| {
            let first = (0..sources.len()).min_by_key(|i| sources[*i].peek()).unwrap();
            sources[first].pop().unwrap().at.as_secs_f64()
        };
        let times: Vec<f64> = (0..ARRIVALS).map(next).collect();
        let least_ms = self.alpha_ms + self.beta_ms / self.batch as f64;
        highest(self.gpus as f64 * 1e3 / least_ms, |rate| self.late(&times, per_s / rate))
    }

    /// The share of late ones, where the arrivals' times are stretched. The next batch begins on the GPU that is
    /// free first, and takes all that wait then.
    fn late(&self, times: &[f64], stretch: f64) -> f64 {
        let mut free = vec![0.0f64; self.gpus];
        let (mut next, mut late) = (0, 0);
        while next < times.len() {
            let first = (0..self.gpus).fold(0, |a, b| if free[b] < free[a] { b } else { a });
            let start = free[first].max(times[next] * stretch);
            let wait = times[next..].iter().take(self.batch);
            let taken = wait.take_while(|at| **at * stretch <= start).count().max(1);
            free[first] = start + (self.alpha_ms * taken as f64 + self.beta_ms) / 1e3;
            let in_time = |at: &&f64| free[first] <= **at * stretch + self.slo_ms / 1e3;
            late += taken - times[next..next + taken].iter().filter(in_time).count();
            next += taken;
        }
        late as f64 / times.len() as f64
    }
}

/// P(W <= t) of M/D/1 with service time 1 (Erlang; Crommelin 1932).
fn waits_at_most(rho: f64, t: f64) -> f64 {
    let term = |k: u32| {
        let x = rho * (f64::from(k) - t);
        (1..=k).map(|i| x / f64::from(i)).product::<f64>() * libm::exp(-x)
    };
    (1.0 - rho) * (0..=t.floor() as u32).map(term).sum::<f64>()
}

/// The highest rate up to `most` at which `bad` is at most the target.
fn highest(most: f64, bad: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, most);
    while high - low > 1e-5 * most {
        let rate = (low + high) / 2.0;
        if bad(rate) <= TARGET { low = rate } else { high = rate }
    }
    low
}

/// The worlds.
fn known() -> Vec<Known> {
    let md1 = |slo: f64| 100.0 * highest(0.9999, |rho| 1.0 - waits_at_most(rho, slo - 1.0));
    let one = Queue {
        models: 1,
        gpus: 1,
        batch: 1,
        alpha_ms: 10.0,
        beta_ms: 0.0,
        slo_ms: 50.0,
        arrivals: "poisson = { rate_per_s = 60.0 }",
    };
    let bursty = "gamma = { rate_per_s = 60.0, shape = 0.3 }";
    let four = "gamma = { rate_per_s = 300.0, shape = 0.3 }";
    let regular = "gamma = { rate_per_s = 60.0, shape = 50.0 }";
    let eight = "poisson = { rate_per_s = 150.0 }";
    let batches = "poisson = { rate_per_s = 400.0 }";
    let all = vec![
        Queue { ..one }.known("M/D/1, SLO 5", md1(5.0)),
        Queue { slo_ms: 200.0, ..one }.known("M/D/1, SLO 20", md1(20.0)),
        Queue { slo_ms: 200.0, arrivals: bursty, ..one }.known("bursty, SLO 20", 65.72),
        Queue { gpus: 4, arrivals: four, ..one }.known("bursty, four GPUs", 248.19),
        Queue { models: 8, gpus: 2, arrivals: eight, ..one }.known("eight models", 151.39),
        Queue { slo_ms: 30.0, arrivals: regular, ..one }.known("regular", 97.83),
        Queue { batch: 16, alpha_ms: 1.0, beta_ms: 9.0, arrivals: batches, ..one }
            .known("batches", 511.1),
    ];
    let only = std::env::var("ORRERY_WORLD").unwrap_or_default();
    all.into_iter().filter(|world| world.name.contains(&only)).collect()
}

/// In worlds of bursty loads under a policy that drops, the edge is that of probes that are much longer.
fn symphony() -> Known {
    let head = "policies = [\"symphony\"]\n[[device]]\ncount = 4\n[arrivals]\n\
                gamma = { rate_per_s = 800.0, shape = 0.5 }";
    let scenario = models(head, (1.0, 5.0), [40.0; 4]);
    let policy = PolicySpec::parse("symphony").unwrap();
    let mut world = Known { name: "symphony", scenario, policy, edge: 0.0 };
    let one = |rate: f64, seed: u64| {
        let setup = world.scenario.with_rate(rate).unwrap().setup(seed).unwrap();
        let rule = Rule { stop: Stop::AtEnd, requests_per_model: 200_000, ..rule(rate) };
        probe(&setup, &world.policy, seed, rule).unwrap().bad_rate
    };
    let bad = |rate: f64| (980..986).map(|seed| one(rate, seed)).sum::<f64>() / 6.0;
    let (mut low, mut high) = (800.0f64, 3_200.0f64);
    while high > low * 1.002 {
        let middle = (low * high).sqrt();
        if bad(middle) <= TARGET { low = middle } else { high = middle }
    }
    world.edge = (low * high).sqrt();
    world
}

/// So many of `n` may be wrong: more than one of a hundred is more than chance makes of the one in a thousand promised.
fn wrong_at_most(n: usize) -> usize {
    1 + n / 100
}

/// Above the edge nothing is clearly good, and below it nothing clearly bad, however long the probes are.
#[test]
fn coverage_of_probes() {
    for world in known() {
        for requests in lengths(&[1_000, 5_000]) {
            for share in [0.97, 1.03] {
                let rate = world.edge * share;
                let of = |seed| world.probe(rate, requests, seed, How::USUAL).unwrap();
                let all: Vec<Probe> = seeds(12).map(of).collect();
                let n = all.len();
                let clearly =
                    |good: bool| all.iter().filter(move |p| p.is_sure() && p.good == good);
                let (good, bad) = (clearly(true).count(), clearly(false).count());
                let leans = all.iter().filter(|p| p.good).count();
                let asked = all.iter().map(|p| p.requests).sum::<u64>() / n as u64;
                let line = format!(
                    "{}, edge {:.2}, {requests} a model, at {share}: of {n} {good} clearly good, {bad} clearly bad, \
                     {leans} good; {asked} requests",
                    world.name, world.edge
                );
                println!("{line}");
                let wrong = if share > 1.0 { good } else { bad };
                assert!(wrong <= wrong_at_most(n), "{line}");
            }
        }
    }
}

/// The rate that a run without end would find lies between a search's clear rates.
#[test]
fn coverage_of_searches() {
    let is_long = number("ORRERY_SEARCHES").is_some();
    let longer = is_long.then(symphony);
    for world in known().iter().chain(&longer) {
        for requests in lengths(&[2_000]) {
            let of = |seed| world.search(requests, seed);
            let all: Vec<Found> = seeds(8).map(of).collect();
            let line = enclosed(world, requests, &all);
            println!("{line}");
            let is_wrong = |f: &&Found| {
                f.clearly_good.is_some_and(|good| good > world.edge)
                    || f.clearly_bad.is_some_and(|bad| bad < world.edge)
            };
            assert!(all.iter().filter(is_wrong).count() <= wrong_at_most(all.len()), "{line}");
        }
    }
}

/// What such searches found, in a line.
fn enclosed(world: &Known, requests: u64, all: &[Found]) -> String {
    let n = all.len() as f64;
    let above = all.iter().filter(|f| f.clearly_good.is_some_and(|good| good > world.edge)).count();
    let below = all.iter().filter(|f| f.clearly_bad.is_some_and(|bad| bad < world.edge)).count();
    let off = all.iter().filter_map(|f| f.value).map(|v| (v / world.edge - 1.0) * 100.0);
    let mean = off.clone().sum::<f64>() / n;
    let spread = (off.clone().map(|e| (e - mean) * (e - mean)).sum::<f64>() / n).sqrt();
    let both = all.iter().filter_map(|f| Some((f.clearly_bad? - f.clearly_good?) / world.edge));
    let widths = both.clone().sum::<f64>() / both.clone().count() as f64;
    let good = all.iter().filter(|f| f.clearly_good.is_some()).count();
    let by_bracket = all.iter().filter(|f| f.by_bracket).count();
    format!(
        "{}, edge {:.2}, {requests} a model: of {n} {above} clearly good above, {below} clearly bad below; {good} have \
         the first, {} both, {:.0} % apart; error {mean:.1} %, spread {spread:.1} %, most {:.1} %; {:.0} requests; \
         {by_bracket} by a bracket",
        world.name,
        world.edge,
        both.count(),
        widths * 100.0,
        off.fold(f64::NEG_INFINITY, f64::max),
        all.iter().map(|f| f.requests as f64).sum::<f64>() / n,
    )
}
