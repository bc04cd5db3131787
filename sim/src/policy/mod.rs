//! What a scheduling policy is: a pure state machine that is told what happened and when, and
//! answers with actions.
//!
//! It has no clock, does no I/O, starts no thread and draws no random number, so the same code runs
//! in virtual time and against a real device. One file per system:
//!
//! | file | system |
//! |---|---|
//! | [`orloj`] | Orloj (Yu et al.): distribution-based batching |
//! | [`clockwork`] | Clockwork (OSDI 2020): strategies and action windows |
//! | [`nexus`] | Nexus (SOSP 2019) on one GPU: batch from profile and SLO, early drop |
//! | [`nexus_cluster`] | Nexus on a cluster: squishy bin packing, frontends, epochs |
//! | [`symphony`] | Symphony (2024): deferred batches, models and GPUs find each other |
//! | [`clipper`] | Clipper (NSDI 2017): adaptive batching |
//! | [`autoscale`] | Symphony's autoscaling advice, followed, around any other policy |
//! | [`shepherd`] | Shepherd (NSDI 2023): largest batch first, with preemption |
//! | [`timeout`] | TensorFlow Serving (2017): a batch when it is full or has waited |
//! | [`eager`] | the work-conserving reference of a cluster: earliest deadline, largest batch |
//! | [`fifo`] | the plain reference: first in, first out, greedy batches |
//! | [`kairos`] | Kairos (HPDC 2023): min-cost matching of queries to instances of several kinds |
//! | [`ribbon`] | Ribbon (SC 2021) as Kairos has it: first come, first served, base kind first |
//! | [`drs`] | DeepRecSys (ISCA 2020) as Kairos has it: a threshold of the size |
//! | [`clkwrk`] | Clockwork's controller as Kairos has it: commit on arrival |
//! | [`oracle`] | the reference that knows every execution time |

mod actions;
pub mod autoscale;
pub mod clipper;
pub mod clkwrk;
pub mod clockwork;
pub mod drs;
pub mod eager;
mod early_drop;
mod edf_queue;
pub mod fifo;
pub mod free_devices;
pub mod kairos;
mod known;
pub mod nexus;
pub mod nexus_cluster;
pub mod oracle;
pub mod orloj;
pub mod parameters;
pub mod pool;
pub mod ribbon;
mod score;
pub mod shepherd;
pub mod symphony;
#[cfg(test)]
mod tests;
pub mod timeout;

pub use self::actions::{Action, Actions, Exec};
pub use self::known::{Known, Lookup};

use self::parameters::Registered;
use crate::cluster::Change;
use crate::request::{ActionId, AppId, DeviceId, ModelId, Request, RequestId};
use crate::time::{Span, Time};

/// The registry: every policy that a name can ask for, by name. A new one is its file, its `mod`
/// above and a line here.
pub static ALL: [Registered; 15] = [
    Registered::of::<clipper::Config>(),
    Registered::of::<clkwrk::Config>(),
    Registered::of::<clockwork::Config>(),
    Registered::of::<drs::Config>(),
    Registered::of::<eager::Config>(),
    Registered::of::<fifo::Config>(),
    Registered::of::<kairos::Config>(),
    Registered::of::<nexus::Config>(),
    Registered::of::<nexus_cluster::Config>(),
    Registered::of::<oracle::Config>(),
    Registered::of::<orloj::Config>(),
    Registered::of::<ribbon::Config>(),
    Registered::of::<shepherd::Config>(),
    Registered::of::<symphony::Config>(),
    Registered::of::<timeout::Config>(),
];

/// Names a timer of a policy. Setting a live key replaces it. Below 2^56.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimerKey(pub u64);

/// What happened.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The run begins; devices are as [`Known`] shows them. Once, before anything else.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// A scheduling policy. See the module's text.
pub trait Policy {
    /// Its name with its parameters, in a form that round-trips: `clockwork[estimator=static-mean]`.
    fn name(&self) -> String;

    /// Something happened at `now`; the answer goes into `out`.
    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions);

    /// Whether it is an oracle, which may see execution times. Its name must begin with `oracle`.
    fn sees_truth(&self) -> bool {
        false
    }

    /// Whether it wants [`Event::Profiled`].
    fn wants_profiles(&self) -> bool {
        false
    }
}

impl<P: Policy + ?Sized> Policy for Box<P> {
    fn name(&self) -> String {
        (**self).name()
    }
    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        (**self).on(now, event, known, out);
    }
    fn sees_truth(&self) -> bool {
        (**self).sees_truth()
    }
    fn wants_profiles(&self) -> bool {
        (**self).wants_profiles()
    }
}
