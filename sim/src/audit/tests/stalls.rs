//! Logs of a host with stalls: its controller may learn late of what has happened.

use super::*;
use crate::stalls::Stalls;

/// A run whose controller is away for 5 ms again and again.
fn stalled() -> Vec<Record> {
    let ms = Span::from_ms;
    let mut world = World::single(Latency::Affine { alpha: ms(1), beta: ms(1) });
    world.stalls = Stalls { lengths: vec![ms(5)], quiet_per_s: 50.0, seed: 3, ..Stalls::default() };
    let arrival = |i: u64| Arrival {
        at: Time::ZERO + ms(3 * i),
        app: AppId(0),
        model: ModelId(0),
        size: 1,
        slo: ms(40),
        alone: ms(1),
    };
    let source: Box<dyn Source> = Box::new(VecSource::new((0..200).map(arrival).collect()));
    let policy = Fifo::new(Config { max_batch: 4, drop_expired: true });
    simulate(&world, vec![source], policy, MemoryLog::default()).observer.records
}

fn found(log: Vec<Record>, stalls: bool) -> Vec<String> {
    let device = DeviceTerms { lanes: 1, ..DeviceTerms::default() };
    let terms = Terms { devices: vec![device], stalls, ..Terms::default() };
    let mut auditor = Auditor::default().with_terms(&Names::default(), terms);
    log.into_iter().for_each(|record| auditor.record(record));
    names(&auditor.finish())
}

/// Where an arrival is told late.
fn told_late(log: &[Record]) -> usize {
    let is_late =
        |r: &Record| matches!(r, Record::Arrive { time, request } if request.arrival < *time);
    find(log, 0, is_late)
}

#[test]
fn a_log_of_a_host_with_stalls_is_clean_where_its_terms_say_so() {
    let log = stalled();
    told_late(&log);
    assert_eq!(found(log.clone(), true), [""; 0]);
    assert_eq!(found(log, false), ["ArrivalAtAnotherTime"]);
}

/// A stall is silent: who did something after the arrival was there to be told of it.
#[test]
fn an_arrival_that_waits_while_the_controller_works_is_a_fault() {
    let mut log = stalled();
    let at = told_late(&log);
    let earlier = log[..at].iter().rposition(|r| r.time() < log[at].time()).expect("one");
    let before = log[earlier].time();
    let Record::Arrive { request, .. } = &mut log[at] else { unreachable!() };
    assert!(before < request.arrival);
    request.arrival = before;
    assert_eq!(found(log.clone(), true), ["ArrivalAtAnotherTime"]);
    let Record::Arrive { time, request } = &mut log[at] else { unreachable!() };
    request.arrival = *time + Span::from_ns(1);
    assert_eq!(found(log, true), ["ArrivalAtAnotherTime"], "nobody knows the future");
}
