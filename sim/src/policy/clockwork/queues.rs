//! Clockwork's batch queues and duration estimates of one model, and the strategies made of them.
//!
//! Every batch queue is in order of arrival and loses only its head, and a dispatch empties all of
//! them up to the last request taken. So a batch queue is a suffix of the arrivals, and is kept as a
//! cursor into one queue.
//!
//! It knows no device and sends nothing.

use super::super::Actions;
use super::config::{Config, Estimator};
use super::durations::Durations;
use super::strategies::Strategies;
use crate::profile::ModelProfile;
use crate::request::RequestId;
use crate::time::{Span, Time};
use std::collections::VecDeque;

#[derive(Clone, Copy)]
pub(super) struct Waiting {
    pub id: RequestId,
    /// The internal deadline: arrival + max(SLO - buffer, ahead + buffer).
    pub deadline: Time,
}

pub(super) struct Model {
    pub sizes: Vec<u32>,
    /// The estimated duration of each size, and the measurements behind it.
    pub estimates: Vec<Span>,
    durations: Vec<Durations>,
    /// The longest estimate.
    longest: Span,
    /// Requests not dispatched, in order of arrival; the first one has number `first`.
    pub queue: VecDeque<Waiting>,
    pub first: u64,
    /// Where each size's batch queue begins, as a request's number.
    pub cursors: Vec<u64>,
    /// Whether some cursor is not at `first`.
    spread: bool,
    pub strategies: Strategies,
}

impl Model {
    pub fn new(config: &Config, profile: &ModelProfile) -> Model {
        let sizes = config.sizes_of(profile);
        let estimates: Vec<Span> = sizes.iter().map(|&s| profile.typical(s)).collect();
        Model {
            longest: estimates.iter().copied().max().unwrap_or_default(),
            durations: estimates.iter().map(|&seed| Durations::new(seed)).collect(),
            estimates,
            cursors: vec![0; sizes.len()],
            spread: false,
            strategies: Strategies::new(sizes.len()),
            sizes,
            queue: VecDeque::new(),
            first: 0,
        }
    }

    pub fn queued(&self, size: usize) -> u64 {
        self.first + self.queue.len() as u64 - self.cursors[size]
    }

    /// Whether some request is still in no batch of one: it can only wait for others.
    pub fn is_stuck(&self) -> bool {
        self.sizes[0] > 1 || self.queued(0) == 0
    }

    /// Makes every strategy anew: one for each batch queue that is not empty.
    pub fn make_all(&mut self, made: u64) {
        let Model { queue, first, cursors, estimates, strategies, .. } = self;
        if queue.is_empty() {
            strategies.clear();
        } else if !self.spread {
            let deadline = queue[0].deadline;
            strategies.make_all(estimates.iter().map(|&e| Some(deadline.minus(e))), made);
        } else {
            let head = |cursor: &u64| queue.get((cursor - *first) as usize);
            let latest = |(cursor, &estimate): (&u64, &Span)| {
                head(cursor).map(|head| head.deadline.minus(estimate))
            };
            strategies.make_all(cursors.iter().zip(estimates.iter()).map(latest), made);
        }
    }

    /// Appends a request to every batch queue; those that were empty get a strategy. Whether there
    /// were any.
    pub fn append(&mut self, waiting: Waiting, made: u64) -> bool {
        let end = self.first + self.queue.len() as u64;
        self.queue.push_back(waiting);
        if !self.spread {
            let was_empty = self.first == end;
            if was_empty {
                self.make_all(made);
            }
            return was_empty;
        }
        let deadline = self.queue[self.queue.len() - 1].deadline;
        let mut any = false;
        for size in 0..self.sizes.len() {
            if self.cursors[size] == end {
                self.strategies.make(size, deadline.minus(self.estimates[size]), made);
                any = true;
            }
        }
        if any {
            self.strategies.settle();
        }
        any
    }

    /// In every batch queue, heads that could not finish in time at that size leave.
    pub fn drop_unsuitable(&mut self, available: Time) {
        let in_time = |head: &Waiting| head.deadline >= available + self.longest;
        if !self.spread && self.queue.front().is_none_or(in_time) {
            return;
        }
        self.spread = true;
        for (cursor, &estimate) in self.cursors.iter_mut().zip(&self.estimates) {
            let finish = available + estimate;
            while let Some(head) = self.queue.get((*cursor - self.first) as usize)
                && head.deadline < finish
            {
                *cursor += 1;
            }
        }
    }

    /// Grows from the smallest size while the next one's own queue can fill it; the size that this
    /// ends at must be filled too. The smallest itself is asked only there: while the next can be
    /// filled, it may be out of reach.
    pub fn largest_fillable(&self) -> Option<usize> {
        if !self.spread {
            let held = self.queue.len();
            return self.sizes.partition_point(|&s| s as usize <= held).checked_sub(1);
        }
        let fills = |size: &usize| self.queued(*size) >= u64::from(self.sizes[*size]);
        let largest = (1..self.sizes.len()).take_while(fills).last().unwrap_or(0);
        fills(&largest).then_some(largest)
    }

