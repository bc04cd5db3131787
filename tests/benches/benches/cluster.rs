//! Symphony on a cluster: whole runs near capacity with all metrics, drawing the arrivals included,
//! and how the cost of a request grows with GPUs and with models. Items are requests.
//!
//! The arrivals of all models are one Poisson stream, each request of a model drawn at random; it
//! costs what `source_alone` says.

use divan::Bencher;
use divan::counter::ItemsCount;
use orrery_benches::{Exponential, processor_time};
use orrery_sim::cluster::DeviceSpec;
use orrery_sim::driver::{World, simulate};
use orrery_sim::latency::Latency;
use orrery_sim::metrics::{Metrics, Window};
use orrery_sim::policy::symphony::{Config, Dispatch, Symphony};
use orrery_sim::profile::ModelProfile;
use orrery_sim::request::{AppId, Arrival, End, ModelId, Source};
use orrery_sim::rng::Stream;
use orrery_sim::time::{NS_PER_S, Span, Time};

const REQUESTS: u64 = 500_000;
/// The paper's large case.
const GPUS: usize = 64;
const MODELS: usize = 37;
/// Of what the GPUs could carry at batches of half the SLO.
const LOAD: f64 = 0.9;
/// Runs behind a printed line.
const RUNS: usize = 5;
const BY_GPUS: [usize; 5] = [8, 32, 128, 512, 2048];
const BY_MODELS: [usize; 4] = [1, 8, 64, 512];

fn main() {
    // Cargo says so; as a test, everything runs once and nothing is printed.
    if std::env::args().any(|arg| arg == "--bench") {
        println!("million requests in a second of processor time, the best of {RUNS} runs:");
        Case::zoo(GPUS, MODELS).tell("zoo", Config::released());
        let eager = Config { dispatch: Dispatch::Eager, ..Config::released() };
        Case::zoo(GPUS, MODELS).tell("zoo, eager", eager);
        for gpus in BY_GPUS {
            Case::growing(gpus, MODELS).tell("by GPUs", Config::released());
        }
        for models in BY_MODELS {
            Case::growing(GPUS, models).tell("by models", Config::released());
        }
    }
    divan::main();
}

/// A synthetic zoo: fixed costs from 2 to 12 ms, and one more request for a third to an eighteenth of
/// that. SLOs are as the paper's, twice the latency of a batch of four, but at least 20 ms.
fn zoo(models: usize) -> Vec<(Latency, Span)> {
    let model = |m: usize| {
        let beta = Span::from_us(2_000 + 270 * (m as u64 * 7 % 37));
        let alpha = Span::from_ns(beta.ns() / (3 + m as u64 % 16));
        let law = Latency::Affine { alpha, beta };
        let slo = (law.batch(4, Span::ZERO) * 2).max(Span::from_ms(20));
        (law, slo)
    };
    (0..models).map(model).collect()
}

struct Case {
    world: World,
    profiles: Vec<ModelProfile>,
    slos: Vec<Span>,
    rate_per_s: f64,
}

impl Case {
    /// The zoo as it is: more GPUs make larger batches, more models make smaller ones.
    fn zoo(gpus: usize, models: usize) -> Case {
        Case::new(gpus, zoo(models))
    }

    /// The zoo with SLOs that leave batches as large as they are, about eight: what a request costs
    /// then depends on the numbers of GPUs and models alone.
    fn growing(gpus: usize, models: usize) -> Case {
        let wait = 1.0 + models as f64 / (LOAD * gpus as f64);
        let slo = |(law, _): (Latency, Span)| {
            let slo = law.batch(8, Span::ZERO).scale(wait) + Span::from_ms(3);
            (law, slo)
        };
        Case::new(gpus, zoo(models).into_iter().map(slo).collect())
    }

    fn new(gpus: usize, zoo: Vec<(Latency, Span)>) -> Case {
        let models = zoo.len();
        let mut world = World::single(zoo[0].0.clone());
        world.core.devices = vec![DeviceSpec::default(); gpus];
        world.core.models = vec![Default::default(); models];
        world.latency = vec![zoo.iter().map(|z| z.0.clone()).collect()];
        let profile = |(law, slo): &(Latency, Span)| {
            ModelProfile::measure(law, *slo, &[1], 1, || (0, law.batch(1, Span::ZERO)), 1)
        };
        let profiles = zoo.iter().map(profile).collect();
        // Batches cannot be larger than a model's requests within half its SLO.
        let per_request = |rate: f64| -> f64 {
            let cost = |(law, slo): &(Latency, Span)| {
                let come = rate / models as f64 * slo.as_secs_f64() / 2.0;
                let fits = |b: &u32| law.batch(*b, Span::ZERO) * 2 <= *slo;
                let b = (1..500).take_while(fits).last().unwrap_or(1).min(1 + come as u32);
                law.batch(b, Span::ZERO).as_secs_f64() / f64::from(b)
            };
            zoo.iter().map(cost).sum::<f64>() / models as f64
        };
        let mut rate_per_s = 1.0;
        for _ in 0..100 {
            rate_per_s = 0.5 * (rate_per_s + LOAD * gpus as f64 / per_request(rate_per_s));
        }
        Case { world, profiles, slos: zoo.iter().map(|z| z.1).collect(), rate_per_s }
    }

