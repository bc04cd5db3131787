//! Tests of the driver's limits: the end of time, and sums of sizes.

use super::*;
use crate::metrics::Window;
use crate::observer::Batch;
use crate::policy::fifo::{Config, Fifo};
use crate::policy::{Actions, Event, Known, TimerKey};
use crate::request::{AppId, Arrival, End, ModelId, VecSource};

fn arrival(at: u64, size: u32) -> Arrival {
    let (app, model, alone) = (AppId(0), ModelId(0), Span::from_ns(1));
    Arrival { at: Time::from_ns(at), app, model, size, slo: Span::MAX, alone }
}

/// One device on which a batch takes a nanosecond, and one more for each item.
fn world() -> World {
    World::single(Latency::Affine { alpha: Span::from_ns(1), beta: Span::from_ns(1) })
}

/// The units of each batch that began, and how the run failed.
fn run(world: &World, arrivals: Vec<Arrival>) -> (Vec<u32>, Option<Failure>) {
    #[derive(Default)]
    struct Units(Vec<u32>);
    impl Observer for Units {
        fn began(&mut self, _now: Time, batch: &Batch<'_>) {
            self.0.push(batch.units);
        }
    }
    let source: Box<dyn Source> = Box::new(VecSource::new(arrivals));
    let policy = Fifo::new(Config { max_batch: 4, drop_expired: false });
    let run = simulate(world, vec![source], policy, Units::default());
    (run.observer.0, run.failure)
}

#[test]
fn units_of_a_batch_do_not_wrap() {
    let arrivals = vec![arrival(0, 1), arrival(0, 1 << 31), arrival(0, 1 << 31)];
    let (units, failure) = run(&world(), arrivals);
    assert_eq!((units, failure), (vec![1, u32::MAX], None), "they saturate");
}

#[test]
fn the_last_nanosecond_is_in_time_and_the_next_fails_the_run() {
    let last = u64::MAX - 3;
    assert_eq!(run(&world(), vec![arrival(last, 1)]).1, None, "it ends at 2^64 - 2 ns");
    let (_, failure) = run(&world(), vec![arrival(last, 2)]);
    let what = "the end of a0 on d0".to_string();
    assert_eq!(failure, Some(Failure::EventAfterEnd { what, now: Time::from_ns(last) }));
}

/// A policy that never gives a request to a device, but wakes every nanosecond.
struct Idler;

impl Policy for Idler {
    fn name(&self) -> String {
        "idler".to_string()
    }

    fn on(&mut self, now: Time, _: Event<'_>, _: &Known<'_>, out: &mut Actions) {
        out.set_timer(TimerKey(0), now + Span::from_ns(1));
    }
}

#[test]
fn a_run_whose_requests_never_end_stops_and_says_so() {
    let run = |world: &World| {
        let source: Box<dyn Source> = Box::new(VecSource::new(vec![arrival(7, 1), arrival(9, 1)]));
        simulate(world, vec![source], Idler, ())
    };
    let stuck = run(&world());
    let (since, now) = (Time::from_ns(9), Time::from_ns(9 + STUCK_AFTER));
    assert_eq!(stuck.failure, Some(Failure::Stuck { requests: 2, since, now }));
    let stopped = run(&World { until: Some(now + Span::from_ns(9)), ..world() });
    assert_eq!(stopped.failure, None, "who names an end gets it");
}

#[test]
fn an_arrival_after_the_end_of_time_fails_the_run_unless_it_stops_before() {
    let arrivals = vec![arrival(5, 1), arrival(6, 1), arrival(u64::MAX, 1)];
    let (_, failure) = run(&world(), arrivals.clone());
    let failure = failure.expect("it is not whole");
    assert_eq!(failure, Failure::ArrivalAfterEnd { source: SourceId(0), requests: 2 });
    assert_eq!(failure.to_string(), "request 3 comes after the end of simulated time");
    let stopped = World { until: Some(Time::from_ns(100)), ..world() };
    assert_eq!(run(&stopped, arrivals).1, None);
}

