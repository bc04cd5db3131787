//! The naive engine's devices: executors, memory, and how devices come and go.
//!
//! What runs on them is in `work.rs`.

use super::laws::{Message, delay};
use super::{Due, Job, Naive, Stage};
use orrery_sim::cluster::{Change, DeviceSpec, DeviceView};
use orrery_sim::core::DeviceChange;
use orrery_sim::policy::{Event, Outcome, Refusal};
use orrery_sim::request::{ActionId, DeviceId, ModelId};
use orrery_sim::time::Time;

pub struct Dev {
    pub spec: DeviceSpec,
    pub state: Change,
    /// What each executor runs: one for each lane, then the one for loads.
    pub executors: Vec<Option<ActionId>>,
    pub resident: Vec<bool>,
    pub free: u32,
    /// Where batches share it: up to when their work was counted.
    pub shared_until: Time,
}

impl Dev {
    pub fn new(spec: &DeviceSpec, models: usize) -> Dev {
        Dev {
            spec: spec.clone(),
            state: Change::Up,
            executors: vec![None; usize::from(spec.lanes) + 1],
            resident: (0..models as u32)
                .map(|m| match &spec.holds {
                    Some(held) => held.contains(&ModelId(m)),
                    None => spec.memory_pages.is_none(),
                })
                .collect(),
            free: spec.memory_pages.unwrap_or(0),
            shared_until: Time::ZERO,
        }
    }

    pub fn view(&self, id: DeviceId) -> DeviceView {
        DeviceView {
            id,
            kind: self.spec.kind,
            state: self.state,
            can_preempt: self.spec.can_preempt,
            lanes: self.spec.lanes,
            sharing: self.spec.sharing,
            stages: self.spec.stages,
            free_pages: self.spec.memory_pages.map(|_| self.free),
        }
    }

    /// Whether it had the model.
    pub fn unload(&mut self, model: ModelId, pages: u32) -> bool {
        let everything = self.spec.memory_pages.is_none() && self.spec.holds.is_none();
        let leaves = !everything && self.resident[model.index()];
        if leaves {
            self.resident[model.index()] = false;
            self.free += if self.spec.memory_pages.is_some() { pages } else { 0 };
        }
        leaves
    }
}

impl Naive<'_, '_> {
    /// The actions that wait at an executor, in the order in which it takes them.
    pub fn queue(&self, device: DeviceId, executor: usize) -> Vec<ActionId> {
        let here = |j: &Job| j.device == device && j.executor == executor;
        let mut queue: Vec<_> = self
            .jobs
            .iter()
            .enumerate()
            .filter(|(_, j)| here(j) && j.stage == Stage::Queued)
            .map(|(a, j)| (j.earliest, ActionId(a as u64)))
            .collect();
        queue.sort();
        queue.into_iter().map(|q| q.1).collect()
    }

    /// Until when an executor waits that has nothing else to do.
    pub fn waits_until(&self, device: DeviceId, executor: usize) -> Option<Time> {
        if self.facts.devices[device.index()].executors[executor].is_some() {
            return None;
        }
        let first = *self.queue(device, executor).first()?;
        Some(self.jobs[first.index()].earliest)
    }

    fn is_idle(&self, device: DeviceId) -> bool {
        let executors = &self.facts.devices[device.index()].executors;
        let works = |e: usize| executors[e].is_some() || !self.queue(device, e).is_empty();
        !(0..executors.len()).any(works)
    }

    /// Lets an executor do all that it can do now.
    pub fn go_on(&mut self, device: DeviceId, executor: usize) {
        while self.facts.devices[device.index()].executors[executor].is_none() {
            let Some(&action) = self.queue(device, executor).first() else { break };
            let job = &self.jobs[action.index()];
            if self.now < job.earliest {
                break;
            }
            if self.now > job.latest {
                self.refuse(action, Refusal::Late);
            } else {
                self.begin(action);
            }
        }
        if self.facts.devices[device.index()].state == Change::Draining && self.is_idle(device) {
            self.schedule(self.now, Due::Gone(device));
        }
    }

    pub fn show_device(&mut self, device: DeviceId, change: Change) {
        self.observer.device(self.now, device, change);
    }

    fn set_state(&mut self, device: DeviceId, change: Change) {
        self.facts.devices[device.index()].state = change;
        self.show_device(device, change);
    }

    pub fn gone(&mut self, device: DeviceId) {
        if self.facts.devices[device.index()].state == Change::Draining {
            self.set_state(device, Change::Down);
            self.tell(Event::Device(device, Change::Down));
        }
    }

    pub fn drain(&mut self, device: DeviceId) {
        if self.facts.devices[device.index()].state == Change::Up {
            self.set_state(device, Change::Draining);
            if self.is_idle(device) {
                self.schedule(self.now, Due::Gone(device));
            }
        }
    }

    pub fn change(&mut self, change: DeviceChange) {
        match change {
            DeviceChange::Added(spec) => {
                let id = DeviceId(self.facts.devices.len() as u32);
                let models = self.world.core.models.len();
                self.facts.devices.push(Dev::new(&spec, models));
                self.show_device(id, Change::Up);
                self.tell(Event::Device(id, Change::Up));
            }
            DeviceChange::Drain(id) => {
                if self.facts.devices[id.index()].state == Change::Up {
                    self.drain(id);
                    self.tell(Event::Device(id, Change::Draining));
                }
            }
            DeviceChange::Fail(id) => {
                if self.facts.devices[id.index()].state != Change::Down {
                    self.fail(id);
                }
            }
        }
    }

    fn fail(&mut self, id: DeviceId) {
        self.set_state(id, Change::Down);
        for executor in 0..self.facts.devices[id.index()].executors.len() {
            let running = self.facts.devices[id.index()].executors[executor].take();
            if let Some(action) = running {
                self.interrupt(action);
            }
            for action in self.queue(id, executor) {
                self.refuse(action, Refusal::DeviceDown);
            }
        }
        self.tell(Event::Device(id, Change::Down));
    }

    /// What runs is stopped and lost.
    pub fn interrupt(&mut self, action: ActionId) {
        self.unschedule(|due| matches!(due, Due::Ended(a) if *a == action));
        self.stops_to_share(action);
        let ran = self.now - self.jobs[action.index()].start;
        self.close(action, Outcome::Preempted { ran });
        self.report_later(action);
    }

    /// The result of what did not run to its end goes to the policy.
    pub fn report_later(&mut self, action: ActionId) {
        let travels = delay(&self.world.core.delays, Message::Result, action);
        self.schedule(self.now + travels, Due::Report(action));
    }

    pub fn provision(&mut self, kind: u32, count: u32) {
        self.observer.provisioned(self.now, kind, count);
        let Some((spec, delay)) = self.world.provision.get(kind as usize) else { return };
        for _ in 0..count {
            // After every planned change of that instant.
            let change = Due::Change(1 << 32, DeviceChange::Added(spec.clone()));
            self.schedule(self.now + *delay, change);
        }
    }

    pub fn close(&mut self, action: ActionId, outcome: Outcome) {
        let job = &mut self.jobs[action.index()];
        job.stage = Stage::Closed;
        job.outcome = Some(outcome);
        let job = &self.jobs[action.index()];
        let start = (job.start != Time::NEVER).then_some(job.start);
        if !job.is_batch() {
            self.observer.load_closed(self.now, &job.shown_load(action), start, outcome);
        } else {
            self.observer.closed(self.now, &job.shown(action), start, outcome);
        }
    }
}
