//! The load path without any structure: all models sorted for each load and each victim, all devices
//! looked at each time.

use super::super::config::{Config, LoadRule};
use super::super::gpus::{Outstanding, Tracker};
use crate::cluster::Footprint;
use crate::policy::Actions;
use crate::request::{ActionId, DeviceId, ModelId, RequestId};
use crate::time::{Span, Time};
use std::collections::BTreeMap;

#[derive(Clone, Copy, PartialEq)]
enum Residence {
    Absent,
    Loading,
    There,
}

struct Memory {
    up: bool,
    pages: u32,
    free: u32,
    residence: Vec<Residence>,
    last_used: Vec<u64>,
    in_flight: Vec<u32>,
    executor: Tracker,
    decided: Time,
}

struct Ask {
    model: usize,
    exec: u64,
    load: u64,
    until: Time,
}

/// As [`super::super::load::Loads`].
pub struct Naive {
    rule: LoadRule,
    footprints: Vec<Footprint>,
    memories: Vec<Option<Memory>>,
    asks: BTreeMap<RequestId, Ask>,
    /// By model: the devices that have it or are loading it, with their shares.
    shares: Vec<Vec<(usize, u64)>>,
    device: Vec<u64>,
    uses: u64,
    /// Loads by how many devices had the model: none, one, several.
    pub loads: [u64; 3],
    pub unloads: u64,
}

fn demand(one: Span, slo: Span) -> u64 {
    (one.ns() as f64 * 1e8 / slo.ns().max(1) as f64) as u64
}

impl Naive {
    pub fn new(rule: LoadRule, footprints: Vec<Footprint>) -> Naive {
        let shares = vec![Vec::new(); footprints.len()];
        let (asks, memories, device) = (BTreeMap::new(), Vec::new(), Vec::new());
        let (uses, loads, unloads) = (0, [0; 3], 0);
        Naive { rule, footprints, memories, asks, shares, device, uses, loads, unloads }
    }

    pub fn came(&mut self, device: DeviceId, pages: Option<u32>) {
        let (g, models) = (device.index(), self.footprints.len());
        if self.memories.len() <= g {
            self.memories.resize_with(g + 1, || None);
            self.device.resize(g + 1, 0);
        }
        self.memories[g] = pages.map(|pages| Memory {
            up: true,
            pages,
            free: pages,
            residence: vec![Residence::Absent; models],
            last_used: vec![0; models],
            in_flight: vec![0; models],
            executor: Tracker::default(),
            decided: Time::ZERO,
        });
        if pages.is_none() {
            (0..models).for_each(|m| self.gains(m, g));
        }
    }

    pub fn left(&mut self, device: DeviceId) {
        let g = device.index();
        let there = |m: &usize| match &self.memories[g] {
            None => true,
            Some(memory) => memory.residence[*m] != Residence::Absent,
        };
        let there: Vec<usize> = (0..self.footprints.len()).filter(there).collect();
        there.into_iter().for_each(|m| self.loses(m, g));
        if let Some(memory) = &mut self.memories[g] {
            memory.up = false;
            memory.residence.fill(Residence::Absent);
        }
    }

    pub fn has(&self, gpu: usize, model: usize) -> bool {
        self.memories[gpu].as_ref().is_none_or(|m| m.residence[model] == Residence::There)
    }

    pub fn arrived(
        &mut self,
        now: Time,
        id: RequestId,
        model: usize,
        (one, slo, allowed): (Span, Span, Span),
        config: &Config,
    ) {
        let reserve = self.footprints[model].load + one + config.buffer + config.ahead;
        let most = Span::from_ms(25);
        let helps = slo.minus(reserve).min(most).max(config.ahead + config.buffer);
        let (exec, load) = (demand(one, allowed), demand(one, helps));
        self.asks.insert(id, Ask { model, exec, load, until: now + helps });
        self.deal(model);
    }

