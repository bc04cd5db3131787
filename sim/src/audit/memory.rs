//! Loads, and what is in the devices' memories.
//!
//! A device whose terms count no memory always has every model; a log without terms says nothing of
//! it, so nothing is checked there.

use super::{Auditor, Fault};
use crate::log::{Closed, LoadRecord};
use crate::ordered::{SortedMap, SortedSet};
use crate::policy::Refusal;
use crate::request::{ActionId, DeviceId, ModelId};
use crate::time::Time;

/// A load that has not closed.
#[derive(Debug)]
pub(super) struct OpenLoad {
    load: LoadRecord,
    /// The number of the record that issued it.
    issued: u64,
    began: Option<Time>,
    /// Pages that it took when it began: none for a model that was there.
    took: u64,
}

/// A device's memory.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// `None` where pages are not counted.
    pages: Option<u32>,
    used: u64,
    holds: SortedSet<ModelId>,
    /// The load that runs.
    loading: Option<ActionId>,
    /// Batches that run, by model.
    running: SortedMap<ModelId, SortedSet<ActionId>>,
}

impl Auditor {
    /// A device is announced: its memory is as its terms say.
    pub(super) fn has_memory(&mut self, device: DeviceId) {
        let Some(terms) = self.terms.device(device.index()).and_then(|d| d.memory.as_ref()) else {
            return;
        };
        // What it has from the start was counted out of its pages before.
        let (pages, holds) = (terms.pages, terms.holds.iter().copied().collect());
        self.memories.insert(device, Memory { pages, holds, ..Memory::default() });
    }

    /// Whether a device lacks a model; `None` where the log does not say.
    pub(super) fn lacks(&self, device: DeviceId, model: ModelId) -> Option<bool> {
        self.terms.device(device.index())?;
        Some(self.memories.get(&device).is_some_and(|m| !m.holds.contains(&model)))
    }

    /// A batch of a model begins on a device.
    pub(super) fn runs(&mut self, action: ActionId, device: DeviceId, model: ModelId) {
        let Some(memory) = self.memories.get_mut(&device) else { return };
        memory.running.get_or_default(model).insert(action);
        let there = memory.holds.contains(&model);
        self.check(there, Fault::RunsAbsentModel { action, device, model });
    }

    /// A batch of a model that ran on a device has closed.
    pub(super) fn ran(&mut self, device: DeviceId, model: ModelId, action: ActionId) {
        let Some(memory) = self.memories.get_mut(&device) else { return };
        if let Some(running) = memory.running.get_mut(&model) {
            running.remove(&action);
            if running.is_empty() {
                memory.running.remove(&model);
            }
        }
    }

    pub(super) fn load(&mut self, load: LoadRecord) {
        if self.is_new(load.action, load.device) {
            let open = OpenLoad { load, issued: self.report.records, began: None, took: 0 };
            self.loads.insert(load.action.0, open);
        }
    }

    fn pages_of(&self, model: ModelId) -> u64 {
        self.terms.pages.get(model.index()).copied().map_or(0, u64::from)
    }

    pub(super) fn begin_load(&mut self, action: ActionId) {
        let now = self.now;
        let Some(open) = self.loads.get_mut(action.0) else { return };
        if let Some(first) = open.began {
            return self.fault(Fault::BeginsTwice { action, first });
        }
        open.began = Some(now);
        let LoadRecord { device, model, earliest, latest, .. } = open.load;
        let issued = open.issued;
        self.check_begin(action, device, issued, (earliest, latest));
        let needs = self.pages_of(model);
        let Some(memory) = self.memories.get_mut(&device) else { return };
        let took = if memory.holds.contains(&model) { 0 } else { needs };
        memory.used += took;
        let (used, limit) = (memory.used, memory.pages);
        let before = memory.loading.replace(action);
        if let Some(open) = self.loads.get_mut(action.0) {
            open.took = took;
        }
        if let Some(running) = before {
            self.fault(Fault::LoadOverlap { action, device, running });
        }
        if let Some(pages) = limit {
            let fault = Fault::TooManyPages { action, device, model, used, pages };
            self.check(used <= u64::from(pages), fault);
        }
    }

    pub(super) fn close_load(&mut self, action: ActionId, outcome: Closed) {
        let Some(OpenLoad { load, began, took, .. }) = self.loads.remove(action.0) else { return };
        let LoadRecord { device, model, latest, .. } = load;
        self.check_close(action, device, (began, latest), outcome);
        let done = matches!(outcome, Closed::Done(_));
        self.report.loads_done += u64::from(done);
        let needs = self.pages_of(model);
        let Some(memory) = self.memories.get_mut(&device) else { return };
        if memory.loading == Some(action) {
            memory.loading = None;
        }
        if done {
            memory.holds.insert(model);
        } else {
            memory.used -= took;
        }
        if outcome == Closed::Rejected(Refusal::NoMemory) {
            let there = memory.holds.contains(&model);
            let fits = memory.pages.is_none_or(|pages| memory.used + needs <= u64::from(pages));
            self.check(!there && !fits, Fault::RefusedWithRoom { action, device });
        }
    }

    pub(super) fn unload(&mut self, device: DeviceId, model: ModelId) {
        let pages = self.pages_of(model);
        let Some(memory) = self.memories.get_mut(&device) else { return };
        let there = memory.holds.remove(&model);
        let running = memory.running.get(&model).and_then(|r| r.first().copied());
        if there {
            memory.used = memory.used.saturating_sub(pages);
        }
        self.check(there, Fault::UnloadsAbsentModel { device, model });
        if let Some(action) = running {
            self.fault(Fault::UnloadsModelInUse { device, model, action });
        }
    }
}
