//! Clockwork (Gujarati et al., OSDI 2020), §4.5 and §5.3 "Scheduling INFER".
//!
//! All choice is made at one place, in advance: the controller predicts when the device will be
//! free, sends an action shortly before, with a window in which it may start, and lets the worker
//! refuse it when the prediction was wrong. A batch is as large as the queue allows while its first
//! request can still be in time.
//!
//! ```text
//! on request:      append to every batch queue of its model
//! while a device has less than `ahead` of outstanding work:
//!     take the strategy with the smallest `latest`  (head's deadline - estimate of its size)
//!     in every batch queue: drop heads that could not finish in time at that size
//!     grow the size while the next size's queue holds enough requests
//!     valid if at least the strategy's size was reached: take the first of that queue,
//!         send with the window [now, expected start + width], make the strategies anew
//!     else: forget the strategy
//! on result done:      the device is free at the measured end; learn the duration
//! on result rejected:  the device is free now; all the action's requests fail
//! ```
//!
//! Every batch queue is in order of arrival and loses only its head, and a dispatch empties all of
//! them up to the last request taken. So a batch queue is a suffix of the arrivals, and is kept as a
//! cursor into one queue.
//!
//! # Differences from the paper
//! - Durations are stratified by model and batch size, not by worker (as released).
//! - The outstanding-work window is 10 ms in `released`, 5 ms in the paper; both are presets.
//! - LOAD is left out: every model is resident. It comes with the cluster's policies.
//!
//! # Differences from the released code (INFER5)
//! - It polls about every 10 us; ours wakes at the instant at which the condition becomes true.
//! - A request that no queue holds any more is dropped at once, not at its internal deadline: it
//!   cannot be served in between.
//! - Messages take no time unless the scenario says so, and there is no limit of two sends in flight.
//! - Durations are not normalised by the GPU's clock, which is constant here.
//! - Ties between strategies are broken by model, then by larger size first.

mod queues;

use self::queues::{Model, Waiting};
use super::free_devices::did_not_run;
use super::{Actions, Event, Exec, Known, Outcome, Policy, TimerKey};
use crate::cluster::Change;
use crate::profile::ModelProfile;
use crate::request::{ActionId, DeviceId, Drop, ModelId, RequestId};
use crate::time::{Span, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// How the duration of a batch is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimator {
    /// The 0.99 quantile of the last ten, interpolated between the two largest (released).
    P99Of10,
    /// The mean of the last ten.
    WindowMean,
    /// The profile's mean, never corrected.
    StaticMean,
}

/// Clockwork's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// How durations are estimated.
    pub estimator: Estimator,
    /// Work is issued while less than this is outstanding. Released: 10 ms; paper, §5.3: 5 ms.
    pub ahead: Span,
    /// A batch may start this long after its expected start. Released: 10 ms.
    pub width: Span,
    /// Taken off the SLO. Released: 5 ms.
    pub buffer: Span,
    /// A new action leads by this. Released: 1 ms.
    pub lead: Span,
    /// An action overdue by more than this is believed to end now. Released: 10 ms.
    pub lag: Span,
    /// The largest batch size. Released (INFER5): 8.
    pub max_batch: u32,
    /// Sizes whose seed profile exceeds this are not served. Released: 250 ms.
    pub max_exec: Span,
}

impl Config {
    /// What the authors' code does with its defaults.
    pub fn released() -> Config {
        let ms = Span::from_ms;
        Config {
            estimator: Estimator::P99Of10,
            ahead: ms(10),
            width: ms(10),
            buffer: ms(5),
            lead: ms(1),
            lag: ms(10),
            max_batch: 8,
            max_exec: ms(250),
        }
    }
}

struct Outstanding {
    action: ActionId,
    model: usize,
    size: usize,
    estimate: Span,
}

struct Gpu {
    id: DeviceId,
    up: bool,
    /// When the oldest outstanding action began, as far as the controller knows.
    work_begin: Time,
    outstanding: VecDeque<Outstanding>,
    /// The sum of their estimates.
    work: Span,
    /// What its timer is set to; `NEVER` when it is not set.
    timer: Time,
}

