//! Counts of a probe: each model's requests in the order of arrival, and whether the backlog grows.

use super::Criterion;
use orrery_sim::stats::ratio_of_batches;

/// The most batches; neighbours are merged when they are full.
const BATCHES: usize = 64;

/// Student's 0.9995 quantile over its 0.975, about 60 degrees of freedom: a probe has many looks at
/// many models, and one that errs early misleads the whole search.
const STRETCH: f64 = 1.73;

/// The same quantile itself: a backlog that grows by so many standard errors grows.
const CLEAR: f64 = 3.46;

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It has not ended, and its deadline has not passed.
    Open,
    /// Answered in time.
    Good,
    /// Answered late, or not by its deadline.
    Late,
    /// Dropped.
    Dropped,
}

/// Pairs of counts over a run, in batches of about equal size.
#[derive(Clone, Debug, Default)]
struct Batched {
    batches: Vec<(u64, u64)>,
    /// A batch has so many of the first count.
    size: u64,
}

impl Batched {
    fn add(&mut self, first: u64, second: u64) {
        if first > 0 && self.batches.last().is_none_or(|b| b.0 >= self.size) {
            if self.batches.len() == BATCHES {
                let merged = self.batches.chunks(2).map(|p| (p[0].0 + p[1].0, p[0].1 + p[1].1));
                self.batches = merged.collect();
                self.size *= 2;
            }
            self.size = self.size.max(1);
            self.batches.push((0, 0));
        }
        if let Some(last) = self.batches.last_mut() {
            last.0 += first;
            last.1 += second;
        }
    }
}

/// The requests of one model that count and are decided.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub arrived: u64,
    decided: u64,
    dropped: u64,
    /// Requests that are judged, and the bad ones among them.
    judged: Batched,
}

impl Tally {
    pub fn add(&mut self, fate: Fate, criterion: Criterion) {
        self.decided += 1;
        if fate == Fate::Dropped {
            self.dropped += 1;
            if criterion == Criterion::P99 {
                return;
            }
        }
        self.judged.add(1, u64::from(fate != Fate::Good));
    }

    /// Requests decided, and those of them that were not answered in time.
    pub fn bad_of(&self) -> (u64, u64) {
        let judged: u64 = self.judged.batches.iter().map(|b| b.0).sum();
        (self.decided, self.bad() + self.decided - judged)
    }

    fn bad(&self) -> u64 {
        self.judged.batches.iter().map(|b| b.1).sum()
    }

    /// The share of bad requests and half the width of its interval.
    pub fn bad_rate(&self) -> (f64, f64) {
        if self.dropped > self.decided / 2 {
            return (1.0, 0.0);
        }
        let batches = &self.judged.batches;
        let of: u64 = batches.iter().map(|b| b.0).sum();
        if of == 0 {
            return (0.0, if self.arrived == 0 { 0.0 } else { 1.0 });
        }
        let floats = |f: fn(&(u64, u64)) -> u64| -> Vec<f64> {
            batches.iter().map(|b| f(b) as f64).collect()
        };
        let interval = ratio_of_batches(&floats(|b| b.1), &floats(|b| b.0));
        let half = interval.map_or(1.0, |b| b.interval.width() / 2.0 * STRETCH);
        // Where nothing was bad the batches say nothing: one bad of n may still come.
        (self.bad() as f64 / of as f64, half.max(5.0 / of as f64))
    }
}

/// Arrivals and departures: the share of the arrivals that stays.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    counts: Batched,
}

impl Flow {
    pub fn arrived(&mut self) {
        self.counts.add(1, 0);
    }

    pub fn left(&mut self) {
        self.counts.add(0, 1);
    }

    /// Whether more than a share `least` of the arrivals stays, beyond doubt. The first quarter, in which
    /// the system fills, is left out.
    pub fn grows(&self, least: f64) -> bool {
        let batches = &self.counts.batches;
        let used = &batches[batches.len() / 4..batches.len().saturating_sub(1)];
        if used.len() < 8 {
            return false;
        }
        let stays: Vec<f64> = used.iter().map(|b| b.0 as f64 - b.1 as f64).collect();
        let n = stays.len() as f64;
        let mean = stays.iter().sum::<f64>() / n;
        let variance = stays.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
        let per_batch = used.iter().map(|b| b.0 as f64).sum::<f64>() / n;
        // Batch by batch a backlog that only wanders moves up and down; what it moves by in all is
        // then within a few standard errors.
        (mean - CLEAR * (variance / n).sqrt()) / per_batch > least
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_sim::rng::Stream;

    #[test]
    fn a_share_that_stays_is_seen_and_a_backlog_that_wanders_is_not() {
        let mut random = Stream::named(1, "flow test", 0);
        for (stays, n, grows) in [(0.05, 50_000, true), (0.0, 50_000, false), (0.2, 2_000, true)] {
            let mut flow = Flow::default();
            let mut backlog = 0u64;
            for _ in 0..n {
                flow.arrived();
                backlog += 1;
                // Between two arrivals a busy server ends a random number, 1 - stays on average.
                while backlog > 0 && random.uniform() < (1.0 - stays) / (2.0 - stays) {
                    flow.left();
                    backlog -= 1;
                }
            }
            assert_eq!(flow.grows(0.0025), grows, "{stays} of {n}");
        }
    }

    #[test]
    fn a_batch_that_leaves_at_once_is_no_growth() {
        let mut flow = Flow::default();
        for i in 1..=10_000u64 {
            flow.arrived();
            if i % 16 == 0 {
                (0..16).for_each(|_| flow.left());
            }
        }
        assert!(!flow.grows(0.0025));
    }

    #[test]
    fn a_dropped_request_is_bad_or_not_judged() {
        let mut both = [Tally::default(), Tally::default()];
        for (tally, criterion) in both.iter_mut().zip([Criterion::BadRate, Criterion::P99]) {
            for fate in [Fate::Good, Fate::Good, Fate::Good, Fate::Late, Fate::Dropped] {
                tally.add(fate, criterion);
            }
        }
        assert_eq!((both[0].bad_rate().0, both[0].bad_of()), (0.4, (5, 2)));
        assert_eq!((both[1].bad_rate().0, both[1].bad_of()), (0.25, (5, 2)));
        (0..4).for_each(|_| both[1].add(Fate::Dropped, Criterion::P99));
        assert_eq!(both[1].bad_rate().0, 1.0, "most are dropped");
    }
}
