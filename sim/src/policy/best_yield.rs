//! Best yield, a scheduler of this project's own: of all batches it runs the one that is expected to
//! finish the most requests in time for each second of device time.
//!
//! As in Orloj, the execution time of a request has a law, of its application, and a batch lasts as
//! long as its longest request. Unlike there, a batch may be stopped, which loses what it has done.
//! The *yield* of a batch of k whose slowest request is of class c, stopped after s, is
//!
//! ```text
//! yield(c, k, s) = k P(L <= s) / E[min(L, s)]      L: the latency of such a batch
//! ```
//!
//! ```text
//! while a device is free and requests wait:
//!     drop what could not be in time even alone
//!     for every model, class c, size k:
//!         s <- the best instant to stop it, not after the k-th latest deadline of classes up to c
//!     run the batch of the largest yield: of the requests with a deadline after s, the k earliest
//! when a batch has run for its s:
//!     if not all that waits could be served by its latest deadline (*crowded*),
//!         and the best batch that waits has a larger yield than going on: stop it
//!     else: it goes on until the next best s
//!     (by the last s it has ended; one that takes longer than its law says goes on to its end)
//! when a request arrives whose model runs on some device, if times are known for certain:
//!     for every number j of requests that wait: if the batch begun anew with them has a larger
//!         yield than its rest and a batch of j after it: stop it, and begin the larger one there
//! when a batch has been stopped: each of its requests waits alone, with its law given what it
//!     has survived
//! ```
//!
//! Classes are the applications of a model, those with short times first: a batch of short requests
//! does not pay for a long one. Stopping replaces the deferral of Symphony: a batch begins at once,
//! and is begun anew as long as that pays, so that no device waits for requests that do not come.
//! `docs/best-yield.md` says what each part brings, where it loses, and how far it is from the bound.
//!
//! # What it assumes
//! Batches can be stopped within their run, at no cost but their work; on a device that cannot it
//! only chooses batches. All devices are of one kind, each request is one item, and models are in
//! memory. Laws are the profile's and are not learned anew. A late answer is worth nothing.
//!
//! # Differences from the paper
//! None: it is no paper's.

mod model;
mod row;
mod weights;

use self::model::{Batch, Kind, Member, Model, Suspect, Waiting};
use self::row::{Candidate, Row, given};
use self::weights::Weights;
use super::free_devices::FreeDevices;
use super::parameters::{
    About, Assumption, Build, Parameter, Preset, Settings, count, flag, word, words,
};
use super::{Actions, Event, Exec, Known, Outcome, Policy, TimerKey};
use crate::cluster::Change;
use crate::latency::Latency;
use crate::profile::ModelProfile;
use crate::request::{ActionId, DeviceId, ModelId, RequestId};
use crate::time::{Span, Time};
use std::collections::BTreeSet;
use std::rc::Rc;

words! {
    /// When a batch that has run for its time is stopped for a better one.
    pub enum Stop {
        Crowded = "crowded": "when not all that waits can be served in time",
        Always = "always": "whenever another batch has a larger yield",
        Never = "never": "no batch is stopped for another one",
    }
}

/// Its parameters: what an ablation turns off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The most requests of a batch.
    pub max_batch: u32,
    /// When a batch is stopped for a better one.
    pub stop: Stop,
    /// Whether a batch is begun anew with requests that came since.
    pub join: bool,
    /// Whether a batch is stopped for one of another model that could not wait.
    pub way: bool,
    /// Whether batches are sent ahead of the end of the one before.
    pub ahead: bool,
}

