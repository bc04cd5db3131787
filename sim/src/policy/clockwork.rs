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
//!     from the smallest size, grow while the next size's queue holds enough requests
//!     valid if at least the strategy's size was reached and its queue holds enough: take them,
//!         send with the window [now, expected start + width], make the strategies anew
//!     else: forget the strategy
//! on result done:      the device is free at the measured end; learn the duration
//! on result rejected:  the device is free now; all the action's requests fail
//! ```
//!
//! Each device has a strategy queue of its own, of the models that it has in memory. A request gets
//! its device lazily: the device that asks for work first tries its strategies. A dispatch makes the
//! model's strategies anew on every device; one that was tried in vain stays on the other devices.
//! How all these queues are kept as one is told in `strategies`. Of several devices that ask, an idle
//! one comes first, then the one whose work is expected to end first; of equal ones the lowest id.
//!
//! Devices with `memory_pages` begin empty; `load` fills them, by the demand that `demand` keeps. How
//! that is found without a look at all models is told there.
//!
//! # The size that is lost
//! An estimate changes only when a batch of its size has run, in the paper as in the released code:
//! nothing decays, nothing is tried again. Once a size's estimate exceeds what a request has left
//! (its SLO less `buffer` and `lead`), every request leaves that size's queue at once, so that no
//! batch of it runs ever again. The sizes above it are lost with it, because growing stops there. Only
//! the smallest can be lost alone: growing starts above it. One slow batch is enough, because the
//! estimate is nearly the largest of the last ten durations. The authors' GPUs, whose latency stays
//! within 0.03 % (§2), never got there. `probe_s` believes in a size's seed again after that time
//! without a measurement; it is off by default.
//!
//! # Differences from the paper
//! - Durations are stratified by model and batch size, not by worker (as released).
//! - INFER and LOAD executors have up to 10 ms of outstanding work in `released`, 5 ms in the paper;
//!   both are presets (`ahead_ms`).
//! - What the paper does not have, and both presets do, as released:
//!   - A request's internal deadline is its arrival + max(SLO - `buffer`, `ahead` + `buffer`), with
//!     `buffer` = 5 ms. Below an SLO of `ahead` + 2 `buffer` (20 ms; 15 ms with `preset=paper`) it does
//!     not follow the SLO any more; below `ahead` + `buffer` it is later than the SLO.
//!   - A device is taken to be busy for `lead` (1 ms) at least; an action that is overdue by more than
//!     `lag` (10 ms) is taken to end now.
//!   - The window is `width` (10 ms) long, also in `preset=paper`, which names no width.
//!   - A size whose seed profile exceeds `max_exec` (250 ms) is not served, the smallest excepted.
//!   - A load is asked for on behalf of requests younger than SLO - (load + batch of one + `buffer` +
//!     `ahead`), at most 25 ms and at least `ahead` + `buffer`; the paper says only that there is such a
//!     point.
//! - `preset=paper` changes `ahead` (5 ms), `max_batch` (16) and `loads`, and keeps all else, the estimate by
//!   the 0.99 quantile of the last ten included: the paper names ten durations and no statistic.
//! - The model that is evicted is the least recently used of those without requests, and only if these
//!   do not suffice one with requests; the paper says LRU. A use is a batch sent or reported, or a load
//!   that ended.
//! - Every batch size up to `max_batch` with `sizes=all`, as Symphony's authors gave it (its §5.1).
//! - Of several load executors that ask, the least occupied one comes first, then the device with the
//!   smallest load, then that with the most free pages; the paper names no order.
//! - A model with batches under way on a device is not evicted there.
//!
//! # Differences from the released code (INFER5)
//! - It polls about every 10 us; ours wakes at the instant at which the condition becomes true. Which
//!   of several devices comes first depends on its threads.
//! - There a dispatch makes a model's strategies anew on its own device alone; other devices keep
//!   theirs, which rank by a head that has gone, until they try one. Ours follows the paper.
//! - There a batch queue that was empty gets no strategy before the model's others are used up; here
//!   it gets one with the first request. If some device has none of a model's strategies left while
//!   requests wait, the next request makes them anew on every device, there on that device.
//! - A request that no queue holds any more is answered at once, not at its internal deadline: it
//!   cannot be served in between. `answer=at-deadline` is as released; it matters to clients that
//!   wait for an answer before they ask again.
//! - Messages take no time unless the scenario says so, and there is no limit of two sends in flight.
//! - Durations are not normalised by the GPU's clock, which is constant here.
//! - Ties between strategies are broken by model, then by larger size first.
//! - With `loads=paper`: models of negative priority are not loaded; there a slip compares a pointer, so that
//!   they are. A load is believed to take what the model's profile says; there, the 0.99 quantile of the last
//!   ten. A load is wanted no longer for a request that it cannot help any more; there, a request's share is
//!   forgotten too late, so that it is wanted until the request is sent or answered. `loads=infer5`, the
//!   default, is as released in all three.
//! - INFER4, the scheduler before it, is `preset=infer4`: batches of up to 16; loads as in `infer5`,
//!   but not for requests that they cannot help, at most two outstanding on a device, and 0.1 ms apart.
//!   That both limits are per device is our reading.
//! - With inputs that it generates itself, the controller looks 15 ms ahead by default. The authors'
//!   experiment guide passes 5 ms for the figures 7, 8 and 11. One argument sets both `ahead_ms` and
//!   `width_ms` there.

