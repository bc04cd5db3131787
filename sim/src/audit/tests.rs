//! Tests of the auditor: a log of a real run is clean, and every fault that is put into it is found
//! by its name. The faults themselves are in the table of [`seeded_faults`].

mod memory;
mod shared;
mod stalls;

use super::*;
use crate::cluster::DeviceSpec;
use crate::core::{Delays, DeviceChange};
use crate::driver::{World, simulate};
use crate::latency::Latency;
use crate::log::{AppTerms, Closed, DeviceTerms, LogWriter, MemoryLog, read_log};
use crate::penalty::{MILLION, Penalty, Step};
use crate::policy::Refusal;
use crate::policy::fifo::{Config, Fifo};
use crate::request::{AppId, Arrival, Drop, ModelId, Source, SourceId, VecSource};
use crate::time::Span;

/// The SLO of the second application.
const SLO: Span = Span::from_ms(27);

/// Three devices of which d2 fails in the middle, two applications with a model each, answers that
/// travel for 3 ms, and enough load that some requests are late and some are dropped.
fn run<O: crate::observer::Observer>(observer: O) -> O {
    let ms = Span::from_ms;
    let law = |a, b| Latency::Affine { alpha: ms(a), beta: ms(b) };
    let mut world = World::single(law(1, 5));
    world.core.devices = vec![DeviceSpec::default(); 3];
    world.core.models = vec![Default::default(); 2];
    world.core.delays =
        Delays { reply: ms(3).into(), fetch_per_request: ms(1), ..Delays::default() };
    world.latency = vec![vec![law(1, 5), law(2, 9)]];
    world.changes = vec![(Time::ZERO + ms(61), DeviceChange::Fail(DeviceId(2)))];
    let arrival = |i: u64| Arrival {
        at: Time::ZERO + ms(i),
        app: AppId((i % 3 % 2) as u32),
        model: ModelId((i % 3 % 2) as u32),
        size: 1 + (i % 2) as u32,
        slo: match i {
            _ if i % 3 == 1 => SLO,
            _ if i % 10 == 9 => Span::MAX,
            _ => ms(12 + i % 40),
        },
        alone: ms(1),
    };
    let source: Box<dyn Source> = Box::new(VecSource::new((0..120).map(arrival).collect()));
    let policy = Fifo::new(Config { max_batch: 3, drop_expired: true });
    simulate(&world, vec![source], policy, observer).observer
}

fn log() -> Vec<Record> {
    run(MemoryLog::default()).records
}

/// What that run was given.
fn terms() -> Terms {
    let app = |model, slo| AppTerms { model: ModelId(model), slo };
    Terms {
        devices: vec![DeviceTerms { lanes: 1, ..DeviceTerms::default() }; 3],
        apps: vec![app(0, None), app(1, Some(SLO))],
        ..Terms::default()
    }
}

fn names_of_two() -> Names {
    let two = |a: &str, b: &str| vec![a.to_string(), b.to_string()];
    Names { models: two("bert", "gpt"), apps: two("chat", "search"), ..Names::default() }
}

/// The auditor that knows all that a log can say.
fn strict() -> Auditor {
    Auditor::default().with_terms(&names_of_two(), terms())
}

fn audit_strictly(log: Vec<Record>) -> Report {
    let mut auditor = strict();
    log.into_iter().for_each(|record| auditor.record(record));
    auditor.finish()
}

/// The arrival of the first request from record 100 on that `is`.
fn an_arrival(log: &mut [Record], is: impl Fn(&Request) -> bool) -> &mut Request {
    let at = find(log, 100, |r| matches!(r, Record::Arrive { request, .. } if is(request)));
    let Record::Arrive { request, .. } = &mut log[at] else { unreachable!() };
    request
}

fn time(ns: u64) -> Time {
    Time::from_ns(ns)
}

/// The position of the first record after `from` that `is`.
fn find(log: &[Record], from: usize, is: impl Fn(&Record) -> bool) -> usize {
    from + log[from..].iter().position(is).expect("the log has such a record")
}

fn is_done(record: &Record) -> bool {
    matches!(record, Record::Close { outcome: Closed::Done(_), .. })
}

