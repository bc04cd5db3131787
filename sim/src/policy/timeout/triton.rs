//! `window=triton`: batches as Triton's dynamic batcher forms them (triton-inference-server/core, r24.10:
//! `dynamic_batch_scheduler.cc`, `BatcherThread`, `Enqueue`, `GetDynamicBatch`; `instance_queue.cc`, `Dequeue`).
//!
//! A thread forms batches ahead of the model's instances, at most two for each. A batch leaves the queue when it
//! has the preferred size, or when its first request has waited long enough, *although every instance may be
//! busy*; then it stands in line. The thread sleeps until requests for a preferred batch are there, or an instance
//! takes a batch: what arrives meanwhile does not join the batch that stands in line, and has a wait of its own.
//!
//! ```text
//! on arrival:              if as many items wait as would fill the last batch, or it is gone: form
//! when the oldest request in the queue has waited `max_wait`, or an instance took a batch:  form
//!
//! form, while requests wait and fewer than two batches for each instance stand in line:
//!     fill the last batch, or a new one where it is gone or filled
//!     if the oldest has not waited, and it has `preferred` items or more with what is there:
//!         it stands in line with so many, or took one more if it had them already, and is filled
//!     if it has `preferred` items or more, or the oldest has waited: it stands in line with all that fit
//!     if it stood in line already:                                   it takes what is there
//!     otherwise:                                                     wait
//!
//! when an instance is free: it takes the first batch in line, and further ones whose first request has waited
//!     longer than `max_wait`, while they fit
//! ```
//!
//! # Differences from the released code
//! - An instance is a lane of a device, and serves every model; a model has as many as there are lanes. Triton's
//!   models have instances of their own.
//! - One preferred size, in place of several. No priorities, and no time-outs of requests.
//! - The thread takes no time. There, it is also woken when an instance ends a batch, and may fill the next one
//!   before the instance takes it: in none of 60 trials on a quiet machine (docs/measured.md).

use super::waiting::Waiting;
use crate::cluster::Change;
use crate::policy::free_devices::FreeDevices;
use crate::policy::{Actions, Event, Known, Policy, TimerKey};
use crate::request::{Drop, ModelId, Request, RequestId};
use crate::time::{Span, Time};
use std::collections::VecDeque;

/// How many batches stand in line for each instance: rate_limiter.cc, `PayloadSlotAvailable`.
const AHEAD: usize = 2;

#[derive(Default)]
struct Batch {
    requests: Vec<Waiting>,
    items: u64,
}

#[derive(Default)]
struct Model {
    /// Requests in no batch yet, in order of arrival.
    queue: VecDeque<Waiting>,
    queued_items: u64,
    /// Batches in line.
    formed: VecDeque<Batch>,
    /// Whether the last of them may take more.
    is_open: bool,
    /// The thread sleeps until so many items wait.
    wakes_at: u64,
}

impl Model {
    /// The next batch is a new one.
    fn close(&mut self) {
        (self.is_open, self.wakes_at) = (false, 0);
    }
}

/// What the thread does next.
enum Step {
    /// So many requests go into the batch, which then takes no more.
    Fill(usize),
    /// So many requests go into the batch.
    Add(usize),
    /// Nothing, until the oldest request has waited.
    Wait,
}

/// How batches are formed.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The items of a full batch.
    pub max_batch: u32,
    /// How long the first request of a batch waits for others.
    pub max_wait: Span,
    /// Whether requests whose deadline has passed are dropped when an instance takes their batch.
    pub drop_expired: bool,
    /// A batch of so many items waits no longer; at most `max_batch`.
    pub preferred: u32,
}

/// The policy. See the module's text.
pub struct Triton {
    name: String,
    rule: Rule,
    models: Vec<Model>,
    /// The model of each batch in line.
    line: VecDeque<usize>,
    instances: usize,
    free: FreeDevices,
    /// Models whose threads are awake.
    awake: Vec<usize>,
}

impl Triton {
    /// Before its start, with the name that it goes by.
    pub fn new(name: String, rule: Rule) -> Triton {
        let (models, line, awake) = (Vec::new(), VecDeque::new(), Vec::new());
        let rule = Rule { preferred: rule.preferred.min(rule.max_batch), ..rule };
        let free = FreeDevices::with_all_lanes();
        Triton { name, rule, models, line, instances: 0, free, awake }
    }

    fn arrive(&mut self, request: &Request) {
        let index = request.model.index();
        if self.models.len() <= index {
            self.models.resize_with(index + 1, Model::default);
        }
        let model = &mut self.models[index];
        model.queue.push_back(Waiting::new(request));
        model.queued_items += u64::from(request.size);
        if model.queued_items >= model.wakes_at {
            self.awake.push(index);
        }
    }

