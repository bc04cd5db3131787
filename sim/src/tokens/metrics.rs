//! The metrics of a run, from its records.

use super::record::{Record, TokenObserver};
use super::request::{RequestId, TokenRequest};
use crate::stats::between_neighbours;
use crate::time::{Span, Time};

/// What is known of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Life {
    /// The request as it arrived.
    pub what: TokenRequest,
    /// When it got its first token.
    pub first: Option<Time>,
    /// When it got its last.
    pub last: Option<Time>,
    /// Whether it was given up.
    pub dropped: bool,
}

impl Life {
    /// TTFT: from arrival to the first token.
    pub fn ttft(&self) -> Option<Span> {
        self.first.map(|first| first - self.what.at)
    }

    /// TPOT: from the first token to the last, for each of those after the first, rounded down. An answer of one
    /// token has none.
    pub fn tpot(&self) -> Option<Span> {
        let spent = self.last? - self.first?;
        let after_first = u64::from(self.what.tokens_out).saturating_sub(1);
        spent.ns().checked_div(after_first).map(Span::from_ns)
    }

    /// From arrival to the last token.
    pub fn latency(&self) -> Option<Span> {
        self.last.map(|last| last - self.what.at)
    }

    /// Whether it was in time: first token and further tokens within their SLOs.
    pub fn is_in_time(&self) -> bool {
        let slo = self.what.slo;
        self.last.is_some()
            && self.ttft().is_some_and(|ttft| ttft <= slo.first)
            && self.tpot().is_none_or(|tpot| tpot <= slo.each)
    }
}

/// A time of each request that was answered and has it, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times(Vec<u64>);

impl Times {
    /// How many there are.
    pub fn count(&self) -> u64 {
        self.0.len() as u64
    }

    /// Their mean, rounded down; zero of none.
    pub fn mean(&self) -> Span {
        let sum: u128 = self.0.iter().map(|ns| u128::from(*ns)).sum();
        Span::from_ns((sum / self.0.len().max(1) as u128) as u64)
    }

    /// The time at or below which `of_100` of 100 are.
    pub fn quantile(&self, of_100: u64) -> Span {
        Span::from_ns(between_neighbours(&self.0, of_100))
    }
}

/// All of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Total {
    /// Requests that came.
    pub requests: u64,
    /// Those in time.
    pub in_time: u64,
    /// Those given up.
    pub dropped: u64,
    /// In time, of all.
    pub finish_rate: f64,
    /// From the first arrival to the end.
    pub makespan: Span,
    /// How often a request lost its blocks.
    pub evictions: u64,
    /// Steps.
    pub steps: u64,
    /// Tokens that were computed, those of evicted requests again.
    pub computed: u64,
    /// Tokens of the requests that were answered.
    pub out: u64,
}

/// Watches a run and keeps a line for each request.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    lives: Vec<Life>,
    begin: Option<Time>,
    now: Time,
    evictions: u64,
    steps: u64,
    computed: u64,
}

impl Metrics {
    /// Every request, by its number.
    pub fn lives(&self) -> &[Life] {
        &self.lives
    }

    /// A time of each request that was answered and has it.
    pub fn times(&self, of: fn(&Life) -> Option<Span>) -> Times {
        let answered = self.lives.iter().filter(|l| l.last.is_some());
        let mut all: Vec<u64> = answered.filter_map(of).map(Span::ns).collect();
        all.sort_unstable();
        Times(all)
    }

    /// All of the run.
    pub fn total(&self) -> Total {
        let count = |is: fn(&Life) -> bool| self.lives.iter().filter(|l| is(l)).count() as u64;
        let (requests, in_time) = (self.lives.len() as u64, count(Life::is_in_time));
        let answered = self.lives.iter().filter(|l| l.last.is_some());
        Total {
            requests,
            in_time,
            dropped: count(|l| l.dropped),
            finish_rate: in_time as f64 / requests.max(1) as f64,
            makespan: self.now - self.begin.unwrap_or(self.now),
            evictions: self.evictions,
            steps: self.steps,
            computed: self.computed,
            out: answered.map(|l| u64::from(l.what.tokens_out)).sum(),
        }
    }

    fn life(&mut self, request: RequestId) -> &mut Life {
        let place = request.0 as usize;
        if self.lives.len() <= place {
            self.lives.resize(place + 1, Life::default());
        }
        &mut self.lives[place]
    }
}

impl TokenObserver for Metrics {
    fn record(&mut self, now: Time, record: &Record) {
        self.now = now;
        match record {
            Record::Arrive { request, what } => {
                self.begin.get_or_insert(now);
                self.life(*request).what = *what;
            }
            Record::Drop { request } => self.life(*request).dropped = true,
            Record::Evict { .. } => self.evictions += 1,
            Record::Step { parts, .. } => {
                self.steps += 1;
                self.computed += parts.iter().map(|p| u64::from(p.1)).sum::<u64>();
            }
            Record::First { request } => self.life(*request).first = Some(now),
            Record::Done { request } => self.life(*request).last = Some(now),
            Record::Finish => (),
        }
    }
}
