//! Clockwork where models come and go: whole runs without an observer, drawing the arrivals included.
//! Items are requests.
//!
//! - `azure`: 4,026 models on 12 GPUs that hold half of them (the paper's Fig. 9), with calls as skewed
//!   as those of Azure's functions. Copies of one light model get most of them.
//! - `infer5`: the same with the released scheduler's loads, which are many more; the others have the paper's.
//! - `shuffled`: the calls dealt to all models alike: more than the GPUs can serve.
//! - `cold`: one GPU and copies that become active one after the other (Fig. 6), ten times as fast.
//!
//! The zoo has the sizes of the paper's and none of its models.

use divan::Bencher;
use divan::counter::ItemsCount;
use orrery_benches::{Exponential, processor_time};
use orrery_sim::cluster::{DeviceSpec, Footprint};
use orrery_sim::core::CoreSpec;
use orrery_sim::driver::{World, simulate};
use orrery_sim::latency::Latency;
use orrery_sim::observer::{Batch, Observer};
use orrery_sim::policy::clockwork::{Clockwork, Config, LoadRule};
use orrery_sim::policy::{Action, Actions, Event, Known, Policy};
use orrery_sim::profile::ModelProfile;
use orrery_sim::request::{AppId, Arrival, End, ModelId, Request, Source};
use orrery_sim::rng::Stream;
use orrery_sim::time::{NS_PER_S, Span, Time};

/// Memory of a V100 in the paper, in pages of 16 MiB.
const PAGES: u32 = 1_376;
const MODELS: usize = 61;
const COPIES: usize = 66;
const SLO: Span = Span::from_ms(100);
/// Runs behind a printed line.
const RUNS: usize = 3;
const CASES: [&str; 4] = ["azure", "infer5", "shuffled", "cold"];

fn main() {
    // Cargo says so; as a test, everything runs once and nothing is printed.
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [name, once] = &args[..]
        && once == "once"
    {
        // To count its instructions.
        let (counts, loads) = Case::new(name).run();
        println!("{} in time, {} batches, {loads} loads", counts.in_time, counts.batches);
        return;
    }
    if args.iter().any(|arg| arg == "--bench") {
        println!("million requests in a second of processor time, the best of {RUNS} runs:");
        // A case's name alone tells of that case.
        let one = |name: &&&str| args.iter().any(|arg| arg == **name);
        let all = !CASES.iter().any(|name| one(&name));
        CASES.iter().filter(|name| all || one(name)).for_each(|name| Case::new(name).tell(name));
    }
    divan::main();
}

/// A model of the zoo: latencies at 1, 2, 4, 8 and 16, and what it needs of a memory. The first is a
/// light one; the others take up to 12 ms alone and 2 to 14 pages.
fn model(m: usize) -> (Latency, Footprint) {
    let alone = if m == 0 { 1_270 } else { 1_000 + 180 * (m as u64 * 7 % MODELS as u64) };
    let pages = if m == 0 { 5 } else { 2 + (m as u32 * 11) % 13 };
    let grown = [(1, 100), (2, 140), (4, 210), (8, 330), (16, 600)];
    let at = |(size, percent)| (size, Span::from_us(alone * percent / 100));
    let load = Span::from_us(1_370) * u64::from(pages);
    (Latency::Table(grown.map(at).to_vec()), Footprint { pages, load })
}

/// Which model a request asks for.
#[derive(Clone)]
enum Calls {
    /// Each by its weight, as a table of (threshold, other model).
    Weighted(Vec<(u64, u32)>),
    /// Model 0 has a sixth; the others share the rest, ten more of them active each second.
    Growing,
}

impl Calls {
    /// Walker's alias table.
    fn weighted(weights: &[f64]) -> Calls {
        let scale = weights.len() as f64 / weights.iter().sum::<f64>();
        let mut share: Vec<f64> = weights.iter().map(|w| w * scale).collect();
        let mut table = vec![(u64::MAX, 0); weights.len()];
        let (mut low, mut high): (Vec<usize>, Vec<usize>) =
            (0..weights.len()).partition(|&i| share[i] < 1.0);
        while let (Some(l), Some(&h)) = (low.pop(), high.last()) {
            table[l] = ((share[l] * u64::MAX as f64) as u64, h as u32);
            share[h] -= 1.0 - share[l];
            if share[h] < 1.0 {
                high.pop();
                low.push(h);
            }
        }
        Calls::Weighted(table)
    }
}

struct Case {
    config: Config,
    world: World,
    profiles: Vec<ModelProfile>,
    calls: Calls,
    rate_per_s: f64,
    requests: u64,
}

impl Case {
    fn new(name: &str) -> Case {
        // The busiest of the first model's copies has about 28 % of all calls, all of them 92 %.
        let head = |i: usize| libm::pow(1.0 + i as f64, -1.2) / 3.23;
        let tail = |i: usize| libm::pow(1.0 + i as f64, -1.2) / 4.6;
        let weight = |i: usize| if i < COPIES { 0.92 * head(i) } else { 0.08 * tail(i - COPIES) };
        let mut weights: Vec<f64> = (0..MODELS * COPIES).map(weight).collect();
        match name {
            "cold" => {
                let zoo =
                    vec![(model(0).0, Footprint { pages: 7, load: Span::from_us(8_320) }); 3_601];
                let calls = Calls::Growing;
                Case::of(zoo, 1, calls, 1_200.0, 432_000)
            }
            "shuffled" => {
                let mut rng = Stream::named(1, "shuffle", 0);
                for i in (1..weights.len()).rev() {
                    weights.swap(i, rng.below(i as u64 + 1) as usize);
                }
                weights.iter_mut().for_each(|w| *w = w.sqrt());
                Case::of(Case::zoo(), 12, Calls::weighted(&weights), 9_700.0, 300_000)
            }
            _ => {
                let case = Case::of(Case::zoo(), 12, Calls::weighted(&weights), 9_700.0, 600_000);
                let loads = if name == "infer5" { LoadRule::Infer5 } else { LoadRule::Paper };
                Case { config: Config { loads, ..case.config }, ..case }
            }
        }
    }