    fn beyond_help(&mut self, id: RequestId) {
        if let Some(ask) = self.asks.get_mut(&id) {
            ask.load = 0;
            ask.until = Time::NEVER;
            let model = ask.model;
            self.deal(model);
        }
    }

    fn end(&mut self, id: RequestId) {
        if let Some(ask) = self.asks.remove(&id) {
            self.deal(ask.model);
        }
    }

    pub fn sent(&mut self, gpu: usize, model: usize, batch: &[RequestId]) {
        for id in batch {
            // It stays to be looked at once more when a load would come too late for it.
            if let Some(ask) = self.asks.get_mut(id) {
                ask.load = 0;
                self.deal(model);
            }
        }
        self.used(gpu, model);
        if let Some(memory) = &mut self.memories[gpu] {
            memory.in_flight[model] += 1;
        }
    }

    pub fn reported(&mut self, gpu: usize, model: usize, batch: &[RequestId]) {
        batch.iter().for_each(|&id| self.end(id));
        self.used(gpu, model);
        if let Some(memory) = &mut self.memories[gpu] {
            memory.in_flight[model] -= 1;
        }
    }

    pub fn dropped(&mut self, ids: &[RequestId]) {
        ids.iter().for_each(|&id| self.end(id));
    }

    fn used(&mut self, gpu: usize, model: usize) {
        self.uses += 1;
        if let Some(memory) = &mut self.memories[gpu] {
            memory.last_used[model] = self.uses;
        }
    }

    pub fn ended(&mut self, action: ActionId, device: DeviceId, free: Time, done: bool) {
        let g = device.index();
        let Some(memory) = self.memories[g].as_mut().filter(|m| m.executor.has(action)) else {
            return;
        };
        let model = memory.executor.ended(action, free).model;
        if memory.residence[model] != Residence::Loading {
            return;
        }
        if done {
            memory.residence[model] = Residence::There;
            self.used(g, model);
        } else {
            memory.residence[model] = Residence::Absent;
            memory.free += self.footprints[model].pages;
            self.loses(model, g);
        }
    }

    pub fn schedule(&mut self, now: Time, config: &Config, out: &mut Actions) -> Time {
        if self.rule != LoadRule::Infer5 {
            let late = |a: &(&RequestId, &Ask)| a.1.until < now;
            let mut late: Vec<(Time, RequestId)> =
                self.asks.iter().filter(late).map(|(&id, ask)| (ask.until, id)).collect();
            late.sort_unstable();
            late.into_iter().for_each(|(_, id)| self.beyond_help(id));
        }
        if self.asks.values().all(|a| a.load == 0) {
            return Time::NEVER;
        }
        let all = 0..self.memories.len();
        let mut asking: Vec<usize> =
            all.clone().filter(|&g| self.asks_at(g, config) <= now).collect();
        asking.sort_by_key(|&g| {
            let memory = self.memories[g].as_ref().expect("it asks");
            (memory.executor.available(now, config), self.device[g], u32::MAX - memory.free, g)
        });
        for gpu in asking {
            while self.asks_at(gpu, config) <= now && self.load_one(now, gpu, config, out) {}
        }
        all.map(|g| self.asks_at(g, config)).filter(|&at| at > now).min().unwrap_or(Time::NEVER)
    }

    fn asks_at(&self, gpu: usize, config: &Config) -> Time {
        let Some(memory) = self.memories[gpu].as_ref().filter(|m| m.up) else { return Time::NEVER };
        let at = memory.executor.asks_at(config);
        match self.rule {
            LoadRule::Infer4 if memory.executor.count() >= 2 => Time::NEVER,
            LoadRule::Infer4 => at.max(memory.decided),
            _ => at,
        }
    }

