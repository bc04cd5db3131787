//! Shepherd's GPUs: which are idle, what the others run, and which of those could be stopped.
//!
//! It decides nothing.

use super::queue::Waiting;
use super::running::Running;
use crate::request::ActionId;
use crate::time::Time;
use std::collections::BTreeSet;

/// What a GPU was given.
pub struct Batch {
    pub action: ActionId,
    pub model: usize,
    pub requests: Vec<Waiting>,
    /// The earliest of their deadlines.
    pub first: Time,
    /// What it is being stopped for: a model and its requests.
    pub then: Option<(usize, Vec<Waiting>)>,
}

impl Batch {
    pub fn new(action: ActionId, model: usize, requests: Vec<Waiting>) -> Batch {
        let first = requests.iter().map(|w| w.deadline).min().unwrap_or(Time::NEVER);
        Batch { action, model, requests, first, then: None }
    }
}

struct Gpu {
    up: bool,
    can_preempt: bool,
    batch: Option<Batch>,
    /// Whether its batch is in `running`.
    listed: bool,
}

/// All GPUs, by id.
#[derive(Default)]
pub struct Gpus {
    list: Vec<Gpu>,
    pub idle: BTreeSet<usize>,
    /// The batches that could be stopped.
    pub running: Running,
}

impl Gpus {
    /// A GPU comes; its id.
    pub fn add(&mut self, can_preempt: bool) -> usize {
        let gpu = self.list.len();
        self.list.push(Gpu { up: true, can_preempt, batch: None, listed: false });
        self.idle.insert(gpu);
        gpu
    }

    /// A GPU goes, perhaps when its batch has ended.
    pub fn remove(&mut self, gpu: usize) {
        self.unlist(gpu);
        self.idle.remove(&gpu);
        self.list[gpu].up = false;
    }

    pub fn is_up(&self, gpu: usize) -> bool {
        self.list[gpu].up
    }

    pub fn ids(&self) -> std::ops::Range<usize> {
        0..self.list.len()
    }

    pub fn give(&mut self, gpu: usize, batch: Batch) {
        let g = &mut self.list[gpu];
        if g.can_preempt {
            g.listed = true;
            self.running.insert(batch.model, (batch.requests.len(), batch.first, gpu));
        }
        g.batch = Some(batch);
        self.idle.remove(&gpu);
    }

    /// Its batch is over. Idle, if it is up.
    pub fn take(&mut self, gpu: usize) -> Batch {
        self.unlist(gpu);
        let g = &mut self.list[gpu];
        if g.up {
            self.idle.insert(gpu);
        }
        g.batch.take().expect("a GPU ends what it was given")
    }

    /// Its batch, if that could be stopped.
    pub fn preemptible(&self, gpu: usize) -> Option<&Batch> {
        let g = &self.list[gpu];
        g.batch.as_ref().filter(|_| g.listed)
    }

    /// Its batch is being stopped, for this.
    pub fn stop_for(&mut self, gpu: usize, model: usize, requests: Vec<Waiting>) {
        self.unlist(gpu);
        let batch = self.list[gpu].batch.as_mut().expect("it is busy");
        batch.then = Some((model, requests));
    }

    fn unlist(&mut self, gpu: usize) {
        let g = &mut self.list[gpu];
        if let Some(batch) = g.batch.as_ref().filter(|_| g.listed) {
            self.running.remove(batch.model, (batch.requests.len(), batch.first, gpu));
            g.listed = false;
        }
    }
}
