//! What passes between the core and its driver: inputs, wake-ups, and what the core asks for.
//!
//! The order of the events of one instant is written here too, as ranks.

use crate::cluster::{DeviceSpec, Sharing};
use crate::delay::DelayLaw;
use crate::policy::TimerKey;
use crate::request::{
    ActionId, AppId, Arrival, DeviceId, End, ModelId, Request, RequestId, SourceId,
};
use crate::rng::fnv1a;
use crate::time::{Span, Time};

/// How long messages take. All zero unless the scenario says otherwise.
///
/// A message that takes longer may be overtaken: a cancellation that reaches the device before its
/// action does nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Delays {
    /// Policy to device, for an action, a cancellation or a preemption.
    pub dispatch: DelayLaw,
    /// The device is busy this long for each request of a batch before it computes (fetching inputs,
    /// work of the host).
    pub fetch_per_request: Span,
    /// Device to policy.
    pub result: DelayLaw,
    /// Device to client: a request is answered this long after its batch ends.
    pub reply: DelayLaw,
    /// Keys the draws, together with the kind of the message and its action.
    pub seed: u64,
}

impl Delays {
    /// How long an action takes to its device.
    #[inline]
    pub fn of_dispatch(&self, action: ActionId) -> Span {
        self.dispatch.draw(self.seed, const { fnv1a("delay of dispatch") }, action.0)
    }

    /// How long a cancellation (or, if `true`, a preemption) takes to the device.
    #[inline]
    pub fn of_stop(&self, action: ActionId, preempt: bool) -> Span {
        let purpose = if preempt { "delay of preemption" } else { "delay of cancellation" };
        match self.dispatch {
            DelayLaw::Constant(span) => span,
            law => law.draw(self.seed, fnv1a(purpose), action.0),
        }
    }

    /// How long an action's result takes to the policy.
    #[inline]
    pub fn of_result(&self, action: ActionId) -> Span {
        self.result.draw(self.seed, const { fnv1a("delay of result") }, action.0)
    }

    /// How long a batch's answers take to the clients.
    #[inline]
    pub fn of_reply(&self, action: ActionId) -> Span {
        self.reply.draw(self.seed, const { fnv1a("delay of reply") }, action.0)
    }
}

/// The profiler that measures finished requests alone, off the critical path (Orloj, §3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profiler {
    /// Every n-th request (by id) is measured.
    pub every: u64,
    /// How long after its end the policy learns of it.
    pub delay: Span,
}

/// What the core is told.
#[derive(Clone, Debug)]
pub enum Input {
    /// The run begins.
    Start,
    /// A request arrives.
    Arrive(SourceId, Arrival),
    /// The device ended the action that it was running; it computed for `device`.
    Ended {
        /// The action.
        action: ActionId,
        /// Time spent computing, fetching left out; where batches share the device, the time alone.
        device: Span,
    },
    /// A wake-up that the core asked for.
    Wake(Wake),
    /// A device was added (the driver's answer to a provision) or changes by itself.
    Device(DeviceChange),
}

/// A change of the cluster from outside.
#[derive(Clone, Debug, PartialEq)]
pub enum DeviceChange {
    /// A new device is up.
    Added(DeviceSpec),
    /// A device finishes what it has and goes.
    Drain(DeviceId),
    /// A device is gone at once; what ran is lost.
    Fail(DeviceId),
}

impl Input {
    /// Its place among the events of one instant.
    pub fn rank(&self) -> u64 {
        match self {
            Input::Start => rank(11, 0),
            Input::Ended { action, .. } => rank_of_result(*action),
            Input::Wake(wake) => wake.rank(),
            Input::Device(_) => rank_of_device_change(0),
            Input::Arrive(source, _) => rank_of_arrival(*source),
        }
    }
}

/// What the core wants to be woken for. A driver treats equal values as one wake-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wake {
    /// An action reaches its device.
    Deliver(ActionId),
    /// A cancellation (or, if `true`, a preemption) reaches the device.
    Stop(ActionId, bool),
    /// An action's result reaches the policy.
    Report(ActionId),
    /// An action's answers reach the clients.
    Reply(ActionId),
    /// An executor's next action may start.
    Window(DeviceId, u8),
    /// A draining device is idle.
    Gone(DeviceId),
    /// The profiler's measurement reaches the policy.
    Profiled(RequestId, AppId, ModelId, Span),
    /// A timer of the policy.
    Timer(TimerKey),
}

