//! Counts of a probe: each model's requests in the order of arrival, and whether the backlog grows.

use super::Criterion;
use orrery_sim::stats::{normal_upper, ratio_of_batches};
use orrery_sim::time::{Span, Time};
use serde::{Deserialize, Serialize};

/// The most batches; neighbours are merged when they are full.
const BATCHES: usize = 64;

/// Student's 0.9995 quantile over its 0.975 is about `STRETCH.0 + STRETCH.1 / n` of `n` degrees of freedom, and as much
/// wider as several looks at one run need: a probe that errs early misleads the whole search.
const STRETCH: (f64, f64) = (1.68, 3.5);
const LOOKS: f64 = 1.2;

/// Batches that are still alike when no more can be merged: their interval is too narrow by about so much.
const ALIKE: f64 = 2.0;

/// By so many clumps' worth more is the error of a share that is known from few of them.
const FEW: f64 = 4.0;

/// At 95 % the upper end of clumps is so far from the share, as a part of how far it is at 99.9 %: ln(20) / 7.6 where
/// nothing was bad.
const LIKELY: f64 = 0.4;

/// Below this share, bad requests are rare enough that those within an SLO of each other are one event.
const RARE: f64 = 0.1;

/// The same quantile itself: a backlog that grows by so many standard errors grows.
const CLEAR: f64 = 3.46;

/// The probability by which the intervals above err, on one side.
pub(super) const ERR: f64 = 0.000_5;

/// Student's 0.975 quantile, about 60 degrees of freedom: half a 95 % interval in standard errors.
const ERRORS: f64 = 2.0;

/// An SLO, of which requests take so many parts.
pub(super) const MILLION: u64 = 1_000_000;

/// Shares are within these for their odds.
const LEAST: f64 = 1e-9;
pub(super) const MOST: f64 = 0.999;

/// Of dropped requests, where these do not count, at most this share.
const DROPPED_MAX: f64 = 0.5;

/// ln of the odds of a share: about ln(share) of a small one.
pub(super) fn odds(share: f64) -> f64 {
    let share = share.clamp(LEAST, MOST);
    libm::log(share / (1.0 - share))
}

/// The share of each model's requests that must be in time where a load is good.
pub(super) fn must_be_in_time(criterion: Criterion, target: f64) -> f64 {
    match criterion {
        Criterion::BadRate => 1.0 - target,
        Criterion::P99 => (1.0 - DROPPED_MAX) * (1.0 - target),
    }
}

/// A model's share of bad requests, as far as a probe knows it.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq)]
pub struct Share {
    /// Of the requests that were judged.
    pub rate: f64,
    /// Its standard error, at least that of one bad request or so.
    pub error: f64,
    /// Half the width of its 99.9 % interval.
    pub half: f64,
    /// The upper end of the interval that takes bad requests for clumps: see [`Clumps`].
    pub most: f64,
}

impl Share {
    /// The ends of a 95 % interval, as far as one run shows: never of no width.
    pub fn ends(&self) -> (f64, f64) {
        ((self.rate - ERRORS * self.error).max(0.0), (self.rate + ERRORS * self.error).min(1.0))
    }

    /// The upper end at 95 % where [`Share::most`] is that at 99.9 %.
    pub(super) fn likely(&self) -> f64 {
        self.rate + (self.most - self.rate) * LIKELY
    }

    /// The mean of a model's shares in independent runs.
    pub fn mean(runs: impl Iterator<Item = Share> + Clone) -> Share {
        let n = runs.clone().count() as f64;
        let sum = |of: fn(&Share) -> f64| runs.clone().map(|s| of(&s)).sum::<f64>();
        let of_squares = |of: f64| of.sqrt() / n;
        Share {
            rate: sum(|s| s.rate) / n,
            error: of_squares(sum(|s| s.error * s.error)),
            half: of_squares(sum(|s| s.half * s.half)),
            most: sum(|s| s.rate) / n + of_squares(sum(|s| (s.most - s.rate) * (s.most - s.rate))),
        }
    }
}

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

