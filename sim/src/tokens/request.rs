//! A request that is answered token by token, and the machine that answers.

use super::law::StepLaw;
use crate::time::{Span, Time};
use std::fmt;

/// The number of a request: its place in the list that the run was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct RequestId(pub u32);

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "request {}", self.0)
    }
}

/// How soon a request wants its answer. In time means: within both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slo {
    /// From arrival to the first token: TTFT.
    pub first: Span,
    /// Of each further token, on average: TPOT.
    pub each: Span,
}

impl Default for Slo {
    /// No limits: every answer is in time.
    fn default() -> Slo {
        Slo { first: Span::MAX, each: Span::MAX }
    }
}

/// A request. A policy never sees `tokens_out`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TokenRequest {
    /// When it comes.
    pub at: Time,
    /// Tokens of its prompt; at least 1.
    pub tokens_in: u32,
    /// Tokens of its answer; at least 1.
    pub tokens_out: u32,
    /// How soon.
    pub slo: Slo,
}

impl TokenRequest {
    /// When it wants its first token at the latest.
    pub fn first_by(&self) -> Time {
        let ns = self.at.ns().saturating_add(self.slo.first.ns());
        Time::from_ns(ns)
    }

    /// When it has its last token at the latest if it is in time; [`Time::NEVER`] where it wants nothing.
    pub fn last_by(&self) -> Time {
        if self.slo == Slo::default() {
            return Time::NEVER;
        }
        // TPOT is rounded down: a nanosecond more for each token is not yet late.
        let each = (self.slo.each + Span::from_ns(1)) * u64::from(self.tokens_out - 1);
        let by = self.first_by() + each.minus(Span::from_ns(1));
        by.min(Time::NEVER.minus(Span::from_ns(1)))
    }
}

/// The executor: how long a step takes, and room for keys and values.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Machine {
    /// The time of a step.
    pub law: StepLaw,
    /// Blocks of KV memory.
    pub blocks: u32,
    /// Tokens that a block holds.
    pub block_tokens: u32,
}

impl Machine {
    /// The blocks that so many tokens of a request take.
    pub fn blocks_of(&self, tokens: u32) -> u32 {
        tokens.div_ceil(self.block_tokens)
    }

    /// Whether a request fits when it is alone: its last token is never read again, and needs no room.
    pub fn fits(&self, request: &TokenRequest) -> bool {
        let all = u64::from(request.tokens_in) + u64::from(request.tokens_out) - 1;
        all.div_ceil(u64::from(self.block_tokens)) <= u64::from(self.blocks)
    }
}

/// What the books have of a request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Tokens that it has been given.
    pub(in crate::tokens) out: u32,
    /// Tokens in its blocks.
    pub(in crate::tokens) computed: u32,
    pub(in crate::tokens) blocks: u32,
    /// Whether it has come and not ended.
    pub(in crate::tokens) here: bool,
}
