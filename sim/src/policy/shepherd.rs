//! Shepherd's online scheduler, Flex (Zhang et al., NSDI 2023), as Symphony compares itself with it
//! (§2.2, §5): eager batching with preemption.
//!
//! Every GPU can run every model. A free one takes the largest batch of all models at once; an
//! arrival may stop a running batch, whose work is then lost, for one that is at least `factor`
//! times as large.
//!
//! ```text
//! candidate(GPU, model):  S <- the GPU's batch, if it is of the model, then the model's queue
//!     the most requests of S, by deadline, whose batch, decided on now, ends by their earliest
//!     deadline; a batch of b ends d_ctrl + d_data·b + l(b) after its decision
//! on completion:          execute the largest candidate of all models
//! on request of model m:  enqueue
//!     for each GPU:
//!         idle:  execute candidate(GPU, m)
//!         busy:  B <- the larger candidate of m and of the model that it runs
//!                if |B| >= factor · |running batch|: preempt; then execute B
//! on preempted:           the stopped requests that are not in B return to their queue;
//!                         execute B; do for their model what a request of it does
//! always first:           drop what could not be in time even alone
//! ```
//!
//! The GPU idles for `d_ctrl + d_data·b` before each batch. A device that cannot preempt is never
//! asked to; it then runs plain largest-batch-first.
//!
//! Looking at every GPU at every arrival is not needed to see that none will be preempted, which is
//! the rule: running batches are kept by size, and only when one of them is small
//! enough are the GPUs looked at one by one. A test compares this with the loop above.
//!
//! # Differences from the paper
//! - Flex alone: no periodic planner (HERD), no groups of GPUs, every model resident everywhere.
//! - Symphony's authors count the request in hand and use the batch's earliest deadline, where the
//!   pseudo-code is silent or misprinted; so does this.
//!
//! # Differences from the released code (Symphony's Flex)
//! - `expired_head_bug=true` brings back that requests are dropped only once the *latest* deadline
//!   of their queue is hopeless, so that one expired head blocks its model. Off by default.
//! - Ties between models go to the smallest; GPUs are looked at by id, the idle ones first. There it
//!   is the order of a hash table.
//! - All queues lose what is hopeless at every event, there only the queues that are looked at.
//! - Stopped requests return when the device reports, not at once, and an idle GPU takes them; the
//!   next batch starts then.
//! - `follow_up=new` is released: after a preemption the arrival's loop is repeated for the *new*
//!   batch's model. `follow_up=preempted` is the pseudo-code's.

mod gpus;
mod queue;
mod running;

use self::gpus::{Batch, Gpus};
use self::queue::{Queue, Queues, Waiting};
use super::free_devices::did_not_run;
use super::{Actions, Event, Exec, Known, Outcome, Policy};
use crate::cluster::Change;
use crate::profile::ModelProfile;
use crate::request::{DeviceId, Drop, ModelId, RequestId};
use crate::time::{Span, Time};
use std::collections::BTreeSet;

/// For which model the arrival's loop is repeated after a preemption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FollowUp {
    /// The new batch's (released).
    New,
    /// That of the requests that returned (paper).
    Preempted,
}

/// Shepherd's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// A batch is stopped for one so many times its size; above 1. Released: 3.03; paper: 3.
    pub factor: f64,
    /// Delay of a decision. Released: 25 us.
    pub ctrl: Span,
    /// Delay of each request's input. Released: 75 us.
    pub data: Span,
    /// Whose loop follows a preemption.
    pub follow_up: FollowUp,
    /// Whether an expired head blocks its model, as in the released code.
    pub expired_head_bug: bool,
    /// The most requests of a batch; no more than the profile has measured. Released: 499.
    pub max_batch: u32,
}

impl Config {
    /// What the authors' code does, but for the bug.
    pub fn released() -> Config {
        Config {
            factor: 3.03,
            ctrl: Span::from_us(25),
            data: Span::from_us(75),
            follow_up: FollowUp::New,
            expired_head_bug: false,
            max_batch: 499,
        }
    }

    /// What the paper says; the network's delays are the scenario's.
    pub fn paper() -> Config {
        let (ctrl, data) = (Span::ZERO, Span::ZERO);
        Config { factor: 3.0, ctrl, data, follow_up: FollowUp::Preempted, ..Config::released() }
    }
}

/// The policy. See the module's text.
pub struct Shepherd {
    config: Config,
    queues: Queues,
    gpus: Gpus,
    /// Models for which the arrival's loop is to be repeated.
    again: BTreeSet<usize>,
    ids: Vec<RequestId>,
}

