//! The core's host on a wall clock: its queue of wake-ups, its sources, and its devices.

use super::Rig;
use super::crew::{Crew, Report};
use super::lateness::Recorder;
use crate::device::{Description, DeviceError, Job, Ran, Stop, Work};
use orrery_sim::cluster::DeviceSpec;
use orrery_sim::core::{self, Begin, DeviceChange, Host, Input, Wake};
use orrery_sim::driver::World;
use orrery_sim::event_queue::{EventQueue, Handle};
use orrery_sim::request::{ActionId, Arrival, DeviceId, End, ModelId, Request, Source, SourceId};
use orrery_sim::time::{Span, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What was measured of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The action.
    pub action: ActionId,
    /// Where it ran.
    pub device: DeviceId,
    /// On which executor.
    pub executor: u8,
    /// It was a load; otherwise a batch.
    pub load: bool,
    /// Its model.
    pub model: ModelId,
    /// Items computed; 0 for a load.
    pub units: u32,
    /// The longest of its requests' execution times alone, as the workload says.
    pub longest: Span,
    /// When the policy issued it; for a load, when the controller began it.
    pub issued: Time,
    /// It was not to start before.
    pub earliest: Time,
    /// When the controller began it.
    pub began: Time,
    /// When the worker began it.
    pub start: Time,
    /// When the worker had its result.
    pub end: Time,
    /// Time on the device, by its own clock.
    pub device_time: Span,
    /// What the host took away from the device's thread meanwhile.
    pub away: Span,
    /// What the prediction's model says of this very batch, without noise.
    pub predicted: Span,
    /// It was stopped before its end.
    pub stopped: bool,
    /// The controller learned of its end after so many inputs.
    pub learned: u64,
}

/// An input as the controller handled it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handled {
    /// When it was due.
    pub due: Time,
    /// When the controller handled it.
    pub at: Time,
    /// What it was ([`Input::rank`]).
    pub rank: u64,
}

/// A fault that a test puts in, to see it found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// Within an instant, results come after arrivals.
    ResultsAfterArrivals,
    /// An executor's window opens a nanosecond late.
    LateWindows,
    /// Setting a live timer does not move it.
    TimersStay,
}

pub(super) enum Due {
    Ended(ActionId, DeviceId, u8, Span),
    Wake(Wake),
    Change(DeviceChange),
}

/// A job that a worker has.
struct Out {
    job: Job,
    stop: Arc<Stop>,
    /// It was reported, and its end is in the queue.
    reported: Option<Handle>,
}

struct Client<'w> {
    source: Box<dyn Source + 'w>,
    next: Option<Time>,
    reacts: bool,
}

pub(super) struct WallHost<'w, 'scope, 'env> {
    world: &'w World,
    pub crew: Crew<'scope, 'env>,
    rig: &'env mut Rig<'env>,
    pub queue: EventQueue<Due>,
    /// By device and executor: what the core holds to be running there.
    out: BTreeMap<(DeviceId, u8), Out>,
    /// Stopped jobs whose worker has not said so yet.
    stopping: BTreeMap<ActionId, Job>,
    windows: BTreeMap<(DeviceId, u8), Handle>,
    timers: BTreeMap<u64, Handle>,
    clients: Vec<Client<'w>>,
    pub descriptions: Vec<Description>,
    actions: Vec<Measured>,
    /// What was handled so far.
    pub inputs: Vec<Handled>,
    pub late: Recorder,
    pub failed: Option<DeviceError>,
    pub busy: Span,
    mutation: Option<Mutation>,
}

