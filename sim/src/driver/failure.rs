//! Why a run is not whole.
//!
//! It says nothing of a run that merely went badly: requests that are late or dropped are results.

use super::due::Due;
use crate::core::Wake;
use crate::request::SourceId;
use crate::time::Time;
use std::fmt;

/// Why a run is not whole: what it leaves behind must not be taken for results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A source stopped early: a damaged line of a file, say.
    Source(String),
    /// An arrival comes after the end of time.
    ArrivalAfterEnd {
        /// Whose it is.
        source: SourceId,
        /// Requests that arrived before, from all sources.
        requests: u64,
    },
    /// Something else is due after the end of time.
    EventAfterEnd {
        /// The failure in words, without the place.
        what: String,
        /// When the run stopped.
        now: Time,
    },
    /// No arrival is to come, and no request ends any more, however much else happens.
    Stuck {
        /// Requests that have not ended.
        requests: u64,
        /// When one last arrived or ended.
        since: Time,
        /// When the run stopped.
        now: Time,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Source(why) => f.write_str(why),
            Failure::ArrivalAfterEnd { requests, .. } => {
                write!(f, "request {} comes after the end of simulated time", requests + 1)
            }
            Failure::EventAfterEnd { what, now } => {
                write!(f, "{what} comes after the end of simulated time; the run is at {now}")
            }
            Failure::Stuck { requests: 0, since, now } => write!(
                f,
                "all requests have ended, but since {since} the policy goes on waking; the run is at {now}"
            ),
            Failure::Stuck { requests, since, now } => write!(
                f,
                "{requests} requests do not end: since {since} the policy only waits, wakes and loads; the \
                 run is at {now}"
            ),
        }
    }
}

/// What it is, for a message.
impl fmt::Display for Due {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Due::Ended(action, device, ..) => write!(f, "the end of {action} on {device}"),
            Due::Change(_) => write!(f, "a new device"),
            Due::Wake(wake) => match wake {
                Wake::Deliver(action) => write!(f, "the delivery of {action}"),
                Wake::Stop(action, _) => write!(f, "the message that stops {action}"),
                Wake::Report(action) => write!(f, "the result of {action}"),
                Wake::Reply(action) => write!(f, "the reply to the requests of {action}"),
                Wake::Window(device, _) => write!(f, "the window of a batch on {device}"),
                Wake::Gone(device) => write!(f, "the end of {device}"),
                Wake::Profiled(request, ..) => write!(f, "the profiler's report on {request}"),
                Wake::Timer(key) => write!(f, "the policy's timer {}", key.0),
            },
        }
    }
}