impl Shepherd {
    /// Shepherd by the profiles' latencies.
    pub fn new(config: Config, profiles: &[ModelProfile]) -> Shepherd {
        let queue =
            |p: &ModelProfile| Queue::new(config.ctrl, config.data, &p.estimates(config.max_batch));
        let queues = Queues::new(profiles.iter().map(queue).collect(), config.expired_head_bug);
        let (gpus, again, ids) = (Gpus::default(), BTreeSet::new(), Vec::new());
        Shepherd { config, queues, gpus, again, ids }
    }

    /// What a GPU that has become free does: the largest batch of all models.
    fn completed(&mut self, now: Time, gpu: usize, out: &mut Actions) {
        let candidates = self.queues.waiting().map(|m| (self.queues[m].candidate(now), m));
        let largest = candidates.max_by_key(|&(size, m)| (size, usize::MAX - m));
        if let Some((size, model)) = largest.filter(|l| l.0 > 0) {
            let batch = self.take(model, size);
            self.execute(now, gpu, model, batch, out);
        }
    }

    /// The arrival's loop, and what follows from it.
    fn arrived(&mut self, now: Time, model: usize, out: &mut Actions) {
        let mut model = model;
        loop {
            self.use_idle(now, model, out);
            if self.may_preempt(now, model) {
                self.queues.changed.clear();
                self.gpus.ids().for_each(|gpu| self.try_preempt(now, gpu, model, out));
            }
            match self.again.pop_first() {
                Some(next) => model = next,
                None => return,
            }
        }
    }

    fn use_idle(&mut self, now: Time, model: usize, out: &mut Actions) {
        while let Some(&gpu) = self.gpus.idle.first() {
            let size = self.queues[model].candidate(now);
            if size == 0 {
                return;
            }
            let batch = self.take(model, size);
            self.execute(now, gpu, model, batch, out);
        }
    }

    fn try_preempt(&mut self, now: Time, gpu: usize, model: usize, out: &mut Actions) {
        let Some(batch) = self.gpus.preemptible(gpu) else { return };
        let (own, running) = (batch.model, batch.requests.len());
        let mut best = (self.queues[own].candidate_with(now, running, batch.first), own);
        if own != model {
            let new = self.queues[model].candidate(now);
            // Of equal ones, the smaller model's.
            if (new, own) > (best.0, model) {
                best = (new, model);
            }
        }
        if self.is_worth(best.0, running) {
            self.preempt(gpu, best.1, best.0, out);
            if best.1 != model && self.config.follow_up == FollowUp::New {
                self.again.insert(best.1);
            }
        }
    }

    fn is_worth(&self, new: usize, running: usize) -> bool {
        new as f64 >= self.config.factor * running as f64
    }

    /// Whether [`Shepherd::try_preempt`] would stop any batch at all.
    fn may_preempt(&mut self, now: Time, model: usize) -> bool {
        let size = self.queues[model].candidate(now);
        let smallest = self.gpus.running.smallest_of_others(model);
        if smallest.is_some_and(|s| self.is_worth(size, s)) || self.own_may_grow(now, model) {
            return true;
        }
        while let Some(&other) = self.queues.changed.first() {
            if self.own_may_grow(now, other) {
                return true;
            }
            // With nothing but time passing, its candidates only shrink.
            self.queues.changed.pop_first();
        }
        false
    }

    /// Whether a batch of the model would be stopped for a larger one of the model.
    fn own_may_grow(&self, now: Time, model: usize) -> bool {
        let queue = &self.queues[model];
        let sizes = self.gpus.running.sizes(model);
        let mut small = sizes.take_while(|&(size, _)| self.is_worth(size + queue.len(), size));
        small.any(|(size, first)| self.is_worth(queue.candidate_with(now, size, first), size))
    }

    /// Stops a batch for a larger one, which is set aside until the device has stopped.
    fn preempt(&mut self, gpu: usize, model: usize, size: usize, out: &mut Actions) {
        let stopped = self.gpus.preemptible(gpu).expect("it is running");
        let (action, running) = (stopped.action, stopped.requests.len());
        let mut then = Vec::with_capacity(size);
        if stopped.model == model {
            then.extend_from_slice(&stopped.requests);
        }
        for w in &stopped.requests {
            out.why(w.id, || format!("its batch of {running} is stopped for one of {size}"));
        }
        self.queues.take(model, size - then.len(), &mut then);
        self.gpus.stop_for(gpu, model, then);
        out.preempt(action);
    }

