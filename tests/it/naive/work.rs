//! The naive engine's actions: from the policy to the device and back.
//!
//! When an executor takes them is in `devices.rs`.

use super::laws::{Message, computes, delay, of_load, of_model};
use super::{Due, Naive, stalls};
use orrery_sim::cluster::{Change, Sharing};
use orrery_sim::observer::{Batch, Load};
use orrery_sim::policy::{Event, Exec, Known, Outcome, Refusal};
use orrery_sim::request::{ActionId, DeviceId, End, ModelId, RequestId};
use orrery_sim::time::{Span, Time};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Travelling,
    Queued,
    Running,
    Closed,
}

pub struct Job {
    pub device: DeviceId,
    pub executor: usize,
    pub model: ModelId,
    /// The device's lanes.
    pub lanes: u8,
    pub sharing: Sharing,
    /// Empty for a load.
    pub requests: Vec<RequestId>,
    pub units: u32,
    pub issued: Time,
    pub earliest: Time,
    pub latest: Time,
    pub stage: Stage,
    pub start: Time,
    pub computes: Span,
    /// Where it shares its device: what it has still to get, in 2^-32 ns; and when it ends.
    pub left: Option<u128>,
    pub ends: Time,
    pub outcome: Option<Outcome>,
    pub replied: bool,
    pub reported: bool,
}

impl Job {
    pub fn is_batch(&self) -> bool {
        !self.requests.is_empty()
    }

    /// As observers see it.
    pub fn shown(&self, action: ActionId) -> Batch<'_> {
        Batch {
            action,
            device: self.device,
            lane: self.executor as u8,
            lanes: self.lanes,
            sharing: self.sharing,
            model: self.model,
            requests: &self.requests,
            units: self.units,
            issued: self.issued,
            earliest: self.earliest,
            latest: self.latest,
        }
    }

    /// A load as observers see it.
    pub fn shown_load(&self, action: ActionId) -> Load {
        let &Job { device, model, issued, earliest, latest, .. } = self;
        Load { action, device, model, issued, earliest, latest }
    }

    fn is_done(&self) -> bool {
        matches!(self.outcome, Some(Outcome::Done { .. }))
    }
}

impl Naive<'_, '_> {
    pub fn exec(&mut self, exec: Exec, requests: Vec<RequestId>) {
        let mut size = 0;
        for id in &requests {
            let r = &mut self.facts.requests[id.index()];
            assert!(!r.ended && !r.held, "{id} is executed but has ended or is in flight");
            r.held = true;
            size += r.request.size;
        }
        let units = exec.billed.max(size);
        let window = (exec.earliest, exec.latest);
        self.send(exec.device, usize::from(exec.lane), exec.model, requests, units, window);
    }

    pub fn load(&mut self, device: DeviceId, model: ModelId, earliest: Time, latest: Time) {
        let executor = self.facts.devices[device.index()].executors.len() - 1;
        self.send(device, executor, model, Vec::new(), 0, (earliest, latest));
    }

    fn send(
        &mut self,
        device: DeviceId,
        executor: usize,
        model: ModelId,
        requests: Vec<RequestId>,
        units: u32,
        (earliest, latest): (Time, Time),
    ) {
        let action = ActionId(self.jobs.len() as u64);
        self.jobs.push(Job {
            device,
            executor,
            model,
            lanes: self.facts.devices[device.index()].spec.lanes,
            sharing: self.facts.devices[device.index()].spec.sharing,
            requests,
            units,
            issued: self.now,
            earliest,
            latest,
            stage: Stage::Travelling,
            start: Time::NEVER,
            computes: Span::ZERO,
            left: None,
            ends: Time::NEVER,
            outcome: None,
            replied: false,
            reported: false,
        });
        let job = &self.jobs[action.index()];
        if job.is_batch() {
            self.observer.issued(self.now, &job.shown(action));
        } else {
            self.observer.load_issued(self.now, &job.shown_load(action));
        }
        match delay(&self.world.core.delays, Message::Dispatch, action) {
            Span::ZERO => self.deliver(action),
            delay => self.schedule(self.now + delay, Due::Deliver(action)),
        }
    }

    pub fn deliver(&mut self, action: ActionId) {
        let job = &mut self.jobs[action.index()];
        let (device, executor) = (job.device, job.executor);
        if self.facts.devices[device.index()].state != Change::Up {
            return self.refuse(action, Refusal::DeviceDown);
        }
        job.stage = Stage::Queued;
        self.go_on(device, executor);
    }

    pub fn refuse(&mut self, action: ActionId, why: Refusal) {
        self.close(action, Outcome::Rejected(why));
        self.report_later(action);
    }

    /// The first action of a free executor begins, if the device's memory permits.
    pub fn begin(&mut self, action: ActionId) {
        let job = &self.jobs[action.index()];
        let (model, executor, is_batch) = (job.model, job.executor, job.is_batch());
        let device = &mut self.facts.devices[job.device.index()];
        if is_batch && !device.resident[model.index()] {
            return self.refuse(action, Refusal::NotLoaded);
        }
        if !is_batch && device.spec.memory_pages.is_some() {
            let pages = self.world.core.models[model.index()].pages;
            if device.free < pages {
                return self.refuse(action, Refusal::NoMemory);
            }
            device.free -= pages;
        }
        device.executors[executor] = Some(action);
        let (fetches, computes) = self.lasts(action);
        let job = &mut self.jobs[action.index()];
        let job_device = job.device;
        job.stage = Stage::Running;
        job.start = self.now;
        job.computes = computes;
        if is_batch {
            for id in &job.requests {
                self.facts.requests[id.index()].started = Some(self.now);
            }
            self.observer.began(self.now, &self.jobs[action.index()].shown(action));
        } else {
            self.observer.load_began(self.now, &job.shown_load(action));
        }
        let job = &self.jobs[action.index()];
        if is_batch && job.sharing == Sharing::Processor {
            return self.begins_to_share(action, fetches + computes);
        }
        let core = stalls::core_of(job_device.0, executor);
        let ends = stalls::advance(&self.world.stalls, core, self.now, fetches + computes);
        self.schedule(ends, Due::Ended(action));
    }

