//! Devices: what they are, and the state machine that each of them runs.
//!
//! A device has executors, each running one action at a time: its lanes for batches and one for
//! loads (Clockwork, §5.2). An executor takes actions in order of (earliest, id), waits until
//! `earliest`, and refuses what is past `latest` at the instant when it would start. Both drivers
//! share this machine; how long an action takes is the driver's business.

use crate::request::{ActionId, DeviceId, ModelId};
use crate::time::{Span, Time};

/// A change of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It is there and takes work.
    Up,
    /// It finishes what it has and takes no more.
    Draining,
    /// It is gone.
    Down,
}

/// How fast the batches on a device's lanes are beside one another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sharing {
    /// Each is as fast as alone: the lanes are parts of the device.
    #[default]
    None,
    /// Of k batches, each runs at 1/k of the speed.
    Processor,
}

/// What a device is.
///
/// ```
/// use orrery_sim::cluster::DeviceSpec;
/// use orrery_sim::request::ModelId;
///
/// // A device that runs two batches at a time and holds the weights of one model.
/// let device = DeviceSpec {
///     lanes: 2,
///     memory_pages: Some(700),
///     holds: Some(vec![ModelId(0)]),
///     ..DeviceSpec::default()
/// };
/// assert!(!device.can_preempt && device.stages == 1);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceSpec {
    /// Its kind: latency models and prices are by kind.
    pub kind: u32,
    /// Batches that it can run at a time: 1 unless a policy's paper says otherwise.
    pub lanes: u8,
    /// How fast they are beside one another. Stalls of the host do not slow down batches that share.
    pub sharing: Sharing,
    /// Whether a running batch can be stopped.
    pub can_preempt: bool,
    /// Pages for model weights; `None` when memory is not counted.
    pub memory_pages: Option<u32>,
    /// The models whose weights are in its memory from the start. `None` is every model, or no model
    /// where memory is counted.
    pub holds: Option<Vec<ModelId>>,
    /// Stages of a pipeline, which a batch passes one after the other (AlpaServe's inter-operator
    /// parallelism): its lanes are the batches that are inside at a time, as many as stages, and a
    /// policy lets one in when the first stage is free. 1 for a device that is no pipeline.
    pub stages: u8,
}

impl Default for DeviceSpec {
    fn default() -> Self {
        DeviceSpec {
            kind: 0,
            lanes: 1,
            sharing: Sharing::None,
            can_preempt: false,
            memory_pages: None,
            holds: None,
            stages: 1,
        }
    }
}

impl Sharing {
    /// As how many devices of one lane so many lanes count.
    pub fn devices(self, lanes: u8) -> u8 {
        match self {
            Sharing::None => lanes,
            Sharing::Processor => 1,
        }
    }
}

/// What a model needs of a device's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Pages for its weights.
    pub pages: u32,
    /// Time to copy them to a device.
    pub load: Span,
}

/// What a policy may see of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceView {
    /// Its id.
    pub id: DeviceId,
    /// Its kind.
    pub kind: u32,
    /// Whether it takes work.
    pub state: Change,
    /// Whether a running batch can be stopped.
    pub can_preempt: bool,
    /// Lanes for batches.
    pub lanes: u8,
    /// How fast batches are beside one another.
    pub sharing: Sharing,
    /// Stages of a pipeline; 1 for a device that is none.
    pub stages: u8,
    /// Free pages; `None` when memory is not counted.
    pub free_pages: Option<u32>,
}

impl DeviceView {
    /// Lanes for a policy that fills them all: one of a pipeline, whose lanes are its stages.
    pub fn lanes_to_fill(&self) -> u8 {
        if self.stages > 1 { 1 } else { self.lanes }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Running {
    pub action: ActionId,
    pub start: Time,
}

/// One executor: a queue ordered by (earliest, id) and at most one running action.
#[derive(Debug, Default)]
pub(crate) struct Executor {
    /// Sorted so that the next action is last. Policies keep it short.
    queue: Vec<(Time, ActionId, Time)>,
    pub running: Option<Running>,
    pub waiting_until: Option<Time>,
}

/// What an executor does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Nothing,
    WaitUntil(Time),
    Refuse(ActionId),
    Start(ActionId),
}

impl Executor {
    pub fn push(&mut self, earliest: Time, action: ActionId, latest: Time) {
        let at = self.queue.partition_point(|q| (q.0, q.1) > (earliest, action));
        self.queue.insert(at, (earliest, action, latest));
    }