impl<'w, 'scope, 'env> WallHost<'w, 'scope, 'env> {
    pub fn new(
        world: &'w World,
        sources: Vec<Box<dyn Source + 'w>>,
        crew: Crew<'scope, 'env>,
        rig: &'env mut Rig<'env>,
        mutation: Option<Mutation>,
    ) -> Self {
        let mut queue = EventQueue::new();
        for (number, (at, change)) in world.changes.iter().enumerate() {
            let rank = core::rank_of_device_change(number as u64);
            queue.schedule(*at, rank, Due::Change(change.clone()));
        }
        let client = |mut source: Box<dyn Source + 'w>| Client {
            next: source.peek(),
            reacts: source.is_closed_loop(),
            source,
        };
        WallHost {
            world,
            crew,
            rig,
            queue,
            out: BTreeMap::new(),
            stopping: BTreeMap::new(),
            windows: BTreeMap::new(),
            timers: BTreeMap::new(),
            clients: sources.into_iter().map(client).collect(),
            descriptions: Vec::new(),
            actions: Vec::new(),
            inputs: Vec::new(),
            late: Recorder::default(),
            failed: None,
            busy: Span::ZERO,
            mutation,
        }
    }

    /// Opens a device and gives its workers their threads.
    pub fn hire(&mut self, id: DeviceId, spec: &DeviceSpec) -> Result<(), DeviceError> {
        let mut device = (self.rig)(id, spec)?;
        // Its workers are a part of what it says of itself: what multiplies matrices is known then.
        let workers = device.workers(spec.lanes)?;
        let description = device.describe();
        if spec.can_preempt && !description.can_preempt {
            let (doing, said) = (
                format!("opening it as {id}"),
                "the scenario's device can preempt, and this one cannot",
            );
            let remedy = "remove `can_preempt` from the scenario, or let the device work in chunks";
            return Err(DeviceError::new(&description.device, &doing, said, remedy));
        }
        self.crew.hire(id, workers);
        self.descriptions.push(description);
        Ok(())
    }

    /// Ends the workers, and gives what was measured of actions.
    pub fn dismiss(mut self) -> Vec<Measured> {
        for ((device, executor), out) in &self.out {
            self.crew.stop(*device, *executor, &out.stop);
        }
        self.take_reports();
        drop(self.crew);
        self.actions
    }

    /// Jobs whose end is still to come.
    pub fn jobs_out(&self) -> usize {
        self.out.len()
    }

    pub fn source_failure(&mut self) -> Option<String> {
        self.clients.iter_mut().find_map(|c| c.source.failure())
    }

    pub fn next_arrival(&self) -> Option<(Time, SourceId)> {
        let nexts = self.clients.iter().enumerate();
        nexts.filter_map(|(i, c)| Some((c.next?, SourceId(i as u32)))).min()
    }

    pub fn take(&mut self, source: SourceId) -> Arrival {
        let client = &mut self.clients[source.index()];
        let arrival = client.source.pop().expect("a source gives what it shows");
        client.next = client.source.peek();
        arrival
    }

    /// Puts the ends that workers have reported into the queue.
    pub fn take_reports(&mut self) {
        while let Some(Report { action, device, executor, result }) = self.crew.report() {
            match result {
                Ok(ran) => self.reported(action, device, executor, &ran),
                Err(e) => {
                    self.failed.get_or_insert(e);
                }
            }
        }
    }

    fn reported(&mut self, action: ActionId, device: DeviceId, executor: u8, ran: &Ran) {
        if let Some(job) = self.stopping.remove(&action) {
            return self.measured(&job, ran);
        }
        let at_its_place = self.out.get(&(device, executor)).filter(|o| o.job.action == action);
        let Some(job) = at_its_place.map(|o| o.job) else { return };
        self.measured(&job, ran);
        self.late.launches.push((ran.start - job.began).ns());
        let rank = match self.mutation {
            Some(Mutation::ResultsAfterArrivals) => core::rank_of_arrival(SourceId(u32::MAX)),
            _ => core::rank_of_result(action),
        };
        let end = Due::Ended(action, device, executor, ran.device);
        let handle = self.queue.schedule(ran.end, rank, end);
        if let Some(out) = self.out.get_mut(&(device, executor)) {
            out.reported = Some(handle);
        }
    }

    fn measured(&mut self, job: &Job, ran: &Ran) {
        let law = |model: ModelId| &self.world.latency[job.kind as usize][model.index()];
        let (load, model, units, longest, predicted) = match job.work {
            Work::Batch { model, units, longest, .. } => {
                (false, model, units, longest, law(model).batch(units, longest))
            }
            Work::Load { model, time } => (true, model, 0, time, time),
        };
        self.actions.push(Measured {
            action: job.action,
            device: job.device,
            executor: job.executor,
            load,
            model,
            units,
            longest,
            issued: job.began,
            earliest: Time::ZERO,
            began: job.began,
            start: ran.start,
            end: ran.end,
            device_time: ran.device,
            away: ran.away,
            predicted,
            stopped: ran.stopped,
            learned: self.inputs.len() as u64,
        });
    }

    pub fn input(&mut self, due: Due) -> Input {
        match due {
            Due::Ended(action, device, executor, time) => {
                self.out.remove(&(device, executor));
                Input::Ended { action, device: time }
            }
            Due::Wake(wake) => {
                match wake {
                    Wake::Timer(key) => {
                        self.timers.remove(&key.0);
                    }
                    Wake::Window(device, executor) => {
                        self.windows.remove(&(device, executor));
                    }
                    _ => {}
                }
                Input::Wake(wake)
            }
            Due::Change(DeviceChange::Added(spec)) => {
                // The core will give it this number.
                let id = DeviceId(self.descriptions.len() as u32);
                if let Err(e) = self.hire(id, &spec) {
                    self.failed.get_or_insert(e);
                }
                Input::Device(DeviceChange::Added(spec))
            }
            Due::Change(change) => Input::Device(change),
        }
    }

    /// Moves the wake-up behind a handle, or schedules a new one.
    fn arm(&mut self, live: Option<Handle>, at: Time, wake: Wake) -> Option<Handle> {
        if let Some(handle) = live
            && self.queue.reschedule(handle, at, wake.rank())
        {
            return None;
        }
        Some(self.queue.schedule(at, wake.rank(), Due::Wake(wake)))
    }
}

