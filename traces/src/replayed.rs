//! A list of arrivals that goes on otherwise than it was written down: faster or slower, several times over, or in
//! blocks that are drawn from it.
//!
//! ```text
//!  list     0 ──────────────────────── length = last arrival + the mean gap
//!  times    the list again and again, end to end
//!  block    each round is made of blocks: block j of the round is what the list has in [s, s + block), where s is
//!           drawn anew for each block, anywhere in the list, and the list goes on from its beginning after its end
//!  stretch  every time of the whole, times this
//! ```
//!
//! Blocks are the circular block bootstrap (Politis and Romano, 1992): what happens within a block stays as it was,
//! and seeds differ from one another.

use crate::error::{TraceError, parameter};
use orrery_sim::request::{Arrival, Source};
use orrery_sim::rng::Stream;
use orrery_sim::time::{Span, Time};
use std::sync::Arc;

/// Arrivals of a list at most: it is kept in memory.
pub const LIST_MAX: usize = 10_000_000;

/// Arrivals in the order of time, all of them.
#[derive(Clone, Debug)]
pub struct List {
    all: Arc<[Arrival]>,
    length: Span,
}

impl List {
    /// Reads a source to its end.
    ///
    /// # Errors
    /// When it fails, or has fewer than two instants, which have no rate.
    pub fn read(mut source: impl Source) -> Result<List, TraceError> {
        let mut all = Vec::new();
        while let Some(arrival) = source.pop() {
            all.push(arrival);
            if all.len() > LIST_MAX {
                let allowed = format!("at most {LIST_MAX}, which are kept in memory");
                let found = format!("more than {LIST_MAX} arrivals");
                return Err(parameter("replay", found, allowed, "choose a part of the list"));
            }
        }
        if let Some(why) = source.failure() {
            let remedy = "repair the file, or choose a part that leaves the damage out";
            return Err(parameter("replay", why, "a list without damage", remedy));
        }
        let ends = all.first().zip(all.last()).map(|(a, b)| (a.at, b.at));
        let Some((first, last)) = ends.filter(|(first, last)| last > first) else {
            let found = format!("{} arrivals at one instant", all.len());
            let remedy = "choose a longer part of the list, or remove `replay`";
            return Err(parameter("replay", found, "arrivals at two instants or more", remedy));
        };
        let gap = last.since(first).ns() / (all.len() as u64 - 1);
        let length = last.since(Time::ZERO) + Span::from_ns(gap.max(1));
        Ok(List { all: all.into(), length })
    }

    /// How long it lasts, from time zero; behind the last arrival there is the mean gap.
    pub fn length(&self) -> Span {
        self.length
    }

    /// Arrivals a second, as it was written down.
    pub fn rate_per_s(&self) -> f64 {
        self.all.len() as f64 / self.length.as_secs_f64()
    }
}

/// How a list is replayed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct How {
    /// Every time is multiplied by it: the inverse of a factor on the rate.
    pub stretch: f64,
    /// So many times over.
    pub times: u64,
    /// The length of a block, in the list's own time.
    pub block: Option<Span>,
}

/// The source. See the module's text.
pub struct Replayed {
    list: List,
    how: How,
    draw: Stream,
    /// The round, and where in it the part being replayed begins and ends, in the list's time.
    round: u64,
    part: (u64, u64),
    /// Where the part begins in the list, and the arrivals of it that have come.
    from: u64,
    next: usize,
    /// How often the part has gone over the list's end.
    wraps: u64,
    shown: Option<Arrival>,
}

impl Replayed {
    /// Replays it; the seed draws the blocks.
    ///
    /// # Errors
    /// When a block is longer than the list, or has no length.
    pub fn new(list: List, how: How, seed: u64) -> Result<Replayed, TraceError> {
        if let Some(block) = how.block.filter(|b| *b > list.length || *b == Span::ZERO) {
            let allowed = format!("more than zero and at most the list's {}", list.length);
            return Err(parameter("block_s", block, allowed, "choose shorter blocks"));
        }
        let draw = Stream::named(seed, "replayed blocks", 0);
        let (part, shown) = ((0, 0), None);
        let mut source =
            Replayed { list, how, draw, round: 0, part, from: 0, next: 0, wraps: 0, shown };
        source.begin(0);
        source.shown = source.look();
        Ok(source)
    }

    /// The part of the round that begins there.
    fn begin(&mut self, at: u64) {
        let length = self.list.length.ns();
        let block = self.how.block.map_or(length, Span::ns);
        self.part = (at, (at + block).min(length));
        self.from = self.how.block.map_or(0, |_| self.draw.below(length));
        let from = self.from;
        self.next = self.list.all.partition_point(|a| a.at.ns() < from);
        self.wraps = 0;
    }

    fn look(&mut self) -> Option<Arrival> {
        let length = self.list.length.ns();
        loop {
            if self.next == self.list.all.len() {
                (self.next, self.wraps) = (0, self.wraps + 1);
            }
            let arrival = self.list.all[self.next];
            let within = arrival.at.ns() + self.wraps * length - self.from;
            let (begin, end) = self.part;
            if within < end - begin {
                self.next += 1;
                let ns = u128::from(self.round) * u128::from(length) + u128::from(begin + within);
                let ns = ns as f64 * self.how.stretch;
                // Beyond 53 bits of nanoseconds, 104 days, neighbours share an instant; order stays.
                let at = if ns < u64::MAX as f64 { Time::from_ns(ns as u64) } else { Time::NEVER };
                return Some(Arrival { at, ..arrival });
            }
            if end < length {
                self.begin(end);
            } else if self.round + 1 < self.how.times {
                self.round += 1;
                self.begin(0);
            } else {
                return None;
            }
        }
    }
}