    /// How long an action fetches and computes.
    fn lasts(&self, action: ActionId) -> (Span, Span) {
        let job = &self.jobs[action.index()];
        if !job.is_batch() {
            let time = self.world.core.models[job.model.index()].load;
            return (Span::ZERO, of_load(time, &self.world.load_noise, action));
        }
        let alone = |id: &RequestId| self.facts.requests[id.index()].alone;
        let longest = job.requests.iter().map(alone).max().expect("a batch has requests");
        let kind = self.facts.devices[job.device.index()].spec.kind;
        let law = &self.world.latency[kind as usize][job.model.index()];
        let first = job.requests[0];
        let computes = computes(law, &self.world.noise, job.units, longest, first);
        let computes = of_model(computes, self.world.batch_noise.get(job.model.index()), first);
        let fetches = self.world.core.delays.fetch_per_request.ns() * job.requests.len() as u64;
        (Span::from_ns(fetches), computes)
    }

    pub fn ended(&mut self, action: ActionId) {
        let delays = self.world.core.delays;
        self.stops_to_share(action);
        let job = &self.jobs[action.index()];
        let (device, executor, is_batch) = (job.device, job.executor, job.is_batch());
        let outcome = Outcome::Done { start: job.start, end: self.now, device: job.computes };
        if !is_batch {
            self.facts.devices[device.index()].resident[job.model.index()] = true;
        }
        self.facts.devices[device.index()].executors[executor] = None;
        self.close(action, outcome);
        self.go_on(device, executor);
        match delay(&delays, Message::Reply, action) {
            _ if !is_batch => self.jobs[action.index()].replied = true,
            Span::ZERO => self.reply(action),
            delay => self.schedule(self.now + delay, Due::Reply(action)),
        }
        match delay(&delays, Message::Result, action) {
            Span::ZERO => self.report(action),
            delay => self.schedule(self.now + delay, Due::Report(action)),
        }
    }

    /// The clients have their answers.
    pub fn reply(&mut self, action: ActionId) {
        for id in self.jobs[action.index()].requests.clone() {
            let r = &self.facts.requests[id.index()];
            if r.ended {
                continue;
            }
            let (request, alone) = (r.request, r.alone);
            let in_time = self.now <= request.deadline;
            self.end_request(id, if in_time { End::InTime } else { End::Late });
            if let Some(profiler) = self.world.core.profiler
                && id.0.is_multiple_of(profiler.every)
                && self.policy.wants_profiles()
            {
                let due = Due::Profiled(id, request.app, request.model, alone);
                self.schedule(self.now + profiler.delay, due);
            }
        }
        self.jobs[action.index()].replied = true;
        self.let_go(action);
    }

    /// The policy learns what became of an action.
    pub fn report(&mut self, action: ActionId) {
        let job = &mut self.jobs[action.index()];
        let (device, requests) = (job.device, job.requests.clone());
        let outcome = job.outcome.expect("only what has closed is reported");
        if !job.is_done() {
            job.reported = true;
            self.let_go(action);
        }
        let event = Event::Result { action, device, outcome, requests: &requests };
        self.policy.on(self.now, event, &Known::new(&self.facts), &mut self.actions);
        self.jobs[action.index()].reported = true;
        self.let_go(action);
        self.do_actions();
    }

    /// A batch holds its requests until the policy and, if it was done, the clients have heard of it.
    fn let_go(&mut self, action: ActionId) {
        let job = &self.jobs[action.index()];
        if job.reported && (job.replied || !job.is_done()) {
            for id in &job.requests {
                self.facts.requests[id.index()].held = false;
            }
        }
    }

    pub fn send_stop(&mut self, action: ActionId, preempt: bool) {
        let message = if preempt { Message::Preemption } else { Message::Cancellation };
        match delay(&self.world.core.delays, message, action) {
            Span::ZERO => self.stop(action, preempt),
            delay => self.schedule(self.now + delay, Due::Stop(action, preempt)),
        }
    }

    pub fn stop(&mut self, action: ActionId, preempt: bool) {
        let Some(job) = self.jobs.get(action.index()) else { return };
        let (device, executor, model, is_batch) =
            (job.device, job.executor, job.model, job.is_batch());
        match job.stage {
            Stage::Queued => {
                self.close(action, Outcome::Cancelled);
                self.report_later(action);
            }
            Stage::Running if preempt => {
                let d = &mut self.facts.devices[device.index()];
                if !d.spec.can_preempt {
                    return;
                }
                d.executors[executor] = None;
                if !is_batch && d.spec.memory_pages.is_some() {
                    d.free += self.world.core.models[model.index()].pages;
                }
                self.interrupt(action);
            }
            _ => return,
        }
        self.go_on(device, executor);
    }
}
