//! The engine against the naive one: the policy and the observer are told the same in the same order,
//! on random small cases.
//!
//! It proves nothing about policies: they are whatever they are, and only drive both engines alike.
//! Everything that either is told is compared: more than a log says.
//!
//! A failure prints its seed; `ORRERY_SEED=<seed>` runs that case alone, and `ORRERY_CASES=<n>` runs
//! more of them than the usual 1,000.

pub mod cases;
mod chaotic;
mod plain_metrics;
mod watcher;

use crate::example_policy::{self, FullOrTimeout};
use crate::naive;
use cases::{Case, ticks};
use chaotic::Chaotic;
use orrery_sim::audit::Auditor;
use orrery_sim::cluster::{DeviceSpec, DeviceView};
use orrery_sim::driver::simulate;
use orrery_sim::log::{DeviceTerms, MemoryLog, Names, Record, Terms};
use orrery_sim::policy::fifo::Fifo;
use orrery_sim::policy::{ALL, Actions, Event, Known, Policy};
use orrery_sim::policy::{
    alpaserve, clipper, clkwrk, clockwork, drs, eager, fifo, infaas, kairos, nexus, nexus_cluster,
    oracle, orloj, shepherd, symphony, timeout,
};
use orrery_sim::request::{End, ModelId, RequestId};
use orrery_sim::rng::Stream;
use orrery_sim::time::{Span, Time};
use std::fmt::Display;
use std::ops::Range;
use watcher::Watcher;

/// Makes a policy for a case.
pub type Make = dyn Fn(&Case) -> Box<dyn Policy>;

/// A policy under test.
pub struct Entry {
    /// What failures call it.
    pub name: &'static str,
    /// Makes it for a case.
    pub make: Box<Make>,
}

fn entry(name: &'static str, make: fn(&Case) -> Box<dyn Policy>) -> Entry {
    Entry { name, make: Box::new(make) }
}

/// Every policy that is put to the test: those with parameters for cases of a few ticks, and each other
/// policy of the registry as its bare name builds it.
pub fn policies() -> Vec<Entry> {
    let mut entries = tuned();
    for policy in ALL {
        if entries.iter().all(|e| e.name != policy.about.name) {
            let make = move |case: &Case| {
                let bare = policy.parse(&[]).unwrap_or_else(|e| panic!("{e}"));
                bare.build(&case.profiles(), case.seed)
            };
            entries.push(Entry { name: policy.about.name, make: Box::new(make) });
        }
    }
    entries
}

