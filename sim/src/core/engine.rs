//! The engine: what becomes of requests and actions, whatever policy decides.
//!
//! It carries an action through its stages (on its way, queued, running, closed), keeps the books and
//! tells the observer. It never calls a policy: the core does, before and after.

use super::books::{Books, Live};
use super::job::{Job, Order, Stage, Work};
use super::{Begin, BeginWork, CoreSpec, Delays, DeviceChange, Host, Profiler, Wake};
use crate::cluster::{Change, DeviceSpec, DeviceView, Devices, Footprint, Next, Running};
use crate::observer::Observer;
use crate::policy::{Exec, Lookup, Outcome, Policy, Refusal};
use crate::request::{
    ActionId, Arrival, DeviceId, Drop, End, ModelId, Request, RequestId, SourceId,
};
use crate::table::Table;
use crate::time::{Span, Time};

/// See the module's text.
pub(super) struct Engine<O> {
    pub site: Site<O>,
    /// The actions that have not been forgotten.
    pub jobs: Table<Job>,
}

/// An action that has not been forgotten.
#[inline(always)]
pub(super) fn known(jobs: &mut Table<Job>, action: ActionId) -> &mut Job {
    jobs.get_mut(action.0).expect("an action that is not forgotten")
}

impl<O: Observer> Engine<O> {
    #[inline]
    pub fn exec(&mut self, now: Time, exec: Exec, requests: &[RequestId], host: &mut impl Host) {
        let Exec { device, lane, model, billed, earliest, latest } = exec;
        let site = &mut self.site;
        assert!(!requests.is_empty(), "{}: an empty batch", site.policy);
        let DeviceSpec { lanes, sharing, .. } = site.devices.get(device).spec;
        assert!(lane < lanes, "{}: {device} has no lane {lane}", site.policy);
        let mut size = 0u64;
        for &id in requests {
            let live = site.books.live.get_mut(id.0);
            let Some(live) = live.filter(|l| !l.ended && !l.held) else {
                panic!("{}: {id} is executed but has ended or is in flight", site.policy)
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
        self.issue(now, order, requests, host);
    }

    pub fn load(
        &mut self,
        now: Time,
        device: DeviceId,
        model: ModelId,
        (earliest, latest): (Time, Time),
        host: &mut impl Host,
    ) {
        let to = self.site.devices.get(device);
        let (lanes, sharing, executor) = (to.spec.lanes, to.spec.sharing, to.load_executor());
        let work = Work::Load { model };
        let order = Order { device, lanes, sharing, executor, work, issued: now, earliest, latest };
        self.issue(now, order, &[], host);
    }

    #[inline(always)]
    fn issue(&mut self, now: Time, order: Order, requests: &[RequestId], host: &mut impl Host) {
        let Engine { site, jobs } = self;
        let (action, job) = jobs.claim();
        job.become_new(ActionId(action), order, requests);
        if let Some(batch) = job.batch() {
            site.observer.issued(now, &batch);
        } else if let Some(load) = job.load() {
            site.observer.load_issued(now, &load);
        }
        let delay = site.delays.of_dispatch(job.action);
        if delay > Span::ZERO {
            host.wake(now + delay, Wake::Deliver(job.action));
        } else if site.deliver(now, job, host) {
            self.go_on(now, order.device, order.executor, host);
        }
    }

    pub fn deliver(&mut self, now: Time, action: ActionId, host: &mut impl Host) {
        let job = known(&mut self.jobs, action);
        let Order { device, executor, .. } = job.order;
        if self.site.deliver(now, job, host) {
            self.go_on(now, device, executor, host);
        }
    }

    /// The window of an executor's next action opens.
    pub fn opens(&mut self, now: Time, device: DeviceId, executor: u8, host: &mut impl Host) {
        self.site.devices.get_mut(device).executors[usize::from(executor)].waiting_until = None;
        self.go_on(now, device, executor, host);
    }

    /// Lets an executor do what it can at `now`.
    fn go_on(&mut self, now: Time, device: DeviceId, executor: u8, host: &mut impl Host) {
        let Engine { site, jobs } = self;
        loop {
            let e = &mut site.devices.get_mut(device).executors[usize::from(executor)];
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
                Next::Refuse(action) => {
                    site.close(now, known(jobs, action), Outcome::Rejected(Refusal::Late), host);
                }
                Next::Start(action) => site.begin(now, known(jobs, action), host),
            }
        }
        let d = site.devices.get(device);
        if d.state == Change::Draining && d.is_idle() {
            host.wake(now, Wake::Gone(device));
        }
    }

    /// A device has ended what it ran; the executor goes on with its next action. Clients and policy are told
    /// by the core.
    #[inline(always)]
    pub fn ended(&mut self, now: Time, action: ActionId, device_time: Span, host: &mut impl Host) {
        let Engine { site, jobs } = self;
        let job = known(jobs, action);
        assert!(job.stage == Stage::Running, "{action} ended without running");
        let Order { device, executor, work, .. } = job.order;
        let on = site.devices.get_mut(device);
        on.executors[usize::from(executor)].running = None;
        let goes_on = on.has_to_go_on(executor);
        if let Work::Load { model } = work {
            site.devices.loaded(device, model);
        }
        job.messages = 1 + u8::from(job.is_batch());
        let outcome = Outcome::Done { start: job.start, end: now, device: device_time };
        job.close(now, outcome, &mut site.observer);
        if goes_on {
            self.go_on(now, device, executor, host);
        }
    }

    /// The clients of a finished batch have their answers.
    pub fn reply(&mut self, now: Time, action: ActionId, host: &mut impl Host) {
        let job = known(&mut self.jobs, action);
        if self.site.reply(now, job, host) {
            self.jobs.discard(action.0);
        }
    }

    pub fn send_stop(&mut self, now: Time, action: ActionId, preempt: bool, host: &mut impl Host) {
        let delay = self.site.delays.of_stop(action, preempt);
        if delay == Span::ZERO {
            self.stop(now, action, preempt, host);
        } else {
            host.wake(now + delay, Wake::Stop(action, preempt));
        }
    }

    /// Rule 4: stopping what has ended, or has not come, does nothing, and so does cancelling what
    /// runs.
    pub fn stop(&mut self, now: Time, action: ActionId, preempt: bool, host: &mut impl Host) {
        let Engine { site, jobs } = self;
        let Some(job) = jobs.get_mut(action.0) else { return };
        let Order { device, executor, .. } = job.order;
        let to = site.devices.get_mut(device);
        let e = &mut to.executors[usize::from(executor)];
        let outcome = match job.stage {
            Stage::Queued => {
                e.remove(action);
                Outcome::Cancelled
            }
            Stage::Running if preempt && to.spec.can_preempt => {
                host.abort(now, action, device, executor);
                e.running = None;
                to.give_back(job.reserved);
                Outcome::Preempted { ran: now - job.start }
            }
            Stage::Running | Stage::Travelling | Stage::Closed => return,
        };
        site.close(now, job, outcome, host);
        self.go_on(now, device, executor, host);
    }

    /// The cluster changes; what the policy is told of it.
    pub fn device_change(
        &mut self,
        now: Time,
        change: DeviceChange,
        host: &mut impl Host,
    ) -> Option<(DeviceId, Change)> {
        let site = &mut self.site;
        match change {
            DeviceChange::Added(spec) => {
                let id = site.devices.add(spec, site.footprints.len());
                site.observer.device(now, id, Change::Up);
                Some((id, Change::Up))
            }
            DeviceChange::Drain(id) if site.devices.get(id).state != Change::Up => None,
            DeviceChange::Fail(id) if site.devices.get(id).state == Change::Down => None,
            DeviceChange::Drain(id) => {
                site.drain(now, id, host);
                Some((id, Change::Draining))
            }
            DeviceChange::Fail(id) => {
                self.fail(now, id, host);
                Some((id, Change::Down))
            }
        }
    }

    fn fail(&mut self, now: Time, id: DeviceId, host: &mut impl Host) {
        let Engine { site, jobs } = self;
        site.devices.gone(id);
        site.observer.device(now, id, Change::Down);
        for executor in 0..site.devices.get(id).executors.len() {
            let e = &mut site.devices.get_mut(id).executors[executor];
            if e.waiting_until.take().is_some() {
                host.unwake(Wake::Window(id, executor as u8));
            }
            if let Some(Running { action, start }) = e.running.take() {
                host.abort(now, action, id, executor as u8);
                let outcome = Outcome::Preempted { ran: now - start };
                site.close(now, known(jobs, action), outcome, host);
            }
            while let Some(action) = site.devices.get_mut(id).executors[executor].pop_any() {
                let outcome = Outcome::Rejected(Refusal::DeviceDown);
                site.close(now, known(jobs, action), outcome, host);
            }
        }
    }
}

/// All of the engine but its jobs: the devices, the books and whoever observes them. It does with one job or one
/// request what the engine asks for.
pub(super) struct Site<O> {
    pub observer: O,
    pub books: Books,
    pub devices: Devices,
    pub footprints: Vec<Footprint>,
    pub delays: Delays,
    /// None where the policy wants no profiles.
    profiler: Option<Profiler>,
    sees_truth: bool,
    /// The policy's name, for what only a bug in it can cause.
    pub policy: String,
}

/// What a policy sees.
impl<O> Lookup for Site<O> {
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

impl<O: Observer> Site<O> {
    pub fn new(spec: CoreSpec, policy: &impl Policy, observer: O) -> Site<O> {
        Site {
            observer,
            books: Books::default(),
            devices: Devices::new(&spec.devices, spec.models.len()),
            footprints: spec.models,
            delays: spec.delays,
            profiler: spec.profiler.filter(|_| policy.wants_profiles()),
            sees_truth: policy.sees_truth(),
            policy: policy.name(),
        }
    }