/// The policy. See the module's text.
pub struct Clockwork {
    config: Config,
    models: Vec<Model>,
    gpus: Vec<Gpu>,
    /// Each model's next strategy: (latest, model, version). Stale offers are skipped.
    next: BinaryHeap<Reverse<(Time, usize, u64)>>,
    /// Offers that are not stale: models with a strategy to try.
    waiting: usize,
    batch: Vec<RequestId>,
}

impl Clockwork {
    /// Clockwork with seed estimates from the profiles.
    pub fn new(config: Config, profiles: &[ModelProfile]) -> Clockwork {
        let models = profiles.iter().map(|p| Model::new(&config, p)).collect();
        let (gpus, batch) = (Vec::new(), Vec::new());
        Clockwork { config, models, gpus, next: BinaryHeap::new(), waiting: 0, batch }
    }

    fn schedule(&mut self, now: Time, out: &mut Actions) {
        for gpu in 0..self.gpus.len() {
            while self.gpus[gpu].up && self.waiting > 0 {
                let available = self.gpus[gpu].available(now, &self.config);
                if available >= now + self.config.ahead {
                    break;
                }
                if !self.infer(now, gpu, available, out) {
                    break;
                }
            }
            self.set_timer(now, gpu, out);
        }
    }

    /// Sends one action; false when no strategy is valid.
    fn infer(&mut self, now: Time, gpu: usize, available: Time, out: &mut Actions) -> bool {
        while let Some(Reverse((_, model, version))) = self.next.pop() {
            let m = &mut self.models[model];
            if version != m.version {
                continue;
            }
            self.waiting -= 1;
            m.drop_unsuitable(available);
            let reached = m.largest_fillable();
            let others = self.next.peek().map(|Reverse((latest, model, _))| (*latest, *model));
            let valid = m.try_strategies(model, reached, others);
            if valid && let Some(size) = reached {
                let next = m.sizes.get(size + 1).map(|&k| (k, m.queued(size + 1)));
                self.batch.clear();
                m.take(size, &mut self.batch);
                m.drop_lost(available, out);
                out.why_all(&self.batch, || m.choice(size, next, available.since(now)));
                self.send(now, gpu, model, size, available, out);
                self.make_strategies(model);
                return true;
            }
            m.drop_lost(available, out);
            self.offer(model);
        }
        false
    }

    fn send(
        &mut self,
        now: Time,
        gpu: usize,
        model: usize,
        size: usize,
        available: Time,
        out: &mut Actions,
    ) {
        let Config { lead, width, .. } = self.config;
        let latest = (now + lead + width).max(available + width);
        let estimate = self.models[model].estimates[size];
        let g = &mut self.gpus[gpu];
        let exec = Exec { earliest: now, latest, ..Exec::now(g.id, ModelId(model as u32)) };
        let action = out.exec(exec, &self.batch);
        if g.outstanding.is_empty() {
            g.work_begin = now;
        }
        g.outstanding.push_back(Outstanding { action, model, size, estimate });
        g.work += estimate;
    }

    fn make_strategies(&mut self, model: usize) {
        let m = &mut self.models[model];
        m.untried = 0;
        if !m.queue.is_empty() {
            (0..m.sizes.len()).for_each(|size| m.add_strategy(size));
        }
        self.offer(model);
    }

    /// Puts the model's next strategy among the others'.
    fn offer(&mut self, model: usize) {
        let m = &mut self.models[model];
        m.version += 1;
        if let Some((latest, _)) = m.next_strategy() {
            self.waiting += 1;
            self.next.push(Reverse((latest, model, m.version)));
        }
    }

    fn arrive(&mut self, model: usize, waiting: Waiting) {
        let m = &mut self.models[model];
        let active = m.untried != 0;
        let end = m.first + m.queue.len() as u64;
        m.queue.push_back(waiting);
        let mut added = false;
        for size in 0..m.sizes.len() {
            // An empty batch queue has no strategy; an inactive model has none at all.
            if !active || m.cursors[size] == end {
                m.add_strategy(size);
                added = true;
            }
        }
        if added {
            self.waiting -= usize::from(active);
            self.offer(model);
        }
    }

