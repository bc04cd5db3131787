//! A list of arrivals that goes on otherwise than it was written down: in several copies at once, faster or slower,
//! several times over, or in blocks that are drawn from it.
//!
//! ```text
//!  list     0 ──────────────────────── length = last arrival + the mean gap
//!  times    the list again and again, end to end
//!  block    each round is made of blocks: block j of the round is what the list has in [s, s + block), where s is
//!           drawn anew for each block, anywhere in the list, and the list goes on from its beginning after its end
//!  copies   all at once. The first is the list itself. Each other one is cut into windows, and within each window it
//!           is shifted by a random time; what leaves the window at its end comes in again at its beginning:
//!              list    |a··b···c··|······d·ef|
//!              copy 1  |·c··a··b··|d·ef······|
//!           so that each window of a copy has the requests of the list's. Copies in blocks draw their own blocks.
//!           Of 2.3 copies the third keeps each request with probability 0.3
//!  stretch  every time of the whole, times this
//! ```
//!
//! Blocks are the circular block bootstrap (Politis and Romano, 1992): what happens within a block stays as it was,
//! and seeds differ from one another. Copies of a list are more users of the same kind: within a window their bursts
//! are independent of one another, and the index of dispersion of their counts is that of the list. A stretch below 1
//! is the same users, each faster: bursts are as much denser and shorter.

use crate::error::{TraceError, parameter};
use orrery_sim::request::{Arrival, Source};
use orrery_sim::rng::{Stream, fnv1a, keyed_uniform};
use orrery_sim::time::{Span, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Arrivals of a list at most: it is kept in memory, once for all of its copies.
pub const LIST_MAX: usize = 10_000_000;
/// Copies of a list at most.
pub const COPIES_MAX: f64 = 1e6;
/// What numbers are drawn for.
const SHIFTED: u64 = fnv1a("shifted copies");
const THINNED: u64 = fnv1a("thinned copy");

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

    /// How many requests it has.
    pub fn requests(&self) -> usize {
        self.all.len()
    }

    /// Arrivals a second, as it was written down.
    pub fn rate_per_s(&self) -> f64 {
        self.all.len() as f64 / self.length.as_secs_f64()
    }
}

/// How a list is replayed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct How {
    /// Every time is multiplied by it: the inverse of the speed.
    pub stretch: f64,
    /// Copies of the list at once; the last one is thinned where this is no whole number.
    pub copies: f64,
    /// The longest window within which a copy is shifted, in the list's own time.
    pub window: Span,
    /// So many times over.
    pub times: u64,
    /// The length of a block, in the list's own time.
    pub block: Option<Span>,
}

/// The number of copies that a rate needs, where one has `one_per_s`: a whole number in spite of rounding.
pub fn copies_for(rate_per_s: f64, one_per_s: f64) -> f64 {
    let copies = rate_per_s / one_per_s;
    let whole = copies.round();
    if (copies - whole).abs() <= 1e-9 * copies { whole } else { copies }
}

impl How {
    /// The number of windows of equal length that a list of this length is cut into.
    fn windows(&self, length: Span) -> u64 {
        let windows = length.ns() as f64 / self.window.ns().max(1) as f64;
        // A window that divides the list does so in spite of rounding.
        ((windows * (1.0 - 1e-6)).ceil() as u64).clamp(1, length.ns())
    }
}

/// The source: copies of a list, merged. See the module's text.
pub struct Replayed {
    rounds: Rounds,
    copies: Vec<Copy>,
    /// When each copy has its next arrival.
    next: BinaryHeap<Reverse<(Time, usize)>>,
}

/// What all copies share.
struct Rounds {
    list: List,
    how: How,
    windows: u64,
    seed: u64,
}

/// One copy of the list, and how far it has come.
struct Copy {
    number: u64,
    /// The share of its requests that it keeps.
    kept: f64,
    /// Draws the beginnings of blocks.
    draw: Option<Stream>,
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
    /// Replays it; the seed draws blocks and shifts, and what a thinned copy keeps.
    ///
    /// # Errors
    /// When a block is longer than the list or has no length, or there are too many copies.
    pub fn new(list: List, how: How, seed: u64) -> Result<Replayed, TraceError> {
        if let Some(block) = how.block.filter(|b| *b > list.length || *b == Span::ZERO) {
            let allowed = format!("more than zero and at most the list's {}", list.length);
            return Err(parameter("block_s", block, allowed, "choose shorter blocks"));
        }
        if !(how.copies > 0.0 && how.copies <= COPIES_MAX) {
            let allowed = format!("more than 0 and at most {COPIES_MAX}");
            let remedy = "lower the rate, or replay a longer list";
            return Err(parameter("copies", how.copies, allowed, remedy));
        }
        let windows = how.windows(list.length);
        let rounds = Rounds { list, how, windows, seed };
        let begin = |number: u64| {
            let kept = (how.copies - number as f64).min(1.0);
            let draw = how.block.map(|_| Stream::named(seed, "replayed blocks", number));
            let (part, shown) = ((0, 0), None);
            let mut copy =
                Copy { number, kept, draw, round: 0, part, from: 0, next: 0, wraps: 0, shown };
            copy.begin(&rounds, 0);
            copy.shown = copy.look(&rounds);
            copy
        };
        let copies: Vec<Copy> = (0..how.copies.ceil() as u64).map(begin).collect();
        let shown = copies.iter().enumerate();
        let next = shown.filter_map(|(i, copy)| Some(Reverse((copy.shown?.at, i)))).collect();
        Ok(Replayed { rounds, copies, next })
    }
}

