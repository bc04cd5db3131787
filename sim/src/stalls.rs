//! Stalls of the host: times at which a core is taken away from the thread that runs there.
//!
//! A stall is a time, not a factor: five milliseconds are three times a short batch and a quarter more
//! of a long one, and a long batch meets more of them. The controller and every executor of a device
//! have a core each; a share of the stalls hits all cores at once. When stalls begin is drawn from
//! streams named by (seed, "stalls", core), the same whatever a policy decides.
//!
//! A host alternates between quiet times and bursts, of exponential lengths, with a rate of stalls in
//! each (a Markov-modulated Poisson process).

use crate::ordered::SortedMap;
use crate::rng::Stream;
use crate::time::{Span, Time};
use std::collections::VecDeque;

/// The law of a host's stalls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stalls {
    /// Each stall has one of these lengths, all equally likely. Empty: none ever happens.
    pub lengths: Vec<Span>,
    /// Stalls of each core in quiet times, for each second outside of stalls.
    pub quiet_per_s: f64,
    /// In bursts.
    pub burst_per_s: f64,
    /// The mean length of a quiet time.
    pub quiet: Span,
    /// The mean length of a burst; zero where there are none.
    pub burst: Span,
    /// The share of a core's stalls that hit all cores at once.
    pub shared: f64,
    /// The run's seed.
    pub seed: u64,
}

impl Stalls {
    /// The share of the time that a core is away.
    pub fn share_away(&self) -> f64 {
        let total: f64 = self.lengths.iter().map(|l| l.as_secs_f64()).sum();
        let mean = total / self.lengths.len().max(1) as f64;
        let of = |per_s: f64| per_s * mean / (1.0 + per_s * mean);
        let (quiet, burst) = (self.quiet.as_secs_f64(), self.burst.as_secs_f64());
        if burst == 0.0 {
            return of(self.quiet_per_s);
        }
        (of(self.quiet_per_s) * quiet + of(self.burst_per_s) * burst) / (quiet + burst)
    }

    /// Whether there is anything to draw.
    pub fn is_none(&self) -> bool {
        self.lengths.is_empty() || (self.quiet_per_s <= 0.0 && self.burst_per_s <= 0.0)
    }
}

/// A thread's core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CoreOf(u64);

impl CoreOf {
    /// The controller's.
    pub const CONTROLLER: CoreOf = CoreOf(0);

    /// An executor's: a lane of a device, or the one for loads.
    pub fn executor(device: u32, executor: u8) -> CoreOf {
        CoreOf(1 + (u64::from(device) << 8) + u64::from(executor))
    }
}

/// The stream that hits all cores has a number that no core has.
const ALL: u64 = u64::MAX;

/// The stalls of a run, drawn as far as they are asked for.
///
/// ```
/// use orrery_sim::stalls::{CoreOf, Calendar, Stalls};
/// use orrery_sim::time::{Span, Time};
///
/// let ms = Span::from_ms;
/// let law = Stalls { lengths: vec![ms(2)], quiet_per_s: 100.0, ..Stalls::default() };
/// let mut calendar = Calendar::new(law);
/// let core = CoreOf::executor(0, 0);
/// // After 10 ms of work comes a stall of 2 ms, on average.
/// let end = calendar.advance(core, Time::ZERO, Span::from_secs(100));
/// assert!((end.as_secs_f64() / 120.0 - 1.0).abs() < 0.02);
/// ```
#[derive(Debug)]
pub struct Calendar {
    law: Stalls,
    processes: SortedMap<u64, Process>,
}

impl Calendar {
    /// Nothing is drawn yet.
    pub fn new(law: Stalls) -> Calendar {
        Calendar { law, processes: SortedMap::default() }
    }