impl Settings for Config {
    const ABOUT: About = About {
        name: "best-yield",
        what: "ours: the most requests expected in time per second of device time; stops and rebuilds batches",
        paper: "no paper's",
    };
    const LOADS: bool = true;
    const ASSUMES: &'static [Assumption] = &[];
    const PRESETS: &'static [Preset<Config>] = &[Preset {
        name: "default",
        what: "all of it",
        make: || Config { max_batch: 64, stop: Stop::Crowded, join: true, way: true, ahead: true },
    }];
    const PARAMETERS: &'static [Parameter<Config>] = &[
        count(
            "max_batch",
            |c: &mut Self| Some(&mut c.max_batch),
            "maximum number of requests in a batch",
        )
        .within(1, 512),
        word("stop", |c: &mut Self| &mut c.stop, "when a batch is stopped for a better one"),
        flag(
            "join",
            |c: &mut Self| &mut c.join,
            "whether a batch is restarted with requests that arrived since",
        ),
        flag(
            "way",
            |c: &mut Self| &mut c.way,
            "whether a batch is stopped for another model's that could not wait",
        ),
        flag(
            "ahead",
            |c: &mut Self| &mut c.ahead,
            "whether a batch is sent before the one on its device has ended, where messages take time",
        ),
    ];
}

/// What a model's batches take from their decision to their result beyond what its law says: messages, inputs, noise.
/// A mean and a mean deviation, kept as TCP keeps those of a round trip (RFC 6298), but that an outlier is learned as
/// one of [`Beyond::OUTLIER`] deviations at most.
#[derive(Clone, Copy, Debug, Default)]
struct Beyond {
    mean_ns: f64,
    deviation_ns: f64,
    has_one: bool,
}

impl Beyond {
    const OUTLIER: f64 = 4.0;
    const LEAST_LEAD: f64 = 0.02;
    const REGULAR: f64 = 1.5;
    /// No more is kept free before a deadline than this part of the SLO.
    const MOST: f64 = 0.25;

    fn learn(&mut self, ns: f64, own_ns: f64) {
        let most = Self::OUTLIER * self.deviation_ns.max(0.02 * own_ns);
        let ns = if self.has_one { ns.clamp(self.mean_ns - most, self.mean_ns + most) } else { ns };
        self.deviation_ns += 0.25 * ((ns - self.mean_ns).abs() - self.deviation_ns);
        self.mean_ns += 0.125 * (ns - self.mean_ns);
        self.has_one = true;
    }

    /// So long before a batch is expected to end the next one is sent; none where messages take next to no time, or
    /// what batches take beyond their law is mostly chance.
    fn lead(self, own: Span) -> Option<Span> {
        let least = Self::LEAST_LEAD * own.ns() as f64;
        let is_regular = self.mean_ns > least.max(Self::REGULAR * self.deviation_ns);
        is_regular.then(|| Span::from_ns_f64(self.mean_ns + self.deviation_ns))
    }

    fn mean(self) -> Span {
        Span::from_ns_f64(self.mean_ns.max(0.0))
    }

    /// What is kept free before a deadline.
    fn reserve(self, slo: Span) -> Span {
        let ns = (self.mean_ns + 2.0 * self.deviation_ns).max(0.0);
        Span::from_ns_f64(ns.min(Self::MOST * slo.ns() as f64))
    }
}

/// A batch under way.
struct Running {
    device: DeviceId,
    action: ActionId,
    issued: Time,
    /// When it is expected to start on the device.
    start: Time,
    model: usize,
    batch: Batch,
    /// The stop that it runs until, and the number of those within its earliest deadline.
    stop: usize,
    within: usize,
    due: Time,
    /// It has run for its time.
    is_over: bool,
    is_stopped: bool,
    /// With these it begins anew.
    joining: Vec<Waiting>,
}

impl Running {
    /// When it is expected to have ended, if that is known.
    fn end(&self) -> Time {
        self.start + self.batch.row.stops[0].after
    }
}

/// The policy. See the module's text.
pub struct BestYield {
    config: Config,
    profiles: Vec<ModelProfile>,
    models: Vec<Model>,
    /// Models with requests that wait.
    waiting: BTreeSet<usize>,
    free: FreeDevices,
    /// Of each device, its kind and whether it can stop a batch.
    devices: Vec<(usize, bool)>,
    running: Vec<Running>,
    /// Devices whose batch will soon have ended: the next one may be sent.
    soon: Vec<DeviceId>,
    weights: Weights,
    /// By model.
    beyond: Vec<Beyond>,
    ids: Vec<RequestId>,
}