impl Host for WallHost<'_, '_, '_> {
    fn begin(&mut self, now: Time, begin: &Begin) {
        let job = Job {
            action: begin.action,
            device: begin.device,
            kind: begin.kind,
            executor: begin.executor,
            began: now,
            fetch: begin.fetch,
            work: begin.work,
        };
        let stop = self.crew.send(job);
        self.out.insert((begin.device, begin.executor), Out { job, stop, reported: None });
    }

    fn abort(&mut self, _now: Time, _action: ActionId, device: DeviceId, executor: u8) {
        let Some(out) = self.out.remove(&(device, executor)) else { return };
        match out.reported {
            // It had ended, and the core had not been told.
            Some(end) => {
                self.queue.cancel(end);
            }
            None => {
                self.crew.stop(device, executor, &out.stop);
                self.stopping.insert(out.job.action, out.job);
            }
        }
    }

    fn wake(&mut self, at: Time, wake: Wake) {
        match wake {
            Wake::Timer(key) => {
                let live = self.timers.get(&key.0).copied();
                if self.mutation == Some(Mutation::TimersStay) && live.is_some() {
                    return;
                }
                if let Some(handle) = self.arm(live, at, wake) {
                    self.timers.insert(key.0, handle);
                }
            }
            Wake::Window(device, executor) => {
                let late = u64::from(self.mutation == Some(Mutation::LateWindows));
                let live = self.windows.get(&(device, executor)).copied();
                if let Some(handle) = self.arm(live, at + Span::from_ns(late), wake) {
                    self.windows.insert((device, executor), handle);
                }
            }
            _ => {
                self.queue.schedule(at, wake.rank(), Due::Wake(wake));
            }
        }
    }

    fn unwake(&mut self, wake: Wake) {
        let handle = match wake {
            Wake::Timer(key) => self.timers.remove(&key.0),
            Wake::Window(device, executor) => self.windows.remove(&(device, executor)),
            _ => None,
        };
        if let Some(handle) = handle {
            self.queue.cancel(handle);
        }
    }

    fn reply(&mut self, request: &Request, now: Time, end: End) {
        let client = &mut self.clients[request.source.index()];
        if client.reacts {
            client.source.on_reply(request, now, end);
            client.next = client.source.peek();
        }
    }

    fn provision(&mut self, now: Time, kind: u32, count: u32) {
        if let Some((spec, delay)) = self.world.provision.get(kind as usize) {
            for _ in 0..count {
                let change = Due::Change(DeviceChange::Added(spec.clone()));
                self.queue.schedule(now + *delay, core::rank_of_device_change(1 << 32), change);
            }
        }
    }
}