mod config;
mod demand;
mod durations;
mod expiring;
mod gpus;
mod load;
mod memory;
mod queues;
mod search;
mod sorted;
mod state;
mod strategies;
#[cfg(test)]
mod tests;
mod wants;

pub use self::config::{Answer, Config, Estimator, LoadRule, Sizes};
pub use self::state::Clockwork;

use self::gpus::{Gpu, Outstanding};
use self::load::Loads;
use self::queues::{Model, Waiting};
use super::free_devices::did_not_run;
use super::parameters::{Build, Settings};
use super::{Actions, Event, Exec, Known, Outcome, Policy, TimerKey};
use crate::cluster::Change;
use crate::profile::ModelProfile;
use crate::request::{ActionId, DeviceId, Drop, ModelId, Request, RequestId};
use crate::time::{Span, Time};

/// A device asks for work.
const ASKS: TimerKey = TimerKey(0);
/// A device's load executor asks for work.
const ASKS_LOAD: TimerKey = TimerKey(1);
/// A request's internal deadline has passed while no device had its model.
const EXPIRES: TimerKey = TimerKey(2);
/// A refused request's internal deadline has come: it is answered.
const ANSWERS: TimerKey = TimerKey(3);

impl Clockwork {
    /// Gives work to the devices that ask for it, one action at a time.
    fn schedule(&mut self, now: Time, out: &mut Actions) {
        if !self.order.is_empty() {
            self.gpus.advance(now);
        }
        while !self.order.is_empty()
            && let Some(gpu) = self.gpus.hungry()
        {
            let available = self.gpus.list[gpu].exec.available(now, &self.config);
            if let Some((model, size)) = self.search(gpu, available, out) {
                self.dispatch(now, gpu, available, (model, size), out);
                self.gpus.place(now, gpu, &self.config);
            } else {
                self.gpus.sate(gpu);
            }
        }
        let at = if self.order.is_empty() { Time::NEVER } else { self.gpus.next_asks() };
        self.set_timer(ASKS, at, out);
        if self.config.answer == Answer::AtDeadline {
            self.answer(now, out);
        }
        if let Some(loads) = &mut self.loads {
            let at = loads.schedule(now, &self.config, out);
            for &(gpu, model) in &loads.unloaded {
                self.order.loses(gpu, model, self.models[model].strategies.first());
            }
            let forgets = loads.forgets();
            let waits = |m: usize| forgets || !self.models[m].queue.is_empty();
            let first = self.expiring.first(now);
            let other = if loads.may_load_later() { first } else { Time::NEVER };
            let next = self.expiring.next(now, waits).min(other);
            self.set_timer(ASKS_LOAD, at, out);
            self.set_timer(EXPIRES, next + Span::from_ns(1), out);
        }
    }