    /// When a thread that begins at `now` has worked for `work`. A core's questions must not go back in
    /// time.
    pub fn advance(&mut self, core: CoreOf, now: Time, work: Span) -> Time {
        if self.law.is_none() {
            return now + work;
        }
        let (mut at, mut left) = (now, work);
        loop {
            let done = at + left;
            let own = self.next(core.0, (core, now), at, done);
            let common = self.next(ALL, (core, now), at, done);
            let Some((begin, end)) = own.into_iter().chain(common).min() else { return done };
            left = left.minus(begin.since(at));
            at = at.max(end);
            if at == Time::NEVER {
                return at;
            }
        }
    }

    /// The first stall of a process that ends after `at`, if it begins before `until`. `asker` is the core, and
    /// when its question begins.
    fn next(
        &mut self,
        process: u64,
        asker: (CoreOf, Time),
        at: Time,
        until: Time,
    ) -> Option<(Time, Time)> {
        let law = &self.law;
        let process = self.processes.get_or_insert_with(process, || Process::new(law, process));
        process.after(law, asker, at, until)
    }
}

/// One of the streams of stalls.
#[derive(Debug)]
struct Process {
    stream: Stream,
    /// Its part of the law's rates.
    share: f64,
    in_burst: bool,
    /// When quiet or burst ends, seconds.
    changes_s: f64,
    /// Up to where it is drawn, seconds.
    drawn_s: f64,
    /// Stalls that somebody may still ask for.
    ahead: VecDeque<(Time, Time)>,
    /// When each core's last question began. Only the stream of all cores has several.
    asked: SortedMap<u64, Time>,
}

impl Process {
    fn new(law: &Stalls, number: u64) -> Process {
        let mut process = Process {
            stream: Stream::named(law.seed, "stalls", number),
            share: if number == ALL { law.shared } else { 1.0 - law.shared },
            in_burst: false,
            changes_s: f64::INFINITY,
            drawn_s: 0.0,
            ahead: VecDeque::new(),
            asked: SortedMap::default(),
        };
        let (quiet, burst) = (law.quiet.as_secs_f64(), law.burst.as_secs_f64());
        if burst > 0.0 {
            // It begins as it is found at any moment.
            process.in_burst = process.stream.uniform() * (quiet + burst) < burst;
            process.changes_s = process.state_s(law);
        }
        process
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -libm::log(1.0 - self.stream.uniform()) * mean
    }

    /// How long the state that begins now lasts.
    fn state_s(&mut self, law: &Stalls) -> f64 {
        let mean = if self.in_burst { law.burst } else { law.quiet };
        self.exponential(mean.as_secs_f64())
    }

    /// The first stall that ends after `at`, if it begins before `until`. It is drawn no further: the next one
    /// may be years away, after millions of bursts.
    fn after(
        &mut self,
        law: &Stalls,
        (asker, since): (CoreOf, Time),
        at: Time,
        until: Time,
    ) -> Option<(Time, Time)> {
        // Not `at`: its batch may be stopped before, and another core may still ask from now on.
        self.asked.insert(asker.0, since);
        if self.ahead.front().is_some_and(|stall| stall.1 <= since) {
            let floor = self.asked.iter().map(|asked| asked.1).min().unwrap_or(since);
            while self.ahead.front().is_some_and(|stall| stall.1 <= floor) {
                self.ahead.pop_front();
            }
        }
        loop {
            let begun = self.ahead.partition_point(|stall| stall.1 <= at);
            if let Some(stall) = self.ahead.get(begun) {
                return Some(*stall).filter(|stall| stall.0 < until);
            }
            if self.drawn_s >= DRAWN_MAX_S || instant(self.drawn_s) >= until {
                return None;
            }
            self.draw(law);
        }
    }

