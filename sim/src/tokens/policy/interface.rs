//! What a policy is told, may look at and answers; how it is built.

use crate::policy::parameters::Named;
use crate::time::Time;
use crate::tokens::law::StepLaw;
use crate::tokens::request::{Machine, Progress, RequestId, Slo, TokenRequest};

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A request is here.
    Arrive(RequestId),
    /// A request has its last token; its blocks are free.
    Done(RequestId),
}

/// What to do. The runs of one answer are the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// End a request without an answer. Only one that has no token yet.
    Drop(RequestId),
    /// Take a request's blocks: it computes all of its tokens anew.
    Evict(RequestId),
    /// Compute this many of a request's next tokens, at least 1.
    Run(RequestId, u32),
}

/// What a policy may see of a request. How many tokens come out is not among it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// When it came.
    pub at: Time,
    /// Tokens of its prompt.
    pub tokens_in: u32,
    /// How soon it wants its answer.
    pub slo: Slo,
    /// Tokens that it has been given.
    pub out: u32,
    /// Its tokens that are in its blocks.
    pub computed: u32,
    /// Its blocks.
    pub blocks: u32,
}

impl Seen {
    /// Its tokens that are not in its blocks: as many must be computed before its next token is known.
    pub fn left(&self) -> u32 {
        self.tokens_in + self.out - self.computed
    }

    /// When it wants its first token at the latest.
    pub fn first_by(&self) -> Time {
        self.at + self.slo.first
    }
}

/// What a policy may look at.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    pub(in crate::tokens) machine: &'a Machine,
    pub(in crate::tokens) requests: &'a [TokenRequest],
    pub(in crate::tokens) progress: &'a [Progress],
    pub(in crate::tokens) free: u32,
}

impl Known<'_> {
    /// The law of a step: the profile.
    pub fn law(&self) -> &StepLaw {
        &self.machine.law
    }

    /// Blocks that nobody has.
    pub fn free(&self) -> u32 {
        self.free
    }

    /// The blocks that so many tokens of a request take.
    pub fn blocks_of(&self, tokens: u32) -> u32 {
        self.machine.blocks_of(tokens)
    }

    /// A request that has come.
    pub fn of(&self, request: RequestId) -> Seen {
        let (what, own) = (&self.requests[request.0 as usize], &self.progress[request.0 as usize]);
        Seen {
            at: what.at,
            tokens_in: what.tokens_in,
            slo: what.slo,
            out: own.out,
            computed: own.computed,
            blocks: own.blocks,
        }
    }
}

/// A policy. It is told of each arrival and each end when they happen, and asked whenever the executor is
/// free and a request is here.
pub trait TokenPolicy {
    /// Its name with its parameters.
    fn name(&self) -> String;
    /// Is told.
    fn on(&mut self, now: Time, event: Event, known: &Known<'_>);
    /// Is asked for the next step.
    fn decide(&mut self, now: Time, known: &Known<'_>, out: &mut Vec<Action>);
}

impl<P: TokenPolicy + ?Sized> TokenPolicy for Box<P> {
    fn name(&self) -> String {
        (**self).name()
    }
    fn on(&mut self, now: Time, event: Event, known: &Known<'_>) {
        (**self).on(now, event, known);
    }
    fn decide(&mut self, now: Time, known: &Known<'_>, out: &mut Vec<Action>) {
        (**self).decide(now, known, out);
    }
}

/// A policy with its parameters, whatever policy it is.
pub trait Configured: Named {
    /// The policy before its start.
    fn build(&self) -> Box<dyn TokenPolicy>;
    /// The most tokens and sequences in a step.
    fn most(&self) -> (u32, u32);
}