    fn set_timer(&mut self, key: TimerKey, at: Time, out: &mut Actions) {
        if std::mem::replace(&mut self.timers[key.0 as usize], at) == at {
            return;
        }
        if at == Time::NEVER {
            out.clear_timer(key);
        } else {
            out.set_timer(key, at);
        }
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
        self.drop_lost(model, available, out);
        let m = &self.models[model];
        out.why_all(&self.batch, || m.choice(size, next, available.since(now)));
        let estimate = m.estimates[size];
        let Config { lead, width, .. } = self.config;
        let latest = (now + lead + width).max(available + width);
        let device = DeviceId(gpu as u32);
        let exec = Exec { earliest: now, latest, ..Exec::now(device, ModelId(model as u32)) };
        let action = out.exec(exec, &self.batch);
        out.expect(action, available, estimate);
        self.gpus.list[gpu].exec.send(now, Outstanding { action, model, size, estimate });
        if let Some(loads) = &mut self.loads {
            loads.sent(gpu, model, &self.batch);
        }
        self.make_all(model);
    }

    /// Makes a model's strategies anew, for every device.
    fn make_all(&mut self, model: usize) {
        let m = &mut self.models[model];
        let before = m.strategies.first();
        self.order.makings += 1;
        m.make_all(self.order.makings);
        self.made(model, before);
    }

    /// Strategies of a model were made; the first of all was `before`.
    fn made(&mut self, model: usize, before: Option<Time>) {
        self.moved(model, before);
        match &self.loads {
            None => self.gpus.stir_all(),
            Some(_) if self.order.is_common(model) => self.gpus.stir_up(),
            Some(loads) => loads.holders(model).for_each(|gpu| self.gpus.stir(gpu)),
        }
    }

    /// The first of a model's strategies was `before`, which may have changed.
    fn moved(&mut self, model: usize, before: Option<Time>) {
        let after = self.models[model].strategies.first();
        if before == after {
            return;
        }
        self.order.counts(before, after);
        match &self.loads {
            Some(loads) if !self.order.is_common(model) => {
                let holders = loads.holders(model);
                holders.for_each(|gpu| self.order.moved(Some(gpu), model, before, after));
            }
            _ => self.order.moved(None, model, before, after),
        }
    }

    fn arrive(&mut self, now: Time, r: &Request, out: &mut Actions) {
        let Config { buffer, ahead, .. } = self.config;
        let model = r.model.index();
        if self.config.probe > Span::ZERO {
            self.models[model].probe(now, self.config.probe);
        }
        let allowed = r.slo().minus(buffer).max(ahead + buffer);
        let deadline = r.arrival + allowed;
        let one = self.models[model].estimates[0];
        if let Some(loads) = &mut self.loads {
            loads.arrived(now, r.id, model, (one, r.slo(), allowed), &self.config);
            self.expiring.push(now, model, deadline);
            self.expire(now, out);
        }
        let idle = self.leaves_a_device_idle(model);
        let m = &mut self.models[model];
        let before = m.strategies.first();
        if m.append(Waiting { id: r.id, deadline }, self.order.makings + 1) {
            self.order.makings += 1;
            self.made(model, before);
        }
        if idle {
            self.make_all(model);
        }
    }

    /// Whether a model has requests, but some device has tried all its strategies. It can only be
    /// when no request is left that may run alone.
    fn leaves_a_device_idle(&self, model: usize) -> bool {
        let m = &self.models[model];
        let has = |gpu| self.loads.as_ref().is_none_or(|l| l.since(gpu, model).is_some());
        let idle = |(gpu, g): (usize, &Gpu)| {
            g.up && has(gpu) && self.untried(gpu, model, m.sizes.len()).is_none()
        };
        !m.queue.is_empty() && m.is_stuck() && self.gpus.list.iter().enumerate().any(idle)
    }

