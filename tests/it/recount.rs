//! The numbers of a run a second time: plain loops over the records of its log. A metric has one line here.

use orrery_sim::cluster::{Change, Sharing};
use orrery_sim::log::{Closed, Record};
use orrery_sim::penalty::Penalty;
use orrery_sim::request::{ActionId, DeviceId, End, Request, RequestId};
use orrery_sim::time::{Span, Time};
use std::collections::BTreeMap;

/// What the records say.
#[derive(Default)]
pub struct Recount {
    pub requests: BTreeMap<RequestId, Request>,
    ends: Vec<(RequestId, Time, End)>,
    batches: BTreeMap<ActionId, Batch>,
    /// When each device came and went.
    pub up: BTreeMap<DeviceId, (Time, Option<Time>)>,
    pub finish: Time,
}

struct Batch {
    device: DeviceId,
    requests: Vec<RequestId>,
    began: Option<Time>,
    closed: Option<(Time, Closed)>,
}

impl Recount {
    pub fn new(records: &[Record]) -> Recount {
        let mut found = Recount::default();
        for record in records {
            match record {
                Record::Arrive { request, .. } => {
                    found.requests.insert(request.id, *request);
                }
                Record::Issue { batch, .. } => {
                    let (device, requests) = (batch.device, batch.requests.clone());
                    let issued = Batch { device, requests, began: None, closed: None };
                    found.batches.insert(batch.action, issued);
                }
                Record::Begin { time, action } => {
                    found.batches.get_mut(action).iter_mut().for_each(|b| b.began = Some(*time));
                }
                Record::Close { time, action, outcome } => {
                    let closed = Some((*time, *outcome));
                    found.batches.get_mut(action).iter_mut().for_each(|b| b.closed = closed);
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

    /// The metrics of the requests that arrive within a window and are `wanted`: of each the least and the most that
    /// it may be, where a quantile may be so many times as large. Nothing of no request.
    pub fn of_requests(
        &self,
        (from, to): (Time, Time),
        penalties: &[Penalty],
        sketched: f64,
        wanted: impl Fn(&Request) -> bool,
    ) -> Vec<(&'static str, f64, f64)> {
        let counts = |r: &Request| from <= r.arrival && r.arrival < to && wanted(r);
        let offered = self.requests.values().filter(|r| counts(r)).count() as f64;
        if offered == 0.0 {
            return Vec::new();
        }
        let ended = self.ends.iter().map(|&(id, time, end)| (self.requests[&id], time, end));
        let ended: Vec<(Request, Time, End)> = ended.filter(|e| counts(&e.0)).collect();
        let good = ended.iter().filter(|e| e.2 == End::InTime).count() as f64;
        let seconds = to.min(self.finish).since(from).as_secs_f64();
        let mut exact = vec![
            ("requests", offered),
            ("finish_rate", good / offered),
            ("goodput_per_s", if seconds > 0.0 { good / seconds } else { 0.0 }),
        ];
        for end in End::ALL {
            exact.push((end.word(), ended.iter().filter(|e| e.2 == end).count() as f64));
        }
        if !penalties.is_empty() {
            let cost: f64 = ended.iter().map(|e| cost(penalties, e)).sum();
            exact.push(("mean_cost", cost / offered));
        }
        let answered = || ended.iter().filter(|e| matches!(e.2, End::InTime | End::Late));
        let mut took: Vec<u64> = answered().map(|e| (e.1 - e.0.arrival).ns()).collect();
        took.sort_unstable();
        let mut all = Vec::new();
        if !took.is_empty() {
            let mean = |sum: u64| sum as f64 / took.len() as f64;
            let starts = self.starts();
            let waits = answered().map(|e| (starts[&e.0.id] - e.0.arrival).ns());
            exact.push(("latency_mean_ns", mean(took.iter().sum())));
            exact.push(("queueing_mean_ns", mean(waits.sum())));
            for (q, metric) in orrery_results::metric::quantiles() {
                let rank = (q * took.len() as f64).ceil().max(1.0) as usize;
                let least = took[rank - 1] as f64;
                all.push((metric, least, least * sketched));
            }
        }
        all.extend(exact.into_iter().map(with_slack));
        all
    }

    /// The metrics of the whole run, as [`Recount::of_requests`]; utilisation where all devices share so.
    pub fn of_run(&self, sharing: Option<Sharing>) -> Vec<(&'static str, f64, f64)> {
        let sizes = self.sizes();
        let size = sizes.iter().sum::<usize>() as f64 / sizes.len() as f64;
        let mut all = vec![("mean_batch_size", size)];
        // Of no batch there is no mean.
        all.truncate(sizes.len());
        if let Some(sharing) = sharing {
            let (mut busy, mut up) = (0.0, 0.0);
            for device in self.up.keys() {
                busy += self.busy(*device, sharing, 1).ns() as f64;
                up += self.time_up(*device).ns() as f64;
            }
            all.extend((up > 0.0).then_some(("utilisation", busy / up)));
        }
        all.into_iter().map(with_slack).collect()
    }

    /// When the batch began that answered each request.
    fn starts(&self) -> BTreeMap<RequestId, Time> {
        let done = self.batches.values().filter(|b| b.is_done());
        done.flat_map(|b| b.requests.iter().filter_map(|r| Some((*r, b.began?)))).collect()
    }

    /// Requests of each batch that ran to its end.
    pub fn sizes(&self) -> Vec<usize> {
        self.batches.values().filter(|b| b.is_done()).map(|b| b.requests.len()).collect()
    }

    /// Time in which a device was fully busy: with all of its lanes, or with any where they share it.
    pub fn busy(&self, device: DeviceId, sharing: Sharing, lanes: u8) -> Span {
        let ran = |b: &Batch| Some((b.began?, b.closed.map_or(self.finish, |c| c.0)));
        let of = self.batches.values().filter(|b| b.device == device);
        let mut spans: Vec<(Time, Time)> = of.filter_map(ran).collect();
        spans.sort();
        let (mut busy, mut until) = (0, Time::ZERO);
        for (from, to) in spans {
            if sharing == Sharing::None {
                until = from;
            }
            busy += (to.max(until) - from.max(until)).ns();
            until = until.max(to);
        }
        Span::from_ns(busy / u64::from(if sharing == Sharing::None { lanes } else { 1 }))
    }

    pub fn time_up(&self, device: DeviceId) -> Span {
        let (from, to) = self.up[&device];
        to.unwrap_or(self.finish).since(from)
    }

    /// Batches of a device that closed so.
    pub fn closed(&self, device: DeviceId, is: fn(&Closed) -> bool) -> u64 {
        let of = self.batches.values().filter(|b| b.device == device);
        of.filter_map(|b| b.closed).filter(|c| is(&c.1)).count() as u64
    }

    /// Requests in the system, integrated over time.
    pub fn in_system_ns(&self) -> u128 {
        let left = self.ends.iter().filter(|e| e.2 != End::Pending).map(|e| (e.0, e.1));
        let left: BTreeMap<RequestId, Time> = left.collect();
        let stay = |r: &Request| *left.get(&r.id).unwrap_or(&self.finish) - r.arrival;
        self.requests.values().map(|r| u128::from(stay(r).ns())).sum()
    }
}

impl Batch {
    fn is_done(&self) -> bool {
        matches!(self.closed, Some((_, Closed::Done(_))))
    }
}

/// Floats may differ by rounding.
fn with_slack((metric, value): (&'static str, f64)) -> (&'static str, f64, f64) {
    (metric, value - 1e-9 * value.abs(), value + 1e-9 * value.abs())
}

/// What a request cost: that of the last deadline that it missed; of none that is answered, of all.
fn cost(penalties: &[Penalty], (request, ended, end): &(Request, Time, End)) -> f64 {
    let answered = matches!(end, End::InTime | End::Late);
    let took = (*ended - request.arrival).ns() as f64;
    let slo = request.slo().ns() as f64;
    let missed = |deadline: u64| !answered || took > (slo * (deadline as f64 / 1e6)).round();
    let steps = penalties[request.app.index()].steps();
    let costs = steps.iter().filter(|s| missed(s.deadline)).map(|s| s.cost as f64 / 1e6);
    costs.fold(0.0, f64::max)
}
