//! The books: the requests that are alive, with the truth about them.
//!
//! They decide nothing; the core writes in them.

use crate::request::{Request, RequestId};
use crate::table::Table;
use crate::time::{Span, Time};

#[derive(Default)]
pub(super) struct Live {
    pub(super) request: Request,
    pub(super) alone: Span,
    /// When its last batch began; `NEVER` before.
    pub(super) started: Time,
    /// Whether an action names it that has not been reported.
    pub(super) held: bool,
    pub(super) ended: bool,
    /// Whether it ended with a model's answer.
    pub(super) answered: bool,
    /// Whether no device had its model when it arrived.
    pub(super) lacked: bool,
}

/// The requests that are alive, with the truth about them.
#[derive(std::default::Default)]
pub struct Books {
    pub(super) live: Table<Live>,
}

impl Books {
    /// A request that has not ended or whose batch is still in flight.
    pub fn request(&self, id: RequestId) -> Option<&Request> {
        self.live.get(id.0).map(|l| &l.request)
    }

    /// Requests that have arrived.
    pub fn arrived(&self) -> u64 {
        self.live.next_id()
    }

    /// Requests that have not ended or whose batch is still in flight.
    pub fn alive(&self) -> u64 {
        self.live.len() as u64
    }

    /// The truth about it.
    pub fn alone(&self, id: RequestId) -> Option<Span> {
        self.live.get(id.0).map(|l| l.alone)
    }

    /// Requests that have not ended, by id.
    pub fn pending(&self) -> impl Iterator<Item = (&Request, Option<Time>)> {
        self.live.iter().filter(|(_, l)| !l.ended).map(|(_, l)| (&l.request, l.start()))
    }

    /// No action names it any more.
    pub(super) fn release(&mut self, id: RequestId) {
        let live = self.live.get_mut(id.0).expect("a held request is alive");
        live.held = false;
        if live.ended {
            self.live.discard(id.0);
        }
    }
}

impl Live {
    pub(super) fn start(&self) -> Option<Time> {
        (self.started != Time::NEVER).then_some(self.started)
    }
}
