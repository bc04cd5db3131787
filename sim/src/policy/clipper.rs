//! Clipper (Crankshaw et al., NSDI 2017), §4.3 "Adaptive batching", for one container of a model.
//!
//! A container asks for a batch as soon as it has answered the last one. The batch's size is
//! whatever keeps its latency within the SLO, found by trial: the paper raises it step by step and
//! backs off (AIMD); the released commit explores upwards and then reads it off a regression.
//!
//! ```text
//! when the container is free and requests wait:
//!     drop what has expired
//!     adaptive:  budget <- 0.92 (deadline of the head - now)
//!                if budget > the longest latency seen: explore: stay for 5 samples, then + 1 until
//!                    10 samples, then x (1 + max(0, N(0.1, 0.05))); pad the batch to that size
//!                else: size <- regression of size on (mean + 3 std of latency), at the budget
//!     aimd:      size <- the current limit
//!     fixed:     size <- the configured one
//!     take the earliest deadlines, up to size
//! on result (aimd):  latency <= SLO: limit + step;  else: limit x 0.9
//! at a deadline:     answer with the default output; the batch runs on
//! ```
//!
//! # Differences from the paper
//! - Only the batching layer: no caching, no model selection.
//! - AIMD compares a batch's latency with the SLO of the model, once a batch was full.
//!
//! # Differences from the released code (commit 9f25e3f)
//! - Its regression is dlib's kernel ridge with a linear kernel, whose regularisation is found by
//!   cross-validation; ours is ordinary least squares with an intercept.
//! - The frontend's work and the network take no time unless the scenario says so.

mod config;
mod container;

pub use self::config::{Config, Sizing};

use self::container::Container;
use super::edf_queue::{EdfQueue, of_model};
use super::free_devices::FreeDevices;
use super::parameters::{Build, Settings};
use super::{Actions, Event, Exec, Known, Outcome, Policy, TimerKey};
use crate::profile::ModelProfile;
use crate::request::{DeviceId, Drop, ModelId, RequestId};
use crate::rng::Stream;
use crate::time::Time;

/// A latency objective's share that a batch may use. Released: src/containers.cpp.
const BUDGET_SHARE: f64 = 0.92;
struct InFlight {
    device: DeviceId,
    size: u32,
    limited: bool,
}

/// The policy. See the module's text.
pub struct Clipper {
    config: Config,
    containers: Vec<Container>,
    queues: Vec<EdfQueue>,
    /// Requests whose default reply may still be due. Those that ended are skipped.
    replies: EdfQueue,
    replies_timer: Option<Time>,
    free: FreeDevices,
    in_flight: Vec<InFlight>,
    turn: usize,
    draws: Stream,
    batch: Vec<RequestId>,
}

/// The only timer: the next default reply.
const REPLY: TimerKey = TimerKey(0);

impl Clipper {
    /// Clipper with empty containers. `draws` is for its exploration.
    pub fn new(config: Config, profiles: &[ModelProfile], draws: Stream) -> Clipper {
        Clipper {
            config,
            containers: profiles.iter().map(|p| Container::new(p.slo)).collect(),
            queues: Vec::new(),
            replies: EdfQueue::default(),
            replies_timer: None,
            free: FreeDevices::default(),
            in_flight: Vec::new(),
            turn: 0,
            draws,
            batch: Vec::new(),
        }
    }

    fn dispatch(&mut self, now: Time, known: &Known<'_>, out: &mut Actions) {
        while let Some(device) = self.free.next() {
            let n = self.queues.len();
            let mut models = (0..n).map(|i| (self.turn + i) % n);
            let Some(model) = models.find(|&m| !self.queues[m].is_empty()) else { return };
            self.turn = model + 1;
            if self.form_batch(now, model, device, known, out) {
                self.free.take_next();
            }
        }
    }

    fn form_batch(
        &mut self,
        now: Time,
        model: usize,
        device: DeviceId,
        known: &Known<'_>,
        out: &mut Actions,
    ) -> bool {
        self.drop_expired(now, model, known, out);
        let Some((deadline, _)) = self.queues[model].head() else { return false };
        let (size, pad) = self.size(now, model, deadline);
        let queue = &mut self.queues[model];
        self.batch.clear();
        while self.batch.len() < size as usize
            && let Some((_, id)) = queue.pop()
        {
            self.batch.push(id);
        }
        let taken = self.batch.len() as u32;
        let billed = if pad { size } else { taken };
        let left = queue.len();
        out.why_all(&self.batch, || {
            let limit = self.containers[model].limit_in_words(self.config.sizing, size, pad);
            format!("batch of {taken}: {limit}; {left} are left")
        });
        let exec = Exec { billed, ..Exec::now(device, ModelId(model as u32)) };
        out.exec(exec, &self.batch);
        self.in_flight.push(InFlight { device, size: billed, limited: taken == size });
        true
    }

