//! A run ends with its last answer, whatever a policy, an autoscaler or a plan of the cluster still waits for.

use crate::determinism::{crowded, every_policy, policy};
use orrery_run::Setup;
use orrery_sim::cluster::DeviceSpec;
use orrery_sim::core::DeviceChange;
use orrery_sim::driver::simulate;
use orrery_sim::log::{MemoryLog, Record};
use orrery_sim::metrics::Metrics;
use orrery_sim::policy::{Actions, Event, Known, Policy, TimerKey, autoscale};
use orrery_sim::request::End;
use orrery_sim::time::{Span, Time};

/// The watcher's timer; no policy's own key is as large.
const LOOK: TimerKey = TimerKey((1 << 56) - 5);
const EVERY: Span = Span::from_ms(70);

/// A policy around another that looks at it again and again, without end, and does nothing.
struct Watched(Box<dyn Policy>);

impl Policy for Watched {
    fn name(&self) -> String {
        self.0.name()
    }
    fn sees_truth(&self) -> bool {
        self.0.sees_truth()
    }
    fn wants_profiles(&self) -> bool {
        self.0.wants_profiles()
    }
    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        if matches!(event, Event::Start | Event::Timer(LOOK)) {
            out.set_timer(LOOK, now + EVERY);
        }
        if !matches!(event, Event::Timer(LOOK)) {
            self.0.on(now, event, known, out);
        }
    }
}

/// What a run tells: its records, when it ended, its goodput and how busy its device was.
#[derive(Debug, PartialEq)]
struct Told {
    records: Vec<String>,
    end: Time,
    goodput_per_s: f64,
    utilisation: f64,
    pending: u64,
}

fn told(setup: &Setup, policy: Box<dyn Policy>) -> Told {
    let observer = (Metrics::new(setup.window, false), MemoryLog::default());
    let sources = setup.sources(1).expect("sources");
    let run = simulate(&setup.world, sources, policy, observer);
    assert!(run.failure.is_none(), "{}: {:?}", run.policy.name(), run.failure);
    let (metrics, log) = run.observer;
    if metrics.total().ended(End::Pending) == 0 {
        ends_with_an_answer(setup, &log.records, run.end);
    }
    Told {
        records: log.records.iter().map(Record::to_string).collect(),
        end: run.end,
        goodput_per_s: metrics.goodput_per_s(),
        utilisation: metrics.devices()[0].utilisation(),
        pending: metrics.total().ended(End::Pending),
    }
}

/// The policy hears of the last batch, and the run is over.
fn ends_with_an_answer(setup: &Setup, records: &[Record], end: Time) {
    let answer = |r: &&Record| matches!(r, Record::End { .. } | Record::Close { .. });
    let last = records.iter().rfind(answer).map_or(Time::ZERO, Record::time);
    let heard = last + setup.world.core.delays.of_result(orrery_sim::request::ActionId(0));
    assert!(last <= end && end <= heard, "the last answer at {last:?}, the end at {end:?}");
}

#[test]
fn who_watches_makes_no_run_longer() {
    let plain = crowded(120);
    let mut planned = plain.clone();
    let added = DeviceChange::Added(DeviceSpec::default());
    planned.world.changes.push((Time::ZERO + Span::from_ms(3_600_000), added));
    let mut scaled = plain.clone();
    scaled.autoscale = Some(autoscale::Config {
        kind: 0,
        every: Span::from_ms(10_000),
        threshold: 0.01,
        spare: 0.2,
        least: 1,
        most: 1,
    });
    let mut left = Vec::new();
    for name in every_policy() {
        let policy = policy(&name);
        if plain.check_policy(&policy).is_err() {
            continue;
        }
        let alone = told(&plain, plain.policy(&policy, 1));
        if alone.pending > 0 {
            left.push(name);
            continue;
        }
        let watched = told(&plain, Box::new(Watched(plain.policy(&policy, 1))));
        assert_eq!(watched, alone, "{name}, watched");
        assert_eq!(told(&planned, planned.policy(&policy, 1)), alone, "{name}, a change planned");
        assert_eq!(told(&scaled, scaled.policy(&policy, 1)), alone, "{name}, scaled to one device");
    }
    // The released code forgets requests behind an expired one (`expired_head_bug`).
    let forgets = ["shepherd", "shepherd[follow_up=preempted]", "shepherd[return=on-report]"];
    assert_eq!(left, forgets, "who leaves requests unanswered for ever");
}
