//! The devices that wait for a batch: what the work-conserving policies share.
//! A policy runs one batch at a time on each device, or fills all of its lanes.
//!
//! It chooses no device and forms no batch; the one that became free last is used first.

use super::{Actions, Event, Exec, Known, Outcome, Refusal};
use crate::cluster::{Change, DeviceView};
use crate::ordered::SortedSet;
use crate::request::{ActionId, DeviceId, Drop, ModelId, RequestId};

/// Free lanes of devices, the last one next.
#[derive(Debug, Default)]
pub struct FreeDevices {
    free: Vec<(DeviceId, u8)>,
    /// Whether all lanes of a device are filled, in place of its first.
    fills_lanes: bool,
    /// Whether a device has more than one of them.
    several: bool,
    /// What runs on a device's other lanes than its first.
    beyond: Vec<(ActionId, DeviceId, u8)>,
    /// They take no more work. A result may still come from one that is gone already.
    leaving: SortedSet<DeviceId>,
}

impl FreeDevices {
    /// With all lanes of each device but a pipeline, whose lanes are its stages.
    pub fn with_all_lanes() -> FreeDevices {
        FreeDevices { fills_lanes: true, ..FreeDevices::default() }
    }

    /// The device for the next batch.
    pub fn next(&self) -> Option<DeviceId> {
        self.free.last().map(|free| free.0)
    }

    /// The device for the next batch has got it.
    pub fn take_next(&mut self) {
        self.free.pop();
    }

    /// How many lanes are free.
    pub fn len(&self) -> usize {
        self.free.len()
    }

    /// The device of a free lane; the last one is next.
    pub fn at(&self, place: usize) -> DeviceId {
        self.free[place].0
    }

    /// This device has got a batch.
    pub fn take_device(&mut self, device: DeviceId) {
        let place = self.free.iter().rposition(|free| free.0 == device);
        place.map(|place| self.free.remove(place));
    }

    /// A batch of a model for the next lane. A lane of a device with the most free ones is next: a batch has a
    /// device to itself where there is one.
    #[inline]
    pub fn batch(&mut self, model: ModelId) -> Option<Exec> {
        if self.several {
            self.spread();
        }
        let &(device, lane) = self.free.last()?;
        Some(Exec { lane, ..Exec::now(device, model) })
    }

    /// The next lane becomes one of a device with the most free ones.
    fn spread(&mut self) {
        let lanes = |d: DeviceId| self.free.iter().filter(|free| free.0 == d).count();
        let next = (0..self.free.len()).max_by_key(|&i| (lanes(self.free[i].0), i));
        if let Some(next) = next {
            let free = self.free.remove(next);
            self.free.push(free);
        }
    }

    /// The lane for the next batch has got it.
    #[inline]
    pub fn take(&mut self, action: ActionId) {
        if let Some((device, lane)) = self.free.pop().filter(|free| free.1 > 0) {
            self.beyond.push((action, device, lane));
        }
    }

    /// Whether every device has work, or there is none.
    pub fn is_empty(&self) -> bool {
        self.free.is_empty()
    }

    /// Follows the start, results and changes of devices. Requests of a batch that did not run are
    /// dropped as refused, unless they have ended already.
    pub fn follow(&mut self, event: &Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match *event {
            Event::Start => known.devices().iter().for_each(|d| self.add(d)),
            Event::Result { action, device, outcome, requests } => {
                if !matches!(outcome, Outcome::Done { .. }) {
                    drop_what_did_not_run(outcome, requests, known, out);
                }
                let place = self.beyond.iter().position(|b| b.0 == action);
                let lane = place.map_or(0, |place| self.beyond.swap_remove(place).2);
                if !device_is_gone(outcome) && !self.leaving.contains(&device) {
                    self.free.push((device, lane));
                }
            }
            Event::Device(device, Change::Up) if self.fills_lanes => {
                known.devices().iter().filter(|d| d.id == device).for_each(|d| self.add(d));
            }
            Event::Device(device, Change::Up) => self.free.push((device, 0)),
            Event::Device(device, _) => {
                self.free.retain(|free| free.0 != device);
                self.leaving.insert(device);
            }
            Event::Arrive(_) | Event::Timer(_) | Event::Profiled { .. } => {}
        }
    }

    /// Whether a device takes no more work.
    pub fn is_leaving(&self, device: DeviceId) -> bool {
        self.leaving.contains(&device)
    }

    /// A device whose batch was stopped by the policy is free again.
    pub fn add_back(&mut self, device: DeviceId) {
        if !self.is_leaving(device) {
            self.free.push((device, 0));
        }
    }

    fn add(&mut self, device: &DeviceView) {
        let lanes = if self.fills_lanes { device.lanes_to_fill() } else { 1 };
        self.several |= lanes > 1;
        self.free.extend((0..lanes).rev().map(|lane| (device.id, lane)));
    }
}

/// Drops the requests of a batch that did not run as refused, unless they have ended already.
pub(crate) fn drop_what_did_not_run(
    outcome: Outcome,
    requests: &[RequestId],
    known: &Known<'_>,
    out: &mut Actions,
) {
    if matches!(outcome, Outcome::Done { .. }) {
        return;
    }
    for &id in requests.iter().filter(|&&id| known.request(id).is_some()) {
        out.why(id, || did_not_run(outcome));
        out.end(id, Drop::Refused);
    }
}

/// Why the requests of a batch that did not run to its end are given up.
pub(crate) fn did_not_run(outcome: Outcome) -> String {
    let what = match outcome {
        Outcome::Done { .. } => "ran",
        Outcome::Rejected(Refusal::Late) => "was refused: it could not start within its window",
        Outcome::Rejected(Refusal::NotLoaded) => "was refused: its model was not in memory",
        Outcome::Rejected(Refusal::NoMemory) => "was refused: the device's memory was full",
        Outcome::Rejected(Refusal::DeviceDown) => "was refused: the device was not up",
        Outcome::Preempted { ran } => return format!("its batch was stopped after {ran}"),
        Outcome::Cancelled => "was taken back before it began",
    };
    format!("its batch {what}")
}

/// Whether an outcome means that the device takes no more work: it failed, or is not up.
pub(crate) fn device_is_gone(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Rejected(Refusal::DeviceDown) | Outcome::Preempted { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_spread_over_devices_first_and_fill_every_lane_once() {
        let mut devices = FreeDevices::with_all_lanes();
        let all = (0..3).flat_map(|d| [1, 0].map(|lane| (DeviceId(d), lane)));
        devices.free.extend(all.clone());
        devices.several = true;
        let mut got = Vec::new();
        while let Some(exec) = devices.batch(ModelId(0)) {
            devices.take(ActionId(got.len() as u64));
            got.push((exec.device, exec.lane));
        }
        let of = |batches: &[(DeviceId, u8)]| -> SortedSet<DeviceId> {
            batches.iter().map(|b| b.0).collect()
        };
        assert_eq!([&got[..3], &got[3..]].map(of).map(|devices| devices.len()), [3, 3]);
        got.sort_unstable();
        let mut all: Vec<_> = all.collect();
        all.sort_unstable();
        assert_eq!(got, all);
        assert!(devices.is_empty());
    }
}
