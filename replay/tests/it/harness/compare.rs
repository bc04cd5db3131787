//! Comparisons of logs that were made by hand, to the number.

use super::campaign::campaigns;
use orrery_replay::compare::{
    ActionRow, Comparison, Errors, Side, first_difference, report, same_workload,
};
use orrery_replay::prediction::{OverheadAs, Prediction};
use orrery_replay::quantiles::Quantiles;
use orrery_run::PolicySpec;
use orrery_scenario::Scenario;
use orrery_sim::log::{BatchRecord, Closed, Record};
use orrery_sim::request::{ActionId, AppId, DeviceId, End, ModelId, Request, RequestId, SourceId};
use orrery_sim::time::{Span, Time};

fn at(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

fn arrive(id: u64, us: u64) -> Record {
    let (app, model, source) = (AppId(0), ModelId(0), SourceId(0));
    let (arrival, deadline) = (at(us), at(us + 10_000));
    let request = Request { id: RequestId(id), app, model, size: 1, source, arrival, deadline };
    Record::Arrive { time: arrival, request }
}

/// A batch that runs from `from` to `to`, and answers its requests.
fn batch(id: u64, requests: &[u64], from: u64, to: u64, end: End) -> Vec<Record> {
    let action = ActionId(id);
    let requests: Vec<RequestId> = requests.iter().copied().map(RequestId).collect();
    let batch = BatchRecord {
        action,
        device: DeviceId(0),
        lane: 0,
        model: ModelId(0),
        units: requests.len() as u32,
        earliest: at(from),
        latest: Time::NEVER,
        requests: requests.clone(),
    };
    let outcome = Closed::Done(Span::from_us(to - from));
    let mut records = vec![
        Record::Issue { time: at(from), batch },
        Record::Begin { time: at(from), action },
        Record::Close { time: at(to), action, outcome },
    ];
    records.extend(requests.iter().map(|r| Record::End { time: at(to), request: *r, end }));
    records
}

fn side(mut records: Vec<Record>, finish: u64) -> Side {
    records.push(Record::Finish { time: at(finish) });
    records.sort_by_key(Record::time);
    Side::of(records, None, 0)
}

fn predicted() -> Side {
    let mut records = vec![arrive(0, 0), arrive(1, 100), arrive(2, 1_000), arrive(3, 1_000)];
    records.extend(batch(0, &[0, 1], 200, 1_200, End::InTime));
    records.extend(batch(1, &[2, 3], 1_300, 2_500, End::InTime));
    side(records, 2_500)
}

fn measured() -> Side {
    let mut records = vec![arrive(0, 0), arrive(1, 100), arrive(2, 1_000), arrive(3, 1_000)];
    records.extend(batch(0, &[0, 1], 210, 1_310, End::InTime));
    records.extend(batch(1, &[2], 1_400, 2_000, End::InTime));
    let drop = End::Dropped(orrery_sim::request::Drop::Expired);
    records.push(Record::End { time: at(2_100), request: RequestId(3), end: drop });
    side(records, 2_100)
}

#[test]
fn runs_are_compared_to_the_number() {
    let c = Comparison::of(&predicted(), &measured(), false).unwrap();
    assert_eq!((c.predicted.finish_rate, c.measured.finish_rate), (1.0, 0.75));
    // Four in time in the millisecond from the start to the last arrival.
    assert_eq!((c.predicted.goodput_per_s, c.measured.goodput_per_s), (4_000.0, 3_000.0));
    // Latencies 1200, 1100, 1500, 1500 and 1310, 1210, 1000.
    let tail = |count, p50: u64, p99: u64, max: u64| Quantiles {
        count,
        p50_ns: p50 * 1_000,
        p90_ns: Some(p99 * 1_000),
        p99_ns: p99 * 1_000,
        max_ns: max * 1_000,
    };
    assert_eq!(c.predicted.latency, tail(4, 1_200, 1_500, 1_500));
    assert_eq!(c.measured.latency, tail(3, 1_210, 1_310, 1_310));
    assert_eq!((c.predicted.mean_batch, c.measured.mean_batch), (2.0, 1.5));
    assert_eq!((c.measured.dropped, c.measured.late, c.measured.pending), (1, 0, 0));
    // Of the batches, [0, 1] is on both sides: it took 100 us longer and ended 110 us later.
    assert_eq!((c.errors.batches, c.errors.unmatched), (1, 1));
    assert_eq!(
        (&c.errors.duration.under, &c.errors.completion.under),
        (&vec![100_000], &vec![110_000])
    );
    assert_eq!(c.errors.duration_ppm.under, [100_000]);
    let text = report(&c);
    assert!(text.contains("finish_rate") && text.contains("-25.000"), "{text}");
}

#[test]
fn a_warm_up_does_not_count() {
    let (mut p, mut m) = (predicted(), measured());
    (p.warm_up_ns, m.warm_up_ns) = (100_000, 100_000);
    let c = Comparison::of(&p, &m, false).unwrap();
    assert_eq!((c.predicted.requests, c.measured.in_time), (3, 2));
}

/// What is of no request is no number; two policies are named.
#[test]
fn nothing_is_a_figure_of_nothing() {
    let (mut p, mut m) = (predicted(), measured());
    (p.names.policy, m.names.policy) = ("fifo".into(), "orloj".into());
    (p.warm_up_ns, m.warm_up_ns) = (1_000_000_000, 1_000_000_000);
    let told = report(&Comparison::of(&p, &m, false).unwrap());
    assert!(told.contains("Predicted is `fifo`, measured is `orloj`."), "{told}");
    let row = |name: &str| -> Vec<&str> {
        told.lines()
            .find(|l| l.trim_start().starts_with(name))
            .unwrap()
            .split_whitespace()
            .collect()
    };
    for name in ["finish_rate", "goodput_per_s", "latency_p50", "latency_max"] {
        assert_eq!(row(name)[1..4], ["-", "-", "-"], "{told}");
    }
    assert_eq!(row("requests")[1..4], ["0.000", "0.000", "+0.000"]);
}

/// A queue without a policy loads no models: it would finish nothing.
#[test]
fn there_is_no_naive_queue_where_models_are_loaded() {
    let naive = |file: &str| {
        let scenario = Scenario::load(campaigns().join(file)).unwrap();
        let scenario = scenario.with(&[("arrivals.duration_s".into(), 3.0.into())]).unwrap();
        let prediction = Prediction::of(&scenario, 1, &[], OverheadAs::Busy).unwrap();
        prediction.naive(&PolicySpec::parse("clockwork").unwrap(), 1).unwrap().queue
    };
    assert!(naive("one-model.toml").is_some() && naive("cold-starts.toml").is_none());
}

fn action(id: u64, issued: u64, start: u64, end: u64, predicted: u64) -> ActionRow {
    let ns = |us: u64| us * 1_000;
    ActionRow {
        action: id,
        device: 0,
        executor: 0,
        load: false,
        model: "m".into(),
        units: 1,
        longest_ns: 0,
        issued_ns: ns(issued),
        earliest_ns: 0,
        began_ns: ns(start).saturating_sub(7),
        start_ns: ns(start),
        end_ns: ns(end),
        away_ns: 0,
        device_ns: ns(end - start),
        predicted_ns: ns(predicted),
        stopped: false,
        learned: 0,
    }
}

#[test]
fn completion_errors_compound_along_an_executor_until_its_policy_knows_better() {
    let rows = vec![
        // Predicted to end at 100, ended at 130.
        action(0, 0, 0, 130, 100),
        // Issued before that was known: predicted to end at 200; it took 90 and ended at 220.
        action(1, 10, 130, 220, 100),
        // Issued after the second had ended: predicted from its issue, 300 + 100; it was quicker.
        action(2, 300, 300, 380, 100),
        // `earliest` counts.
        ActionRow { earliest_ns: 500_000, ..action(3, 390, 500, 600, 100) },
        // A load, and a batch that was stopped, are no batches that completed.
        ActionRow { load: true, ..action(4, 0, 600, 900, 1) },
        ActionRow { stopped: true, ..action(5, 600, 600, 610, 100) },
    ];
    let measured = Side::of(Vec::new(), Some(rows), 0);
    let e = Errors::of(&Side::default(), &measured);
    assert_eq!(e.batches, 4);
    assert_eq!(
        (e.duration.under, e.duration.over, e.duration.exact),
        (vec![30_000], vec![10_000, 20_000], 1)
    );
    assert_eq!(e.completion.under, [30_000, 20_000]);
    assert_eq!((e.completion.over, e.completion.exact), (vec![20_000], 1));
    assert_eq!(e.start_lateness, [0, 7, 7, 7]);
    // The second began when the first ended, the fourth when it was planned.
    assert_eq!(e.after_due, [0, 0, 0, 0]);
}

#[test]
fn the_first_difference_is_told_with_what_each_side_knew() {
    let told = first_difference(&predicted(), &measured()).expect("they differ");
    assert!(told.starts_with("decision 2 is the first"), "{told}");
    let (ours, theirs) = told.split_once("\nmeasured").expect("two sides");
    assert!(ours.contains("run 2 of") && ours.contains("waiting: 2 requests: 2 3"), "{ours}");
    assert!(theirs.contains("run 1 of") && theirs.contains("> issue,1400000,1"), "{theirs}");
    assert!(theirs.contains("devices: idle"), "{theirs}");
    assert_eq!(first_difference(&predicted(), &predicted()), None);
}

#[test]
fn another_workload_is_refused_with_the_first_request_that_differs() {
    let mut other = vec![arrive(0, 0), arrive(1, 101)];
    other.extend(batch(0, &[0, 1], 200, 1_200, End::InTime));
    let error = same_workload(&predicted(), &side(other, 1_200)).unwrap_err().to_string();
    assert!(error.contains("request 1:") && error.contains("--closed-loop"), "{error}");
    let fewer = side(vec![arrive(0, 0), arrive(1, 100)], 200);
    let error = same_workload(&predicted(), &fewer).unwrap_err().to_string();
    assert!(error.contains("request 2: nothing"), "{error}");
}
