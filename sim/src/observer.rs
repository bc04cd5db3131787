//! What a run shows to whoever watches it: metrics, a log, a progress bar.
//!
//! An observer cannot change a run; it may end it. Two observers make one: `(Metrics, Log)`.

use crate::cluster::{Change, Sharing};
use crate::policy::{Expected, Outcome};
use crate::request::{ActionId, DeviceId, End, ModelId, Request, RequestId};
use crate::time::Time;

/// A batch as observers see it.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The action that carries it.
    pub action: ActionId,
    /// Where it goes.
    pub device: DeviceId,
    /// On which lane.
    pub lane: u8,
    /// How many lanes the device has.
    pub lanes: u8,
    /// How fast their batches are beside one another: a device is fully busy when all lanes are, or when any
    /// is that shares it.
    pub sharing: Sharing,
    /// Its model.
    pub model: ModelId,
    /// Its requests.
    pub requests: &'a [RequestId],
    /// Items that the device computes, padding included. A sum beyond the type saturates.
    pub units: u32,
    /// When the policy issued it.
    pub issued: Time,
    /// The window in which it may start.
    pub earliest: Time,
    /// The window in which it may start.
    pub latest: Time,
}

/// A copy of a model's weights to a device, as observers see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// The action that carries it.
    pub action: ActionId,
    /// Where the weights go.
    pub device: DeviceId,
    /// The model.
    pub model: ModelId,
    /// When the policy issued it.
    pub issued: Time,
    /// It may not start before.
    pub earliest: Time,
    /// It may not start after.
    pub latest: Time,
}