    /// All copies of a model together, as in the paper's list.
    fn zoo() -> Vec<(Latency, Footprint)> {
        (0..MODELS * COPIES).map(|i| model(i / COPIES)).collect()
    }

    fn of(
        zoo: Vec<(Latency, Footprint)>,
        gpus: usize,
        calls: Calls,
        rate_per_s: f64,
        requests: u64,
    ) -> Case {
        let profile = |(law, _): &(Latency, Footprint)| {
            ModelProfile::measure(law, SLO, &[1, 2, 4, 8, 16], 1, || (0, Span::ZERO), 1)
        };
        let profiles = zoo.iter().map(profile).collect();
        let device = DeviceSpec { memory_pages: Some(PAGES), ..DeviceSpec::default() };
        let world = World {
            core: CoreSpec {
                devices: vec![device; gpus],
                models: zoo.iter().map(|z| z.1).collect(),
                ..CoreSpec::default()
            },
            latency: vec![zoo.into_iter().map(|z| z.0).collect()],
            ..World::default()
        };
        Case {
            config: Config { loads: LoadRule::Paper, ..Config::released() },
            world,
            profiles,
            calls,
            rate_per_s,
            requests,
        }
    }

    fn source(&self) -> Marked<'_> {
        let mut gap = Exponential::new("gaps", NS_PER_S as f64 / self.rate_per_s);
        let at = Time::ZERO + gap.draw();
        let marks = Stream::named(1, "models", 0);
        Marked { calls: &self.calls, gap, marks, left: self.requests, at }
    }

    fn run(&self) -> (Counts, u64) {
        let policy = Counting { policy: Clockwork::new(self.config, &self.profiles), loads: 0 };
        let source = Box::new(self.source());
        let finished = simulate(&self.world, vec![source], policy, Counts::default());
        (finished.observer, finished.policy.loads)
    }

    fn tell(&self, what: &str) {
        let run = || {
            let before = processor_time();
            let counts = self.run();
            (processor_time() - before, counts)
        };
        let (spent, (counts, loads)) = (0..RUNS).map(|_| run()).min_by_key(|r| r.0).expect("a run");
        let (requests, seconds) = (self.requests as f64, self.requests as f64 / self.rate_per_s);
        println!(
            "{what:10} {:2} GPUs {:4} models: {:5.3}  ({:.2} % in time, batches of {:.1}, {:.0} \
             loads/s)",
            self.world.core.devices.len(),
            self.profiles.len(),
            1e-6 * requests / spent.as_secs_f64(),
            100.0 * counts.in_time as f64 / requests,
            counts.served as f64 / counts.batches as f64,
            loads as f64 / seconds,
        );
    }
}

/// A policy, and how many loads it asked for.
struct Counting {
    policy: Clockwork,
    loads: u64,
}

impl Policy for Counting {
    fn name(&self) -> String {
        self.policy.name()
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        self.policy.on(now, event, known, out);
        self.loads += out.list().iter().filter(|a| matches!(a, Action::Load { .. })).count() as u64;
    }
}

/// The plain counter that a run without statistics is watched by.
#[derive(Default)]
struct Counts {
    in_time: u64,
    served: u64,
    batches: u64,
}

impl Observer for Counts {
    fn issued(&mut self, _: Time, batch: &Batch<'_>) {
        self.batches += 1;
        self.served += batch.requests.len() as u64;
    }

    fn ended(&mut self, _: Time, _: &Request, end: End, _: Option<Time>) {
        self.in_time += u64::from(end == End::InTime);
    }
}

/// Poisson arrivals of models drawn by [`Calls`].
struct Marked<'a> {
    calls: &'a Calls,
    gap: Exponential,
    marks: Stream,
    left: u64,
    at: Time,
}

impl Marked<'_> {
    fn draw(&mut self) -> u32 {
        match self.calls {
            Calls::Weighted(table) => {
                let at = self.marks.below(table.len() as u64) as usize;
                let (threshold, other) = table[at];
                if self.marks.below(u64::MAX) < threshold { at as u32 } else { other }
            }
            Calls::Growing if self.marks.below(6) == 0 => 0,
            Calls::Growing => {
                let active = 1 + 10 * self.at.ns() / NS_PER_S;
                1 + self.marks.below(active.min(3_600)) as u32
            }
        }
    }
}

impl Source for Marked<'_> {
    fn peek(&mut self) -> Option<Time> {
        (self.left > 0).then_some(self.at)
    }

    fn pop(&mut self) -> Option<Arrival> {
        let at = self.peek()?;
        let model = ModelId(self.draw());
        self.left -= 1;
        self.at = at + self.gap.draw();
        Some(Arrival { at, app: AppId(0), model, size: 1, slo: SLO, alone: Span::ZERO })
    }
}

#[divan::bench(args = CASES, sample_count = 3)]
fn source_alone(bencher: Bencher, name: &str) {
    let case = Case::new(name);
    bencher.counter(ItemsCount::new(case.requests)).bench_local(|| {
        let mut source = case.source();
        let mut sum = 0;
        while let Some(arrival) = source.pop() {
            sum += u64::from(arrival.model.0);
        }
        sum
    });
}

#[divan::bench(args = CASES, sample_count = 3)]
fn run(bencher: Bencher, name: &str) {
    let case = Case::new(name);
    bencher.counter(ItemsCount::new(case.requests)).bench_local(|| case.run());
}