fn is_end(end: End) -> impl Fn(&Record) -> bool {
    move |r| matches!(r, Record::End { end: e, .. } if *e == end)
}

fn is_begin(record: &Record) -> bool {
    matches!(record, Record::Begin { .. })
}

fn is_issue(record: &Record) -> bool {
    matches!(record, Record::Issue { .. })
}

fn batch(record: &mut Record) -> &mut BatchRecord {
    let Record::Issue { batch, .. } = record else { panic!("{record} issues nothing") };
    batch
}

/// The first batch issued from record 200 on, that runs on a device that stays.
fn a_batch(log: &mut [Record]) -> &mut BatchRecord {
    let at = find(log, 200, is_issue);
    batch(&mut log[at])
}

/// Where the batch that the failing device runs begins and closes.
fn the_preempted(log: &[Record]) -> (usize, usize) {
    let is = |r: &Record| matches!(r, Record::Close { outcome: Closed::Preempted, .. });
    let close = find(log, 0, is);
    let Record::Close { action, .. } = log[close] else { unreachable!() };
    (find(log, 0, |r| matches!(r, Record::Begin { action: a, .. } if *a == action)), close)
}

fn model_of(log: &[Record], request: RequestId) -> ModelId {
    let is = |r: &Record| matches!(r, Record::Arrive { request: q, .. } if q.id == request);
    let Record::Arrive { request, .. } = log[find(log, 0, is)] else { unreachable!() };
    request.model
}

/// Adds to some batch a request of its model that `is_wanted` in the light of all before the batch.
fn add_to_a_batch(log: &mut [Record], is_wanted: impl Fn(&[Record], RequestId) -> bool) {
    for at in 0..log.len() {
        if !is_issue(&log[at]) {
            continue;
        }
        let (before, rest) = log.split_at_mut(at);
        let batch = batch(&mut rest[0]);
        let arrived = before.iter().filter_map(|r| match r {
            Record::Arrive { request, .. } if request.model == batch.model => Some(request.id),
            _ => None,
        });
        if let Some(request) = arrived.rev().find(|&r| is_wanted(before, r)) {
            batch.requests.push(request);
            batch.units += 2;
            return;
        }
    }
    panic!("the log has no such batch");
}

fn has_ended(log: &[Record], request: RequestId) -> bool {
    log.iter().any(|r| matches!(r, Record::End { request: q, .. } if *q == request))
}

/// Whether its last batch is open; `None` when it was in none.
fn is_in_open_batch(log: &[Record], request: RequestId) -> Option<bool> {
    let action = log.iter().rev().find_map(|r| match r {
        Record::Issue { batch, .. } if batch.requests.contains(&request) => Some(batch.action),
        _ => None,
    })?;
    Some(!log.iter().any(|r| matches!(r, Record::Close { action: a, .. } if *a == action)))
}

type Mutation = fn(&mut Vec<Record>);