#[test]
fn a_message_that_comes_after_the_end_of_time_is_named() {
    let slow = Span::from_ns(u64::MAX - 4);
    let delayed = |set: fn(&mut crate::core::Delays, Span)| {
        let mut world = world();
        set(&mut world.core.delays, slow);
        run(&world, vec![arrival(5, 1)]).1.expect("it is not whole").to_string()
    };
    assert!(delayed(|d, slow| d.dispatch = slow.into()).starts_with("the delivery of a0 comes"));
    assert!(delayed(|d, slow| d.result = slow.into()).starts_with("the result of a0 comes"));
    let reply = delayed(|d, slow| d.reply = slow.into());
    assert!(reply.starts_with("the reply to the requests of a0 comes after the end"), "{reply}");
}

/// What a policy is told and what is measured do not depend on when it happens.
#[test]
fn a_run_shortly_before_the_end_of_time_is_like_any_other() {
    let served = |from: u64| {
        let arrivals = (0..50).map(|i| arrival(from + i, 1 + i as u32 % 3)).collect();
        let source: Box<dyn Source> = Box::new(VecSource::new(arrivals));
        let policy = Fifo::new(Config { max_batch: 4, drop_expired: false });
        let metrics = crate::metrics::Metrics::new(Window::default(), true);
        let run = simulate(&world(), vec![source], policy, metrics);
        assert_eq!(run.failure, None);
        let total = run.observer.total();
        (total.latency, total.queueing, run.observer.batch_sizes().to_vec())
    };
    assert_eq!(served(0), served(u64::MAX - 1_000));
}

/// Requests one after another on a device whose core and controller stall: by hand from two calendars.
#[test]
fn a_batch_is_longer_by_the_stalls_that_it_meets_and_inputs_wait_for_the_controller() {
    let ms = Span::from_ms;
    let law = Stalls {
        lengths: vec![ms(3), ms(40)],
        quiet_per_s: 10.0,
        shared: 0.2,
        seed: 9,
        ..Stalls::default()
    };
    let world = World {
        stalls: law.clone(),
        ..World::single(Latency::Affine { alpha: Span::ZERO, beta: ms(20) })
    };
    #[derive(Default)]
    struct Ends(Vec<(Time, Time)>);
    impl Observer for Ends {
        fn closed(
            &mut self,
            now: Time,
            _: &Batch<'_>,
            start: Option<Time>,
            _: crate::policy::Outcome,
        ) {
            self.0.push((start.expect("it ran"), now));
        }
    }
    // 50 ms apart: most often, but not always, the device is free.
    let arrivals: Vec<Arrival> =
        (0..400).map(|i| Arrival { at: Time::ZERO + ms(50 * i), ..arrival(0, 1) }).collect();
    let source: Box<dyn Source> = Box::new(VecSource::new(arrivals));
    let policy = Fifo::new(Config { max_batch: 1, drop_expired: false });
    let run = simulate(&world, vec![source], policy, Ends::default());
    let mut calendar = Calendar::new(law);
    // The next arrival and the next result, whichever is due first, and what waits.
    let (mut handled, mut next, mut waiting, mut ends) = (Time::ZERO, 0, 0, Vec::new());
    let mut running: Option<(Time, Time)> = None;
    while next < 400 || running.is_some() {
        let arrives = Time::ZERO + ms(50 * next);
        let result = running.filter(|r| next == 400 || r.1 <= arrives);
        let due = result.map_or(arrives, |r| r.1);
        handled = calendar.advance(CoreOf::CONTROLLER, due.max(handled), Span::ZERO);
        if let Some((start, _)) = result {
            ends.push((start, handled));
            running = None;
        } else {
            (next, waiting) = (next + 1, waiting + 1);
        }
        if running.is_none() && waiting > 0 {
            let end = calendar.advance(CoreOf::executor(0, 0), handled, ms(20));
            (running, waiting) = (Some((handled, end)), waiting - 1);
        }
    }
    assert_eq!(run.observer.0, ends);
    assert!(ends.iter().any(|e| e.1.since(e.0) > ms(60)), "some batch met a long stall");
    assert!(
        ends.iter().any(|e| e.0.ns() % ms(50).ns() != 0),
        "some request waited for the controller"
    );
}