impl BestYield {
    /// Best yield by the profiles' laws.
    pub fn new(config: Config, profiles: &[ModelProfile]) -> BestYield {
        BestYield {
            config,
            profiles: profiles.to_vec(),
            models: Vec::new(),
            waiting: BTreeSet::new(),
            free: FreeDevices::default(),
            devices: Vec::new(),
            running: Vec::new(),
            soon: Vec::new(),
            weights: Weights::default(),
            beyond: vec![Beyond::default(); profiles.len()],
            ids: Vec::new(),
        }
    }

    /// The devices are there, or one more.
    fn meet(&mut self, known: &Known<'_>) {
        self.devices = known.devices().iter().map(|d| (d.kind as usize, d.can_preempt)).collect();
        let kinds = |p: &ModelProfile| -> Vec<Kind> {
            let laws = p.kinds.as_ref().map_or(std::slice::from_ref(&p.law), |kinds| &kinds.laws);
            let kind = |(kind, law): (usize, &Latency)| {
                let own = || self.devices.iter().filter(|d| d.0 == kind);
                let can_stop = self.config.stop != Stop::Never && own().all(|d| d.1);
                let share = own().count() as f64 / self.devices.len().max(1) as f64;
                Kind { law: law.clone(), can_stop, share }
            };
            laws.iter().enumerate().map(kind).collect()
        };
        self.weights.meet(self.profiles.len(), known);
        if self.models.is_empty() {
            let of = |p: &ModelProfile| Model::new(self.config.max_batch, p, kinds(p));
            self.models = self.profiles.iter().map(of).collect();
        }
    }

    fn reserve(&self, model: usize) -> Span {
        self.beyond[model].reserve(self.profiles[model].slo)
    }

    /// The best batch of all models on a device, and whether not all that waits can be served in time. With
    /// `reserve` free before its deadlines, unless it is needed.
    fn best(
        &mut self,
        now: Time,
        device: DeviceId,
        reserve: bool,
        out: &mut Actions,
    ) -> Option<(usize, Candidate, bool)> {
        let kind = self.devices[device.index()].0;
        let (mut best, mut work_ns, mut latest) = (None::<(usize, Candidate)>, 0.0, now);
        let BestYield { waiting, models, beyond, profiles, weights, .. } = self;
        waiting.retain(|&m| {
            let model = &mut models[m];
            let reserve = if reserve { beyond[m].reserve(profiles[m].slo) } else { Span::ZERO };
            if let Some(own) = model.best(now, reserve, kind, out) {
                if weights.holds(device, m) && best.is_none_or(|b| own.yields > b.1.yields) {
                    best = Some((m, own));
                }
            }
            work_ns += model.work_ns;
            latest = latest.max(model.latest.minus(reserve));
            !model.is_empty()
        });
        let (model, candidate) = best?;
        let ns = self.devices.len() as f64 * latest.since(now).ns() as f64;
        Some((model, candidate, work_ns > ns))
    }

    /// On each kind of device that is free, the batch of the largest yield. One that would fit without what is kept
    /// free before deadlines is better than none: it may be in time, and it is learned from.
    fn dispatch(&mut self, now: Time, out: &mut Actions) {
        loop {
            let mut best: Option<(DeviceId, usize, Candidate, bool)> = None;
            for reserve in [true, false] {
                let mut seen = None;
                for place in (0..self.free.len()).rev() {
                    let device = self.free.at(place);
                    let kind = self.devices[device.index()].0;
                    // Devices of one kind are alike, unless their memories are not.
                    if !self.weights.are_counted() && seen.replace(kind) == Some(kind) {
                        continue;
                    }
                    let own = self.best(now, device, reserve, out);
                    let Some((model, own, _)) = own else { continue };
                    if best.is_none_or(|b| own.yields > b.2.yields) {
                        best = Some((device, model, own, reserve));
                    }
                }
                if best.is_some() {
                    break;
                }
            }
            let Some((device, model, best, reserve)) = best else { break };
            let reserve = if reserve { self.reserve(model) } else { Span::ZERO };
            let kind = self.devices[device.index()].0;
            let batch = self.models[model].take(now + reserve, kind, &best);
            self.free.take_device(device);
            self.launch(now, now, (device, model), batch, out);
        }
        if !self.free.is_empty() {
            return;
        }
        for device in std::mem::take(&mut self.soon) {
            if !self.send_ahead(now, device, out) {
                self.soon.push(device);
            }
        }
    }

