//! What a log says of a run.

use crate::quantiles::Quantiles;
use orrery_sim::log::{Closed, Record};
use orrery_sim::request::{End, RequestId};
use orrery_sim::time::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Naive predictions of a run, beside which its prediction is judged.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
pub struct Naive {
    /// The same by the latency models alone: no noise, no stalls, no overhead.
    pub law: Summary,
    /// A queue without a policy under these latency models: first in, first out, in the largest batches. None where
    /// models must be loaded, which it does not do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Summary>,
}

/// The figures of a run.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
pub struct Summary {
    /// Requests that arrived and count.
    pub requests: u64,
    /// Of these, finished in time.
    pub in_time: u64,
    /// Finished late.
    pub late: u64,
    /// Dropped, for whatever reason.
    pub dropped: u64,
    /// Neither when the run ended.
    pub pending: u64,
    /// Finished in time over all.
    pub finish_rate: f64,
    /// Finished in time, a second from the end of the warm-up to the last arrival.
    pub goodput_per_s: f64,
    /// Arrival to answer, of answered requests.
    pub latency: Quantiles,
    /// Batches that ran to their end.
    pub batches: u64,
    /// Their mean number of requests.
    pub mean_batch: f64,
    /// How many had each number of requests.
    pub batch_sizes: BTreeMap<u64, u64>,
    /// Batches that a device refused.
    pub refused: u64,
    /// Batches that were stopped.
    pub preempted: u64,
}

impl Summary {
    /// The figures of a log; requests that arrive before `warm_up_ns` do not count.
    pub fn of(records: &[Record], warm_up_ns: u64) -> Summary {
        let from = Time::from_ns(warm_up_ns);
        let mut arrivals: BTreeMap<RequestId, Time> = BTreeMap::new();
        let mut sizes = BTreeMap::new();
        let (mut s, mut latencies, mut last) = (Summary::default(), Vec::new(), from);
        for record in records {
            match record {
                Record::Arrive { request, .. } if request.arrival >= from => {
                    arrivals.insert(request.id, request.arrival);
                    s.requests += 1;
                    last = last.max(request.arrival);
                }
                Record::Issue { batch, .. } => {
                    sizes.insert(batch.action, batch.requests.len() as u64);
                }
                Record::Close { action, outcome, .. } => {
                    // A load is no batch.
                    let Some(size) = sizes.remove(action) else { continue };
                    match outcome {
                        Closed::Done(_) => *s.batch_sizes.entry(size).or_default() += 1,
                        Closed::Rejected(_) => s.refused += 1,
                        Closed::Preempted => s.preempted += 1,
                        Closed::Cancelled => {}
                    }
                }
                Record::End { time, request, end } => {
                    let Some(arrival) = arrivals.remove(request) else { continue };
                    match end {
                        End::InTime => s.in_time += 1,
                        End::Late => s.late += 1,
                        End::Dropped(_) => s.dropped += 1,
                        End::Pending => s.pending += 1,
                    }
                    if matches!(end, End::InTime | End::Late) {
                        latencies.push(time.since(arrival).ns());
                    }
                }
                _ => {}
            }
        }
        s.finish_rate = if s.requests == 0 { 1.0 } else { s.in_time as f64 / s.requests as f64 };
        let seconds = last.since(from).as_secs_f64();
        s.goodput_per_s = if seconds > 0.0 { s.in_time as f64 / seconds } else { 0.0 };
        s.latency = Quantiles::of(latencies);
        s.batches = s.batch_sizes.values().sum();
        let requests: u64 = s.batch_sizes.iter().map(|(size, n)| size * n).sum();
        s.mean_batch = if s.batches == 0 { 0.0 } else { requests as f64 / s.batches as f64 };
        s
    }
}
