//! Batch means of one run: what the errors of its figures are computed from, in memory that does not
//! grow with the run.
//!
//! The requests that count (those of [`Metrics`](super::Metrics)' window) are cut into at most 64
//! batches by their order of arrival. All batches have the same power of two of requests, the last
//! one perhaps fewer; when 64 are full, neighbours are merged and the size doubles, so that a long
//! run has 32 to 64. The boundaries are the same for every model and application, and for every
//! policy that meets the same workload, which is what paired comparisons need.
//!
//! A request belongs to its arrival's batch wherever it ends, so each figure here is the one of
//! `Metrics`, with an interval by `stats::ratio_of_batches`.

mod batches;

pub use batches::Batches;

use super::costs::Costs;
use super::parts::Parts;
use super::{Scopes, Window};
use crate::observer::Observer;
use crate::penalty::Penalty;
use crate::request::{End, Request};
use crate::time::{NS_PER_S, Time};
use batches::Batch;

/// The most batches of a run. After merging at least half of them remain, twice the least that an
/// interval is made of: room for a merger more if neighbours are alike.
const MOST: usize = 64;

/// The batches of a run. An [`Observer`]; see the module's text.
#[derive(Clone, Debug, Default)]
pub struct BatchMeans {
    window: Window,
    parts: Parts,
    penalties: Costs,
    /// By part; each has room for all batches.
    batches: Vec<Vec<Batch>>,
    /// The id of the first request that counts.
    first: u64,
    /// A batch has `1 << shift` requests.
    shift: u32,
    /// When each batch's first request arrived.
    starts: Vec<Time>,
    end: Time,
}

impl BatchMeans {
    /// Batches of the requests that arrive in `window`: the one of the [`Metrics`](super::Metrics)
    /// whose figures get the intervals.
    pub fn new(window: Window) -> BatchMeans {
        BatchMeans { window, starts: Vec::with_capacity(MOST), ..BatchMeans::default() }
    }

    /// The same with batches of these scopes, before the run.
    #[must_use]
    pub fn with_scopes(self, scopes: Scopes) -> BatchMeans {
        BatchMeans { parts: Parts::new(scopes), ..self }
    }

    /// The same batches with costs, as [`Metrics::with_penalties`](super::Metrics::with_penalties).
    #[must_use]
    pub fn with_penalties(self, penalties: Vec<Penalty>) -> BatchMeans {
        BatchMeans { penalties: Costs::new(penalties), ..self }
    }

    /// Everything together.
    pub fn total(&self) -> Batches {
        self.sum(&self.batches)
    }

    /// By model; none where groups are kept.
    pub fn models(&self) -> Vec<Batches> {
        self.sums(self.parts.by_model())
    }

    /// By application; none where groups are kept.
    pub fn apps(&self) -> Vec<Batches> {
        self.sums(self.parts.by_app())
    }

    /// By group of applications; none where each is kept.
    pub fn groups(&self) -> Vec<Batches> {
        let kept: &[Vec<Batch>] = if self.parts.are_groups() { &self.batches } else { &[] };
        kept.iter().map(|batches| self.sum([batches])).collect()
    }

    fn sums(&self, lists: Vec<Vec<usize>>) -> Vec<Batches> {
        let of = |parts: &Vec<usize>| self.sum(parts.iter().map(|&p| &self.batches[p]));
        lists.iter().map(of).collect()
    }

    /// The share of the measured time that had passed when the first request that counts arrived; zero of none.
    pub fn lead(&self) -> f64 {
        let span = |to: Time| to.since(self.window.from).as_secs_f64();
        match self.starts.first() {
            Some(&first) if self.end > first => span(first) / span(self.window.to.min(self.end)),
            _ => 0.0,
        }
    }

    fn sum<'a>(&self, parts: impl IntoIterator<Item = &'a Vec<Batch>>) -> Batches {
        let mut batches = vec![Batch::default(); self.starts.len()];
        for part in parts {
            batches.iter_mut().zip(part).for_each(|(sum, batch)| sum.add(batch));
        }
        let to = self.window.to.min(self.end);
        // The first batch begins with the measured part and the last one ends with it, so that the
        // lengths add up to the time that goodput is measured over.
        let begins = std::iter::once(self.window.from).chain(self.starts.iter().skip(1).copied());
        let ends = self.starts.iter().skip(1).copied().chain([to]);
        let spans_s = begins.zip(ends).map(|(a, b)| b.since(a).ns() as f64 / NS_PER_S as f64);
        let spans_s = spans_s.take(batches.len()).collect();
        Batches { batches, spans_s }
    }

    #[inline]
    fn counts(&self, request: &Request) -> bool {
        self.window.from <= request.arrival && request.arrival < self.window.to
    }

    #[inline(always)]
    fn batch(&mut self, request: &Request) -> &mut Batch {
        let index = ((request.id.0 - self.first) >> self.shift) as usize;
        let part = self.parts.of(request);
        if part >= self.batches.len() {
            self.add_parts(part);
        }
        &mut self.batches[part][index]
    }

    #[cold]
    fn add_parts(&mut self, last: usize) {
        self.batches.resize_with(last + 1, || vec![Batch::default(); MOST]);
    }

    /// The request is the first of a batch.
    #[cold]
    fn open(&mut self, request: &Request) {
        if self.starts.is_empty() {
            self.first = request.id.0;
        }
        if self.starts.len() == MOST {
            self.shift += 1;
            self.batches.iter_mut().for_each(|batches| merge_pairs(batches));
            self.starts = self.starts.iter().step_by(2).copied().collect();
        }
        self.starts.push(request.arrival);
    }
}

impl Observer for BatchMeans {
    #[inline]
    fn arrived(&mut self, _now: Time, request: &Request) {
        if !self.counts(request) {
            return;
        }
        if (request.id.0 - self.first) >> self.shift >= self.starts.len() as u64 {
            self.open(request);
        }
        let at_stake = self.penalties.at_stake(request);
        let batch = self.batch(request);
        batch.offered += 1;
        batch.cost += u128::from(at_stake);
    }

    #[inline]
    fn ended(&mut self, now: Time, request: &Request, end: End, start: Option<Time>) {
        if !self.counts(request) {
            return;
        }
        if let (End::InTime | End::Late, Some(start)) = (end, start) {
            let saved = self.penalties.saved(now, request, end);
            let batch = self.batch(request);
            batch.cost -= u128::from(saved);
            batch.in_time += u64::from(end == End::InTime);
            let arrival = request.arrival;
            batch.answer((now - arrival).ns(), (start - arrival).ns());
        }
    }

    fn finished(&mut self, now: Time) {
        self.end = now;
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

#[cfg(test)]
mod tests;
