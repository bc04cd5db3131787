//! What the laws share: laws of times, a renewal source, observers that estimate with an error, two
//! small policies and the closed forms' arithmetic. No law is stated here.

use libm::exp;
use orrery_sim::cluster::DeviceSpec;
use orrery_sim::det::Det;
use orrery_sim::driver::{World, simulate};
use orrery_sim::latency::Latency;
use orrery_sim::observer::Observer;
use orrery_sim::policy::fifo::{Config, Fifo};
use orrery_sim::policy::{Actions, Event, Exec, Known, Policy, TimerKey};
use orrery_sim::request::{AppId, Arrival, DeviceId, Drop, End, ModelId};
use orrery_sim::request::{Request, RequestId, Source};
use orrery_sim::rng::{Stream, fnv1a};
use orrery_sim::time::{NS_PER_MS, Span, Time};
use rand_distr::{Distribution, Exp1, Gamma, LogNormal};
use std::collections::VecDeque;

/// Whether the laws are watched for as long as it takes to see half a percent:
/// `ORRERY_WHOLE=1 cargo test --release -p orrery-sim --test laws`.
pub const WHOLE: bool = option_env!("ORRERY_WHOLE").is_some();
/// Requests of a law that is met in the mean.
pub const REQUESTS: u64 = match (WHOLE, cfg!(debug_assertions)) {
    (true, _) => 10_000_000,
    (false, false) => 1_000_000,
    (false, true) => 200_000,
};
/// The mean service time: the unit of every closed form here. Rounding to whole nanoseconds changes
/// it by less than one part in a million.
pub const MS: f64 = NS_PER_MS as f64;
/// Blocks of a run whose means give the error of the mean over the run. Each is hundreds of times
/// longer than a queue remembers, so their means are independent.
const BLOCKS: u64 = 64;
/// A law that is met only within a wide error says nothing: an error (one sigma) above this share
/// of the truth fails the test.
const COARSEST: f64 = match (WHOLE, cfg!(debug_assertions)) {
    (true, _) => 0.005,
    (false, false) => 0.02,
    (false, true) => 0.04,
};

/// A law of times, with mean 1.
#[derive(Clone, Copy, Debug)]
pub enum Law {
    /// Always 1.
    Constant,
    Exponential,
    /// 3·Exp with probability 1/5, otherwise Exp/2.
    Hyperexponential,
    /// Of this shape.
    Gamma(f64),
    /// Of this deviation of the logarithm.
    Lognormal(f64),
}

impl Law {
    /// The mean of the square.
    pub fn second_moment(self) -> f64 {
        match self {
            Law::Constant => 1.0,
            Law::Exponential => 2.0,
            Law::Hyperexponential => 2.0 * (0.2 * 9.0 + 0.8 * 0.25),
            Law::Gamma(shape) => 1.0 + 1.0 / shape,
            Law::Lognormal(sigma) => exp(sigma * sigma),
        }
    }

    fn draw(self, stream: &mut Stream) -> f64 {
        let exponential = |stream: &mut Stream| {
            let x: Det = Exp1.sample(stream);
            x.0
        };
        match self {
            Law::Constant => 1.0,
            Law::Exponential => exponential(stream),
            Law::Hyperexponential => {
                let mean = if stream.uniform() < 0.2 { 3.0 } else { 0.5 };
                mean * exponential(stream)
            }
            Law::Gamma(shape) => {
                Gamma::new(Det(shape), Det(1.0 / shape)).expect("a shape").sample(stream).0
            }
            Law::Lognormal(sigma) => {
                let mu = -sigma * sigma / 2.0;
                LogNormal::new(Det(mu), Det(sigma)).expect("a deviation").sample(stream).0
            }
        }
    }
}

/// Independent times of one law.
struct Times {
    law: Law,
    mean_ns: f64,
    stream: Stream,
}

impl Times {
    fn new(purpose: &str, queue: &str, law: Law, mean_ns: f64) -> Times {
        Times { law, mean_ns, stream: Stream::named(1, purpose, fnv1a(queue)) }
    }

    fn next(&mut self) -> Span {
        Span::from_ns_f64(self.mean_ns * self.law.draw(&mut self.stream))
    }
}

/// Arrivals at independent intervals: `M` or `D` on the left of Kendall's notation.
pub struct Renewal {
    queue: &'static str,
    gap: Times,
    service: Times,
    patience: Option<Times>,
    left: u64,
    at: Time,
}

