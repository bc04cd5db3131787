//! The request that is explained: its steps, and what its time went into.

use super::words::{self, ms};
use orrery_sim::request::{ActionId, End, Request};
use orrery_sim::time::{Span, Time};

/// What the request's time went into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    NoDevice,
    Busy,
    HeldBack,
    Sent,
    Running,
    Lost,
    Answer,
}

impl Phase {
    pub fn words(self) -> &'static str {
        match self {
            Phase::NoDevice => "it waited while no device was up",
            Phase::Busy => "it waited while every device had other batches",
            Phase::HeldBack => {
                "it waited although a device had nothing to do: the policy held it back"
            }
            Phase::Sent => "its batch waited for the device to begin it",
            Phase::Running => "its batch ran",
            Phase::Lost => "it was in a batch that was stopped, and that work was lost",
            Phase::Answer => "its answer was on its way",
        }
    }
}

/// The request, once it has come.
#[derive(Default)]
pub struct Target {
    pub request: Request,
    /// The batch that it is in.
    pub batch: Option<ActionId>,
    /// Its last batch has closed as done.
    pub done: bool,
    pub end: Option<(Time, End)>,
    pub steps: Vec<(Time, String)>,
    /// By phase, how long; in the order of their first time.
    pub spent: Vec<(Phase, Span)>,
    /// Batches of its model that went without it.
    pub passed: u64,
}

impl Target {
    pub fn add(&mut self, phase: Phase, span: Span) {
        if span == Span::ZERO {
            return;
        }
        match self.spent.iter_mut().find(|s| s.0 == phase) {
            Some(spent) => spent.1 += span,
            None => self.spent.push((phase, span)),
        }
    }

    /// A run was for nothing.
    pub fn lose(&mut self, ran: Span) {
        if let Some(spent) = self.spent.iter_mut().find(|s| s.0 == Phase::Running) {
            spent.1 = spent.1.minus(ran);
        }
        self.add(Phase::Lost, ran);
    }

    /// How it ended, and what took longest; of equal parts the first.
    pub fn verdict(&self) -> String {
        let (how, total) = match self.end {
            None => ("the log ends before it did", Span::MAX),
            Some((time, end)) => (words::end(end), time.since(self.request.arrival)),
        };
        let mut longest: Option<(Phase, Span)> = None;
        for &(phase, span) in &self.spent {
            if longest.is_none_or(|l| span > l.1) {
                longest = Some((phase, span));
            }
        }
        match longest {
            None => format!("{how}, at once"),
            Some((phase, span)) if total == Span::MAX => {
                format!("{how}; the longest part, {}: {}", ms(span), phase.words())
            }
            Some((phase, span)) => {
                let (total, part) = (ms(total), ms(span));
                format!("{how} after {total}; the longest part, {part}: {}", phase.words())
            }
        }
    }
}
