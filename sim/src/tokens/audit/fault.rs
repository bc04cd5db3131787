//! What an audit can find, and the report that it makes. Nothing here looks for faults.

use crate::audit::{verdict, write_findings};
use crate::time::Time;
use crate::tokens::request::RequestId;
use std::fmt;

/// A rule that a log breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum Fault {
    // The log as a whole.
    #[error("time runs backwards: it was {before} already")]
    TimeBackwards { before: Time },
    #[error("something happens after the run has finished")]
    AfterFinish,
    #[error("the log ends without a finish: it was cut off")]
    NoFinish,
    #[error("the run finishes later than the last request ended, at {last}")]
    FinishesLate { last: Time },

    // 1. Conservation.
    #[error("{request} comes twice")]
    ComesTwice { request: RequestId },
    #[error("{request} is recorded later than it came, at {at}")]
    ComesLate { request: RequestId, at: Time },
    #[error("{request} never came, or has ended")]
    NotHere { request: RequestId },
    #[error("{request} has not ended when the run finishes")]
    LeftWithoutEnd { request: RequestId },
    #[error("{request} is dropped, and has {out} tokens")]
    DroppedWithTokens { request: RequestId, out: u64 },
    #[error("{request} ends with {out} tokens of {wants}, or not when it got the last")]
    EndsEarly { request: RequestId, out: u64, wants: u32 },

    // 2. Blocks.
    #[error("the requests take {wants} blocks together, and there are {blocks}")]
    TooManyBlocks { wants: u64, blocks: u64 },

    // 3. Progress.
    #[error("{request} is in a step twice")]
    RunsTwice { request: RequestId },
    #[error("{request} computes {tokens} tokens, and has {has} that are not computed")]
    NoSuchTokens { request: RequestId, tokens: u32, has: u64 },
    #[error("{request} has no first token at this instant")]
    NoFirstToken { request: RequestId },
    #[error("{request} ends, and its first token was not recorded")]
    FirstNotTold { request: RequestId },

    // 4. Steps.
    #[error("something is decided within a step that ends at {end}")]
    WithinAStep { end: Time },
    #[error("a step lasts {lasts} ns, and by the latency model {law} ns")]
    WrongTime { lasts: i128, law: i128 },
}

/// A fault and where it is.
pub type Finding = crate::audit::Finding<Fault>;

/// What an audit found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Records read.
    pub records: u64,
    /// Requests that came.
    pub requests: u64,
    /// Requests that got their last token.
    pub done: u64,
    /// Requests that were dropped.
    pub dropped: u64,
    /// Steps.
    pub steps: u64,
    /// Tokens that came out.
    pub out: u64,
    /// All faults; the first [`Report::FAULTS_MAX`] are kept.
    pub fault_count: u64,
    /// The first of them.
    pub faults: Vec<Finding>,
}

impl Report {
    /// More faults are counted only.
    pub const FAULTS_MAX: usize = 100;

    /// What no such log shows.
    pub const UNSEEN: &'static [&'static str] = &[
        "whether the policy admitted, evicted and dropped the right requests",
        "whether it looked at how many tokens come out",
        "whether the latency model of a step is that of a device: only that every step obeys it",
    ];

    /// Whether nothing was found.
    pub fn is_clean(&self) -> bool {
        self.fault_count == 0
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = verdict(self.fault_count);
        let Report { records, requests, done, dropped, steps, out, .. } = self;
        writeln!(
            f,
            "audit: {verdict}; {records} records, {requests} requests, {done} done, {dropped} dropped, \
             {steps} steps, {out} tokens out"
        )?;
        write_findings(f, &self.faults, self.fault_count, Report::UNSEEN.iter())
    }
}
