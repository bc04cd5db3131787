//! Symphony (Chen et al., arXiv 2308.07470v2, 2024), §3.2 and Appendix D "Deferred batch scheduling".
//!
//! A batch is not sent as soon as a GPU is free, but at its *frontrun* moment: when one more request
//! would not fit before the deadline of its first one. Nothing is lost by waiting until then, and
//! batches are as large as their deadlines allow; the GPUs fall into a staggered pattern. Each model
//! has one candidate batch; models look for a GPU when their candidate becomes due, and a GPU that
//! becomes free takes the candidate that must start soonest.
//!
//! ```text
//! UpdateCandidate(M):    (Alg. 1 and Fig. 18)
//!     B <- GetBatch(Q_M);  d <- earliest deadline in B;  b <- |B|;  L <- d_ctrl + d_data b
//!     exec   <- max(now + L, d - J - l(b+1) - d_data)
//!     latest <- d - l(b)
//!     if B is another batch than before: its model timer is exec - L, it is not schedulable any more
//! OnNewRequest(r):       enqueue r to Q_M;  UpdateCandidate(M)
//! OnModelTimer(M):       if a GPU is free by exec: Dispatch(M, it), else the candidate is schedulable
//!     just after latest - L it has failed: UpdateCandidate(M)
//! OnGpuTimer(G):         G, the first free GPU, is free in max L of the schedulable candidates:
//!     those with latest < G.free are no longer schedulable
//!     Dispatch(the one with the smallest latest, G)
//! Dispatch(M, G):
//!     UpdateCandidate(M) for a start no earlier than G.free;  send it for exec
//!     G.free <- exec + l(b);  UpdateCandidate(M)
//! ```
//!
//! How a batch is gathered is told in `queue`, the target for its size in `target`.
//!
//! # Cost
//! An arrival changes one queue and one entry of one tournament; whatever else happens costs
//! O(log models + log GPUs). There is one timer of the driver, for whatever is due next; it is left
//! where it is when that moves to a later time, and then goes off for nothing. In one instant,
//! after all results and arrivals, models are served by number and then the GPU, again and again
//! until nothing is due.
//!
//! # Differences from the paper
//! - Comparisons are those of Fig. 18, which are not strict. Those of Algorithm 1 are, and contradict
//!   Figs. 4 and 5, where a GPU takes the next batch at the very instant at which it becomes free.
//! - GPUs' free times are believed, not reported (so is Fig. 18). But a result that contradicts the
//!   belief corrects it, both ways.
//! - `exec` has J and one more d_data, and a candidate is made anew just after `latest - L`, as
//!   released. Fig. 18 has neither; its only other timer is that of the batch's deadline.
//! - An empty grant, when no batch can be made for the GPU any more, leaves the GPU's free time as it
//!   was. Fig. 18 sets it to max(now, G.free), so that an idle GPU counts as free since now, which
//!   matters for `gpu=earliest-free` alone; released, it is `now`, even if the GPU still runs.
//! - Fig. 18 does not cancel the timer of a GPU that is granted by OnModelTimer, nor does the released
//!   code; ours does (see the last point below).
//! - §3.2 leaves GetBatch open; Algorithm 1's is `gather=head`, the default is the released one.
//! - ModelThreads and RankThread (§4.2) are one, and their messages take no time.
//! - Autoscaling (§3.5) is no part of it: [`autoscale`](super::autoscale) goes around any policy.
//!   Nor is the partition into sub-clusters (§4.4), which is `symphony-fig-16`: here every GPU runs
//!   every model.
//!
//! # Differences from the released code (branch `priority`, January 2024)
//! - An arrival that leaves the batch as it was leaves the candidate where it is. Released, it is
//!   planned anew, which comes to the same but for ties.
//! - Candidates with equal `latest` go by model; released, by who became schedulable last.
//! - What is left over when no batch can be made is dropped when its deadline has passed; released,
//!   when the next request comes.
//! - A batch without a deadline is due at once: nothing else bounds its wait. That includes the late
//!   requests of `fcfs`, for which the released code would wait for ever.
//! - The timeout counts from the arrival of the request with the earliest deadline, which is the
//!   oldest when a model has one SLO; a skipped request is kept in order of deadlines likewise.
//! - A GPU whose believed free time has passed while its batch still runs is taken for free, as
//!   released.
//! - Requests of a batch that was lost with its GPU are queued again; those of a batch that was
//!   refused for another reason are dropped.
//! - A batch counts as many items as it has requests.
//! - A GPU that a candidate takes when it becomes due loses its GPU timer. Released, it stays armed: when
//!   it goes off, the GPU is believed busy beyond every `latest`, so that no candidate is
//!   schedulable any more until it is planned anew. That changes some 0.04 % of the batches where
//!   several models share GPUs and reserves are not 0; `stale_gpu_timer=true` does it.

mod config;
mod costs;
mod gpus;
mod model;
mod queue;
mod target;
#[cfg(test)]
mod tests;
mod tournament;