impl Renewal {
    /// Poisson arrivals, `per_ms` of them in the mean service time. The queue's name names its
    /// random streams, so that the laws are independent of each other.
    pub fn poisson(queue: &'static str, per_ms: f64, service: Law) -> Renewal {
        let mut gap = Times::new("gaps", queue, Law::Exponential, MS / per_ms);
        let at = Time::ZERO + gap.next();
        let service = Times::new("service", queue, service, MS);
        Renewal { queue, gap, service, patience: None, left: REQUESTS, at }
    }

    /// The same with an SLO: how long each client is ready to wait.
    pub fn with_patience(mut self, law: Law, mean_ms: f64) -> Renewal {
        self.patience = Some(Times::new("patience", self.queue, law, mean_ms * MS));
        self
    }
}

impl Source for Renewal {
    fn peek(&mut self) -> Option<Time> {
        (self.left > 0).then_some(self.at)
    }

    fn pop(&mut self) -> Option<Arrival> {
        let at = self.peek()?;
        self.left -= 1;
        self.at = at + self.gap.next();
        let slo = self.patience.as_mut().map_or(Span::MAX, Times::next);
        let alone = self.service.next();
        Some(Arrival { at, app: AppId(0), model: ModelId(0), size: 1, slo, alone })
    }
}

/// A mean and the standard deviation of its error.
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    pub mean: f64,
    pub sigma: f64,
}

impl Estimate {
    fn of(block_means: &[f64]) -> Estimate {
        let n = block_means.len() as f64;
        let mean = block_means.iter().sum::<f64>() / n;
        let squares = block_means.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
        Estimate { mean, sigma: (squares / (n - 1.0) / n).sqrt() }
    }

    /// Fails unless the truth is within four sigma, and unless a sigma is small.
    pub fn agrees_with(self, truth: f64, what: &str) {
        let off = (self.mean - truth) / self.sigma;
        let share = self.sigma / truth;
        println!(
            "{what:<44} {:>10.6} law {truth:>10.6} {off:>+6.2} sigma of {:.3} %",
            self.mean,
            share * 100.0
        );
        assert!(off.abs() <= 4.0, "{what}: {} against {truth}: {off:+.1} sigma", self.mean);
        assert!(share <= COARSEST, "{what}: a sigma of {} % decides nothing", share * 100.0);
    }
}

/// Means over blocks of requests.
#[derive(Clone, Debug, Default)]
struct Blocks {
    sum: f64,
    seen: u64,
    means: Vec<f64>,
}

impl Blocks {
    #[inline]
    fn add(&mut self, x: f64) {
        self.sum += x;
        self.seen += 1;
        if self.seen == REQUESTS / BLOCKS {
            self.means.push(self.sum / self.seen as f64);
            (self.sum, self.seen) = (0.0, 0);
        }
    }
}

/// How a request ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Arrival to the start of its batch, ms; `None` when it was never served.
    pub wait_ms: Option<f64>,
    /// Arrival to end, ms.
    pub sojourn_ms: f64,
    pub end: End,
}

impl Ended {
    pub fn waited_longer_than(self, ms: f64) -> bool {
        self.wait_ms.is_some_and(|w| w > ms)
    }
}

/// Estimates the mean over requests of `K` figures, in the order in which requests end.
pub struct PerRequest<F, const K: usize> {
    figures: F,
    blocks: [Blocks; K],
}

impl<F: Fn(Ended) -> [f64; K], const K: usize> PerRequest<F, K> {
    pub fn new(figures: F) -> Self {
        PerRequest { figures, blocks: std::array::from_fn(|_| Blocks::default()) }
    }

    pub fn estimates(&self) -> [Estimate; K] {
        std::array::from_fn(|k| {
            assert_eq!(self.blocks[k].means.len() as u64, BLOCKS, "every request has ended");
            Estimate::of(&self.blocks[k].means)
        })
    }
}

impl<F: Fn(Ended) -> [f64; K], const K: usize> Observer for PerRequest<F, K> {
    #[inline]
    fn ended(&mut self, now: Time, request: &Request, end: End, start: Option<Time>) {
        let ms = |t: Time| (t - request.arrival).as_ms_f64();
        let ended = Ended { wait_ms: start.map(ms), sojourn_ms: ms(now), end };
        for (block, x) in self.blocks.iter_mut().zip((self.figures)(ended)) {
            block.add(x);
        }
    }
}

/// Estimates the mean over time of the number of requests in the system.
pub struct InSystem {
    block: Span,
    block_ends: Time,
    changed: Time,
    number: u64,
    integral: f64,
    means: Vec<f64>,
}

