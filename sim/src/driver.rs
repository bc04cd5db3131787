//! The virtual-time driver: the core's host with a future-event list instead of a clock.
//!
//! Arrivals are never queued: each source shows its next one, and the loop takes whichever comes
//! first in the total order (time, then [`rank`](crate::core::rank_of_arrival)). So memory does not
//! depend on the length of the trace. An arrival that a closed-loop client makes at `now` is an
//! arrival of that instant like any other: it comes before timers that are due, never before what
//! has been handled already.
//!
//! A run is over when no source has an arrival, every request has ended and every batch is reported:
//! timers that a policy still has set, its loads and planned changes of the cluster make it no longer.
//! So what is measured ends with the last answer, whoever goes on watching.
//!
//! Time ends at [`Time::NEVER`]. A run whose next event is due there stops and fails, unless it was
//! to be stopped before.

mod due;
mod ends;
mod failure;
mod machine;
pub mod ready;
mod shared;
#[cfg(test)]
mod tests;
mod timers;

pub use failure::Failure;
pub use machine::{Machine, Next, Took};

use crate::cluster::{DeviceSpec, Sharing};
use crate::core::{self, Begin, BeginWork, Core, CoreSpec, DeviceChange, Host, Input, Wake};
use crate::event_queue::{EventQueue, Handle, Place};
use crate::latency::{BatchNoise, Latency, Noise};
use crate::observer::Observer;
use crate::ordered::SortedMap;
use crate::policy::Policy;
use crate::request::{self, ActionId, DeviceId, Request, Source, SourceId};
use crate::stalls::{Calendar, CoreOf, Stalls};
use crate::time::{Span, Time};
use due::Due;
use ends::{End, Ends};
use shared::Shared;
use std::sync::Arc;
use timers::Timers;

/// Everything about a run but its policy, its workload and its observer.
///
/// ```
/// use orrery_sim::cluster::DeviceSpec;
/// use orrery_sim::driver::{World, simulate};
/// use orrery_sim::latency::Latency;
/// use orrery_sim::metrics::Metrics;
/// use orrery_sim::policy::fifo::{Config, Fifo};
/// use orrery_sim::request::{AppId, Arrival, ModelId, VecSource};
/// use orrery_sim::time::{Span, Time};
///
/// // Two devices, and messages to them that take 1 ms.
/// let (at, ms) = (Time::ZERO, Span::from_ms);
/// let mut world = World::single(Latency::Affine { alpha: ms(2), beta: ms(8) });
/// world.core.devices = vec![DeviceSpec::default(); 2];
/// world.core.delays.dispatch = ms(1).into();
/// let request = Arrival { at, app: AppId(0), model: ModelId(0), size: 1, slo: ms(20), alone: ms(1) };
/// let source = Box::new(VecSource::new(vec![request; 2]));
/// let fifo = Fifo::new(Config { max_batch: 1, drop_expired: false });
/// let run = simulate(&world, vec![source], fifo, Metrics::default());
/// assert_eq!(run.end, Time::ZERO + ms(11));
/// ```
#[derive(Clone, Debug, Default)]
pub struct World {
    /// Devices, models' footprints, delays, profiler.
    pub core: CoreSpec,
    /// The truth: latency by kind of device, then by model.
    pub latency: Vec<Vec<Latency>>,
    /// Noise on latencies.
    pub noise: Noise,
    /// What was measured of each model's noise, besides; empty where nothing was.
    pub batch_noise: Vec<BatchNoise>,
    /// Noise on the times of loads; nothing by default.
    pub load_noise: BatchNoise,
    /// Times at which the host takes a core away.
    pub stalls: Stalls,
    /// What the machine did, where that is known: in place of stalls and shared devices.
    pub machine: Option<Arc<dyn Machine>>,
    /// Changes of the cluster, planned from outside, in order of time.
    pub changes: Vec<(Time, DeviceChange)>,
    /// What a provisioned device of each kind is, and how long it takes to come up.
    pub provision: Vec<(DeviceSpec, Span)>,
    /// Stop at this instant even if work remains; `None` runs until every request has ended.
    pub until: Option<Time>,
}

impl World {
    /// One device and one model of that latency, no delays.
    pub fn single(latency: Latency) -> World {
        World {
            core: CoreSpec {
                devices: vec![DeviceSpec::default()],
                models: vec![Default::default()],
                ..CoreSpec::default()
            },
            latency: vec![vec![latency]],
            ..World::default()
        }
    }
}

