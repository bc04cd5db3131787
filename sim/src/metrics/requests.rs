//! The requests of a run that count, with what the intervals of their figures are computed from, in memory that does
//! not grow with the run.
//!
//! They are cut into at most 64 batches by their order of arrival. All batches have the same power of two of requests,
//! the last one perhaps fewer; when 64 are full, neighbours are merged and the size doubles, so that a long run has 32
//! to 64. The boundaries are the same for every model and application, and for every policy that meets the same
//! workload, which is what paired comparisons need. A request belongs to its arrival's batch wherever it ends.

use super::batches::{Batch, Batches};
use super::costs::Costs;
use super::counts::{Counts, Figures};
use super::parts::Parts;
use super::sketch::Sketch;
use crate::request::{End, Request};
use crate::time::{NS_PER_S, Span, Time};

/// The requests that count: those that arrive in `[from, to)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The end of the warm-up.
    pub from: Time,
    /// The end of the measured part.
    pub to: Time,
}

impl Default for Window {
    fn default() -> Self {
        Window { from: Time::ZERO, to: Time::NEVER }
    }
}

/// Which sums of the counted requests are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// One, over all of them.
    Total,
    /// By model; none where groups are kept.
    Models,
    /// By application; none where groups are kept.
    Apps,
    /// By group of applications; none where each is kept. A last group without requests is left out.
    Groups,
}

/// The most batches of a run. After merging at least half of them remain, twice the least that an
/// interval is made of: room for a merger more if neighbours are alike.
const MOST: usize = 64;

/// What is kept of requests that are counted together.
#[derive(Clone, Debug)]
struct Part {
    /// Room for all batches.
    batches: Vec<Batch>,
    latency: Sketch,
    queueing: Sketch,
}

/// What is kept of all requests that count.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    pub window: Window,
    pub exact: bool,
    pub parts: Parts,
    pub penalties: Costs,
    /// Every view is a sum over these.
    kept: Vec<Part>,
    /// The id of the first request that counts.
    first: u64,
    /// A batch has `1 << shift` requests.
    shift: u32,
    /// When each batch's first request arrived.
    starts: Vec<Time>,
    /// When the last request arrived that counts.
    last: Time,
    pub end: Time,
}

impl Requests {
    pub fn new(window: Window, exact: bool) -> Requests {
        Requests { window, exact, starts: Vec::with_capacity(MOST), ..Requests::default() }
    }

    #[inline(always)]
    pub fn arrived(&mut self, request: &Request) {
        if !self.counts(request) {
            return;
        }
        if (request.id.0 - self.first) >> self.shift >= self.starts.len() as u64 {
            self.open(request);
        }
        self.last = request.arrival;
        let at_stake = self.penalties.at_stake(request);
        self.of(request).1.counts.arrive(at_stake);
    }

    pub fn cold(&mut self, request: &Request) {
        if self.counts(request) {
            self.of(request).1.counts.cold += 1;
        }
    }

    #[inline(always)]
    pub fn ended(&mut self, now: Time, request: &Request, end: End, start: Option<Time>) {
        if !self.counts(request) {
            return;
        }
        let saved = self.penalties.saved(now, request, end);
        let ([latency, queueing], batch) = self.of(request);
        let start = start.filter(|_| matches!(end, End::InTime | End::Late));
        let answered = start.map(|start| (now - request.arrival, start - request.arrival));
        batch.counts.end(end, saved, answered);
        if let Some((took, waited)) = answered {
            batch.answer(took);
            latency.record(took);
            queueing.record(waited);
        }
    }

    #[inline]
    fn counts(&self, request: &Request) -> bool {
        self.window.from <= request.arrival && request.arrival < self.window.to
    }

    /// The sketches of latency and queueing, and the batch, of a request that counts.
    #[inline(always)]
    fn of(&mut self, request: &Request) -> ([&mut Sketch; 2], &mut Batch) {
        let index = ((request.id.0 - self.first) >> self.shift) as usize;
        let part = self.parts.of(request);
        if part >= self.kept.len() {
            self.add_parts(part);
        }
        let Part { batches, latency, queueing } = &mut self.kept[part];
        ([latency, queueing], &mut batches[index])
    }

