//! Symphony on a cluster: whole runs near capacity with all metrics, drawing the arrivals included,
//! and how the cost of a request grows with GPUs and with models. Items are requests.
//!
//! The arrivals of all models are one Poisson stream, each request of a model drawn at random; it
//! costs what `source_alone` says.

use divan::Bencher;
use divan::counter::ItemsCount;
use orrery_benches::Exponential;
use orrery_sim::cluster::DeviceSpec;
use orrery_sim::driver::{World, simulate};
use orrery_sim::latency::Latency;
use orrery_sim::metrics::{BatchMeans, Metrics, TimeSeries, Window};
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

fn main() {
    // Cargo says so; as a test, everything runs once and nothing is printed.
    if std::env::args().any(|arg| arg == "--bench") {
        for (gpus, models) in [(GPUS, MODELS), (2048, MODELS), (GPUS, 512)] {
            let case = Case::new(gpus, models);
            let metrics = case.run(Config::released());
            let (total, sizes) = (metrics.total(), metrics.batch_sizes());
            let in_time = total.ends[End::InTime.index()] as f64 / total.offered as f64;
            let batches: u64 = sizes.iter().sum();
            println!(
                "{gpus} GPUs, {models} models: {:.0} requests/s offered, {:.2} % in time, \
                 mean batch {:.1}",
                case.rate_per_s,
                100.0 * in_time,
                total.offered as f64 / batches as f64,
            );
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
    fn new(gpus: usize, models: usize) -> Case {
        let zoo = zoo(models);
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

#[divan::bench]
fn source_alone(bencher: Bencher) {
    let case = Case::new(GPUS, MODELS);
    bencher.counter(ItemsCount::new(REQUESTS)).bench_local(|| {
        let mut source = case.source();
        let mut sum = 0;
        while let Some(arrival) = source.pop() {
            sum += u64::from(arrival.model.0);
        }
        sum
    });
}

#[divan::bench]
fn symphony(bencher: Bencher) {
    Case::new(GPUS, MODELS).bench(bencher, Config::released());
}

#[divan::bench]
fn symphony_paper(bencher: Bencher) {
    Case::new(GPUS, MODELS).bench(bencher, Config::paper());
}

#[divan::bench]
fn symphony_eager(bencher: Bencher) {
    let config = Config { dispatch: Dispatch::Eager, ..Config::released() };
    Case::new(GPUS, MODELS).bench(bencher, config);
}

#[divan::bench]
fn symphony_with_time_series(bencher: Bencher) {
    let case = Case::new(GPUS, MODELS);
    bencher.counter(ItemsCount::new(REQUESTS)).bench_local(|| {
        let policy = Symphony::new(Config::released(), &case.profiles);
        let all = (Metrics::default(), (BatchMeans::default(), TimeSeries::default()));
        simulate(&case.world, vec![Box::new(case.source())], policy, all).end
    });
}

#[divan::bench(args = [8, 32, 128, 512, 2048])]
fn by_gpus(bencher: Bencher, gpus: usize) {
    Case::new(gpus, MODELS).bench(bencher, Config::released());
}

#[divan::bench(args = [1, 8, 64, 512])]
fn by_models(bencher: Bencher, models: usize) {
    Case::new(GPUS, models).bench(bencher, Config::released());
}
