//! The plain simulator: one query at a time on each instance, every decision from the definitions, with
//! lists and sums over everything. It is for two dozen queries.

use super::{Case, Served};
use crate::policy::clkwrk::InstanceChoice;
use crate::policy::kairos::{Config, Penalty, Rows, Ties};
use crate::policy::pool::Learn;
use crate::time::{Span, Time};

pub(super) struct Plain<'a> {
    case: &'a Case,
    now: Time,
    waiting: Vec<usize>,
    /// By instance: query, true end, estimated end, number of the dispatch.
    running: Vec<Option<(usize, Time, Time, usize)>>,
    dispatched: usize,
    served: Vec<Served>,
    wake: Option<Time>,
    /// Kind, size and latency of every query that ended.
    seen: Vec<(usize, u32, Span)>,
}

#[derive(Clone, Copy, PartialEq)]
enum What {
    Arrives(usize),
    Ends(usize),
    Wakes,
}

impl<'a> Plain<'a> {
    pub fn new(case: &'a Case) -> Plain<'a> {
        Plain {
            case,
            now: Time::ZERO,
            waiting: Vec::new(),
            running: vec![None; case.instances.len()],
            dispatched: 0,
            served: vec![None; case.queries.len()],
            wake: None,
            seen: Vec::new(),
        }
    }

    fn play(mut self, mut decide: impl FnMut(&mut Self, What)) -> Vec<Served> {
        let mut arrived = 0;
        loop {
            let ends = self.running.iter().enumerate();
            let ends = ends.filter_map(|(i, r)| r.map(|r| (r.1, 0, r.3, What::Ends(i))));
            let arrives =
                self.case.queries.get(arrived).map(|q| (q.0, 1, 0, What::Arrives(arrived)));
            let wakes = self.wake.map(|t| (t, 2, 0, What::Wakes));
            let all = ends.chain(arrives).chain(wakes);
            let Some((now, _, _, what)) = all.min_by_key(|e| (e.0, e.1, e.2)) else { break };
            self.now = now;
            match what {
                What::Ends(i) => {
                    let (query, ..) = self.running[i].take().unwrap();
                    let kind = self.case.instances[i];
                    self.seen.push((
                        kind,
                        self.case.queries[query].1,
                        self.case.takes(query, kind),
                    ));
                }
                What::Arrives(query) => {
                    self.waiting.push(query);
                    arrived += 1;
                }
                What::Wakes => self.wake = None,
            }
            decide(&mut self, what);
        }
        self.served
    }

    fn dispatch(&mut self, query: usize, instance: usize, estimate: Span) {
        assert!(self.running[instance].is_none());
        let end = self.now + self.case.takes(query, self.case.instances[instance]);
        self.running[instance] = Some((query, end, self.now + estimate, self.dispatched));
        self.served[query] = Some((instance, self.now, end));
        self.dispatched += 1;
        self.waiting.retain(|&q| q != query);
    }

    /// The instances in the order of the list.
    fn list(&self) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.case.instances.len()).collect();
        all.sort_by_key(|&i| {
            let kind = self.case.instances[i];
            (kind != self.case.base, kind, i)
        });
        all
    }

    fn idle(&self) -> Vec<usize> {
        self.list().into_iter().filter(|&i| self.running[i].is_none()).collect()
    }

    pub fn ribbon(self) -> Vec<Served> {
        self.play(|s, _| {
            while let (Some(&query), Some(&instance)) = (s.waiting.first(), s.idle().first()) {
                s.dispatch(query, instance, Span::ZERO);
            }
        })
    }

    pub fn drs(self, threshold: u32) -> Vec<Served> {
        let is_base = |s: &Self, i: usize| s.case.instances[i] == s.case.base;
        let all = 0..self.case.instances.len();
        let bases = all.clone().filter(|&i| is_base(&self, i)).count();
        let (only_base, no_base) = (bases == all.len(), bases == 0);
        self.play(|s, _| {
            loop {
                let large = |q: usize| only_base || (!no_base && s.case.queries[q].1 > threshold);
                let pairs =
                    s.waiting.iter().flat_map(|&q| s.idle().into_iter().map(move |i| (q, i)));
                let pair = pairs.into_iter().find(|&(q, i)| large(q) == is_base(s, i));
                let Some((query, instance)) = pair else { break };
                s.dispatch(query, instance, Span::ZERO);
            }
        })
    }

    pub fn clkwrk(self, choice: InstanceChoice) -> Vec<Served> {
        let mut queues: Vec<Vec<usize>> = vec![Vec::new(); self.case.instances.len()];
        self.play(|s, what| {
            let estimate = |s: &Self, q: usize, i: usize| {
                s.case.believed[s.case.instances[i]].batch(s.case.queries[q].1, Span::ZERO)
            };
            if let What::Arrives(query) = what {
                let finish = |s: &Self, i: usize| {
                    let free = s.running[i].map_or(s.now, |r| r.2.max(s.now));
                    let queued: Span = queues[i].iter().map(|&q| estimate(s, q, i)).sum();
                    free + queued + estimate(s, query, i)
                };
                let deadline = s.case.queries[query].0 + s.case.qos;
                let list = s.list();
                let mut candidates: Vec<usize> =
                    list.iter().copied().filter(|&i| finish(s, i) <= deadline).collect();
                if candidates.is_empty() {
                    candidates = list;
                } else if choice == InstanceChoice::SlowestFeasible {
                    let longest = candidates.iter().map(|&i| estimate(s, query, i)).max().unwrap();
                    candidates.retain(|&i| estimate(s, query, i) == longest);
                }
                let earliest = candidates.iter().map(|&i| finish(s, i)).min().unwrap();
                let chosen = candidates.into_iter().find(|&i| finish(s, i) == earliest).unwrap();
                queues[chosen].push(query);
            }
            for (i, queue) in queues.iter_mut().enumerate() {
                if s.running[i].is_none() && !queue.is_empty() {
                    let query = queue.remove(0);
                    s.dispatch(query, i, estimate(s, query, i));
                }
            }
        })
    }

    pub fn kairos(self, config: Config) -> Vec<Served> {
        self.play(|s, _| s.match_all(config))
    }

    /// The estimate of a size on a kind.
    fn estimate(&self, config: Config, kind: usize, size: u32) -> Span {
        if config.learn == Learn::Offline {
            let mean = self.case.believed[kind].batch(size, Span::ZERO);
            let whole = Span::from_ms((mean.ns() + 500_000) / 1_000_000);
            return if config.whole_ms { whole } else { mean };
        }
        let seen: Vec<(f64, f64)> = (self.seen.iter().filter(|s| s.0 == kind))
            .map(|s| (f64::from(s.1), s.2.ns() as f64))
            .collect();
        let alike: Vec<Span> = (self.seen.iter())
            .filter(|s| s.0 == kind && s.1.div_ceil(10) == size.div_ceil(10))
            .map(|s| s.2)
            .collect();
        if !alike.is_empty() {
            return Span::from_ns(alike.iter().copied().sum::<Span>().ns() / alike.len() as u64);
        }
        if seen.is_empty() {
            return Span::ZERO;
        }
        let n = seen.len() as f64;
        let sum = |of: &dyn Fn(&(f64, f64)) -> f64| seen.iter().map(of).fold(0.0, |a, b| a + b);
        let (x, y) = (sum(&|s| s.0), sum(&|s| s.1));
        let spread = n * sum(&|s| s.0 * s.0) - x * x;
        let slope = if spread == 0.0 { 0.0 } else { (n * sum(&|s| s.0 * s.1) - x * y) / spread };
        Span::from_ns_f64(((y - slope * x) / n + slope * f64::from(size)).max(0.0))
    }

    fn weight(&self, config: Config, kind: usize) -> f64 {
        let latency = |kind: usize| match config.learn {
            Learn::Offline => self.case.believed[kind].batch(self.case.largest, Span::ZERO),
            Learn::Online => self.estimate(config, kind, self.case.largest),
        };
        let (base, own) = (latency(self.case.base), latency(kind));
        let exact = if base == Span::ZERO || own == Span::ZERO {
            1.0
        } else {
            base.ns() as f64 / own.ns() as f64
        };
        let parts = if config.hundredths { 100.0 } else { 10_000.0 };
        ((exact * parts).round() * (10_000.0 / parts)).clamp(1.0, 1e6)
    }

    /// 0 in time, 1 beyond the margin, 2 beyond the QoS, 3 late already.
    fn class(&self, config: Config, query: usize, t: Time, time: Span) -> u32 {
        let (waited, qos) = (t - self.case.queries[query].0, self.case.qos);
        let xi = qos.ns() - qos.scale(config.margin).ns();
        match config.penalty {
            Penalty::Constants if waited >= qos => 3,
            _ if (waited + time).ns() <= xi => 0,
            _ if waited + time <= qos => 1,
            _ => 2,
        }
    }

    fn cost(&self, config: Config, query: usize, kind: usize, time: Span) -> i128 {
        let weight = self.weight(config, kind) as i128;
        let paid = weight * i128::from(time.ns());
        match (config.penalty, self.class(config, query, self.now, time)) {
            (_, 0 | 3) => paid,
            (Penalty::TenQos, _) => weight * 10 * i128::from(self.case.qos.ns()),
            (Penalty::Constants, class) => i128::from(class) * 500_000_000 * 10_000,
        }
    }

    fn match_all(&mut self, config: Config) {
        self.wake = None;
        let n = self.running.len();
        let rows = match config.rows {
            Rows::All => self.waiting.len(),
            Rows::TwiceInstances => self.waiting.len().min(2 * n),
        };
        let queries = self.waiting[..rows].to_vec();
        if queries.is_empty() || self.idle().is_empty() {
            return;
        }
        let mut columns = self.list();
        if config.ties == Ties::IdleFirst {
            columns.sort_by_key(|&i| self.running[i].map(|r| r.2)); // stable: then by the list
        }
        let cost = |q: usize, i: usize| {
            let kind = self.case.instances[i];
            let left = self.running[i].map_or(Span::ZERO, |r| r.2.max(self.now) - self.now);
            self.cost(config, q, kind, left + self.estimate(config, kind, self.case.queries[q].1))
        };
        let matrix: Vec<Vec<i128>> =
            queries.iter().map(|&q| columns.iter().map(|&i| cost(q, i)).collect()).collect();
        let chosen = first_of_the_cheapest(&matrix, n);
        let mut left = queries.clone();
        for (&query, column) in queries.iter().zip(chosen) {
            let Some(instance) = column.map(|c| columns[c]) else { continue };
            if self.running[instance].is_none() {
                let size = self.case.queries[query].1;
                let takes = self.estimate(config, self.case.instances[instance], size);
                self.dispatch(query, instance, takes);
                left.retain(|&q| q != query);
            }
        }
        if !self.idle().is_empty() {
            self.wake = left.iter().filter_map(|&q| self.next_change(config, q)).min();
        }
    }

    /// The next instant at which a query changes its class on an idle instance of some kind.
    fn next_change(&self, config: Config, query: usize) -> Option<Time> {
        let kinds = 0..self.case.believed.len();
        let of_kind = |kind: usize| {
            let takes = self.estimate(config, kind, self.case.queries[query].1);
            let class = |t: u64| self.class(config, query, Time::from_ns(t), takes);
            // Classes only rise, and the last change is the QoS's: bisection on each.
            let end = (self.case.queries[query].0 + self.case.qos).ns() + 2;
            let (mut low, mut high) = (self.now.ns(), end.max(self.now.ns()));
            // Without constants, what is beyond the margin and beyond the QoS is one class.
            let merged = |c: u32| if config.penalty == Penalty::TenQos { c.min(1) } else { c };
            if merged(class(high)) == merged(class(low)) {
                return None;
            }
            let from = merged(class(low));
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                if merged(class(middle)) == from { low = middle } else { high = middle }
            }
            Some(Time::from_ns(high))
        };
        kinds.filter_map(of_kind).min()
    }
}

