//! The engine: what becomes of requests and actions, whatever policy decides.
//!
//! It carries an action through its stages (on its way, queued, running, closed), keeps the books and
//! tells the observer. It never calls a policy: the core does, before and after.

use super::books::{Books, Live};
use super::job::{Job, Order, Stage, Work};
use super::{Begin, BeginWork, CoreSpec, Delays, DeviceChange, Host, Profiler, View, Wake};
use crate::cluster::{Change, DeviceSpec, Devices, Footprint, Next, Running};
use crate::observer::Observer;
use crate::policy::{Exec, Outcome, Refusal};
use crate::request::{
    ActionId, Arrival, DeviceId, Drop, End, ModelId, Request, RequestId, SourceId,
};
use crate::table::Table;
use crate::time::{Span, Time};

/// See the module's text.
pub(super) struct Engine<O> {
    pub observer: O,
    pub books: Books,
    jobs: Table<Job>,
    devices: Devices,
    footprints: Vec<Footprint>,
    pub delays: Delays,
    /// None where the policy wants no profiles.
    profiler: Option<Profiler>,
    /// The policy's name, for what only a bug in it can cause.
    policy: String,
}

impl<O: Observer> Engine<O> {
    pub fn new(spec: CoreSpec, policy: String, profiles: bool, observer: O) -> Engine<O> {
        Engine {
            observer,
            books: Books::default(),
            jobs: Table::default(),
            devices: Devices::new(&spec.devices, spec.models.len()),
            footprints: spec.models,
            delays: spec.delays,
            profiler: spec.profiler.filter(|_| profiles),
            policy,
        }
    }

