//! What batches that share a device got of it: rule 11.

use crate::ordered::SortedMap;
use crate::request::ActionId;
use crate::time::{Span, Time};

/// Binary digits of a nanosecond of service: the engine counts in them, and rounds down.
const DIGITS: u32 = 32;

/// What a batch got that was always there.
#[derive(Debug, Default)]
pub(super) struct Served {
    sum: u128,
    counted: Time,
    /// Of each batch that runs: the sum when it began.
    since: SortedMap<ActionId, u128>,
}

impl Served {
    fn count(&mut self, now: Time) {
        if !self.since.is_empty() {
            let passed = u128::from(now.since(self.counted).ns()) << DIGITS;
            self.sum += passed / self.since.len() as u128;
        }
        self.counted = now;
    }

    /// A batch begins.
    pub fn begins(&mut self, now: Time, action: ActionId) {
        self.count(now);
        self.since.insert(action, self.sum);
    }

    /// A batch closes: what it got, if it began; and whether that is less than it computed.
    pub fn ends(&mut self, now: Time, action: ActionId, computed: Span) -> Option<(Span, bool)> {
        self.count(now);
        let got = self.sum - self.since.remove(&action)?;
        let is_less = got < u128::from(computed.ns()) << DIGITS;
        Some((Span::from_ns((got >> DIGITS) as u64), is_less))
    }
}
