//! A run over time as papers draw it: bins of a chosen width, and groups of applications apart.
//!
//! What happens at an instant is counted in its bin; what takes time (busy devices, loads) is split over
//! bins to the nanosecond. A request's arrival and whether it was in time are also counted in the bin in
//! which it arrived, so that a load or an SLO that changes by steps has a finish rate for each step.
//! Memory grows with the number of bins, not with requests or models.

use super::Sketch;
use crate::cluster::{Change, Sharing};
use crate::observer::{Batch, Load, Observer};
use crate::ordered::SortedMap;
use crate::policy::Outcome;
use crate::request::{DeviceId, End, ModelId, Request};
use crate::time::{Span, Time};

/// One bin of a run. See the module's text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// By group of applications.
    pub groups: Vec<PanelGroup>,
    /// Batches that came to their end.
    pub batches: u64,
    /// Requests in those batches.
    pub batched: u64,
    /// The sum of the squares of their numbers of requests.
    pub batched_squared: u64,
    /// Loads that came to their end.
    pub loads: u64,
    /// Models that left a device's memory.
    pub unloads: u64,
    /// Device-time in which batches ran; of a device with several lanes, their mean.
    pub busy: Span,
    /// Device-time in which models were loaded.
    pub loading: Span,
    /// Device-time in which devices were up.
    pub up: Span,
    /// Models of which a cold start was answered in time.
    pub cold_models: u64,
    /// Models of which another request was answered in time.
    pub warm_models: u64,
}

/// What a group of applications did in a bin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PanelGroup {
    /// Requests that arrived in the bin.
    pub offered: u64,
    /// Of these, those that were answered in time, whenever that was.
    pub offered_in_time: u64,
    /// Requests that were answered in time in the bin.
    pub in_time: u64,
    /// Requests that were answered late.
    pub late: u64,
    /// Requests that were dropped.
    pub dropped: u64,
    /// Cold starts that were answered in time.
    pub cold: u64,
    /// Arrival to answer, of those in time.
    pub latency: Sketch,
    /// The longest time from arrival to answer, late ones included.
    pub longest: Span,
    /// The longest time from arrival to end, dropped ones included.
    pub longest_end: Span,
}

impl PanelGroup {
    fn add(&mut self, other: &PanelGroup) {
        self.offered += other.offered;
        self.offered_in_time += other.offered_in_time;
        self.in_time += other.in_time;
        self.late += other.late;
        self.dropped += other.dropped;
        self.cold += other.cold;
        self.latency.add(&other.latency);
        self.longest = self.longest.max(other.longest);
        self.longest_end = self.longest_end.max(other.longest_end);
    }
}

impl Panel {
    /// All groups together.
    pub fn all(&self) -> PanelGroup {
        let mut all = PanelGroup::default();
        self.groups.iter().for_each(|group| all.add(group));
        all
    }
}

/// A number that changes at instants.
#[derive(Clone, Debug, Default)]
struct Levels {
    /// Batches that run, by the number of their devices' lanes; those that share a device as one.
    running: SortedMap<u8, u64>,
    loading: u64,
    up: u64,
}

/// The observer. See the module's text.
#[derive(Clone, Debug)]
pub struct Panels {
    width_ns: u64,
    /// By application; every other is of the first group.
    groups: Vec<u32>,
    group_count: usize,
    bins: Vec<Panel>,
    levels: Levels,
    /// Batches that run on devices that they share.
    sharers: SortedMap<DeviceId, i64>,
    changed_ns: u64,
    /// Devices that are up.
    up: Vec<bool>,
    /// Whether the request that ends next was a cold start.
    is_cold: bool,
    /// By model, in this bin: whether a cold start, and whether another request, was in time.
    seen: Vec<[bool; 2]>,
    seen_bin: usize,
    first_unload: Option<Time>,
    end: Time,
}

impl Panels {
    /// Bins of `width`; `groups` is the group of each application, by its number.
    pub fn new(width: Span, groups: Vec<u32>) -> Panels {
        let group_count = groups.iter().max().map_or(1, |g| *g as usize + 1);
        Panels {
            width_ns: width.ns().max(1),
            groups,
            group_count,
            bins: Vec::new(),
            levels: Levels::default(),
            sharers: SortedMap::default(),
            changed_ns: 0,
            up: Vec::new(),
            is_cold: false,
            seen: Vec::new(),
            seen_bin: 0,
            first_unload: None,
            end: Time::ZERO,
        }
    }

    /// The width of a bin.
    pub fn width(&self) -> Span {
        Span::from_ns(self.width_ns)
    }

    /// The bins, in order of time; the last one ends with the run.
    pub fn bins(&self) -> &[Panel] {
        &self.bins
    }

    /// When the run ended.
    pub fn end(&self) -> Time {
        self.end
    }

    /// When a model first had to leave a device's memory.
    pub fn first_unload(&self) -> Option<Time> {
        self.first_unload
    }

    fn bin_at(&mut self, ns: u64) -> &mut Panel {
        let bin = (ns / self.width_ns) as usize;
        if self.bins.len() <= bin {
            let groups = vec![PanelGroup::default(); self.group_count];
            self.bins.resize(bin + 1, Panel { groups, ..Panel::default() });
        }
        &mut self.bins[bin]
    }