/// Faults that are put in, and all the names under which they must be found.
fn seeded_faults() -> Vec<(&'static str, Mutation)> {
    vec![
        ("LeftWithoutEnd", |log| drop(log.remove(find(log, 200, is_end(End::InTime))))),
        ("EndsTwice", |log| {
            let at = find(log, 200, is_end(End::InTime));
            log.insert(at, log[at].clone());
        }),
        ("EndsWithoutArriving", |log| {
            let at = find(log, 200, is_end(End::InTime));
            let (time, end) = (log[at].time(), End::Dropped(Drop::Shed));
            log.insert(at, Record::End { time, request: RequestId(1_000), end });
        }),
        ("ArrivalSkipped EndsWithoutArriving RunsWithoutArriving", |log| {
            drop(log.remove(find(log, 20, |r| matches!(r, Record::Arrive { .. }))));
        }),
        ("ArrivesTwice", |log| {
            let at = find(log, 200, |r| matches!(r, Record::Arrive { .. }));
            log.insert(at, log[at].clone());
        }),
        ("ArrivalAtAnotherTime", |log| {
            let at = find(log, 200, |r| matches!(r, Record::Arrive { .. }));
            let Record::Arrive { request, .. } = &mut log[at] else { unreachable!() };
            request.arrival = time(7);
        }),
        ("AnsweredBeforeItsBatch", |log| {
            let end = find(log, 200, is_end(End::InTime));
            let Record::End { request, end, .. } = log.remove(end) else { unreachable!() };
            let issued = |r: &Record| matches!(r, Record::Issue { batch, .. } if batch.requests.contains(&request));
            let begin = find(log, find(log, 0, issued), is_begin);
            log.insert(begin + 1, Record::End { time: log[begin].time(), request, end });
        }),
        ("LateCountedAsGood", |log| {
            let at = find(log, 0, is_end(End::Late));
            let Record::End { end, .. } = &mut log[at] else { unreachable!() };
            *end = End::InTime;
        }),
        ("GoodCountedAsLate", |log| {
            let at = find(log, 0, is_end(End::InTime));
            let Record::End { end, .. } = &mut log[at] else { unreachable!() };
            *end = End::Late;
        }),
        ("GoodCountedAsLate", |log| {
            let without_deadline = RequestId(9);
            let at = find(
                log,
                0,
                |r| matches!(r, Record::End { request, .. } if *request == without_deadline),
            );
            let Record::End { end, .. } = &mut log[at] else { unreachable!() };
            *end = End::Late;
        }),
        ("ExpiredBeforeDeadline", |log| {
            let at = find(log, 200, is_end(End::InTime));
            let Record::End { end, .. } = &mut log[at] else { unreachable!() };
            *end = End::Dropped(Drop::Expired);
        }),
        ("UnknownApp", |log| an_arrival(log, |_| true).app = AppId(2)),
        ("AppOfAnotherModel UnknownModel", |log| {
            an_arrival(log, |_| true).model = ModelId(2);
        }),
        ("AppOfAnotherModel", |log| an_arrival(log, |r| r.app == AppId(1)).app = AppId(0)),
        ("DeadlineMoved", |log| {
            an_arrival(log, |r| r.app == AppId(1)).deadline += Span::from_ns(1);
        }),
        ("DeadlineMoved GoodCountedAsLate", |log| {
            an_arrival(log, |r| r.app == AppId(1)).deadline = Time::NEVER;
        }),
        ("DeadlineBeforeArrival", |log| {
            let r = an_arrival(log, |r| r.app == AppId(0));
            r.deadline = r.arrival.minus(Span::from_ns(1));
        }),
        ("DeviceWithoutTerms", |log| {
            let (time, device, change) = (log[200].time(), DeviceId(3), Change::Up);
            log.insert(200, Record::Device { time, device, change });
        }),
        // The last answer of a batch, 50 ms after the others.
        ("AnsweredApart", |log| {
            let is_last = |pair: &[Record]| {
                let is_answer = is_end(End::InTime);
                let without_deadline = |r: &Record| matches!(r, Record::End { request, .. } if request.0 % 10 == 9 && request.0 % 3 != 1);
                pair[0].time() == pair[1].time()
                    && is_answer(&pair[0])
                    && is_answer(&pair[1])
                    && without_deadline(&pair[1])
            };
            let at = 1 + log.windows(2).position(is_last).expect("such a batch");
            let Record::End { time, request, end } = log.remove(at) else { unreachable!() };
            let time = time + Span::from_ms(50);
            let later = find(log, at, |r| r.time() > time);
            log.insert(later, Record::End { time, request, end });
        }),
        ("ActionReused", |log| {
            let at = find(log, 200, is_issue);
            log.insert(at, log[at].clone());
        }),
        ("AnsweredBeforeItsBatch EmptyBatch", |log| a_batch(log).requests.clear()),
        ("UnknownDevice", |log| a_batch(log).device = DeviceId(9)),
        ("NoSuchLane", |log| a_batch(log).lane = 1),
        ("AnsweredBeforeItsBatch PreemptedWhereItCannot", |log| {
            let close = find(log, 200, is_done);
            let Record::Close { outcome, .. } = &mut log[close] else { unreachable!() };
            *outcome = Closed::Preempted;
        }),
        ("RunsWithoutArriving", |log| {
            let batch = a_batch(log);
            batch.requests.push(RequestId(1_000));
        }),
        ("RunsAfterEnd", |log| add_to_a_batch(log, has_ended)),
        ("RunsTwice", |log| {
            add_to_a_batch(log, |before, request| {
                !has_ended(before, request) && is_in_open_batch(before, request) == Some(false)
            });
        }),
        ("InTwoBatches", |log| {
            add_to_a_batch(log, |before, request| is_in_open_batch(before, request) == Some(true));
        }),
        ("WrongModel", |log| {
            let first = a_batch(log).requests[0];
            let right = model_of(log, first);
            a_batch(log).model = ModelId(1 - right.0);
        }),
        ("TooFewUnits", |log| a_batch(log).units -= 1),
        ("AnsweredBeforeItsBatch BeginsWithoutIssue ClosesWithoutIssue", |log| {
            drop(log.remove(find(log, 200, is_issue)))
        }),
        ("BeginsTwice", |log| {
            let at = find(log, 200, is_begin);
            log.insert(at, log[at].clone());
        }),
        ("BeginsTooEarly", |log| {
            let begins = log[find(log, 200, is_begin)].time();
            a_batch(log).earliest = begins + Span::from_ns(1);
        }),
        ("BeginsTooLate", |log| {
            let begins = log[find(log, 200, is_begin)].time();
            a_batch(log).latest = begins.minus(Span::from_ns(1));
        }),
        ("LaneOverlap", |log| {
            let batch = a_batch(log);
            batch.device = DeviceId(1 - batch.device.0);
        }),
        ("BeginsOnDownDevice DoneOnDownDevice", |log| a_batch(log).device = DeviceId(2)),
        ("BeginsOnDrainingDevice", |log| {
            let at = find(log, 200, is_issue);
            let (time, device) = (log[at].time(), batch(&mut log[at]).device);
            log.insert(at, Record::Device { time, device, change: Change::Draining });
        }),
        ("ClosesWithoutBegin", |log| drop(log.remove(find(log, 200, is_begin)))),
        ("ClosesAfterBegin", |log| {
            let (_, close) = the_preempted(log);
            let Record::Close { outcome, .. } = &mut log[close] else { unreachable!() };
            *outcome = Closed::Cancelled;
        }),
        ("RefusedInsideWindow", |log| {
            let (begin, close) = the_preempted(log);
            let Record::Close { outcome, .. } = &mut log[close] else { unreachable!() };
            *outcome = Closed::Rejected(Refusal::Late);
            log.remove(begin);
        }),
        ("RefusedInsideWindow", |log| {
            let (begin, close) = the_preempted(log);
            let now = log[close].time();
            let Record::Close { action, outcome, .. } = &mut log[close] else { unreachable!() };
            *outcome = Closed::Rejected(Refusal::Late);
            let action = *action;
            let is =
                |r: &Record| matches!(r, Record::Issue { batch, .. } if batch.action == action);
            let issue = find(log, 0, is);
            // At the last moment of its window it may begin still.
            log.remove(begin);
            batch(&mut log[issue]).latest = now;
        }),
        ("AnsweredBeforeItsBatch RefusedByDeviceThatIsUp", |log| {
            let close = find(log, 200, is_done);
            let Record::Close { action, outcome, .. } = &mut log[close] else { unreachable!() };
            *outcome = Closed::Rejected(Refusal::DeviceDown);
            let action = *action;
            log.retain(|r| !matches!(r, Record::Begin { action: a, .. } if *a == action));
        }),
        ("ComputedLongerThanItRan", |log| {
            let close = find(log, 200, is_done);
            let Record::Close { outcome, .. } = &mut log[close] else { unreachable!() };
            *outcome = Closed::Done(Span::from_secs(1));
        }),
        ("ChangesAfterGone", |log| {
            let (device, change) = (DeviceId(2), Change::Up);
            let time = log[log.len() - 1].time();
            log.insert(log.len() - 1, Record::Device { time, device, change });
        }),
        ("ChangesOutOfOrder", |log| {
            let device =
                Record::Device { time: log[200].time(), device: DeviceId(1), change: Change::Up };
            log.insert(200, device);
        }),
        ("BeginsOnDrainingDevice ChangesOutOfOrder", |log| {
            let at = find(log, 0, |r| matches!(r, Record::Device { .. }));
            let Record::Device { change, .. } = &mut log[at] else { unreachable!() };
            *change = Change::Draining;
        }),
        ("TimeBackwards", |log| {
            let at = find(log, 200, is_begin);
            let Record::Begin { time, .. } = &mut log[at] else { unreachable!() };
            *time = time.minus(Span::from_ms(1));
        }),
        ("NoFinish", |log| drop(log.pop())),
        ("AfterFinish", |log| log.push(log[log.len() - 1].clone())),
        ("PendingBeforeFinish", |log| {
            let last = log.len() - 2;
            let Record::End { end, .. } = &mut log[last] else { panic!("{}", log[last]) };
            *end = End::Pending;
            let Record::Finish { time } = &mut log[last + 1] else { unreachable!() };
            *time += Span::from_ns(1);
        }),
        ("AfterPending", |log| {
            let at = find(log, 200, is_end(End::Dropped(Drop::Expired)));
            let Record::End { end, .. } = &mut log[at] else { unreachable!() };
            *end = End::Pending;
        }),
    ]
}

