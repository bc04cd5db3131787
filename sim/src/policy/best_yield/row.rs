//! What a batch yields, by the instant at which it is stopped.

use crate::distribution::Histogram;
use crate::latency::Latency;
use crate::time::{Span, Time};

/// An instant at which a batch may be stopped: the end of a bin of its latency's law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stop {
    /// So long after its start.
    pub after: Span,
    /// The probability that it has ended by then: P(L <= s).
    pub done: f64,
    /// The device time that it is expected to take until it ends or is stopped, ns: E[min(L, s)].
    used_ns: f64,
    /// The longest request's time alone in a batch that ends just then, ns.
    longest_ns: f64,
    /// Of this stop and those before it, the one of the largest yield.
    best: usize,
}

/// The stops of batches of one size, the soonest first. By the last one a batch has ended.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub size: u32,
    pub items: u32,
    pub stops: Vec<Stop>,
    /// The largest yield, if no deadline is in the way, and its stop.
    pub most: f64,
    most_after: Span,
}

/// Which requests a batch takes: of classes up to one, or one that was stopped.
#[derive(Clone, Copy, Debug)]
pub(super) enum From {
    Classes(usize),
    Suspect(usize),
}

/// The best batch of a model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub yields: f64,
    pub from: From,
    pub size: usize,
    /// The items that it may have.
    pub items: u32,
    /// It is stopped after that time, or has ended.
    pub after: Span,
    /// It stays the best until then, if no request comes or goes.
    pub until: Time,
}

impl Row {
    /// Of batches of `size` requests, with so many items in all, whose longest request has this law. What cannot be
    /// stopped runs to its end whatever its deadline is: k P(L <= s) / E[L].
    pub fn of(
        law: &Latency,
        (size, items): (u32, u32),
        longest: &Histogram,
        can_stop: bool,
    ) -> Row {
        let at = |ns: f64| law.batch(items, Span::from_ns_f64(ns));
        let mut stops: Vec<Stop> = Vec::new();
        let (mut done, mut ended_ns, mut best) = (0.0, 0.0, 0);
        for bin in longest.bins() {
            let after = at(bin.high_ns);
            done += bin.mass;
            ended_ns += bin.mass * 0.5 * (at(bin.low_ns).ns() + after.ns()) as f64;
            let used_ns = ended_ns + (1.0 - done).max(0.0) * after.ns() as f64;
            let stop = Stop { after, done, used_ns, longest_ns: bin.high_ns, best };
            if stops.last().is_some_and(|last| last.after == after) {
                stops.pop();
            }
            stops.push(stop);
            let last = stops.len() - 1;
            if stops.get(best).is_none_or(|b| done / used_ns >= b.done / b.used_ns) {
                best = last;
            }
            stops[last].best = best;
        }
        let whole_ns = stops.last().map_or(0.0, |last| last.used_ns);
        for (i, stop) in stops.iter_mut().enumerate().filter(|_| !can_stop) {
            (stop.used_ns, stop.best) = (whole_ns, i);
        }
        let mut row = Row { size, items, stops, most: 0.0, most_after: Span::ZERO };
        if let Some((most, stop)) = row.best(row.stops.len()) {
            (row.most, row.most_after) = (most, row.stops[stop].after);
        }
        row
    }

    /// The number of stops until then.
    pub fn within(&self, span: Span) -> usize {
        self.stops.partition_point(|s| s.after <= span)
    }

    /// The best batch of this size that began now and whose earliest deadline is given.
    pub fn candidate(&self, from: From, deadline: Time, now: Time) -> Option<Candidate> {
        if deadline < now {
            return None;
        }
        let span = deadline.since(now);
        let (mut yields, mut after) = (self.most, self.most_after);
        if after > span {
            let (within, stop) = self.best(self.within(span))?;
            (yields, after) = (within, self.stops[stop].after);
        }
        let (size, items, until) = (self.size as usize, self.items, deadline.minus(after));
        Some(Candidate { yields, from, size, items, after, until })
    }

    /// The largest yield of a batch that may run until the last of the first `n` stops, per ns, and its stop.
    pub fn best(&self, n: usize) -> Option<(f64, usize)> {
        let best = self.stops.get(n.checked_sub(1)?)?.best;
        let stop = &self.stops[best];
        Some((f64::from(self.size) * stop.done / stop.used_ns.max(1.0), best))
    }

    /// The largest yield of the rest of a batch that has run for so long.
    pub fn best_after_time(&self, ran: Span) -> f64 {
        let Some(at) = self.within(ran).checked_sub(1) else {
            let rest =
                |s: &Stop| f64::from(self.size) * s.done / (s.used_ns - ran.ns() as f64).max(1.0);
            return self.stops.iter().map(rest).fold(0.0, f64::max);
        };
        self.best_after(at, self.stops.len()).map_or(0.0, |rest| rest.0)
    }

