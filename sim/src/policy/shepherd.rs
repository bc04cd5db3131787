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
//! the rule: [`running::Running`] keeps running batches by size, and only when one of them is small
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

mod queue;
mod running;

use self::queue::{Queue, Waiting, first_deadline};
use self::running::Running;
use super::free_devices::did_not_run;
use super::{Actions, Event, Exec, Known, Outcome, Policy};
use crate::cluster::Change;
use crate::profile::ModelProfile;
use crate::request::{ActionId, DeviceId, Drop, ModelId, RequestId};
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

struct Batch {
    action: ActionId,
    model: usize,
    requests: Vec<Waiting>,
    first: Time,
    /// What it is being stopped for.
    then: Option<(usize, Vec<Waiting>)>,
}

struct Gpu {
    up: bool,
    can_preempt: bool,
    batch: Option<Batch>,
    /// Whether its batch is in `running`.
    listed: bool,
}

/// The policy. See the module's text.
pub struct Shepherd {
    config: Config,
    queues: Vec<Queue>,
    /// By id.
    gpus: Vec<Gpu>,
    idle: BTreeSet<usize>,
    running: Running,
    /// When each queue next has something to drop.
    hopeless: BTreeSet<(Time, usize)>,
    /// Models whose own batches might be stopped for larger ones since something else than an
    /// arrival has changed their queue.
    changed: BTreeSet<usize>,
    /// Models for which the arrival's loop is to be repeated.
    again: BTreeSet<usize>,
    ids: Vec<RequestId>,
}

impl Shepherd {
    /// Shepherd by the profiles' latencies.
    pub fn new(config: Config, profiles: &[ModelProfile]) -> Shepherd {
        let queue =
            |p: &ModelProfile| Queue::new(config.ctrl, config.data, &p.estimates(config.max_batch));
        Shepherd {
            config,
            queues: profiles.iter().map(queue).collect(),
            gpus: Vec::new(),
            idle: BTreeSet::new(),
            running: Running::default(),
            hopeless: BTreeSet::new(),
            changed: BTreeSet::new(),
            again: BTreeSet::new(),
            ids: Vec::new(),
        }
    }

    /// The arrival's loop, and what follows from it.
    fn arrived(&mut self, now: Time, model: usize, out: &mut Actions) {
        let mut model = model;
        loop {
            self.use_idle(now, model, out);
            if self.may_preempt(now, model) {
                self.changed.clear();
                (0..self.gpus.len()).for_each(|gpu| self.try_preempt(now, gpu, model, out));
            }
            match self.again.pop_first() {
                Some(next) => model = next,
                None => return,
            }
        }
    }

    fn use_idle(&mut self, now: Time, model: usize, out: &mut Actions) {
        while let Some(&gpu) = self.idle.first() {
            let size = self.queues[model].candidate(now);
            if size == 0 {
                return;
            }
            let batch = self.take(model, size);
            self.execute(now, gpu, model, batch, out);
        }
    }

    /// Whether any GPU at all would be preempted; exact, but for the factor's rounding.
    fn may_preempt(&mut self, now: Time, model: usize) -> bool {
        let size = self.queues[model].candidate(now);
        let smallest = self.running.smallest_of_others(model);
        if smallest.is_some_and(|s| self.is_worth(size, s)) || self.own_may_grow(now, model) {
            return true;
        }
        while let Some(&other) = self.changed.first() {
            if self.own_may_grow(now, other) {
                return true;
            }
            // With nothing but time passing, its candidates only shrink.
            self.changed.pop_first();
        }
        false
    }

    fn is_worth(&self, new: usize, running: usize) -> bool {
        new as f64 >= self.config.factor * running as f64
    }

    /// Whether a batch of the model would be stopped for a larger one of the model.
    fn own_may_grow(&self, now: Time, model: usize) -> bool {
        let queue = &self.queues[model];
        let sizes = self.running.sizes(model);
        let mut small = sizes.take_while(|&(size, _)| self.is_worth(size + queue.len(), size));
        small.any(|(size, first)| self.is_worth(queue.candidate_with(now, size, first), size))
    }

