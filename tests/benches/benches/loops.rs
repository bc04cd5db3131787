//! Simulator against simulator: the same queue as four programs, on the same variates.
//!
//! Poisson arrivals at load 0.8, one server, one constant time of service, first come, first served
//! (M/D/1); each program keeps the latencies of all requests in the same histogram.
//!
//! - `simcore`: simcore 0.1 with three components that send each other events: the client, the scheduler
//!   and the device, as one would write it; logging off.
//! - `by hand`: a heap of two kinds of events, a queue and the histogram; the least that it can cost.
//! - `orrery, bare`: a run with a policy (`fifo[max_batch=1]`) and the histogram as its only observer.
//! - `orrery, whole`: the run of `orrery run`, with all metrics, intervals and time series.
//!
//! `cargo bench -p orrery-benches --features run --bench loops` runs them in turns; with a name and a number of requests
//! the program runs that one alone, so that its instructions can be counted.

use orrery_benches::{Exponential, processor_time};
use orrery_sim::driver::{World, ready, simulate};
use orrery_sim::latency::Latency;
use orrery_sim::metrics::{Metrics, Sketch};
use orrery_sim::observer::Observer;
use orrery_sim::policy::Policy;
use orrery_sim::policy::fifo::{Config, Fifo};
use orrery_sim::request::{AppId, Arrival, End, ModelId, Request, Source};
use orrery_sim::time::{NS_PER_MS, Span, Time};

const REQUESTS: usize = 1_000_000;
const ROUNDS: usize = 9;
const SERVICE: Span = Span::from_ms(1);
const LOAD: f64 = 0.8;

/// A program: it takes the gaps between arrivals, and gives the latencies.
type Program = fn(&[Span]) -> Sketch;

const PROGRAMS: [(&str, Program); 4] = [
    ("simcore", simcore_0_1::run),
    ("by hand", by_hand::run),
    ("orrery, bare", bare),
    ("orrery, whole", whole),
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [name, requests, ..] = &args[..]
        && let Some((_, program)) = PROGRAMS.iter().find(|p| p.0 == name)
    {
        let latencies = program(&gaps(requests.parse().expect("a number of requests")));
        println!("{} requests, mean latency {}", latencies.count(), latencies.mean());
    } else {
        // Cargo says so; as a test, everything runs once and nothing is measured.
        compare(args.iter().any(|arg| arg == "--bench"));
    }
}

fn gaps(requests: usize) -> Vec<Span> {
    let mut law = Exponential::new("gaps", NS_PER_MS as f64 / LOAD);
    (0..requests).map(|_| law.draw()).collect()
}

/// Runs all programs in turns; they must agree.
fn compare(measured: bool) {
    let gaps = gaps(if measured { REQUESTS } else { 1_000 });
    let mut times = [const { Vec::new() }; PROGRAMS.len()];
    let mut mean = None;
    for _ in 0..if measured { ROUNDS } else { 1 } {
        for ((_, program), times) in PROGRAMS.iter().zip(&mut times) {
            let before = processor_time();
            let latencies = program(&gaps);
            times.push((processor_time() - before).as_secs_f64());
            // Simcore's times are floats: the last nanosecond of a mean may differ.
            let found = latencies.mean().ns();
            assert!(found.abs_diff(*mean.get_or_insert(found)) <= 1, "the programs disagree");
        }
    }
    if !measured {
        return;
    }
    let median = |list: &mut Vec<f64>| {
        list.sort_by(f64::total_cmp);
        list[list.len() / 2]
    };
    let medians = times.each_mut().map(median);
    println!("million requests in a second of processor time, median of {ROUNDS} runs in turns:");
    for ((name, _), seconds) in PROGRAMS.iter().zip(medians) {
        let rate = 1e-6 * gaps.len() as f64 / seconds;
        println!("{name:15} {rate:6.2}  {:5.2} times simcore", medians[0] / seconds);
    }
}

/// The arrivals of all gaps.
struct Arrivals<'a> {
    gaps: &'a [Span],
    at: Time,
}

impl<'a> Arrivals<'a> {
    fn new(gaps: &'a [Span]) -> Arrivals<'a> {
        Arrivals { gaps, at: Time::ZERO }
    }
}

impl Source for Arrivals<'_> {
    fn peek(&mut self) -> Option<Time> {
        Some(self.at + *self.gaps.first()?)
    }

    fn pop(&mut self) -> Option<Arrival> {
        let at = self.peek()?;
        (self.at, self.gaps) = (at, &self.gaps[1..]);
        let slo = Span::from_ms(10);
        Some(Arrival { at, app: AppId(0), model: ModelId(0), size: 1, slo, alone: SERVICE })
    }
}

fn world() -> World {
    World::single(Latency::Affine { alpha: Span::ZERO, beta: SERVICE })
}

fn fifo() -> Box<dyn Policy> {
    Box::new(Fifo::new(Config { max_batch: 1, drop_expired: false }))
}

#[derive(Default)]
struct Latencies(Sketch);

