//! The engine: what becomes of requests and actions, whatever policy decides.
//!
//! It carries an action through its stages (on its way, queued, running, closed), keeps the books and
//! tells the observer. It never calls a policy: the core does, before and after.

use super::job::{Job, Order, Stage, Work};
use super::site::Site;
use super::{DeviceChange, Host, Wake};
use crate::cluster::{Change, DeviceSpec, Next, Running};
use crate::observer::Observer;
use crate::policy::{Exec, Outcome, Refusal};
use crate::request::{ActionId, DeviceId, ModelId, RequestId};
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
        let Engine { site, jobs } = self;
        assert!(!requests.is_empty(), "{}: an empty batch", site.policy);
        let DeviceSpec { lanes, sharing, .. } = site.devices.get(device).spec;
        assert!(lane < lanes, "{}: {device} has no lane {lane}", site.policy);
        let size = site.hold(requests);
        // It saturates: what readers admit is far below (see `SIZE_MAX`).
        let units = billed.max(u32::try_from(size).unwrap_or(u32::MAX));
        let work = Work::Batch { model, units };
        #[rustfmt::skip]
        let order = Order {
            device, lanes, sharing, executor: lane, work, issued: now, earliest, latest,
        };
        let (action, job) = jobs.claim();
        let action = ActionId(action);
        job.become_new(order, requests);
        site.observer.issued(now, &job.batch(action).expect("a batch"));
        if site.send(now, action, job, host) {
            self.go_on(now, device, lane, host);
        }
    }

    pub fn load(
        &mut self,
        now: Time,
        device: DeviceId,
        model: ModelId,
        (earliest, latest): (Time, Time),
        host: &mut impl Host,
    ) {
        let Engine { site, jobs } = self;
        let to = site.devices.get(device);
        let (lanes, sharing, executor) = (to.spec.lanes, to.spec.sharing, to.load_executor());
        let work = Work::Load { model };
        let order = Order { device, lanes, sharing, executor, work, issued: now, earliest, latest };
        let (action, job) = jobs.claim();
        let action = ActionId(action);
        job.become_new(order, &[]);
        site.observer.load_issued(now, &job.load(action).expect("a load"));
        if site.send(now, action, job, host) {
            self.go_on(now, device, executor, host);
        }
    }

    pub fn deliver(&mut self, now: Time, action: ActionId, host: &mut impl Host) {
        let job = known(&mut self.jobs, action);
        let Order { device, executor, .. } = job.order;
        if self.site.deliver(now, action, job, host) {
            self.go_on(now, device, executor, host);
        }
    }

    /// The window of an executor's next action opens.
    pub fn opens(&mut self, now: Time, device: DeviceId, executor: u8, host: &mut impl Host) {
        self.site.devices.get_mut(device).executors[usize::from(executor)].waiting_until = None;
        self.advance(now, device, executor, host);
    }

    /// Lets an executor do what it can at `now`: mostly nothing.
    #[inline(always)]
    fn advance(&mut self, now: Time, device: DeviceId, executor: u8, host: &mut impl Host) {
        let d = self.site.devices.get(device);
        if d.state == Change::Draining || !d.executors[usize::from(executor)].has_no_more() {
            self.go_on(now, device, executor, host);
        }
    }

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
                    site.refuse(now, action, known(jobs, action), Refusal::Late, host)
                }
                Next::Start(action) => site.begin(now, action, known(jobs, action), host),
            }
        }
        let d = site.devices.get(device);
        if d.state == Change::Draining && d.is_idle() {
            host.wake(now, Wake::Gone(device));
        }
    }

    /// A device has ended what it ran; the executor goes on with its next action, and the clients get
    /// their answers. The policy is told by the core.
    #[inline(always)]
    pub fn ended(&mut self, now: Time, action: ActionId, device_time: Span, host: &mut impl Host) {
        let Engine { site, jobs } = self;
        let job = known(jobs, action);
        assert!(job.stage == Stage::Running, "{action} ended without running");
        let Order { device, executor, work, .. } = job.order;
        site.devices.get_mut(device).executors[usize::from(executor)].running = None;
        if let Work::Load { model } = work {
            site.devices.loaded(device, model);
        }
        let is_batch = job.is_batch();
        job.messages = 1 + u8::from(is_batch);
        let outcome = Outcome::Done { start: job.start, end: now, device: device_time };
        job.close(now, action, outcome, &mut site.observer);
        self.advance(now, device, executor, host);
        if is_batch {
            let reply = self.site.delays.of_reply(action);
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
        let job = known(&mut self.jobs, action);
        self.site.reply(now, &job.requests, host);
        if self.site.is_last_message(job) {
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
        site.close(now, action, job, outcome, host);
        self.advance(now, device, executor, host);
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
                site.close(now, action, known(jobs, action), outcome, host);
            }
            while let Some(action) = site.devices.get_mut(id).executors[executor].pop_any() {
                site.refuse(now, action, known(jobs, action), Refusal::DeviceDown, host);
            }
        }
    }
}
