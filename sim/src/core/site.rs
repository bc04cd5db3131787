//! The site: devices, the books and whoever observes them; all of the engine but its jobs.
//!
//! It does with one job, or one request, what the engine asks for.

use super::books::{Books, Live};
use super::job::{Job, Order, Stage, Work};
use super::{Begin, BeginWork, CoreSpec, Delays, Host, Profiler, Wake};
use crate::cluster::{Change, DeviceView, Devices, Footprint, Running};
use crate::observer::Observer;
use crate::policy::{Lookup, Outcome, Policy, Refusal};
use crate::request::{
    ActionId, Arrival, DeviceId, Drop, End, ModelId, Request, RequestId, SourceId,
};
use crate::time::{Span, Time};

/// See the module's text.
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
        *live = Live::new(request, alone, self.devices.lack(model));
        self.observer.arrived(now, &request);
        request
    }

    /// The requests of a batch are in flight from now on; the sum of their sizes.
    #[inline(always)]
    pub fn hold(&mut self, requests: &[RequestId]) -> u64 {
        let mut size = 0;
        for &id in requests {
            let live = self.books.live.get_mut(id.0);
            let Some(live) = live.filter(|l| !l.ended && !l.held) else {
                panic!("{}: {id} is executed but has ended or is in flight", self.policy)
            };
            live.held = true;
            size += u64::from(live.request.size);
        }
        size
    }

    /// Sends an action to its device; as [`Site::deliver`].
    #[inline(always)]
    pub fn send(
        &mut self,
        now: Time,
        action: ActionId,
        job: &mut Job,
        host: &mut impl Host,
    ) -> bool {
        let delay = self.delays.of_dispatch(action);
        if delay == Span::ZERO {
            return self.deliver(now, action, job, host);
        }
        host.wake(now + delay, Wake::Deliver(action));
        false
    }

    /// An action reaches its device; whether its executor has it in its queue now.
    #[inline(always)]
    pub fn deliver(
        &mut self,
        now: Time,
        action: ActionId,
        job: &mut Job,
        host: &mut impl Host,
    ) -> bool {
        job.stage = Stage::Queued;
        let Order { device, executor, earliest, latest, .. } = job.order;
        let to = self.devices.get_mut(device);
        if to.state != Change::Up {
            self.refuse(now, action, job, Refusal::DeviceDown, host);
            return false;
        }
        let e = &mut to.executors[usize::from(executor)];
        if e.is_idle() && earliest <= now && now <= latest {
            // What it would do anyway, without the detour through the queue.
            self.begin(now, action, job, host);
            return false;
        }
        e.push(earliest, action, latest);
        true
    }

    #[inline(always)]
    pub fn begin(&mut self, now: Time, action: ActionId, job: &mut Job, host: &mut impl Host) {
        let Order { device, executor, work, .. } = job.order;
        let on = self.devices.get_mut(device);
        let (kind, sharing) = (on.spec.kind, on.spec.sharing);
        let mut fetch = Span::ZERO;
        let work = match work {
            Work::Batch { model, units } => {
                if !on.has_model(model) {
                    return self.refuse(now, action, job, Refusal::NotLoaded, host);
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
                    return self.refuse(now, action, job, Refusal::NoMemory, host);
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

    #[cold]
    pub fn refuse(
        &mut self,
        now: Time,
        action: ActionId,
        job: &mut Job,
        why: Refusal,
        host: &mut impl Host,
    ) {
        self.close(now, action, job, Outcome::Rejected(why), host);
    }

    /// An action ends that did not run to its end.
    pub fn close(
        &mut self,
        now: Time,
        action: ActionId,
        job: &mut Job,
        outcome: Outcome,
        host: &mut impl Host,
    ) {
        job.close(now, action, outcome, &mut self.observer);
        host.wake(now + self.delays.of_result(action), Wake::Report(action));
    }

    /// The clients of a finished batch have their answers.
    #[inline(always)]
    pub fn reply(&mut self, now: Time, requests: &[RequestId], host: &mut impl Host) {
        for id in requests {
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
