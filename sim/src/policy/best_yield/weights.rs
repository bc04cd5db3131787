//! Which models are in which device's memory, and which is loaded next.

use crate::cluster::Footprint;
use crate::policy::{Actions, Known};
use crate::request::{ActionId, DeviceId, ModelId};
use crate::time::Time;

/// The memory of a device.
#[derive(Clone, Debug, Default)]
struct Memory {
    /// Free pages; none where no model comes or goes.
    free: Option<u32>,
    /// The models that are there, the one used last at the end.
    held: Vec<usize>,
    loading: Option<(ActionId, usize)>,
}

/// The memory of each device; of none where every model is on every device.
#[derive(Clone, Debug, Default)]
pub(super) struct Weights {
    memories: Vec<Option<Memory>>,
    footprints: Vec<Footprint>,
}

impl Weights {
    /// The devices are there, or one more.
    pub fn meet(&mut self, models: usize, known: &Known<'_>) {
        self.footprints = (0..models).map(|m| known.footprint(ModelId(m as u32))).collect();
        for d in known.devices().iter().skip(self.memories.len()) {
            let held: Vec<usize> =
                (0..models).filter(|&m| known.holds(d.id, ModelId(m as u32))).collect();
            let has_all = d.free_pages.is_none() && held.len() == models;
            let memory = Memory { free: d.free_pages, held, loading: None };
            self.memories.push((!has_all).then_some(memory));
        }
    }

    /// A device is leaving: nothing is loaded there any more.
    pub fn left(&mut self, device: DeviceId) {
        if let Some(memory) = &mut self.memories[device.index()] {
            memory.free = None;
        }
    }

    /// Whether a model can run on a device now.
    pub fn holds(&self, device: DeviceId, model: usize) -> bool {
        self.memories[device.index()].as_ref().is_none_or(|memory| memory.held.contains(&model))
    }

    /// Whether some model is not on some device.
    pub fn are_counted(&self) -> bool {
        self.memories.iter().any(Option::is_some)
    }

    /// A model is run on a device.
    pub fn used(&mut self, device: DeviceId, model: usize) {
        if let Some(memory) = &mut self.memories[device.index()] {
            memory.held.retain(|&m| m != model);
            memory.held.push(model);
        }
    }

    /// A load has ended; whether the action was one.
    pub fn ended(&mut self, device: DeviceId, action: ActionId, is_done: bool) -> bool {
        let Some(memory) = &mut self.memories[device.index()] else { return false };
        let Some((_, model)) = memory.loading.take_if(|loading| loading.0 == action) else {
            return false;
        };
        match (is_done, &mut memory.free) {
            (true, _) => memory.held.push(model),
            (false, Some(free)) => *free += self.footprints[model].pages,
            (false, None) => {}
        }
        true
    }

    /// Loads, on each device that loads nothing, the model with the most requests that wait for each device that has
    /// it, in place of those used longest ago that fewer wait for. `waits` has how many wait and are in time after a
    /// load; `is_busy` whether a device runs a model.
    pub fn load(
        &mut self,
        now: Time,
        waits: impl Fn(usize, Time) -> usize,
        is_busy: impl Fn(usize, usize) -> bool,
        out: &mut Actions,
    ) {
        for d in 0..self.memories.len() {
            let places = |m: usize| {
                let has = |memory: &&Option<Memory>| {
                    let is_there = |memory: &Memory| {
                        memory.held.contains(&m) || memory.loading.is_some_and(|l| l.1 == m)
                    };
                    memory.as_ref().is_none_or(is_there)
                };
                self.memories.iter().filter(has).count()
            };
            let Some(memory) = &self.memories[d] else { continue };
            let (Some(mut free), None) = (memory.free, memory.loading) else { continue };
            let absent = (0..self.footprints.len()).filter(|m| !memory.held.contains(m));
            let wanted = absent.filter_map(|m| {
                let n = waits(m, now + self.footprints[m].load);
                (n > 0).then(|| (n as f64 / (1 + places(m)) as f64, m))
            });
            let most =
                wanted.fold(
                    None,
                    |best: Option<(f64, usize)>, own| {
                        if best.is_none_or(|b| own.0 > b.0) { Some(own) } else { best }
                    },
                );
            let Some((value, model)) = most else { continue };
            let pages = self.footprints[model].pages;
            let mut victims = Vec::new();
            for &m in &memory.held {
                if free < pages
                    && !is_busy(d, m)
                    && (waits(m, now) as f64 / places(m).max(1) as f64) < value
                {
                    victims.push(m);
                    free += self.footprints[m].pages;
                }
            }
            let Some(memory) = self.memories[d].as_mut().filter(|_| free >= pages) else {
                continue;
            };
            let device = DeviceId(d as u32);
            for &m in &victims {
                out.unload(device, ModelId(m as u32));
            }
            memory.held.retain(|m| !victims.contains(m));
            memory.free = Some(free - pages);
            let action = out.load(device, ModelId(model as u32), now, Time::NEVER);
            memory.loading = Some((action, model));
        }
    }
}
