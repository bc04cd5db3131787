//! Timelines of logs: exact on a log worked out by hand, sound on random ones.

use crate::differential::{cases::Case, policies};
use orrery_explain::timeline::{Selection, write_batches, write_trace};
use orrery_sim::driver::simulate;
use orrery_sim::log::{LogError, MemoryLog, Names, Record, read_log};
use orrery_sim::request::RequestId;
use orrery_sim::time::Time;
use serde_json::Value;
use std::collections::BTreeMap;

/// One device: r0 runs at once; r1 and r2 wait for it; r2 is given up, r1 runs next; r3 is in a batch
/// that is refused, and then in one that still runs when the log ends.
pub const BY_HAND: &str = "orrery-log,4
name,policy,0,nexus[drop=none,batch=2]
name,model,0,bert
name,app,0,chat
name,device,0,v100
device,0,0,up
arrive,1000,0,0,0,1,0,1000,51000
why,1000,0,the device is free
issue,1000,0,0,0,0,1,0,,0
begin,1000,0
arrive,2500,1,0,0,1,0,2500,21000
arrive,3001,2,0,0,1,0,3001,12000
close,11000,0,done,10000
end,11000,0,in_time
why,11000,2,it would end 9500 ns after its deadline
end,11000,2,dropped_infeasible
why,11000,1,the earliest deadline
issue,11000,1,0,0,0,1,0,,1
begin,11000,1
close,21500,1,done,10500
end,21500,1,late
arrive,22000,3,0,0,1,0,22000,
issue,22000,2,0,0,0,1,0,21999,3
close,22000,2,rejected_late,
issue,23000,3,0,0,0,2,0,,3
begin,23000,3
end,30000,3,pending
finish,30000
";

fn trace_of(
    names: &Names,
    records: impl IntoIterator<Item = Result<Record, LogError>>,
    selection: &Selection,
) -> String {
    let mut out = Vec::new();
    write_trace(names, records, selection, &mut out).expect("a log that can be read");
    String::from_utf8(out).expect("text")
}

fn by_hand(selection: &Selection) -> String {
    let mut log = read_log(BY_HAND.as_bytes(), "hand.log");
    let names = log.names().expect("names").clone();
    trace_of(&names, log, selection)
}

/// The lines of events, without those that name processes and tracks.
fn events(trace: &str) -> Vec<&str> {
    let lines = trace.lines().map(|l| l.trim_end_matches(','));
    lines.filter(|l| l.starts_with("{\"ph\"") && !l.starts_with("{\"ph\":\"M\"")).collect()
}

