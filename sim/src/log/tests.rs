//! Tests of the schedule log: what is written is read back, and damage is named.

use super::*;
use crate::cluster::Change;
use crate::penalty::{MILLION, Penalty, Step};
use crate::policy::Refusal;
use crate::request::{ActionId, DeviceId, End, ModelId, Request, RequestId};
use crate::request::{AppId, SourceId};
use crate::time::{Span, Time};
use proptest::prelude::*;
use std::io::{self, Write};

fn time() -> impl Strategy<Value = Time> {
    prop_oneof![Just(0), Just(u64::MAX - 1), 0..u64::MAX].prop_map(Time::from_ns)
}

fn time_or_never() -> impl Strategy<Value = Time> {
    prop_oneof![1 => Just(Time::NEVER), 3 => time()]
}

fn request() -> impl Strategy<Value = Request> {
    let ids = (any::<u64>(), any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>());
    (ids, time(), time_or_never()).prop_map(
        |((id, app, model, size, source), arrival, deadline)| {
            let (id, app, model) = (RequestId(id), AppId(app), ModelId(model));
            Request { id, app, model, size, source: SourceId(source), arrival, deadline }
        },
    )
}

fn batch() -> impl Strategy<Value = BatchRecord> {
    let ids = (any::<u64>(), any::<u32>(), any::<u8>(), any::<u32>(), any::<u32>());
    let requests = prop::collection::vec(any::<u64>().prop_map(RequestId), 0..5);
    (ids, time(), time_or_never(), requests).prop_map(
        |((action, device, lane, model, units), earliest, latest, requests)| {
            let (action, device, model) = (ActionId(action), DeviceId(device), ModelId(model));
            BatchRecord { action, device, lane, model, units, earliest, latest, requests }
        },
    )
}

fn closed() -> impl Strategy<Value = Closed> {
    prop_oneof![
        any::<u64>().prop_map(|ns| Closed::Done(Span::from_ns(ns))),
        Just(Closed::Rejected(Refusal::Late)),
        Just(Closed::Rejected(Refusal::NotLoaded)),
        Just(Closed::Rejected(Refusal::NoMemory)),
        Just(Closed::Rejected(Refusal::DeviceDown)),
        Just(Closed::Preempted),
        Just(Closed::Cancelled),
    ]
}

fn record() -> impl Strategy<Value = Record> {
    let change = prop::sample::select(vec![Change::Up, Change::Draining, Change::Down]);
    let end = prop::sample::select(End::ALL.to_vec());
    prop_oneof![
        (time(), request()).prop_map(|(time, request)| Record::Arrive { time, request }),
        (time(), batch()).prop_map(|(time, batch)| Record::Issue { time, batch }),
        (time(), any::<u64>()).prop_map(|(time, a)| Record::Begin { time, action: ActionId(a) }),
        (time(), any::<u64>(), closed()).prop_map(|(time, a, outcome)| {
            Record::Close { time, action: ActionId(a), outcome }
        }),
        (time(), any::<u64>(), end).prop_map(|(time, r, end)| Record::End {
            time,
            request: RequestId(r),
            end
        }),
        (time(), any::<u32>(), change).prop_map(|(time, d, change)| Record::Device {
            time,
            device: DeviceId(d),
            change
        }),
        (time(), any::<u64>(), "[ -~é]{0,20}")
            .prop_map(|(time, r, text)| { Record::Why { time, request: RequestId(r), text } }),
        time().prop_map(|time| Record::Finish { time }),
    ]
}

fn write(records: &[Record]) -> Vec<u8> {
    let mut log = LogWriter::new(Vec::new());
    records.iter().for_each(|r| log.record(r.clone()));
    log.finish().unwrap()
}

fn failure(text: &str) -> String {
    let results: Vec<_> = read_log(text.as_bytes(), "a.log").collect();
    let count = results.len();
    let mut errors = results.into_iter().filter_map(Result::err);
    let error = errors.next().unwrap_or_else(|| panic!("{text:?} was read as {count} records"));
    assert!(errors.next().is_none(), "reading stops at the first error");
    error.to_string()
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(records in prop::collection::vec(record(), 0..40)) {
        let bytes = write(&records);
        let back: Vec<_> = read_log(&bytes[..], "a.log").map(Result::unwrap).collect();
        prop_assert_eq!(&back, &records);
        prop_assert_eq!(write(&back), bytes);
    }

    #[test]
    fn a_log_that_is_cut_inside_a_line_is_not_read_as_whole(
        records in prop::collection::vec(record(), 1..5), share in 0.0f64..1.0,
    ) {
        let bytes = write(&records);
        let cut = &bytes[..(bytes.len() as f64 * share) as usize];
        let whole_lines = cut.is_empty() || cut.ends_with(b"\n");
        let failed = read_log(cut, "a.log").any(|r| r.is_err());
        prop_assert_eq!(failed, !whole_lines || cut.is_empty());
    }
}

