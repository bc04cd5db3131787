//! A source around any other that changes something of each arrival, but never when it comes.

use orrery_sim::request::{Arrival, End, Request, Source};
use orrery_sim::time::Time;

/// The source. See the module's text.
pub struct Changed<S, F> {
    inner: S,
    change: F,
}

impl<S: Source, F: FnMut(&mut Arrival)> Changed<S, F> {
    /// `change` sees every arrival once, in their order.
    pub fn new(inner: S, change: F) -> Changed<S, F> {
        Changed { inner, change }
    }
}

impl<S: Source, F: FnMut(&mut Arrival)> Source for Changed<S, F> {
    fn peek(&mut self) -> Option<Time> {
        self.inner.peek()
    }

    fn pop(&mut self) -> Option<Arrival> {
        let mut arrival = self.inner.pop()?;
        let at = arrival.at;
        (self.change)(&mut arrival);
        debug_assert_eq!(arrival.at, at, "what was shown is what is given");
        Some(arrival)
    }

    fn on_reply(&mut self, request: &Request, now: Time, end: End) {
        self.inner.on_reply(request, now, end);
    }

    fn is_closed_loop(&self) -> bool {
        self.inner.is_closed_loop()
    }

    fn failure(&mut self) -> Option<String> {
        self.inner.failure()
    }
}
