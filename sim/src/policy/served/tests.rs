//! The server's laws: what it adds to a latency, where it saturates, and what it leaves alone.

use super::*;
use crate::driver::{World, simulate};
use crate::latency::Latency;
use crate::log::{MemoryLog, Record};
use crate::metrics::Metrics;
use crate::policy::fifo;
use crate::request::{Arrival, End, Source, VecSource};
use std::collections::BTreeMap;

const fn us(n: u64) -> Span {
    Span::from_us(n)
}

/// `n` requests, `gap` apart, each with `slo`.
fn every(gap: Span, n: u64, slo: Span) -> Box<dyn Source> {
    from(Time::ZERO, gap, n, slo)
}

fn from(first: Time, gap: Span, n: u64, slo: Span) -> Box<dyn Source> {
    let arrival = |i: u64| Arrival {
        at: first + gap * i,
        app: AppId(0),
        model: ModelId(0),
        size: 1,
        slo,
        alone: us(1),
    };
    Box::new(VecSource::new((0..n).map(arrival).collect()))
}

fn constant(us_of_a_batch: u64, devices: usize) -> World {
    let law = Latency::Affine { alpha: Span::ZERO, beta: us(us_of_a_batch) };
    let mut world = World::single(law);
    world.core.devices = vec![Default::default(); devices];
    world
}

fn records(world: &World, source: Box<dyn Source>, cost: Cost, max_batch: u32) -> Vec<Record> {
    let fifo = fifo::Fifo::new(fifo::Config { max_batch, drop_expired: false });
    simulate(world, vec![source], Served::new(cost, fifo), MemoryLog::default()).observer.records
}

/// The latencies of the requests, in order of their ends.
fn latencies(records: &[Record]) -> Vec<Span> {
    let mut arrived = BTreeMap::new();
    let mut all = Vec::new();
    for record in records {
        match *record {
            Record::Arrive { time, request } => {
                arrived.insert(request.id, time);
            }
            Record::End { time, request, end } => {
                assert!(matches!(end, End::InTime | End::Late));
                all.push(time - arrived[&request]);
            }
            _ => {}
        }
    }
    all
}

#[test]
fn one_request_at_a_time_waits_for_its_own_costs_and_no_more() {
    let cost = Cost { request: us(30), action: us(50), result: us(700) };
    let records = records(&constant(2_000, 1), every(us(10_000), 50, Span::MAX), cost, 8);
    let found = latencies(&records);
    assert_eq!(found, vec![us(2_000 + 30 + 50); 50]);
}

#[test]
fn a_result_that_is_worked_off_keeps_the_next_request_waiting() {
    // The second request comes with the result of the first, and after it.
    let cost = Cost { request: us(30), action: us(50), result: us(700) };
    let records = records(&constant(2_000, 1), every(us(2_080), 2, Span::MAX), cost, 8);
    assert_eq!(latencies(&records), [us(2_080), us(2_080 + 700)]);
}

/// Clients that send again when they are answered.
struct Clients(u32);

/// Issues each `size` requests as one batch, to a device that queues them.
struct FullBatches {
    size: usize,
    waiting: Vec<RequestId>,
}

struct Loop {
    ready: VecDeque<Time>,
}

impl Clients {
    fn start(&self) -> Box<dyn Source> {
        Box::new(Loop { ready: vec![Time::ZERO; self.0 as usize].into() })
    }
}

impl Source for Loop {
    fn peek(&mut self) -> Option<Time> {
        self.ready.front().copied()
    }
    fn pop(&mut self) -> Option<Arrival> {
        let at = self.ready.pop_front()?;
        let (app, model) = (AppId(0), ModelId(0));
        Some(Arrival { at, app, model, size: 1, slo: Span::MAX, alone: us(1) })
    }
    fn on_reply(&mut self, _: &Request, now: Time, _: End) {
        self.ready.push_back(now);
    }
    fn is_closed_loop(&self) -> bool {
        true
    }
}

impl Policy for FullBatches {
    fn name(&self) -> String {
        "full-batches".into()
    }
    fn on(&mut self, _: Time, event: Event<'_>, _: &Known<'_>, out: &mut Actions) {
        if let Event::Arrive(request) = event {
            self.waiting.push(request.id);
            if self.waiting.len() == self.size {
                out.exec(Exec::now(DeviceId(0), request.model), &self.waiting);
                self.waiting.clear();
            }
        }
    }
}

/// A batch of b requests keeps the server busy for b requests, one action and one result.
#[test]
fn the_server_saturates_at_the_closed_form() {
    for (size, cost) in [
        (1, Cost { request: us(20), action: us(30), result: us(50) }),
        (4, Cost { request: us(20), action: us(30), result: us(50) }),
        (4, Cost { request: us(25), ..Cost::default() }),
        (8, Cost { request: us(5), action: us(40), result: Span::ZERO }),
        (8, Cost { request: Span::ZERO, action: Span::ZERO, result: us(100) }),
    ] {
        let of_batch = cost.request * size as u64 + cost.action + cost.result;
        let capacity_per_s = size as f64 / of_batch.as_secs_f64();
        let until = Some(Time::ZERO + Span::from_ms(2_000));
        let world = World { until, ..constant(10, 1) };
        let policy = Served::new(cost, FullBatches { size, waiting: Vec::new() });
        let source = Clients(8 * size as u32).start();
        let total = simulate(&world, vec![source], policy, Metrics::default()).observer.total();
        let found_per_s = total.ends[End::InTime.index()] as f64 / 2.0;
        let ratio = found_per_s / capacity_per_s;
        assert!((ratio - 1.0).abs() < 0.002, "{size}: {found_per_s} of {capacity_per_s}");
    }
}