/// Bad requests come in clumps: one backlog makes many of them late, one batch is dropped as a whole. Bad ones that
/// arrive within an SLO of each other are one event, and events are independent, not requests.
///
/// The largest rate that is not refuted is that of a sum of Poisson variates with weights (Fay and Feuer, 1997): with
/// `y` bad ones in all, `v` the sum of the clumps' squares and `w` the largest clump that must be reckoned with,
///
/// ```text
/// upper = (v + w²) / (2 (y + w)) · chi²(0.9995; 2 (y + w)² / (v + w²))      = 7.6 w where nothing was bad
/// ```
#[derive(Clone, Copy, Debug, Default)]
struct Clumps {
    bad: u64,
    squares: u64,
    largest: u64,
    /// The size of the last one, and when its last request arrived.
    last: (u64, Time),
}

impl Clumps {
    /// Says how much the sum of the squares grew.
    fn add(&mut self, at: Time, slo: Span) -> u64 {
        let (size, before) = self.last;
        let size = if size > 0 && at.since(before) <= slo { size } else { 0 };
        self.bad += 1;
        self.squares += 2 * size + 1;
        self.largest = self.largest.max(size + 1);
        self.last = (size + 1, at);
        2 * size + 1
    }

    /// The most bad requests that a run of this length may have on average, where a clump that was not seen yet may
    /// have `unseen`.
    fn upper(&self, unseen: f64) -> f64 {
        let (bad, squares) = (self.bad as f64, self.squares as f64);
        let largest = unseen.max(self.largest as f64).max(1.0);
        let (all, spread) = (bad + largest, squares + largest * largest);
        // The quantile of chi² by Wilson and Hilferty.
        let freedom = 2.0 * all * all / spread;
        let step = 2.0 / (9.0 * freedom);
        let root = 1.0 - step + normal_upper(ERR) * step.sqrt();
        spread / (2.0 * all) * freedom * root * root * root
    }
}

/// How many of a model's requests in a row fare alike, those that are not bad too.
///
/// Where nothing was bad yet, it is the size of the clump that may still come: whoever shares a backlog or a batch is
/// late together.
#[derive(Clone, Debug, Default)]
struct Alike {
    /// By requests in the order of arrival, what of their SLOs they took, in millionths; and the sum of the squares.
    used: Batched,
    squares: u128,
    /// Requests that ended, instants at which some did, and the last of these.
    ended: (u64, u64, Option<Time>),
}

impl Alike {
    fn add(&mut self, used: u64) {
        self.used.add(1, used);
        self.squares += u128::from(used) * u128::from(used);
    }

    fn ended(&mut self, now: Time) {
        let (requests, instants, last) = self.ended;
        self.ended = (requests + 1, instants + u64::from(last != Some(now)), Some(now));
    }

    /// The variance of a batch's mean is so many times that of as many independent requests. Batches that are too
    /// short see less, but about their own length. At least as many as end at once.
    fn requests(&self) -> f64 {
        let at_once = self.ended.0 as f64 / self.ended.1.max(1) as f64;
        let batches = &self.used.batches;
        let n = batches.iter().map(|b| b.0).sum::<u64>() as f64;
        let mean = batches.iter().map(|b| b.1 as f64).sum::<f64>() / n;
        let variance = self.squares as f64 / n - mean * mean;
        // Rounding leaves something of what is always the same.
        if batches.len() < 2 || variance <= 1.0 {
            return at_once.max(1.0);
        }
        let off = batches.iter().map(|b| (b.1 as f64 - mean * b.0 as f64, b.0 as f64));
        let between = off.map(|(off, of)| off * off / of).sum::<f64>() / (batches.len() - 1) as f64;
        (between / variance).max(at_once).max(1.0)
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
    clumps: Clumps,
    alike: Alike,
}

/// A request that was decided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decided {
    pub fate: Fate,
    pub arrival: Time,
    pub slo: Span,
    /// The millionths of its SLO that it took, if it was answered in time.
    pub used: u64,
}

impl Tally {
    /// One of its requests ended, whatever became of it.
    pub fn ended(&mut self, now: Time) {
        self.alike.ended(now);
    }

    /// A request in the order of arrival, by its fate alone; whether it is judged. Who has no use for [`Share::most`]
    /// need know no more.
    pub fn count(&mut self, fate: Fate, criterion: Criterion) -> bool {
        self.decided += 1;
        if fate == Fate::Dropped {
            self.dropped += 1;
            if criterion == Criterion::P99 {
                return false;
            }
        }
        self.judged.add(1, u64::from(fate != Fate::Good));
        true
    }

