//! `window=acquire`: batches as the harness of NVIDIA's MLPerf submissions forms them (MLPerf Inference v1.1,
//! closed/NVIDIA/code/harness/lwis, its batcher thread and `acquire`).
//!
//! Each model has a batcher. It finds a GPU with room for another batch, and waits until a whole batch is
//! there or `max_wait` has passed since it *began to wait*. What is there then goes to that GPU, although it may
//! be busy: batches queue at its lanes, which take turns. So a batch grows no more while its GPU is busy,
//! unless the GPU already has `ahead` batches.
//!
//! ```text
//! batcher of a model, for ever:
//!     wait until a GPU has fewer than `ahead` batches; the next such GPU in turn
//!     do:  wait until max_batch items are there, or max_wait has passed
//!     while none is there
//!     queue up to max_batch of them at the GPU's next lane, in turn
//! ```
//!
//! # Differences from the released code
//! - A GPU's copies run beside its batches there; here a batch's time contains them.
//! - It serves one model. Here each model has a batcher, and the one that first waited for room gets it. The
//!   room that a batcher found is not its own while none of its requests is there.
//! - With `max_wait_ms=0` a batch takes what arrives at one instant.

use super::waiting::{Waiting, cut};
use crate::cluster::Change;
use crate::policy::free_devices::{device_is_gone, drop_what_did_not_run};
use crate::policy::{Actions, Event, Exec, Known, Policy, TimerKey};
use crate::request::{DeviceId, ModelId, Request, RequestId};
use crate::time::{Span, Time};
use std::collections::VecDeque;

/// How batches are formed.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The items of a whole batch.
    pub max_batch: u32,
    /// How long a batcher waits for one.
    pub max_wait: Span,
    /// Whether requests whose deadline has passed are dropped when their batch goes.
    pub drop_expired: bool,
    /// How many batches a device may have, running ones included.
    pub ahead: u32,
}

/// A device, by number.
struct Device {
    /// It takes work.
    is_up: bool,
    lanes: u8,
    next_lane: u8,
    /// Batches that were sent and have not come back.
    batches: u32,
}

/// Where a batcher is in its round.
#[derive(Clone, Copy)]
enum Batcher {
    /// It waits for room.
    Blocked,
    /// It waits for room with a batch that has waited for requests already.
    Late,
    /// It waits for requests, since then, for that device.
    Open(Time, usize),
}

struct Model {
    /// In order of arrival.
    waiting: VecDeque<Waiting>,
    batcher: Batcher,
}

impl Model {
    /// Whether a whole batch waits.
    fn is_whole(&self, max_batch: u32) -> bool {
        let mut items = 0;
        self.waiting.iter().any(|w| {
            items += u64::from(w.items);
            items >= u64::from(max_batch)
        })
    }
}

/// The policy. See the module's text.
pub struct Acquire {
    name: String,
    rule: Rule,
    devices: Vec<Device>,
    /// Whose turn it is.
    turn: usize,
    models: Vec<Model>,
    /// Models whose batchers wait for room.
    line: VecDeque<usize>,
    batch: Vec<RequestId>,
}

impl Acquire {
    /// Before its start, with the name that it goes by.
    pub fn new(name: String, rule: Rule) -> Acquire {
        let (devices, models, line, batch) = (Vec::new(), Vec::new(), VecDeque::new(), Vec::new());
        Acquire { name, rule, devices, turn: 0, models, line, batch }
    }

    fn arrive(&mut self, now: Time, request: &Request, out: &mut Actions) {
        let index = request.model.index();
        while self.models.len() <= index {
            // Its batcher has waited since the start.
            let (waiting, batcher) = (VecDeque::new(), Batcher::Blocked);
            self.models.push(Model { waiting, batcher });
            self.open(self.models.len() - 1, Time::ZERO);
        }
        let model = &mut self.models[index];
        model.waiting.push_back(Waiting::new(request));
        if let Batcher::Open(began, _) = model.batcher {
            if model.is_whole(self.rule.max_batch) {
                self.close(now, index, out);
            } else if model.waiting.len() == 1 {
                out.set_timer(TimerKey(index as u64), self.end_of(began, now));
            }
        }
    }

    /// When the window ends in which `now` is: windows follow one another while no request is there.
    fn end_of(&self, began: Time, now: Time) -> Time {
        let wait = self.rule.max_wait;
        if wait == Span::ZERO {
            return now;
        }
        let windows = (now - began).ns().div_ceil(wait.ns()).max(1);
        began + wait * windows
    }