    /// The only batch on a device, if it is known when it ends.
    fn only(&self, device: DeviceId) -> Option<&Running> {
        let only = self.running.iter().find(|r| r.device == device)?;
        let is_known = !only.is_stopped && self.models[only.model].is_certain;
        (is_known && is_alone(&self.running, device)).then_some(only)
    }

    /// Sends the next batch to a device whose batch is expected to end; whether it did, or cannot any more.
    fn send_ahead(&mut self, now: Time, device: DeviceId, out: &mut Actions) -> bool {
        let Some(end) = self.only(device).map(Running::end) else { return true };
        let kind = self.devices[device.index()].0;
        let Some((model, own, _)) = self.best(now.max(end), device, true, out) else {
            return false;
        };
        if !self.models[model].is_certain {
            return false;
        }
        let from = now.max(end) + self.reserve(model);
        let batch = self.models[model].take(from, kind, &own);
        self.launch(now, end, (device, model), batch, out);
        true
    }

    /// Issues a batch for a device that is free from then on.
    fn launch(
        &mut self,
        now: Time,
        free: Time,
        (device, model): (DeviceId, usize),
        batch: Batch,
        out: &mut Actions,
    ) {
        self.ids.clear();
        self.ids.extend(batch.members.iter().map(|m| m.waiting.id));
        self.weights.used(device, model);
        let action = out.exec(Exec::now(device, ModelId(model as u32)), &self.ids);
        let Batch { members, row } = &batch;
        let due = members.iter().map(|m| m.waiting.deadline).min().unwrap_or(Time::NEVER);
        let within = row.within(due.since(now.max(free) + self.reserve(model)));
        let start = free.max(now + self.beyond[model].mean());
        let stop = row.best(within).map_or(row.stops.len() - 1, |best| best.1);
        let at = row.stops[stop];
        out.why_all(&self.ids, || {
            let (k, percent) = (row.size, 100.0 * at.done);
            format!("batch of {k}: of all batches the largest yield; after {} it has ended with {percent:.0} %", at.after)
        });
        self.running.push(Running {
            device,
            action,
            issued: now,
            start,
            model,
            batch,
            stop,
            within,
            due,
            is_over: false,
            is_stopped: false,
            joining: Vec::new(),
        });
        self.set_timer(self.running.len() - 1, out);
        let (Some(own), true) = (self.only(device), self.config.ahead) else { return };
        if let Some(lead) = self.beyond[model].lead(own.batch.row.stops[0].after) {
            out.set_timer(soon(device), own.end().minus(lead).max(now));
        }
    }

    /// At a batch's stop it is thought over, if it can be stopped. By the last one it has ended; where it has not, its
    /// law tells no more.
    fn set_timer(&self, i: usize, out: &mut Actions) {
        let Running { device, batch, start, stop, .. } = &self.running[i];
        let can_stop = self.config.stop != Stop::Never && self.devices[device.index()].1;
        if can_stop && stop + 1 < batch.row.stops.len() {
            out.set_timer(timer(*device), *start + batch.row.stops[*stop].after + Span::from_ns(1));
        }
    }