/// A policy needs no entry here; it gets one where its defaults are too slow for cases of a few ticks.
fn tuned() -> Vec<Entry> {
    vec![
        entry("chaotic", |case| Box::new(Chaotic::new(case))),
        entry("fifo", |case| {
            Box::new(Fifo::new(fifo::Config {
                max_batch: 4,
                drop_expired: case.seed.is_multiple_of(2),
            }))
        }),
        entry("full-or-timeout", |case| {
            let config = example_policy::Config { max_batch: 3, patience: ticks(case.seed % 4) };
            Box::new(FullOrTimeout::new(config))
        }),
        entry("clipper", |case| {
            let sizing = [
                clipper::Sizing::Adaptive,
                clipper::Sizing::Aimd { step: 1, backoff: 0.9 },
                clipper::Sizing::Fixed(3),
            ][case.seed as usize % 3];
            let config = clipper::Config { sizing, default_reply: true, max_batch: 8 };
            let draws = Stream::named(case.seed, "clipper", 0);
            Box::new(clipper::Clipper::new(config, &case.profiles(), draws))
        }),
        entry("alpaserve", |case| {
            let config = alpaserve::Config {
                margin: ticks(case.seed % 3 / 2),
                controller: ticks(case.seed % 4 / 2),
                longest_stage: [1.0, 1.25, 64.0][case.seed as usize % 3],
            };
            Box::new(alpaserve::AlpaServe::new(config, &case.profiles()))
        }),
        entry("clockwork", |case| {
            let config = clockwork::Config { buffer: ticks(1), ..clockwork::Config::released() };
            Box::new(clockwork::Clockwork::new(config, &case.profiles()))
        }),
        entry("nexus", |case| {
            let (drop, margin) = (nexus::DropRule::SlidingWindow, ticks(1));
            let batch = None;
            let config =
                nexus::Config { drop, std_factor: 1.0, profile_factor: 1.15, margin, batch };
            Box::new(nexus::Nexus::new(config, &case.profiles()))
        }),
        entry("nexus-cluster", |case| {
            use nexus_cluster::{Config, Deal, NexusCluster, Planning};
            let base = [Config::released(), Config::paper()][case.seed as usize % 2];
            let planning = [Planning::Dynamic, Planning::Dynamic, Planning::Static, Planning::Full];
            let config = Config {
                planning: planning[case.seed as usize / 2 % 4],
                beacon: ticks(2),
                epoch: ticks(8),
                early: ticks(4),
                history: 2,
                margin: ticks(1),
                frontends: 1 + case.seed as u32 % 3,
                deal: [Deal::RoundRobin, Deal::Random][case.seed as usize / 8 % 2],
                poll: [Span::ZERO, ticks(1), Span::from_us(700)][case.seed as usize / 3 % 3],
                ..base
            };
            Box::new(NexusCluster::new(config, &case.profiles()))
        }),
        entry("oracle", |case| {
            Box::new(oracle::Oracle::new(oracle::Config { max_batch: 4 }, &case.profiles()))
        }),
        entry("orloj", |case| {
            use orloj::{BatchLaw, Memory, Shares};
            let seed = case.seed as usize;
            let config = orloj::Config {
                estimate: orloj::Estimate::Mean,
                estimate_law: [BatchLaw::Common, BatchLaw::Own][seed / 3 % 2],
                score_law: [BatchLaw::Common, BatchLaw::Own][seed / 6 % 2],
                shares: [Shares::Equal, Shares::Counts][seed / 12 % 2],
                order: orloj::SizeOrder::Descending,
                b_per_ms: 1e-4,
                max_batch: 8,
                max_exec: Span::ZERO,
                relearn_every: (case.seed % 3) as u32 * 4,
                relearn_every_s: Span::ZERO,
                memory: [Memory::Sliding, Memory::Reset][seed / 24 % 2],
                window: 64,
                bins: [0, 4][seed / 48 % 2],
                deadlines: orloj::Deadlines::All,
                queue: [orloj::QueueForm::Scan, orloj::QueueForm::Hull][seed / 96 % 2],
            };
            Box::new(orloj::Orloj::new(config, &case.profiles()))
        }),
        entry("symphony", |case| {
            use symphony::{Config, Dispatch, Gather, GpuChoice};
            let seed = case.seed as usize;
            let gather = [Gather::WindowDrop, Gather::Head, Gather::Fcfs][seed % 3];
            let gpu = [GpuChoice::EarliestFree, GpuChoice::SmallestId][seed / 3 % 2];
            let dispatch =
                [Dispatch::Frontrun, Dispatch::Eager, Dispatch::Latest, Dispatch::Timeout(30.0)]
                    [seed / 6 % 4];
            let config = Config { gather, dispatch, gpu, ..Config::released() };
            let config = Config { sample: ticks(5), max_batch: 8, resp: ticks(1), ..config };
            Box::new(symphony::Symphony::new(config, &case.profiles()))
        }),
        entry("shepherd", |case| {
            let config = shepherd::Config {
                factor: 1.5,
                ctrl: ticks(case.seed % 2),
                data: ticks(case.seed % 3 / 2),
                expired_head_bug: case.seed.is_multiple_of(5),
                ..[shepherd::Config::released(), shepherd::Config::paper()][case.seed as usize % 2]
            };
            Box::new(shepherd::Shepherd::new(config, &case.profiles()))
        }),
        entry("timeout", |case| {
            let (max_wait, drop_expired) = (ticks(case.seed % 4), case.seed.is_multiple_of(3));
            let config =
                timeout::Config { max_batch: 3, max_wait, drop_expired, ..Default::default() };
            Box::new(timeout::Timeout::new(config))
        }),
        entry("infaas", |case| {
            let config = infaas::Config {
                max_batch: 3,
                timeout: ticks(case.seed % 4),
                check: ticks(1 + case.seed % 7),
                load: ticks(case.seed % 5),
                down: 1 + (case.seed % 3) as u32,
                ..infaas::Config::model()
            };
            Box::new(infaas::Infaas::new(config, &case.profiles()))
        }),
        entry("eager", |case| {
            let gather = [eager::Gather::Head, eager::Gather::Window][case.seed as usize % 2];
            let config = eager::Config { max_batch: 8, gather };
            Box::new(eager::Eager::new(config, &case.profiles()))
        }),
        entry("kairos", |case| {
            let config =
                [kairos::Config::released(), kairos::Config::paper()][case.seed as usize % 2];
            Box::new(kairos::Kairos::new(config, &case.profiles()))
        }),
        entry("drs", |case| {
            let config = drs::Config { threshold: 1 + case.seed as u32 % 2 };
            Box::new(drs::Drs::new(config, &case.profiles()))
        }),
        entry("clkwrk", |case| {
            let choices =
                [clkwrk::InstanceChoice::EarliestFinish, clkwrk::InstanceChoice::SlowestFeasible];
            let config = clkwrk::Config { choice: choices[case.seed as usize % 2] };
            Box::new(clkwrk::Clkwrk::new(config, &case.profiles()))
        }),
    ]
}