/// Clients that send again 3 ms after each answer.
struct Eager(Vec<Time>);

impl Source for Eager {
    fn peek(&mut self) -> Option<Time> {
        self.0.iter().min().copied()
    }
    fn pop(&mut self) -> Option<Arrival> {
        let first = self.peek()?;
        let at = self.0.iter().position(|t| *t == first)?;
        Some(Arrival { at: self.0.swap_remove(at), ..arrival(0, 1) })
    }
    fn is_closed_loop(&self) -> bool {
        true
    }
    fn on_reply(&mut self, _: &Request, now: Time, _: End) {
        self.0.push(now + Span::from_ms(3));
    }
}

/// A controller that is away for 5 ms again and again, and batches of 2 ms.
fn with_stalls(until: Time) -> World {
    let ms = Span::from_ms;
    World {
        stalls: Stalls { lengths: vec![ms(5)], quiet_per_s: 60.0, ..Stalls::default() },
        until: Some(until),
        ..World::single(Latency::Affine { alpha: ms(1), beta: ms(1) })
    }
}

/// Another client's request may wait for the controller while it passes an answer on.
#[test]
fn clients_that_wait_for_answers_meet_a_controller_with_stalls() {
    let world = with_stalls(Time::ZERO + Span::from_secs(5));
    let clients = (0..5).map(|i| Time::ZERO + Span::from_us(700 * i)).collect();
    let policy = Fifo::new(Config { max_batch: 2, drop_expired: false });
    let log = crate::log::MemoryLog::default();
    let run = simulate(&world, vec![Box::new(Eager(clients))], policy, log);
    assert_eq!(run.failure, None);
    let late = |r: &crate::log::Record| matches!(r, crate::log::Record::Arrive { time, request } if request.arrival < *time);
    assert!(run.observer.records.iter().any(late), "some request waits for the controller");
}

/// What is due before the end, and is handled after it, is not handled.
#[test]
fn a_stall_does_not_carry_a_run_over_its_end() {
    for end_us in (0..400).map(|i| 20_000 + 131 * i) {
        let until = Time::ZERO + Span::from_us(end_us);
        let source = (0..200).map(|i| Arrival { at: Time::from_ns(i * 500_000), ..arrival(0, 1) });
        let source: Box<dyn Source> = Box::new(VecSource::new(source.collect()));
        let policy = Fifo::new(Config { max_batch: 4, drop_expired: false });
        let log = crate::log::MemoryLog::default();
        let run = simulate(&with_stalls(until), vec![source], policy, log);
        assert_eq!(run.end, until);
        assert!(run.observer.records.iter().all(|r| r.time() <= until), "{until}");
    }
}

/// The ends of requests that are alone in their batches, on one device of so many lanes that share it.
fn shared(lanes: u8, at_and_alone: &[(u64, u64)]) -> Vec<u64> {
    #[derive(Default)]
    struct Ends(Vec<(u64, u64)>);
    impl Observer for Ends {
        fn ended(&mut self, now: Time, request: &Request, _: End, _: Option<Time>) {
            self.0.push((request.id.0, now.ns()));
        }
    }
    let mut world = World::single(Latency::Proportional { c1: 1.0 });
    world.core.devices =
        vec![DeviceSpec { lanes, sharing: Sharing::Processor, ..DeviceSpec::default() }];
    let one = |&(at, alone): &(u64, u64)| Arrival { alone: Span::from_ns(alone), ..arrival(at, 1) };
    let source = Box::new(VecSource::new(at_and_alone.iter().map(one).collect()));
    let policy = Fifo::new(Config { max_batch: 1, drop_expired: false });
    let run = simulate(&world, vec![source], policy, Ends::default());
    let mut ends = run.observer.0;
    ends.sort();
    ends.into_iter().map(|end| end.1).collect()
}

