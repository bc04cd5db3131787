//! A GPU of the cluster: a queue for each of its models, served in turn, one batch each.
//!
//! It follows the plan's batch sizes and knows nothing of rates or of other GPUs.

use super::node::Model;
use crate::policy::early_drop::DropRule;
use crate::policy::edf_queue::EdfQueue;
use crate::policy::{Actions, Exec};
use crate::request::{DeviceId, ModelId, Request, RequestId};
use crate::time::{Span, Time};

/// One GPU. See the module's text.
#[derive(Debug)]
pub(super) struct Backend {
    pub id: DeviceId,
    pub up: bool,
    busy: bool,
    /// When its loop last found nothing to do, while it is not busy.
    idle_since: Time,
    /// When it looks again; `NEVER` when nobody has asked it to.
    looks_at: Time,
    /// By model.
    slots: Vec<Slot>,
    /// The slot that is served next.
    turn: usize,
    queued: usize,
}

/// A model on a GPU.
#[derive(Debug)]
struct Slot {
    model: usize,
    batch: usize,
    /// Whether the plan still has it here; otherwise its queue drains.
    planned: bool,
    queue: EdfQueue,
}

impl Backend {
    pub fn new(id: DeviceId, now: Time) -> Backend {
        Backend {
            id,
            up: true,
            busy: false,
            idle_since: now,
            looks_at: Time::NEVER,
            slots: Vec::new(),
            turn: 0,
            queued: 0,
        }
    }

    /// Takes a new plan: models and their batches. A model that is taken off keeps its batch until
    /// its queue has drained.
    pub fn configure(&mut self, plan: &[(usize, usize)]) {
        let turn = self.slots.get(self.turn).map_or(usize::MAX, |s| s.model);
        self.slots.iter_mut().for_each(|s| s.planned = false);
        for &(model, batch) in plan {
            let at = self.slots.partition_point(|s| s.model < model);
            if self.slots.get(at).is_none_or(|s| s.model != model) {
                let queue = EdfQueue::default();
                self.slots.insert(at, Slot { model, batch, planned: true, queue });
            }
            (self.slots[at].batch, self.slots[at].planned) = (batch, true);
        }
        self.slots.retain(|s| s.planned || !s.queue.is_empty());
        self.turn = self.slots.partition_point(|s| s.model < turn);
    }

    pub fn push(&mut self, request: &Request) {
        let model = request.model.index();
        let at = self.slots.partition_point(|s| s.model < model);
        self.slots[at].queue.push(request);
        self.queued += 1;
    }

    /// Requests that wait here.
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// Its batch has come to an end.
    pub fn ended(&mut self, now: Time) {
        (self.busy, self.idle_since) = (false, now);
    }

    /// When its loop, which goes round every `poll` while it is idle, will look at its queues. Only
    /// the first answer needs a timer.
    pub fn next_look(&mut self, now: Time, poll: Span) -> Option<Time> {
        if self.busy || !self.up || self.looks_at != Time::NEVER {
            return None;
        }
        let rounds = (now - self.idle_since).ns().div_ceil(poll.ns());
        self.looks_at = self.idle_since + poll * rounds;
        Some(self.looks_at)
    }

    /// Its loop goes round: begins a batch if it can.
    pub fn look(
        &mut self,
        now: Time,
        rule: DropRule,
        models: &[Model],
        batch: &mut Vec<RequestId>,
        out: &mut Actions,
    ) {
        self.looks_at = Time::NEVER;
        if self.busy || !self.up {
            return;
        }
        while self.queued > 0 {
            let n = self.slots.len();
            let in_turn = (0..n).map(|i| (self.turn + i) % n);
            let at = in_turn.into_iter().find(|&i| !self.slots[i].queue.is_empty());
            let at = at.expect("somebody waits");
            let Slot { model, batch: planned, queue, .. } = &mut self.slots[at];
            let (model, planned, before) = (*model, *planned, queue.len());
            rule.form_batch(now, &models[model].latency[..planned], queue, batch, out);
            self.queued -= before - queue.len();
            self.turn = at + 1;
            if queue.is_empty() && !self.slots[at].planned {
                self.slots.remove(at);
                self.turn = at;
            }
            if !batch.is_empty() {
                out.why_all(batch, || {
                    let k = batch.len();
                    format!("batch of {k}: its model's turn; the plan allows {planned} here")
                });
                out.exec(Exec::now(self.id, ModelId(model as u32)), batch);
                self.busy = true;
                return;
            }
        }
        // An idle loop begins at its first model.
        (self.turn, self.idle_since) = (0, now);
    }

    /// It is gone: hands out what waited here.
    pub fn fail(&mut self, mut each: impl FnMut(RequestId)) {
        self.up = false;
        for slot in &mut self.slots {
            while let Some((_, id)) = slot.queue.pop() {
                each(id);
            }
        }
        self.queued = 0;
        self.slots.clear();
    }
}
