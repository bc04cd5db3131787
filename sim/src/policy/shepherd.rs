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
//!                (return=at-once: the stopped requests that are not in B return to their queue)
//!     if some B was of another model: do for it what a request of it does (follow_up=new)
//! on preempted:           execute B
//!                         (return=on-report: the stopped requests return only now)
//! always first:           drop what could not be in time even alone
//! ```
//!
//! With `return=at-once` a GPU that comes later in the loop may put stopped requests into a batch of
//! its own while the device that ran them has not reported yet. Until it has, they belong to the
//! stopped batch: the new one is decided on, can itself be stopped again, and is sent in the instant
//! of the last report that it waits for. If a batch ends before it can be stopped, its result stands,
//! and its requests leave wherever they were put.
//!
//! The GPU idles for `d_ctrl + d_data·b` before each batch. A device that cannot preempt is never
//! asked to; it then runs plain largest-batch-first.
//!
//! Looking at every GPU at every arrival is not needed to see which will be preempted, mostly none: running
//! batches are kept by size. A test compares this with the loop above.
//!
//! # Differences from the paper
//! - Flex alone: no periodic planner (HERD), no groups of GPUs, every model resident everywhere.
//! - Symphony's authors count the request in hand and use the batch's earliest deadline, where the
//!   pseudo-code is silent or misprinted; so does this.
//!
//! # Differences from the released code (Symphony's Flex)
//! - That code drops requests only once the *latest* deadline of their queue is hopeless, so that one
//!   expired head blocks its model. So does this by default; `expired_head_bug=false` is mended.
//! - Ties between models go to the smallest; GPUs are looked at by id, the idle ones first. There it
//!   is the order of a hash table.
//! - All queues lose what is hopeless at every event, there only the queues that are looked at.
//! - `return=at-once` is released; with `return=on-report` stopped requests return when the device
//!   reports, an idle GPU takes them, and the reserves of the next batch begin then. With one model,
//!   and results that take no time, the two are the same.
//! - `follow_up=new` is released: after a preemption the arrival's loop is repeated for the *new*
//!   batch's model. `follow_up=preempted` is the pseudo-code's.

mod config;
mod gpus;
mod queue;
mod running;
mod stop;

pub use self::config::{Config, FollowUp, Return};

use self::gpus::{Batch, Gpus};
use self::queue::{Queue, Queues, Waiting};
use super::free_devices::did_not_run;
use super::parameters::{Build, Settings};
use super::{Actions, Event, Exec, Known, Outcome, Policy};
use crate::cluster::Change;
use crate::ordered::SortedSet;
use crate::profile::ModelProfile;
use crate::request::{ActionId, DeviceId, Drop, ModelId, RequestId};
use crate::time::Time;

/// The policy. See the module's text.
pub struct Shepherd {
    config: Config,
    queues: Queues,
    gpus: Gpus,
    /// Models for which the arrival's loop is to be repeated.
    again: SortedSet<usize>,
    /// Requests of stopped batches whose devices have not reported, but for those that were dropped.
    held: SortedSet<RequestId>,
    ids: Vec<RequestId>,
}

impl Shepherd {
    /// Shepherd by the profiles' latencies.
    pub fn new(config: Config, profiles: &[ModelProfile]) -> Shepherd {
        let queue =
            |p: &ModelProfile| Queue::new(config.ctrl, config.data, &p.estimates(config.max_batch));
        let queues = Queues::new(profiles.iter().map(queue).collect(), config.expired_head_bug);
        let (gpus, again, held) = (Gpus::default(), SortedSet::default(), SortedSet::default());
        Shepherd { config, queues, gpus, again, held, ids: Vec::new() }
    }