#[test]
fn the_lines_are_as_the_module_says() {
    let request = Request {
        id: RequestId(3),
        app: AppId(1),
        model: ModelId(2),
        size: 4,
        source: SourceId(0),
        arrival: Time::from_ns(70),
        deadline: Time::NEVER,
    };
    let arrive = Record::Arrive { time: request.arrival, request };
    assert_eq!(arrive.to_string(), "arrive,70,3,1,2,4,0,70,");
    let batch = BatchRecord {
        action: ActionId(9),
        device: DeviceId(1),
        lane: 0,
        model: ModelId(2),
        units: 8,
        earliest: Time::from_ns(5),
        latest: Time::from_ns(90),
        requests: vec![RequestId(3), RequestId(5)],
    };
    let issue = Record::Issue { time: Time::from_ns(71), batch };
    assert_eq!(issue.to_string(), "issue,71,9,1,0,2,8,5,90,3 5");
}

#[test]
fn an_error_names_file_line_what_was_found_what_is_allowed_and_the_remedy() {
    let message = failure("orrery-log,4\nfinish,5\nend,6,7,lost\n");
    for part in ["a.log, line 3", "\"lost\"", "in_time | late | dropped_expired", "cut the file"] {
        assert!(message.contains(part), "{part:?} is missing in: {message}");
    }
}

#[test]
fn damage_is_refused() {
    assert!(failure("").contains("orrery-log,4"));
    assert!(failure("orrery-log,5\n").contains("orrery-log,4"));
    let lines = [
        "",
        "finish",
        "finish,",
        "finish,-1",
        "finish,+1",
        "finish,01",
        "finish,1,",
        "finish,1 ",
        "finish,18446744073709551616",
        "stop,1",
        "begin,1",
        "close,1,2,done,",
        "close,1,2,done",
        "close,1,2,cancelled,5",
        "device,1,4294967296,up",
        "device,1,1,gone",
        "end,1,2,In_time",
        "issue,1,2,3,256,1,1,0,,5",
        "issue,1,2,3,0,1,1,0,,5  6",
        "issue,1,2,3,0,1,1,,,5",
    ];
    for line in lines {
        let message = failure(&format!("orrery-log,4\nfinish,0\n{line}\n"));
        assert!(message.contains("a.log, line 3"), "{line:?}: {message}");
    }
    assert!(failure("orrery-log,4\nfinish,12").contains("cut off"));
}

struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::Error::other("the disk is full"));
        }
        let n = bytes.len().min(self.0);
        self.0 -= n;
        Ok(n)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_failed_write_is_kept_until_the_end() {
    for room in [0, 5, 20] {
        let mut log = LogWriter::new(Full(room));
        for i in 0..10 {
            log.record(Record::Finish { time: Time::from_ns(i) });
        }
        assert_eq!(log.finish().err().map(|e| e.to_string()).as_deref(), Some("the disk is full"));
    }
}

fn names() -> Names {
    Names {
        models: vec!["bert, large".into(), String::new()],
        apps: vec!["chat".into()],
        devices: vec!["v100".into()],
        policy: "nexus[drop=none,batch=2]".into(),
    }
}

#[test]
fn names_come_back_and_are_no_records() {
    let log = LogWriter::with_names(Vec::new(), &names());
    let bytes = log.finish().unwrap();
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert_eq!(
        text,
        "orrery-log,4\nname,policy,0,nexus[drop=none,batch=2]\nname,model,0,bert, large\n\
         name,model,1,\nname,app,0,chat\nname,device,0,v100\n"
    );
    let mut log = read_log(&bytes[..], "a.log");
    assert_eq!(log.names().unwrap(), &names());
    assert!(log.next().is_none());
    let with_record = format!("{text}finish,7\n");
    let mut log = read_log(with_record.as_bytes(), "a.log");
    assert_eq!(log.next().unwrap().unwrap(), Record::Finish { time: Time::from_ns(7) });
    assert_eq!(log.names().unwrap(), &names());
    assert!(log.next().is_none());
}

#[test]
fn a_line_break_in_a_name_or_a_reason_does_not_end_its_line() {
    let odd = Names { policy: "a\nb\nc".into(), ..Names::default() };
    let mut log = LogWriter::with_names(Vec::new(), &odd);
    let (time, request) = (Time::ZERO, RequestId(1));
    log.record(Record::Why { time, request, text: "x,\ny".into() });
    let text = String::from_utf8(log.finish().unwrap()).unwrap();
    assert_eq!(text, "orrery-log,4\nname,policy,0,a b c\nwhy,0,1,x, y\n");
}

#[test]
fn a_name_out_of_order_or_of_nothing_is_refused() {
    for line in
        ["name,model,1,x", "name,model,00,x", "name,queue,0,x", "name,model,0", "name,policy,1,x"]
    {
        let message = failure(&format!("orrery-log,4\n{line}\nfinish,1\n"));
        assert!(message.contains("a.log, line 2"), "{line:?}: {message}");
    }
    let twice = failure("orrery-log,4\nname,policy,0,x\nname,policy,1,y\n");
    assert!(twice.contains("line 3"), "{twice}");
    let late = failure("orrery-log,4\nfinish,1\nname,model,0,x\n");
    assert!(late.contains("kind of record"), "{late}");
}