impl Rounds {
    /// Where a window of the list begins.
    fn window(&self, number: u64) -> u64 {
        let ns = u128::from(self.list.length.ns()) * u128::from(number);
        (ns / u128::from(self.windows)) as u64
    }

    /// The window that a time of the list is in: its number, beginning and end.
    fn window_at(&self, at: u64) -> (u64, u64, u64) {
        let ns = u128::from(at) * u128::from(self.windows);
        let number = (ns / u128::from(self.list.length.ns())) as u64;
        let number = if self.window(number + 1) <= at { number + 1 } else { number };
        (number, self.window(number), self.window(number + 1))
    }

    /// A uniform number that depends on the seed, a purpose and a place in a copy alone: another number of copies draws
    /// the same for those that were there before.
    fn uniform(&self, purpose: u64, copy: &Copy, place: u64) -> f64 {
        let index = (copy.number << 44) ^ (copy.round << 24) ^ place;
        keyed_uniform(self.seed, purpose, index)
    }
}

impl Copy {
    /// The part of the round that begins there.
    fn begin(&mut self, rounds: &Rounds, at: u64) {
        let length = rounds.list.length.ns();
        (self.part, self.from) = match (&mut self.draw, rounds.how.block) {
            (Some(draw), Some(block)) => ((at, (at + block.ns()).min(length)), draw.below(length)),
            _ if self.number == 0 => ((0, length), 0),
            _ => self.shifted(rounds, at),
        };
        let from = self.from;
        self.next = rounds.list.all.partition_point(|a| a.at.ns() < from);
        self.wraps = 0;
    }

    /// A window in two parts: its last requests, which the shift takes round its end to its beginning, and the others.
    fn shifted(&self, rounds: &Rounds, at: u64) -> ((u64, u64), u64) {
        let (number, begin, end) = rounds.window_at(at);
        let length = (end - begin) as f64;
        let shift = (rounds.uniform(SHIFTED, self, number) * length) as u64;
        match at == begin && shift > 0 {
            true => ((begin, begin + shift), end - shift),
            false => ((begin + shift, end), begin),
        }
    }

    fn look(&mut self, rounds: &Rounds) -> Option<Arrival> {
        let length = rounds.list.length.ns();
        loop {
            if self.next == rounds.list.all.len() {
                (self.next, self.wraps) = (0, self.wraps + 1);
            }
            let arrival = rounds.list.all[self.next];
            let within = arrival.at.ns() + self.wraps * length - self.from;
            let (begin, end) = self.part;
            if within < end - begin {
                let place = self.next as u64;
                self.next += 1;
                if self.kept < 1.0 && rounds.uniform(THINNED, self, place) >= self.kept {
                    continue;
                }
                let ns = u128::from(self.round) * u128::from(length) + u128::from(begin + within);
                let ns = ns as f64 * rounds.how.stretch;
                // Beyond 53 bits of nanoseconds, 104 days, neighbours share an instant; order stays.
                let at = if ns < u64::MAX as f64 { Time::from_ns(ns as u64) } else { Time::NEVER };
                return Some(Arrival { at, ..arrival });
            }
            if end < length {
                self.begin(rounds, end);
            } else if self.round + 1 < rounds.how.times {
                self.round += 1;
                self.begin(rounds, 0);
            } else {
                return None;
            }
        }
    }
}

impl Source for Replayed {
    fn peek(&mut self) -> Option<Time> {
        self.next.peek().map(|Reverse((at, _))| *at)
    }

