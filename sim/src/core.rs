//! The sans-IO core: the books, the policy, the devices' state machines and the message delays.
//!
//! It is told what happened through [`Core::handle`] and asks its [`Host`] for what it needs: to
//! begin a batch, to be woken, to pass a reply on. It has no clock and no queue of events; the
//! virtual-time driver and the wall-clock driver are two hosts of this one core.
//!
//! ```text
//!              Input                          Action
//!   driver ───────────▶ Core::handle ──────▶ policy
//!      ▲                    │   ▲               │
//!      └──── Host ──────────┘   └───────────────┘
//!       begin, abort, wake, reply
//! ```
//!
//! One input makes at most one event for the policy. What a policy's action causes at once (a
//! refusal, a timer that is already due) comes back as a wake-up at `now`, so that it takes its
//! place after what was already due at that instant.

mod books;
mod host;

pub use books::Books;
pub use host::{
    Begin, BeginWork, Delays, DeviceChange, Host, Input, Profiler, Wake, rank_of_arrival,
    rank_of_device_change, rank_of_result,
};

use crate::cluster::{Change, DeviceSpec, DeviceView, Devices, Footprint, Next, Running};
use crate::observer::{self, Batch, Observer};
use crate::policy::{Action, Actions, Event, Exec, Known, Lookup, Outcome, Policy, Refusal};
use crate::request::{
    ActionId, Arrival, DeviceId, Drop, End, ModelId, Request, RequestId, SourceId,
};
use crate::table::Table;
use crate::time::{Span, Time};
use books::Live;

/// What a policy sees of the books and the devices.
struct View<'a> {
    devices: &'a Devices,
    footprints: &'a [Footprint],
    books: &'a Books,
    sees_truth: bool,
}

impl Lookup for View<'_> {
    fn devices(&self) -> Vec<DeviceView> {
        self.devices.views().collect()
    }
    fn request(&self, id: RequestId) -> Option<&Request> {
        self.books.request(id)
    }
    fn footprint(&self, model: ModelId) -> Footprint {
        self.footprints[model.index()]
    }
    fn holds(&self, device: DeviceId, model: ModelId) -> bool {
        self.devices.get(device).has_model(model)
    }
    fn truth(&self, id: RequestId) -> Option<Span> {
        if self.sees_truth { self.books.alone(id) } else { None }
    }
}

enum Work {
    Batch { model: ModelId, requests: Vec<RequestId>, units: u32 },
    Load { model: ModelId },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Travelling,
    Queued,
    Running,
    Closed,
}

struct Job {
    device: DeviceId,
    /// The device's lanes.
    lanes: u8,
    executor: u8,
    work: Work,
    issued: Time,
    earliest: Time,
    latest: Time,
    stage: Stage,
    start: Time,
    outcome: Outcome,
    /// Messages that will still name it.
    messages: u8,
    /// Pages that its load took.
    reserved: u32,
}

impl Job {
    fn load(&self, action: ActionId) -> Option<observer::Load> {
        let Work::Load { model } = self.work else { return None };
        let &Job { device, issued, earliest, latest, .. } = self;
        Some(observer::Load { action, device, model, issued, earliest, latest })
    }

    fn batch(&self, action: ActionId) -> Option<Batch<'_>> {
        let Work::Batch { model, requests, units } = &self.work else { return None };
        Some(Batch {
            action,
            device: self.device,
            lane: self.executor,
            lanes: self.lanes,
            model: *model,
            requests,
            units: *units,
            issued: self.issued,
            earliest: self.earliest,
            latest: self.latest,
        })
    }
}

/// The core. See the module's text.
pub struct Core<P, O> {
    policy: P,
    observer: O,
    books: Books,
    jobs: Table<Job>,
    devices: Devices,
    footprints: Vec<Footprint>,
    delays: Delays,
    profiler: Option<Profiler>,
    actions: Actions,
    spare: Vec<Vec<RequestId>>,
}

/// What the core needs to know of the world; latencies are the driver's.
#[derive(Clone, Debug, Default)]
pub struct CoreSpec {
    /// The devices that are up at the start.
    pub devices: Vec<DeviceSpec>,
    /// What each model needs of a device's memory.
    pub models: Vec<Footprint>,
    /// Message delays.
    pub delays: Delays,
    /// The profiler, if there is one.
    pub profiler: Option<Profiler>,
}

