//! Clockwork's search for the next batch of a device.

use super::super::Actions;
use super::ANSWERS;
use super::config::Answer;
use super::state::Clockwork;
use super::strategies::{LAST, Rank};
use crate::request::Drop;
use crate::time::Time;
use std::cmp::Reverse;

impl Clockwork {
    /// Tries a device's strategies in order of rank until one is valid: the model and the size of its
    /// batch. Nothing changes between two tries of one model, so all that ask for more than it can
    /// fill fail at its first one, and it is met again only where a valid one stands.
    pub(super) fn search(
        &mut self,
        gpu: usize,
        available: Time,
        out: &mut Actions,
    ) -> Option<(usize, usize)> {
        self.met.clear();
        let mut next = self.order.after(gpu, None);
        loop {
            let met = self.met.peek().map(|Reverse(first)| first.0);
            let model = if let Some(rank) = next.filter(|&rank| met.is_none_or(|met| rank < met)) {
                next = self.order.after(gpu, next);
                let sizes = self.models[rank.1].sizes.len();
                match self.untried(gpu, rank.1, sizes) {
                    None => continue,
                    Some(latest) if latest == rank.0 => rank.1,
                    Some(latest) => {
                        self.met.push(Reverse(((latest, rank.1), None)));
                        continue;
                    }
                }
            } else if let Some(Reverse((rank, looked_at))) = self.met.pop() {
                if let Some(size) = looked_at {
                    return Some(self.found(gpu, rank, size));
                }
                rank.1
            } else {
                self.gpus.list[gpu].tried.note(self.order.makings, LAST);
                return None;
            };
            let Some((rank, size)) = self.look(gpu, model, available, out) else { continue };
            let met = self.met.peek().map(|Reverse(first)| first.0);
            if [met, next].into_iter().flatten().all(|other| rank < other) {
                return Some(self.found(gpu, rank, size));
            }
            self.met.push(Reverse((rank, Some(size))));
        }
    }

    fn found(&mut self, gpu: usize, rank: Rank, size: usize) -> (usize, usize) {
        self.gpus.list[gpu].tried.note(self.order.makings, rank);
        (rank.1, size)
    }

    /// Drops what cannot be in time in a batch of that model on that device; its first valid strategy,
    /// with the size that it can fill.
    fn look(
        &mut self,
        gpu: usize,
        model: usize,
        available: Time,
        out: &mut Actions,
    ) -> Option<(Rank, usize)> {
        self.models[model].drop_unsuitable(available);
        self.drop_lost(model, available, out);
        let size = self.models[model].largest_fillable()?;
        let latest = self.untried(gpu, model, size + 1)?;
        Some(((latest, model), size))
    }

    /// The smallest `latest` of a model's strategies that a device has not tried, among those of the
    /// first `sizes` sizes.
    pub(super) fn untried(&self, gpu: usize, model: usize, sizes: usize) -> Option<Time> {
        let since = self.loads.as_ref().map_or(Some(0), |l| l.since(gpu, model))?;
        self.models[model].strategies.untried(sizes, model, &self.gpus.list[gpu].tried, since)
    }

    pub(super) fn drop_lost(&mut self, model: usize, available: Time, out: &mut Actions) {
        let m = &mut self.models[model];
        self.lost.clear();
        if !m.drop_lost(available, &mut self.lost, out) {
            return;
        }
        if m.queue.is_empty() {
            // A strategy of a model without requests can only fail, on every device.
            let before = m.strategies.first();
            m.strategies.clear();
            self.moved(model, before);
        }
        if self.config.answer == Answer::AtDeadline {
            self.lost.iter().for_each(|lost| self.refused.push((lost.deadline, lost.id)));
            return;
        }
        self.dropped.clear();
        self.dropped.extend(self.lost.iter().map(|lost| lost.id));
        self.dropped.iter().for_each(|&id| out.end(id, Drop::Infeasible));
        if let Some(loads) = &mut self.loads {
            loads.dropped(&self.dropped);
        }
    }

    /// Answers the requests that were refused and whose internal deadline has come.
    pub(super) fn answer(&mut self, now: Time, out: &mut Actions) {
        while let Some((_, id)) = self.refused.pop_if(|(deadline, _)| deadline <= now) {
            out.end(id, Drop::Infeasible);
            if let Some(loads) = &mut self.loads {
                loads.dropped(&[id]);
            }
        }
        let at = self.refused.first().map_or(Time::NEVER, |first| first.0);
        self.set_timer(ANSWERS, at, out);
    }
}
