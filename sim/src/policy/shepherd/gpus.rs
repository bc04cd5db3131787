//! Shepherd's GPUs: which are idle, what the others run or are to run, and which could be stopped.
//!
//! A GPU has at most one batch that was decided on. It is sent once the GPU has stopped what it ran,
//! and once its requests are free: those of a stopped batch belong to that until its device reports.
//! It decides nothing.

use super::queue::Waiting;
use super::running::Running;
use crate::ordered::SortedSet;
use crate::request::ActionId;
use crate::time::Time;

/// What a GPU was given.
pub struct Batch {
    /// `None` until it is sent.
    pub action: Option<ActionId>,
    pub model: usize,
    pub requests: Vec<Waiting>,
    /// The earliest of their deadlines.
    pub first: Time,
    /// When it was decided on.
    pub decided: Time,
}

impl Batch {
    pub fn new(decided: Time, model: usize, requests: Vec<Waiting>) -> Batch {
        let first = first(&requests);
        Batch { action: None, model, requests, first, decided }
    }
}

fn first(requests: &[Waiting]) -> Time {
    requests.iter().map(|w| w.deadline).min().unwrap_or(Time::NEVER)
}

/// A batch that a GPU was told to stop.
pub struct Stopped {
    pub action: ActionId,
    pub model: usize,
    pub requests: Vec<Waiting>,
}

struct Gpu {
    up: bool,
    can_preempt: bool,
    batch: Option<Batch>,
    stopping: Option<Stopped>,
    /// Whether its batch is in `running`.
    listed: bool,
}

/// All GPUs, by id.
#[derive(Default)]
pub struct Gpus {
    list: Vec<Gpu>,
    pub idle: SortedSet<usize>,
    /// Those whose batch has not been sent.
    pub unsent: SortedSet<usize>,
    /// The batches that could be stopped.
    pub running: Running,
}

impl Gpus {
    /// A GPU comes; its id.
    pub fn add(&mut self, can_preempt: bool) -> usize {
        let gpu = self.list.len();
        let (batch, stopping) = (None, None);
        self.list.push(Gpu { up: true, can_preempt, batch, stopping, listed: false });
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

    /// A batch is decided on.
    pub fn give(&mut self, gpu: usize, batch: Batch) {
        self.list[gpu].batch = Some(batch);
        self.idle.remove(&gpu);
        self.unsent.insert(gpu);
    }

    /// From now on its batch may be stopped, if the GPU can do that.
    pub fn list(&mut self, gpu: usize) {
        let g = &mut self.list[gpu];
        if let Some(batch) = g.batch.as_ref().filter(|_| g.can_preempt && !g.listed) {
            g.listed = true;
            self.running.insert(batch.model, (batch.requests.len(), batch.first, gpu));
        }
    }

    /// Its batch, if that was not sent and the GPU has stopped what it ran before.
    pub fn unsent_batch(&mut self, gpu: usize) -> Option<&mut Batch> {
        let g = &mut self.list[gpu];
        g.batch.as_mut().filter(|b| b.action.is_none() && g.stopping.is_none())
    }

    /// Its batch was sent.
    pub fn sent(&mut self, gpu: usize, action: ActionId) {
        self.list[gpu].batch.as_mut().expect("it was given one").action = Some(action);
        self.unsent.remove(&gpu);
    }

    /// Its batch is over. Idle, if it is up.
    pub fn take(&mut self, gpu: usize) -> Batch {
        self.unlist(gpu);
        self.unsent.remove(&gpu);
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

    /// It was told to stop that.
    pub fn stop(&mut self, gpu: usize, stopped: Stopped) {
        self.list[gpu].stopping = Some(stopped);
    }

    /// The batch of that action, if it is the one that the GPU was to stop: it reports on it.
    pub fn end_stop(&mut self, gpu: usize, action: ActionId) -> Option<Stopped> {
        self.list[gpu].stopping.take_if(|s| s.action == action)
    }

    /// Whether a request is in its batch.
    pub fn has(&self, gpu: usize, request: &Waiting) -> bool {
        self.list[gpu].batch.as_ref().is_some_and(|b| b.requests.contains(request))
    }

    /// A request leaves a batch that was not sent. An empty batch cannot be stopped.
    pub fn withdraw(&mut self, gpu: usize, request: &Waiting) {
        let listed = self.list[gpu].listed;
        self.unlist(gpu);
        let batch = self.list[gpu].batch.as_mut().expect("it was not sent");
        batch.requests.retain(|w| w != request);
        batch.first = first(&batch.requests);
        if listed && !batch.requests.is_empty() {
            self.list(gpu);
        }
    }

    fn unlist(&mut self, gpu: usize) {
        let g = &mut self.list[gpu];
        if let Some(batch) = g.batch.as_ref().filter(|_| g.listed) {
            self.running.remove(batch.model, (batch.requests.len(), batch.first, gpu));
            g.listed = false;
        }
    }
}
