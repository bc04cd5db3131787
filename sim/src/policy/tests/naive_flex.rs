//! Flex as its pseudo-code reads: every queue sorted anew, every model and every GPU looked at each
//! time. It shares nothing with `shepherd` but its parameters.
//!
//! It knows no delays and no GPU that comes or goes.

use crate::policy::shepherd::{Config, FollowUp, Return};
use crate::policy::{Actions, Event, Exec, Known, Outcome, Policy};
use crate::profile::ModelProfile;
use crate::request::{ActionId, DeviceId, Drop, ModelId, RequestId};
use crate::time::{Span, Time};

type Waiting = (Time, RequestId);

#[derive(Default)]
struct Gpu {
    can_preempt: bool,
    /// What it runs: action, model, requests.
    batch: Option<(ActionId, usize, Vec<Waiting>)>,
    /// What it will run when that has been stopped.
    then: Option<(usize, Vec<Waiting>)>,
}

impl Gpu {
    /// The batch that counts: with `at_once`, what it will run.
    fn counts(&self, at_once: bool) -> Option<(usize, &[Waiting])> {
        match (&self.then, &self.batch) {
            (Some((model, then)), _) if at_once => Some((*model, then)),
            (_, Some((_, model, batch))) => Some((*model, batch)),
            _ => None,
        }
    }
}

pub struct Naive {
    config: Config,
    latency: Vec<Vec<Span>>,
    queues: Vec<Vec<Waiting>>,
    gpus: Vec<Gpu>,
}

impl Naive {
    pub fn new(config: Config, profiles: &[ModelProfile]) -> Naive {
        let latency: Vec<_> = profiles.iter().map(|p| p.estimates(config.max_batch)).collect();
        let queues = vec![Vec::new(); profiles.len()];
        Naive { config, latency, queues, gpus: Vec::new() }
    }

    fn at_once(&self) -> bool {
        self.config.returns == Return::AtOnce
    }

    fn late(&self, now: Time, model: usize, size: usize, deadline: Time) -> bool {
        let Some(&latency) = self.latency[model].get(size - 1) else { return true };
        now + self.config.ctrl + self.config.data * size as u64 + latency > deadline
    }

    fn candidate(&self, now: Time, gpu: usize, model: usize) -> Vec<Waiting> {
        let mut all = Vec::new();
        if let Some((own, batch)) = self.gpus[gpu].counts(self.at_once())
            && own == model
        {
            all.extend_from_slice(batch);
        }
        all.extend_from_slice(&self.queues[model]);
        let mut taken: Vec<Waiting> = Vec::new();
        for w in all {
            let earliest = taken.iter().map(|t| t.0).min().unwrap_or(w.0).min(w.0);
            if self.late(now, model, taken.len() + 1, earliest) {
                break;
            }
            taken.push(w);
        }
        taken
    }

    fn largest(&self, now: Time, gpu: usize, models: &[usize]) -> (usize, Vec<Waiting>) {
        let mut best = (0, Vec::new());
        for &model in models {
            let new = self.candidate(now, gpu, model);
            if new.len() > best.1.len() {
                best = (model, new);
            }
        }
        best
    }

    fn drop_hopeless(&mut self, now: Time, out: &mut Actions) {
        for model in 0..self.queues.len() {
            self.queues[model].sort();
            let hopeless = |w: &Waiting| self.late(now, model, 1, w.0);
            let stay = |w: &Waiting| match self.config.expired_head_bug {
                true => !self.queues[model].iter().all(hopeless),
                false => !hopeless(w),
            };
            let (stay, go): (Vec<_>, Vec<_>) = self.queues[model].iter().partition(|w| stay(w));
            self.queues[model] = stay;
            go.into_iter().for_each(|w: Waiting| out.end(w.1, Drop::Infeasible));
        }
    }

    fn run(&mut self, now: Time, gpu: usize, model: usize, batch: Vec<Waiting>, out: &mut Actions) {
        self.queues[model].retain(|w| !batch.contains(w));
        let runs = |w: &Waiting, g: &Gpu| g.batch.as_ref().is_some_and(|b| b.2.contains(w));
        if batch.iter().any(|w| self.gpus.iter().any(|g| runs(w, g))) {
            // Some device has not reported yet that it has stopped.
            self.gpus[gpu].then = Some((model, batch));
            return;
        }
        let wait = self.config.ctrl + self.config.data * batch.len() as u64;
        let ids: Vec<RequestId> = batch.iter().map(|w| w.1).collect();
        let exec = Exec::now(DeviceId(gpu as u32), ModelId(model as u32));
        let action = out.exec(Exec { earliest: now + wait, ..exec }, &ids);
        self.gpus[gpu].batch = Some((action, model, batch));
    }

