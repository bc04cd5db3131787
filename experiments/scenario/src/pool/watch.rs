//! What is counted in a run on a pool: little, so that it costs little.

use super::{PoolOutcome, PoolRun};
use orrery_sim::observer::{Batch, Observer};
use orrery_sim::policy::Outcome;
use orrery_sim::request::{End, Request};
use orrery_sim::time::{Span, Time};

/// Counts the queries after the warm-up.
pub(super) struct Watch {
    warm_up: u64,
    kind_of: Vec<usize>,
    busy_ns: Vec<u64>,
    latencies_ns: Vec<u64>,
    met: u64,
    late: u64,
    items: u64,
    first: Time,
    last: Time,
}

impl Watch {
    pub(super) fn new(run: &PoolRun<'_>, kind_of: Vec<usize>) -> Watch {
        let counted = run.queries.saturating_sub(run.warm_up);
        Watch {
            warm_up: run.warm_up,
            kind_of,
            busy_ns: vec![0; run.counts.len()],
            latencies_ns: Vec::with_capacity(counted.min(1 << 22) as usize),
            met: 0,
            late: 0,
            items: 0,
            first: Time::NEVER,
            last: Time::ZERO,
        }
    }

    pub(super) fn outcome(mut self, run: &PoolRun<'_>, end: Time) -> PoolOutcome {
        let counted = self.met + self.late;
        let holds = self.late <= counted - needed(counted, run.percentile);
        let mean_ns = self.latencies_ns.iter().map(|&l| u128::from(l)).sum::<u128>()
            / u128::from(counted.max(1));
        let rank = needed(counted, run.percentile).max(1) as usize - 1;
        let tail_ns = match self.latencies_ns.is_empty() {
            true => 0,
            false => *self.latencies_ns.select_nth_unstable(rank).1,
        };
        let span_s = self.last.as_secs_f64() - self.first.as_secs_f64();
        let busy = |(&n, ns): (&u32, &u64)| *ns as f64 / (f64::from(n) * end.ns() as f64);
        PoolOutcome {
            counted,
            met: self.met,
            met_fraction: if counted == 0 { 1.0 } else { self.met as f64 / counted as f64 },
            tail: Span::from_ns(tail_ns),
            mean: Span::from_ns(mean_ns as u64),
            mean_size: self.items as f64 / counted.max(1) as f64,
            offered_per_s: if counted > 1 { (counted - 1) as f64 / span_s } else { 0.0 },
            busy: run.counts.iter().zip(&self.busy_ns).map(busy).collect(),
            end,
            holds,
        }
    }
}

/// How many of so many queries must be within the QoS for the percentile to be.
fn needed(counted: u64, percentile: f64) -> u64 {
    ((percentile * counted as f64 - 1e-9).ceil() as u64).min(counted)
}

impl Observer for Watch {
    fn closed(&mut self, _: Time, batch: &Batch<'_>, _: Option<Time>, outcome: Outcome) {
        if let Outcome::Done { start, end, .. } = outcome {
            self.busy_ns[self.kind_of[batch.device.index()]] += (end - start).ns();
        }
    }

    fn ended(&mut self, now: Time, request: &Request, end: End, _: Option<Time>) {
        if request.id.0 < self.warm_up || end == End::Pending {
            return;
        }
        if end == End::InTime {
            self.met += 1;
        } else {
            self.late += 1;
        }
        self.latencies_ns.push((now - request.arrival).ns());
        self.items += u64::from(request.size);
        self.first = self.first.min(request.arrival);
        self.last = self.last.max(request.arrival);
    }
}