/// What a run leaves behind.
pub struct Finished<P, O> {
    /// The policy in its last state.
    pub policy: P,
    /// The observer.
    pub observer: O,
    /// When the last event happened, or the instant at which the run was stopped.
    pub end: Time,
    /// Inputs that the core handled: arrivals, results, wake-ups.
    pub events: u64,
    /// Why the run is not whole, if it is not.
    pub failure: Option<Failure>,
}

struct VirtualHost<'w> {
    world: &'w World,
    queue: EventQueue<Due>,
    ends: Ends,
    /// The wake-up at which an executor's window opens.
    windows: SortedMap<(DeviceId, u8), Option<Handle>>,
    shared: Shared,
    timers: Timers,
    sources: Vec<SourceSlot<'w>>,
    /// The first of what the sources show.
    arrival: Option<(Time, SourceId)>,
    /// Stalls of the host, if its law has any.
    stalls: Option<Calendar>,
    /// Results of which a known machine's controller has not learned yet.
    unseen: SortedMap<(u64, u64), (Time, ActionId, DeviceId, Span)>,
    /// The last input was handled then: with stalls later than it was due.
    handled: Time,
}

struct SourceSlot<'w> {
    source: Box<dyn Source + 'w>,
    next: Option<Time>,
    reacts: bool,
}

/// Events without an arrival or an end of a request, after which a run that could go on for ever stops.
/// Tests wait for fewer.
const STUCK_AFTER: u64 = if cfg!(test) { 100_000 } else { 10_000_000 };

/// When requests last arrived or ended.
#[derive(Default)]
struct Progress {
    since: Time,
    events: u64,
    /// Requests that have arrived, and that are alive.
    requests: (u64, u64),
}

impl Progress {
    /// Whether requests have stood still for too many events.
    fn is_stuck(&mut self, events: u64, now: Time, requests: (u64, u64)) -> bool {
        if requests != self.requests {
            *self = Progress { since: now, events, requests };
        }
        events - self.events >= STUCK_AFTER
    }
}

/// Runs a policy over a workload in virtual time.
pub fn simulate<'w, P: Policy, O: Observer>(
    world: &'w World,
    sources: Vec<Box<dyn Source + 'w>>,
    policy: P,
    observer: O,
) -> Finished<P, O> {
    let mut core = Core::new(world.core.clone(), policy, observer);
    let mut host = VirtualHost::new(world, sources);
    let mut events = 1;
    let rank = || Input::Start.rank();
    let start = host.known(Time::ZERO, Time::ZERO, events, rank).unwrap_or(Time::ZERO);
    core.handle(start, Input::Start, &mut host);
    let (end, failure) = run(&mut core, &mut host, &mut events);
    let of_source = host.sources.iter_mut().find_map(|s| s.source.failure());
    let failure = failure.or(of_source.map(Failure::Source));
    let (policy, observer) = core.finish(end);
    Finished { policy, observer, end, events, failure }
}

/// Handles what is due until the run is over: when that is, and why the run is not whole. `events` counts.
#[inline(always)]
fn run<P: Policy, O: Observer>(
    core: &mut Core<P, O>,
    host: &mut VirtualHost<'_>,
    events: &mut u64,
) -> (Time, Option<Failure>) {
    let world = host.world;
    let mut progress = Progress::default();
    let until = world.until.unwrap_or(Time::NEVER);
    loop {
        if core.seen_enough() {
            return (host.now(), None);
        }
        if host.arrival.is_none() {
            let books = core.books();
            if books.alive() == 0 {
                return (host.now(), None);
            }
            let requests = (books.arrived(), books.alive());
            if world.until.is_none() && progress.is_stuck(*events, host.now(), requests) {
                let (requests, since, now) = (books.alive(), progress.since, host.now());
                return (now, Some(Failure::Stuck { requests, since, now }));
            }
        }
        host.learn(*events);
        let due = host.peek();
        let place = |(at, source)| Place::new(at, core::rank_of_arrival(source));
        let arrival = host.arrival.filter(|&arrival| place(arrival) < due);
        let at = arrival.map_or(due.time(), |arrival| arrival.0);
        if arrival.is_none() && due == Place::NONE {
            return (host.now(), None);
        }
        if at > until {
            return (until, None);
        }
        if at == Time::NEVER {
            let end = host.now();
            return (end, Some(host.after_the_end(arrival, core.books().arrived())));
        }
        let now = host.reached(at);
        if now > until {
            // It is due in time, and the controller is away until the run is over.
            return (until, None);
        }
        *events += 1;
        if let Some((_, source)) = arrival {
            host.queue.begin(at);
            let arrival = host.take(source);
            let rank = || core::rank_of_arrival(source);
            let Some(now) = host.known(now, at, *events, rank) else { return (host.now(), None) };
            core.handle(now, Input::Arrive(source, arrival), host);
            continue;
        }
        let what = host.pop(due);
        let Some(now) = host.known(now, at, *events, || what.rank()) else {
            return (host.now(), None);
        };
        match what {
            Due::Ended(action, on, device) => {
                host.shared.leave(now, action, on, &mut host.queue);
                core.handle(now, Input::Ended { action, device }, host);
            }
            Due::Wake(wake) => core.handle(now, Input::Wake(wake), host),
            Due::Change(change) => core.handle(now, Input::Device(*change), host),
        }
    }
}