    fn pop(&mut self) -> Option<Arrival> {
        let Reverse((_, number)) = self.next.pop()?;
        let copy = &mut self.copies[number];
        let arrival = copy.shown;
        copy.shown = copy.look(&self.rounds);
        self.next.extend(copy.shown.map(|next| Reverse((next.at, number))));
        arrival
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

    const PLAIN: How = How { stretch: 1.0, copies: 1.0, window: Span::MAX, times: 1, block: None };
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

    /// An hour of 10 requests a second, with 60 a second for half a minute now and then.
    fn bursty() -> List {
        let in_second = |i: u64| if (i / 30 * 7919).is_multiple_of(20) { 60 } else { 10 };
        let second = |i: u64| (0..in_second(i)).map(move |k| i * 1_000 + k * 1_000 / in_second(i));
        list(&(0..3_600).flat_map(second).collect::<Vec<u64>>())
    }

    /// How much the counts of seconds vary, relative to their mean.
    fn dispersion(at: &[(u64, u64)]) -> f64 {
        let second = |a: &(u64, u64)| (a.0 / (1_000 * MS)) as usize;
        let mut counts = vec![0.0_f64; at.iter().map(second).max().unwrap() + 1];
        at.iter().for_each(|a| counts[second(a)] += 1.0);
        let (n, mean) = (counts.len() as f64, at.len() as f64 / counts.len() as f64);
        counts.iter().map(|count| (count - mean) * (count - mean)).sum::<f64>() / (n * mean)
    }

    #[test]
    fn so_many_copies_have_so_many_times_the_requests_in_each_window() {
        let list = list(&[0, 10, 12, 30, 33, 47, 48, 90, 91, 99]);
        let once = all(&list, PLAIN, 1);
        let count = |at: &[(u64, u64)], from: u64, to: u64| {
            at.iter().filter(|a| (from..to).contains(&a.0)).count()
        };
        for (windows, copies) in [(1, 1.0), (1, 7.0), (3, 4.0), (10, 20.0), (55, 2.0)] {
            let window = Span::from_ns(list.length().ns().div_ceil(windows));
            for (times, seed) in [(1, 1), (2, 2), (3, 9)] {
                let how = How { copies, window, times, ..PLAIN };
                let drawn = all(&list, how, seed);
                assert_eq!(drawn.len() as u64, copies as u64 * times * once.len() as u64);
                assert!(drawn.windows(2).all(|w| w[0].0 <= w[1].0), "in the order of time");
                for i in 0..windows {
                    let at = |i: u64| list.length().ns() * i / windows;
                    let own = count(&once, at(i), at(i + 1));
                    assert_eq!(
                        count(&drawn, at(i), at(i + 1)),
                        copies as usize * own,
                        "{how:?} {i}"
                    );
                }
                let of_one = drawn.iter().filter(|a| a.1 == 48).count() as u64;
                assert_eq!(of_one, copies as u64 * times, "each request as often");
            }
        }
        // In blocks each copy draws its own.
        let block = Some(Span::from_ms(25));
        let drawn = all(&list, How { copies: 30.0, block, ..PLAIN }, 4);
        assert!((200..400).contains(&drawn.len()), "{}", drawn.len());
        assert_ne!(drawn, all(&list, How { copies: 30.0, block, ..PLAIN }, 5));
    }

    /// Each rate has the requests of the lower ones and some more, so that a higher rate is no other luck.
    #[test]
    fn a_part_of_a_copy_is_thinned_and_more_copies_keep_what_fewer_have() {
        let list = bursty();
        let mut fewer = Vec::new();
        for copies in [0.2, 0.5, 1.0, 1.1, 1.5, 2.0, 2.7] {
            let how = How { copies, window: Span::from_ms(600_000), ..PLAIN };
            let more = all(&list, how, 3);
            let share = more.len() as f64 / (copies * list.all.len() as f64);
            assert!((share - 1.0).abs() < 0.02, "{copies}: {share}");
            let mut rest = more.iter();
            assert!(fewer.iter().all(|a| rest.any(|b| a == b)), "{copies}");
            fewer = more;
        }
        assert_eq!(copies_for(1.1 * 3.0, 1.1), 3.0);
        assert!(copies_for(3.4, 1.0) == 3.4 && copies_for(1e-3, 1.0) == 1e-3);
    }

    #[test]
    fn copies_are_as_bursty_as_the_list_and_a_faster_list_is_burstier() {
        let list = bursty();
        let of = |how: How| dispersion(&all(&list, how, 8));
        let one = of(PLAIN);
        assert!(one > 5.0, "{one}");
        for copies in [2.0, 5.0, 20.0, 100.0] {
            let many = of(How { copies, ..PLAIN });
            assert!((0.6..1.6).contains(&(many / one)), "{copies}: {many}, {one}");
        }
        // Within windows that are shorter than a burst, all copies have it at once.
        let together = of(How { copies: 20.0, window: Span::from_ms(10_000), ..PLAIN });
        let fast = of(How { stretch: 0.05, ..PLAIN });
        assert!(together > 10.0 * one && fast > 5.0 * one, "{together}, {fast}, {one}");
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
        let error = Replayed::new(list.clone(), how, 1).err().unwrap().to_string();
        assert!(error.contains("block_s") && error.contains("20"), "{error}");
        for copies in [0.0, f64::NAN, 1e7] {
            let how = How { copies, ..PLAIN };
            let error = Replayed::new(list.clone(), how, 1).err().unwrap().to_string();
            assert!(error.contains("copies") && error.contains("1000000"), "{error}");
        }
    }
}