#[test]
fn the_log_by_hand_gives_the_events_worked_out_by_hand() {
    let trace = by_hand(&Selection::default());
    let waiting = |ts: &str, n: u64| {
        format!(
            "{{\"ph\":\"C\",\"pid\":2,\"name\":\"waiting bert\",\"ts\":{ts},\
             \"args\":{{\"requests\":{n}}}}}"
        )
    };
    let batch = |ts: &str, dur: &str, action: u64, request: u64, rest: &str| {
        format!(
            "{{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":{ts},\"dur\":{dur},\"name\":\"bert x1\",\
             \"args\":{{\"action\":{action},\"requests\":[{request}],{rest}}}}}"
        )
    };
    let expected = [
        // r0 comes and begins at one instant: nobody has waited.
        waiting("1.000", 0),
        waiting("2.500", 1),
        waiting("3.001", 2),
        batch("1.000", "10.000", 0, 0, "\"units\":1,\"issued_us\":1.000,\"outcome\":\"done\""),
        "{\"ph\":\"i\",\"pid\":2,\"tid\":1,\"ts\":11.000,\"s\":\"t\",\
         \"name\":\"dropped_infeasible bert\",\"args\":{\"request\":2,\
         \"reason\":\"dropped_infeasible\",\"waited_us\":7.999}}"
            .to_string(),
        waiting("11.000", 0),
        batch("11.000", "10.500", 1, 1, "\"units\":1,\"issued_us\":11.000,\"outcome\":\"done\""),
        "{\"ph\":\"i\",\"pid\":1,\"tid\":1,\"ts\":22.000,\"s\":\"t\",\"name\":\"bert x1\",\
         \"args\":{\"action\":2,\"requests\":[3],\"units\":1,\"issued_us\":22.000,\
         \"outcome\":\"rejected_late\"}}"
            .to_string(),
        waiting("22.000", 1),
        waiting("23.000", 0),
        batch("23.000", "7.000", 3, 3, "\"units\":2,\"issued_us\":23.000,\"outcome\":\"running\""),
    ];
    assert_eq!(events(&trace), expected);
    let value: Value = serde_json::from_str(&trace).expect("JSON");
    assert_eq!(value["otherData"]["policy"], "nexus[drop=none,batch=2]");
    let names: Vec<&str> = value["traceEvents"]
        .as_array()
        .expect("events")
        .iter()
        .filter(|e| e["ph"] == "M")
        .map(|e| e["args"]["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, ["devices", "queues", "drops", "d0 v100"]);
}

#[test]
fn a_selected_request_has_a_track_and_an_arrow_to_its_batch() {
    let requests = [RequestId(1)].into();
    let trace = by_hand(&Selection { requests, ..Selection::default() });
    let of_request: Vec<&str> =
        events(&trace).into_iter().filter(|l| l.contains("to batch") || l.contains("r1")).collect();
    assert_eq!(
        of_request,
        [
            "{\"ph\":\"s\",\"pid\":3,\"tid\":1,\"ts\":2.500,\"cat\":\"request\",\
             \"name\":\"to batch\",\"id\":1}",
            "{\"ph\":\"f\",\"pid\":1,\"tid\":1,\"ts\":11.000,\"cat\":\"request\",\
             \"name\":\"to batch\",\"bp\":\"e\",\"id\":1}",
            "{\"ph\":\"X\",\"pid\":3,\"tid\":1,\"ts\":2.500,\"dur\":19.000,\"name\":\"r1 bert\",\
             \"args\":{\"request\":1,\"deadline_us\":21.000,\"end\":\"late\"}}",
        ]
    );
}

#[test]
fn a_window_begins_with_the_state_before_it_and_has_whole_batches() {
    let (from, to) = (Time::from_ns(4_000), Time::from_ns(12_000));
    let trace = by_hand(&Selection { from, to, ..Selection::default() });
    let shown: Vec<(Value, Value)> = events(&trace)
        .into_iter()
        .map(|l| serde_json::from_str::<Value>(l).expect("an event"))
        .map(|e| (e["ph"].clone(), e["ts"].clone()))
        .collect();
    let expected = [("C", 4.0), ("X", 1.0), ("i", 11.0), ("C", 11.0), ("X", 11.0)];
    assert_eq!(shown, expected.map(|(kind, ts)| (Value::from(kind), Value::from(ts))));
    assert!(trace.contains("\"ts\":4.000,\"args\":{\"requests\":2}"), "{trace}");
}

#[test]
fn the_batches_that_ran_and_the_requests_that_were_dropped_are_a_table() {
    let mut log = read_log(BY_HAND.as_bytes(), "hand.log");
    let names = log.names().expect("names").clone();
    let mut out = Vec::new();
    write_batches(&names, log, &Selection::default(), &mut out).expect("a log");
    let policy = "\"nexus[drop=none,batch=2]\"";
    assert_eq!(
        String::from_utf8(out).expect("text"),
        format!(
            "policy,device,device_name,lane,model,action,size,start_ns,end_ns,deadline_ns,outcome\n\
             {policy},0,v100,0,bert,0,1,1000,11000,51000,done\n\
             {policy},,,0,bert,2,1,3001,11000,12000,dropped_infeasible\n\
             {policy},0,v100,0,bert,1,1,11000,21500,21000,done\n\
             {policy},0,v100,0,bert,3,1,23000,30000,,running\n"
        )
    );
    let mut out = Vec::new();
    write_batches(&Names::default(), [], &Selection::default(), &mut out).expect("a log");
    assert_eq!(String::from_utf8(out).expect("text").lines().count(), 1, "the header alone");
}

/// Nanoseconds from microseconds with three decimals.
fn ns(value: &Value) -> u64 {
    (value.as_f64().expect("a number") * 1e3).round() as u64
}

#[test]
fn in_random_logs_no_batches_overlap_on_a_track_and_counters_count_what_waits() {
    for entry in policies() {
        for seed in 0..60 {
            let case = Case::new(seed);
            let run =
                simulate(&case.world, case.sources(), (entry.make)(&case), MemoryLog::default());
            let records = run.observer.records;
            let all = || records.iter().cloned().map(Ok);
            let trace = trace_of(&Names::default(), all(), &Selection::default());
            let again = trace_of(&Names::default(), all(), &Selection::default());
            assert_eq!(trace, again, "the same bytes");
            let value: Value = serde_json::from_str(&trace).expect("JSON");
            let events = value["traceEvents"].as_array().expect("events");
            let of = |kind: &'static str| events.iter().filter(move |e| e["ph"] == kind);

            let mut tracks: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
            for e in of("X") {
                let (start, length) = (ns(&e["ts"]), ns(&e["dur"]));
                let track = e["tid"].as_u64().expect("a track");
                tracks.entry(track).or_default().push((start, start + length));
            }
            for track in tracks.values_mut() {
                track.sort_unstable();
                let apart = track.windows(2).all(|w| w[0].1 <= w[1].0);
                assert!(apart, "{} seed {seed}: {track:?}", entry.name);
            }
            let began = records.iter().filter(|r| matches!(r, Record::Begin { .. })).count();
            assert_eq!(of("X").count(), began, "{} seed {seed}", entry.name);

            let arrived = records.iter().filter(|r| matches!(r, Record::Arrive { .. })).count();
            let most = of("C").map(|e| e["args"]["requests"].as_u64().expect("not negative")).max();
            assert!(most.unwrap_or(0) <= arrived as u64, "{} seed {seed}", entry.name);
            // Everything has ended, so nothing waits.
            let mut last: BTreeMap<&str, u64> = BTreeMap::new();
            for e in of("C") {
                let name = e["name"].as_str().expect("a name");
                last.insert(name, e["args"]["requests"].as_u64().expect("a number"));
            }
            assert!(last.values().all(|&n| n == 0), "{} seed {seed}: {last:?}", entry.name);
        }
    }
}