    /// Begins a batch of the model anew with requests that wait, where that pays most.
    fn join(&mut self, now: Time, model: usize, out: &mut Actions) {
        let (mean, reserve) = (self.beyond[model].mean(), self.reserve(model));
        let m = &mut self.models[model];
        let Some(class) = m.classes.first_mut().filter(|_| m.is_certain) else { return };
        let Some(first) = class.queue.first().copied() else { return };
        let per_ns = |k: usize, span: Span| k as f64 / span.ns().max(1) as f64;
        let mut best: Option<(f64, usize, usize)> = None;
        for (i, r) in
            self.running.iter().enumerate().filter(|r| r.1.model == model && !r.1.is_stopped)
        {
            let (k, end) = (r.batch.members.len(), r.start + r.batch.row.stops[0].after);
            let (kind, can_stop) = self.devices[r.device.index()];
            let is_sent_ahead =
                self.config.ahead && self.beyond[model].lead(r.batch.row.stops[0].after).is_some();
            if now >= end
                || !can_stop
                || !is_alone(&self.running, r.device)
                || self.free.is_leaving(r.device)
            {
                continue;
            }
            let mut items = 0;
            for j in 1..=class.queue.len() {
                items += class.queue[j - 1].items;
                let of = |k, items| (k as u32, items);
                let mut row = |of| class.row(&m.kinds, self.profiles[model].slo, kind, of);
                let Some(together) = row(of(k + j, r.batch.row.items + items)) else { break };
                let together = together.stops[0].after;
                if now + mean + reserve + together > r.due.min(first.deadline) {
                    break;
                }
                let Some(own) = row(of(j, items)).map(|row| row.stops[0].after) else { break };
                let rest = end.since(now);
                let can_wait = end + reserve + own <= first.deadline;
                let next = if is_sent_ahead { Span::ZERO } else { mean };
                let apart =
                    if can_wait { per_ns(k + j, rest + next + own) } else { per_ns(k, rest) };
                let gain = per_ns(k + j, mean + mean + together) - apart;
                if gain > best.map_or(0.0, |b| b.0) {
                    best = Some((gain, i, j));
                }
            }
        }
        let Some((_, i, j)) = best else { return };
        let r = &mut self.running[i];
        r.joining = class.queue.drain(..j).collect();
        m.changed();
        self.stop(i, out);
    }

    /// Where no device is free: stops a batch of another model for one of this, which would be late if it waited.
    ///
    /// If all that waits can be served, one that can begin anew later is stopped, the youngest; otherwise one whose rest
    /// yields less.
    fn make_way(&mut self, now: Time, model: usize, out: &mut Actions) {
        let mut best: Option<(Span, usize)> = None;
        let mut seen = None;
        for d in 0..self.devices.len() {
            let (kind, can_stop) = self.devices[d];
            if !can_stop || !self.weights.are_counted() && seen.replace(kind) == Some(kind) {
                continue;
            }
            let device = DeviceId(d as u32);
            let Some((first, own, crowded)) = self.best(now, device, true, out) else { continue };
            if first != model {
                continue;
            }
            let reserve = self.reserve(model);
            for (i, r) in self.running.iter().enumerate() {
                let is_like = self.devices[r.device.index()].0 == kind
                    && (!self.weights.are_counted() || r.device == device);
                let end = r.start + r.batch.row.stops.last().map_or(Span::ZERO, |s| s.after);
                let can_wait = end.max(now) <= own.until.minus(reserve);
                if is_like && (can_wait || r.is_stopped) {
                    return;
                }
                let is_other = r.model != model && is_alone(&self.running, r.device);
                if !is_like || !is_other || self.free.is_leaving(r.device) {
                    continue;
                }
                let (ran, whole) = (now.since(r.start), r.batch.row.stops[0].after);
                let rest = r.batch.row.best_after_time(ran);
                let is_anew = now + own.after + reserve + whole <= r.due && !crowded;
                // The message that stops it, its result, and the batch's own way there.
                let idle_ns = 2.0 * self.beyond[model].mean_ns.max(0.0);
                let takes_ns = own.after.ns() as f64;
                let yields = own.yields * takes_ns / (takes_ns + idle_ns).max(1.0);
                let is_worth = yields > if is_anew { r.batch.row.most } else { rest };
                if is_worth && best.is_none_or(|b| ran < b.0) {
                    best = Some((ran, i));
                }
            }
        }
        if let Some((_, i)) = best {
            self.stop(i, out);
        }
    }

