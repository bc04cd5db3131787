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
//! # Beside the rule
//! - *Reserve.* Before a deadline it keeps free what the model's batches took beyond their law (`beyond.rs`), within
//!   limits, and only where some batch fits with it: it may not keep a device idle, or nothing would be learned of it.
//!   Requests are dropped by their law alone.
//! - *Devices.* Yields are those of the device's type. On one that cannot stop a batch, or with `stop=never`, they are
//!   k P(L <= deadline) / E[L]: it runs to its end.
//! - *Items.* A batch lasts as long as its items take; its yield counts requests.
//! - *Making way* (`sent.rs`). A request that would be late if it waited stops a batch of another model that can begin
//!   anew, or yields less. Only where times are known for certain a batch is begun anew.
//! - *Weights* (`weights.rs`). Where not all models fit, the one that most requests wait for, for each device that has
//!   it, is loaded in place of the one used longest ago.
//! - *Late answers* that are worth something wait, once they cannot be in time, for their next deadline, apart; their
//!   yield counts what they are worth.
//!
//! # What it assumes
//! Laws are the profile's and are not learned anew. A stop costs the batch's work and the messages.
//!
//! # Differences from the paper
//! None: it is no paper's.

mod beyond;
mod model;
mod row;
mod running;
mod sent;
mod weights;

