//! Shepherd's parameters. What they do is in the policy.

use crate::policy::parameters::{
    About, Assumption, Parameter, Preset, Settings, count, flag, ms, number, word, words,
};
use crate::time::Span;

words! {
    /// For which model the arrival's loop is repeated after a preemption.
    pub enum FollowUp {
        /// Released.
        New = "new": "the new batch's",
        /// Paper.
        Preempted = "preempted": "that of the requests that returned",
    }
}

words! {
    /// When the requests of a batch that is stopped are in their queue again.
    pub enum Return {
        /// Released.
        AtOnce = "at-once": "with the decision, so that later GPUs in the same loop see them",
        OnReport = "on-report": "when the device reports the preemption",
    }
}

/// Shepherd's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// A batch is stopped for one so many times its size; above 1. Released: 3.03; paper: 3.
    pub factor: f64,
    /// Delay of a decision. Released: 25 us.
    pub ctrl: Span,
    /// Delay of each request's input. Released: 75 us.
    pub data: Span,
    /// Whose loop follows a preemption.
    pub follow_up: FollowUp,
    /// When stopped requests wait again.
    pub returns: Return,
    /// Whether an expired head blocks its model, as in the released code.
    pub expired_head_bug: bool,
    /// The most requests of a batch; no more than the profile has measured. Released: 499.
    pub max_batch: u32,
}

impl Config {
    /// What the authors' code does.
    pub fn released() -> Config {
        Config {
            factor: 3.03,
            ctrl: Span::from_us(25),
            data: Span::from_us(75),
            follow_up: FollowUp::New,
            returns: Return::AtOnce,
            expired_head_bug: true,
            max_batch: 499,
        }
    }

    /// What the paper says; the network's delays are the scenario's.
    pub fn paper() -> Config {
        let (ctrl, data) = (Span::ZERO, Span::ZERO);
        let (follow_up, returns) = (FollowUp::Preempted, Return::OnReport);
        let expired_head_bug = false;
        let released = Config::released();
        Config { factor: 3.0, ctrl, data, follow_up, returns, expired_head_bug, ..released }
    }
}

impl Settings for Config {
    const ABOUT: About = About {
        name: "shepherd",
        what: "the largest batch first, with preemption",
        paper: "Shepherd's Flex (Zhang et al., NSDI 2023), as Symphony, §2.2 and §5 has it",
    };
    const ASSUMES: &'static [Assumption] = &[Assumption::KnownTimes, Assumption::OneKind];
    const PRESETS: &'static [Preset<Config>] = &[
        Preset {
            name: "released",
            what: "what Symphony's authors released, its fault with an expired head included",
            make: Config::released,
        },
        Preset {
            name: "paper",
            what: "what the paper says; the network's delays are the scenario's",
            make: Config::paper,
        },
    ];
    const PARAMETERS: &'static [Parameter<Config>] = &[
        // A batch that is stopped for one of its own size could be stopped for ever.
        number(
            "factor",
            1.01..=1e6,
            |c: &mut Self| Some(&mut c.factor),
            "a running batch is preempted for a batch that is larger by this factor",
        )
        .from("Shepherd: 3; released: flex_scheduler.cpp"),
        ms("ctrl_ms", |c: &mut Self| &mut c.ctrl, "delay of a decision")
            .from("released: flex_scheduler.cpp, 25 us"),
        ms("data_ms", |c: &mut Self| &mut c.data, "delay of each request's input")
            .from("released: flex_scheduler.cpp, 75 us"),
        word(
            "follow_up",
            |c: &mut Self| &mut c.follow_up,
            "the model for which the arrival's loop is repeated after a preemption",
        )
        .from("Shepherd's pseudo-code: preempted; released: flex_scheduler.cpp"),
        word(
            "return",
            |c: &mut Self| &mut c.returns,
            "when preempted requests return to their queue",
        )
        .from("released: flex_scheduler.cpp"),
        flag(
            "expired_head_bug",
            |c: &mut Self| &mut c.expired_head_bug,
            "whether an expired first request blocks its model",
        )
        .from("released: flex_scheduler.cpp"),
        count(
            "max_batch",
            |c: &mut Self| Some(&mut c.max_batch),
            "maximum number of requests in a batch; limited by the profiled sizes",
        )
        .from("released: sleep_profile.h"),
    ];
    const PREEMPTS: bool = true;
}