fn names(report: &Report) -> Vec<String> {
    let mut names: Vec<_> = report.faults.iter().map(|f| f.fault.name()).collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn the_log_of_a_real_run_is_clean_and_has_something_of_everything() {
    let report = audit_strictly(log());
    assert!(report.is_clean(), "{report}");
    assert_eq!((report.requests, report.ends.iter().sum()), (120, 120u64));
    for end in [End::InTime, End::Late, End::Dropped(Drop::Expired), End::Dropped(Drop::Refused)] {
        assert!(report.ends[end.index()] > 0, "no request is {}", end.word());
    }
    assert_eq!(report.batches - report.batches_done, 1, "one is lost with its device");
    assert!(!report.to_string().contains("loads done"), "{report}");
}

#[test]
fn every_seeded_fault_is_found_under_its_name_and_under_no_other() {
    for (number, (expected, mutate)) in seeded_faults().into_iter().enumerate() {
        let mut log = log();
        mutate(&mut log);
        let report = audit_strictly(log);
        assert_eq!(names(&report).join(" "), expected, "seeded fault {number}: {report}");
    }
}

#[test]
fn no_fault_is_without_a_seeded_one() {
    let variants = include_str!("fault.rs").matches("#[error(").count();
    let of_memory = memory::seeded_faults();
    let mut found: Vec<_> =
        seeded_faults().iter().chain(&of_memory).flat_map(|s| s.0.split(' ')).collect();
    found.push(shared::FAULT);
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), variants, "{found:?}");
}