    fn try_preempt(&mut self, now: Time, gpu: usize, model: usize, out: &mut Actions) {
        let Some(batch) = self.gpus[gpu].batch.as_ref().filter(|_| self.gpus[gpu].listed) else {
            return;
        };
        let (own, running) = (batch.model, batch.requests.len());
        let mut best = (self.queues[own].candidate_with(now, running, batch.first), own);
        if own != model {
            let new = self.queues[model].candidate(now);
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

    /// Stops a batch for a larger one, which is set aside until the device has stopped.
    fn preempt(&mut self, gpu: usize, model: usize, size: usize, out: &mut Actions) {
        self.unlist(gpu);
        let stopped = self.gpus[gpu].batch.as_ref().expect("it is busy");
        let (action, running) = (stopped.action, stopped.requests.len());
        let mut then = Vec::new();
        if stopped.model == model {
            then.extend_from_slice(&stopped.requests);
        }
        for w in &stopped.requests {
            out.why(w.id, || format!("its batch of {running} is stopped for one of {size}"));
        }
        then.extend(self.take(model, size - then.len()));
        self.gpus[gpu].batch.as_mut().expect("it is busy").then = Some((model, then));
        out.preempt(action);
    }

    /// What a GPU that has become free does: the largest batch of all models.
    fn completed(&mut self, now: Time, gpu: usize, out: &mut Actions) {
        let candidates = self.queues.iter().enumerate().map(|(m, q)| (q.candidate(now), m));
        let largest = candidates.max_by_key(|&(size, m)| (size, usize::MAX - m));
        self.idle.insert(gpu);
        if let Some((size, model)) = largest
            && size > 0
        {
            let batch = self.take(model, size);
            self.execute(now, gpu, model, batch, out);
        }
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
        let first = first_deadline(&requests);
        self.idle.remove(&gpu);
        self.changed.insert(model);
        let g = &mut self.gpus[gpu];
        g.batch = Some(Batch { action, model, requests, first, then: None });
        if g.can_preempt {
            g.listed = true;
            self.running.insert(model, (size, first, gpu));
        }
    }

    /// A batch that is being stopped, has ended or is on a device that goes cannot be preempted.
    fn unlist(&mut self, gpu: usize) {
        let g = &mut self.gpus[gpu];
        if let Some(batch) = g.batch.as_ref().filter(|_| g.listed) {
            self.running.remove(batch.model, (batch.requests.len(), batch.first, gpu));
            g.listed = false;
        }
    }

    fn take(&mut self, model: usize, size: usize) -> Vec<Waiting> {
        let batch = self.queues[model].take(size).collect();
        self.watch(model);
        batch
    }

    fn give_back(&mut self, model: usize, request: Waiting) {
        self.queues[model].push(request);
        self.watch(model);
        self.changed.insert(model);
    }

    /// Notes when the model's queue next has something to drop.
    fn watch(&mut self, model: usize) {
        let queue = &mut self.queues[model];
        let at = queue.hopeless_from(self.config.expired_head_bug);
        if at != queue.watched {
            let before = std::mem::replace(&mut queue.watched, at);
            before.map(|t| self.hopeless.remove(&(t, model)));
            at.map(|t| self.hopeless.insert((t, model)));
        }
    }

    fn drop_hopeless(&mut self, now: Time, out: &mut Actions) {
        while let Some(&(at, model)) = self.hopeless.first()
            && at <= now
        {
            while let Some(lost) = self.queues[model].pop_hopeless(now) {
                out.why(lost.id, || {
                    let late = self.queues[model].lateness_alone(now, lost.deadline);
                    format!("even alone, from now, it would end {late} after its deadline")
                });
                out.end(lost.id, Drop::Infeasible);
            }
            self.watch(model);
            self.changed.insert(model);
        }
    }

    fn result(&mut self, now: Time, gpu: usize, outcome: Outcome, out: &mut Actions) {
        self.unlist(gpu);
        let g = &mut self.gpus[gpu];
        let up = g.up;
        let batch = g.batch.take().expect("a GPU ends what it was given");
        let (next, mut then) = batch.then.unwrap_or_default();
        let mut returned = BTreeSet::new();
        match outcome {
            Outcome::Done { .. } => then.retain(|w| !batch.requests.contains(w)),
            Outcome::Rejected(_) => {
                then.retain(|w| !batch.requests.contains(w));
                for w in &batch.requests {
                    out.why(w.id, || did_not_run(outcome));
                    out.end(w.id, Drop::Refused);
                }
            }
            Outcome::Preempted { .. } | Outcome::Cancelled => {
                for &w in batch.requests.iter().filter(|w| !then.contains(w)) {
                    out.why(w.id, || format!("{}; it waits again", did_not_run(outcome)));
                    self.give_back(batch.model, w);
                    returned.insert(batch.model);
                }
            }
        }
        if !up && !then.is_empty() {
            then.drain(..).for_each(|w| self.give_back(next, w));
            returned.insert(next);
        }
        self.drop_hopeless(now, out);
        if !then.is_empty() {
            self.execute(now, gpu, next, then, out);
        } else if up {
            self.completed(now, gpu, out);
        }
        for model in returned {
            match self.config.follow_up {
                FollowUp::Preempted => self.arrived(now, model, out),
                FollowUp::New => self.use_idle(now, model, out),
            }
        }
    }

    fn device_up(&mut self, now: Time, can_preempt: bool, out: &mut Actions) {
        self.gpus.push(Gpu { up: true, can_preempt, batch: None, listed: false });
        self.completed(now, self.gpus.len() - 1, out);
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
                known.devices().iter().for_each(|d| self.device_up(now, d.can_preempt, out));
            }
            Event::Arrive(r) => {
                let model = r.model.index();
                self.queues[model].push(Waiting { deadline: r.deadline, id: r.id });
                self.watch(model);
                self.drop_hopeless(now, out);
                self.arrived(now, model, out);
            }
            Event::Result { device, outcome, .. } => self.result(now, device.index(), outcome, out),
            Event::Device(device, Change::Up) => {
                let can_preempt = known.devices()[device.index()].can_preempt;
                self.drop_hopeless(now, out);
                self.device_up(now, can_preempt, out);
            }
            Event::Device(device, _) => {
                self.unlist(device.index());
                self.idle.remove(&device.index());
                self.gpus[device.index()].up = false;
            }
            Event::Timer(_) | Event::Profiled { .. } => {}
        }
    }
}