impl<P: Policy, O: Observer> Core<P, O> {
    /// A core before its start.
    ///
    /// # Panics
    /// When a policy sees the truth and does not say so in its name.
    pub fn new(spec: CoreSpec, policy: P, observer: O) -> Self {
        let name = policy.name();
        assert!(
            !policy.sees_truth() || name.starts_with("oracle"),
            "{name} sees execution times and is not called an oracle"
        );
        let mut actions = Actions::default();
        actions.ask_why(observer.wants_reasons());
        actions.ask_expected(observer.wants_expected());
        Core {
            policy,
            observer,
            books: Books::default(),
            jobs: Table::default(),
            devices: Devices::new(&spec.devices, spec.models.len()),
            footprints: spec.models,
            delays: spec.delays,
            profiler: spec.profiler,
            actions,
            spare: Vec::new(),
        }
    }

    /// The books.
    pub fn books(&self) -> &Books {
        &self.books
    }

    /// The policy.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// Whether the observer has seen enough.
    pub fn seen_enough(&self) -> bool {
        self.observer.stop()
    }

    /// Ends the run at `now`: what is alive is told as pending. Returns policy and observer.
    pub fn finish(mut self, now: Time) -> (P, O) {
        for (request, start) in self.books.pending() {
            self.observer.ended(now, request, End::Pending, start);
        }
        self.observer.finished(now);
        (self.policy, self.observer)
    }

    /// Something happened at `now`.
    #[inline]
    pub fn handle(&mut self, now: Time, input: Input, host: &mut impl Host) {
        match input {
            Input::Arrive(source, arrival) => self.arrive(now, source, arrival, host),
            Input::Ended { action, device } => self.ended(now, action, device, host),
            Input::Wake(wake) => self.woken(now, wake, host),
            Input::Start => {
                for view in self.devices.views() {
                    self.observer.device(now, view.id, view.state);
                }
                self.tell(now, Event::Start, host);
            }
            Input::Device(change) => self.device_change(now, change, host),
        }
    }

    fn arrive(&mut self, now: Time, source: SourceId, arrival: Arrival, host: &mut impl Host) {
        // On a wall clock `now` is a little later than the arrival, which is what counts.
        let at = arrival.at;
        let request = Request {
            id: RequestId(self.books.live.next_id()),
            app: arrival.app,
            model: arrival.model,
            size: arrival.size,
            source,
            arrival: at,
            deadline: at + arrival.slo,
        };
        self.books.live.insert(Live {
            request,
            alone: arrival.alone,
            started: Time::NEVER,
            held_by: 0,
            ended: false,
            answered: false,
            lacked: self.devices.lack(arrival.model),
        });
        self.observer.arrived(now, &request);
        self.tell(now, Event::Arrive(&request), host);
    }

    fn ended(&mut self, now: Time, action: ActionId, device_time: Span, host: &mut impl Host) {
        let job = self.jobs.get_mut(action.0).expect("a device ends what it runs");
        assert!(job.stage == Stage::Running, "{action} ended without running");
        let outcome = Outcome::Done { start: job.start, end: now, device: device_time };
        let (device, executor) = (job.device, job.executor);
        if let Work::Load { model } = job.work {
            self.devices.loaded(device, model);
        }
        self.devices.get_mut(device).executors[usize::from(executor)].running = None;
        self.close(now, action, outcome);
        self.advance(now, device, executor, host);
        let (reply, result) = (self.delays.of_reply(action), self.delays.of_result(action));
        let job = self.jobs.get_mut(action.0).expect("not yet reported");
        let is_batch = matches!(job.work, Work::Batch { .. });
        job.messages = 1 + u8::from(is_batch);
        if is_batch {
            if reply == Span::ZERO {
                self.reply(now, action, host);
            } else {
                host.wake(now + reply, Wake::Reply(action));
            }
        }
        if result == Span::ZERO {
            self.report(now, action, host);
        } else {
            host.wake(now + result, Wake::Report(action));
        }
    }

    fn woken(&mut self, now: Time, wake: Wake, host: &mut impl Host) {
        match wake {
            Wake::Timer(key) => self.tell(now, Event::Timer(key), host),
            Wake::Window(device, executor) => {
                self.devices.get_mut(device).executors[usize::from(executor)].waiting_until = None;
                self.advance(now, device, executor, host);
            }
            Wake::Deliver(action) => self.deliver(now, action, host),
            Wake::Stop(action, preempt) => self.stop(now, action, preempt, host),
            Wake::Report(action) => self.report(now, action, host),
            Wake::Reply(action) => self.reply(now, action, host),
            Wake::Profiled(_, app, model, alone) => {
                self.tell(now, Event::Profiled { app, model, alone }, host);
            }
            Wake::Gone(device) if self.devices.get(device).state != Change::Draining => {}
            Wake::Gone(device) => {
                self.devices.gone(device);
                self.observer.device(now, device, Change::Down);
                self.tell(now, Event::Device(device, Change::Down), host);
            }
        }
    }