impl InSystem {
    /// For `REQUESTS` arrivals at this rate; the last block may be cut short and is left out.
    pub fn new(arrivals_per_ms: f64) -> InSystem {
        let block = Span::from_ns_f64(REQUESTS as f64 * MS / arrivals_per_ms / BLOCKS as f64);
        let block_ends = Time::ZERO + block;
        let (changed, means) = (Time::ZERO, Vec::new());
        InSystem { block, block_ends, changed, number: 0, integral: 0.0, means }
    }

    pub fn estimate(&self) -> Estimate {
        assert!(self.means.len() as u64 >= BLOCKS - 2);
        Estimate::of(&self.means)
    }

    #[inline]
    fn step(&mut self, now: Time) {
        while now >= self.block_ends {
            self.count_until(self.block_ends);
            self.means.push(self.integral / self.block.ns() as f64);
            self.integral = 0.0;
            self.block_ends += self.block;
        }
        self.count_until(now);
    }

    #[inline]
    fn count_until(&mut self, now: Time) {
        self.integral += (now - self.changed).ns() as f64 * self.number as f64;
        self.changed = now;
    }
}

impl Observer for InSystem {
    #[inline]
    fn arrived(&mut self, now: Time, _request: &Request) {
        self.step(now);
        self.number += 1;
    }

    #[inline]
    fn ended(&mut self, now: Time, _: &Request, _: End, _: Option<Time>) {
        self.step(now);
        self.number -= 1;
    }
}

/// `c` equal devices and one model, whose batch of one takes what its request takes alone.
pub fn servers(c: usize) -> World {
    let mut world = World::single(Latency::Proportional { c1: 0.5 });
    world.core.devices = vec![DeviceSpec::default(); c];
    world
}

/// First in, first out, one at a time, for ever patient.
pub fn fifo() -> Fifo {
    Fifo::new(Config { max_batch: 1, drop_expired: false })
}

/// Runs to the end of the arrivals and of the work; returns the observer.
pub fn run<P: Policy, O: Observer>(world: &World, source: Renewal, policy: P, observer: O) -> O {
    let finished = simulate(world, vec![Box::new(source)], policy, observer);
    assert_eq!(finished.failure, None);
    finished.observer
}

/// A loss system: a request is served at once or not at all.
#[derive(Default)]
pub struct Loss {
    free: Vec<DeviceId>,
}

impl Policy for Loss {
    fn name(&self) -> String {
        "loss".into()
    }

    fn on(&mut self, _: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Start => self.free = known.devices().iter().map(|d| d.id).collect(),
            Event::Arrive(request) => match self.free.pop() {
                Some(device) => {
                    out.exec(Exec::now(device, request.model), &[request.id]);
                }
                None => out.end(request.id, Drop::Shed),
            },
            Event::Result { device, .. } => self.free.push(device),
            Event::Timer(_) | Event::Profiled { .. } | Event::Device(..) => {}
        }
    }
}

/// First in, first out, and whoever still waits at the deadline leaves at that instant: a timer for
/// each request that waits.
#[derive(Default)]
pub struct Impatient {
    free: Vec<DeviceId>,
    waiting: VecDeque<(RequestId, ModelId)>,
}

impl Policy for Impatient {
    fn name(&self) -> String {
        "impatient".into()
    }

    fn on(&mut self, _: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Start => self.free = known.devices().iter().map(|d| d.id).collect(),
            Event::Arrive(r) => match self.free.pop() {
                Some(device) => {
                    out.exec(Exec::now(device, r.model), &[r.id]);
                }
                None => {
                    self.waiting.push_back((r.id, r.model));
                    out.set_timer(TimerKey(r.id.0), r.deadline);
                }
            },
            Event::Result { device, .. } => match self.waiting.pop_front() {
                Some((id, model)) => {
                    out.clear_timer(TimerKey(id.0));
                    out.exec(Exec::now(device, model), &[id]);
                }
                None => self.free.push(device),
            },
            Event::Timer(key) => {
                self.waiting.retain(|w| w.0.0 != key.0);
                out.end(RequestId(key.0), Drop::Expired);
            }
            Event::Profiled { .. } | Event::Device(..) => {}
        }
    }
}

/// Erlang's B: the share lost of `a` erlangs offered to `c` servers.
pub fn erlang_b(c: u32, a: f64) -> f64 {
    (1..=c).fold(1.0, |b, k| a * b / (f64::from(k) + a * b))
}

/// Erlang's C: the share that waits of `a` erlangs offered to `c` servers with a queue.
pub fn erlang_c(c: u32, a: f64) -> f64 {
    let b = erlang_b(c, a);
    let rho = a / f64::from(c);
    b / (1.0 - rho + rho * b)
}

/// 1 or 0: the mean of it is a probability.
pub fn share(is: bool) -> f64 {
    f64::from(u8::from(is))
}