#[test]
fn a_written_log_has_the_same_audit_and_a_finding_names_its_line() {
    let writer = LogWriter::with_names(Vec::new(), &names_of_two()).with_terms(&terms());
    let written = run(writer).finish().unwrap();
    let report = audit_log(read_log(&written[..], "a.log")).unwrap();
    assert_eq!(report, audit_strictly(log()));
    assert_eq!(report, run(strict()).finish(), "online");

    let text = String::from_utf8(written).unwrap();
    let head = text.lines().position(|l| l.starts_with("device,")).unwrap();
    let late = text.lines().position(|l| l.ends_with(",late")).unwrap() + 1;
    let text = text.replacen(",late\n", ",in_time\n", 1);
    let report = audit_log(read_log(text.as_bytes(), "a.log")).unwrap().to_string();
    assert!(report.starts_with("audit: 1 fault; "), "{report}");
    let place = format!("record {} (line {late}), at 0.", late - head);
    assert!(report.contains(&place), "{place}: {report}");
    assert!(report.contains("LateCountedAsGood: r"), "{report}");
}

/// A log without terms says nothing of lanes and SLOs, and the report says so.
#[test]
fn a_log_without_terms_is_held_to_its_names_and_to_nothing_else() {
    let mut log = log();
    a_batch(&mut log).lane = 1;
    an_arrival(&mut log, |r| r.app == AppId(1)).deadline += Span::from_ns(1);
    an_arrival(&mut log, |r| r.app == AppId(0)).app = AppId(2);
    let write = |names: &Names| {
        let mut lines = LogWriter::with_names(Vec::new(), names);
        log.iter().for_each(|r| lines.record(r.clone()));
        String::from_utf8(lines.finish().unwrap()).unwrap()
    };
    let report = |text: String| audit_log(read_log(text.as_bytes(), "a.log")).unwrap();
    assert!(report(write(&Names::default())).is_clean());
    let named = report(write(&names_of_two()));
    assert_eq!(names(&named), ["UnknownApp"]);
    assert!(named.to_string().contains(Report::UNSEEN_WITHOUT_TERMS), "{named}");
    let strict = audit_strictly(log.clone());
    assert_eq!(names(&strict), ["DeadlineMoved", "NoSuchLane", "UnknownApp"]);
    assert!(!strict.to_string().contains(Report::UNSEEN_WITHOUT_TERMS));
    assert!(Report::UNSEEN.iter().all(|what| strict.to_string().contains(what)));
}