impl Observer for Latencies {
    fn ended(&mut self, now: Time, request: &Request, _: End, _: Option<Time>) {
        self.0.record(now - request.arrival);
    }
}

fn bare(gaps: &[Span]) -> Sketch {
    let world = world();
    let source = Box::new(Arrivals::new(gaps));
    simulate(&world, vec![source], fifo(), Latencies::default()).observer.0
}

fn whole(gaps: &[Span]) -> Sketch {
    let world = world();
    let observer = (Metrics::default(), ());
    let run = ready::watched(&world, vec![Box::new(Arrivals::new(gaps))], fifo(), observer);
    run.observer.0.total().latency
}

mod by_hand {
    use super::*;
    use std::cmp::Reverse;
    use std::collections::{BinaryHeap, VecDeque};

    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    enum Happens {
        Departure,
        Arrival,
    }

    pub fn run(gaps: &[Span]) -> Sketch {
        let mut latencies = Sketch::default();
        let mut events = BinaryHeap::new();
        let mut waiting = VecDeque::new();
        let mut gaps = gaps.iter();
        let mut arrive = |events: &mut BinaryHeap<_>, now: Time| {
            events.extend(gaps.next().map(|&gap| Reverse((now + gap, Happens::Arrival))));
        };
        arrive(&mut events, Time::ZERO);
        while let Some(Reverse((now, event))) = events.pop() {
            match event {
                Happens::Arrival => {
                    arrive(&mut events, now);
                    waiting.push_back(now);
                }
                Happens::Departure => {
                    let arrived = waiting.pop_front().expect("it was served");
                    latencies.record(now - arrived);
                }
            }
            let begins = match event {
                Happens::Arrival => waiting.len() == 1,
                Happens::Departure => !waiting.is_empty(),
            };
            if begins {
                events.push(Reverse((now + SERVICE, Happens::Departure)));
            }
        }
        latencies
    }
}

mod simcore_0_1 {
    use super::*;
    use serde::Serialize;
    use simcore::{Event, EventHandler, Id, Simulation, SimulationContext};
    use std::cell::RefCell;
    use std::collections::VecDeque;
    use std::rc::Rc;

    /// The client's next request is due.
    #[derive(Clone, Serialize)]
    struct Due;
    /// A request reaches the scheduler, which was sent at this time.
    #[derive(Clone, Serialize)]
    struct Sent(f64);
    /// A request reaches the device.
    #[derive(Clone, Serialize)]
    struct Start;
    /// The device has ended it.
    #[derive(Clone, Serialize)]
    struct Done;

    struct Client {
        context: SimulationContext,
        scheduler: Id,
        gaps_ms: std::vec::IntoIter<f64>,
    }

    impl Client {
        fn send_next(&mut self) {
            if let Some(gap) = self.gaps_ms.next() {
                self.context.emit_self(Due, gap);
            }
        }
    }

    impl EventHandler for Client {
        fn on(&mut self, _: Event) {
            self.context.emit_now(Sent(self.context.time()), self.scheduler);
            self.send_next();
        }
    }

    struct Scheduler {
        context: SimulationContext,
        device: Id,
        /// When each was sent, the one in service included.
        waiting: VecDeque<f64>,
        latencies: Sketch,
    }

    impl EventHandler for Scheduler {
        fn on(&mut self, event: Event) {
            let starts = if let Some(&Sent(at)) = event.data.downcast_ref::<Sent>() {
                self.waiting.push_back(at);
                self.waiting.len() == 1
            } else {
                let sent = self.waiting.pop_front().expect("it was served");
                self.latencies.record(Span::from_ms_f64(event.time - sent));
                !self.waiting.is_empty()
            };
            if starts {
                self.context.emit_now(Start, self.device);
            }
        }
    }

    struct Device {
        context: SimulationContext,
        scheduler: Id,
    }

    impl EventHandler for Device {
        fn on(&mut self, _: Event) {
            self.context.emit(Done, self.scheduler, SERVICE.as_ms_f64());
        }
    }

    pub fn run(gaps: &[Span]) -> Sketch {
        let mut simulation = Simulation::new(1);
        let [client, scheduler, device] =
            ["client", "scheduler", "device"].map(|name| simulation.create_context(name));
        let (to_scheduler, to_device) = (scheduler.id(), device.id());
        let gaps_ms: Vec<f64> = gaps.iter().map(|gap| gap.as_ms_f64()).collect();
        let mut client =
            Client { context: client, scheduler: to_scheduler, gaps_ms: gaps_ms.into_iter() };
        client.send_next();
        let (waiting, latencies) = (VecDeque::new(), Sketch::default());
        let scheduler = Scheduler { context: scheduler, device: to_device, waiting, latencies };
        let scheduler = Rc::new(RefCell::new(scheduler));
        let device = Device { context: device, scheduler: to_scheduler };
        simulation.add_handler("client", Rc::new(RefCell::new(client)));
        simulation.add_handler("scheduler", scheduler.clone());
        simulation.add_handler("device", Rc::new(RefCell::new(device)));
        simulation.step_until_no_events();
        std::mem::take(&mut scheduler.borrow_mut().latencies)
    }
}