    /// The same, and what its clumps are known by: how much the sum of their squares grew, if it is judged.
    pub fn add(&mut self, request: Decided, criterion: Criterion) -> Option<u64> {
        let Decided { fate, arrival, slo, used } = request;
        if !self.count(fate, criterion) {
            return None;
        }
        let is_good = fate == Fate::Good;
        self.alike.add(if is_good { used } else { MILLION });
        Some(if is_good { 0 } else { self.clumps.add(arrival, slo) })
    }

    /// Requests decided, and those of them that were not answered in time.
    pub fn bad_of(&self) -> (u64, u64) {
        let judged: u64 = self.judged.batches.iter().map(|b| b.0).sum();
        (self.decided, self.bad() + self.decided - judged)
    }

    fn bad(&self) -> u64 {
        self.judged.batches.iter().map(|b| b.1).sum()
    }

    /// The share of bad requests.
    pub fn share(&self) -> Share {
        let batches = &self.judged.batches;
        let of: u64 = batches.iter().map(|b| b.0).sum();
        // Where drops are not judged, a load of which more than half is dropped is not carried.
        if self.dropped > self.decided / 2 && of < self.decided {
            return Share { rate: 1.0, most: 1.0, ..Share::default() };
        }
        if of == 0 {
            let unknown = if self.arrived == 0 { 0.0 } else { 1.0 };
            return Share { rate: 0.0, error: unknown, half: unknown, most: unknown };
        }
        let floats = |f: fn(&(u64, u64)) -> u64| -> Vec<f64> {
            batches.iter().map(|b| f(b) as f64).collect()
        };
        let batched = ratio_of_batches(&floats(|b| b.1), &floats(|b| b.0));
        let half = batched
            .map_or(1.0, |b| b.interval.width() / 2.0 * if b.correlated { ALIKE } else { 1.0 });
        let freedom = batched.map_or(1, |b| b.batches.max(2) - 1) as f64;
        let stretch = (STRETCH.0 + STRETCH.1 / freedom) * LOOKS;
        // Where nothing was bad the batches say nothing: one bad of n may still come.
        Share {
            rate: self.bad() as f64 / of as f64,
            error: (half / ERRORS).max(1.5 / of as f64),
            half: (half * stretch).max(5.0 / of as f64),
            most: self.clumps.upper(self.alike.requests()) / of as f64,
        }
    }

    /// The standard error of ln(share): that of batches, and where bad requests are rare, that of their clumps.
    pub fn log_error(&self) -> f64 {
        let Share { rate, error, .. } = self.share();
        let clumps = (self.clumps.squares as f64).sqrt() / (self.clumps.bad as f64).max(1.0);
        let of_batches = if rate == 0.0 { 1.0 } else { error / rate };
        if rate > RARE {
            return of_batches;
        }
        // Of few clumps the error itself is not well known.
        of_batches.max(clumps) * (1.0 + FEW * clumps * clumps)
    }
}

/// The worst of some models: its number, and its share of bad requests less what chance adds to the largest of
/// several. Without chance, of a load that is judged whole, it is the largest.
///
/// Of `m` models with equal rates the largest sample lies `z` standard errors above them, where `z` is exceeded
/// by none of `m` normal values in half of all cases. As many models as may be the worst, by 95 % intervals, are
/// taken for equal. The worst is never below `overall`, the share of all models' requests.
pub fn worst(shares: &[Share], overall: f64, by_chance: bool) -> (usize, f64) {
    let largest = |worst: (usize, f64), (i, s): (usize, &Share)| {
        if s.rate > worst.1 { (i, s.rate) } else { worst }
    };
    let (model, most) = shares.iter().enumerate().fold((0, 0.0), largest);
    if !by_chance {
        return (model, most);
    }
    let least = shares.iter().map(|s| s.rate - ERRORS * s.error).fold(0.0, f64::max);
    let may_be = shares.iter().filter(|s| s.rate + ERRORS * s.error >= least).count();
    let z = match may_be {
        0 | 1 => 0.0,
        m => normal_upper(-libm::expm1(-std::f64::consts::LN_2 / m as f64)),
    };
    // How far the larger of two samples lies above the larger mean, as their distance and errors say.
    let Some(largest) = shares.get(model) else { return (model, most) };
    let chance = |(i, s): (usize, &Share)| {
        let error = s.error.hypot(largest.error);
        let u = (most - s.rate) / error.max(f64::MIN_POSITIVE);
        let density = libm::exp(-u * u / 2.0) / (2.0 * std::f64::consts::PI).sqrt();
        let beyond = libm::erfc(u / std::f64::consts::SQRT_2) / 2.0;
        if i == model { 0.0 } else { error * (density - u * beyond) }
    };
    let chance = shares.iter().enumerate().map(chance).sum::<f64>().min(z * largest.error);
    (model, (most - chance).max(overall).min(most))
}

