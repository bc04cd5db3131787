//! Symphony written down plainly: every set is sorted, every timer is its own, and everything is
//! computed anew whenever it is asked for. It shares only the parameters with the policy.
//!
//! It is slow: each event looks at every model and every GPU.

mod gather;

use crate::cluster::Change;
use crate::policy::symphony::{Config, GpuChoice};
use crate::policy::{Actions, Event, Exec, Known, Outcome, Policy, Refusal, TimerKey};
use crate::profile::ModelProfile;
use crate::request::{ActionId, DeviceId, Drop, ModelId, Request, RequestId};
use crate::time::{Span, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Deadline, id, arrival.
type Waiting = (Time, RequestId, Time);
/// Size, deadline, the moment of dispatch.
type Candidate = (usize, Time, Time);

const SOON: Span = Span::from_ns(1);

#[derive(Default)]
struct Model {
    prefix: BTreeSet<Waiting>,
    suffix: BTreeSet<Waiting>,
    timeout: BTreeSet<Waiting>,
    hits: Vec<Time>,
    candidate: Option<Candidate>,
    plan: Option<Time>,
    invalidate: Option<Time>,
    drop: Option<Time>,
    schedulable: bool,
}

struct Gpu {
    up: bool,
    free: Time,
    changed: u64,
    sent: Vec<(ActionId, Time, Span)>,
}

pub struct Plain {
    config: Config,
    profiles: Vec<ModelProfile>,
    models: Vec<Model>,
    gpus: BTreeMap<u32, Gpu>,
    changes: u64,
    timer: Option<Time>,
}

impl Plain {
    pub fn new(config: Config, profiles: &[ModelProfile]) -> Plain {
        let models = profiles.iter().map(|_| Model::default()).collect();
        let (profiles, gpus) = (profiles.to_vec(), BTreeMap::new());
        Plain { config, profiles, models, gpus, changes: 0, timer: None }
    }

    fn latest(&self, model: usize) -> Time {
        let (b, deadline, _) = self.models[model].candidate.unwrap();
        match deadline {
            Time::NEVER => Time::from_ns(u64::MAX - 1),
            _ => deadline.minus(self.l(model, b)),
        }
    }

    fn refresh(&mut self, now: Time, model: usize, out: &mut Actions) {
        let candidate = self.update(now, model, Time::ZERO, out);
        if candidate.is_some() && candidate == self.models[model].candidate {
            return;
        }
        let m = &mut self.models[model];
        m.candidate = candidate;
        m.schedulable = false;
        (m.plan, m.invalidate, m.drop) = (None, None, None);
        match candidate {
            None => m.drop = m.prefix.first().map(|w| w.0 + SOON),
            Some((b, deadline, moment)) => {
                let lead = self.lead(b);
                let exec = (now + lead).max(moment);
                let latest = self.latest(model);
                let m = &mut self.models[model];
                m.plan = Some(exec.minus(lead).max(now));
                if deadline < Time::NEVER {
                    m.drop = Some(deadline + SOON);
                    m.invalidate = Some(latest.minus(lead) + SOON);
                }
            }
        }
    }

    fn first_gpu(&self, start: Time) -> Option<u32> {
        let free = self.gpus.iter().filter(|g| g.1.up && g.1.free <= start);
        match self.config.gpu {
            GpuChoice::SmallestId if start < Time::NEVER => free.map(|g| *g.0).min(),
            GpuChoice::SmallestId => free.min_by_key(|g| (g.1.free, *g.0)).map(|g| *g.0),
            GpuChoice::EarliestFree => {
                free.min_by_key(|g| (g.1.free, u64::MAX - g.1.changed)).map(|g| *g.0)
            }
        }
    }

    fn gpu_timer(&self) -> Option<Time> {
        let waiting = self.models.iter().filter(|m| m.schedulable);
        let largest = waiting.map(|m| m.candidate.unwrap().0).max()?;
        let first = self.first_gpu(Time::NEVER)?;
        Some(self.gpus[&first].free.minus(self.lead(largest)))
    }

    fn set_free(&mut self, gpu: u32, free: Time) {
        self.changes += 1;
        let g = self.gpus.get_mut(&gpu).unwrap();
        (g.free, g.changed) = (free, self.changes);
    }

    fn grant(&mut self, now: Time, model: usize, gpu: u32, out: &mut Actions) {
        let free = self.gpus[&gpu].free;
        if let Some((b, _, moment)) = self.update(now, model, free, out) {
            let exec = (now + self.lead(b)).max(free).max(moment);
            let m = &mut self.models[model];
            let mut batch = Vec::new();
            for set in [&mut m.timeout, &mut m.prefix, &mut m.suffix] {
                while batch.len() < b
                    && let Some(w) = set.pop_first()
                {
                    batch.push(w.1);
                }
            }
            let wanted = Exec { earliest: exec, ..Exec::now(DeviceId(gpu), ModelId(model as u32)) };
            let action = out.exec(wanted, &batch);
            let latency = self.l(model, b);
            self.gpus.get_mut(&gpu).unwrap().sent.push((action, exec, latency));
            self.set_free(gpu, exec + latency);
        }
        self.models[model].candidate = None;
        self.models[model].schedulable = false;
        self.refresh(now, model, out);
    }

    /// Everything that is due, one thing after another.
    fn run(&mut self, now: Time, out: &mut Actions) {
        let due = |t: Option<Time>| t.is_some_and(|t| t <= now);
        loop {
            let timers = |m: &Model| due(m.plan) || due(m.invalidate) || due(m.drop);
            if let Some(model) = self.models.iter().position(timers) {
                let m = &mut self.models[model];
                if due(m.invalidate) || due(m.drop) {
                    (m.invalidate, m.drop) = (None, None);
                    self.refresh(now, model, out);
                } else {
                    m.plan = None;
                    let b = m.candidate.unwrap().0;
                    match self.first_gpu(now + self.lead(b)) {
                        Some(gpu) => self.grant(now, model, gpu, out),
                        None => self.models[model].schedulable = true,
                    }
                }
            } else if due(self.gpu_timer()) {
                let gpu = self.first_gpu(Time::NEVER).unwrap();
                let free = self.gpus[&gpu].free;
                for model in 0..self.models.len() {
                    if self.models[model].schedulable && self.latest(model) < free {
                        self.models[model].schedulable = false;
                    }
                }
                let waiting = (0..self.models.len()).filter(|&m| self.models[m].schedulable);
                if let Some(model) = waiting.min_by_key(|&m| self.latest(m)) {
                    self.grant(now, model, gpu, out);
                }
            } else {
                return;
            }
        }
    }

    fn enqueue(&mut self, now: Time, r: &Request, out: &mut Actions) {
        let deadline = match r.deadline {
            Time::NEVER => Time::NEVER,
            t => t.minus(self.config.resp),
        };
        let model = r.model.index();
        let m = &mut self.models[model];
        let one = (deadline, r.id, r.arrival);
        if m.timeout.last().is_some_and(|w| *w > one) {
            m.timeout.insert(one);
        } else if m.prefix.last().is_some_and(|w| *w > one) {
            m.prefix.insert(one);
        } else {
            m.suffix.insert(one);
        }
        self.refresh(now, model, out);
    }

    fn ended(&mut self, now: Time, device: DeviceId, action: ActionId, outcome: Outcome) {
        let gpu = self.gpus.get_mut(&device.0).unwrap();
        gpu.sent.retain(|s| s.0 != action);
        let mut free = match outcome {
            Outcome::Done { end, .. } => end,
            _ => now,
        };
        for s in &gpu.sent {
            free = free.max(s.1) + s.2;
        }
        if gpu.up && free != gpu.free {
            self.set_free(device.0, free);
        }
    }

    fn add(&mut self, now: Time, device: DeviceId) {
        let gpu = Gpu { up: true, free: now, changed: 0, sent: Vec::new() };
        self.gpus.insert(device.0, gpu);
        self.set_free(device.0, now);
    }
}

impl Policy for Plain {
    fn name(&self) -> String {
        "plain symphony".into()
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Start => known.devices().iter().for_each(|d| self.add(now, d.id)),
            Event::Arrive(r) => {
                self.models[r.model.index()].hits.push(now);
                self.enqueue(now, r, out);
            }
            Event::Timer(_) => {
                self.timer = None;
                self.run(now, out);
            }
            Event::Result { action, device, outcome, requests } => {
                let gone = matches!(
                    outcome,
                    Outcome::Rejected(Refusal::DeviceDown) | Outcome::Preempted { .. }
                );
                if gone {
                    self.gpus.get_mut(&device.0).unwrap().up = false;
                }
                self.ended(now, device, action, outcome);
                if !matches!(outcome, Outcome::Done { .. }) {
                    for r in requests.iter().filter_map(|&id| known.request(id)) {
                        if gone {
                            self.enqueue(now, r, out);
                        } else {
                            out.end(r.id, Drop::Refused);
                        }
                    }
                }
            }
            Event::Device(device, Change::Up) => self.add(now, device),
            Event::Device(device, _) => self.gpus.get_mut(&device.0).unwrap().up = false,
            Event::Profiled { .. } => {}
        }
        let timers = self.models.iter().flat_map(|m| [m.plan, m.invalidate, m.drop]);
        let next = timers.chain([self.gpu_timer()]).flatten().min();
        // Setting it again for this very instant would move it behind what is due.
        if std::mem::replace(&mut self.timer, next) != next {
            out.set_timer(TimerKey(1), next.unwrap_or(Time::NEVER));
        }
    }
}
