//! The simulations of a group: how many there were, and about how many there will be.
//!
//! What a search will need is not known before: each part of it says what it expects, and takes back what it
//! did not need. Only the progress on stderr reads the expectation.

use orrery_report::Progress;
use orrery_solvers::Price;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Simulations that the search for a highest rate takes with one seed, as a typical number.
pub const PROBES: u64 = 9;

/// The same for an edge, which is looked at from both sides.
pub const PROBES_OF_EDGE: u64 = 15;

/// The simulations of a group.
pub struct Runs<'a> {
    done: AtomicU64,
    expected: AtomicU64,
    progress: Option<&'a Progress>,
    /// The cheapest pool that was told.
    told: Mutex<Option<Price>>,
}

impl<'a> Runs<'a> {
    /// None yet; `progress` shows those of all groups.
    pub fn new(progress: Option<&'a Progress>) -> Runs<'a> {
        Runs {
            done: AtomicU64::new(0),
            expected: AtomicU64::new(0),
            progress,
            told: Mutex::new(None),
        }
    }

    /// Whether no pool as cheap was told before; it is now.
    pub fn is_cheapest(&self, cost: Price) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let is_cheapest = told.is_none_or(|known| cost < known);
        if is_cheapest {
            *told = Some(cost);
        }
        is_cheapest
    }

    /// One more was made.
    pub fn made(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.progress.iter().for_each(|p| p.step());
    }

    /// How many were made, and of how many that are expected.
    pub fn done_of(&self) -> (u64, u64) {
        let (done, expected) =
            (self.done.load(Ordering::Relaxed), self.expected.load(Ordering::Relaxed));
        self.progress.map_or((done, expected), Progress::done_of)
    }

    /// How many there were so far.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// So many more are expected.
    pub fn expect(&self, more: u64) {
        self.expected.fetch_add(more, Ordering::Relaxed);
        self.progress.iter().for_each(|p| p.expect(more));
    }

    /// So many of those that were expected are not needed.
    pub fn spare(&self, fewer: u64) {
        let take = |expected: u64| Some(expected.saturating_sub(fewer));
        let before = self.expected.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        let taken = before.map_or(0, |before| fewer.min(before));
        self.progress.iter().for_each(|p| p.spare(taken));
    }

    /// Ends the group: what was expected is what there was. Returns how many simulations there were.
    pub fn finish(&self) -> u64 {
        let (done, expected) =
            (self.done.load(Ordering::Relaxed), self.expected.load(Ordering::Relaxed));
        self.expect(done.saturating_sub(expected));
        self.spare(expected.saturating_sub(done));
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_cheaper_pool_is_told() {
        let runs = Runs::new(None);
        let told =
            [3.0, 4.0, 3.0, 2.0].map(|usd| runs.is_cheapest(Price::usd_per_hour("", usd).unwrap()));
        assert_eq!(told, [true, false, false, true]);
    }

    #[test]
    fn at_the_end_of_a_group_the_expectation_is_what_was_made() {
        for (expected, spared, made) in [(10, 3, 20), (10, 30, 2), (0, 0, 5), (7, 0, 7)] {
            let progress = Progress::estimated("simulations");
            let runs = Runs::new(Some(&progress));
            runs.expect(expected);
            runs.spare(spared);
            (0..made).for_each(|_| runs.made());
            assert_eq!(runs.finish(), made);
            assert_eq!(progress.done_of(), (made, made), "{expected} {spared}");
        }
    }
}
