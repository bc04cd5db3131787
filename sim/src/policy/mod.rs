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
pub mod nexus;
pub mod nexus_cluster;
pub mod oracle;
pub mod orloj;
pub mod pool;
pub mod ribbon;
mod score;
pub mod shepherd;
pub mod symphony;
#[cfg(test)]
mod tests;
pub mod timeout;

use crate::cluster::{Change, DeviceView, Footprint};
use crate::request::{ActionId, AppId, DeviceId, Drop, ModelId, Request, RequestId};
use crate::time::{Span, Time};
use std::ops::Range;

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

/// A batch to execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exec {
    /// On which device.
    pub device: DeviceId,
    /// On which of its lanes (0 unless the device has several).
    pub lane: u8,
    /// Which model.
    pub model: ModelId,
    /// The size that the device computes, padding included (Clipper pads); 0 means the sum of the
    /// requests' sizes.
    pub billed: u32,
    /// It must not start before.
    pub earliest: Time,
    /// It must not start after.
    pub latest: Time,
}

impl Exec {
    /// A batch without a window: it starts as soon as the device is free.
    pub fn now(device: DeviceId, model: ModelId) -> Exec {
        Exec { device, lane: 0, model, billed: 0, earliest: Time::ZERO, latest: Time::NEVER }
    }
}

/// What a policy wants done; made through the methods of [`Actions`], which describe them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Action {
    /// The requests are [`Actions::requests`] of the range.
    Exec {
        exec: Exec,
        requests: Range<usize>,
    },
    Load {
        device: DeviceId,
        model: ModelId,
        earliest: Time,
        latest: Time,
    },
    Unload {
        device: DeviceId,
        model: ModelId,
    },
    Cancel(ActionId),
    Preempt(ActionId),
    End(RequestId, Drop),
    SetTimer(TimerKey, Time),
    ClearTimer(TimerKey),
    Provision {
        kind: u32,
        count: u32,
    },
    Release(DeviceId),
}

/// The answer to an event, filled in by the policy and carried out in order.
#[derive(Debug, Default)]
pub struct Actions {
    list: Vec<Action>,
    requests: Vec<RequestId>,
    next: u64,
    asked_why: bool,
    reasons: Vec<(RequestId, String)>,
}

impl Actions {
    /// What the policy asked for, in order. For whoever carries it out.
    pub fn list(&self) -> &[Action] {
        &self.list
    }

    /// The requests of a batch in [`Actions::list`].
    pub fn requests(&self, range: Range<usize>) -> &[RequestId] {
        &self.requests[range]
    }

    /// Asks the policy for its reasons from now on, or stops asking. For whoever carries it out.
    pub fn ask_why(&mut self, asked: bool) {
        self.asked_why = asked;
    }

    /// Whether reasons are asked for; a policy need not look, but may spare itself the loop over
    /// requests whose reasons nobody reads.
    pub fn asked_why(&self) -> bool {
        self.asked_why
    }

    /// The reasons so far, taken out. For whoever carries it out.
    pub fn take_reasons(&mut self) -> Vec<(RequestId, String)> {
        std::mem::take(&mut self.reasons)
    }

    /// Says why a request is treated as it is by this answer, in plain words with numbers. `text` is
    /// called only when reasons are asked for; it must change nothing.
    #[inline]
    pub fn why(&mut self, request: RequestId, text: impl FnOnce() -> String) {
        if self.asked_why {
            self.reasons.push((request, text()));
        }
    }

    /// The same reason for several requests: a batch, say.
    #[inline]
    pub fn why_all(&mut self, requests: &[RequestId], text: impl FnOnce() -> String) {
        if self.asked_why {
            let text = text();
            self.reasons.extend(requests.iter().map(|&id| (id, text.clone())));
        }
    }

    /// Forgets what was carried out; ids go on counting.
    pub fn clear(&mut self) {
        self.list.clear();
        self.requests.clear();
    }

    fn issue(&mut self, action: Action) -> ActionId {
        self.list.push(action);
        self.next += 1;
        ActionId(self.next - 1)
    }

    /// Executes these requests as one batch.
    pub fn exec(&mut self, exec: Exec, requests: &[RequestId]) -> ActionId {
        let first = self.requests.len();
        self.requests.extend_from_slice(requests);
        self.issue(Action::Exec { exec, requests: first..self.requests.len() })
    }

    /// Copies a model's weights to a device.
    pub fn load(
        &mut self,
        device: DeviceId,
        model: ModelId,
        earliest: Time,
        latest: Time,
    ) -> ActionId {
        self.issue(Action::Load { device, model, earliest, latest })
    }

    /// Frees a model's pages on a device; takes no time.
    pub fn unload(&mut self, device: DeviceId, model: ModelId) {
        self.list.push(Action::Unload { device, model });
    }

    /// Takes an action back if it has not begun; otherwise nothing happens.
    pub fn cancel(&mut self, action: ActionId) {
        self.list.push(Action::Cancel(action));
    }

    /// Stops an action that is running; if it has ended, its result stands.
    pub fn preempt(&mut self, action: ActionId) {
        self.list.push(Action::Preempt(action));
    }

    /// Ends a request without a model's answer. Legal while its batch is in flight, which runs on.
    pub fn end(&mut self, request: RequestId, why: Drop) {
        self.list.push(Action::End(request, why));
    }

    /// Sets or moves a timer. An instant that is past goes off now, after what is already due;
    /// [`Time::NEVER`] clears it.
    pub fn set_timer(&mut self, key: TimerKey, at: Time) {
        self.list.push(Action::SetTimer(key, at));
    }

    /// Clears a timer if it is set.
    pub fn clear_timer(&mut self, key: TimerKey) {
        self.list.push(Action::ClearTimer(key));
    }

    /// Asks for more devices of a kind.
    pub fn provision(&mut self, kind: u32, count: u32) {
        self.list.push(Action::Provision { kind, count });
    }

    /// Gives a device back once it is idle.
    pub fn release(&mut self, device: DeviceId) {
        self.list.push(Action::Release(device));
    }
}

/// What stands behind [`Known`]: an engine's own view of its cluster and its books.
pub trait Lookup {
    /// The devices, by id; those that are gone included.
    fn devices(&self) -> Vec<DeviceView>;
    /// A request that has not ended, or whose batch is still in flight.
    fn request(&self, id: RequestId) -> Option<&Request>;
    /// What a model needs of a device's memory.
    fn footprint(&self, model: ModelId) -> Footprint;
    /// Its true execution time alone: always `None` unless the policy is an oracle.
    fn truth(&self, id: RequestId) -> Option<Span>;
}

/// What a policy may look up: the cluster, and the public part of requests that are alive.
#[derive(Clone, Copy)]
pub struct Known<'a>(&'a dyn Lookup);

impl<'a> Known<'a> {
    /// What an engine shows to its policy.
    pub fn new(lookup: &'a dyn Lookup) -> Known<'a> {
        Known(lookup)
    }

    /// The devices, by id; those that are gone included.
    pub fn devices(&self) -> Vec<DeviceView> {
        self.0.devices()
    }

    /// A request that has not ended, or whose batch is still in flight.
    pub fn request(&self, id: RequestId) -> Option<&'a Request> {
        self.0.request(id)
    }

    /// What a model needs of a device's memory.
    pub fn footprint(&self, model: ModelId) -> Footprint {
        self.0.footprint(model)
    }

    /// The true execution time alone: `None` unless the policy is an oracle.
    pub fn truth(&self, id: RequestId) -> Option<Span> {
        self.0.truth(id)
    }
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