/// Devices that are added later have no number in the head.
#[test]
fn a_device_that_came_later_is_held_to_the_terms_of_such_devices() {
    let found = |later_devices| {
        let mut log = log();
        let time = log[200].time();
        log.insert(200, Record::Device { time, device: DeviceId(3), change: Change::Up });
        let batch = a_batch(&mut log);
        (batch.device, batch.lane) = (DeviceId(3), 1);
        let terms = Terms { later_devices, ..terms() };
        let mut auditor = Auditor::default().with_terms(&names_of_two(), terms);
        log.into_iter().for_each(|record| auditor.record(record));
        names(&auditor.finish()).join(" ")
    };
    assert_eq!(found(None), "DeviceWithoutTerms");
    let with = |lanes| Some(DeviceTerms { lanes, ..DeviceTerms::default() });
    assert_eq!(found(with(2)), "");
    assert_eq!(found(with(1)), "NoSuchLane");
}

#[test]
fn the_list_of_faults_is_bounded_and_their_count_is_not() {
    let request = |id| Record::End { time: Time::ZERO, request: RequestId(id), end: End::Late };
    let report = audit((0..1_000).map(request));
    assert_eq!(report.faults.len(), Report::FAULTS_MAX);
    assert_eq!(report.fault_count, 1_001, "the missing finish included");
    assert!(report.to_string().contains("and 901 more\n"));
}

#[test]
fn memory_is_for_what_is_alive() {
    let mut auditor = Auditor::default();
    for record in log() {
        auditor.record(record);
        let [live, open] = [auditor.live.iter().count(), auditor.open.iter().count()];
        assert!(live < 60 && open <= 3 && auditor.lanes.len() <= 3);
    }
    assert!(auditor.live.is_empty() && auditor.open.is_empty() && auditor.lanes.is_empty());
    assert!(auditor.answers.is_empty());
}

/// Nothing of it is answered: nothing has to be kept of it.
#[test]
fn a_batch_whose_requests_ended_while_it_ran_is_forgotten_when_it_is_done() {
    let mut log = log();
    let done = find(&log, 200, is_done);
    let Record::Close { time, action, .. } = log[done] else { unreachable!() };
    let issue = |r: &Record| matches!(r, Record::Issue { batch, .. } if batch.action == action);
    let issued = find(&log, 0, issue);
    let requests = batch(&mut log[issued]).requests.clone();
    log.retain(|r| !matches!(r, Record::End { request, .. } if requests.contains(request)));
    let end = End::Dropped(Drop::Infeasible);
    let done = find(&log, 0, |r| matches!(r, Record::Close { action: a, .. } if *a == action));
    log.splice(done..done, requests.iter().map(|&request| Record::End { time, request, end }));
    let mut auditor = Auditor::default();
    log.into_iter().for_each(|record| auditor.record(record));
    assert!(auditor.answers.is_empty() && auditor.live.is_empty());
}

