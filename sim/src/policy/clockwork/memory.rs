//! One device's memory as Clockwork's controller keeps it: which models are there, in which order they
//! were used, and what could make room.
//!
//! It knows neither demands nor time.

use super::gpus::Tracker;

/// What `since` says of a model that is not there, and of one that is being loaded.
const ABSENT: u64 = u64::MAX;
const LOADING: u64 = u64::MAX - 1;

#[derive(Clone, Copy)]
struct Slot {
    /// The count of makings since which the model is there.
    since: u64,
    /// Batches sent and not reported.
    in_flight: u32,
    /// Its neighbours in the order of use.
    earlier: u32,
    later: u32,
}

/// A device's memory.
pub(super) struct Memory {
    pub up: bool,
    pub pages: u32,
    pub free: u32,
    /// Its load executor.
    pub executor: Tracker,
    /// Pages of models that are there and have no batch in flight.
    idle: u32,
    /// By model, and a last one that begins and ends the order of use: after it comes the least
    /// recently used.
    slots: Vec<Slot>,
}

impl Memory {
    /// Empty.
    pub fn new(pages: u32, models: usize) -> Memory {
        let end = models as u32;
        let slot = Slot { since: ABSENT, in_flight: 0, earlier: end, later: end };
        let executor = Tracker::default();
        let slots = vec![slot; models + 1];
        Memory { up: true, pages, free: pages, executor, idle: 0, slots }
    }

    /// Since which count of makings a model is there; `None` when it is not.
    pub fn since(&self, model: usize) -> Option<u64> {
        Some(self.slots[model].since).filter(|&since| since < LOADING)
    }

    pub fn is_absent(&self, model: usize) -> bool {
        self.slots[model].since == ABSENT
    }

    pub fn is_loading(&self, model: usize) -> bool {
        self.slots[model].since == LOADING
    }

    /// A load of the model begins to take its pages.
    pub fn begin_load(&mut self, model: usize, pages: u32) {
        self.free -= pages;
        self.slots[model].since = LOADING;
    }

    /// Its load has ended: it is there, as the one used last.
    pub fn loaded(&mut self, model: usize, pages: u32, since: u64) {
        self.slots[model].since = since;
        self.idle += pages * u32::from(self.slots[model].in_flight == 0);
        self.link(model);
    }

    /// Its load failed.
    pub fn gave_up(&mut self, model: usize, pages: u32) {
        self.slots[model].since = ABSENT;
        self.free += pages;
    }

    /// A model without batches in flight leaves.
    pub fn unload(&mut self, model: usize, pages: u32) {
        self.unlink(model);
        self.slots[model].since = ABSENT;
        self.idle -= pages;
        self.free += pages;
    }

    /// A batch of the model was sent.
    pub fn sent(&mut self, model: usize, pages: u32) {
        self.used(model);
        let slot = &mut self.slots[model];
        slot.in_flight += 1;
        if slot.in_flight == 1 && slot.since < LOADING {
            self.idle -= pages;
        }
    }

    /// A batch of the model was reported.
    pub fn reported(&mut self, model: usize, pages: u32) {
        self.used(model);
        let slot = &mut self.slots[model];
        slot.in_flight -= 1;
        if slot.in_flight == 0 && slot.since < LOADING {
            self.idle += pages;
        }
    }

    /// Whether there would be room for so many pages if all that can go went.
    pub fn can_take(&self, pages: u32) -> bool {
        self.free + self.idle >= pages
    }

    /// What has to go for so many pages, where there would be room: the least recently used, those
    /// first that `is_wanted` does not know.
    pub fn victims(
        &self,
        needed: u32,
        pages: impl Fn(usize) -> u32,
        is_wanted: impl Fn(usize) -> bool,
        victims: &mut Vec<usize>,
    ) {
        let mut free = self.free;
        for wanted in [false, true] {
            let mut model = self.slots[self.end()].later as usize;
            while free < needed && model != self.end() {
                // Batches of a model that leaves would be refused, so it stays while it has any.
                if self.slots[model].in_flight == 0 && is_wanted(model) == wanted {
                    free += pages(model);
                    victims.push(model);
                }
                model = self.slots[model].later as usize;
            }
        }
    }

    /// The models that are there or being loaded; after that none is.
    pub fn clear(&mut self) -> Vec<usize> {
        let end = self.end();
        let there = (0..end).filter(|&m| !self.is_absent(m)).collect();
        for (model, slot) in self.slots.iter_mut().enumerate() {
            slot.since = ABSENT;
            if model == end {
                (slot.earlier, slot.later) = (end as u32, end as u32);
            }
        }
        self.idle = 0;
        there
    }

    fn end(&self) -> usize {
        self.slots.len() - 1
    }

    fn used(&mut self, model: usize) {
        if self.slots[model].since < LOADING && self.slots[self.end()].earlier as usize != model {
            self.unlink(model);
            self.link(model);
        }
    }

    fn link(&mut self, model: usize) {
        let end = self.end();
        let last = self.slots[end].earlier;
        (self.slots[model].earlier, self.slots[model].later) = (last, end as u32);
        self.slots[last as usize].later = model as u32;
        self.slots[end].earlier = model as u32;
    }

    fn unlink(&mut self, model: usize) {
        let Slot { earlier, later, .. } = self.slots[model];
        self.slots[earlier as usize].later = later;
        self.slots[later as usize].earlier = earlier;
    }
}
