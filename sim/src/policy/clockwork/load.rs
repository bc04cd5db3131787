//! Clockwork's LOAD and UNLOAD (§5.3 "Scheduling LOAD"): which models are in which device's memory.
//!
//! ```text
//! while a device's load executor has less than `ahead` of outstanding work:
//!     take the model of the highest priority that is not there, if it is positive
//!     make room: unload the least recently used, those without requests first
//!     load it, with the window [now, expected start + width]
//! ```
//!
//! It knows no batch queue; a model whose load has ended gets its strategies from the policy.

use super::super::{Actions, Known};
use super::Config;
use super::demand::Demands;
use super::gpus::{Outstanding, Tracker};
use crate::cluster::Footprint;
use crate::request::{ActionId, DeviceId, ModelId, RequestId};
use crate::time::{Span, Time};

/// A load helps no request that is older. Released: `max_loadweights_slo`, 25 ms.
const HELPS_AT_MOST: Span = Span::from_ms(25);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Residence {
    Absent,
    Loading,
    /// There since that count of makings.
    Since(u64),
}

/// A device's memory.
struct Memory {
    up: bool,
    pages: u32,
    free: u32,
    residence: Vec<Residence>,
    /// By model: a count of uses, larger is later.
    last_used: Vec<u64>,
    /// By model: batches sent and not reported.
    in_flight: Vec<u32>,
    executor: Tracker,
}

/// The memories of all devices. See the module's text.
pub(super) struct Loads {
    footprints: Vec<Footprint>,
    /// By device; `None` where every model is always resident.
    memories: Vec<Option<Memory>>,
    demands: Demands,
    uses: u64,
}

impl Loads {
    pub fn new(models: usize, known: &Known<'_>) -> Loads {
        let footprint = |m| known.footprint(ModelId(m as u32));
        Loads {
            footprints: (0..models).map(footprint).collect(),
            memories: Vec::new(),
            demands: Demands::new(models),
            uses: 0,
        }
    }

    /// A device is there, with that many pages free.
    pub fn came(&mut self, device: DeviceId, pages: Option<u32>) {
        let (g, models) = (device.index(), self.footprints.len());
        if self.memories.len() <= g {
            self.memories.resize_with(g + 1, || None);
        }
        self.demands.add_device(g);
        self.memories[g] = pages.map(|pages| Memory {
            up: true,
            pages,
            free: pages,
            residence: vec![Residence::Absent; models],
            last_used: vec![0; models],
            in_flight: vec![0; models],
            executor: Tracker::default(),
        });
        if pages.is_none() {
            (0..models).for_each(|m| self.demands.gains(m, g));
        }
    }

    /// A device takes no more work.
    pub fn left(&mut self, device: DeviceId) {
        let g = device.index();
        match &mut self.memories[g] {
            None => (0..self.footprints.len()).for_each(|m| self.demands.loses(m, g)),
            Some(memory) => {
                memory.up = false;
                for (m, r) in memory.residence.iter_mut().enumerate() {
                    if std::mem::replace(r, Residence::Absent) != Residence::Absent {
                        self.demands.loses(m, g);
                    }
                }
            }
        }
    }

    /// Since which count of makings a device has a model; `None` when it has not.
    pub fn since(&self, gpu: usize, model: usize) -> Option<u64> {
        match self.memories[gpu].as_ref().map(|m| m.residence[model]) {
            None => Some(0),
            Some(Residence::Since(makings)) => Some(makings),
            Some(_) => None,
        }
    }

    /// A request arrived; `one` is a batch of one, `allowed` ends at its internal deadline.
    pub fn arrived(
        &mut self,
        now: Time,
        id: RequestId,
        model: usize,
        (one, slo, allowed): (Span, Span, Span),
        config: &Config,
    ) {
        let reserve = self.footprints[model].load + one + config.buffer + config.ahead;
        let helps = slo.minus(reserve).min(HELPS_AT_MOST).max(config.ahead + config.buffer);
        self.demands.arrived(now, id, model, one, (allowed, helps));
    }

    /// A batch was sent.
    pub fn sent(&mut self, gpu: usize, model: usize, batch: &[RequestId]) {
        batch.iter().for_each(|&id| self.demands.beyond_help(id));
        self.used(gpu, model);
        if let Some(memory) = &mut self.memories[gpu] {
            memory.in_flight[model] += 1;
        }
    }

    /// A batch was reported.
    pub fn reported(&mut self, gpu: usize, model: usize, batch: &[RequestId]) {
        batch.iter().for_each(|&id| self.demands.ended(id));
        self.used(gpu, model);
        if let Some(memory) = &mut self.memories[gpu] {
            memory.in_flight[model] -= 1;
        }
    }

