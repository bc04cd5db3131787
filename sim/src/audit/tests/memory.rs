//! Faults of memory, put into the log of a run of Clockwork on two devices that hold two models of
//! six each.

use super::super::*;
use super::{Mutation, batch, find, is_issue, names};
use crate::cluster::{DeviceSpec, Footprint};
use crate::core::CoreSpec;
use crate::driver::{World, simulate};
use crate::latency::Latency;
use crate::log::{Closed, DeviceTerms, LoadRecord, LogWriter, MemoryLog, MemoryTerms, read_log};
use crate::observer::Observer;
use crate::policy::Refusal;
use crate::policy::clockwork::{Clockwork, Config};
use crate::profile::ModelProfile;
use crate::request::{AppId, Arrival, ModelId, VecSource};
use crate::time::Span;

const LAW: Latency = Latency::Proportional { c1: 0.1 };
const MODELS: u32 = 6;

fn device() -> DeviceSpec {
    DeviceSpec { memory_pages: Some(9), ..DeviceSpec::default() }
}

fn run<O: Observer>(observer: O) -> O {
    let ms = Span::from_ms;
    let world = World {
        core: CoreSpec {
            devices: vec![device(); 2],
            models: vec![Footprint { pages: 4, load: ms(8) }; MODELS as usize],
            ..CoreSpec::default()
        },
        latency: vec![vec![LAW; MODELS as usize]],
        ..World::default()
    };
    let measure = |_| ModelProfile::measure(&LAW, ms(100), &[1, 2, 4], 1, || (0, ms(5)), 1);
    let profiles: Vec<ModelProfile> = (0..MODELS).map(measure).collect();
    let arrival = |i: u64| Arrival {
        at: Time::ZERO + ms(4 * i),
        app: AppId(0),
        // One model for a while, then the next: each comes back after it was evicted.
        model: ModelId((i / 12 % u64::from(MODELS)) as u32),
        size: 1,
        slo: ms(100),
        alone: ms(5),
    };
    let source = Box::new(VecSource::new((0..400).map(arrival).collect()));
    let policy = Clockwork::new(Config::released(), &profiles);
    simulate(&world, vec![source], policy, observer).observer
}

fn terms() -> Terms {
    Terms {
        devices: vec![DeviceTerms::from(&device()); 2],
        pages: vec![4; MODELS as usize],
        ..Terms::default()
    }
}

fn log() -> Vec<Record> {
    run(MemoryLog::default()).records
}

fn is_load(record: &Record) -> bool {
    matches!(record, Record::Load { .. })
}

fn is_unload(record: &Record) -> bool {
    matches!(record, Record::Unload { .. })
}

fn is_begin_of(action: ActionId) -> impl Fn(&Record) -> bool {
    move |r| matches!(r, Record::Begin { action: a, .. } if *a == action)
}

fn is_close_of(action: ActionId) -> impl Fn(&Record) -> bool {
    move |r| matches!(r, Record::Close { action: a, .. } if *a == action)
}

/// The first load of the log.
fn a_load(log: &[Record]) -> LoadRecord {
    let Record::Load { load, .. } = log[find(log, 0, is_load)] else { unreachable!() };
    load
}

/// Makes the outcome of an action a refusal, before it began.
fn refuse(log: &mut Vec<Record>, action: ActionId, why: Refusal) {
    log.remove(find(log, 0, is_begin_of(action)));
    let at = find(log, 0, is_close_of(action));
    let Record::Close { outcome, .. } = &mut log[at] else { unreachable!() };
    *outcome = Closed::Rejected(why);
}