    fn result(&mut self, now: Time, action: ActionId, device: DeviceId, outcome: Outcome) {
        let g = self.gpus.iter_mut().find(|g| g.id == device).expect("a known device");
        let at = g.outstanding.iter().position(|o| o.action == action).expect("an action of ours");
        let done = g.outstanding.remove(at).expect("just found");
        g.work = g.work.minus(done.estimate);
        g.work_begin = match outcome {
            Outcome::Done { end, .. } => end,
            _ => now,
        };
        if let Outcome::Done { device, .. } = outcome {
            self.models[done.model].learn(done.size, device, self.config.estimator);
        }
    }

    /// Wakes when the device's outstanding work falls below `ahead`, or its action is overdue.
    fn set_timer(&mut self, now: Time, gpu: usize, out: &mut Actions) {
        let g = &mut self.gpus[gpu];
        let mut at = Time::NEVER;
        if let (Some(oldest), true) = (g.outstanding.front(), self.waiting > 0) {
            let after = Span::from_ns(1);
            let low = (g.work_begin + g.work).minus(self.config.ahead) + after;
            let overdue = g.work_begin + oldest.estimate + self.config.lag + after;
            let later = |t: &Time| *t > now;
            at = [low, overdue].into_iter().filter(later).min().unwrap_or(Time::NEVER);
        }
        let key = TimerKey(u64::from(g.id.0));
        if std::mem::replace(&mut g.timer, at) == at {
            return;
        }
        if at == Time::NEVER {
            out.clear_timer(key);
        } else {
            out.set_timer(key, at);
        }
    }
}

impl Gpu {
    fn new(id: DeviceId) -> Gpu {
        let outstanding = VecDeque::new();
        Gpu {
            id,
            up: true,
            work_begin: Time::ZERO,
            outstanding,
            work: Span::ZERO,
            timer: Time::NEVER,
        }
    }

    /// When the device will have done what was sent (worker_tracker.h).
    fn available(&self, now: Time, config: &Config) -> Time {
        let soonest = now + config.lead;
        let Some(oldest) = self.outstanding.front() else { return soonest };
        let overdue = self.work_begin + oldest.estimate + config.lag < now;
        let available = if overdue {
            (now + self.work).minus(oldest.estimate + config.lag)
        } else {
            self.work_begin + self.work
        };
        available.max(soonest)
    }
}

impl Policy for Clockwork {
    fn name(&self) -> String {
        let c = self.config;
        let estimator = match c.estimator {
            Estimator::P99Of10 => "p99-of-10",
            Estimator::WindowMean => "window-mean",
            Estimator::StaticMean => "static-mean",
        };
        format!(
            "clockwork[estimator={estimator},ahead_ms={},width_ms={},buffer_ms={},lead_ms={},\
             lag_ms={},max_batch={},max_exec_ms={}]",
            c.ahead.as_ms_f64(),
            c.width.as_ms_f64(),
            c.buffer.as_ms_f64(),
            c.lead.as_ms_f64(),
            c.lag.as_ms_f64(),
            c.max_batch,
            c.max_exec.as_ms_f64()
        )
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Start => self.gpus = known.devices().iter().map(|d| Gpu::new(d.id)).collect(),
            Event::Arrive(r) => {
                let Config { buffer, ahead, .. } = self.config;
                let allowed = r.slo().minus(buffer).max(ahead + buffer);
                let deadline = r.arrival + allowed;
                self.arrive(r.model.index(), Waiting { id: r.id, deadline });
            }
            Event::Result { action, device, outcome, requests } => {
                self.result(now, action, device, outcome);
                if !matches!(outcome, Outcome::Done { .. }) {
                    out.why_all(requests, || did_not_run(outcome));
                    requests.iter().for_each(|&id| out.end(id, Drop::Refused));
                }
            }
            Event::Device(device, Change::Up) => self.gpus.push(Gpu::new(device)),
            Event::Device(device, _) => {
                if let Some(gpu) = self.gpus.iter_mut().find(|g| g.id == device) {
                    gpu.up = false;
                }
            }
            Event::Timer(key) => {
                if let Some(gpu) = self.gpus.iter_mut().find(|g| u64::from(g.id.0) == key.0) {
                    gpu.timer = Time::NEVER;
                }
            }
            Event::Profiled { .. } => return,
        }
        self.schedule(now, out);
    }
}