    pub fn remove(&mut self, action: ActionId) {
        self.queue.retain(|q| q.1 != action);
    }

    pub fn pop_any(&mut self) -> Option<ActionId> {
        self.queue.pop().map(|q| q.1)
    }

    /// The next step at `now`; what it names has left the queue.
    pub fn step(&mut self, now: Time) -> Next {
        if self.running.is_some() {
            return Next::Nothing;
        }
        let Some(&(earliest, action, latest)) = self.queue.last() else { return Next::Nothing };
        if now < earliest {
            return Next::WaitUntil(earliest);
        }
        self.queue.pop();
        if now > latest { Next::Refuse(action) } else { Next::Start(action) }
    }

    pub fn is_idle(&self) -> bool {
        self.running.is_none() && self.queue.is_empty()
    }
}

#[derive(Debug)]
pub(crate) struct Device {
    pub spec: DeviceSpec,
    pub state: Change,
    /// One per lane, then the one for loads.
    pub executors: Vec<Executor>,
    /// By model; empty when every model is always resident.
    resident: Vec<bool>,
    free_pages: u32,
}

impl Device {
    fn new(spec: DeviceSpec, models: usize) -> Device {
        let executors = (0..=spec.lanes).map(|_| Executor::default()).collect();
        let free_pages = spec.memory_pages.unwrap_or(0);
        let mut resident = Vec::new();
        if spec.memory_pages.is_some() || spec.holds.is_some() {
            resident = vec![false; models];
            spec.holds.iter().flatten().for_each(|model| resident[model.index()] = true);
        }
        Device { spec, state: Change::Up, executors, resident, free_pages }
    }

    pub fn load_executor(&self) -> u8 {
        self.spec.lanes
    }

    pub fn has_model(&self, model: ModelId) -> bool {
        self.resident.is_empty() || self.resident[model.index()]
    }

    /// Takes pages for a model; false when there are too few.
    pub fn reserve(&mut self, pages: u32) -> bool {
        if self.spec.memory_pages.is_none() {
            return true;
        }
        let enough = self.free_pages >= pages;
        if enough {
            self.free_pages -= pages;
        }
        enough
    }

    /// Gives pages back that were reserved for a load that did not end.
    pub fn give_back(&mut self, pages: u32) {
        if self.spec.memory_pages.is_some() {
            self.free_pages += pages;
        }
    }

    /// Its weights are there now; whether they were not before.
    fn loaded(&mut self, model: ModelId) -> bool {
        self.resident.get_mut(model.index()).is_some_and(|r| !std::mem::replace(r, true))
    }

    /// Its weights leave; whether they were there.
    fn unload(&mut self, model: ModelId, pages: u32) -> bool {
        let left = self.resident.get_mut(model.index()).is_some_and(std::mem::take);
        if left {
            self.give_back(pages);
        }
        left
    }

    /// Whether an executor that runs nothing has something to do: mostly not.
    #[inline]
    pub fn has_to_go_on(&self, executor: u8) -> bool {
        let e = &self.executors[usize::from(executor)];
        self.state == Change::Draining || !(e.queue.is_empty() && e.waiting_until.is_none())
    }

    pub fn is_idle(&self) -> bool {
        self.executors.iter().all(Executor::is_idle)
    }
}

/// All devices, by id; those that are gone stay in the list as [`Change::Down`].
#[derive(Debug, Default)]
pub struct Devices {
    list: Vec<Device>,
    /// By model: devices that have it in their memory, of those that are not gone.
    holders: Vec<u32>,
    /// Devices that have every model, of those that are not gone.
    hold_all: u32,
}

impl Devices {
    pub(crate) fn new(specs: &[DeviceSpec], models: usize) -> Devices {
        let mut devices = Devices { holders: vec![0; models], ..Devices::default() };
        specs.iter().for_each(|spec| _ = devices.add(spec.clone(), models));
        devices
    }

    pub(crate) fn add(&mut self, spec: DeviceSpec, models: usize) -> DeviceId {
        let device = Device::new(spec, models);
        self.hold_all += u32::from(device.resident.is_empty());
        for (holders, has) in self.holders.iter_mut().zip(&device.resident) {
            *holders += u32::from(*has);
        }
        self.list.push(device);
        DeviceId(self.list.len() as u32 - 1)
    }