pub use self::config::{Config, Dispatch, Gather, GpuChoice};

use self::gpus::Gpus;
use self::model::{Model, Stage};
use self::tournament::Tournament;
use super::free_devices::{device_is_gone, did_not_run};
use super::parameters::{Build, Settings};
use super::{Actions, Event, Exec, Known, Outcome, Policy, TimerKey};
use crate::cluster::{Change, DeviceView};
use crate::profile::ModelProfile;
use crate::request::{DeviceId, Drop, ModelId, Request, RequestId};
use crate::time::Time;
use std::cmp::Reverse;

/// The policy. See the module's text.
pub struct Symphony {
    config: Config,
    models: Vec<Model>,
    gpus: Gpus,
    /// By model: when something is to be done about it.
    due: Tournament<Time>,
    /// Of the schedulable candidates: `latest`.
    latest: Tournament<Time>,
    /// And their sizes, the largest first.
    sizes: Tournament<Reverse<usize>>,
    /// By GPU: when its timer goes off, with `stale_gpu_timer`.
    armed: Tournament<Time>,
    /// What the timer is set to.
    timer: Time,
    batch: Vec<RequestId>,
}

/// The one timer.
const TIMER: TimerKey = TimerKey(0);

impl Symphony {
    /// Symphony with beliefs from the profiles' laws.
    pub fn new(config: Config, profiles: &[ModelProfile]) -> Symphony {
        let model = |(index, profile): (usize, &ModelProfile)| {
            Model::new(&config, ModelId(index as u32), profile)
        };
        let models: Vec<Model> = profiles.iter().enumerate().map(model).collect();
        let never = || Tournament::new(profiles.len(), Time::NEVER);
        Symphony {
            gpus: Gpus::new(config.gpu),
            due: never(),
            latest: never(),
            sizes: Tournament::new(models.len(), Reverse(0)),
            armed: Tournament::new(1, Time::NEVER),
            timer: Time::NEVER,
            batch: Vec::new(),
            config,
            models,
        }
    }

    /// UpdateCandidate: makes a model's candidate anew, and sets its timer if it is another.
    fn update_candidate(&mut self, now: Time, model: usize, out: &mut Actions) {
        let m = &mut self.models[model];
        let candidate = m.make(&self.config, now, Time::ZERO, out);
        let is_lost = self.config.stale_gpu_timer && m.stage == Stage::Missed;
        if candidate.is_some() && candidate == m.candidate && !is_lost {
            return;
        }
        let stage = match candidate {
            None => Stage::Idle,
            Some(c) => Stage::Planned(c.due.minus(m.costs.lead(c.size)).max(now)),
        };
        m.candidate = candidate;
        self.enter(model, stage);
    }

    /// Dispatch: sends a model's candidate, made anew, to a GPU.
    fn dispatch(&mut self, now: Time, model: usize, gpu: usize, free: Time, out: &mut Actions) {
        if self.config.stale_gpu_timer {
            self.gpus.grant(gpu);
            match self.gpus.first() {
                Some(_) => self.set_gpu_timer(),
                None => self.armed.remove(gpu),
            }
        }
        self.enter(model, Stage::Idle);
        let m = &mut self.models[model];
        if let Some(c) = m.make(&self.config, now, free, out) {
            let start = (now + m.costs.lead(c.size)).max(free).max(c.due);
            let latency = m.costs.latency(c.size);
            self.batch.clear();
            m.queue.take(c.size, &mut self.batch);
            out.why_all(&self.batch, || m.reason(c, start));
            let exec = Exec { earliest: start, ..Exec::now(DeviceId(gpu as u32), m.id) };
            let action = out.exec(exec, &self.batch);
            self.gpus.sent(gpu, action, start, latency);
        } else if self.config.stale_gpu_timer {
            self.gpus.give_back(gpu, free);
        }
        m.candidate = None;
        self.set_gpu_timer();
        self.update_candidate(now, model, out);
    }

    /// OnNewRequest. A request whose batch was lost with its GPU is new again.
    fn on_new_request(&mut self, now: Time, request: &Request, out: &mut Actions) {
        let model = request.model.index();
        self.models[model].enqueue(&self.config, request);
        self.update_candidate(now, model, out);
    }

    /// OnModelTimer: the candidate is due, or has failed.
    fn on_model_timer(&mut self, now: Time, model: usize, out: &mut Actions) {
        let m = &self.models[model];
        let (Some(c), Stage::Planned(at)) = (m.candidate, m.stage) else {
            return self.update_candidate(now, model, out);
        };
        if at > now || m.fails(c) <= now {
            return self.update_candidate(now, model, out);
        }
        match self.gpus.free_at(now + m.costs.lead(c.size)) {
            Some((gpu, free)) => self.dispatch(now, model, gpu, free, out),
            None => self.enter(model, Stage::Waiting),
        }
    }