    fn load_one(&mut self, now: Time, gpu: usize, config: &Config, out: &mut Actions) -> bool {
        let memory = self.memories[gpu].as_ref().expect("it asks");
        let may = |m: &usize| {
            memory.residence[*m] == Residence::Absent && self.footprints[*m].pages <= memory.pages
        };
        let Some(model) = self.by_priority().into_iter().find(may) else { return false };
        let Some(victims) = self.victims(gpu, model) else { return false };
        let device = DeviceId(gpu as u32);
        for victim in victims {
            out.unload(device, ModelId(victim as u32));
            self.loses(victim, gpu);
            let memory = self.memories[gpu].as_mut().expect("it asks");
            memory.residence[victim] = Residence::Absent;
            memory.free += self.footprints[victim].pages;
            self.unloads += 1;
        }
        self.loads[self.shares[model].len().min(2)] += 1;
        let memory = self.memories[gpu].as_mut().expect("it asks");
        let Footprint { pages, load } = self.footprints[model];
        memory.free -= pages;
        memory.residence[model] = Residence::Loading;
        let available = memory.executor.available(now, config);
        let latest = (now + config.lead + config.width).max(available + config.width);
        let action = out.load(device, ModelId(model as u32), now, latest);
        memory.executor.send(now, Outstanding { action, model, size: 0, estimate: load });
        memory.decided = now + Span::from_us(100);
        self.gains(model, gpu);
        true
    }

    fn victims(&self, gpu: usize, model: usize) -> Option<Vec<usize>> {
        let memory = self.memories[gpu].as_ref().expect("it asks");
        let can_go =
            |m: &usize| memory.residence[*m] == Residence::There && memory.in_flight[*m] == 0;
        let mut all: Vec<usize> = (0..self.footprints.len()).filter(can_go).collect();
        all.sort_by_key(|&m| (self.exec(m) > 0, memory.last_used[m], m));
        let (mut free, needed) = (memory.free, self.footprints[model].pages);
        let mut victims = Vec::new();
        for m in all {
            if free < needed {
                free += self.footprints[m].pages;
                victims.push(m);
            }
        }
        (free >= needed).then_some(victims)
    }

    fn exec(&self, model: usize) -> u64 {
        self.asks.values().filter(|a| a.model == model).map(|a| a.exec).sum()
    }

    fn load(&self, model: usize) -> u64 {
        self.asks.values().filter(|a| a.model == model).map(|a| a.load).sum()
    }

    fn gains(&mut self, model: usize, device: usize) {
        self.shares[model].push((device, 0));
        self.deal(model);
    }

    fn loses(&mut self, model: usize, device: usize) {
        for (g, share) in &mut self.shares[model] {
            self.device[*g] -= std::mem::take(share);
        }
        self.shares[model].retain(|s| s.0 != device);
        self.deal(model);
    }

    fn deal(&mut self, model: usize) {
        let exec = self.exec(model) as f64;
        self.shares[model].iter().for_each(|&(g, share)| self.device[g] -= share);
        let total: f64 = self.shares[model].iter().map(|s| self.weight(s.0)).sum();
        let dealt: Vec<(usize, u64)> = self.shares[model]
            .iter()
            .map(|&(g, _)| (g, (exec * (self.weight(g) / total)) as u64))
            .collect();
        dealt.iter().for_each(|&(g, share)| self.device[g] += share);
        self.shares[model] = dealt;
    }

    fn weight(&self, device: usize) -> f64 {
        1.0 / (1e6 + self.device[device] as f64)
    }

    fn by_priority(&self) -> Vec<usize> {
        let wants = |&m: &usize| self.load(m) > 0;
        let priority = |m| (self.priority(m), m);
        let mut all: Vec<(f64, usize)> =
            (0..self.footprints.len()).filter(wants).map(priority).collect();
        all.retain(|p| self.rule != LoadRule::Paper || p.0 > 0.0);
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        all.into_iter().map(|p| p.1).collect()
    }

    fn priority(&self, model: usize) -> f64 {
        let load = self.load(model) as f64;
        let total: f64 = self.shares[model].iter().map(|s| self.weight(s.0)).sum();
        let served =
            |&(g, _): &(usize, u64)| load * (self.weight(g) / total) * (1e8 * self.weight(g));
        load - self.shares[model].iter().map(served).sum::<f64>()
    }
}