#[test]
fn batches_that_share_a_device_are_slowed_down_by_those_beside_them() {
    assert_eq!(shared(4, &[(0, 60), (100, 60)]), [60, 160], "each is alone");
    assert_eq!(shared(4, &[(0, 60), (0, 60), (0, 60)]), [180, 180, 180]);
    // The first is half done at 30. Both get 15 until 60, and from then three get 5 each; then two get 10.
    assert_eq!(shared(4, &[(0, 60), (30, 60), (60, 5)]), [95, 125, 75]);
    assert_eq!(shared(2, &[(0, 10), (0, 10), (0, 10)]), [20, 20, 30], "the third waits for a lane");
    assert_eq!(shared(1, &[(0, 10), (0, 10)]), [10, 20], "with one lane nothing is shared");
}

#[test]
fn a_share_that_is_no_whole_number_ends_at_the_next_nanosecond() {
    // Of 10 each, all three have 3 + 1/3 at 10. Two go on alone; 3 + 1/3 more each at 17 less 1/3.
    assert_eq!(shared(4, &[(0, 10), (0, 10), (0, 3)]), [23, 23, 9]);
    assert_eq!(shared(4, &[(0, 1), (0, 1), (0, 1)]), [3, 3, 3]);
    // From 1 on they share: the first has 9 left at 1 and is through at 19, the second then has 1 left of 10.
    assert_eq!(shared(4, &[(0, 10), (1, 10)]), [19, 20]);
}

/// Batches end when it says, and the controller learns of the first late.
#[derive(Debug)]
struct Scripted;

impl Machine for Scripted {
    fn handles(&self, next: Next) -> Option<Time> {
        let late = Span::from_ns(next.number);
        (next.number < 6).then(|| next.due.max(Time::from_ns(100)) + late)
    }

    fn takes(&self, now: Time, begin: &Begin, busy: Span) -> Option<Took> {
        let (end, device) = (now + busy + Span::from_ns(10), Span::from_ns(7));
        let learned = (begin.action == ActionId(0)).then_some((3, 0));
        Some(Took { end, device, learned })
    }
}

#[test]
fn a_known_machine_takes_the_place_of_the_laws() {
    let world = World { machine: Some(Arc::new(Scripted)), ..world() };
    let source = Box::new(VecSource::new(vec![arrival(0, 1), arrival(300, 1)]));
    let policy = Fifo::new(Config { max_batch: 4, drop_expired: false });
    let run = simulate(&world, vec![source], policy, crate::log::MemoryLog::default());
    use crate::log::Record;
    let at = |record: &Record| match record {
        Record::Close { time, outcome: crate::log::Closed::Done(device), .. } => {
            Some((time.ns(), device.ns()))
        }
        Record::Begin { time, .. } | Record::Arrive { time, .. } => Some((time.ns(), 0)),
        _ => None,
    };
    let seen: Vec<_> = run.observer.records.iter().filter_map(at).collect();
    // The first ends at 113 and is known after three inputs, at 300 + 3; the second ends at 315, the fifth input.
    assert_eq!(seen, [(101, 0), (101, 0), (302, 0), (303, 7), (303, 0), (319, 7)]);
}

/// Its controller is late for the first arrival only.
#[derive(Debug)]
struct LateOnce;

impl Machine for LateOnce {
    fn handles(&self, next: Next) -> Option<Time> {
        Some(next.due + Span::from_ns(if next.number == 1 { 50 } else { 0 }))
    }

    fn takes(&self, now: Time, _: &Begin, busy: Span) -> Option<Took> {
        Some(Took { end: now + busy, device: busy, learned: None })
    }
}

#[test]
fn a_known_controller_handles_one_input_after_another() {
    let world = World { machine: Some(Arc::new(LateOnce)), ..world() };
    // The second is due at 10, while the controller is away for the first, up to 50.
    let source = Box::new(VecSource::new(vec![arrival(0, 1), arrival(10, 1)]));
    let policy = Fifo::new(Config { max_batch: 1, drop_expired: false });
    let run = simulate(&world, vec![source], policy, crate::log::MemoryLog::default());
    let arrived = run.observer.records.iter().filter_map(|r| match r {
        crate::log::Record::Arrive { time, .. } => Some(time.ns()),
        _ => None,
    });
    assert_eq!(arrived.collect::<Vec<_>>(), [50, 50]);
}
