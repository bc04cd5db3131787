//! When a model's requests may have waited in vain for a load: at internal deadlines.
//!
//! Any deadline may wake, also that of a request that was sent: others of its model are looked at then. But
//! nobody wakes for a model without requests while nothing else is left to do, except at the last deadline of
//! all: a run in which nothing else happens ends with it.

use super::super::soonest::Soonest;
use crate::time::{Span, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// See the module's text.
#[derive(Default)]
pub(super) struct Expiring {
    /// By model: the deadlines of its requests that have not passed, and some that have.
    deadlines: Vec<Soonest<Time>>,
    /// The first deadlines of models that have, or had, requests. A model may be there twice, where a later
    /// request had an earlier deadline.
    first: Soonest<(Time, usize)>,
    /// By model: which entry of `first` is its own.
    listed: Vec<Time>,
    /// All deadlines that are not known to have passed: those that came in order, and the others.
    all: VecDeque<Time>,
    others: BinaryHeap<Reverse<Time>>,
    /// The last deadline of all.
    last: Option<Time>,
}

impl Expiring {
    /// A request of a model arrives.
    pub fn push(&mut self, now: Time, model: usize, deadline: Time) {
        if deadline == Time::NEVER {
            return;
        }
        self.last = self.last.max(Some(deadline));
        if self.all.back().is_none_or(|last| *last <= deadline) {
            self.all.push_back(deadline);
        } else {
            self.others.push(Reverse(deadline));
        }
        if self.deadlines.len() <= model {
            self.deadlines.resize_with(model + 1, Soonest::default);
            self.listed.resize(model + 1, Time::NEVER);
        }
        self.deadlines[model].push(deadline);
        if self.listed[model] == Time::NEVER {
            self.list(now, model);
        } else if deadline < self.listed[model] {
            self.listed[model] = deadline;
            self.first.push((deadline, model));
        }
    }

    /// The first deadline of all that may still wake, whosever it is; or `NEVER`. One that has just passed wakes
    /// at this very instant, unless [`Expiring::passed`] was called at it.
    pub fn first(&mut self, now: Time) -> Time {
        self.forget(|deadline| deadline + Span::from_ns(1) < now);
        let first = self.all.front().copied().unwrap_or(Time::NEVER);
        self.others.peek().map_or(first, |other| first.min(other.0))
    }

    /// All deadlines before now have woken.
    pub fn passed(&mut self, now: Time) {
        self.forget(|deadline| deadline < now);
    }

    fn forget(&mut self, is_over: impl Fn(Time) -> bool) {
        while self.all.front().is_some_and(|deadline| is_over(*deadline)) {
            self.all.pop_front();
        }
        while self.others.peek().is_some_and(|deadline| is_over(deadline.0)) {
            self.others.pop();
        }
    }

    /// Lists a model with its first deadline that has not passed.
    fn list(&mut self, now: Time, model: usize) {
        let deadlines = &mut self.deadlines[model];
        while deadlines.pop_if(|deadline| deadline < now).is_some() {}
        self.listed[model] = deadlines.first().unwrap_or(Time::NEVER);
        if let Some(first) = deadlines.first() {
            self.first.push((first, model));
        }
    }

    /// A model of which a deadline has passed.
    pub fn due(&mut self, now: Time) -> Option<usize> {
        while let Some((deadline, model)) = self.first.pop_if(|(deadline, _)| deadline < now) {
            if self.listed[model] == deadline {
                self.list(now, model);
                return Some(model);
            }
        }
        None
    }

    /// The first deadline of a model that `waits`, or else the last of all, if it has not passed.
    pub fn next(&mut self, now: Time, waits: impl Fn(usize) -> bool) -> Time {
        while let Some((deadline, model)) = self.first.first() {
            let is_its_own = self.listed[model] == deadline;
            if is_its_own && waits(model) {
                return deadline;
            }
            self.first.pop();
            if is_its_own {
                self.listed[model] = Time::NEVER;
            }
        }
        self.last.filter(|&last| last >= now).unwrap_or(Time::NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use std::collections::BTreeSet;

    /// Against a list of all deadlines, each of which wakes: the models with requests that are looked at, and
    /// when, are the same.
    #[test]
    fn models_with_requests_are_looked_at_as_if_each_deadline_woke() {
        let mut rng = Stream::named(1, "expiring", 0);
        let (mut expiring, mut all) = (Expiring::default(), BTreeSet::new());
        let mut queued = [0u32; 5];
        let (mut looks, mut wakes, mut sets) = (0, 0, 0);
        for ns in 0..50_000 {
            let now = Time::from_ns(ns);
            let passed: BTreeSet<usize> =
                all.iter().filter(|(d, _)| *d < now).map(|&(_, m)| m).collect();
            sets += all.iter().filter(|(d, _)| *d < now).count();
            all.retain(|(d, _)| *d >= now);
            let wanted: BTreeSet<usize> = passed.into_iter().filter(|&m| queued[m] > 0).collect();
            let mut got = BTreeSet::new();
            let next = expiring.next(now, |m| queued[m] > 0);
            let last = all.last().map_or(Time::NEVER, |last| last.0);
            assert!(next <= last, "the run goes on until then");
            if next < now {
                wakes += 1;
                while let Some(model) = expiring.due(now) {
                    got.insert(model);
                }
                got.retain(|&m| queued[m] > 0);
            }
            assert_eq!(got, wanted, "{now}");
            looks += wanted.len();
            let model = rng.below(5) as usize;
            match rng.below(4) {
                0 => {
                    let deadline = now + Span::from_ns(20 + rng.below(60));
                    expiring.push(now, model, deadline);
                    all.insert((deadline, model));
                    queued[model] += 1;
                }
                1 | 2 => queued[model] = queued[model].saturating_sub(1),
                _ => {}
            }
        }
        assert!(expiring.first.len() <= 100, "as many as deadlines that have not passed");
        assert!(looks > 1_000 && wakes < sets, "{looks} {wakes} {sets}");
    }

    #[test]
    fn the_first_deadline_of_all_is_found_in_whatever_order_they_came() {
        let mut rng = Stream::named(2, "expiring", 0);
        for spread in [1, 40] {
            let (mut expiring, mut all) = (Expiring::default(), Vec::new());
            for ns in (0..20_000).step_by(7) {
                let now = Time::from_ns(ns);
                let passed = rng.below(2) == 0;
                if passed {
                    expiring.passed(now);
                }
                let wakes = |d: &Time| if passed { *d } else { *d + Span::from_ns(1) };
                all.retain(|d| wakes(d) >= now);
                let first = all.iter().copied().min().unwrap_or(Time::NEVER);
                assert_eq!(expiring.first(now), first);
                let deadline = now + Span::from_ns(60 + rng.below(spread));
                expiring.push(now, rng.below(3) as usize, deadline);
                all.push(deadline);
            }
        }
    }
}