impl Source for Replayed {
    fn peek(&mut self) -> Option<Time> {
        self.shown.map(|a| a.at)
    }

    fn pop(&mut self) -> Option<Arrival> {
        let arrival = self.shown?;
        self.shown = self.look();
        Some(arrival)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_sim::request::{AppId, ModelId, VecSource};

    fn list(at_ms: &[u64]) -> List {
        let arrival = |ms: &u64| Arrival {
            at: Time::ZERO + Span::from_ms(*ms),
            app: AppId(0),
            model: ModelId(0),
            size: 1,
            slo: Span::from_ms(10),
            alone: Span::from_ms(*ms + 1),
        };
        List::read(VecSource::new(at_ms.iter().map(arrival).collect())).unwrap()
    }

    fn all(list: &List, how: How, seed: u64) -> Vec<(u64, u64)> {
        let mut source = Replayed::new(list.clone(), how, seed).unwrap();
        let mut out = Vec::new();
        while let Some(at) = source.peek() {
            let a = source.pop().unwrap();
            assert_eq!(a.at, at);
            out.push((a.at.ns(), a.alone.ns() / 1_000_000 - 1));
        }
        out
    }

    const PLAIN: How = How { stretch: 1.0, times: 1, block: None };
    const MS: u64 = 1_000_000;

    #[test]
    fn plain_it_is_the_list_and_twice_it_follows_itself_after_the_mean_gap() {
        let list = list(&[0, 10, 12, 30]);
        assert_eq!((list.length(), list.rate_per_s()), (Span::from_ms(40), 100.0));
        let once = all(&list, PLAIN, 1);
        assert_eq!(once, [(0, 0), (10 * MS, 10), (12 * MS, 12), (30 * MS, 30)]);
        let twice = all(&list, How { times: 2, ..PLAIN }, 1);
        let again: Vec<_> = once.iter().map(|(at, n)| (at + 40 * MS, *n)).collect();
        assert_eq!(twice, [once.clone(), again].concat());
        let slow = all(&list, How { stretch: 2.5, ..PLAIN }, 1);
        assert!(slow.iter().zip(&once).all(|(s, o)| s.0 * 2 == o.0 * 5 && s.1 == o.1));
    }

    /// A block as long as the list turns it round; shorter ones keep every gap but those at their ends.
    #[test]
    fn blocks_keep_what_is_within_them_and_on_average_the_rate() {
        let list = list(&[0, 10, 12, 30]);
        let whole = How { block: Some(list.length()), ..PLAIN };
        for seed in 0..20 {
            let turned = all(&list, whole, seed);
            assert_eq!(turned.len(), 4, "all arrivals, once each: {turned:?}");
        }
        let times: Vec<u64> = (0..1_000).map(|i| i * i % 7 + 10 * i).collect();
        let long = self::list(&times);
        let how = How { block: Some(Span::from_ms(250)), ..PLAIN };
        let mut sum = 0;
        for seed in 0..50 {
            let drawn = all(&long, how, seed);
            sum += drawn.len();
            let follows = |w: &&[(u64, u64)]| {
                let at = times.iter().position(|t| *t == w[0].1).unwrap();
                times
                    .get(at + 1)
                    .is_some_and(|n| *n == w[1].1 && w[1].0 - w[0].0 == (n - w[0].1) * MS)
            };
            let kept = drawn.windows(2).filter(follows).count();
            // 40 blocks and the list's end break some.
            assert!(kept + 2 * 41 >= drawn.len(), "{kept} of {}", drawn.len());
            assert!(drawn.windows(2).all(|w| w[0].0 <= w[1].0));
        }
        assert!((sum as f64 / 50_000.0 - 1.0).abs() < 0.01, "{sum}");
        assert_ne!(all(&long, how, 1), all(&long, how, 2));
        assert_eq!(all(&long, how, 3), all(&long, how, 3));
    }

    #[test]
    fn what_has_no_rate_and_blocks_that_do_not_fit_are_refused() {
        let one = |at: &[u64]| {
            let list = at.iter().map(|ms| Arrival {
                at: Time::ZERO + Span::from_ms(*ms),
                app: AppId(0),
                model: ModelId(0),
                size: 1,
                slo: Span::MAX,
                alone: Span::ZERO,
            });
            List::read(VecSource::new(list.collect())).err().map(|e| e.to_string())
        };
        assert!(one(&[]).unwrap().contains("0 arrivals at one instant"));
        assert!(one(&[5, 5]).unwrap().contains("2 arrivals at one instant"));
        assert!(one(&[0, 5]).is_none());
        let list = list(&[0, 10]);
        let how = How { block: Some(Span::from_ms(21)), ..PLAIN };
        let error = Replayed::new(list, how, 1).err().unwrap().to_string();
        assert!(error.contains("block_s") && error.contains("20"), "{error}");
    }
}
