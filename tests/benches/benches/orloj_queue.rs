//! Orloj's priority queue over the number of pending requests (the paper's Fig. 10), and what a whole
//! decision costs with it and without.
//!
//! `cargo bench -p orrery-benches --features run --bench orloj_queue -- --bench` prints microseconds: of the hull alone an
//! insertion while it fills, a query with a random slope, and the removal of what it found; then of a whole
//! decision of the policy, with both forms of its queues. Deadlines are *far*, beyond the longest
//! batch, or *near*, so that a request's slack passes the bins of its law while it waits. A number after
//! `--bench` is the only one of pending requests that is measured.

use divan::Bencher;
use orrery_sim::cluster::{DeviceView, Footprint};
use orrery_sim::distribution::Histogram;
use orrery_sim::latency::Latency;
use orrery_sim::policy::orloj::hull::{Hull, Point};
use orrery_sim::policy::orloj::{Config, Orloj, QueueForm};
use orrery_sim::policy::parameters::Settings;
use orrery_sim::policy::score::ScoreTable;
use orrery_sim::policy::{Action, Actions, Event, Known, Lookup, Outcome, Policy};
use orrery_sim::profile::ModelProfile;
use orrery_sim::request::{ActionId, AppId, DeviceId, ModelId, Request, RequestId, SourceId};
use orrery_sim::rng::Stream;
use orrery_sim::time::{NS_PER_MS, Span, Time};
use std::time::Instant;

const LAW: Latency = Latency::Proportional { c1: 0.1 };
const SIZES: [u32; 5] = [1, 2, 4, 8, 16];
const BINS: usize = 64;
/// Fills of a hull, and queries, behind a number.
const SAMPLES: usize = 100;
/// Decisions whose mean time is taken, and rounds of which the best counts.
const DECISIONS: usize = 200;
const ROUNDS: usize = 5;
/// Slack at arrival, ms: least and largest.
const FAR: (u64, u64) = (2_000, 3_000);
const NEAR: (u64, u64) = (200, 450);

fn main() {
    // Cargo says so; as a test, everything runs once and nothing is printed.
    if std::env::args().any(|arg| arg == "--bench") {
        return tell();
    }
    divan::main();
}

fn tell() {
    println!("us, mean: the hull alone, deadlines far | near");
    println!(
        "{:>8} {:>9} {:>9} {:>9} | {:>9} {:>9} {:>9}",
        "pending", "insert", "query", "remove", "insert", "query", "remove"
    );
    let only: Vec<usize> = std::env::args().filter_map(|arg| arg.parse().ok()).collect();
    let asked = |n: &usize| only.is_empty() || only.contains(n);
    for n in [10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000].into_iter().filter(asked) {
        let (far, near) = (hull_alone(n, FAR), hull_alone(n, NEAR));
        println!(
            "{n:>8} {:>9.3} {:>9.3} {:>9.3} | {:>9.3} {:>9.3} {:>9.3}",
            far.0, far.1, far.2, near.0, near.1, near.2
        );
    }
    println!("us, mean of the best round: a whole decision, deadlines far | near");
    println!(
        "{:>8} {:>9} {:>9} {:>9} | {:>9} {:>9} {:>9}",
        "pending", "scan", "hull", "ratio", "scan", "hull", "ratio"
    );
    for n in [10, 30, 100, 300, 1_000, 3_000, 10_000].into_iter().filter(asked) {
        let [far, near] = [FAR, NEAR].map(|slack| {
            let [scan, hull] = [QueueForm::Scan, QueueForm::Hull].map(|form| {
                let mut queues = Queues::new(form, n, slack);
                // Until the first have been pending for as long as any.
                queues.decide(DECISIONS + n / 8);
                (0..ROUNDS).map(|_| queues.decide(DECISIONS)).fold(f64::INFINITY, f64::min)
            });
            (scan, hull)
        });
        println!(
            "{n:>8} {:>9.2} {:>9.2} {:>9.2} | {:>9.2} {:>9.2} {:>9.2}",
            far.0,
            far.1,
            far.0 / far.1,
            near.0,
            near.1,
            near.0 / near.1
        );
    }
}

/// Three applications, of 50, 100 and 150 ms.
fn alone(app: u64, draws: &mut Stream) -> Span {
    let normal = (0..12).map(|_| draws.uniform()).sum::<f64>() - 6.0;
    Span::from_ms_f64(50.0 * (app + 1) as f64 + 10.0 * normal)
}

fn profile() -> ModelProfile {
    let draws = &mut Stream::named(1, "profile", 0);
    let draw = || {
        let app = draws.below(3);
        (app as usize, alone(app, draws))
    };
    ModelProfile::measure(&LAW, Span::from_ms(500), &SIZES, 1_000, draw, BINS)
}

fn between((low, high): (u64, u64), draws: &mut Stream) -> Span {
    Span::from_ns(low * NS_PER_MS + draws.below((high - low) * NS_PER_MS))
}