/// The line of a device's terms is gone: what the device does cannot be checked.
#[test]
fn terms_that_leave_out_a_device_are_a_fault() {
    let mut fewer = terms();
    fewer.devices.pop();
    let mut auditor = Auditor::default().with_terms(&names_of_two(), fewer);
    log().into_iter().for_each(|record| auditor.record(record));
    assert_eq!(names(&auditor.finish()), ["DeviceWithoutTerms"]);
}

/// What a late answer costs is counted from the SLO, which a damaged log may not have.
#[test]
fn a_deadline_before_its_arrival_is_a_fault_where_late_answers_have_costs() {
    let mut log = log();
    let r = an_arrival(&mut log, |r| r.app == AppId(0));
    r.deadline = r.arrival.minus(Span::from_ns(1));
    let costly = Terms { penalties: vec![crate::penalty::Penalty::default(); 2], ..terms() };
    let mut auditor = Auditor::default().with_terms(&names_of_two(), costly);
    log.into_iter().for_each(|record| auditor.record(record));
    assert_eq!(names(&auditor.finish()), ["DeadlineBeforeArrival"]);
}

/// Late answers and dropped requests cost one each, those in time nothing.
#[test]
fn what_requests_cost_is_added_up() {
    let costly = Terms { penalties: vec![crate::penalty::Penalty::default(); 2], ..terms() };
    let mut auditor = Auditor::default().with_terms(&names_of_two(), costly);
    log().into_iter().for_each(|record| auditor.record(record));
    let report = auditor.finish();
    let in_time = report.ends[End::InTime.index()];
    assert!(report.ends[End::Late.index()] > 0, "{report}");
    let others = u128::from(report.requests - in_time);
    assert_eq!(report.cost, Some(others * u128::from(crate::penalty::MILLION)));
}

/// Deadlines are rounded to nanoseconds by the policy's function and multiplied out by the auditor.
#[test]
fn what_an_answer_costs_is_the_same_by_both_of_its_functions() {
    let step = |deadline, cost| Step { deadline, cost };
    for beyond in [1_000_001, 1_300_000, 1_499_999, 1_500_000, 1_666_667, 2_000_000] {
        let steps = vec![step(MILLION, 3), step(beyond, 5)];
        let penalty = Penalty::new(steps).expect("steps that grow");
        let costly = Terms { penalties: vec![penalty.clone()], ..terms() };
        for (slo, latency) in (1..30u64).flat_map(|slo| (0..64).map(move |ns| (slo, ns))) {
            let mut auditor = Auditor::default().with_terms(&names_of_two(), costly.clone());
            auditor.now = time(latency);
            let request = Request {
                id: RequestId(0),
                app: AppId(0),
                model: ModelId(0),
                size: 1,
                source: SourceId(0),
                arrival: Time::ZERO,
                deadline: time(slo),
            };
            auditor.pay(&request, End::Late);
            let cost = penalty.cost(Span::from_ns(slo), Span::from_ns(latency));
            assert_eq!(auditor.report.cost, Some(cost.into()), "{beyond} {slo} {latency}");
        }
    }
}

#[test]
fn a_request_has_arrived_once_its_arrival_was_seen() {
    let log = log();
    let first = find(&log, 0, |r| matches!(r, Record::Arrive { .. }));
    let mut auditor = strict();
    log.into_iter().take(first + 1).for_each(|record| auditor.record(record));
    assert!(auditor.has_arrived(RequestId(0)) && !auditor.has_arrived(RequestId(1)));
}

/// On a real device a request is told a little after its arrival; in a simulation that is a fault.
#[test]
fn only_a_wall_clock_tells_arrivals_late() {
    let faults = |mut auditor: Auditor| {
        let mut log = log();
        let at = find(&log, 0, |r| matches!(r, Record::Arrive { .. }));
        let Record::Arrive { time, .. } = &mut log[at] else { unreachable!() };
        *time += Span::from_ns(1);
        log.into_iter().take(at + 1).for_each(|record| auditor.record(record));
        names(&auditor.finish()).contains(&"ArrivalAtAnotherTime".to_string())
    };
    assert!(faults(Auditor::default()) && !faults(Auditor::on_a_wall_clock()));
}