use self::beyond::Beyond;
use self::model::{Batch, Kind, Member, Model, Waiting};
use self::row::Candidate;
use self::running::{Running, timer};
use self::weights::Weights;
use super::free_devices::FreeDevices;
use super::parameters::{
    About, Assumption, Build, Parameter, Preset, Settings, count, flag, word, words,
};
use super::{Actions, Event, Exec, Known, Outcome, Policy};
use crate::cluster::{Change, DeviceView};
use crate::latency::Latency;
use crate::penalty::MILLION;
use crate::profile::ModelProfile;
use crate::request::{DeviceId, ModelId, RequestId};
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
        make: || Config { max_batch: 64, stop: Stop::Crowded, join: true, way: true },
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
    ];
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
            weights: Weights::default(),
            beyond: vec![Beyond::default(); profiles.len()],
            ids: Vec::new(),
        }
    }

    /// The devices are there, or one more.
    fn meet(&mut self, known: &Known<'_>) {
        // Told of one kind only, it knows no other.
        let told = |p: &ModelProfile| p.kinds.as_ref().map_or(1, |kinds| kinds.laws.len());
        let last = self.profiles.first().map_or(1, told) - 1;
        let device = |d: &DeviceView| ((d.kind as usize).min(last), d.can_preempt);
        self.devices = known.devices().iter().map(device).collect();
        // Kinds that are alike are one.
        let is_like = |a: usize, b: usize| {
            let stops = |kind| self.devices.iter().filter(move |d| d.0 == kind).all(|d| d.1);
            let laws = |p: &ModelProfile| p.kinds.as_ref().is_none_or(|k| k.laws[a] == k.laws[b]);
            stops(a) == stops(b) && self.profiles.iter().all(laws)
        };
        let first = |kind: usize| (0..kind).find(|&other| is_like(other, kind)).unwrap_or(kind);
        let firsts: Vec<usize> = (0..=last).map(first).collect();
        self.devices.iter_mut().for_each(|d| d.0 = firsts[d.0]);
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
            let of = |(id, p): (usize, &ModelProfile)| {
                Model::new(id, self.config.max_batch, p, kinds(p))
            };
            self.models = self.profiles.iter().enumerate().map(of).collect();
            for (id, p) in self.profiles.iter().enumerate() {
                let (mut before, most) = (id, p.penalties.values().max_by_key(|p| p.steps().len()));
                for step in most.iter().flat_map(|p| p.steps().windows(2)) {
                    let full = most.map_or(1.0, |p| p.full() as f64);
                    let slo = p.slo.scale(step[1].deadline as f64 / MILLION as f64);
                    let own = ModelProfile { slo, ..p.clone() };
                    let mut late = Model::new(id, self.config.max_batch, &own, kinds(&own));
                    late.worth = 1.0 - step[0].cost as f64 / full;
                    self.models[before].later = Some(self.models.len());
                    before = self.models.len();
                    self.models.push(late);
                }
            }
            self.beyond.resize(self.models.len(), Beyond::default());
        }
    }

    /// Requests that cannot be in time any more wait for their next deadline; whether there are any.
    fn wait_late(&mut self, known: &Known<'_>) -> bool {
        let mut some = false;
        for m in 0..self.models.len() {
            let Some(later) = self.models[m].later else { continue };
            for waiting in std::mem::take(&mut self.models[m].late) {
                let Some(r) = known.request(waiting.id) else { continue };
                let base = self.profiles[self.models[later].id].slo.ns().max(1) as f64;
                let factor = self.models[later].slo.ns() as f64 / base;
                let deadline = r.arrival + (r.deadline - r.arrival).scale(factor);
                let class = self.models[later].places.get(&r.app.index()).copied().unwrap_or(0);
                self.models[later].insert(class, Waiting { deadline, ..waiting });
                self.waiting.insert(later);
                some = true;
            }
        }
        some
    }

    fn reserve(&self, model: usize) -> Span {
        self.beyond[model].reserve(self.models[model].slo)
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
        let BestYield { waiting, models, beyond, weights, .. } = self;
        waiting.retain(|&m| {
            let model = &mut models[m];
            let reserve = if reserve { beyond[m].reserve(model.slo) } else { Span::ZERO };
            if let Some(own) = model.best(now, reserve, kind, out)
                && weights.holds(device, model.id)
                && best.is_none_or(|b| own.yields > b.1.yields)
            {
                best = Some((m, own));
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
            self.launch(now, (device, model), batch, out);
        }
    }

    /// Issues a batch for a device that is free.
    fn launch(
        &mut self,
        now: Time,
        (device, model): (DeviceId, usize),
        batch: Batch,
        out: &mut Actions,
    ) {
        self.ids.clear();
        self.ids.extend(batch.members.iter().map(|m| m.waiting.id));
        let id = self.models[model].id;
        self.weights.used(device, id);
        let action = out.exec(Exec::now(device, ModelId(id as u32)), &self.ids);
        let Batch { members, row } = &batch;
        let due = members.iter().map(|m| m.waiting.deadline).min().unwrap_or(Time::NEVER);
        let within = row.within(due.since(now + self.reserve(model)));
        let start = now + self.beyond[model].mean();
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
    }

    fn result(&mut self, now: Time, event: &Event<'_>, known: &Known<'_>, out: &mut Actions) {
        let &Event::Result { action, device, outcome, .. } = event else { return };
        let Some(i) = self.running.iter().position(|r| r.action == action) else { return };
        let mut r = self.running.remove(i);
        out.clear_timer(timer(device));
        if let Outcome::Done { device, .. } = outcome {
            let expected =
                if self.models[r.model].is_certain { r.batch.row.stops[0].after } else { device };
            let ns = now.since(r.issued).ns() as f64 - expected.ns() as f64;
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
            let row = class.row(&model.kinds, kind, of);
            let row = row.expect("a batch that was looked at");
            self.launch(now, (device, r.model), Batch { members, row }, out);
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
            Event::Timer(key) => {
                let of_it = self.running.iter_mut().filter(|r| timer(r.device) == key);
                of_it.for_each(|r| r.is_over = true);
                self.reconsider(now, out);
            }
            Event::Profiled { .. } => return,
            Event::Result { device, action, outcome, .. }
                if self.weights.ended(device, action, matches!(outcome, Outcome::Done { .. })) => {}
            Event::Result { .. } => self.result(now, &event, known, out),
            Event::Start | Event::Device(..) => {
                self.meet(known);
                if let Event::Device(device, Change::Draining | Change::Down) = event {
                    self.weights.left(device);
                }
                self.free.follow(&event, known, out);
            }
        }
        self.dispatch(now, out);
        while self.wait_late(known) {
            self.dispatch(now, out);
        }
        if self.weights.are_counted() {
            let waits = |m: usize, from: Time| self.models[m].waiting_from(from);
            let is_busy = |d: usize, m: usize| {
                self.running.iter().any(|r| r.device.index() == d && r.model == m)
            };
            self.weights.load(now, waits, is_busy, out);
        }
    }
}