/// Watches a run. Every method does nothing unless it is written.
///
/// ```
/// use orrery_sim::driver::{World, simulate};
/// use orrery_sim::latency::Latency;
/// use orrery_sim::observer::{Batch, Observer};
/// use orrery_sim::policy::fifo::{Config, Fifo};
/// use orrery_sim::request::{AppId, Arrival, ModelId, VecSource};
/// use orrery_sim::time::{Span, Time};
///
/// /// How many requests each batch had.
/// #[derive(Default)]
/// struct BatchSizes(Vec<usize>);
///
/// impl Observer for BatchSizes {
///     fn began(&mut self, _now: Time, batch: &Batch<'_>) {
///         self.0.push(batch.requests.len());
///     }
/// }
///
/// let (at, ms) = (Time::ZERO, Span::from_ms(1));
/// let request = Arrival { at, app: AppId(0), model: ModelId(0), size: 1, slo: ms, alone: ms };
/// let world = World::single(Latency::Affine { alpha: ms, beta: ms });
/// let source = Box::new(VecSource::new(vec![request; 6]));
/// let fifo = Fifo::new(Config { max_batch: 4, drop_expired: false });
/// let run = simulate(&world, vec![source], fifo, BatchSizes::default());
/// // The first finds the device free; the next four wait for it together.
/// assert_eq!(run.observer.0, [1, 4, 1]);
/// ```
#[allow(unused_variables)]
pub trait Observer {
    /// A request arrived. On a wall clock `now` is a little later than its arrival.
    fn arrived(&mut self, now: Time, request: &Request) {}
    /// The policy issued a batch.
    fn issued(&mut self, now: Time, batch: &Batch<'_>) {}
    /// A device began a batch.
    fn began(&mut self, now: Time, batch: &Batch<'_>) {}
    /// A batch came to its end; `start` is `None` when it never ran.
    fn closed(&mut self, now: Time, batch: &Batch<'_>, start: Option<Time>, outcome: Outcome) {}
    /// A request ended; `start` is when its last batch began.
    fn ended(&mut self, now: Time, request: &Request, end: End, start: Option<Time>) {}
    /// The policy issued a load.
    fn load_issued(&mut self, now: Time, load: &Load) {}
    /// A device began a load.
    fn load_began(&mut self, now: Time, load: &Load) {}
    /// A load came to its end; `start` is `None` when it never ran.
    fn load_closed(&mut self, now: Time, load: &Load, start: Option<Time>, outcome: Outcome) {}
    /// A model that was in a device's memory left it.
    fn unloaded(&mut self, now: Time, device: DeviceId, model: ModelId) {}
    /// The request that ends next was a cold start: no device had its model when it arrived, and one
    /// has it now.
    fn cold(&mut self, now: Time, request: &Request) {}
    /// A device came or went. Told for each device at the start too.
    fn device(&mut self, now: Time, device: DeviceId, change: Change) {}
    /// The policy asked for devices.
    fn provisioned(&mut self, now: Time, kind: u32, count: u32) {}
    /// Whether to ask the policy what it expects of its actions. Asked once, before the run; nothing but
    /// [`Observer::expected`] depends on it.
    fn wants_expected(&self) -> bool {
        false
    }
    /// What the policy expects of an action that it issues next. Told only when some observer wants it.
    fn expected(&mut self, now: Time, action: ActionId, expected: Expected) {}
    /// Whether to ask the policy for its reasons. Asked once, before the run; nothing but
    /// [`Observer::why`] depends on it.
    fn wants_reasons(&self) -> bool {
        false
    }
    /// Why the policy does at `now` what is told next of a request, in its words. Told only when
    /// some observer wants reasons.
    fn why(&mut self, now: Time, request: RequestId, text: &str) {}
    /// Whether it has seen enough: the run then ends where it is, as if it had been told to stop at that
    /// instant. What happened before is the same.
    fn stop(&self) -> bool {
        false
    }
    /// The run is over at `now`; requests still alive were told as [`End::Pending`] before.
    fn finished(&mut self, now: Time) {}
}

impl Observer for () {}

/// An observer that passes on all that it is told to each `$part`.
macro_rules! pass_on {
    ($self:ident, $($part:expr),+) => {
        #[inline(always)]
        fn arrived(&mut $self, now: Time, request: &Request) {
            $($part.arrived(now, request);)+
        }
        fn issued(&mut $self, now: Time, batch: &Batch<'_>) {
            $($part.issued(now, batch);)+
        }
        #[inline(always)]
        fn began(&mut $self, now: Time, batch: &Batch<'_>) {
            $($part.began(now, batch);)+
        }
        #[inline(always)]
        fn closed(&mut $self, now: Time, batch: &Batch<'_>, start: Option<Time>, outcome: Outcome) {
            $($part.closed(now, batch, start, outcome);)+
        }
        #[inline(always)]
        fn ended(&mut $self, now: Time, request: &Request, end: End, start: Option<Time>) {
            $($part.ended(now, request, end, start);)+
        }
        fn load_issued(&mut $self, now: Time, load: &Load) {
            $($part.load_issued(now, load);)+
        }
        fn load_began(&mut $self, now: Time, load: &Load) {
            $($part.load_began(now, load);)+
        }
        fn load_closed(&mut $self, now: Time, load: &Load, start: Option<Time>, outcome: Outcome) {
            $($part.load_closed(now, load, start, outcome);)+
        }
        fn unloaded(&mut $self, now: Time, device: DeviceId, model: ModelId) {
            $($part.unloaded(now, device, model);)+
        }
        fn cold(&mut $self, now: Time, request: &Request) {
            $($part.cold(now, request);)+
        }
        fn device(&mut $self, now: Time, device: DeviceId, change: Change) {
            $($part.device(now, device, change);)+
        }
        fn provisioned(&mut $self, now: Time, kind: u32, count: u32) {
            $($part.provisioned(now, kind, count);)+
        }
        fn wants_expected(&$self) -> bool {
            $($part.wants_expected())||+
        }
        fn expected(&mut $self, now: Time, action: ActionId, expected: Expected) {
            $($part.expected(now, action, expected);)+
        }
        fn wants_reasons(&$self) -> bool {
            $($part.wants_reasons())||+
        }
        fn why(&mut $self, now: Time, request: RequestId, text: &str) {
            $($part.why(now, request, text);)+
        }
        fn stop(&$self) -> bool {
            $($part.stop())||+
        }
        fn finished(&mut $self, now: Time) {
            $($part.finished(now);)+
        }
    };
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    pass_on!(self, self.0, self.1);
}

impl<O: Observer + ?Sized> Observer for &mut O {
    pass_on!(self, **self);
}
