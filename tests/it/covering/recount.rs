//! The numbers of a result from the records of its log, as plain loops over all of them.

use super::judge::{Fault, fault};
use super::run::Ran;
use orrery_sim::cluster::Change;
use orrery_sim::log::{Closed, Record};
use orrery_sim::request::{ActionId, DeviceId, End, Request, RequestId};
use orrery_sim::time::{Span, Time};
use std::collections::BTreeMap;

/// What was found in the records.
#[derive(Default)]
struct Found {
    requests: BTreeMap<RequestId, Request>,
    ends: Vec<(RequestId, Time, End)>,
    /// Batches: device, requests, when they began and closed, and whether they ran to their end.
    batches: BTreeMap<ActionId, Batch>,
    /// When each device came and went.
    up: BTreeMap<DeviceId, (Time, Option<Time>)>,
    finish: Time,
}

struct Batch {
    device: DeviceId,
    requests: Vec<RequestId>,
    began: Option<Time>,
    closed: Option<Time>,
    done: bool,
}

impl Found {
    fn new(records: &[Record]) -> Found {
        let mut found = Found::default();
        for record in records {
            match record {
                Record::Arrive { request, .. } => {
                    found.requests.insert(request.id, *request);
                }
                Record::Issue { batch, .. } => {
                    let (device, requests) = (batch.device, batch.requests.clone());
                    let batch_of =
                        Batch { device, requests, began: None, closed: None, done: false };
                    found.batches.insert(batch.action, batch_of);
                }
                Record::Begin { time, action } => {
                    if let Some(batch) = found.batches.get_mut(action) {
                        batch.began = Some(*time);
                    }
                }
                Record::Close { time, action, outcome } => {
                    if let Some(batch) = found.batches.get_mut(action) {
                        batch.closed = Some(*time);
                        batch.done = matches!(outcome, Closed::Done(_));
                    }
                }
                Record::End { time, request, end } => found.ends.push((*request, *time, *end)),
                Record::Device { time, device, change: Change::Up } => {
                    found.up.insert(*device, (*time, None));
                }
                Record::Device { time, device, change: Change::Down } => {
                    found.up.entry(*device).or_default().1 = Some(*time);
                }
                Record::Finish { time } => found.finish = *time,
                _ => {}
            }
        }
        found
    }

    /// Time in which a device ran something, however many batches at once.
    fn busy(&self, device: DeviceId) -> Span {
        let of = |b: &&Batch| b.device == device;
        let ran = |b: &Batch| Some((b.began?, b.closed.unwrap_or(self.finish)));
        let mut spans: Vec<(Time, Time)> =
            self.batches.values().filter(of).filter_map(ran).collect();
        spans.sort();
        let (mut busy, mut until) = (Span::ZERO, Time::ZERO);
        for (from, to) in spans {
            busy += to.max(until) - from.max(until);
            until = until.max(to);
        }
        busy
    }
}

/// Compares the result's numbers with those of the records.
pub fn recount(ran: &Ran) -> Vec<Fault> {
    let found = Found::new(&ran.records);
    let from = Time::ZERO + Span::from_secs_f64(ran.scenario.file.warm_up_s);
    let counts = |id: &RequestId| found.requests[id].arrival >= from;
    let offered = found.requests.keys().filter(|id| counts(id)).count() as f64;
    let ends: Vec<_> = found.ends.iter().filter(|e| counts(&e.0)).collect();
    let good = ends.iter().filter(|e| e.2 == End::InTime).count() as f64;
    let mut expected: Vec<(&str, f64)> = Vec::new();
    if offered > 0.0 {
        let seconds = found.finish.since(from).as_secs_f64();
        expected.push(("requests", offered));
        expected.push(("finish_rate", good / offered));
        expected.push(("goodput_per_s", if seconds > 0.0 { good / seconds } else { 0.0 }));
        for end in End::ALL {
            expected.push((end.word(), ends.iter().filter(|e| e.2 == end).count() as f64));
        }
        if !ran.setup.penalties.is_empty() {
            let cost: f64 = ends.iter().map(|e| cost(ran, &found.requests[&e.0], e.1, e.2)).sum();
            expected.push(("mean_cost", cost / offered));
        }
    }
    let done: Vec<usize> =
        found.batches.values().filter(|b| b.done).map(|b| b.requests.len()).collect();
    let size = done.iter().sum::<usize>() as f64 / done.len().max(1) as f64;
    expected.push(("mean_batch_size", size));
    if ran.scenario.file.device.iter().all(|d| d.lanes == 1 && d.stages == 1) {
        expected.push(("utilisation", utilisation(&found)));
    }
    let mut wrong: Vec<Fault> = Vec::new();
    let mut compare = |metric: &str, value: f64, least: f64, most: f64| {
        if !(least..=most).contains(&value) {
            let found = format!("{value}, and the log says {least} to {most}");
            wrong.push(fault(format!("{metric} is that of the log"), found));
        }
    };
    for (metric, value) in expected {
        let printed = ran.value(metric);
        let slack = 1e-9 * value.abs();
        compare(metric, printed, value - slack, value + slack);
    }
    let mut took: Vec<u64> = ends
        .iter()
        .filter(|e| matches!(e.2, End::InTime | End::Late))
        .map(|e| (e.1 - found.requests[&e.0].arrival).ns())
        .collect();
    took.sort_unstable();
    if !took.is_empty() {
        let mean = took.iter().map(|&ns| ns as f64).sum::<f64>() / took.len() as f64;
        let printed = |metric| ran.value(metric);
        compare(
            "latency_mean_ns",
            printed("latency_mean_ns"),
            mean * (1.0 - 1e-9),
            mean * (1.0 + 1e-9),
        );
        let sketched = if ran.scenario.file.exact_quantiles { 1.0 } else { 1.001 };
        for (q, metric) in orrery_results::metric::quantiles() {
            let rank = (q * took.len() as f64).ceil().max(1.0) as usize;
            let exact = took[rank - 1] as f64;
            compare(metric, printed(metric), exact, exact * sketched);
        }
    }
    wrong
}

/// What a request cost: that of the last deadline that it missed; of none that is answered, of all.
fn cost(ran: &Ran, request: &Request, ended: Time, end: End) -> f64 {
    let answered = matches!(end, End::InTime | End::Late);
    let took = (ended - request.arrival).ns() as f64;
    let steps = ran.setup.penalties[request.app.index()].steps();
    let slo = request.slo().ns() as f64;
    let missed = |deadline: u64| !answered || took > (slo * (deadline as f64 / 1e6)).round();
    let costs = steps.iter().filter(|s| missed(s.deadline)).map(|s| s.cost as f64 / 1e6);
    costs.fold(0.0, f64::max)
}

/// Busy time of all devices over their time up.
fn utilisation(found: &Found) -> f64 {
    let (mut busy, mut up) = (0.0, 0.0);
    for (device, (from, to)) in &found.up {
        busy += found.busy(*device).ns() as f64;
        up += to.unwrap_or(found.finish).since(*from).ns() as f64;
    }
    if up == 0.0 { 0.0 } else { busy / up }
}