/// Arrivals and departures: the share of the arrivals that stays.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    counts: Batched,
    /// Departures since the last arrival, and the most of these: the largest batch that was served at once.
    at_once: (u64, u64),
}

impl Flow {
    pub fn arrived(&mut self) {
        self.counts.add(1, 0);
        self.at_once.0 = 0;
    }

    pub fn left(&mut self) {
        self.counts.add(0, 1);
        let (now, most) = self.at_once;
        self.at_once = (now + 1, most.max(now + 1));
    }

    /// Whether more than a share `least` of the arrivals stays, beyond doubt.
    pub fn grows(&self, least: f64) -> bool {
        self.stays().is_some_and(|(mean, half)| mean - half > least)
    }

    /// Whether no more than a share `most` of the arrivals stays, beyond doubt.
    pub fn stays_within(&self, most: f64) -> bool {
        self.stays().is_some_and(|(mean, half)| mean + half <= most)
    }

    /// The share of the arrivals that stays, and how far it may be off; none of few. The first quarter, in which the
    /// system fills, is left out.
    fn stays(&self) -> Option<(f64, f64)> {
        let batches = &self.counts.batches;
        let used = &batches[batches.len() / 4..batches.len().saturating_sub(1)];
        if used.len() < 8 {
            return None;
        }
        let stays: Vec<f64> = used.iter().map(|b| b.0 as f64 - b.1 as f64).collect();
        let n = stays.len() as f64;
        let mean = stays.iter().sum::<f64>() / n;
        let variance = stays.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
        let per_batch = used.iter().map(|b| b.0 as f64).sum::<f64>() / n;
        // Batch by batch a backlog that only wanders moves up and down; what it moves by in all is
        // then within a few standard errors. Where the system serves about as many at once as such a batch has, all
        // may look alike, and the next one that it serves makes up for all that seemed to stay.
        let half = (CLEAR * (variance / n).sqrt()).max(self.at_once.1 as f64 / n);
        Some((mean / per_batch, half / per_batch))
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
            // That nothing stays takes as many requests as it takes, and what grows is never said to stay within.
            assert_eq!(flow.stays_within(0.03), !grows, "{stays} of {n}");
            assert!(!flow.stays_within(0.001), "{stays} of {n}");
        }
    }

    #[test]
    fn a_batch_that_leaves_at_once_is_no_growth() {
        // Of 499 a batch of this count has one departure, but for every 39th: 13 of 512 seemed to stay.
        for at_once in [100, 255, 499, 500, 1_023] {
            let mut flow = Flow::default();
            for i in 1..=40_000u64 {
                flow.arrived();
                if i % at_once == 0 {
                    (0..at_once).for_each(|_| flow.left());
                }
                // No verdict is asked for before some were served.
                assert!(i < 4 * at_once || !flow.grows(0.0025), "{at_once} at once, after {i}");
            }
            assert!(flow.stays_within(0.1), "{at_once} at once");
        }
    }

    /// Some models' samples of a rate each, of 2,000 requests.
    fn samples(rates: &[f64], seed: u64) -> (Vec<Share>, f64) {
        let mut random = Stream::named(seed, "models", 0);
        let (mut all, mut bad) = (Vec::new(), 0);
        for rate in rates {
            let mut tally = Tally { arrived: 2_000, ..Tally::default() };
            for _ in 0..2_000 {
                let fate = if random.uniform() < *rate { Fate::Late } else { Fate::Good };
                bad += u64::from(fate == Fate::Late);
                tally.count(fate, Criterion::BadRate);
            }
            all.push(tally.share());
        }
        (all, bad as f64 / (2_000 * rates.len()) as f64)
    }

    #[test]
    fn the_worst_of_equal_models_is_not_the_largest_sample() {
        let mean = |rates: &[f64], by_chance: bool| {
            let of = |seed| {
                let (shares, overall) = samples(rates, seed);
                worst(&shares, overall, by_chance).1
            };
            (0..40).map(of).sum::<f64>() / 40.0
        };
        let equal = [0.01; 64];
        assert!(mean(&equal, false) > 0.015, "{}", mean(&equal, false));
        assert!((mean(&equal, true) - 0.01).abs() < 0.001, "{}", mean(&equal, true));
        // One that is clearly worse keeps its own share, wherever it is, and so does a single one.
        for place in [0, 1, 2] {
            let mut one = [0.001; 3];
            one[place] = 0.03;
            let (shares, overall) = samples(&one, 1);
            let (model, rate) = worst(&shares, overall, true);
            assert_eq!((model, rate), (place, shares[place].rate));
        }
        let (shares, overall) = samples(&[0.02], 1);
        assert_eq!(worst(&shares, overall, true), (0, shares[0].rate));
    }

    /// Of two normal values an error apart the larger is .1997 errors too large on average: `2^.5 (phi(u) - u Q(u))`, with
    /// `u = 2^-.5`.
    #[test]
    fn of_two_that_may_be_the_worst_the_larger_loses_what_chance_adds() {
        let share = |rate| Share { rate, error: 0.002, half: 0.006, most: 0.03 };
        let (model, rate) = worst(&[share(0.018), share(0.02), share(0.001)], 0.01, true);
        assert!(model == 1 && (rate - (0.02 - 0.1997 * 0.002)).abs() < 1e-5, "{model} {rate}");
    }

    /// Where none was bad, a Poisson variate of 7.6 is none in one of 2,000 cases; where ten single ones were, one of
    /// 25.3 is at most ten. As many in one clump say much less.
    #[test]
    fn clumps_count_and_not_requests() {
        let near = |found: f64, exact: f64| {
            assert!(found > 0.99 * exact && found < 1.04 * exact, "{found} {exact}");
        };
        near(Clumps::default().upper(1.0), 7.6);
        near(Clumps::default().upper(20.0), 152.0);
        let of = |gap_ms: u64| {
            let mut clumps = Clumps::default();
            let at = |i: u64| Time::ZERO + Span::from_ms(i * gap_ms);
            for i in 0..10 {
                clumps.add(at(i), Span::from_ms(50));
            }
            clumps
        };
        near(of(51).upper(1.0), 25.3);
        let one = of(50);
        assert_eq!((one.bad, one.squares, one.largest), (10, 100, 10));
        // Twice the clump: chi² with four degrees of freedom.
        near(one.upper(1.0), 100.0);
    }

    #[test]
    fn requests_that_fare_alike_are_counted_by_their_runs_and_by_their_batches() {
        let of = |run: u64| {
            let (mut random, mut alike) = (Stream::named(run, "alike", 0), Alike::default());
            for _ in 0..20_000 / run {
                let used = random.below(MILLION);
                (0..run).for_each(|_| alike.add(used));
            }
            alike
        };
        for run in [1, 5, 20] {
            let found = of(run).requests() / run as f64;
            assert!((0.6..1.6).contains(&found), "{run}: {found}");
        }
        let mut alike = of(1);
        (0..40).for_each(|i| alike.ended(Time::from_ns(i / 8)));
        assert_eq!(alike.requests(), 8.0);
        let mut same = Alike::default();
        (0..1_000).for_each(|_| same.add(333_333));
        assert_eq!(same.requests(), 1.0);
    }

    #[test]
    fn a_dropped_request_is_bad_or_not_judged() {
        let mut both = [Tally::default(), Tally::default()];
        for (tally, criterion) in both.iter_mut().zip([Criterion::BadRate, Criterion::P99]) {
            for fate in [Fate::Good, Fate::Good, Fate::Good, Fate::Late, Fate::Dropped] {
                tally.count(fate, criterion);
            }
        }
        assert_eq!((both[0].share().rate, both[0].bad_of()), (0.4, (5, 2)));
        assert_eq!((both[1].share().rate, both[1].bad_of()), (0.25, (5, 2)));
        (0..4).for_each(|_| assert!(!both[1].count(Fate::Dropped, Criterion::P99)));
        assert_eq!(both[1].share().rate, 1.0, "most are dropped");
    }
}
