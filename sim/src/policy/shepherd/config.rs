//! Shepherd's parameters. What they do is in the policy.

use crate::time::Span;

/// For which model the arrival's loop is repeated after a preemption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FollowUp {
    /// The new batch's (released).
    New,
    /// That of the requests that returned (paper).
    Preempted,
}

/// When the requests of a batch that is stopped are in their queue again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Return {
    /// With the decision, so that GPUs that come later in the same loop see them (released).
    AtOnce,
    /// When the device reports that it has stopped.
    OnReport,
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

    /// The policy's name with these parameters.
    pub(super) fn name(&self) -> String {
        let Config { factor, ctrl, data, expired_head_bug, max_batch, .. } = self;
        let follow_up = match self.follow_up {
            FollowUp::New => "new",
            FollowUp::Preempted => "preempted",
        };
        let returns = match self.returns {
            Return::AtOnce => "at-once",
            Return::OnReport => "on-report",
        };
        let (ctrl, data) = (ctrl.as_ms_f64(), data.as_ms_f64());
        format!(
            "shepherd[factor={factor},ctrl_ms={ctrl},data_ms={data},follow_up={follow_up},\
             return={returns},expired_head_bug={expired_head_bug},max_batch={max_batch}]"
        )
    }
}
