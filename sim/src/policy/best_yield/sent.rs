//! What is done with a batch that was sent: it is begun anew with others, makes way, or is stopped for a better one.

use super::model::{Kind, Member, Suspect};
use super::row::{Row, given};
use super::running::{Running, timer};
use super::{BestYield, Stop};
use crate::policy::Actions;
use crate::request::DeviceId;
use crate::time::{Span, Time};
use std::rc::Rc;

impl BestYield {
    /// At a batch's stop it is thought over, if it can be stopped. By the last one it has ended; where it has not, its
    /// law tells no more.
    pub(super) fn set_timer(&self, i: usize, out: &mut Actions) {
        let Running { device, batch, start, stop, .. } = &self.running[i];
        let can_stop = self.config.stop != Stop::Never && self.devices[device.index()].1;
        if can_stop && stop + 1 < batch.row.stops.len() {
            out.set_timer(timer(*device), *start + batch.row.stops[*stop].after + Span::from_ns(1));
        }
    }

    /// Begins a batch of the model anew with requests that wait, where that pays most.
    pub(super) fn join(&mut self, now: Time, model: usize, out: &mut Actions) {
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
            if now >= end || !can_stop || self.free.is_leaving(r.device) {
                continue;
            }
            let mut items = 0;
            for j in 1..=class.queue.len() {
                items += class.queue[j - 1].items;
                let of = |k, items| (k as u32, items);
                let mut row = |of| class.row(&m.kinds, kind, of);
                let Some(together) = row(of(k + j, r.batch.row.items + items)) else { break };
                let together = together.stops[0].after;
                if now + mean + reserve + together > r.due.min(first.deadline) {
                    break;
                }
                let Some(own) = row(of(j, items)).map(|row| row.stops[0].after) else { break };
                let rest = end.since(now);
                let can_wait = end + reserve + own <= first.deadline;
                let apart =
                    if can_wait { per_ns(k + j, rest + mean + own) } else { per_ns(k, rest) };
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
    pub(super) fn make_way(&mut self, now: Time, model: usize, out: &mut Actions) {
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
                if !is_like || r.model == model || self.free.is_leaving(r.device) {
                    continue;
                }
                let (ran, whole) = (now.since(r.start), r.batch.row.stops[0].after);
                let rest = r.batch.row.best_after_time(ran);
                let is_anew = now + own.after + reserve + whole <= r.due && !crowded;
                // The message that stops it, its result, and the batch's own way there.
                let idle_ns = 2.0 * self.beyond[model].mean_ns.max(0.0);
                let takes_ns = own.after.ns() as f64;
                let yields = own.yields * takes_ns / (takes_ns + idle_ns).max(1.0);
                let on = self.models[r.model].worth * if is_anew { r.batch.row.most } else { rest };
                let is_worth = yields > on;
                if is_worth && best.is_none_or(|b| ran < b.0) {
                    best = Some((ran, i));
                }
            }
        }
        if let Some((_, i)) = best {
            self.stop(i, out);
        }
    }

    pub(super) fn stop(&mut self, i: usize, out: &mut Actions) {
        let r = &mut self.running[i];
        r.is_stopped = true;
        out.clear_timer(timer(r.device));
        out.preempt(r.action);
    }

    /// Batches that have run for their time go on, or are stopped for a better one.
    pub(super) fn reconsider(&mut self, now: Time, out: &mut Actions) {
        for i in 0..self.running.len() {
            let r = &self.running[i];
            if !r.is_over || r.is_stopped {
                continue;
            }
            let device = r.device;
            let at = r.batch.row.within(now.since(r.start)).max(1) - 1;
            let until = |n: usize, worth: f64| {
                let on = r.batch.row.best_after(at.max(r.stop), n);
                on.map(|(yields, stop)| (worth * yields, stop))
            };
            // To the end, late, if it cannot be in time.
            let own = &self.models[r.model];
            let late = || until(r.batch.row.stops.len(), self.models[own.later?].worth);
            let go_on = until(r.within, own.worth).or_else(late);
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
    pub(super) fn put_back(&mut self, r: Running, ran: Span) {
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
}
