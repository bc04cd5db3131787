//! What a policy is told.

use crate::cluster::Change;
use crate::request::{ActionId, AppId, DeviceId, ModelId, Request, RequestId};
use crate::time::{Span, Time};

/// Names a timer of a policy. Setting a live key replaces it. Below 2^56.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimerKey(pub u64);

/// What happened.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The run begins; devices are as [`Known`](super::Known) shows them. Once, before anything else.
    Start,
    /// A request arrived.
    Arrive(&'a Request),
    /// An action came to its end. On `Done` its requests have been answered; after any other
    /// outcome they belong to the policy again, which ends them or runs them.
    Result {
        /// The action.
        action: ActionId,
        /// Where it was sent.
        device: DeviceId,
        /// What became of it.
        outcome: Outcome,
        /// Its requests, those that were ended in flight included.
        requests: &'a [RequestId],
    },
    /// A timer went off; it is no longer set.
    Timer(TimerKey),
    /// The profiler measured a finished request alone (Orloj, §3.2 "Long-Term Feedback Loop").
    Profiled {
        /// The request's application.
        app: AppId,
        /// Its model.
        model: ModelId,
        /// Its execution time alone.
        alone: Span,
    },
    /// A device came, is going or went.
    Device(DeviceId, Change),
}

/// What became of an action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// It ran to its end.
    Done {
        /// When the device began it.
        start: Time,
        /// When the device finished it.
        end: Time,
        /// How long the device computed, without fetching inputs.
        device: Span,
    },
    /// The device did not run it.
    Rejected(Refusal),
    /// It was stopped; what it had done is lost.
    Preempted {
        /// How long it had run.
        ran: Span,
    },
    /// It was taken back before it began.
    #[default]
    Cancelled,
}

/// Why a device refused an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// The instant at which it would have started was past `latest`.
    Late,
    /// The model was not in the device's memory.
    NotLoaded,
    /// No pages were free for the model.
    NoMemory,
    /// The device is not up.
    DeviceDown,
}