/// Notes everything that a policy is told and can look up: more than a log says.
struct Spy {
    policy: Box<dyn Policy>,
    told: Vec<String>,
    requests: u64,
}

impl Spy {
    fn new(policy: Box<dyn Policy>) -> Spy {
        Spy { policy, told: Vec::new(), requests: 0 }
    }
}

impl Policy for Spy {
    fn name(&self) -> String {
        self.policy.name()
    }
    fn sees_truth(&self) -> bool {
        self.policy.sees_truth()
    }
    fn wants_profiles(&self) -> bool {
        self.policy.wants_profiles()
    }
    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        if let Event::Arrive(request) = event {
            self.requests = request.id.0 + 1;
        }
        let ids = (0..=self.requests).map(RequestId);
        let alive: Vec<_> = ids
            .filter_map(|id| known.request(id).map(|r| (r.id.0, r.deadline, known.truth(id))))
            .collect();
        let holds = |d: &DeviceView| known.holds(d.id, ModelId(0));
        let devices: Vec<_> =
            known.devices().iter().map(|d| (d.state, d.free_pages, d.stages, holds(d))).collect();
        self.told.push(format!("{now} {event:?}\n  devices {devices:?}\n  alive {alive:?}"));
        self.policy.on(now, event, known, out);
    }
}

/// What one engine made of a case.
struct Ran {
    records: Vec<Record>,
    /// What the observer was told.
    shown: Vec<String>,
    /// What the policy was told.
    told: Vec<String>,
    /// It did not come to the end of time.
    is_whole: bool,
}

fn run_engine(case: &Case, policy: Box<dyn Policy>) -> Ran {
    let observer = (MemoryLog::default(), Watcher::of(case));
    let finished = simulate(&case.world, case.sources(), Spy::new(policy), observer);
    let (MemoryLog { records, .. }, watcher) = finished.observer;
    assert_eq!(records.last(), Some(&Record::Finish { time: finished.end }));
    let is_whole = finished.failure.is_none();
    Ran { records, shown: watcher.lines, told: finished.policy.told, is_whole }
}

fn run_naive(case: &Case, policy: Box<dyn Policy>) -> (Ran, Vec<DeviceSpec>) {
    let mut spy = Spy::new(policy);
    let mut observer = (MemoryLog::default(), Watcher::of(case));
    let (is_whole, devices) = naive::run(&case.world, case.sources(), &mut spy, &mut observer);
    let (records, shown) = (observer.0.records, observer.1.lines);
    (Ran { records, shown, told: spy.told, is_whole }, devices)
}