    fn source(&self) -> Marked<'_> {
        let mut gap = Exponential::new("gaps", NS_PER_S as f64 / self.rate_per_s);
        let at = Time::ZERO + gap.draw();
        let marks = Stream::named(1, "models", 0);
        Marked { slos: &self.slos, gap, marks, left: REQUESTS, at }
    }

    fn run(&self, config: Config) -> Metrics {
        let policy = Symphony::new(config, &self.profiles);
        let metrics = Metrics::new(Window::default(), false);
        simulate(&self.world, vec![Box::new(self.source())], policy, metrics).observer
    }

    fn tell(&self, what: &str, config: Config) {
        let run = || {
            let before = processor_time();
            let metrics = self.run(config);
            (processor_time() - before, metrics)
        };
        let (spent, metrics) = (0..RUNS).map(|_| run()).min_by_key(|r| r.0).expect("a run");
        let total = metrics.total();
        let batches: u64 = metrics.batch_sizes().iter().sum();
        println!(
            "{what:10} {:5} GPUs {:4} models: {:5.2}  ({:.0} requests/s, {:.2} % in time, \
             batches of {:.1})",
            self.world.core.devices.len(),
            self.slos.len(),
            1e-6 * REQUESTS as f64 / spent.as_secs_f64(),
            self.rate_per_s,
            100.0 * total.ends[End::InTime.index()] as f64 / total.offered as f64,
            total.offered as f64 / batches as f64,
        );
    }

    fn bench(&self, bencher: Bencher<'_, '_>, config: Config) {
        bencher.counter(ItemsCount::new(REQUESTS)).bench_local(|| self.run(config));
    }
}

/// Poisson arrivals, each of a model drawn with equal chances.
struct Marked<'a> {
    slos: &'a [Span],
    gap: Exponential,
    marks: Stream,
    left: u64,
    at: Time,
}

impl Source for Marked<'_> {
    fn peek(&mut self) -> Option<Time> {
        (self.left > 0).then_some(self.at)
    }

    fn pop(&mut self) -> Option<Arrival> {
        let at = self.peek()?;
        self.left -= 1;
        self.at = at + self.gap.draw();
        let model = self.marks.below(self.slos.len() as u64) as usize;
        let (app, alone) = (AppId(model as u32), Span::ZERO);
        let slo = self.slos[model];
        Some(Arrival { at, app, model: ModelId(model as u32), size: 1, slo, alone })
    }
}

#[divan::bench(sample_count = 5)]
fn source_alone(bencher: Bencher) {
    let case = Case::zoo(GPUS, MODELS);
    bencher.counter(ItemsCount::new(REQUESTS)).bench_local(|| {
        let mut source = case.source();
        let mut sum = 0;
        while let Some(arrival) = source.pop() {
            sum += u64::from(arrival.model.0);
        }
        sum
    });
}

#[divan::bench(sample_count = 5)]
fn symphony(bencher: Bencher) {
    Case::zoo(GPUS, MODELS).bench(bencher, Config::released());
}

#[divan::bench(sample_count = 5)]
fn symphony_paper(bencher: Bencher) {
    Case::zoo(GPUS, MODELS).bench(bencher, Config::paper());
}

#[divan::bench(sample_count = 5)]
fn symphony_eager(bencher: Bencher) {
    let config = Config { dispatch: Dispatch::Eager, ..Config::released() };
    Case::zoo(GPUS, MODELS).bench(bencher, config);
}

#[divan::bench(args = BY_GPUS, sample_count = 5)]
fn by_gpus(bencher: Bencher, gpus: usize) {
    Case::growing(gpus, MODELS).bench(bencher, Config::released());
}

#[divan::bench(args = BY_MODELS, sample_count = 5)]
fn by_models(bencher: Bencher, models: usize) {
    Case::growing(GPUS, models).bench(bencher, Config::released());
}