    /// Brings what takes time to `now`.
    fn step(&mut self, now: Time) {
        let (mut from, to) = (self.changed_ns, now.ns());
        self.changed_ns = to;
        let Levels { running, loading, up } = std::mem::take(&mut self.levels);
        while from < to {
            let until = to.min((from / self.width_ns + 1) * self.width_ns);
            let bin = self.bin_at(from);
            let part = Span::from_ns(until - from);
            for (lanes, batches) in running.iter() {
                bin.busy += Span::from_ns((part * *batches).ns() / u64::from(*lanes));
            }
            bin.loading += part * loading;
            bin.up += part * up;
            from = until;
        }
        self.levels = Levels { running, loading, up };
    }

    /// Counts a batch that begins or closes; whether its device, or its part of it, does so too.
    fn sharing(&mut self, batch: &Batch<'_>, more: i64) -> bool {
        if batch.sharing == Sharing::None {
            return true;
        }
        let batches = self.sharers.get_or_default(batch.device);
        *batches += more;
        // The first that begins, or the last that closes.
        *batches == i64::from(more > 0)
    }

    fn group_of(&self, request: &Request) -> usize {
        self.groups.get(request.app.index()).map_or(0, |group| *group as usize)
    }

    /// A request of a model was in time; whether it is the first of its kind in the bin.
    fn is_first(&mut self, model: ModelId, bin: usize, cold: bool) -> bool {
        if bin != self.seen_bin {
            self.seen_bin = bin;
            self.seen.fill([false; 2]);
        }
        if self.seen.len() <= model.index() {
            self.seen.resize(model.index() + 1, [false; 2]);
        }
        !std::mem::replace(&mut self.seen[model.index()][usize::from(cold)], true)
    }

    fn set_up(&mut self, now: Time, device: DeviceId, up: bool) {
        self.step(now);
        if self.up.len() <= device.index() {
            self.up.resize(device.index() + 1, false);
        }
        let before = std::mem::replace(&mut self.up[device.index()], up);
        self.levels.up += u64::from(up);
        self.levels.up -= u64::from(before);
    }
}

impl Observer for Panels {
    fn arrived(&mut self, _now: Time, request: &Request) {
        let group = self.group_of(request);
        self.bin_at(request.arrival.ns()).groups[group].offered += 1;
    }

    fn began(&mut self, now: Time, batch: &Batch<'_>) {
        self.step(now);
        if self.sharing(batch, 1) {
            *self.levels.running.get_or_default(batch.sharing.devices(batch.lanes)) += 1;
        }
    }

    fn closed(&mut self, now: Time, batch: &Batch<'_>, start: Option<Time>, outcome: Outcome) {
        self.step(now);
        if start.is_some() && self.sharing(batch, -1) {
            *self.levels.running.get_or_default(batch.sharing.devices(batch.lanes)) -= 1;
        }
        if let Outcome::Done { .. } = outcome {
            let size = batch.requests.len() as u64;
            let bin = self.bin_at(now.ns());
            bin.batches += 1;
            bin.batched += size;
            bin.batched_squared += size * size;
        }
    }

    fn load_began(&mut self, now: Time, _: &Load) {
        self.step(now);
        self.levels.loading += 1;
    }

    fn load_closed(&mut self, now: Time, _: &Load, start: Option<Time>, outcome: Outcome) {
        self.step(now);
        self.levels.loading -= u64::from(start.is_some());
        self.bin_at(now.ns()).loads += u64::from(matches!(outcome, Outcome::Done { .. }));
    }

    fn unloaded(&mut self, now: Time, _: DeviceId, _: ModelId) {
        self.bin_at(now.ns()).unloads += 1;
        self.first_unload.get_or_insert(now);
    }

    fn cold(&mut self, _now: Time, _: &Request) {
        self.is_cold = true;
    }

    fn ended(&mut self, now: Time, request: &Request, end: End, _: Option<Time>) {
        let cold = std::mem::take(&mut self.is_cold);
        if end == End::Pending {
            return;
        }
        let (group, latency) = (self.group_of(request), now - request.arrival);
        let in_bin = &mut self.bin_at(now.ns()).groups[group];
        in_bin.longest_end = in_bin.longest_end.max(latency);
        match end {
            End::InTime => {
                in_bin.in_time += 1;
                in_bin.cold += u64::from(cold);
                in_bin.latency.record(latency);
                in_bin.longest = in_bin.longest.max(latency);
                self.bin_at(request.arrival.ns()).groups[group].offered_in_time += 1;
                let bin = (now.ns() / self.width_ns) as usize;
                if self.is_first(request.model, bin, cold) {
                    let bin = &mut self.bins[bin];
                    bin.cold_models += u64::from(cold);
                    bin.warm_models += u64::from(!cold);
                }
            }
            End::Late => {
                in_bin.late += 1;
                in_bin.longest = in_bin.longest.max(latency);
            }
            _ => in_bin.dropped += 1,
        }
    }

    fn device(&mut self, now: Time, device: DeviceId, change: Change) {
        match change {
            Change::Up => self.set_up(now, device, true),
            Change::Draining => {}
            Change::Down => self.set_up(now, device, false),
        }
    }

    fn finished(&mut self, now: Time) {
        self.step(now);
        self.end = now;
    }
}

#[cfg(test)]
mod tests;