/// Panics at the first difference, with what came before it.
fn same<T: PartialEq + Display>(what: &str, engine: &[T], naive: &[T]) {
    let at = engine.iter().zip(naive).take_while(|(a, b)| a == b).count();
    if at < engine.len().max(naive.len()) {
        let text = |one: Option<&T>| one.map_or("nothing".to_owned(), T::to_string);
        let before: Vec<_> = engine[at.saturating_sub(12)..at].iter().map(T::to_string).collect();
        let (before, engine, naive) =
            (before.join("\n"), text(engine.get(at)), text(naive.get(at)));
        panic!("{what} {at} differs; before:\n{before}\nengine: {engine}\nnaive:  {naive}");
    }
}

/// Names the case if it panics.
struct OnPanic<'a>(&'a str, u64);

impl Drop for OnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("policy {}; to run this case alone: ORRERY_SEED={}", self.0, self.1);
        }
    }
}

fn check(entry: &Entry, seed: u64) -> Vec<Record> {
    let _named = OnPanic(entry.name, seed);
    let case = Case::new(seed);
    let engine = run_engine(&case, (entry.make)(&case));
    let (naive, devices) = run_naive(&case, (entry.make)(&case));
    same("line", &engine.shown, &naive.shown);
    same("event", &engine.told, &naive.told);
    assert!(engine.records == naive.records);
    assert_eq!(engine.is_whole, naive.is_whole);
    let devices = devices.iter().map(DeviceTerms::from).collect();
    let pages = case.world.core.models.iter().map(|m| m.pages).collect();
    let terms = Terms { devices, pages, ..Terms::default() };
    let mut auditor = Auditor::default().with_terms(&Names::default(), terms);
    engine.records.iter().for_each(|r| auditor.record(r.clone()));
    let report = auditor.finish();
    // The one fault that is a policy's own: it may take away a model that runs.
    let theirs = report.faults.iter().filter(|f| f.fault.name() == "UnloadsModelInUse").count();
    assert!(theirs == 0 || entry.name == "chaotic", "{report}");
    assert_eq!(report.fault_count, theirs as u64, "{report}");
    engine.records
}

fn from_environment(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}, allowed is a whole number")))
}

fn seeds() -> Range<u64> {
    match from_environment("ORRERY_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..from_environment("ORRERY_CASES").unwrap_or(1_000),
    }
}

#[test]
fn the_engine_agrees_with_the_naive_one_record_by_record_and_its_logs_are_clean() {
    for entry in policies() {
        let good = |r: &Record| matches!(r, Record::End { end: End::InTime, .. });
        let good_in = |seed| check(&entry, seed).iter().filter(|r| good(r)).count();
        let in_time: usize = seeds().map(good_in).sum();
        let cases = seeds().count();
        assert!(in_time >= cases || cases < 100, "{} answers next to nothing", entry.name);
    }
}

/// The cases are worth their time only if they reach everything.
#[test]
fn the_cases_reach_every_kind_of_record() {
    let chaotic = &policies()[0];
    let mut words: Vec<String> = Vec::new();
    for seed in 0..200 {
        for record in check(chaotic, seed) {
            let line = record.to_string();
            let words_of_line = line.split(',').filter(|w| w.starts_with(char::is_alphabetic));
            words.push(words_of_line.collect::<Vec<_>>().join(" "));
        }
    }
    words.sort();
    words.dedup();
    let expected = [
        "arrive",
        "begin",
        "close cancelled",
        "close done",
        "close preempted",
        "close rejected_device_down",
        "close rejected_late",
        "close rejected_no_memory",
        "close rejected_not_loaded",
        "device down",
        "device draining",
        "device up",
        "end dropped_default_reply",
        "end dropped_shed",
        "end in_time",
        "end late",
        "end pending",
        "finish",
        "issue",
        "load",
        "unload",
    ];
    assert_eq!(words, expected);
}
