//! Shepherd's preemption: a batch is stopped for a larger one.
//!
//! What is worth it is decided elsewhere.

use super::gpus::{Batch, Stopped};
use super::queue::Waiting;
use super::{Actions, FollowUp, Outcome, Return, Shepherd, did_not_run};
use crate::ordered::SortedSet;
use crate::request::Drop;
use crate::time::Time;

impl Shepherd {
    /// Stops a GPU's batch for one of `size` of a model, which is sent when the device has stopped.
    pub(super) fn preempt(
        &mut self,
        now: Time,
        gpu: usize,
        model: usize,
        size: usize,
        out: &mut Actions,
    ) {
        let at_once = self.config.returns == Return::AtOnce;
        let Batch { action, model: own, requests, .. } = self.gpus.take(gpu);
        let running = requests.len();
        for w in &requests {
            out.why(w.id, || format!("its batch of {running} is stopped for one of {size}"));
        }
        let mut then = Vec::with_capacity(size);
        if own == model {
            then.extend_from_slice(&requests);
        } else if at_once {
            requests.iter().for_each(|&w| self.queues.give_back(own, w));
            if self.config.follow_up == FollowUp::Preempted {
                self.again.insert(own);
            }
        }
        self.queues.take(model, size - then.len(), &mut then);
        if let Some(action) = action {
            requests.iter().for_each(|w| _ = self.held.insert(w.id));
            self.gpus.stop(gpu, Stopped { action, model: own, requests });
            out.preempt(action);
        }
        self.gpus.give(gpu, Batch::new(now, model, then));
        if at_once {
            self.gpus.list(gpu);
            self.send(gpu, out);
        }
    }

    /// A device reports on a batch that it was to stop.
    pub(super) fn stopped(
        &mut self,
        now: Time,
        gpu: usize,
        stopped: &Stopped,
        outcome: Outcome,
        out: &mut Actions,
    ) {
        let mut ours = stopped.requests.clone();
        ours.retain(|w| self.held.remove(&w.id));
        let mut returned = SortedSet::default();
        match outcome {
            // It ended before it could be stopped.
            Outcome::Done { .. } => ours.iter().for_each(|w| self.withdraw(stopped.model, w)),
            Outcome::Rejected(_) => {
                for w in &ours {
                    self.withdraw(stopped.model, w);
                    out.why(w.id, || did_not_run(outcome));
                    out.end(w.id, Drop::Refused);
                }
            }
            Outcome::Preempted { .. } | Outcome::Cancelled => {
                if self.config.returns == Return::OnReport {
                    ours.retain(|w| !self.gpus.has(gpu, w));
                    self.return_all(stopped.model, &ours, outcome, out);
                    if !ours.is_empty() {
                        returned.insert(stopped.model);
                    }
                }
            }
        }
        if self.config.returns == Return::OnReport
            && let Some(batch) = self.gpus.unsent_batch(gpu)
        {
            // Its reserves begin now.
            batch.decided = now;
        }
        self.drop_hopeless(now, out);
        self.send_all(now, &mut returned, out);
        self.follow(now, returned, out);
    }

    /// A request has ended: nobody may run it.
    fn withdraw(&mut self, model: usize, request: &Waiting) {
        self.queues.remove(model, request);
        for &gpu in self.gpus.unsent.clone().iter() {
            if self.gpus.has(gpu, request) {
                self.gpus.withdraw(gpu, request);
            }
        }
    }

    /// Sends the batches that nothing holds up any more. A GPU that has gone gives its requests back;
    /// one that is left with none is free.
    fn send_all(&mut self, now: Time, returned: &mut SortedSet<usize>, out: &mut Actions) {
        for &gpu in self.gpus.unsent.clone().iter() {
            if !self.send(gpu, out) || !self.gpus.unsent.contains(&gpu) {
                continue;
            }
            let batch = self.gpus.take(gpu);
            batch.requests.iter().for_each(|&w| self.queues.give_back(batch.model, w));
            if self.gpus.is_up(gpu) {
                self.completed(now, gpu, out);
            } else {
                returned.insert(batch.model);
            }
        }
    }
}