/// Of the cheapest matchings the first one, by asking for each row in turn whether it can have each
/// column in turn at no extra cost.
fn first_of_the_cheapest(matrix: &[Vec<i128>], columns: usize) -> Vec<Option<usize>> {
    let mut fixed: Vec<Option<usize>> = Vec::new();
    let least = cheapest(matrix, columns, &fixed).expect("there is a matching");
    for _ in 0..matrix.len() {
        let options = (0..columns).map(Some).chain([None]);
        for option in options {
            fixed.push(option);
            if cheapest(matrix, columns, &fixed) == Some(least) {
                break;
            }
            fixed.pop();
        }
    }
    fixed
}

/// The least cost of `min(rows, columns)` pairs where the first rows are fixed: over sets of columns.
fn cheapest(matrix: &[Vec<i128>], columns: usize, fixed: &[Option<usize>]) -> Option<i128> {
    let pairs = matrix.len().min(columns) as u32;
    let mut by_set: Vec<Option<i128>> = vec![None; 1 << columns];
    by_set[0] = Some(0);
    for (r, row) in matrix.iter().enumerate() {
        let mut next = vec![None; 1 << columns];
        for (set, cost) in by_set.iter().enumerate() {
            let Some(cost) = *cost else { continue };
            let mut offer = |set: usize, cost: i128| {
                let best: &mut Option<i128> = &mut next[set];
                *best = Some(best.map_or(cost, |b: i128| b.min(cost)));
            };
            let may = |c: Option<usize>| fixed.get(r).is_none_or(|f| *f == c);
            if may(None) {
                offer(set, cost);
            }
            for c in (0..columns).filter(|c| set >> c & 1 == 0 && may(Some(*c))) {
                offer(set | 1 << c, cost + row[c]);
            }
        }
        by_set = next;
    }
    let full = by_set.iter().enumerate().filter(|(set, _)| set.count_ones() == pairs);
    full.filter_map(|(_, cost)| *cost).min()
}
