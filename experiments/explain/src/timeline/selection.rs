//! What of a log is shown, and why that cannot be.

use orrery_sim::log::LogError;
use orrery_sim::request::RequestId;
use orrery_sim::time::Time;
use std::collections::BTreeSet;
use std::io;

/// What of a log is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// What ended before is left out.
    pub from: Time,
    /// What begins after is left out.
    pub to: Time,
    /// Requests that are shown with their way to their batches.
    pub requests: BTreeSet<RequestId>,
}

impl Default for Selection {
    /// The whole run, no request on its own.
    fn default() -> Selection {
        Selection { from: Time::ZERO, to: Time::NEVER, requests: BTreeSet::new() }
    }
}

/// Why a timeline cannot be written.
#[derive(Debug)]
pub enum Failure {
    /// The log cannot be read.
    Log(LogError),
    /// The timeline cannot be written.
    Write(io::Error),
    /// A selected request is not in the log.
    Unknown {
        /// The request.
        request: RequestId,
        /// How many requests the log has, numbered from 0.
        requests: u64,
    },
}

impl From<LogError> for Failure {
    fn from(error: LogError) -> Failure {
        Failure::Log(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Write(error)
    }
}