impl<'w> VirtualHost<'w> {
    fn new(world: &'w World, sources: Vec<Box<dyn Source + 'w>>) -> Self {
        let mut queue = EventQueue::new();
        for (number, (at, change)) in world.changes.iter().enumerate() {
            let rank = core::rank_of_device_change(number as u64);
            queue.schedule(*at, rank, Due::Change(Box::new(change.clone())));
        }
        let slots = sources
            .into_iter()
            .map(|mut source| SourceSlot {
                next: source.peek(),
                reacts: source.is_closed_loop(),
                source,
            })
            .collect();
        let mut host = VirtualHost {
            world,
            queue,
            ends: Ends::default(),
            windows: SortedMap::default(),
            shared: Shared::default(),
            timers: Timers::default(),
            sources: slots,
            arrival: None,
            stalls: (!world.stalls.is_none()).then(|| Calendar::new(world.stalls.clone())),
            unseen: SortedMap::default(),
            handled: Time::ZERO,
        };
        host.look_at_sources();
        host
    }

    /// When the controller handles what is due at `at`: at the end of a stall of its core, and after
    /// what it handled before.
    #[inline]
    fn reached(&mut self, at: Time) -> Time {
        let Some(stalls) = &mut self.stalls else { return at };
        self.handled = stalls.advance(CoreOf::CONTROLLER, at.max(self.handled), Span::ZERO);
        self.handled
    }

    /// An action ends at that instant if it is not stopped before.
    #[inline(always)]
    fn ends_at(&mut self, at: Time, action: ActionId, device: DeviceId, busy: Span) {
        let place = self.queue.stamp(at, core::rank_of_result(action));
        self.ends.push(End { place, action, device, busy });
    }

    fn now(&self) -> Time {
        self.queue.now().max(self.handled)
    }

    /// What a source shows has changed.
    #[inline]
    fn look_at_sources(&mut self) {
        if let [only] = &self.sources[..] {
            self.arrival = only.next.map(|at| (at, SourceId(0)));
            return;
        }
        let shown = self.sources.iter().zip(0..);
        let shown = shown.filter_map(|(slot, number)| Some((slot.next?, SourceId(number))));
        self.arrival = shown.min_by_key(|&(at, _)| at);
    }

    /// The failure of a run whose next event is due at the end of time.
    #[cold]
    fn after_the_end(&mut self, arrival: Option<(Time, SourceId)>, requests: u64) -> Failure {
        if let Some((_, source)) = arrival {
            return Failure::ArrivalAfterEnd { source, requests };
        }
        let now = self.queue.now();
        let what = self.pop(self.peek()).to_string();
        Failure::EventAfterEnd { what, now }
    }

    #[inline(always)]
    fn take(&mut self, source: SourceId) -> crate::request::Arrival {
        let slot = &mut self.sources[source.index()];
        let arrival = slot.source.pop().expect("a source gives what it shows");
        slot.next = slot.source.peek();
        self.look_at_sources();
        arrival
    }

    /// The place of what is due next, but for arrivals.
    #[inline]
    fn peek(&self) -> Place {
        let beside = self.ends.first().min(self.timers.first());
        self.queue.peek().map_or(beside, |queued| queued.min(beside))
    }