/// Faults that are put in, and all the names under which they must be found.
pub(super) fn seeded_faults() -> Vec<(&'static str, Mutation)> {
    vec![
        ("RunsAbsentModel UnloadsAbsentModel", |log| {
            let load = a_load(log);
            log.remove(find(log, 0, is_begin_of(load.action)));
            log.remove(find(log, 0, is_close_of(load.action)));
            log.remove(find(log, 0, is_load));
        }),
        ("LoadOverlap RunsAbsentModel TooManyPages UnloadsAbsentModel", |log| {
            let load = a_load(log);
            log.remove(find(log, 0, is_close_of(load.action)));
        }),
        ("TooManyPages", |log| drop(log.remove(find(log, 0, is_unload)))),
        ("UnloadsAbsentModel", |log| {
            let at = find(log, 0, is_unload);
            log.insert(at, log[at].clone());
        }),
        ("UnloadsModelInUse", |log| {
            let last = log.iter().rposition(is_issue).expect("a batch");
            let b = batch(&mut log[last]).clone();
            let begin = find(log, last, is_begin_of(b.action));
            let time = log[begin].time();
            let unload = Record::Unload { time, device: b.device, model: b.model };
            log.insert(begin + 1, unload);
        }),
        ("AnsweredBeforeItsBatch RefusedWithItsModel", |log| {
            let at = find(log, 100, is_issue);
            let action = batch(&mut log[at]).action;
            refuse(log, action, Refusal::NotLoaded);
        }),
        ("RefusedWithRoom RunsAbsentModel UnloadsAbsentModel", |log| {
            let load = a_load(log);
            refuse(log, load.action, Refusal::NoMemory);
        }),
        // Beside another model there is room as well.
        ("RefusedWithRoom RunsAbsentModel UnloadsAbsentModel", |log| {
            let first = a_load(log);
            let is_beside = |r: &Record| {
                let Record::Load { load, .. } = r else { return false };
                load.device == first.device && load.action != first.action
            };
            let at = find(log, 0, is_beside);
            let Record::Load { load, .. } = log[at].clone() else { unreachable!() };
            refuse(log, load.action, Refusal::NoMemory);
        }),
        ("ActionReused", |log| {
            let at = find(log, 100, is_load);
            log.insert(at + 1, log[at].clone());
        }),
        ("BeginsTooLate", |log| {
            let at = find(log, 100, is_load);
            let Record::Load { time, load } = &mut log[at] else { unreachable!() };
            (load.earliest, load.latest) = (Time::ZERO, time.minus(Span::from_ns(1)));
        }),
    ]
}

fn audited(log: Vec<Record>) -> Report {
    let mut auditor = Auditor::default().with_terms(&Names::default(), terms());
    log.into_iter().for_each(|record| auditor.record(record));
    auditor.finish()
}

#[test]
fn a_run_with_loads_is_clean_and_has_something_of_everything() {
    let log = log();
    let count = |is: fn(&Record) -> bool| log.iter().filter(|r| is(r)).count();
    assert!(count(is_load) > 12 && count(is_unload) > 8, "{} {}", count(is_load), count(is_unload));
    let report = audited(log);
    assert!(report.is_clean() && report.loads_done > 12, "{report}");
}

#[test]
fn every_seeded_fault_of_memory_is_found_under_its_name_and_under_no_other() {
    for (number, (expected, mutate)) in seeded_faults().into_iter().enumerate() {
        let mut log = log();
        mutate(&mut log);
        let report = audited(log);
        assert_eq!(names(&report).join(" "), expected, "seeded fault {number}: {report}");
    }
}

#[test]
fn a_written_log_with_loads_is_the_same_when_it_is_read() {
    let writer = LogWriter::with_names(Vec::new(), &Names::default()).with_terms(&terms());
    let written = run(writer).finish().unwrap();
    let read: Vec<Record> = read_log(&written[..], "a.log").map(Result::unwrap).collect();
    assert_eq!(read, log());
    assert_eq!(audit_log(read_log(&written[..], "a.log")).unwrap().fault_count, 0);
}

/// A device that has models from the start, and no others.
#[test]
fn what_a_device_holds_from_the_start_is_there() {
    let log = log();
    let first = find(&log, 0, is_issue);
    let held = |holds: Vec<ModelId>| {
        let mut log = log.clone();
        let Record::Issue { batch, .. } = &log[first] else { unreachable!() };
        let (device, model) = (batch.device, batch.model);
        log.retain(|r| !matches!(r, Record::Load { load, .. } if load.action.0 == 0));
        log.retain(|r| !is_begin_of(ActionId(0))(r) && !is_close_of(ActionId(0))(r));
        let mut terms = terms();
        terms.devices[device.index()].memory = Some(MemoryTerms { pages: Some(9), holds });
        let mut auditor = Auditor::default().with_terms(&Names::default(), terms);
        log.into_iter().for_each(|record| auditor.record(record));
        (names(&auditor.finish()).join(" "), model)
    };
    let (faults, model) = held(Vec::new());
    assert!(faults.contains("RunsAbsentModel"), "{faults}");
    assert!(!held(vec![model]).0.contains("RunsAbsentModel"));
}