    /// Tells the policy and carries out its answer.
    fn tell(&mut self, now: Time, event: Event<'_>, host: &mut impl Host) {
        let view = View {
            devices: &self.devices,
            footprints: &self.footprints,
            books: &self.books,
            sees_truth: self.policy.sees_truth(),
        };
        self.policy.on(now, event, &Known::new(&view), &mut self.actions);
        self.answered(now, host);
    }

    /// Carries the policy's answer out, after telling its reasons.
    fn answered(&mut self, now: Time, host: &mut impl Host) {
        if self.actions.asked_why() {
            for (request, text) in self.actions.take_reasons() {
                self.observer.why(now, request, &text);
            }
        }
        if self.actions.asked_expected() {
            for (action, expected) in self.actions.take_expected() {
                self.observer.expected(now, action, expected);
            }
        }
        if !self.actions.list().is_empty() {
            self.carry_out(now, host);
        }
    }

    fn carry_out(&mut self, now: Time, host: &mut impl Host) {
        let mut actions = std::mem::take(&mut self.actions);
        for action in actions.list() {
            match *action {
                Action::Exec { exec, ref requests } => {
                    self.exec(now, exec, actions.requests(requests.clone()), host);
                }
                Action::Load { device, model, earliest, latest } => {
                    let executor = self.devices.get(device).load_executor();
                    let work = Work::Load { model };
                    self.issue(now, device, executor, work, (earliest, latest), host);
                }
                Action::Unload { device, model } => {
                    let pages = self.footprints[model.index()].pages;
                    if self.devices.unload(device, model, pages) {
                        self.observer.unloaded(now, device, model);
                    }
                }
                Action::Cancel(action) => self.send_stop(now, action, false, host),
                Action::Preempt(action) => self.send_stop(now, action, true, host),
                Action::End(request, why) => self.end_dropped(now, request, why, host),
                Action::SetTimer(key, Time::NEVER) => host.unwake(Wake::Timer(key)),
                Action::SetTimer(key, at) => host.wake(at.max(now), Wake::Timer(key)),
                Action::ClearTimer(key) => host.unwake(Wake::Timer(key)),
                Action::Provision { kind, count } => {
                    self.observer.provisioned(now, kind, count);
                    host.provision(now, kind, count);
                }
                Action::Release(device) => self.drain(now, device, host),
            }
        }
        actions.clear();
        self.actions = actions;
    }

    fn exec(&mut self, now: Time, exec: Exec, requests: &[RequestId], host: &mut impl Host) {
        assert!(!requests.is_empty(), "{}: an empty batch", self.policy.name());
        let lanes = self.devices.get(exec.device).spec.lanes;
        assert!(
            exec.lane < lanes,
            "{}: {} has no lane {}",
            self.policy.name(),
            exec.device,
            exec.lane
        );
        let mut size = 0u64;
        for &id in requests {
            let live = self.books.live.get_mut(id.0);
            let Some(live) = live.filter(|l| !l.ended && l.held_by == 0) else {
                panic!("{}: {id} is executed but has ended or is in flight", self.policy.name())
            };
            live.held_by += 1;
            size += u64::from(live.request.size);
        }
        let mut ids = self.spare.pop().unwrap_or_default();
        ids.clear();
        ids.extend_from_slice(requests);
        // It saturates: what readers admit is far below (see `SIZE_MAX`).
        let units = exec.billed.max(u32::try_from(size).unwrap_or(u32::MAX));
        let work = Work::Batch { model: exec.model, requests: ids, units };
        let window = (exec.earliest, exec.latest);
        self.issue(now, exec.device, exec.lane, work, window, host);
    }

    fn issue(
        &mut self,
        now: Time,
        device: DeviceId,
        executor: u8,
        work: Work,
        (earliest, latest): (Time, Time),
        host: &mut impl Host,
    ) {
        let job = Job {
            device,
            lanes: self.devices.get(device).spec.lanes,
            executor,
            work,
            issued: now,
            earliest,
            latest,
            stage: Stage::Travelling,
            start: Time::NEVER,
            outcome: Outcome::Cancelled,
            messages: 1,
            reserved: 0,
        };
        let action = ActionId(self.jobs.next_id());
        if let Some(batch) = job.batch(action) {
            self.observer.issued(now, &batch);
        } else if let Some(load) = job.load(action) {
            self.observer.load_issued(now, &load);
        }
        self.jobs.insert(job);
        let delay = self.delays.of_dispatch(action);
        if delay == Span::ZERO {
            self.deliver(now, action, host);
        } else {
            host.wake(now + delay, Wake::Deliver(action));
        }
    }

