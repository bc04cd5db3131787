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

mod config;
mod gpus;
mod queues;
mod strategies;

pub use self::config::{Config, Estimator, Sizes};

use self::gpus::{Gpus, Outstanding};
use self::queues::{Model, Waiting};
use self::strategies::{LAST, Order, Rank};
use super::free_devices::did_not_run;
use super::{Actions, Event, Exec, Known, Outcome, Policy, TimerKey};
use crate::cluster::Change;
use crate::profile::ModelProfile;
use crate::request::{ActionId, DeviceId, Drop, ModelId, RequestId};
use crate::time::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The policy's one timer.
const ASKS: TimerKey = TimerKey(0);

/// The policy. See the module's text.
pub struct Clockwork {
    config: Config,
    models: Vec<Model>,
    gpus: Gpus,
    order: Order,
    /// The models that a search has met: the rank of their next strategy, and once a model was looked
    /// at, the size that it can fill.
    met: BinaryHeap<Reverse<(Rank, Option<usize>)>>,
    batch: Vec<RequestId>,
    /// What the timer is set to; `NEVER` when it is not set.
    timer: Time,
}

impl Clockwork {
    /// Clockwork with seed estimates from the profiles.
    pub fn new(config: Config, profiles: &[ModelProfile]) -> Clockwork {
        Clockwork {
            config,
            models: profiles.iter().map(|p| Model::new(&config, p)).collect(),
            gpus: Gpus::default(),
            order: Order::default(),
            met: BinaryHeap::new(),
            batch: Vec::new(),
            timer: Time::NEVER,
        }
    }

    /// Gives work to the devices that ask for it, one action at a time.
    fn schedule(&mut self, now: Time, out: &mut Actions) {
        self.gpus.advance(now);
        while !self.order.is_empty()
            && let Some(gpu) = self.gpus.hungry(self.order.makings)
        {
            let available = self.gpus.list[gpu].exec.available(now, &self.config);
            if let Some((model, size)) = self.search(gpu, available, out) {
                self.dispatch(now, gpu, available, (model, size), out);
                self.gpus.place(gpu, &self.config);
                self.gpus.advance(now);
            } else {
                self.gpus.list[gpu].sated = Some(self.order.makings);
            }
        }
        let at = if self.order.is_empty() { Time::NEVER } else { self.gpus.next_asks() };
        if std::mem::replace(&mut self.timer, at) == at {
            return;
        }
        if at == Time::NEVER {
            out.clear_timer(ASKS);
        } else {
            out.set_timer(ASKS, at);
        }
    }

    /// Tries a device's strategies in order of rank until one is valid: the model and the size of its
    /// batch. Nothing changes between two tries of one model, so all that ask for more than it can
    /// fill fail at its first one, and it is met again only where a valid one stands.
    fn search(&mut self, gpu: usize, available: Time, out: &mut Actions) -> Option<(usize, usize)> {
        self.met.clear();
        let mut next = self.order.after(None);
        loop {
            while let Some(rank) = next
                && self.met.peek().is_none_or(|Reverse(first)| rank < first.0)
            {
                let (model, tried) = (rank.1, &self.gpus.list[gpu].tried);
                let m = &self.models[model];
                if let Some(latest) = m.strategies.untried(m.sizes.len(), model, tried, 0) {
                    self.met.push(Reverse(((latest, model), None)));
                }
                next = self.order.after(next);
            }
            let Some(Reverse((rank, looked_at))) = self.met.pop() else {
                self.gpus.list[gpu].tried.note(self.order.makings, LAST);
                return None;
            };
            if let Some(size) = looked_at {
                self.gpus.list[gpu].tried.note(self.order.makings, rank);
                return Some((rank.1, size));
            }
            self.look(gpu, rank.1, available, out);
        }
    }

    /// Drops what cannot be in time in a batch of that model on that device, and finds the place of
    /// its first valid strategy.
    fn look(&mut self, gpu: usize, model: usize, available: Time, out: &mut Actions) {
        let m = &mut self.models[model];
        m.drop_unsuitable(available);
        m.drop_lost(available, out);
        if m.queue.is_empty() {
            self.forget(model);
        } else if let Some(size) = m.largest_fillable() {
            let tried = &self.gpus.list[gpu].tried;
            if let Some(latest) = m.strategies.untried(size + 1, model, tried, 0) {
                self.met.push(Reverse(((latest, model), Some(size))));
            }
        }
    }

    /// A strategy of a model without requests can only fail, on every device.
    fn forget(&mut self, model: usize) {
        let m = &mut self.models[model];
        self.order.moved(model, m.strategies.first(), None);
        m.strategies.clear();
    }

    fn dispatch(
        &mut self,
        now: Time,
        gpu: usize,
        available: Time,
        (model, size): (usize, usize),
        out: &mut Actions,
    ) {
        let m = &mut self.models[model];
        let next = m.sizes.get(size + 1).map(|&k| (k, m.queued(size + 1)));
        self.batch.clear();
        m.take(size, &mut self.batch);
        m.drop_lost(available, out);
        out.why_all(&self.batch, || m.choice(size, next, available.since(now)));
        let estimate = m.estimates[size];
        let Config { lead, width, .. } = self.config;
        let latest = (now + lead + width).max(available + width);
        let device = DeviceId(gpu as u32);
        let exec = Exec { earliest: now, latest, ..Exec::now(device, ModelId(model as u32)) };
        let action = out.exec(exec, &self.batch);
        self.gpus.list[gpu].exec.send(now, Outstanding { action, model, size, estimate });
        self.make_all(model);
    }

    /// Makes a model's strategies anew, for every device.
    fn make_all(&mut self, model: usize) {
        let m = &mut self.models[model];
        let before = m.strategies.first();
        self.order.makings += 1;
        m.make_all(self.order.makings);
        self.order.moved(model, before, m.strategies.first());
    }

    fn arrive(&mut self, model: usize, waiting: Waiting) {
        let m = &mut self.models[model];
        let idle =
            !m.queue.is_empty()
                && m.is_stuck()
                && self.gpus.list.iter().any(|g| {
                    g.up && m.strategies.untried(m.sizes.len(), model, &g.tried, 0).is_none()
                });
        let before = m.strategies.first();
        if m.append(waiting, self.order.makings + 1) {
            self.order.makings += 1;
            self.order.moved(model, before, m.strategies.first());
        }
        if idle {
            self.make_all(model);
        }
    }

    fn result(&mut self, now: Time, action: ActionId, device: DeviceId, outcome: Outcome) {
        let free = if let Outcome::Done { end, .. } = outcome { end } else { now };
        let done = self.gpus.list[device.index()].exec.ended(action, free);
        self.gpus.place(device.index(), &self.config);
        if let Outcome::Done { device, .. } = outcome {
            self.models[done.model].learn(done.size, device, self.config.estimator);
        }
    }
}

impl Policy for Clockwork {
    fn name(&self) -> String {
        self.config.name()
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Start => {
                known.devices().iter().for_each(|d| self.gpus.came(d.id, &self.config));
            }
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
            Event::Device(device, Change::Up) => self.gpus.came(device, &self.config),
            Event::Device(device, _) => self.gpus.left(device, &self.config),
            Event::Timer(_) => self.timer = Time::NEVER,
            Event::Profiled { .. } => return,
        }
        self.schedule(now, out);
    }
}