    pub fn show_devices(&mut self, now: Time) {
        for view in self.devices.views() {
            self.observer.device(now, view.id, view.state);
        }
    }

    /// Enters a request into the books.
    #[inline(always)]
    pub fn arrive(&mut self, now: Time, source: SourceId, arrival: &Arrival) -> Request {
        // On a wall clock `now` is a little later than the arrival, which is what counts.
        let &Arrival { at, app, model, size, slo, alone } = arrival;
        let (id, live) = self.books.live.claim();
        let id = RequestId(id);
        let request = Request { id, app, model, size, source, arrival: at, deadline: at + slo };
        let lacked = self.devices.lack(model);
        *live = Live { request, alone, started: Time::NEVER, lacked, ..Live::default() };
        self.observer.arrived(now, &request);
        request
    }

    /// An action reaches its device; whether its executor has it in its queue now.
    #[inline(always)]
    pub fn deliver(&mut self, now: Time, job: &mut Job, host: &mut impl Host) -> bool {
        job.stage = Stage::Queued;
        let Order { device, executor, earliest, latest, .. } = job.order;
        let to = self.devices.get_mut(device);
        let e = &mut to.executors[usize::from(executor)];
        if to.state != Change::Up {
            self.close(now, job, Outcome::Rejected(Refusal::DeviceDown), host);
        } else if e.is_idle() && earliest <= now && now <= latest {
            // What it would do anyway, without the detour through the queue.
            self.begin(now, job, host);
        } else {
            e.push(earliest, job.action, latest);
            return true;
        }
        false
    }

