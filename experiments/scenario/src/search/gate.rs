//! A gate before the sources of a run: once it is closed nothing arrives any more, and the run ends when all
//! requests have.

use crate::setup::Sources;
use orrery_sim::request::{Arrival, End, Request, Source};
use orrery_sim::time::Time;
use std::cell::Cell;
use std::rc::Rc;

/// Open or closed, for all who hold it.
#[derive(Clone, Debug)]
pub(super) struct Gate(Rc<Cell<bool>>);

impl Gate {
    pub fn open() -> Gate {
        Gate(Rc::new(Cell::new(true)))
    }

    pub fn close(&self) {
        self.0.set(false);
    }
}

/// Sources behind a gate.
pub(super) fn behind(gate: Option<Gate>, sources: Sources) -> Sources {
    let Some(gate) = gate else { return sources };
    let gated = |inner| Box::new(Gated { inner, gate: gate.clone() }) as Box<dyn Source>;
    sources.into_iter().map(gated).collect()
}

struct Gated {
    inner: Box<dyn Source>,
    gate: Gate,
}

impl Source for Gated {
    fn peek(&mut self) -> Option<Time> {
        if self.gate.0.get() { self.inner.peek() } else { None }
    }

    fn pop(&mut self) -> Option<Arrival> {
        self.inner.pop()
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