    /// Takes what is due next, which stands at that place, and begins its instant. The handles of windows are left
    /// where they are: a stale one is recognised.
    #[inline(always)]
    fn pop(&mut self, due: Place) -> Due {
        if due == self.ends.first() {
            self.queue.begin(due.time());
            let End { action, device, busy, .. } = self.ends.pop().expect("the first end");
            return Due::Ended(action, device, busy);
        }
        if due == self.timers.first() {
            self.queue.begin(due.time());
            let key = self.timers.pop().expect("the first timer is set");
            return Due::Wake(Wake::Timer(key));
        }
        let (_, due) = self.queue.pop().expect("something is due");
        if let Due::Wake(Wake::Timer(key)) = due {
            self.timers.gone_off(key);
        }
        due
    }
}

impl Host for VirtualHost<'_> {
    #[inline(always)]
    fn begin(&mut self, now: Time, begin: &Begin) {
        let busy = match begin.work {
            BeginWork::Batch { model, units, longest, first, .. } => {
                let law = &self.world.latency[begin.kind as usize][model.index()];
                let busy = self.world.noise.apply(law.of_batch(units, longest, first), first.0);
                match self.world.batch_noise.get(model.index()) {
                    Some(noise) => noise.apply(busy, first.0),
                    None => busy,
                }
            }
            BeginWork::Load { time, .. } => {
                self.world.load_noise.apply_to_load(time, begin.action.0)
            }
        };
        let &Begin { action, device, .. } = begin;
        if let Some(machine) = &self.world.machine {
            let Some(took) = machine.takes(now, begin, busy) else { return };
            match took.learned {
                None => self.ends_at(took.end, action, device, took.device),
                Some(learned) => {
                    self.unseen.insert(learned, (took.end, action, device, took.device));
                }
            }
            return;
        }
        if begin.sharing == Sharing::Processor && matches!(begin.work, BeginWork::Batch { .. }) {
            let due = Due::Ended(action, device, busy);
            return self.shared.begin(now, begin, begin.fetch + busy, due, &mut self.queue);
        }
        let at = match &mut self.stalls {
            None => now + begin.fetch + busy,
            Some(stalls) => {
                let core = CoreOf::executor(device.0, begin.executor);
                stalls.advance(core, now, begin.fetch + busy)
            }
        };
        self.ends_at(at, action, device, busy);
    }

    fn abort(&mut self, now: Time, action: ActionId, device: DeviceId, _: u8) {
        let unseen = self.unseen.len();
        self.unseen.retain(|_, due| due.1 != action);
        if !self.shared.leave(now, action, device, &mut self.queue) && unseen == self.unseen.len() {
            self.ends.stop(action);
        }
    }

    fn wake(&mut self, at: Time, wake: Wake) {
        let rank = wake.rank();
        match wake {
            Wake::Timer(key) => self.timers.set(&mut self.queue, at, key),
            Wake::Window(device, executor) => {
                let window = self.windows.get_or_default((device, executor));
                self.queue.set(window, at, rank, Due::Wake(wake));
            }
            _ => {
                self.queue.schedule(at, rank, Due::Wake(wake));
            }
        }
    }

    fn unwake(&mut self, wake: Wake) {
        match wake {
            Wake::Timer(key) => self.timers.clear(&mut self.queue, key),
            Wake::Window(device, executor) => {
                let handle = self.windows.remove(&(device, executor)).flatten();
                handle.map(|handle| self.queue.cancel(handle));
            }
            _ => {}
        }
    }

    #[inline(always)]
    fn reply(&mut self, request: &Request, now: Time, end: request::End) {
        let slot = &mut self.sources[request.source.index()];
        if slot.reacts {
            // With stalls, what others sent before may still wait for the controller.
            let least = slot.next.map_or(now, |at| at.min(now));
            slot.source.on_reply(request, now, end);
            slot.next = slot.source.peek();
            assert!(
                slot.next.is_none_or(|at| at >= least),
                "a client sends before the reply it reacts to"
            );
            self.look_at_sources();
        }
    }

    fn provision(&mut self, now: Time, kind: u32, count: u32) {
        if let Some((spec, delay)) = self.world.provision.get(kind as usize) {
            for _ in 0..count {
                let change = Due::Change(Box::new(DeviceChange::Added(spec.clone())));
                self.queue.schedule(now + *delay, core::rank_of_device_change(1 << 32), change);
            }
        }
    }
}