    fn stop(&mut self, i: usize, out: &mut Actions) {
        let r = &mut self.running[i];
        r.is_stopped = true;
        out.clear_timer(timer(r.device));
        out.preempt(r.action);
    }

    /// Batches that have run for their time go on, or are stopped for a better one.
    fn reconsider(&mut self, now: Time, out: &mut Actions) {
        for i in 0..self.running.len() {
            let r = &self.running[i];
            if !r.is_over || r.is_stopped {
                continue;
            }
            let device = r.device;
            let at = r.batch.row.within(now.since(r.start)).max(1) - 1;
            let go_on = r.batch.row.best_after(at.max(r.stop), r.within);
            let other = self.best(now, device, true, out);
            let always = self.config.stop == Stop::Always;
            let is_better =
                |(yields, _)| other.is_some_and(|o| (o.2 || always) && o.1.yields > yields);
            match go_on {
                Some(go_on) if !is_better(go_on) => {
                    let r = &mut self.running[i];
                    (r.stop, r.is_over) = (go_on.1, false);
                    self.set_timer(i, out);
                }
                // It cannot be in time any more, or is worth less.
                _ => self.stop(i, out),
            }
        }
    }

    /// Each request of a batch that was stopped after `ran` waits alone, with its law given that the longest of them
    /// is longer; or as before, if that tells nothing.
    fn put_back(&mut self, r: Running, ran: Span) {
        let model = &mut self.models[r.model];
        let at = r.batch.row.within(ran).checked_sub(1);
        for Member { waiting, law } in r.batch.members {
            let class = model.classes.iter().position(|c| Rc::ptr_eq(&c.law, &law));
            match (at, class) {
                (None, Some(class)) => model.insert(class, waiting),
                _ => {
                    let law = at.map_or(law.clone(), |at| Rc::new(given(&law, &r.batch.row, at)));
                    let row = |kind: &Kind| {
                        Rc::new(Row::of(&kind.law, (1, waiting.items), &law, kind.can_stop))
                    };
                    let rows = model.kinds.iter().map(row).collect();
                    model.suspects.push(Suspect { waiting, law, rows });
                }
            }
        }
        model.changed();
        self.waiting.insert(r.model);
    }

    fn result(&mut self, now: Time, event: &Event<'_>, known: &Known<'_>, out: &mut Actions) {
        let &Event::Result { action, device, outcome, .. } = event else { return };
        let Some(i) = self.running.iter().position(|r| r.action == action) else { return };
        let mut r = self.running.remove(i);
        out.clear_timer(timer(device));
        if let Outcome::Done { device, .. } = outcome {
            let expected =
                if self.models[r.model].is_certain { r.batch.row.stops[0].after } else { device };
            // It was expected to start a mean after it was issued, or at the end of the one before it.
            let before = r.start.minus(self.beyond[r.model].mean()).max(r.issued);
            let ns = now.since(before).ns() as f64 - expected.ns() as f64;
            self.beyond[r.model].learn(ns, expected.ns() as f64);
        }
        let ran = match outcome {
            Outcome::Preempted { ran } if r.is_stopped => Some(ran),
            Outcome::Cancelled if r.is_stopped => Some(Span::ZERO),
            _ => None,
        };
        let joining = std::mem::take(&mut r.joining);
        let is_leaving = self.free.is_leaving(device);
        if ran.is_some() && !joining.is_empty() && !is_leaving {
            let kind = self.devices[device.index()].0;
            let model = &mut self.models[r.model];
            let class = &mut model.classes[0];
            let mut members = std::mem::take(&mut r.batch.members);
            let member = |waiting| Member { waiting, law: Rc::clone(&class.law) };
            members.extend(joining.into_iter().map(member));
            let items = members.iter().map(|m| m.waiting.items).sum();
            let of = (members.len() as u32, items);
            let row = class.row(&model.kinds, self.profiles[r.model].slo, kind, of);
            let row = row.expect("a batch that was looked at");
            self.launch(now, now, (device, r.model), Batch { members, row }, out);
        } else if let Some(ran) = ran.filter(|_| joining.is_empty()) {
            self.put_back(r, ran);
            self.free.add_back(device);
        } else {
            // It had ended before it could be stopped, it did not run, or its device takes no more work.
            let own = std::mem::take(&mut r.batch.members);
            let again = own.into_iter().filter(|_| ran.is_some()).map(|m| m.waiting);
            for waiting in again.chain(joining) {
                self.models[r.model].insert(0, waiting);
                self.waiting.insert(r.model);
            }
            if ran.is_none() {
                self.free.follow(event, known, out);
            }
        }
    }
}