    /// Takes the first of a size's queue; every queue loses all up to the last one taken.
    pub fn take(&mut self, size: usize, batch: &mut Vec<RequestId>) {
        let from = self.cursors[size];
        let at = (from - self.first) as usize;
        let count = self.sizes[size] as usize;
        if at == 0 {
            (0..count).for_each(|_| batch.extend(self.queue.pop_front().map(|w| w.id)));
        } else {
            batch.extend(self.queue.drain(at..at + count).map(|w| w.id));
        }
        // What was taken has left the numbering, so that only what lies before it is lost.
        for cursor in &mut self.cursors {
            *cursor = cursor.saturating_sub(count as u64).max(from);
        }
    }

    pub fn learn(&mut self, now: Time, size: usize, duration: Span, estimator: Estimator) {
        if estimator == Estimator::StaticMean {
            return;
        }
        let d = &mut self.durations[size];
        d.learn(now, duration, estimator);
        let estimate = d.estimate;
        self.estimate(size, estimate);
    }

    fn estimate(&mut self, size: usize, estimate: Span) {
        let before = std::mem::replace(&mut self.estimates[size], estimate);
        if before == self.longest || estimate > self.longest {
            self.longest = self.estimates.iter().copied().max().unwrap_or_default();
        }
    }

    /// Sizes that were not measured for so long are believed to take their seed again.
    pub fn probe(&mut self, now: Time, after: Span) {
        for size in 0..self.sizes.len() {
            let d = &mut self.durations[size];
            if d.probe(now, after) {
                let seed = d.estimate;
                self.estimate(size, seed);
            }
        }
    }

    /// Takes out the requests that no batch queue holds any more. False when all queues hold the same,
    /// so that there can be none.
    pub fn drop_lost(
        &mut self,
        available: Time,
        lost: &mut Vec<Waiting>,
        out: &mut Actions,
    ) -> bool {
        if !self.spread {
            return false;
        }
        let kept = self.cursors.iter().min().copied().unwrap_or(self.first);
        for _ in self.first..kept {
            let request = self.queue.pop_front().expect("cursors are within the queue");
            out.why(request.id, || self.loss(request.deadline, available));
            lost.push(request);
        }
        self.first = kept;
        self.spread = self.cursors.iter().any(|&c| c != kept);
        true
    }

    /// Why a batch of that size was chosen; `next` is the size after it, and what its queue held.
    pub fn choice(&self, size: usize, next: Option<(u32, u64)>, free_in: Span) -> String {
        let (k, estimate) = (self.sizes[size], self.estimates[size]);
        let next = next.map_or("the largest size".to_string(), |(next, held)| {
            format!("{next} is impossible: only {held} waiting requests would be in time in it")
        });
        format!(
            "batch of {k}, estimated {estimate}, on a device that is expected to be free in \
             {free_in}; {next}"
        )
    }

    /// Where the smallest size is not the shortest, all estimates: once one exceeds what a request has, its size is not
    /// tried again, nor are larger ones.
    fn lost_to(&self, shortest: Span) -> String {
        if self.estimates.first().is_none_or(|first| *first == shortest) {
            return String::new();
        }
        let all = self.sizes.iter().zip(&self.estimates);
        let all: Vec<String> =
            all.map(|(size, estimate)| format!("{estimate} for {size}")).collect();
        format!(
            "; batches are estimated at {}; without `probe_s`, a size is not tried again while a request has less time \
             than that, nor are larger ones",
            all.join(", ")
        )
    }

    /// Why a request is in no batch queue any more.
    fn loss(&self, deadline: Time, available: Time) -> String {
        let shortest = self.estimates.iter().min().copied().unwrap_or_default();
        let end = available + shortest;
        if end > deadline {
            let late = end - deadline;
            let lost = self.lost_to(shortest);
            format!(
                "even in its shortest batch, {shortest}, it would end {late} after its internal \
                 deadline{lost}"
            )
        } else {
            "a batch of requests that came after it has emptied the only queues it was in"
                .to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latency::Latency;

    /// A smallest size that has become slow is named with the others: none of them is tried again.
    #[test]
    fn a_drop_names_the_sizes_that_are_lost() {
        let law = Latency::Affine { alpha: Span::from_ms(1), beta: Span::from_ms(4) };
        let alone = (0, Span::from_ms(5));
        let (slo, sizes) = (Span::from_ms(50), [1, 2, 4]);
        let profile = ModelProfile::of_constant(&law, slo, &sizes, 10, alone, 8);
        let mut model = Model::new(&Config::released(), &profile);
        let said = |model: &Model| model.loss(Time::ZERO, Time::ZERO);
        assert!(said(&model).contains("even in its shortest batch, 5.000000ms"));
        assert!(!said(&model).contains("probe_s"), "{}", said(&model));
        model.estimates[0] = Span::from_ms(90);
        let now = said(&model);
        assert!(now.contains("shortest batch, 6.000000ms"), "{now}");
        assert!(now.contains("90.000000ms for 1, 6.000000ms for 2, 8.000000ms for 4"), "{now}");
        assert!(now.contains("`probe_s`"), "{now}");
    }
}
