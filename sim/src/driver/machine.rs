//! A machine that is known: when its controller handled what was due, and how long its devices took. It takes the
//! place of a world's laws of time, so that a run that was measured can be simulated again.

use super::VirtualHost;
use crate::core::Begin;
use crate::time::{Span, Time};
use std::fmt::Debug;

/// An input that is due next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// How many were handled before it; the start is the first.
    pub number: u64,
    /// When it is due.
    pub due: Time,
    /// What it is ([`Input::rank`](crate::core::Input::rank)).
    pub rank: u64,
}

/// What an action took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Took {
    /// When it ended.
    pub end: Time,
    /// Time on the device.
    pub device: Span,
    /// The controller learned of it after so many inputs, as the n-th that it learned of then. None: at its end.
    pub learned: Option<(u64, u64)>,
}

/// See the module's text. Its answers depend on the questions alone.
pub trait Machine: Debug + Send + Sync {
    /// When the controller handles an input, not before it is due, and after those before it; none ends the run.
    fn handles(&self, next: Next) -> Option<Time>;

    /// What becomes of an action that begins now and takes `busy` by the world's laws; none where it never ends.
    fn takes(&self, now: Time, begin: &Begin, busy: Span) -> Option<Took>;
}

impl VirtualHost<'_> {
    /// When a known machine handles the input of this number; `now` on any other.
    #[inline]
    pub(super) fn known(
        &mut self,
        now: Time,
        due: Time,
        events: u64,
        rank: impl Fn() -> u64,
    ) -> Option<Time> {
        let Some(machine) = &self.world.machine else { return Some(now) };
        let at = machine.handles(Next { number: events - 1, due, rank: rank() })?;
        self.handled = self.handled.max(at);
        Some(self.handled)
    }

    /// The controller has handled so many inputs: it learns of what ended meanwhile.
    #[inline]
    pub(super) fn learn(&mut self, handled: u64) {
        if !self.unseen.is_empty() {
            self.learn_some(handled);
        }
    }

    #[cold]
    fn learn_some(&mut self, handled: u64) {
        while self.unseen.first().is_some_and(|first| first.0.0 <= handled)
            && let Some((_, (at, action, device, busy))) = self.unseen.pop_first()
        {
            self.ends_at(at, action, device, busy);
        }
    }
}
