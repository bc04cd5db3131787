//! The devices that wait for a batch: what the work-conserving policies share.
//!
//! It chooses no device and forms no batch; the one that became free last is used first.

use super::{Actions, Event, Known, Outcome, Refusal};
use crate::cluster::Change;
use crate::request::{DeviceId, Drop};
use std::collections::BTreeSet;

/// Free devices, the last one next.
#[derive(Debug, Default)]
pub struct FreeDevices {
    free: Vec<DeviceId>,
    /// They take no more work. A result may still come from one that is gone already.
    leaving: BTreeSet<DeviceId>,
}

impl FreeDevices {
    /// The device for the next batch.
    pub fn next(&self) -> Option<DeviceId> {
        self.free.last().copied()
    }

    /// The device for the next batch has got it.
    pub fn take_next(&mut self) {
        self.free.pop();
    }

    /// Whether every device has work, or there is none.
    pub fn is_empty(&self) -> bool {
        self.free.is_empty()
    }

    /// Follows the start, results and changes of devices. Requests of a batch that did not run are
    /// dropped as refused, unless they have ended already.
    pub fn follow(&mut self, event: &Event<'_>, known: &Known<'_>, out: &mut Actions) {
        match *event {
            Event::Start => self.free = known.devices().iter().map(|d| d.id).collect(),
            Event::Result { device, outcome, requests, .. } => {
                if !matches!(outcome, Outcome::Done { .. }) {
                    for &id in requests.iter().filter(|&&id| known.request(id).is_some()) {
                        out.why(id, || did_not_run(outcome));
                        out.end(id, Drop::Refused);
                    }
                }
                if !device_is_gone(outcome) && !self.leaving.contains(&device) {
                    self.free.push(device);
                }
            }
            Event::Device(device, Change::Up) => self.free.push(device),
            Event::Device(device, _) => {
                self.free.retain(|&d| d != device);
                self.leaving.insert(device);
            }
            Event::Arrive(_) | Event::Timer(_) | Event::Profiled { .. } => {}
        }
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
