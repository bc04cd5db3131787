//! Clockwork's batch queues, strategies and duration estimates of one model.
//!
//! It knows no device and sends nothing.

use super::super::Actions;
use super::{Config, Estimator};
use crate::profile::ModelProfile;
use crate::request::{Drop, RequestId};
use crate::time::{Span, Time};
use std::collections::VecDeque;

const WINDOW: usize = 10;

/// The last ten durations of a batch size.
struct Durations {
    last: [Span; WINDOW],
    measured: usize,
}

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
    /// Requests not dispatched, in order of arrival; the first one has number `first`.
    pub queue: VecDeque<Waiting>,
    pub first: u64,
    /// Where each size's batch queue begins, as a request's number.
    pub cursors: Vec<u64>,
    /// Strategies not yet tried: bit i for the i-th size, with its `latest`.
    pub untried: u32,
    latest: Vec<Time>,
    /// Counts the changes of its next strategy: an older offer is stale.
    pub version: u64,
}

impl Model {
    pub fn new(config: &Config, profile: &ModelProfile) -> Model {
        let sizes = profile.sizes_within(config.max_exec, config.max_batch);
        assert!(sizes.len() <= 32, "at most 32 batch sizes");
        let unmeasured = || Durations { last: [Span::ZERO; WINDOW], measured: 0 };
        Model {
            estimates: sizes.iter().map(|&s| profile.size(s).typical).collect(),
            durations: sizes.iter().map(|_| unmeasured()).collect(),
            cursors: vec![0; sizes.len()],
            latest: vec![Time::ZERO; sizes.len()],
            sizes,
            queue: VecDeque::new(),
            first: 0,
            untried: 0,
            version: 0,
        }
    }

    pub fn queued(&self, size: usize) -> u64 {
        self.first + self.queue.len() as u64 - self.cursors[size]
    }

    /// A strategy for a batch queue that is not empty.
    pub fn add_strategy(&mut self, size: usize) {
        let at = (self.cursors[size] - self.first) as usize;
        if let Some(head) = self.queue.get(at) {
            self.latest[size] = head.deadline.minus(self.estimates[size]);
            self.untried |= 1 << size;
        }
    }

    /// The untried strategy with the smallest `latest`; of equal ones the largest size.
    pub fn next_strategy(&self) -> Option<(Time, usize)> {
        let mut next: Option<(Time, usize)> = None;
        let mut untried = self.untried;
        while untried != 0 {
            let size = untried.trailing_zeros() as usize;
            untried &= untried - 1;
            if next.is_none_or(|n| self.latest[size] <= n.0) {
                next = Some((self.latest[size], size));
            }
        }
        next
    }

    /// Tries this model's strategies in turn, from its next one on, for as long as they come before
    /// the `others`; whether one is valid, that is asks for at most the size that was reached. What
    /// was tried is forgotten. (Nothing changes between the tries, so they need not be made.)
    pub fn try_strategies(
        &mut self,
        model: usize,
        reached: Option<usize>,
        others: Option<(Time, usize)>,
    ) -> bool {
        let mut first = true;
        while let Some((latest, wanted)) = self.next_strategy()
            && (first || others.is_none_or(|other| (latest, model) < other))
        {
            first = false;
            self.untried &= !(1 << wanted);
            if reached.is_some_and(|size| size >= wanted) {
                return true;
            }
            if others.is_none() {
                // Nobody is waiting in between: all that ask for more fail at once.
                self.untried &= reached.map_or(0, |size| (2 << size) - 1);
            }
        }
        false
    }

    /// In every batch queue, heads that could not finish in time at that size leave.
    pub fn drop_unsuitable(&mut self, available: Time) {
        let largest = self.estimates.iter().max().copied().unwrap_or_default();
        let same_head = self.cursors.iter().all(|&c| c == self.first);
        if same_head && self.queue.front().is_none_or(|h| h.deadline >= available + largest) {
            return;
        }
        for (cursor, &estimate) in self.cursors.iter_mut().zip(&self.estimates) {
            let finish = available + estimate;
            while let Some(head) = self.queue.get((*cursor - self.first) as usize)
                && head.deadline < finish
            {
                *cursor += 1;
            }
        }
    }

    /// Grows from the smallest size while the next one's own queue can fill it.
    pub fn largest_fillable(&self) -> Option<usize> {
        let fillable =
            (0..self.sizes.len()).take_while(|&s| self.queued(s) >= u64::from(self.sizes[s]));
        fillable.last()
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

    pub fn learn(&mut self, size: usize, duration: Span, estimator: Estimator) {
        if estimator == Estimator::StaticMean {
            return;
        }
        let d = &mut self.durations[size];
        d.last[d.measured % WINDOW] = duration;
        d.measured += 1;
        let window = &d.last[..d.measured.min(WINDOW)];
        self.estimates[size] = if estimator == Estimator::WindowMean {
            Span::from_ns(window.iter().copied().sum::<Span>().ns() / window.len() as u64)
        } else {
            p99(window)
        };
    }

    /// Drops the requests that no batch queue holds any more.
    pub fn drop_lost(&mut self, available: Time, out: &mut Actions) {
        let kept = self.cursors.iter().min().copied().unwrap_or(self.first);
        for _ in self.first..kept {
            let lost = self.queue.pop_front().expect("cursors are within the queue");
            out.why(lost.id, || self.loss(lost.deadline, available));
            out.end(lost.id, Drop::Infeasible);
        }
        self.first = kept;
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

    /// Why a request is in no batch queue any more.
    fn loss(&self, deadline: Time, available: Time) -> String {
        let shortest = self.estimates.iter().min().copied().unwrap_or_default();
        let end = available + shortest;
        if end > deadline {
            let late = end - deadline;
            format!(
                "even in its shortest batch, {shortest}, it would end {late} after its internal \
                 deadline"
            )
        } else {
            "a batch of requests that came after it has emptied the only queues it was in"
                .to_string()
        }
    }
}

/// The 0.99 quantile with linear interpolation over the sorted window (sliding_window.h). With at
/// most ten samples it lies between the two largest.
fn p99(window: &[Span]) -> Span {
    let n = window.len();
    let (mut first, mut second) = (Span::ZERO, Span::ZERO);
    for &s in window {
        if s > first {
            (first, second) = (s, first);
        } else if s > second {
            second = s;
        }
    }
    if n < 2 {
        return first;
    }
    let share = 0.99 * (n - 1) as f64 - (n - 2) as f64;
    second + first.minus(second).scale(share)
}