    /// What a policy sees.
    pub fn view(&self, sees_truth: bool) -> View<'_> {
        let Engine { devices, footprints, books, .. } = self;
        View { devices, footprints, books, sees_truth }
    }

    /// An action that has not been forgotten.
    pub fn job(&self, action: ActionId) -> &Job {
        self.jobs.get(action.0).expect("an action that is not forgotten")
    }

    pub fn show_devices(&mut self, now: Time) {
        for view in self.devices.views() {
            self.observer.device(now, view.id, view.state);
        }
    }

    /// Enters a request into the books.
    pub fn arrive(&mut self, now: Time, source: SourceId, arrival: &Arrival) -> RequestId {
        // On a wall clock `now` is a little later than the arrival, which is what counts.
        let &Arrival { at, app, model, size, slo, alone } = arrival;
        let (id, live) = self.books.live.claim();
        let id = RequestId(id);
        let request = Request { id, app, model, size, source, arrival: at, deadline: at + slo };
        *live = Live::new(request, alone, self.devices.lack(model));
        self.observer.arrived(now, &live.request);
        id
    }

    #[inline]
    pub fn exec(&mut self, now: Time, exec: Exec, requests: &[RequestId], host: &mut impl Host) {
        let Exec { device, lane, model, billed, earliest, latest } = exec;
        assert!(!requests.is_empty(), "{}: an empty batch", self.policy);
        let DeviceSpec { lanes, sharing, .. } = self.devices.get(device).spec;
        assert!(lane < lanes, "{}: {device} has no lane {lane}", self.policy);
        let mut size = 0u64;
        for &id in requests {
            let live = self.books.live.get_mut(id.0);
            let Some(live) = live.filter(|l| !l.ended && !l.held) else {
                panic!("{}: {id} is executed but has ended or is in flight", self.policy)
            };
            live.held = true;
            size += u64::from(live.request.size);
        }
        // It saturates: what readers admit is far below (see `SIZE_MAX`).
        let units = billed.max(u32::try_from(size).unwrap_or(u32::MAX));
        let work = Work::Batch { model, units };
        #[rustfmt::skip]
        let order = Order {
            device, lanes, sharing, executor: lane, work, issued: now, earliest, latest,
        };
        let (action, job) = self.jobs.claim();
        let action = ActionId(action);
        job.become_new(order, requests);
        self.observer.issued(now, &job.batch(action).expect("a batch"));
        self.send(now, action, host);
    }

    pub fn load(
        &mut self,
        now: Time,
        device: DeviceId,
        model: ModelId,
        (earliest, latest): (Time, Time),
        host: &mut impl Host,
    ) {
        let to = self.devices.get(device);
        let (lanes, sharing, executor) = (to.spec.lanes, to.spec.sharing, to.load_executor());
        let work = Work::Load { model };
        let order = Order { device, lanes, sharing, executor, work, issued: now, earliest, latest };
        let (action, job) = self.jobs.claim();
        let action = ActionId(action);
        job.become_new(order, &[]);
        self.observer.load_issued(now, &job.load(action).expect("a load"));
        self.send(now, action, host);
    }

    #[inline(always)]
    fn send(&mut self, now: Time, action: ActionId, host: &mut impl Host) {
        let delay = self.delays.of_dispatch(action);
        if delay == Span::ZERO {
            self.deliver(now, action, host);
        } else {
            host.wake(now + delay, Wake::Deliver(action));
        }
    }

    #[inline]
    pub fn deliver(&mut self, now: Time, action: ActionId, host: &mut impl Host) {
        let job = self.jobs.get_mut(action.0).expect("an action on its way");
        job.stage = Stage::Queued;
        let Order { device, executor, earliest, latest, .. } = job.order;
        let to = self.devices.get_mut(device);
        if to.state != Change::Up {
            return self.refuse(now, action, Refusal::DeviceDown, host);
        }
        let e = &mut to.executors[usize::from(executor)];
        if e.is_idle() && earliest <= now && now <= latest {
            // What it would do anyway, without the detour through the queue.
            return self.begin(now, action, host);
        }
        e.push(earliest, action, latest);
        self.advance(now, device, executor, host);
    }

    /// The window of an executor's next action opens.
    pub fn opens(&mut self, now: Time, device: DeviceId, executor: u8, host: &mut impl Host) {
        self.devices.get_mut(device).executors[usize::from(executor)].waiting_until = None;
        self.advance(now, device, executor, host);
    }

    /// Lets an executor do what it can at `now`: mostly nothing.
    #[inline(always)]
    fn advance(&mut self, now: Time, device: DeviceId, executor: u8, host: &mut impl Host) {
        let d = self.devices.get(device);
        if d.state == Change::Draining || !d.executors[usize::from(executor)].has_no_more() {
            self.go_on(now, device, executor, host);
        }
    }

    fn go_on(&mut self, now: Time, device: DeviceId, executor: u8, host: &mut impl Host) {
        loop {
            let e = &mut self.devices.get_mut(device).executors[usize::from(executor)];
            match e.step(now) {
                Next::Nothing => {
                    if e.waiting_until.take().is_some() {
                        host.unwake(Wake::Window(device, executor));
                    }
                    break;
                }
                Next::WaitUntil(at) => {
                    if e.waiting_until != Some(at) {
                        e.waiting_until = Some(at);
                        host.wake(at, Wake::Window(device, executor));
                    }
                    return;
                }
                Next::Refuse(action) => self.refuse(now, action, Refusal::Late, host),
                Next::Start(action) => self.begin(now, action, host),
            }
        }
        let d = self.devices.get(device);
        if d.state == Change::Draining && d.is_idle() {
            host.wake(now, Wake::Gone(device));
        }
    }

    #[inline(always)]
    fn begin(&mut self, now: Time, action: ActionId, host: &mut impl Host) {
        let job = self.jobs.get_mut(action.0).expect("a queued action");
        let Order { device, executor, work, .. } = job.order;
        let on = self.devices.get_mut(device);
        let (kind, sharing) = (on.spec.kind, on.spec.sharing);
        let mut fetch = Span::ZERO;
        let work = match work {
            Work::Batch { model, units } => {
                if !on.has_model(model) {
                    return self.refuse(now, action, Refusal::NotLoaded, host);
                }
                let (mut longest, mut total) = (Span::ZERO, Span::ZERO);
                for id in &job.requests {
                    let live = self.books.live.get_mut(id.0).expect("a held request is alive");
                    longest = longest.max(live.alone);
                    total += live.alone;
                    live.started = now;
                }
                fetch = self.delays.fetch_per_request * job.requests.len() as u64;
                BeginWork::Batch { model, units, longest, total, first: job.requests[0] }
            }
            Work::Load { model } => {
                let footprint = self.footprints[model.index()];
                // Copying a model that is already there takes no pages.
                job.reserved = if on.has_model(model) { 0 } else { footprint.pages };
                if !on.reserve(job.reserved) {
                    return self.refuse(now, action, Refusal::NoMemory, host);
                }
                BeginWork::Load { model, time: footprint.load }
            }
        };
        on.executors[usize::from(executor)].running = Some(Running { action, start: now });
        job.stage = Stage::Running;
        job.start = now;
        if let Some(batch) = job.batch(action) {
            self.observer.began(now, &batch);
        } else if let Some(load) = job.load(action) {
            self.observer.load_began(now, &load);
        }
        host.begin(now, &Begin { action, device, kind, sharing, executor, fetch, work });
    }

    fn refuse(&mut self, now: Time, action: ActionId, why: Refusal, host: &mut impl Host) {
        self.close(now, action, Outcome::Rejected(why));
        host.wake(now + self.delays.of_result(action), Wake::Report(action));
    }

    fn close(&mut self, now: Time, action: ActionId, outcome: Outcome) {
        let job = self.jobs.get_mut(action.0).expect("an open action");
        job.close(now, action, outcome, &mut self.observer);
    }

    /// A device has ended what it ran; the executor goes on with its next action, and the clients get
    /// their answers. The policy is told by the core.
    pub fn ended(&mut self, now: Time, action: ActionId, device_time: Span, host: &mut impl Host) {
        let job = self.jobs.get_mut(action.0).expect("a device ends what it runs");
        assert!(job.stage == Stage::Running, "{action} ended without running");
        let Order { device, executor, work, .. } = job.order;
        let on = self.devices.get_mut(device);
        on.executors[usize::from(executor)].running = None;
        if let Work::Load { model } = work {
            self.devices.loaded(device, model);
        }
        let is_batch = job.is_batch();
        job.messages = 1 + u8::from(is_batch);
        let outcome = Outcome::Done { start: job.start, end: now, device: device_time };
        job.close(now, action, outcome, &mut self.observer);
        self.advance(now, device, executor, host);
        if is_batch {
            let reply = self.delays.of_reply(action);
            if reply == Span::ZERO {
                self.reply(now, action, host);
            } else {
                host.wake(now + reply, Wake::Reply(action));
            }
        }
    }

    /// The clients of a finished batch have their answers.
    #[inline(always)]
    pub fn reply(&mut self, now: Time, action: ActionId, host: &mut impl Host) {
        let job = self.jobs.get_mut(action.0).expect("a finished action");
        job.messages -= 1;
        let last = job.messages == 0;
        for id in &job.requests {
            let live = self.books.live.get_mut(id.0).expect("a held request is alive");
            if live.ended {
                continue;
            }
            live.ended = true;
            live.answered = true;
            let request = &live.request;
            let end = if now <= request.deadline { End::InTime } else { End::Late };
            if live.lacked && !self.devices.lack(request.model) {
                self.observer.cold(now, request);
            }
            self.observer.ended(now, request, end, live.start());
            host.reply(request, now, end);
            if let Some(profiler) = self.profiler
                && id.0.is_multiple_of(profiler.every)
            {
                let measured = Wake::Profiled(*id, request.app, request.model, live.alone);
                host.wake(now + profiler.delay, measured);
            }
        }
        if last {
            self.forget(action);
        }
    }

    /// An action's result reaches the policy; whether no other message will name the action.
    #[inline(always)]
    pub fn reported(&mut self, action: ActionId) -> bool {
        let job = self.jobs.get_mut(action.0).expect("a closed action");
        job.messages -= 1;
        if !matches!(job.outcome, Outcome::Done { .. }) {
            // They belong to the policy again, which may run them in its very answer.
            job.requests.iter().for_each(|&id| self.books.release(id));
        }
        job.messages == 0
    }

    #[inline(always)]
    pub fn forget(&mut self, action: ActionId) {
        let job = self.jobs.get(action.0).expect("each action is forgotten once");
        if matches!(job.outcome, Outcome::Done { .. }) {
            // Both of its messages are through: all have been answered.
            job.requests.iter().for_each(|id| self.books.live.discard(id.0));
        }
        self.jobs.discard(action.0);
    }

    pub fn end_dropped(&mut self, now: Time, id: RequestId, why: Drop, host: &mut impl Host) {
        let live = self.books.live.get_mut(id.0);
        // The policy cannot know yet that the answer has gone out; it stands.
        if live.as_ref().is_some_and(|l| l.answered) {
            return;
        }
        let Some(live) = live.filter(|l| !l.ended) else {
            panic!("{}: {id} is dropped but has already ended", self.policy)
        };
        live.ended = true;
        let (request, start) = (live.request, live.start());
        if live.lacked && !self.devices.lack(request.model) {
            self.observer.cold(now, &request);
        }
        if !live.held {
            self.books.live.discard(id.0);
        }
        self.observer.ended(now, &request, End::Dropped(why), start);
        host.reply(&request, now, End::Dropped(why));
    }

    pub fn unload(&mut self, now: Time, device: DeviceId, model: ModelId) {
        let pages = self.footprints[model.index()].pages;
        if self.devices.unload(device, model, pages) {
            self.observer.unloaded(now, device, model);
        }
    }

    pub fn send_stop(&mut self, now: Time, action: ActionId, preempt: bool, host: &mut impl Host) {
        let delay = self.delays.of_stop(action, preempt);
        if delay == Span::ZERO {
            self.stop(now, action, preempt, host);
        } else {
            host.wake(now + delay, Wake::Stop(action, preempt));
        }
    }

    /// Rule 4: stopping what has ended, or has not come, does nothing, and so does cancelling what
    /// runs.
    pub fn stop(&mut self, now: Time, action: ActionId, preempt: bool, host: &mut impl Host) {
        let Some(job) = self.jobs.get(action.0) else { return };
        let (Order { device, executor, .. }, start) = (job.order, job.start);
        match job.stage {
            Stage::Queued => {
                self.devices.get_mut(device).executors[usize::from(executor)].remove(action);
                self.close(now, action, Outcome::Cancelled);
            }
            Stage::Running if preempt && self.devices.get(device).spec.can_preempt => {
                host.abort(now, action, device, executor);
                let stopped = self.devices.get_mut(device);
                stopped.executors[usize::from(executor)].running = None;
                stopped.give_back(job.reserved);
                self.close(now, action, Outcome::Preempted { ran: now - start });
            }
            Stage::Running | Stage::Travelling | Stage::Closed => return,
        }
        host.wake(now + self.delays.of_result(action), Wake::Report(action));
        self.advance(now, device, executor, host);
    }

    pub fn drain(&mut self, now: Time, id: DeviceId, host: &mut impl Host) {
        let device = self.devices.get_mut(id);
        if device.state != Change::Up {
            return;
        }
        device.state = Change::Draining;
        let idle = device.is_idle();
        self.observer.device(now, id, Change::Draining);
        if idle {
            host.wake(now, Wake::Gone(id));
        }
    }

    /// A draining device is idle; whether it goes now.
    pub fn gone(&mut self, now: Time, device: DeviceId) -> bool {
        let goes = self.devices.get(device).state == Change::Draining;
        if goes {
            self.devices.gone(device);
            self.observer.device(now, device, Change::Down);
        }
        goes
    }

    /// The cluster changes; what the policy is told of it.
    pub fn device_change(
        &mut self,
        now: Time,
        change: DeviceChange,
        host: &mut impl Host,
    ) -> Option<(DeviceId, Change)> {
        match change {
            DeviceChange::Added(spec) => {
                let id = self.devices.add(spec, self.footprints.len());
                self.observer.device(now, id, Change::Up);
                Some((id, Change::Up))
            }
            DeviceChange::Drain(id) if self.devices.get(id).state != Change::Up => None,
            DeviceChange::Fail(id) if self.devices.get(id).state == Change::Down => None,
            DeviceChange::Drain(id) => {
                self.drain(now, id, host);
                Some((id, Change::Draining))
            }
            DeviceChange::Fail(id) => {
                self.fail(now, id, host);
                Some((id, Change::Down))
            }
        }
    }

    fn fail(&mut self, now: Time, id: DeviceId, host: &mut impl Host) {
        self.devices.gone(id);
        self.observer.device(now, id, Change::Down);
        for executor in 0..self.devices.get(id).executors.len() {
            let e = &mut self.devices.get_mut(id).executors[executor];
            if e.waiting_until.take().is_some() {
                host.unwake(Wake::Window(id, executor as u8));
            }
            if let Some(Running { action, start }) = e.running.take() {
                host.abort(now, action, id, executor as u8);
                self.close(now, action, Outcome::Preempted { ran: now - start });
                host.wake(now + self.delays.of_result(action), Wake::Report(action));
            }
            while let Some(action) = self.devices.get_mut(id).executors[executor].pop_any() {
                self.refuse(now, action, Refusal::DeviceDown, host);
            }
        }
    }
}