/// Points of requests in the queue of the largest batch.
fn points(n: usize, slack: (u64, u64), seed: u64) -> Vec<Point> {
    let profile = profile();
    let config = (Config::PRESETS[0].make)();
    let mixture = profile.mixture();
    let law = |own: &Histogram| LAW.distribution(16, &own.max_with(&[(&mixture, 15)]));
    let laws = profile.apps.iter().map(|a| ScoreTable::new(&law(&a.law), config.b_per_ms));
    let tables: Vec<ScoreTable> = laws.collect();
    let draws = &mut Stream::named(seed, "points", n as u64);
    let point = |_| {
        let slack = between(slack, draws);
        let table = &tables[draws.below(3) as usize];
        // T0 was a second ago.
        let line = table.line(slack, slack + Span::from_secs(1), 100.0)?;
        Some(Point { alpha: line.alpha, beta: line.beta + line.doubt })
    };
    (0..n).filter_map(point).collect()
}

/// Microseconds of an insertion while filling, of a query, and of the removal of what it found.
fn hull_alone(n: usize, slack: (u64, u64)) -> (f64, f64, f64) {
    let (mut inserting, mut querying, mut removing) = (0.0, 0.0, 0.0);
    let fills = (SAMPLES * 10_000 / n).clamp(3, SAMPLES);
    for seed in 0..fills as u64 {
        let points = points(n, slack, seed);
        let mut hull = Hull::default();
        let start = Instant::now();
        points.iter().for_each(|p| _ = divan::black_box(hull.insert(*p)));
        inserting += start.elapsed().as_secs_f64() / points.len().max(1) as f64;
        let draws = &mut Stream::named(seed, "slopes", 0);
        let slopes: Vec<f64> = (0..SAMPLES).map(|_| 1.0 + draws.uniform()).collect();
        let start = Instant::now();
        slopes.iter().for_each(|u| _ = divan::black_box(hull.top(*u)));
        querying += start.elapsed().as_secs_f64() / SAMPLES as f64;
        let many = SAMPLES.min(n / 2).max(1);
        let start = Instant::now();
        for u in &slopes[..many] {
            if let Some(leaf) = hull.top(*u) {
                hull.remove(leaf);
            }
        }
        removing += start.elapsed().as_secs_f64() / many as f64;
    }
    let mean = |sum: f64| 1e6 * sum / fills as f64;
    (mean(inserting), mean(querying), mean(removing) - mean(querying))
}

/// One device; nothing else is ever looked up.
struct OneDevice;

impl Lookup for OneDevice {
    fn devices(&self) -> Vec<DeviceView> {
        Vec::new()
    }
    fn request(&self, _: RequestId) -> Option<&Request> {
        None
    }
    fn footprint(&self, _: ModelId) -> Footprint {
        Footprint::default()
    }
    fn holds(&self, _: DeviceId, _: ModelId) -> bool {
        true
    }
    fn truth(&self, _: RequestId) -> Option<Span> {
        None
    }
}

/// The policy with so many pending requests.
struct Queues {
    policy: Orloj,
    n: usize,
    slack: (u64, u64),
    /// Time between decisions: with batches of 16, requests wait for about half of their slack.
    gap: Span,
    now: Time,
    arrived: u64,
    pending: usize,
    draws: Stream,
    out: Actions,
}

impl Queues {
    fn new(queue: QueueForm, n: usize, slack: (u64, u64)) -> Queues {
        let config = Config { queue, ..(Config::PRESETS[0].make)() };
        let wait_ns = (slack.0 + slack.1) * NS_PER_MS / 4;
        Queues {
            policy: Orloj::new(config, &[profile()]),
            n,
            slack,
            gap: Span::from_ns(wait_ns * 16 / n as u64),
            now: Time::ZERO,
            arrived: 0,
            pending: 0,
            draws: Stream::named(1, "requests", 0),
            out: Actions::default(),
        }
    }

    /// Mean microseconds of a decision, with `n` pending before each.
    fn decide(&mut self, decisions: usize) -> f64 {
        let mut spent = 0.0;
        for _ in 0..decisions {
            while self.pending < self.n {
                self.arrive();
            }
            self.now += self.gap;
            let done = Event::Result {
                action: ActionId(0),
                device: DeviceId(0),
                outcome: Outcome::Done { start: self.now, end: self.now, device: Span::ZERO },
                requests: &[],
            };
            self.out.clear();
            let start = Instant::now();
            self.policy.on(self.now, done, &Known::new(&OneDevice), &mut self.out);
            spent += start.elapsed().as_secs_f64();
            let left = |action: &Action| match action {
                Action::Exec { requests, .. } => requests.len(),
                Action::End(..) => 1,
                _ => 0,
            };
            self.pending -= self.out.list().iter().map(left).sum::<usize>();
        }
        1e6 * spent / decisions as f64
    }

    fn arrive(&mut self) {
        let deadline = self.now + between(self.slack, &mut self.draws);
        let request = Request {
            id: RequestId(self.arrived),
            app: AppId(self.draws.below(3) as u32),
            model: ModelId(0),
            size: 1,
            source: SourceId(0),
            arrival: self.now,
            deadline,
        };
        self.arrived += 1;
        self.pending += 1;
        self.policy.on(self.now, Event::Arrive(&request), &Known::new(&OneDevice), &mut self.out);
    }
}

#[divan::bench(args = [10, 1_000, 10_000])]
fn fill_a_hull(bencher: Bencher, n: usize) {
    let points = points(n, NEAR, 1);
    bencher.bench_local(|| {
        let mut hull = Hull::default();
        points.iter().for_each(|p| _ = hull.insert(*p));
        hull.len()
    });
}