    /// What a GPU that has become free does: the largest batch of all models.
    fn completed(&mut self, now: Time, gpu: usize, out: &mut Actions) {
        let mut largest: Option<(usize, usize)> = None;
        for model in self.queues.waiting() {
            // Of equal ones, the smaller model's.
            let least = largest.map_or(1, |(size, of)| size + usize::from(of < model));
            if self.queues[model].allows(now, least) {
                largest = Some((self.queues[model].candidate(now), model));
            }
        }
        if let Some((size, model)) = largest {
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
                self.preempt_all(now, model, out);
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

    /// Tries every GPU, by id. Those that would not be stopped are passed over without a look.
    fn preempt_all(&mut self, now: Time, model: usize, out: &mut Actions) {
        let mut growing = std::mem::take(&mut self.queues.changed);
        growing.insert(model);
        let mut from = 0;
        while let Some(gpu) = self.next_to_stop(now, model, &growing, from) {
            self.try_preempt(now, gpu, model, out);
            from = gpu + 1;
            self.queues.changed.iter().for_each(|model| _ = growing.insert(*model));
        }
    }

    /// The first GPU from `from` on that [`Shepherd::try_preempt`] would stop: for a batch of the model, or
    /// for a larger one of its own model, if that is `growing`.
    fn next_to_stop(
        &self,
        now: Time,
        model: usize,
        growing: &SortedSet<usize>,
        from: usize,
    ) -> Option<usize> {
        let size = self.queues[model].candidate(now);
        let running = &self.gpus.running;
        let small = (1..=running.largest()).take_while(|&s| self.is_worth(size, s));
        let is_other = |gpu: &usize| self.gpus.preemptible(*gpu).is_some_and(|b| b.model != model);
        let others = small.filter_map(|s| running.of_size(s, from).find(is_other));
        let mut first = others.min().unwrap_or(usize::MAX);
        for &own in growing.iter().filter(|&&own| self.own_may_grow(now, own)) {
            let queue = &self.queues[own];
            let small = running.of_model(own).take_while(|b| self.is_worth(b.0 + queue.len(), b.0));
            for &(size, deadline, gpu) in small {
                let is_next = from <= gpu && gpu < first;
                if is_next && self.is_worth(queue.candidate_with(now, size, deadline), size) {
                    first = gpu;
                }
            }
        }
        (first < usize::MAX).then_some(first)
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
            self.preempt(now, gpu, best.1, best.0, out);
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
        self.gpus.give(gpu, Batch::new(now, model, requests));
        self.gpus.list(gpu);
        self.send(gpu, out);
    }

    /// Sends the batch that was decided on for a GPU, if nothing holds it up; whether nothing does.
    fn send(&mut self, gpu: usize, out: &mut Actions) -> bool {
        let Config { ctrl, data, .. } = self.config;
        let is_up = self.gpus.is_up(gpu);
        let Some(batch) = self.gpus.unsent_batch(gpu) else { return false };
        if batch.requests.iter().any(|w| self.held.contains(&w.id)) {
            return false;
        }
        let (model, size, decided) = (batch.model, batch.requests.len(), batch.decided);
        if size == 0 || !is_up {
            return true;
        }
        self.ids.clear();
        self.ids.extend(batch.requests.iter().map(|w| w.id));
        out.why_all(&self.ids, || {
            let waiting = self.queues[model].len();
            format!("batch of {size}, the largest candidate; {waiting} of its model still wait")
        });
        let (device, earliest) = (DeviceId(gpu as u32), decided + ctrl + data * size as u64);
        let exec = Exec { earliest, ..Exec::now(device, ModelId(model as u32)) };
        let action = out.exec(exec, &self.ids);
        self.gpus.sent(gpu, action);
        self.gpus.list(gpu);
        // Until now its GPU may not have been looked at.
        self.queues.note_change(model);
        true
    }

    fn drop_hopeless(&mut self, now: Time, out: &mut Actions) {
        while let Some((model, lost)) = self.queues.pop_hopeless(now) {
            out.why(lost.id, || {
                let late = self.queues[model].lateness_alone(now, lost.deadline);
                format!("even alone, from now, it would end {late} after its deadline")
            });
            out.end(lost.id, Drop::Infeasible);
            self.held.remove(&lost.id);
        }
    }

    /// A batch that was not to be stopped is over.
    fn ended(&mut self, now: Time, gpu: usize, outcome: Outcome, out: &mut Actions) {
        let Batch { model, requests, .. } = self.gpus.take(gpu);
        let mut returned = SortedSet::default();
        match outcome {
            Outcome::Done { .. } => {}
            Outcome::Rejected(_) => {
                for w in &requests {
                    out.why(w.id, || did_not_run(outcome));
                    out.end(w.id, Drop::Refused);
                }
            }
            Outcome::Preempted { .. } | Outcome::Cancelled => {
                self.return_all(model, &requests, outcome, out);
                returned.insert(model);
            }
        }
        self.drop_hopeless(now, out);
        if self.gpus.is_up(gpu) {
            self.completed(now, gpu, out);
        }
        self.follow(now, returned, out);
    }

    fn return_all(
        &mut self,
        model: usize,
        requests: &[Waiting],
        outcome: Outcome,
        out: &mut Actions,
    ) {
        for &w in requests {
            out.why(w.id, || format!("{}; it waits again", did_not_run(outcome)));
            self.queues.give_back(model, w);
        }
    }

    /// What follows when requests of these models have returned.
    fn follow(&mut self, now: Time, returned: SortedSet<usize>, out: &mut Actions) {
        for &model in returned.iter() {
            match self.config.follow_up {
                FollowUp::Preempted => self.arrived(now, model, out),
                FollowUp::New => self.use_idle(now, model, out),
            }
        }
    }

    fn result(
        &mut self,
        now: Time,
        action: ActionId,
        gpu: usize,
        outcome: Outcome,
        out: &mut Actions,
    ) {
        match self.gpus.end_stop(gpu, action) {
            Some(stopped) => self.stopped(now, gpu, &stopped, outcome, out),
            None => self.ended(now, gpu, outcome, out),
        }
    }
}

impl Build for Config {
    fn build(self, profiles: &[ModelProfile], _: u64) -> Box<dyn Policy> {
        Box::new(Shepherd::new(self, profiles))
    }
}

impl Policy for Shepherd {
    fn name(&self) -> String {
        self.config.name()
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
            Event::Result { action, device, outcome, .. } => {
                self.result(now, action, device.index(), outcome, out);
            }
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
