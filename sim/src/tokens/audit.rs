//! The auditor: reads the records of a run and says which rules of the world they break.
//!
//! It shares no code with the [`super::world`], and knows nothing but the records and the [`Terms`] before
//! them. [`Report::UNSEEN`] lists what they do not show.
//!
//! # The rules
//! 1. *Conservation.* A request comes once and ends once: with its last token, or without any. The run
//!    finishes when its last request ends.
//! 2. *Blocks.* The requests' tokens never take more blocks than there are, nor any that they do not need.
//! 3. *Progress.* A request computes tokens that it has; a token comes out of a step when all before it are
//!    computed, never otherwise; progress falls only by eviction.
//! 4. *Steps.* One at a time, each as long as the law says.

mod fault;
#[cfg(test)]
mod tests;

pub use fault::{Fault, Finding, Report};

use super::law::Curve;
use super::log::Terms;
use super::record::{Record, TokenObserver};
use super::request::{RequestId, TokenRequest};
use crate::ordered::{ById, SortedSet};
use crate::time::Time;

/// The auditor: give it every record, in order. It can watch a run while it runs.
#[derive(Debug, Default)]
pub struct Auditor {
    terms: Terms,
    line: Option<u64>,
    now: Time,
    finished: bool,
    last_end: Time,
    seen: ById<()>,
    alive: ById<Alive>,
    /// Blocks that are taken.
    taken: u64,
    step: Option<Running>,
    report: Report,
}

#[derive(Debug)]
struct Alive {
    what: TokenRequest,
    computed: u64,
    out: u64,
    /// What must be told of it at this instant, as its step has ended.
    first_at: Option<Time>,
    done_at: Option<Time>,
}

#[derive(Debug)]
struct Running {
    end: Time,
    parts: Vec<(RequestId, u32)>,
}

impl TokenObserver for Auditor {
    fn record(&mut self, now: Time, record: &Record) {
        self.report.records += 1;
        if now < self.now {
            self.fault(Fault::TimeBackwards { before: self.now });
        }
        self.now = self.now.max(now);
        if self.finished {
            self.fault(Fault::AfterFinish);
        }
        // A step ends before what is decided at its end; arrivals are told while it runs.
        let is_over = self.step.as_ref().is_some_and(|s| s.end <= now);
        if is_over {
            self.end_step();
        }
        match record {
            Record::Arrive { request, what } => self.arrive(*request, *what),
            Record::Drop { request } => self.give_up(*request),
            Record::Evict { request } => self.evict(*request),
            Record::Step { end, parts } => self.step(*end, parts),
            Record::First { request } => self.first(*request),
            Record::Done { request } => self.done(*request),
            Record::Finish => {
                self.finished = true;
                if now > self.last_end {
                    self.fault(Fault::FinishesLate { last: self.last_end });
                }
            }
        }
    }
}

impl Auditor {
    /// An auditor that holds the run to these terms.
    pub fn new(terms: Terms) -> Auditor {
        Auditor { terms, ..Auditor::default() }
    }

    /// The next records come from this line of a file.
    pub fn at_line(&mut self, line: u64) {
        self.line = Some(line);
    }

    /// What was found. Requests that have not ended are found here.
    pub fn finish(mut self) -> Report {
        if !self.finished {
            self.fault(Fault::NoFinish);
        }
        for (request, _) in std::mem::take(&mut self.alive).iter() {
            let request = RequestId(request as u32);
            self.fault(Fault::LeftWithoutEnd { request });
        }
        self.report
    }

    fn fault(&mut self, fault: Fault) {
        self.report.fault_count += 1;
        if self.report.faults.len() < Report::FAULTS_MAX {
            let (record, line, time) = (self.report.records, self.line, self.now);
            self.report.faults.push(Finding { record, line, time, fault });
        }
    }

    fn arrive(&mut self, request: RequestId, what: TokenRequest) {
        self.report.requests += 1;
        if self.seen.insert(request.0.into(), ()).is_some() {
            return self.fault(Fault::ComesTwice { request });
        }
        if what.at != self.now {
            self.fault(Fault::ComesLate { request, at: what.at });
        }
        let new = Alive { what, computed: 0, out: 0, first_at: None, done_at: None };
        self.alive.insert(request.0.into(), new);
    }

    /// Takes a request out, blocks and all.
    fn remove(&mut self, request: RequestId) -> Option<Alive> {
        let Some(alive) = self.alive.remove(request.0.into()) else {
            self.fault(Fault::NotHere { request });
            return None;
        };
        self.taken -= self.blocks(alive.computed);
        self.last_end = self.now;
        Some(alive)
    }

    fn blocks(&self, tokens: u64) -> u64 {
        let size = u64::from(self.terms.machine.block_tokens.max(1));
        tokens / size + u64::from(!tokens.is_multiple_of(size))
    }

    fn give_up(&mut self, request: RequestId) {
        self.idle();
        self.report.dropped += 1;
        if let Some(alive) = self.remove(request).filter(|a| a.out > 0) {
            self.fault(Fault::DroppedWithTokens { request, out: alive.out });
        }
    }

    fn evict(&mut self, request: RequestId) {
        self.idle();
        let Some(alive) = self.alive.get_mut(request.0.into()) else {
            return self.fault(Fault::NotHere { request });
        };
        let computed = std::mem::take(&mut alive.computed);
        self.taken -= self.blocks(computed);
    }