    fn take(&mut self, model: usize, size: usize) -> Vec<Waiting> {
        let mut batch = Vec::with_capacity(size);
        self.queues.take(model, size, &mut batch);
        batch
    }

    fn execute(
        &mut self,
        now: Time,
        gpu: usize,
        model: usize,
        requests: Vec<Waiting>,
        out: &mut Actions,
    ) {
        let Config { ctrl, data, .. } = self.config;
        let size = requests.len();
        self.ids.clear();
        self.ids.extend(requests.iter().map(|w| w.id));
        out.why_all(&self.ids, || {
            let waiting = self.queues[model].len();
            format!("batch of {size}, the largest candidate; {waiting} of its model still wait")
        });
        let (device, earliest) = (DeviceId(gpu as u32), now + ctrl + data * size as u64);
        let exec = Exec { earliest, ..Exec::now(device, ModelId(model as u32)) };
        let action = out.exec(exec, &self.ids);
        self.gpus.give(gpu, Batch::new(action, model, requests));
        // While it was being stopped, its GPU was not looked at.
        self.queues.note_change(model);
    }

    fn drop_hopeless(&mut self, now: Time, out: &mut Actions) {
        while let Some((model, lost)) = self.queues.pop_hopeless(now) {
            out.why(lost.id, || {
                let late = self.queues[model].lateness_alone(now, lost.deadline);
                format!("even alone, from now, it would end {late} after its deadline")
            });
            out.end(lost.id, Drop::Infeasible);
        }
    }

    fn result(&mut self, now: Time, gpu: usize, outcome: Outcome, out: &mut Actions) {
        let Batch { model, requests, then, .. } = self.gpus.take(gpu);
        let (next, mut then) = then.unwrap_or_default();
        let mut returned = BTreeSet::new();
        match outcome {
            // It ended before it could be stopped.
            Outcome::Done { .. } => then.retain(|w| !requests.contains(w)),
            Outcome::Rejected(_) => {
                then.retain(|w| !requests.contains(w));
                for w in &requests {
                    out.why(w.id, || did_not_run(outcome));
                    out.end(w.id, Drop::Refused);
                }
            }
            Outcome::Preempted { .. } | Outcome::Cancelled => {
                for &w in requests.iter().filter(|w| !then.contains(w)) {
                    out.why(w.id, || format!("{}; it waits again", did_not_run(outcome)));
                    self.queues.give_back(model, w);
                    returned.insert(model);
                }
            }
        }
        if !self.gpus.is_up(gpu) {
            for w in then.drain(..) {
                self.queues.give_back(next, w);
                returned.insert(next);
            }
        }
        self.drop_hopeless(now, out);
        if !then.is_empty() {
            self.execute(now, gpu, next, then, out);
        } else if self.gpus.is_up(gpu) {
            self.completed(now, gpu, out);
        }
        for model in returned {
            match self.config.follow_up {
                FollowUp::Preempted => self.arrived(now, model, out),
                FollowUp::New => self.use_idle(now, model, out),
            }
        }
    }
}

impl Policy for Shepherd {
    fn name(&self) -> String {
        let Config { factor, ctrl, data, follow_up, expired_head_bug, max_batch } = self.config;
        let follow_up = match follow_up {
            FollowUp::New => "new",
            FollowUp::Preempted => "preempted",
        };
        let (ctrl, data) = (ctrl.as_ms_f64(), data.as_ms_f64());
        format!(
            "shepherd[factor={factor},ctrl_ms={ctrl},data_ms={data},follow_up={follow_up},\
             expired_head_bug={expired_head_bug},max_batch={max_batch}]"
        )
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Start => {
                for device in known.devices() {
                    self.gpus.add(device.can_preempt);
                }
            }
            Event::Arrive(r) => {
                let model = r.model.index();
                self.queues.push(model, Waiting { deadline: r.deadline, id: r.id });
                self.drop_hopeless(now, out);
                self.arrived(now, model, out);
            }
            Event::Result { device, outcome, .. } => self.result(now, device.index(), outcome, out),
            Event::Device(device, Change::Up) => {
                let gpu = self.gpus.add(known.devices()[device.index()].can_preempt);
                self.drop_hopeless(now, out);
                self.completed(now, gpu, out);
            }
            Event::Device(device, _) => self.gpus.remove(device.index()),
            Event::Timer(_) | Event::Profiled { .. } => {}
        }
    }
}