    /// The same of the rest of a batch that has not ended by stop `at`.
    pub fn best_after(&self, at: usize, n: usize) -> Option<(f64, usize)> {
        let from = self.stops[at];
        let rest = |s: &Stop| (s.done - from.done) / (s.used_ns - from.used_ns).max(1.0);
        let yields = |i: usize| f64::from(self.size) * rest(&self.stops[i]);
        (at + 1..n).map(|i| (yields(i), i)).max_by(|a, b| a.0.total_cmp(&b.0))
    }
}

/// The law of a request's time alone, given that its batch has not ended by stop `at`: that it, or another one,
/// is longer.
pub(super) fn given(law: &Histogram, row: &Row, at: usize) -> Histogram {
    let Stop { longest_ns, done, .. } = row.stops[at];
    let below = law.cdf(longest_ns);
    // Alone, it is the longer one for certain.
    let longer =
        if row.size == 1 { 1.0 } else { ((1.0 - below) / (1.0 - done).max(1e-12)).min(1.0) };
    let (mut edges, mut masses) = (Vec::new(), Vec::new());
    for bin in law.bins() {
        let is_longer = bin.high_ns > longest_ns;
        let factor = if is_longer { longer / (1.0 - below) } else { (1.0 - longer) / below };
        if edges.last().is_none_or(|&end| end < bin.low_ns) {
            masses.extend((!edges.is_empty()).then_some(0.0));
            edges.push(bin.low_ns);
        }
        masses.push(bin.mass * factor.max(0.0));
        edges.push(bin.high_ns);
    }
    let is_law = masses.iter().all(|m| m.is_finite()) && masses.iter().sum::<f64>() > 0.0;
    if is_law { Histogram::from_masses(edges, masses.into_iter()) } else { law.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    /// One in five takes 60 us, the others 10, give or take a nanosecond.
    fn law() -> Histogram {
        let edges = vec![10_000.0, 10_001.0, 60_000.0, 60_001.0];
        Histogram::from_masses(edges, [0.8, 0.0, 0.2].into_iter())
    }

    #[test]
    fn yields_by_hand() {
        let row = Row::of(&Latency::Proportional { c1: 0.5 }, (1, 1), &law(), true);
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-3;
        // All: 1 in 20 us. Stopped after 10 us: 0.8 in 10 us. The rest of one that goes on: 1 in 50 us.
        assert_eq!((row.within(Span::from_us(9)), row.best(0)), (0, None));
        let (yields, stop) = row.best(2).unwrap();
        assert!(near(yields, 0.8 / 10e3) && stop == 0);
        let (yields, stop) = row.best_after(0, 2).unwrap();
        assert!(near(yields, 1.0 / 50e3) && stop == 1);
        assert_eq!(row.best_after(0, 1), None, "its deadline is before");
        // It cannot be stopped: it takes 20 us whatever its deadline is.
        let whole = Row::of(&Latency::Proportional { c1: 0.5 }, (1, 1), &law(), false);
        assert!(near(whole.best(1).unwrap().0, 0.8 / 20e3) && near(whole.most, 1.0 / 20e3));
        // Of two in a batch at 1.5 times the longest's time, 64 % end after 15 us.
        let row = Row::of(&Latency::Proportional { c1: 0.5 }, (2, 2), &law().max_of(2), true);
        assert!(near(row.best(1).unwrap().0, 2.0 * 0.64 / 15e3));
        let all = Row::of(
            &Latency::Affine { alpha: Span::from_us(1), beta: Span::from_us(5) },
            (3, 3),
            &law(),
            true,
        );
        assert_eq!((all.stops.len(), all.stops[0].after), (1, Span::from_us(8)));
    }

    #[test]
    fn what_a_stopped_batch_tells_of_its_requests_is_what_is_drawn() {
        let (law, mut stream) = (law(), Stream::named(1, "given", 0));
        for size in [1, 2, 4] {
            let row =
                Row::of(&Latency::Proportional { c1: 0.5 }, (size, size), &law.max_of(size), true);
            let (mut stopped, mut long) = (0.0, 0.0);
            for _ in 0..20_000 {
                let draws: Vec<bool> = (0..size).map(|_| stream.uniform() < 0.2).collect();
                stopped += f64::from(u8::from(draws.contains(&true)));
                long += f64::from(u8::from(draws[0]));
            }
            let given = given(&law, &row, 0);
            let share = 1.0 - given.cdf(30_000.0);
            assert!((share - long / stopped).abs() < 0.02, "{size}: {share} of {}", long / stopped);
        }
    }
}