    #[cold]
    fn add_parts(&mut self, last: usize) {
        let sketch = Sketch::new(self.exact);
        let batches = vec![Batch::default(); MOST];
        self.kept.resize(last + 1, Part { batches, latency: sketch.clone(), queueing: sketch });
    }

    /// The request is the first of a batch.
    #[cold]
    fn open(&mut self, request: &Request) {
        if self.starts.is_empty() {
            self.first = request.id.0;
        }
        if self.starts.len() == MOST {
            self.shift += 1;
            self.kept.iter_mut().for_each(|part| merge_pairs(&mut part.batches));
            self.starts = self.starts.iter().step_by(2).copied().collect();
        }
        self.starts.push(request.arrival);
    }

    /// The parts of each scope of a view.
    fn scopes(&self, view: View) -> Vec<Vec<usize>> {
        match view {
            View::Total => vec![(0..self.kept.len()).collect()],
            View::Models => self.parts.by_model(),
            View::Apps => self.parts.by_app(),
            View::Groups if self.parts.are_groups() => {
                (0..self.kept.len()).map(|p| vec![p]).collect()
            }
            View::Groups => Vec::new(),
        }
    }

    pub fn figures(&self, view: View) -> Vec<Figures> {
        let sum = |parts: Vec<usize>| {
            let sketch = || Sketch::new(self.exact);
            let mut sum =
                Figures { counts: Counts::default(), latency: sketch(), queueing: sketch() };
            for part in parts.into_iter().map(|p| &self.kept[p]) {
                part.batches.iter().for_each(|batch| sum.counts.add(&batch.counts));
                sum.latency.add(&part.latency);
                sum.queueing.add(&part.queueing);
            }
            sum
        };
        self.scopes(view).into_iter().map(sum).collect()
    }

    pub fn batches(&self, view: View) -> Vec<Batches> {
        let sum = |parts: Vec<usize>| {
            let mut batches = vec![Batch::default(); self.starts.len()];
            for part in parts.into_iter().map(|p| &self.kept[p]) {
                batches.iter_mut().zip(&part.batches).for_each(|(sum, batch)| sum.add(batch));
            }
            Batches { batches, spans_s: self.spans_s() }
        };
        self.scopes(view).into_iter().map(sum).collect()
    }

    /// How long each batch took to arrive. The first begins with the measured part and the last one ends with it, so
    /// that the lengths add up to the time that goodput is measured over.
    fn spans_s(&self) -> Vec<f64> {
        let begins = std::iter::once(self.window.from).chain(self.starts.iter().skip(1).copied());
        let ends = self.starts.iter().skip(1).copied().chain([self.window.to.min(self.end)]);
        let spans_s = begins.zip(ends).map(|(a, b)| b.since(a).ns() as f64 / NS_PER_S as f64);
        spans_s.take(self.starts.len()).collect()
    }

    pub fn measured(&self) -> Span {
        self.window.to.min(self.end).since(self.window.from)
    }

    pub fn in_time(&self) -> u64 {
        let batches = self.kept.iter().flat_map(|part| &part.batches);
        batches.map(|batch| batch.counts.ended(End::InTime)).sum()
    }

    pub fn lead(&self) -> f64 {
        let span = |to: Time| to.since(self.window.from).as_secs_f64();
        match self.starts.first() {
            Some(&first) if self.end > first => span(first) / span(self.window.to.min(self.end)),
            _ => 0.0,
        }
    }

    pub fn drain(&self) -> f64 {
        let end = self.window.to.min(self.end);
        let measured = end.since(self.window.from).as_secs_f64();
        let is_some = !self.starts.is_empty() && measured > 0.0;
        if is_some { end.since(self.last).as_secs_f64() / measured } else { 0.0 }
    }
}

/// Merges neighbours: the first half of the list becomes the sums, the second half is empty.
fn merge_pairs(batches: &mut [Batch]) {
    for i in 0..batches.len() / 2 {
        let mut sum = std::mem::take(&mut batches[2 * i]);
        sum.add(&std::mem::take(&mut batches[2 * i + 1]));
        batches[i] = sum;
    }
}
