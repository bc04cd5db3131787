//! When the scheduler believes each GPU to be free, and which it takes.
//!
//! It is told what was sent and what came of it; it matches nothing.

use super::GpuChoice;
use super::tournament::Tournament;
use crate::policy::Outcome;
use crate::request::{ActionId, DeviceId};
use crate::time::{Span, Time};
use std::collections::VecDeque;

/// A batch that was sent and has not ended.
#[derive(Debug)]
struct Sent {
    action: ActionId,
    start: Time,
    latency: Span,
}

/// Free from then on; then the place among equals.
type Free = (Time, u64);

/// All GPUs.
#[derive(Debug)]
pub(super) struct Gpus {
    choice: GpuChoice,
    free: Tournament<Free>,
    sent: Vec<VecDeque<Sent>>,
    changes: u64,
}

impl Gpus {
    pub fn new(choice: GpuChoice) -> Gpus {
        let free = Tournament::new(1, (Time::NEVER, u64::MAX));
        Gpus { choice, free, sent: Vec::new(), changes: 0 }
    }

    /// A GPU is there and free.
    pub fn add(&mut self, now: Time, device: DeviceId) {
        if self.sent.len() <= device.index() {
            self.sent.resize_with(device.index() + 1, VecDeque::new);
        }
        self.set(device.index(), now);
    }

    /// A GPU takes no more work.
    pub fn remove(&mut self, device: DeviceId) {
        self.free.remove(device.index());
    }

    /// Whether a GPU takes work.
    fn is_up(&self, gpu: usize) -> bool {
        self.free.get(gpu).0 < Time::NEVER
    }

    /// Among GPUs that are free at the same instant, the one that was heard of last is taken first
    /// (value_ranked_splay_map.h), or the one with the smallest id.
    fn set(&mut self, gpu: usize, free: Time) {
        self.changes += 1;
        let place = match self.choice {
            GpuChoice::EarliestFree => u64::MAX - self.changes,
            GpuChoice::SmallestId => gpu as u64,
        };
        self.free.set(gpu, (free, place));
    }

    /// When the first of them is free; `NEVER` when there is none.
    #[inline]
    pub fn first_free(&self) -> Time {
        self.free.min().0
    }

    /// The GPU that is free first.
    pub fn first(&self) -> Option<(usize, Time)> {
        self.free.winner().map(|gpu| (gpu, self.first_free()))
    }

    /// The GPU for a batch that starts at `start`, if one is free then.
    pub fn free_at(&self, start: Time) -> Option<(usize, Time)> {
        let gpu = match self.choice {
            GpuChoice::EarliestFree => self.free.winner(),
            GpuChoice::SmallestId => self.free.first(|free| free.0 <= start),
        }?;
        let free = self.free.get(gpu).0;
        (free <= start).then_some((gpu, free))
    }

    /// When the GPU is free; `NEVER` when it takes no work.
    pub fn free(&self, gpu: usize) -> Time {
        self.free.get(gpu).0
    }

    /// It is given to a model, and free at no known time until that has sent its batch.
    pub fn grant(&mut self, gpu: usize) {
        self.free.remove(gpu);
    }

    /// It was given to a model that had nothing to send.
    pub fn give_back(&mut self, gpu: usize, free: Time) {
        self.set(gpu, free);
    }

    /// A batch was sent.
    pub fn sent(&mut self, gpu: usize, action: ActionId, start: Time, latency: Span) {
        self.sent[gpu].push_back(Sent { action, start, latency });
        self.set(gpu, start + latency);
    }

    /// A batch has ended. What was believed holds unless the end says otherwise: then what was sent
    /// after it is expected to follow at once, or at its own start if that is later.
    pub fn ended(&mut self, now: Time, device: DeviceId, action: ActionId, outcome: Outcome) {
        let gpu = device.index();
        let at = self.sent[gpu].iter().position(|s| s.action == action).expect("a batch of ours");
        self.sent[gpu].remove(at);
        let end = match outcome {
            Outcome::Done { end, .. } => end,
            _ => now,
        };
        let follow = |free: Time, s: &Sent| free.max(s.start) + s.latency;
        let free = self.sent[gpu].iter().fold(end, follow);
        if self.is_up(gpu) && free != self.free.get(gpu).0 {
            self.set(gpu, free);
        }
    }
}