impl Wake {
    /// Its place among the events of one instant (rule 1): device results, then device changes,
    /// arrivals, timers; each by id or key.
    pub fn rank(self) -> u64 {
        match self {
            Wake::Deliver(a) => rank(1, a.0),
            Wake::Stop(a, _) => rank(2, a.0),
            Wake::Report(a) => rank(3, a.0),
            Wake::Reply(a) => rank(4, a.0),
            Wake::Window(d, lane) => rank(5, u64::from(d.0) << 8 | u64::from(lane)),
            Wake::Gone(d) => rank(6, u64::from(d.0)),
            Wake::Profiled(r, ..) => rank(8, r.0),
            Wake::Timer(key) => rank(10, key.0),
        }
    }
}

/// The rank of a device's result among the events of one instant: before all else.
pub fn rank_of_result(action: ActionId) -> u64 {
    rank(0, action.0)
}

/// The rank of a change of the cluster that the driver planned.
pub fn rank_of_device_change(number: u64) -> u64 {
    rank(7, number)
}

/// The rank of an arrival: after devices, before timers.
pub fn rank_of_arrival(source: SourceId) -> u64 {
    rank(9, u64::from(source.0))
}

/// The kinds of inputs, by the class of their rank.
const KINDS: [&str; 12] = [
    "result", "delivery", "stop", "report", "reply", "window", "gone", "change", "profiled",
    "arrival", "timer", "start",
];

/// The kind of what has a rank, and its id or key.
pub fn kind_of_rank(rank: u64) -> (&'static str, u64) {
    let kind = KINDS.get((rank >> 56) as usize).copied().unwrap_or("unknown");
    (kind, rank & ((1 << 56) - 1))
}

/// The rank of that kind; none where there is no such kind or key.
pub fn rank_of_kind(kind: &str, key: u64) -> Option<u64> {
    let class = KINDS.iter().position(|k| *k == kind)?;
    (key < 1 << 56).then(|| rank(class as u64, key))
}

fn rank(class: u64, key: u64) -> u64 {
    debug_assert!(key < 1 << 56, "key {key} does not fit");
    class << 56 | key
}

/// An action that a device begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begin {
    /// The action.
    pub action: ActionId,
    /// Where.
    pub device: DeviceId,
    /// The device's kind.
    pub kind: u32,
    /// How fast its batches are beside one another.
    pub sharing: Sharing,
    /// On which executor: a lane, or the one for loads.
    pub executor: u8,
    /// The device is busy this long before it computes.
    pub fetch: Span,
    /// What it does.
    pub work: BeginWork,
}

/// The work of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeginWork {
    /// A batch.
    Batch {
        /// Its model.
        model: ModelId,
        /// Items computed, padding included.
        units: u32,
        /// The longest of its requests' execution times alone: the truth.
        longest: Span,
        /// The sum of these times: what an engine without padding pays for.
        total: Span,
        /// Its first request: keys the noise.
        first: RequestId,
    },
    /// A copy of a model's weights.
    Load {
        /// The model.
        model: ModelId,
        /// How long the copy takes on a reference link.
        time: Span,
    },
}

/// What the core asks of its driver.
pub trait Host {
    /// A device begins an action now; the driver will say [`Input::Ended`].
    fn begin(&mut self, now: Time, begin: &Begin);
    /// A running action is stopped; its `Ended` must not come.
    fn abort(&mut self, now: Time, action: ActionId, device: DeviceId, executor: u8);
    /// Wake the core at `at`; an equal wake-up that is still due is moved.
    fn wake(&mut self, at: Time, wake: Wake);
    /// Forget a wake-up if it is still due.
    fn unwake(&mut self, wake: Wake);
    /// A request ended; closed-loop clients react.
    fn reply(&mut self, request: &Request, now: Time, end: End);
    /// The policy asks for devices. A driver that cannot give any ignores it.
    fn provision(&mut self, now: Time, kind: u32, count: u32) {
        let _ = (now, kind, count);
    }
}