    /// A device is gone, and what was in its memory with it.
    pub(crate) fn gone(&mut self, id: DeviceId) {
        let device = &mut self.list[id.index()];
        if device.state == Change::Down {
            return;
        }
        device.state = Change::Down;
        self.hold_all -= u32::from(device.resident.is_empty());
        for (holders, has) in self.holders.iter_mut().zip(&device.resident) {
            *holders -= u32::from(*has);
        }
    }

    /// A device has a model's weights now.
    pub(crate) fn loaded(&mut self, id: DeviceId, model: ModelId) {
        let device = &mut self.list[id.index()];
        if device.loaded(model) && device.state != Change::Down {
            self.holders[model.index()] += 1;
        }
    }

    /// A model's weights leave a device; whether they were there.
    pub(crate) fn unload(&mut self, id: DeviceId, model: ModelId, pages: u32) -> bool {
        let device = &mut self.list[id.index()];
        let left = device.unload(model, pages);
        if left && device.state != Change::Down {
            self.holders[model.index()] -= 1;
        }
        left
    }

    /// Whether no device has a model in its memory.
    #[inline]
    pub(crate) fn lack(&self, model: ModelId) -> bool {
        self.hold_all == 0 && self.holders[model.index()] == 0
    }

    pub(crate) fn get(&self, id: DeviceId) -> &Device {
        &self.list[id.index()]
    }

    pub(crate) fn get_mut(&mut self, id: DeviceId) -> &mut Device {
        &mut self.list[id.index()]
    }

    /// What a policy may see of them.
    pub(crate) fn views(&self) -> impl Iterator<Item = DeviceView> {
        self.list.iter().enumerate().map(|(i, d)| DeviceView {
            id: DeviceId(i as u32),
            kind: d.spec.kind,
            state: d.state,
            can_preempt: d.spec.can_preempt,
            lanes: d.spec.lanes,
            sharing: d.spec.sharing,
            stages: d.spec.stages,
            free_pages: d.spec.memory_pages.map(|_| d.free_pages),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> Time {
        Time::from_ns(ns)
    }

    #[test]
    fn an_executor_goes_by_earliest_then_id_and_judges_the_window_at_the_start() {
        let mut e = Executor::default();
        e.push(at(10), ActionId(2), at(20));
        e.push(at(5), ActionId(3), at(6));
        e.push(at(5), ActionId(1), Time::NEVER);
        assert_eq!(e.step(at(4)), Next::WaitUntil(at(5)));
        assert_eq!(e.step(at(7)), Next::Start(ActionId(1)));
        assert_eq!(e.step(at(7)), Next::Refuse(ActionId(3)));
        assert_eq!(e.step(at(7)), Next::WaitUntil(at(10)));
        assert_eq!(e.step(at(20)), Next::Start(ActionId(2)), "latest itself is in time");
        assert_eq!(e.step(at(20)), Next::Nothing);
    }

    #[test]
    fn a_device_holds_all_models_or_those_that_it_is_given() {
        let holding = |holds| Device::new(DeviceSpec { holds, ..DeviceSpec::default() }, 2);
        let all = holding(None);
        assert!(all.has_model(ModelId(0)) && all.has_model(ModelId(1)));
        let mut one = holding(Some(vec![ModelId(1)]));
        assert!(!one.has_model(ModelId(0)) && one.has_model(ModelId(1)));
        one.unload(ModelId(1), u32::MAX);
        one.loaded(ModelId(1));
        one.unload(ModelId(1), u32::MAX);
        assert!(!one.has_model(ModelId(1)), "and its memory is not counted");
        assert!(!holding(Some(Vec::new())).has_model(ModelId(0)));
    }

    #[test]
    fn memory_is_counted_in_pages() {
        let spec = DeviceSpec { memory_pages: Some(10), ..DeviceSpec::default() };
        let mut d = Device::new(spec, 2);
        assert!(!d.has_model(ModelId(0)));
        assert!(d.reserve(7));
        d.loaded(ModelId(0));
        assert!(!d.reserve(4), "only three are free");
        d.unload(ModelId(0), 7);
        d.unload(ModelId(0), 7);
        assert!(d.reserve(10), "unloading twice frees once");
    }
}