    /// Drops requests of models that no device has: nobody else would look at them.
    fn expire(&mut self, now: Time, out: &mut Actions) {
        self.expiring.passed(now);
        while let Some(model) = self.expiring.due(now) {
            self.models[model].drop_unsuitable(now);
            self.drop_lost(model, now, out);
        }
    }

    fn came(&mut self, now: Time, device: DeviceId, known: &Known<'_>) {
        self.gpus.came(now, device, &self.config);
        let pages = known.devices()[device.index()].free_pages;
        if self.loads.is_none() && pages.is_some() {
            let footprint = |m| known.footprint(ModelId(m as u32));
            let footprints = (0..self.models.len()).map(footprint).collect();
            self.loads = Some(Loads::new(self.config.loads, footprints));
            (0..device.0).for_each(|d| self.has(DeviceId(d), None));
        }
        self.has(device, pages);
    }

    /// A device has that many pages for models, or all models.
    fn has(&mut self, device: DeviceId, pages: Option<u32>) {
        let Some(loads) = &mut self.loads else { return };
        loads.came(device, pages, &self.config);
        let all = if pages.is_none() { &self.models[..] } else { &[] };
        let first = |(m, model): (usize, &Model)| Some((model.strategies.first()?, m));
        self.order.device(device.index(), all.iter().enumerate().filter_map(first));
    }

    fn left(&mut self, now: Time, device: DeviceId) {
        self.gpus.left(now, device, &self.config);
        if let Some(loads) = &mut self.loads {
            loads.left(device, &self.config);
            self.order.left(device.index());
        }
    }

    fn result(
        &mut self,
        now: Time,
        action: ActionId,
        device: DeviceId,
        outcome: Outcome,
        requests: &[RequestId],
    ) {
        let free = if let Outcome::Done { end, .. } = outcome { end } else { now };
        if let Some(loads) = &mut self.loads {
            // Strategies that were there before the model count as made now, for this device.
            let since = self.order.makings + 1;
            let took = if let Outcome::Done { device, .. } = outcome {
                Some((device, since))
            } else {
                None
            };
            if let Some(model) = loads.ended(now, action, device, free, took, &self.config) {
                self.order.makings += 1;
                if loads.since(device.index(), model) == Some(since) {
                    let first = self.models[model].strategies.first();
                    self.order.gains(device.index(), model, first, loads.is_everywhere(model));
                    self.gpus.stir(device.index());
                }
                return;
            }
        }
        let gpu = device.index();
        let ended = self.gpus.list[gpu].exec.ended(action, free);
        self.gpus.place(now, gpu, &self.config);
        if let Outcome::Done { device, .. } = outcome {
            self.models[ended.model].learn(now, ended.size, device, self.config.estimator);
        }
        if let Some(loads) = &mut self.loads {
            loads.reported(gpu, ended.model, requests);
        }
    }
}

impl Build for Config {
    fn build(self, profiles: &[ModelProfile], _: u64) -> Box<dyn Policy> {
        Box::new(Clockwork::new(self, profiles))
    }
}

impl Policy for Clockwork {
    fn name(&self) -> String {
        self.config.name()
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Start => {
                known.devices().iter().for_each(|d| self.came(now, d.id, known));
            }
            Event::Arrive(r) => self.arrive(now, r, out),
            Event::Result { action, device, outcome, requests } => {
                self.result(now, action, device, outcome, requests);
                if !matches!(outcome, Outcome::Done { .. }) {
                    out.why_all(requests, || did_not_run(outcome));
                    requests.iter().for_each(|&id| out.end(id, Drop::Refused));
                }
            }
            Event::Device(device, Change::Up) => self.came(now, device, known),
            Event::Device(device, _) => self.left(now, device),
            Event::Timer(key) => {
                self.timers[key.0 as usize] = Time::NEVER;
                if key == EXPIRES {
                    self.expire(now, out);
                }
            }
            Event::Profiled { .. } => return,
        }
        self.schedule(now, out);
    }
}
