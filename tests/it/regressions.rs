//! Every bug that was found in the engine, as a numbered test.
//!
//! They are not its specification: the naive engine is.

use orrery_sim::audit::audit;
use orrery_sim::core::DeviceChange;
use orrery_sim::driver::{World, simulate};
use orrery_sim::latency::Latency;
use orrery_sim::log::MemoryLog;
use orrery_sim::policy::{Actions, Event, Exec, Known, Policy, TimerKey};
use orrery_sim::request::{
    AppId, Arrival, DeviceId, Drop, ModelId, RequestId, Source, SourceId, VecSource,
};
use orrery_sim::time::{Span, Time};

const D0: DeviceId = DeviceId(0);
const M0: ModelId = ModelId(0);
const R0: RequestId = RequestId(0);

/// A policy that is a closure.
struct Script<F>(F);

impl<F: FnMut(Event<'_>, &mut Actions)> Policy for Script<F> {
    fn name(&self) -> String {
        "script".to_owned()
    }
    fn on(&mut self, _now: Time, event: Event<'_>, _known: &Known<'_>, out: &mut Actions) {
        self.0(event, out);
    }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// One device on which every batch takes 10 ms.
fn world() -> World {
    World::single(Latency::Affine { alpha: Span::ZERO, beta: Span::from_ms(10) })
}

/// A line of a log with its times as milliseconds.
fn in_ms(line: &str) -> String {
    let field = |text: &str| match text.strip_suffix("000000") {
        Some(ms) if !ms.is_empty() => format!("{ms}ms"),
        _ => text.to_owned(),
    };
    line.split(',').map(field).collect::<Vec<_>>().join(",")
}

/// Runs a script over one request that arrives at 1 ms, and gives the log from then on.
fn run(world: &World, script: impl FnMut(Event<'_>, &mut Actions)) -> String {
    let (app, slo, alone) = (AppId(0), Span::from_ms(50), Span::ZERO);
    let arrival = Arrival { at: at(1), app, model: M0, size: 1, slo, alone };
    let source: Box<dyn Source> = Box::new(VecSource::new(vec![arrival]));
    let log = simulate(world, vec![source], Script(script), MemoryLog::default()).observer;
    let report = audit(log.records.iter().cloned());
    assert!(report.is_clean(), "{report}");
    let lines: Vec<_> = log.records.iter().map(|r| in_ms(&r.to_string())).collect();
    let arrives = lines.iter().position(|l| l.starts_with("arrive")).expect("one arrives");
    lines[arrives..].join("\n")
}

#[test]
fn r0001_a_drained_device_that_fails_before_it_is_gone_goes_once() {
    let mut world = world();
    world.changes = vec![(at(1), DeviceChange::Drain(D0)), (at(1), DeviceChange::Fail(D0))];
    let mut downs = 0;
    let log = run(&world, |event, _| {
        downs += u32::from(matches!(event, Event::Device(D0, orrery_sim::cluster::Change::Down)));
    });
    assert_eq!(log, "arrive,1ms,0,0,0,1,0,1ms,51ms\nend,1ms,0,pending\nfinish,1ms");
    assert_eq!(downs, 1);
}

#[test]
fn r0002_a_change_that_was_planned_for_a_device_that_is_gone_is_no_event() {
    let mut world = world();
    world.changes = [DeviceChange::Fail, DeviceChange::Drain, DeviceChange::Fail]
        .iter()
        .zip(2..)
        .map(|(change, ms)| (at(ms), change(D0)))
        .collect();
    let mut told = 0;
    let log = run(&world, |event, _| told += u32::from(matches!(event, Event::Device(..))));
    let expected = "arrive,1ms,0,0,0,1,0,1ms,51ms\n\
                    device,2ms,0,down\n\
                    end,4ms,0,pending\n\
                    finish,4ms";
    assert_eq!(log, expected);
    assert_eq!(told, 1);
}

#[test]
fn r0003_the_window_of_a_batch_that_was_lost_with_its_device_does_not_prolong_the_run() {
    let mut world = world();
    world.changes = vec![(at(2), DeviceChange::Fail(D0))];
    let log = run(&world, |event, out| {
        if let Event::Arrive(request) = event {
            let exec = Exec { earliest: at(40), ..Exec::now(D0, M0) };
            out.exec(exec, &[request.id]);
        }
    });
    let expected = "arrive,1ms,0,0,0,1,0,1ms,51ms\n\
                    issue,1ms,0,0,0,0,1,40ms,,0\n\
                    device,2ms,0,down\n\
                    close,2ms,0,rejected_device_down,\n\
                    end,2ms,0,pending\n\
                    finish,2ms";
    assert_eq!(log, expected);
}

/// The answer goes out at 11 ms and the policy hears of it at 16 ms; in between it gives up.
#[test]
fn r0004_a_drop_that_crosses_the_answer_changes_nothing() {
    let mut world = world();
    world.core.delays.result = Span::from_ms(5).into();
    let log = run(&world, |event, out| match event {
        Event::Arrive(request) => {
            assert_eq!((request.id, request.source), (R0, SourceId(0)));
            out.exec(Exec::now(D0, M0), &[R0]);
            out.set_timer(TimerKey(0), at(13));
        }
        Event::Timer(_) => out.end(R0, Drop::DefaultReply),
        _ => {}
    });
    let expected = "arrive,1ms,0,0,0,1,0,1ms,51ms\n\
                    issue,1ms,0,0,0,0,1,0,,0\n\
                    begin,1ms,0\n\
                    close,11ms,0,done,10ms\n\
                    end,11ms,0,in_time\n\
                    finish,16ms";
    assert_eq!(log, expected);
}