fn two_steps() -> Penalty {
    let step = |deadline, cost| Step { deadline, cost };
    Penalty::new(vec![step(MILLION, 1), step(3_500_000, 2 * MILLION)]).unwrap()
}

fn terms() -> Terms {
    let device = |lanes, can_preempt| DeviceTerms { lanes, can_preempt, ..DeviceTerms::default() };
    let with = |pages, holds: &[u32]| {
        let holds = holds.iter().map(|&m| ModelId(m)).collect();
        DeviceTerms { memory: Some(MemoryTerms { pages, holds }), ..device(1, false) }
    };
    let app = |model, slo| AppTerms { model: ModelId(model), slo };
    Terms {
        devices: vec![
            device(1, false),
            device(255, true),
            with(Some(1376), &[]),
            with(None, &[0, 3]),
            with(Some(8), &[1]),
        ],
        later_devices: Some(device(2, false)),
        pages: vec![7, 0],
        penalties: vec![Penalty::default(), two_steps()],
        apps: vec![app(1, Some(Span::from_ms(5))), app(0, Some(Span::MAX)), app(0, None)],
        stalls: true,
    }
}

#[test]
fn terms_come_back_and_are_no_records() {
    let log = LogWriter::with_names(Vec::new(), &names()).with_terms(&terms());
    let text = String::from_utf8(log.finish().unwrap()).unwrap();
    let expected = "terms,device,0,1,cannot_preempt,\nterms,device,1,255,can_preempt,\n\
                    terms,device,2,1,cannot_preempt,1376\nterms,device,3,1,cannot_preempt,- 0 3\n\
                    terms,device,4,1,cannot_preempt,8 1\n\
                    terms,later-device,0,2,cannot_preempt,\nterms,pages,0,7\nterms,pages,1,0\n\
                    terms,app,0,1,5000000\nterms,app,1,0,\nterms,app,2,0,own\n\
                    terms,penalties,0,1000000:1000000\nterms,penalties,1,1000000:1 3500000:2000000\n\
                    terms,stalls,0\n";
    assert!(text.ends_with(expected), "{text}");
    for records in ["", "finish,7\n"] {
        let text = format!("{text}{records}");
        let mut log = read_log(text.as_bytes(), "a.log");
        assert_eq!(log.terms().unwrap(), &terms());
        assert_eq!(log.names().unwrap(), &names());
        assert_eq!(log.map(Result::unwrap).count(), records.lines().count());
    }
    let none = read_log(&b"orrery-log,4\nfinish,7\n"[..], "a.log").terms().unwrap().clone();
    assert_eq!(none, Terms::default());
}

#[test]
fn terms_that_are_wrong_are_refused_with_their_line() {
    for line in [
        "terms,device,1,1,can_preempt",
        "terms,device,0,256,can_preempt",
        "terms,device,0,1,maybe",
        "terms,device,0,1",
        "terms,device,0,1,can_preempt,9 x",
        "terms,pages,1,5",
        "terms,pages,0,-5",
        "terms,later-device,1,1,can_preempt",
        "terms,app,0,1",
        "terms,app,0,1,-5",
        "terms,app,0,1,18446744073709551615",
        "terms,app,0,1,5,6",
        "terms,model,0,1",
        "terms,stalls,1",
        "terms,stalls,0,1",
        "terms,penalties,1,1000000:1",
        "terms,penalties,0,",
        "terms,penalties,0,1000000",
        "terms,penalties,0,1000000:x",
        "terms,penalties,0,2000000:5",
        "terms,penalties,0,1000000:5 1000000:6",
        "terms,penalties,0,1000000:5 2000000:4",
    ] {
        let message = failure(&format!("orrery-log,4\n{line}\nfinish,1\n"));
        assert!(message.contains("a.log, line 2"), "{line:?}: {message}");
    }
    let twice = "terms,later-device,0,1,can_preempt,\n".repeat(2);
    assert!(failure(&format!("orrery-log,4\n{twice}finish,1\n")).contains("line 3"));
    let late = failure("orrery-log,4\nfinish,1\nterms,device,0,1,can_preempt,\n");
    assert!(late.contains("kind of record"), "{late}");
}

#[test]
fn a_log_of_another_version_is_told_the_version_that_is_read() {
    let message = failure("orrery-log,3\nfinish,5\n");
    assert!(
        message.contains("orrery-log,3") && message.contains(&format!("{HEADER:?}")),
        "{message}"
    );
}

#[test]
fn names_are_found_by_number() {
    let list = |names: [&str; 2]| names.map(str::to_string).to_vec();
    let (models, apps) = (list(["bert", "gpt"]), list(["chat", "search"]));
    let names = Names { models, apps, devices: list(["a", "b"]), ..Names::default() };
    assert_eq!([names.model(ModelId(1)), names.model(ModelId(2))], [Some("gpt"), None]);
    assert_eq!([names.app(AppId(1)), names.app(AppId(2))], [Some("search"), None]);
    assert_eq!([names.device(DeviceId(0)), names.device(DeviceId(2))], [Some("a"), None]);
}