    fn use_idle(&mut self, now: Time, model: usize, out: &mut Actions) {
        for gpu in 0..self.gpus.len() {
            let (_, batch) = self.largest(now, gpu, &[model]);
            let Gpu { batch: None, then: None, .. } = self.gpus[gpu] else { continue };
            if !batch.is_empty() {
                self.run(now, gpu, model, batch, out);
            }
        }
    }

    fn arrived(&mut self, now: Time, model: usize, out: &mut Actions) {
        let mut models = vec![model];
        while !models.is_empty() {
            models.sort();
            models.dedup();
            let model = models.remove(0);
            self.use_idle(now, model, out);
            for gpu in 0..self.gpus.len() {
                let g = &self.gpus[gpu];
                let Some((own, batch)) = g.counts(self.at_once()) else { continue };
                if !g.can_preempt || g.then.is_some() && !self.at_once() {
                    continue;
                }
                let batch = batch.to_vec();
                let mut both = [own, model];
                both.sort();
                let (best, new) = self.largest(now, gpu, &both);
                if new.len() as f64 >= self.config.factor * batch.len() as f64 {
                    self.queues[best].retain(|w| !new.contains(w));
                    if self.at_once() && best != own {
                        self.queues[own].extend(batch);
                        self.queues[own].sort();
                        if self.config.follow_up == FollowUp::Preempted {
                            models.push(own);
                        }
                    }
                    let g = &mut self.gpus[gpu];
                    if g.then.replace((best, new)).is_none() {
                        out.preempt(g.batch.as_ref().expect("it is busy").0);
                    } else if g.batch.is_none() {
                        self.run_planned(now, out);
                    }
                    if best != model && self.config.follow_up == FollowUp::New {
                        models.push(best);
                    }
                }
            }
        }
    }

    /// Runs what was planned for GPUs that have stopped.
    fn run_planned(&mut self, now: Time, out: &mut Actions) {
        for gpu in 0..self.gpus.len() {
            let Gpu { batch: None, then: Some((model, new)), .. } = &self.gpus[gpu] else {
                continue;
            };
            let (model, new) = (*model, new.clone());
            self.gpus[gpu].then = None;
            self.run(now, gpu, model, new, out);
        }
    }

    fn ended(&mut self, now: Time, gpu: usize, outcome: Outcome, out: &mut Actions) {
        let (_, model, batch) = self.gpus[gpu].batch.take().expect("it ran");
        if self.at_once() && self.gpus[gpu].then.is_some() {
            assert!(!matches!(outcome, Outcome::Done { .. }), "there are no delays");
            self.drop_hopeless(now, out);
            return self.run_planned(now, out);
        }
        let then = self.gpus[gpu].then.take();
        let mut returned = Vec::new();
        if let Some((_, new)) = &then {
            assert!(!matches!(outcome, Outcome::Done { .. }), "there are no delays");
            returned.extend(batch.into_iter().filter(|w| !new.contains(w)));
        }
        let return_some = !returned.is_empty();
        self.queues[model].extend(returned);
        self.drop_hopeless(now, out);
        let models: Vec<usize> = (0..self.queues.len()).collect();
        let (next, new) = then.unwrap_or_else(|| self.largest(now, gpu, &models));
        if !new.is_empty() {
            self.run(now, gpu, next, new, out);
        }
        match self.config.follow_up {
            FollowUp::Preempted if return_some => self.arrived(now, model, out),
            FollowUp::New if return_some => self.use_idle(now, model, out),
            _ => {}
        }
    }
}

impl Policy for Naive {
    fn name(&self) -> String {
        "naive flex".into()
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Start => {
                let gpu = |can_preempt| Gpu { can_preempt, ..Gpu::default() };
                self.gpus = known.devices().iter().map(|d| gpu(d.can_preempt)).collect();
            }
            Event::Arrive(r) => {
                self.queues[r.model.index()].push((r.deadline, r.id));
                self.drop_hopeless(now, out);
                self.arrived(now, r.model.index(), out);
            }
            Event::Result { device, outcome, .. } => self.ended(now, device.index(), outcome, out),
            _ => {}
        }
    }
}