    #[inline(always)]
    pub fn begin(&mut self, now: Time, job: &mut Job, host: &mut impl Host) {
        let (action, Order { device, executor, work, .. }) = (job.action, job.order);
        let on = self.devices.get_mut(device);
        let (kind, sharing) = (on.spec.kind, on.spec.sharing);
        let mut fetch = Span::ZERO;
        let work = match work {
            Work::Batch { model, units } => {
                if !on.has_model(model) {
                    return self.close(now, job, Outcome::Rejected(Refusal::NotLoaded), host);
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
                    return self.close(now, job, Outcome::Rejected(Refusal::NoMemory), host);
                }
                BeginWork::Load { model, time: footprint.load }
            }
        };
        on.executors[usize::from(executor)].running = Some(Running { action, start: now });
        job.stage = Stage::Running;
        job.start = now;
        if let Some(batch) = job.batch() {
            self.observer.began(now, &batch);
        } else if let Some(load) = job.load() {
            self.observer.load_began(now, &load);
        }
        host.begin(now, &Begin { action, device, kind, sharing, executor, fetch, work });
    }

    /// An action ends that did not run to its end.
    #[cold]
    pub fn close(&mut self, now: Time, job: &mut Job, outcome: Outcome, host: &mut impl Host) {
        job.close(now, outcome, &mut self.observer);
        host.wake(now + self.delays.of_result(job.action), Wake::Report(job.action));
    }

    /// The clients of a finished batch have their answers; whether this was the last message that names it.
    #[inline(always)]
    pub fn reply(&mut self, now: Time, job: &mut Job, host: &mut impl Host) -> bool {
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
        self.is_last_message(job)
    }

    /// A message that names a job has arrived; whether it was the last one.
    #[inline(always)]
    pub fn is_last_message(&mut self, job: &mut Job) -> bool {
        job.messages -= 1;
        if job.messages == 0 && matches!(job.outcome, Outcome::Done { .. }) {
            // Both of its messages are through: all have been answered.
            job.requests.iter().for_each(|id| self.books.live.discard(id.0));
        }
        job.messages == 0
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
}