    /// Decisions are between steps.
    fn idle(&mut self) {
        if let Some(step) = &self.step {
            let end = step.end;
            self.fault(Fault::WithinAStep { end });
        }
    }

    fn step(&mut self, end: Time, parts: &[(RequestId, u32)]) {
        self.idle();
        self.report.steps += 1;
        let (mut tokens, mut decodes, mut kv, mut pairs2) = (0u64, 0u64, 0u64, 0u128);
        let mut named = SortedSet::default();
        let mut grown = 0;
        for &(request, count) in parts {
            if !named.insert(request) {
                self.fault(Fault::RunsTwice { request });
            }
            let Some(alive) = self.alive.get(request.0.into()) else {
                self.fault(Fault::NotHere { request });
                continue;
            };
            let (n, before, tokens_in) =
                (u64::from(count), alive.computed, u64::from(alive.what.tokens_in));
            let has = tokens_in + alive.out;
            if n == 0 || before + n > has {
                self.fault(Fault::NoSuchTokens {
                    request,
                    tokens: count,
                    has: has.saturating_sub(before),
                });
            }
            grown += self.blocks(before + n) - self.blocks(before);
            tokens += n;
            if n == 1 && before >= tokens_in {
                (decodes, kv) = (decodes + 1, kv + before + 1);
            } else {
                pairs2 += u128::from(n) * u128::from(2 * before + n);
            }
        }
        let (wants, blocks) = (self.taken + grown, u64::from(self.terms.machine.blocks));
        if wants > blocks {
            self.fault(Fault::TooManyBlocks { wants, blocks });
        }
        let law = self.lasts(tokens, parts.len() as u64, decodes, kv, pairs2);
        let lasts = i128::from(end.ns()) - i128::from(self.now.ns());
        if lasts != law {
            self.fault(Fault::WrongTime { lasts, law });
        }
        self.step = Some(Running { end, parts: parts.to_vec() });
    }

    /// The law of a step once more, in nanoseconds.
    fn lasts(&self, tokens: u64, sequences: u64, decodes: u64, kv: u64, pairs2: u128) -> i128 {
        let law = &self.terms.machine.law;
        let dot = |c: &[i64], x: &[u128]| -> i128 {
            let product = |(c, x): (&i64, &u128)| {
                i128::from(*c).saturating_mul(i128::try_from(*x).unwrap_or(i128::MAX))
            };
            c.iter().zip(x).map(product).fold(0, i128::saturating_add)
        };
        let (n, kv, read) = (u128::from(decodes), u128::from(kv), u128::from(tokens - decodes));
        let a = &law.attention;
        let (linear, pair) = if n == 0 {
            (dot(&a.prompt, &[1, read]), a.prompt[2])
        } else if read == 0 {
            (dot(&a.decode, &[1, n, kv]), 0)
        } else {
            (dot(&a.mixed, &[1, n, kv, read]), a.mixed[4])
        };
        let attention = linear.saturating_add(dot(&[pair], &[pairs2]) / 2);
        let reduce = dot(&law.all_reduce, &[1, u128::from(tokens)]);
        let attention = attention.max(i128::from(a.floor));
        let all = [on(&law.dense, tokens), on(&law.head, sequences), reduce, attention, 500];
        // Half a nanosecond is rounded up; a step takes one at least.
        all.into_iter().fold(0, i128::saturating_add).div_euclid(1000).max(1)
    }

    /// The step has ended: progress, and the tokens that must be told of now.
    fn end_step(&mut self) {
        let Some(Running { end, parts }) = self.step.take() else { return };
        for (request, count) in parts {
            let Some(alive) = self.alive.get_mut(request.0.into()) else { continue };
            let before = alive.computed;
            alive.computed += u64::from(count);
            let after = alive.computed;
            if after == u64::from(alive.what.tokens_in) + alive.out {
                alive.out += 1;
                if alive.out == 1 {
                    alive.first_at = Some(end);
                }
                alive.done_at = (alive.out >= u64::from(alive.what.tokens_out)).then_some(end);
                self.report.out += 1;
            }
            self.taken += self.blocks(after) - self.blocks(before);
        }
    }

    fn first(&mut self, request: RequestId) {
        let now = self.now;
        let Some(alive) = self.alive.get_mut(request.0.into()) else {
            return self.fault(Fault::NotHere { request });
        };
        if alive.first_at.take() != Some(now) {
            self.fault(Fault::NoFirstToken { request });
        }
    }

    fn done(&mut self, request: RequestId) {
        self.report.done += 1;
        let now = self.now;
        let Some(alive) = self.remove(request) else { return };
        if alive.first_at.is_some() {
            self.fault(Fault::FirstNotTold { request });
        }
        if alive.done_at != Some(now) {
            let (out, wants) = (alive.out, alive.what.tokens_out);
            self.fault(Fault::EndsEarly { request, out, wants });
        }
    }
}

/// A curve once more: the segment is searched from its beginning.
fn on(curve: &Curve, x: u64) -> i128 {
    let points: Vec<(i128, i128)> =
        curve.points().iter().map(|p| (i128::from(p.0), i128::from(p.1))).collect();
    let x = i128::from(x);
    if points.len() == 1 || x <= points[0].0 {
        return points[0].1;
    }
    let mut i = 0;
    while i + 2 < points.len() && points[i + 1].0 < x {
        i += 1;
    }
    let ((x0, y0), (x1, y1)) = (points[i], points[i + 1]);
    y0 + (x - x0) * (y1 - y0) / (x1 - x0)
}