    /// Draws on: to the end of the next stall, which begins after the one before has ended, or to the next change
    /// between quiet and burst.
    fn draw(&mut self, law: &Stalls) {
        let rate = self.share * if self.in_burst { law.burst_per_s } else { law.quiet_per_s };
        let gap = if rate > 0.0 { self.exponential(1.0 / rate) } else { f64::INFINITY };
        if self.drawn_s + gap < self.changes_s {
            let begin = self.drawn_s + gap;
            let length = law.lengths[self.stream.below(law.lengths.len() as u64) as usize];
            let from = instant(begin);
            self.drawn_s = begin + length.as_secs_f64();
            self.ahead.push_back((from, from + length));
            return;
        }
        self.drawn_s = self.drawn_s.max(self.changes_s);
        if self.changes_s < f64::INFINITY {
            self.in_burst = !self.in_burst;
            self.changes_s = self.drawn_s + self.state_s(law);
        }
    }
}

/// Far beyond any run, seconds.
const DRAWN_MAX_S: f64 = 1e9;

fn instant(s: f64) -> Time {
    Time::ZERO + Span::from_secs_f64(s)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law() -> Stalls {
        Stalls {
            lengths: [1, 2, 6].map(Span::from_ms).to_vec(),
            quiet_per_s: 5.0,
            burst_per_s: 60.0,
            quiet: Span::from_secs(2),
            burst: Span::from_ms(500),
            shared: 0.3,
            seed: 4,
        }
    }

    /// The time away, seconds, of a core that works all the time.
    fn away_s(law: Stalls, core: CoreOf, work_s: u64) -> f64 {
        let end = Calendar::new(law).advance(core, Time::ZERO, Span::from_secs(work_s));
        end.as_secs_f64() - work_s as f64
    }

    #[test]
    fn a_core_is_away_for_its_share_of_the_time() {
        let work_s = 20_000;
        let away = away_s(law(), CoreOf::executor(3, 1), work_s);
        let share = law().share_away();
        let expected = work_s as f64 * share / (1.0 - share);
        assert!((away / expected - 1.0).abs() < 0.06, "{away} s, not {expected} s");
    }

    #[test]
    fn no_law_takes_no_time() {
        let none = [Stalls::default(), Stalls { lengths: vec![], ..law() }];
        for law in none {
            assert_eq!(away_s(law, CoreOf::CONTROLLER, 1_000), 0.0);
        }
    }

    #[test]
    fn what_one_core_asks_moves_no_stall_of_another() {
        let (a, b) = (CoreOf::executor(0, 0), CoreOf::executor(1, 0));
        let ends = |calendar: &mut Calendar, core| {
            let mut at = Time::ZERO;
            let step = |_| {
                at = calendar.advance(core, at, Span::from_ms(30));
                at
            };
            (0..500).map(step).collect::<Vec<_>>()
        };
        let alone = ends(&mut Calendar::new(law()), a);
        let mut both = Calendar::new(law());
        let mut at = Time::ZERO;
        for i in 0..500 {
            at = both.advance(b, at, Span::from_us(7 + i));
        }
        assert_eq!(ends(&mut both, a), alone);
        assert_ne!(ends(&mut Calendar::new(law()), b), alone, "cores have streams of their own");
        let other = Stalls { seed: 5, ..law() };
        assert_ne!(ends(&mut Calendar::new(other), a), alone);
    }

    #[test]
    fn work_in_pieces_takes_as_long_as_at_once() {
        let core = CoreOf::executor(0, 0);
        let whole = Calendar::new(law()).advance(core, Time::ZERO, Span::from_secs(60));
        let mut pieces = Calendar::new(law());
        let mut at = Time::ZERO;
        for _ in 0..60_000 {
            at = pieces.advance(core, at, Span::from_ms(1));
        }
        assert_eq!(at, whole);
    }

    #[test]
    fn there_is_nothing_to_draw_without_lengths_or_rates() {
        let of = |quiet_per_s, burst_per_s| Stalls { quiet_per_s, burst_per_s, ..law() };
        assert!(of(0.0, 0.0).is_none() && Stalls { lengths: Vec::new(), ..law() }.is_none());
        assert!(!of(0.0, 5.0).is_none() && !of(5.0, 0.0).is_none());
    }

    /// The cores' own stalls are years apart: finding the next one took 27 s.
    #[test]
    fn what_a_question_costs_does_not_depend_on_how_far_the_next_stall_is() {
        let law = Stalls { shared: 1.0 - 1e-12, quiet: Span::from_ms(2), ..law() };
        let share = law.share_away();
        let away = away_s(law, CoreOf::executor(0, 0), 60);
        let expected = 60.0 * share / (1.0 - share);
        assert!((away / expected - 1.0).abs() < 0.2, "{away} s, not {expected} s");
    }

    /// A batch that is stopped asked far ahead; so did one on another device.
    #[test]
    fn a_long_question_takes_no_stall_from_those_that_begin_earlier_than_it_ends() {
        let law = Stalls { shared: 0.5, ..law() };
        let (a, b) = (CoreOf::executor(0, 0), CoreOf::executor(1, 0));
        let (from, work) = (Time::ZERO + Span::from_secs(3), Span::from_secs(5));
        let mut asked = Calendar::new(law.clone());
        asked.advance(a, Time::ZERO, Span::from_secs(60));
        for core in [a, b] {
            let mut fresh = Calendar::new(law.clone());
            assert_eq!(asked.advance(core, from, work), fresh.advance(core, from, work));
        }
    }

    #[test]
    fn all_cores_meet_the_shared_stalls_at_the_same_time() {
        let law = Stalls { shared: 1.0, ..law() };
        let mut calendar = Calendar::new(law);
        let mut at = Time::ZERO;
        for _ in 0..2_000 {
            let ends = [(0, 0), (1, 0), (7, 1)]
                .map(|(d, e)| calendar.advance(CoreOf::executor(d, e), at, Span::from_us(900)));
            assert!(ends.iter().all(|e| *e == ends[0]));
            at = ends[0];
        }
    }

    #[test]
    fn a_core_is_found_in_a_burst_as_often_as_bursts_last() {
        let (quiet, burst) = (Span::from_secs(8), Span::from_secs(2));
        let law = Stalls { quiet_per_s: 0.0, burst_per_s: 1e3, quiet, burst, shared: 0.0, ..law() };
        let mut calendar = Calendar::new(law);
        let work = Span::from_ms(20);
        let cores = (0..2_000).map(|d| CoreOf::executor(d, 0));
        let away = cores.filter(|c| calendar.advance(*c, Time::ZERO, work) > Time::ZERO + work);
        // Of the quiet cores 0.25 % come into a burst meanwhile.
        let found = away.count() as f64 / 2_000.0;
        assert!((found - 0.2).abs() < 0.03, "{found}");
    }

    #[test]
    fn a_stall_delays_what_runs_while_it_lasts_and_nothing_that_ends_as_it_begins() {
        let length = Span::from_ms(1);
        let none = Span::ZERO;
        let lengths = vec![length];
        let law = Stalls { lengths, quiet_per_s: 1.0, burst: none, shared: 0.0, ..law() };
        let core = CoreOf::executor(0, 0);
        let delays = |at: u64, work: u64| {
            let (at, work) = (Time::from_ns(at), Span::from_ns(work));
            Calendar::new(law.clone()).advance(core, at, work) > at + work
        };
        // The least work from 0 on that meets the first stall.
        let (mut less, mut enough) = (0, 60_000_000_000);
        while enough - less > 1 {
            let middle = (less + enough) / 2;
            *if delays(0, middle) { &mut enough } else { &mut less } = middle;
        }
        let first = (enough - 5..enough + 5).find(|at| delays(*at, 1)).expect("a stall");
        let end = enough + length.ns();
        let last = (end - 5..end + 5).rfind(|at| delays(*at, 1)).expect("the end of it");
        assert_eq!(last + 1 - first, length.ns());
    }
}