/// Both a device's queue and its clients go on while the scheduler is busy.
#[test]
fn devices_do_not_wait_for_the_server() {
    struct AllAtOnce;
    impl Policy for AllAtOnce {
        fn name(&self) -> String {
            "all-at-once".into()
        }
        fn on(&mut self, _: Time, event: Event<'_>, _: &Known<'_>, out: &mut Actions) {
            if let Event::Arrive(request) = event {
                out.exec(Exec::now(DeviceId(0), request.model), &[request.id]);
            }
        }
    }
    let cost = Cost { result: us(5_000), ..Cost::default() };
    let world = constant(1_000, 1);
    let late = from(Time::ZERO + us(60_000), Span::ZERO, 1, Span::MAX);
    let sources = vec![every(Span::ZERO, 20, Span::MAX), late];
    let run = simulate(&world, sources, Served::new(cost, AllAtOnce), MemoryLog::default());
    let ends: Vec<Span> = latencies(&run.observer.records);
    let back_to_back = (1..=20).map(|i| us(1_000 * i));
    // The server works on until 101 ms, and the policy hears of the late one then.
    let late = us(1_000 + 20 * 5_000 + 1_000 - 60_000);
    assert_eq!(ends, back_to_back.chain([late]).collect::<Vec<_>>());
}

/// A timer that went off while the server was busy does not go off when the policy, which does not know
/// of it yet, sets it again or clears it.
#[test]
fn a_timer_that_is_set_again_before_its_turn_does_not_go_off() {
    struct Alarm {
        heard: Vec<Time>,
        clears: bool,
    }
    impl Policy for Alarm {
        fn name(&self) -> String {
            "alarm".into()
        }
        fn on(&mut self, now: Time, event: Event<'_>, _: &Known<'_>, out: &mut Actions) {
            match event {
                Event::Arrive(request) => {
                    out.end(request.id, Drop::Shed);
                    match request.id.0 {
                        1 if self.clears => out.clear_timer(TimerKey(7)),
                        0 | 1 => out.set_timer(TimerKey(7), now + us(60)),
                        _ => {}
                    }
                }
                Event::Timer(_) => self.heard.push(now),
                _ => {}
            }
        }
    }
    // Told at 100 and 200 us; the alarm for 160 us waits while the server is busy with the second.
    let cost = Cost { request: us(100), ..Cost::default() };
    let at = |us: u64| Time::ZERO + Span::from_us(us);
    for (clears, heard) in [(false, vec![at(260)]), (true, vec![])] {
        let alarm = Served::new(cost, Alarm { heard: Vec::new(), clears });
        let later = from(at(1_000), Span::ZERO, 1, Span::MAX);
        let sources = vec![every(us(50), 2, Span::MAX), later];
        let run = simulate(&constant(1, 1), sources, alarm, ());
        assert_eq!(run.policy.inner.heard, heard);
    }
}

/// The answer that went out stands: the policy drops what it does not know to be answered.
#[test]
fn a_request_that_was_answered_unknown_to_the_policy_is_not_dropped() {
    #[derive(Default)]
    struct Impatient {
        dropped_at: Option<Time>,
    }
    impl Policy for Impatient {
        fn name(&self) -> String {
            "impatient".into()
        }
        fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
            match event {
                Event::Arrive(request) => {
                    out.exec(Exec::now(DeviceId(0), request.model), &[request.id]);
                    if request.id.0 == 0 {
                        out.set_timer(TimerKey(0), now + us(500));
                    }
                }
                Event::Timer(_) => {
                    assert!(known.request(RequestId(0)).is_some(), "its result was not told");
                    out.end(RequestId(0), Drop::DefaultReply);
                    self.dropped_at = Some(now);
                }
                _ => {}
            }
        }
    }
    // The first is told at 1000 us and answered at 1600. The server is busy with the second from 1200
    // to 2200 us; behind it wait the timer of 1500 us, then the result.
    let cost = Cost { request: us(1_000), ..Cost::default() };
    let (served, source) =
        (Served::new(cost, Impatient::default()), every(us(1_200), 2, Span::MAX));
    let run = simulate(&constant(600, 1), vec![source], served, MemoryLog::default());
    assert_eq!(run.policy.inner.dropped_at, Some(Time::ZERO + us(2_200)));
    let end = |r: &Record| match *r {
        Record::End { time, end, .. } => Some((time, end)),
        _ => None,
    };
    let ends: Vec<(Time, End)> = run.observer.records.iter().filter_map(end).collect();
    let in_time = |at| (Time::ZERO + us(at), End::InTime);
    assert_eq!(ends, [in_time(1_600), in_time(2_800)]);
    assert!(run.policy.answered.is_empty(), "nothing is kept");
}