    /// OnGpuTimer: a GPU takes the schedulable candidate that must start soonest.
    fn on_gpu_timer(&mut self, now: Time, out: &mut Actions) {
        let (gpu, free) = match self.armed.winner() {
            Some(gpu) => {
                self.armed.remove(gpu);
                (gpu, self.gpus.free(gpu))
            }
            None => self.gpus.first().expect("a GPU is due"),
        };
        while let Some(model) = self.latest.winner() {
            if free <= self.latest.min() {
                return self.dispatch(now, model, gpu, free, out);
            }
            self.enter(model, Stage::Missed);
        }
    }

    /// Models by number, then the GPU, until nothing is due.
    fn run_timers(&mut self, now: Time, out: &mut Actions) {
        loop {
            if self.due.min() <= now {
                let model = self.due.winner().expect("one is due");
                self.on_model_timer(now, model, out);
            } else if self.gpu_due() <= now {
                self.on_gpu_timer(now, out);
            } else {
                return;
            }
        }
    }

    /// Moves a model's candidate to another stage.
    fn enter(&mut self, model: usize, stage: Stage) {
        let m = &mut self.models[model];
        let changes = (stage == Stage::Waiting) != (m.stage == Stage::Waiting);
        if stage == Stage::Waiting {
            let c = m.candidate.expect("a candidate that waits");
            self.latest.set(model, m.latest(c));
            self.sizes.set(model, Reverse(c.size));
        } else if m.stage == Stage::Waiting {
            self.latest.remove(model);
            self.sizes.remove(model);
        }
        m.stage = stage;
        self.due.set(model, m.due());
        if changes {
            self.set_gpu_timer();
        }
    }

    /// With `stale_gpu_timer`: sets the timer of the GPU that is free first. The others' stay.
    fn set_gpu_timer(&mut self) {
        if self.config.stale_gpu_timer
            && let Some((gpu, _)) = self.gpus.first()
        {
            self.armed.set(gpu, self.first_gpu_due());
        }
    }

    /// When a GPU is to be matched with a schedulable candidate.
    fn gpu_due(&self) -> Time {
        if self.config.stale_gpu_timer { self.armed.min() } else { self.first_gpu_due() }
    }

    fn first_gpu_due(&self) -> Time {
        let (Reverse(largest), free) = (self.sizes.min(), self.gpus.first_free());
        match largest {
            0 => Time::NEVER,
            _ if free == Time::NEVER => Time::NEVER,
            size => free.minus(self.config.ctrl + self.config.data * size as u64),
        }
    }

    fn remove(&mut self, device: DeviceId) {
        self.gpus.remove(device);
        self.armed.remove(device.index());
        self.set_gpu_timer();
    }

    fn result(&mut self, now: Time, event: &Event<'_>, known: &Known<'_>, out: &mut Actions) {
        let Event::Result { action, device, outcome, requests } = *event else { return };
        let gone = device_is_gone(outcome);
        if gone {
            self.remove(device);
        }
        self.gpus.ended(now, device, action, outcome);
        self.set_gpu_timer();
        if matches!(outcome, Outcome::Done { .. }) {
            return;
        }
        for request in requests.iter().filter_map(|&id| known.request(id)) {
            if gone {
                self.on_new_request(now, request, out);
            } else {
                out.why(request.id, || did_not_run(outcome));
                out.end(request.id, Drop::Refused);
            }
        }
    }

    /// Sets the timer unless it goes off early enough already. With nothing to come it is cleared,
    /// so that it does not make the run longer.
    #[inline]
    fn set_timer(&mut self, out: &mut Actions) {
        let next = self.due.min().min(self.gpu_due());
        if next < self.timer {
            out.set_timer(TIMER, next);
        } else if next == Time::NEVER && self.timer != Time::NEVER {
            out.clear_timer(TIMER);
        } else {
            return;
        }
        self.timer = next;
    }
}

impl Build for Config {
    fn build(self, profiles: &[ModelProfile], _: u64) -> Box<dyn Policy> {
        Box::new(Symphony::new(self, profiles))
    }
}

impl Policy for Symphony {
    fn name(&self) -> String {
        self.config.name()
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Arrive(request) => {
                self.models[request.model.index()].hit(&self.config, now);
                self.on_new_request(now, request, out);
            }
            Event::Timer(_) => {
                self.timer = Time::NEVER;
                self.run_timers(now, out);
            }
            Event::Result { .. } => self.result(now, &event, known, out),
            Event::Start => {
                let up = |d: &DeviceView| d.state == Change::Up;
                let devices = known.devices();
                devices.iter().filter(|d| up(d)).for_each(|d| self.gpus.add(now, d.id));
            }
            Event::Device(device, Change::Up) => {
                self.gpus.add(now, device);
                self.set_gpu_timer();
            }
            Event::Device(device, _) => self.remove(device),
            Event::Profiled { .. } => return,
        }
        self.set_timer(out);
    }
}