    fn deliver(&mut self, now: Time, action: ActionId, host: &mut impl Host) {
        let job = self.jobs.get_mut(action.0).expect("an action on its way");
        job.stage = Stage::Queued;
        let (id, executor) = (job.device, job.executor);
        let device = self.devices.get_mut(id);
        if device.state != Change::Up {
            return self.refuse(now, action, Refusal::DeviceDown, host);
        }
        let (earliest, latest) = (job.earliest, job.latest);
        let e = &mut device.executors[usize::from(executor)];
        if e.is_idle() && earliest <= now && now <= latest {
            // What it would do anyway, without the detour through the queue.
            return self.begin(now, action, host);
        }
        e.push(earliest, action, latest);
        self.advance(now, id, executor, host);
    }

    /// Lets an executor do what it can at `now`.
    fn advance(&mut self, now: Time, device: DeviceId, executor: u8, host: &mut impl Host) {
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

    fn begin(&mut self, now: Time, action: ActionId, host: &mut impl Host) {
        let job = self.jobs.get_mut(action.0).expect("a queued action");
        let device = self.devices.get_mut(job.device);
        let (kind, executor) = (device.spec.kind, job.executor);
        let mut fetch = Span::ZERO;
        let work = match &job.work {
            Work::Batch { model, requests, units } => {
                if !device.has_model(*model) {
                    return self.refuse(now, action, Refusal::NotLoaded, host);
                }
                let (mut longest, mut total) = (Span::ZERO, Span::ZERO);
                for id in requests {
                    let live = self.books.live.get_mut(id.0).expect("a held request is alive");
                    longest = longest.max(live.alone);
                    total += live.alone;
                    live.started = now;
                }
                fetch = self.delays.fetch_per_request * requests.len() as u64;
                let (model, units, first) = (*model, *units, requests[0]);
                BeginWork::Batch { model, units, longest, total, first }
            }
            Work::Load { model } => {
                let footprint = self.footprints[model.index()];
                // Copying a model that is already there takes no pages.
                job.reserved = if device.has_model(*model) { 0 } else { footprint.pages };
                if !device.reserve(job.reserved) {
                    return self.refuse(now, action, Refusal::NoMemory, host);
                }
                BeginWork::Load { model: *model, time: footprint.load }
            }
        };
        device.executors[usize::from(executor)].running = Some(Running { action, start: now });
        job.stage = Stage::Running;
        job.start = now;
        let begin = Begin { action, device: job.device, kind, executor, fetch, work };
        if let Some(batch) = job.batch(action) {
            self.observer.began(now, &batch);
        } else if let Some(load) = job.load(action) {
            self.observer.load_began(now, &load);
        }
        host.begin(now, &begin);
    }

    fn refuse(&mut self, now: Time, action: ActionId, why: Refusal, host: &mut impl Host) {
        self.close(now, action, Outcome::Rejected(why));
        host.wake(now + self.delays.of_result(action), Wake::Report(action));
    }

    fn close(&mut self, now: Time, action: ActionId, outcome: Outcome) {
        let job = self.jobs.get_mut(action.0).expect("an open action");
        job.outcome = outcome;
        job.stage = Stage::Closed;
        let start = (job.start != Time::NEVER).then_some(job.start);
        if let Some(batch) = job.batch(action) {
            self.observer.closed(now, &batch, start, outcome);
        } else if let Some(load) = job.load(action) {
            self.observer.load_closed(now, &load, start, outcome);
        }
    }

    /// The clients of a finished batch have their answers.
    fn reply(&mut self, now: Time, action: ActionId, host: &mut impl Host) {
        let job = self.jobs.get_mut(action.0).expect("a finished action");
        job.messages -= 1;
        let last = job.messages == 0;
        if let Work::Batch { requests, .. } = &job.work {
            for id in requests {
                let live = self.books.live.get_mut(id.0).expect("a held request is alive");
                if live.ended {
                    continue;
                }
                live.ended = true;
                live.answered = true;
                let end = if now <= live.request.deadline { End::InTime } else { End::Late };
                if live.lacked && !self.devices.lack(live.request.model) {
                    self.observer.cold(now, &live.request);
                }
                self.observer.ended(now, &live.request, end, live.start());
                host.reply(&live.request, now, end);
                if let Some(profiler) = self.profiler
                    && id.0.is_multiple_of(profiler.every)
                    && self.policy.wants_profiles()
                {
                    let r = &live.request;
                    let measured = Wake::Profiled(r.id, r.app, r.model, live.alone);
                    host.wake(now + profiler.delay, measured);
                }
            }
        }
        if last {
            self.forget(action);
        }
    }

    /// The policy learns what became of an action.
    fn report(&mut self, now: Time, action: ActionId, host: &mut impl Host) {
        let job = self.jobs.get_mut(action.0).expect("a closed action");
        job.messages -= 1;
        let last = job.messages == 0;
        let (device, outcome) = (job.device, job.outcome);
        // The requests travel outside the table while the policy looks at them.
        let requests = match &mut job.work {
            Work::Batch { requests, .. } => std::mem::take(requests),
            Work::Load { .. } => Vec::new(),
        };
        if !matches!(outcome, Outcome::Done { .. }) {
            // They belong to the policy again, which may run them in its very answer.
            for &id in &requests {
                self.books.release(id);
            }
        }
        let event = Event::Result { action, device, outcome, requests: &requests };
        let view = View {
            devices: &self.devices,
            footprints: &self.footprints,
            books: &self.books,
            sees_truth: self.policy.sees_truth(),
        };
        self.policy.on(now, event, &Known::new(&view), &mut self.actions);
        if let Some(job) = self.jobs.get_mut(action.0)
            && let Work::Batch { requests: home, .. } = &mut job.work
        {
            *home = requests;
        }
        if last {
            self.forget(action);
        }
        self.answered(now, host);
    }

    fn forget(&mut self, action: ActionId) {
        let job = self.jobs.remove(action.0).expect("each action is forgotten once");
        if let Work::Batch { mut requests, .. } = job.work {
            if matches!(job.outcome, Outcome::Done { .. }) {
                for &id in &requests {
                    self.books.release(id);
                }
            }
            requests.clear();
            self.spare.push(requests);
        }
    }

    fn end_dropped(&mut self, now: Time, id: RequestId, why: Drop, host: &mut impl Host) {
        let live = self.books.live.get_mut(id.0);
        // The policy cannot know yet that the answer has gone out; it stands.
        if live.as_ref().is_some_and(|l| l.answered) {
            return;
        }
        let Some(live) = live.filter(|l| !l.ended) else {
            panic!("{}: {id} is dropped but has already ended", self.policy.name())
        };
        live.ended = true;
        let (request, start) = (live.request, live.start());
        if live.lacked && !self.devices.lack(request.model) {
            self.observer.cold(now, &request);
        }
        if live.held_by == 0 {
            self.books.live.remove(id.0);
        }
        self.observer.ended(now, &request, End::Dropped(why), start);
        host.reply(&request, now, End::Dropped(why));
    }

    fn send_stop(&mut self, now: Time, action: ActionId, preempt: bool, host: &mut impl Host) {
        let delay = self.delays.of_stop(action, preempt);
        if delay == Span::ZERO {
            self.stop(now, action, preempt, host);
        } else {
            host.wake(now + delay, Wake::Stop(action, preempt));
        }
    }

    /// Rule 4: stopping what has ended, or has not come, does nothing, and so does cancelling what
    /// runs.
    fn stop(&mut self, now: Time, action: ActionId, preempt: bool, host: &mut impl Host) {
        let Some(job) = self.jobs.get(action.0) else { return };
        let (device, executor, start) = (job.device, job.executor, job.start);
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

    fn drain(&mut self, now: Time, id: DeviceId, host: &mut impl Host) {
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

    fn device_change(&mut self, now: Time, change: DeviceChange, host: &mut impl Host) {
        match change {
            DeviceChange::Added(spec) => {
                let id = self.devices.add(spec, self.footprints.len());
                self.observer.device(now, id, Change::Up);
                self.tell(now, Event::Device(id, Change::Up), host);
            }
            DeviceChange::Drain(id) if self.devices.get(id).state != Change::Up => {}
            DeviceChange::Fail(id) if self.devices.get(id).state == Change::Down => {}
            DeviceChange::Drain(id) => {
                self.drain(now, id, host);
                self.tell(now, Event::Device(id, Change::Draining), host);
            }
            DeviceChange::Fail(id) => self.fail(now, id, host),
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
            if let Some(running) = e.running.take() {
                host.abort(now, running.action, id, executor as u8);
                let ran = now - running.start;
                self.close(now, running.action, Outcome::Preempted { ran });
                host.wake(
                    now + self.delays.of_result(running.action),
                    Wake::Report(running.action),
                );
            }
            while let Some(action) = self.devices.get_mut(id).executors[executor].pop_any() {
                self.refuse(now, action, Refusal::DeviceDown, host);
            }
        }
        self.tell(now, Event::Device(id, Change::Down), host);
    }
}