    fn drop_expired(&mut self, now: Time, model: usize, known: &Known<'_>, out: &mut Actions) {
        while let Some((deadline, id)) = self.queues[model].head()
            && deadline <= now
        {
            self.queues[model].pop();
            // Its default reply may already have gone out.
            if !self.config.default_reply || known.request(id).is_some() {
                out.why(id, || format!("its deadline passed {} ago", now - deadline));
                out.end(id, Drop::Expired);
            }
        }
    }

    /// The size of the next batch, and whether it is padded to it.
    fn size(&mut self, now: Time, model: usize, deadline: Time) -> (u32, bool) {
        let container = &self.containers[model];
        let (size, pad) = match self.config.sizing {
            Sizing::Fixed(size) => (size, false),
            Sizing::Aimd { .. } => (container.limit as u32, false),
            Sizing::Adaptive => {
                let budget = deadline.since(now).scale(BUDGET_SHARE);
                if budget > container.longest {
                    (container.explore(&mut self.draws), true)
                } else {
                    (container.estimate(budget), false)
                }
            }
        };
        (size.clamp(1, self.config.max_batch), pad)
    }

    /// Learns from a batch that ran.
    fn result(&mut self, device: DeviceId, model: Option<ModelId>, outcome: Outcome) {
        let at = self.in_flight.iter().position(|f| f.device == device).expect("a batch of ours");
        let batch = self.in_flight.swap_remove(at);
        let (Outcome::Done { start, end, .. }, Some(model)) = (outcome, model) else { return };
        let latency = end - start;
        let container = &mut self.containers[model.index()];
        match self.config.sizing {
            Sizing::Fixed(_) => {}
            Sizing::Adaptive => container.learn(batch.size, latency),
            Sizing::Aimd { step, backoff } => {
                if latency > container.slo {
                    container.limit = (container.limit * backoff).max(1.0);
                } else if batch.limited {
                    let limit = container.limit + f64::from(step);
                    container.limit = limit.min(f64::from(self.config.max_batch));
                }
            }
        }
    }

    /// Sends the default replies that are due and sets the timer for the next.
    fn default_replies(&mut self, now: Time, known: &Known<'_>, out: &mut Actions) {
        while let Some((deadline, id)) = self.replies.head() {
            // A batch in flight keeps its ended requests known; those ended in time are gone.
            let open = known.request(id).is_some();
            if deadline > now && open {
                out.set_timer(REPLY, deadline);
                self.replies_timer = Some(deadline);
                return;
            }
            self.replies.pop();
            if open {
                out.why(id, || "its deadline is now: the default output answers it".to_string());
                out.end(id, Drop::DefaultReply);
            }
        }
        self.replies_timer = None;
    }
}

impl Build for Config {
    fn build(self, profiles: &[ModelProfile], seed: u64) -> Box<dyn Policy> {
        Box::new(Clipper::new(self, profiles, Stream::named(seed, "clipper exploration", 0)))
    }
}

impl Policy for Clipper {
    fn name(&self) -> String {
        self.config.name()
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Arrive(r) => {
                of_model(&mut self.queues, r.model.index()).push(r);
                if self.config.default_reply && r.deadline != Time::NEVER {
                    self.replies.push(r);
                    if self.replies_timer.is_none_or(|at| r.deadline < at) {
                        out.set_timer(REPLY, r.deadline);
                        self.replies_timer = Some(r.deadline);
                    }
                }
            }
            Event::Result { device, outcome, requests, .. } => {
                let model = requests.first().and_then(|&id| known.request(id)).map(|r| r.model);
                self.result(device, model, outcome);
                self.free.follow(&event, known, out);
            }
            Event::Start | Event::Device(..) => self.free.follow(&event, known, out),
            Event::Timer(_) => return self.default_replies(now, known, out),
            Event::Profiled { .. } => return,
        }
        self.dispatch(now, known, out);
    }
}