    /// A request was dropped before it was sent.
    pub fn dropped(&mut self, id: RequestId) {
        self.demands.ended(id);
    }

    fn used(&mut self, gpu: usize, model: usize) {
        self.uses += 1;
        if let Some(memory) = &mut self.memories[gpu] {
            memory.last_used[model] = self.uses;
        }
    }

    /// A load has ended; whether there was one of that name, and whether the device has the model.
    pub fn ended(
        &mut self,
        action: ActionId,
        device: DeviceId,
        free: Time,
        has_it: Option<u64>,
    ) -> bool {
        let g = device.index();
        let Some(memory) = &mut self.memories[g] else { return false };
        if !memory.executor.has(action) {
            return false;
        }
        let model = memory.executor.ended(action, free).model;
        if memory.residence[model] == Residence::Loading {
            memory.residence[model] = has_it.map_or(Residence::Absent, Residence::Since);
            if has_it.is_none() {
                memory.free += self.footprints[model].pages;
                self.demands.loses(model, g);
            } else {
                self.used(g, model);
            }
        }
        true
    }

    /// Issues loads; when the next executor asks for one.
    pub fn schedule(&mut self, now: Time, config: &Config, out: &mut Actions) -> Time {
        self.demands.advance(now);
        let mut next = Time::NEVER;
        if !self.demands.any_wants() {
            return next;
        }
        // The least occupied executor first, then the device with the least to do and the most room.
        let mut asking = Vec::new();
        for (g, memory) in self.memories.iter().enumerate() {
            let Some(memory) = memory.as_ref().filter(|m| m.up) else { continue };
            let at = memory.executor.asks_at(config);
            if at <= now {
                let available = memory.executor.available(now, config);
                asking.push((available, self.demands.of_device(g), u32::MAX - memory.free, g));
            } else {
                next = next.min(at);
            }
        }
        asking.sort_unstable();
        for (_, _, _, gpu) in asking {
            while self.asks_at(gpu, config) <= now && self.load_one(now, gpu, config, out) {}
            let at = self.asks_at(gpu, config);
            if at > now {
                next = next.min(at);
            }
        }
        next
    }

    fn asks_at(&self, gpu: usize, config: &Config) -> Time {
        self.memories[gpu].as_ref().map_or(Time::NEVER, |m| m.executor.asks_at(config))
    }

    /// Loads the model of the highest priority that the device lacks and has room for.
    fn load_one(&mut self, now: Time, gpu: usize, config: &Config, out: &mut Actions) -> bool {
        let memory = self.memories[gpu].as_ref().expect("it asks");
        let may = |&m: &usize| {
            memory.residence[m] == Residence::Absent && self.footprints[m].pages <= memory.pages
        };
        let mut wanted = self.demands.by_priority().into_iter().map(|p| p.1);
        let Some(model) = wanted.find(may) else { return false };
        let Some(victims) = self.victims(gpu, model) else { return false };
        let device = DeviceId(gpu as u32);
        for victim in victims {
            out.unload(device, ModelId(victim as u32));
            self.demands.loses(victim, gpu);
            let memory = self.memories[gpu].as_mut().expect("it asks");
            memory.residence[victim] = Residence::Absent;
            memory.free += self.footprints[victim].pages;
        }
        let memory = self.memories[gpu].as_mut().expect("it asks");
        let Footprint { pages, load } = self.footprints[model];
        memory.free -= pages;
        memory.residence[model] = Residence::Loading;
        let available = memory.executor.available(now, config);
        let latest = (now + config.lead + config.width).max(available + config.width);
        let action = out.load(device, ModelId(model as u32), now, latest);
        memory.executor.send(now, Outstanding { action, model, size: 0, estimate: load });
        self.demands.gains(model, gpu);
        true
    }

    /// What has to go for a model; `None` when there is no room even so.
    fn victims(&self, gpu: usize, model: usize) -> Option<Vec<usize>> {
        let memory = self.memories[gpu].as_ref().expect("it asks");
        let mut free = memory.free;
        let needed = self.footprints[model].pages;
        let mut victims = Vec::new();
        if free < needed {
            // Batches of a model that leaves would be refused, so it stays while it has any.
            let can_go = |&m: &usize| {
                matches!(memory.residence[m], Residence::Since(_)) && memory.in_flight[m] == 0
            };
            let mut all: Vec<usize> = (0..self.footprints.len()).filter(can_go).collect();
            all.sort_by_key(|&m| (self.demands.has_any(m), memory.last_used[m], m));
            for m in all {
                if free < needed {
                    free += self.footprints[m].pages;
                    victims.push(m);
                }
            }
        }
        (free >= needed).then_some(victims)
    }
}