/// Whether one batch was sent to a device, and no other after it.
fn is_alone(running: &[Running], device: DeviceId) -> bool {
    running.iter().filter(|r| r.device == device).count() == 1
}

fn soon(device: DeviceId) -> TimerKey {
    TimerKey(1 << 32 | u64::from(device.0))
}

fn timer(device: DeviceId) -> TimerKey {
    TimerKey(u64::from(device.0))
}

impl Build for Config {
    fn build(self, profiles: &[ModelProfile], _: u64) -> Box<dyn Policy> {
        Box::new(BestYield::new(self, profiles))
    }
}

impl Policy for BestYield {
    fn name(&self) -> String {
        self.config.name()
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Arrive(r) => {
                let model = r.model.index();
                let class = self.models[model].places.get(&r.app.index()).copied().unwrap_or(0);
                let waiting = Waiting { deadline: r.deadline, id: r.id, items: r.size };
                self.models[model].insert(class, waiting);
                self.waiting.insert(model);
                if self.config.join {
                    self.join(now, model, out);
                }
                if self.config.way && self.free.is_empty() {
                    self.make_way(now, model, out);
                }
            }
            Event::Timer(key) if key.0 >> 32 == 1 => {
                let device = DeviceId(key.0 as u32);
                self.soon.push(device);
            }
            Event::Timer(key) => {
                let of_it = self.running.iter_mut().filter(|r| timer(r.device) == key);
                of_it.for_each(|r| r.is_over = true);
                self.reconsider(now, out);
            }
            Event::Profiled { .. } => return,
            Event::Result { device, action, outcome, .. }
                if self.weights.ended(device, action, matches!(outcome, Outcome::Done { .. })) => {}
            Event::Result { device, .. } => {
                self.result(now, &event, known, out);
                out.clear_timer(soon(device));
                self.soon.retain(|&d| d != device);
                if let Some(next) = self.only(device) {
                    let lead = self.beyond[next.model].lead(next.batch.row.stops[0].after);
                    if let (Some(lead), true) = (lead, self.config.ahead) {
                        out.set_timer(soon(device), next.end().minus(lead).max(now));
                    }
                }
                if self.running.iter().any(|r| r.device == device) {
                    self.free.take_device(device);
                }
            }
            Event::Start | Event::Device(..) => {
                self.meet(known);
                if let Event::Device(device, Change::Draining | Change::Down) = event {
                    self.weights.left(device);
                }
                self.free.follow(&event, known, out);
            }
        }
        self.dispatch(now, out);
        if self.weights.are_counted() {
            let waits = |m: usize, from: Time| self.models[m].waiting_from(from);
            let is_busy = |d: usize, m: usize| {
                self.running.iter().any(|r| r.device.index() == d && r.model == m)
            };
            self.weights.load(now, waits, is_busy, out);
        }
    }
}