    /// The next device in turn that has room.
    fn roomy(&self) -> Option<usize> {
        let n = self.devices.len();
        let has_room =
            |d: &usize| self.devices[*d].is_up && self.devices[*d].batches < self.rule.ahead;
        (0..n).map(|i| (self.turn + i) % n).find(has_room)
    }

    /// A batcher begins a round.
    fn open(&mut self, model: usize, now: Time) {
        match self.roomy() {
            Some(device) => {
                self.turn = (device + 1) % self.devices.len();
                self.models[model].batcher = Batcher::Open(now, device);
            }
            None => self.block(model, Batcher::Blocked),
        }
    }

    fn block(&mut self, model: usize, batcher: Batcher) {
        self.models[model].batcher = batcher;
        self.line.push_back(model);
    }

    /// A window is over, or a whole batch is there: it goes, and so do others that are there.
    fn close(&mut self, now: Time, model: usize, out: &mut Actions) {
        let timer = TimerKey(model as u64);
        out.clear_timer(timer);
        loop {
            let device = match self.models[model].batcher {
                Batcher::Open(_, device) => device,
                Batcher::Blocked | Batcher::Late => return,
            };
            let has_room =
                self.devices[device].is_up && self.devices[device].batches < self.rule.ahead;
            let Some(device) = has_room.then_some(device).or_else(|| self.roomy()) else {
                return self.block(model, Batcher::Late);
            };
            self.commit(now, model, device, out);
            self.open(model, now);
            let m = &self.models[model];
            if m.is_whole(self.rule.max_batch) {
                continue;
            }
            if let Batcher::Open(began, _) = m.batcher
                && !m.waiting.is_empty()
            {
                out.set_timer(timer, self.end_of(began, now));
            }
            return;
        }
    }

    fn commit(&mut self, now: Time, model: usize, device: usize, out: &mut Actions) {
        let Rule { max_batch, max_wait, drop_expired, .. } = self.rule;
        let waiting = &mut self.models[model].waiting;
        let into = (now, &mut self.batch);
        let (size, is_full) = cut(waiting, max_batch, drop_expired, into, out);
        if self.batch.is_empty() {
            return;
        }
        let to = &mut self.devices[device];
        let before = to.batches;
        out.why_all(&self.batch, || {
            let ready = if is_full {
                format!("the batch is full with {size}")
            } else {
                format!("a batch of {size}, {max_wait} after its batcher began to wait")
            };
            format!("{ready}; the device has {before} before it")
        });
        let lane = to.next_lane;
        (to.next_lane, to.batches) = ((lane + 1) % to.lanes, before + 1);
        let exec = Exec::now(DeviceId(device as u32), ModelId(model as u32));
        out.exec(Exec { lane, ..exec }, &self.batch);
    }

    /// There is room: those who waited for it go on.
    fn unblock(&mut self, now: Time, out: &mut Actions) {
        while let Some(device) = self.roomy() {
            let Some(model) = self.line.pop_front() else { return };
            let is_late = matches!(self.models[model].batcher, Batcher::Late);
            let is_whole = self.models[model].is_whole(self.rule.max_batch);
            let waits = !self.models[model].waiting.is_empty();
            if is_late {
                self.models[model].batcher = Batcher::Open(now, device);
            } else {
                self.open(model, now);
            }
            if is_late || is_whole {
                self.close(now, model, out);
            } else if waits {
                out.set_timer(TimerKey(model as u64), self.end_of(now, now));
            }
        }
    }

    fn follow_devices(&mut self, known: &Known<'_>) {
        for view in known.devices().into_iter().skip(self.devices.len()) {
            let (is_up, lanes) = (view.state == Change::Up, view.lanes_to_fill());
            self.devices.push(Device { is_up, lanes, next_lane: 0, batches: 0 });
        }
    }
}

impl Policy for Acquire {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Start | Event::Device(_, Change::Up) => {
                self.follow_devices(known);
                self.unblock(now, out);
            }
            Event::Arrive(request) => self.arrive(now, request, out),
            Event::Timer(TimerKey(model)) => self.close(now, model as usize, out),
            Event::Result { device, outcome, requests, .. } => {
                drop_what_did_not_run(outcome, requests, known, out);
                let from = &mut self.devices[device.index()];
                from.batches -= 1;
                from.is_up &= !device_is_gone(outcome);
                self.unblock(now, out);
            }
            Event::Device(device, _) => self.devices[device.index()].is_up = false,
            Event::Profiled { .. } => {}
        }
    }
}