    fn step(&mut self, now: Time, index: usize) -> Step {
        let (preferred, most) = (u64::from(self.rule.preferred), u64::from(self.rule.max_batch));
        let model = &mut self.models[index];
        let has = if model.is_open { model.formed.back().map_or(0, |b| b.items) } else { 0 };
        let (mut count, mut items, mut best) = (0, has, 0);
        let (mut is_filled, mut is_full) = (false, false);
        for waiting in &model.queue {
            let with = items + u64::from(waiting.items);
            if items > 0 && with > preferred && best == 0 {
                (best, is_filled) = (count, true);
            }
            is_full = items > 0 && with > most;
            if is_full {
                break;
            }
            (items, count) = (with, count + 1);
            if items == preferred {
                best = count;
            }
        }
        let wait = self.rule.max_wait;
        let has_waited = wait > Span::ZERO && now.since(model.queue[0].arrival) >= wait;
        if best > 0 && !has_waited {
            let fills = is_filled || wait == Span::ZERO;
            return if fills { Step::Fill(best) } else { Step::Add(best) };
        }
        if is_filled || is_full || items >= preferred {
            return Step::Fill(count);
        }
        if has_waited || wait == Span::ZERO {
            return Step::Add(count);
        }
        model.wakes_at = preferred - has;
        if has > 0 { Step::Add(count) } else { Step::Wait }
    }

    /// A round of a model's thread. Whether there is another.
    fn form(&mut self, now: Time, index: usize, out: &mut Actions) -> bool {
        let timer = TimerKey(index as u64);
        out.clear_timer(timer);
        let model = &self.models[index];
        if model.queue.is_empty() || model.formed.len() >= AHEAD * self.instances {
            return false;
        }
        let step = self.step(now, index);
        let model = &mut self.models[index];
        let (Step::Fill(count) | Step::Add(count)) = step else {
            out.set_timer(timer, model.queue[0].arrival + self.rule.max_wait);
            return false;
        };
        if !model.is_open && count > 0 {
            model.formed.push_back(Batch::default());
            model.is_open = true;
            self.line.push_back(index);
        }
        if let Some(batch) = model.formed.back_mut() {
            for waiting in model.queue.drain(..count) {
                batch.items += u64::from(waiting.items);
                model.queued_items -= u64::from(waiting.items);
                batch.requests.push(waiting);
            }
        }
        if matches!(step, Step::Fill(_)) {
            model.close();
        }
        true
    }

    /// The first batch in line, with those behind it that join it.
    fn take(&mut self, now: Time) -> Option<(usize, Batch)> {
        let index = self.line.pop_front()?;
        let Rule { max_batch, max_wait, .. } = self.rule;
        let model = &mut self.models[index];
        let mut batch = model.formed.pop_front()?;
        let joins =
            |next: &Batch| max_wait > Span::ZERO && now.since(next.requests[0].arrival) > max_wait;
        while model.formed.front().is_some_and(joins) {
            // It is marked as gone, also where it does not fit.
            model.is_open &= model.formed.len() > 1;
            if batch.items + model.formed[0].items > u64::from(max_batch) {
                break;
            }
            if let Some(next) = model.formed.pop_front() {
                batch.items += next.items;
                batch.requests.extend(next.requests);
            }
            let place = self.line.iter().position(|other| *other == index);
            place.map(|place| self.line.remove(place));
        }
        if model.formed.is_empty() || !model.is_open {
            model.close();
        }
        Some((index, batch))
    }

    /// A free instance takes a batch; its model, if there was one.
    fn start(&mut self, now: Time, out: &mut Actions) -> Option<usize> {
        let ready = *self.line.front()?;
        let exec = self.free.batch(ModelId(ready as u32))?;
        let (index, mut batch) = self.take(now)?;
        let late = |w: &Waiting| self.rule.drop_expired && w.deadline < now;
        for waiting in batch.requests.iter().filter(|w| late(w)) {
            let id = waiting.id;
            out.why(id, || format!("its deadline passed {} ago", now - waiting.deadline));
            out.end(id, Drop::Expired);
        }
        batch.requests.retain(|w| !late(w));
        let runs: Vec<RequestId> = batch.requests.iter().map(|w| w.id).collect();
        if !runs.is_empty() {
            let items: u64 = batch.requests.iter().map(|w| u64::from(w.items)).sum();
            let preferred = u64::from(self.rule.preferred);
            out.why_all(&runs, || {
                if items >= preferred {
                    format!("first in line: the batch is filled with {items}")
                } else {
                    format!("first in line: a batch of {items} whose wait was over")
                }
            });
            self.free.take(out.exec(exec, &runs));
        }
        Some(index)
    }

    fn run(&mut self, now: Time, out: &mut Actions) {
        loop {
            if let Some(model) = self.start(now, out) {
                self.awake.push(model);
            } else if let Some(model) = self.awake.pop() {
                if self.form(now, model, out) {
                    self.awake.push(model);
                }
            } else {
                return;
            }
        }
    }
}

impl Policy for Triton {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match event {
            Event::Arrive(request) => self.arrive(request),
            Event::Timer(TimerKey(model)) => self.awake.push(model as usize),
            Event::Profiled { .. } => return,
            Event::Start | Event::Device(..) => {
                self.free.follow(&event, known, out);
                let up = known.devices().into_iter().filter(|d| d.state == Change::Up);
                self.instances = up.map(|d| usize::from(d.lanes_to_fill())).sum();
                self.awake.extend(0..self.models.len());
            }
            Event::Result { .. } => self.free.follow(&event, known, out),
        }
        self.run(now, out);
    }
}
