//! The records of a run: what its log says.

use crate::cluster::Change;
use crate::observer::{Batch, Load};
use crate::policy::{Outcome, Refusal};
use crate::request::{ActionId, DeviceId, End, ModelId, Request, RequestId};
use crate::time::{Span, Time};

/// The first line of a log: the format's name and version.
pub const HEADER: &str = "orrery-log,4";

/// One fact of a run: one line of its log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Record {
    /// A request arrived.
    Arrive { time: Time, request: Request },
    /// The policy issued a batch.
    Issue { time: Time, batch: BatchRecord },
    /// The policy issued a load.
    Load { time: Time, load: LoadRecord },
    /// A device began a batch or a load.
    Begin { time: Time, action: ActionId },
    /// A batch or a load came to its end.
    Close { time: Time, action: ActionId, outcome: Closed },
    /// A model left a device's memory.
    Unload { time: Time, device: DeviceId, model: ModelId },
    /// A request ended.
    End { time: Time, request: RequestId, end: End },
    /// A device came, is going or went.
    Device { time: Time, device: DeviceId, change: Change },
    /// Why the policy did what it did with a request: said before the records of what it did.
    Why { time: Time, request: RequestId, text: String },
    /// The run is over.
    Finish { time: Time },
}

/// A batch as it was issued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchRecord {
    /// The action that carries it.
    pub action: ActionId,
    /// Where it goes.
    pub device: DeviceId,
    /// On which lane.
    pub lane: u8,
    /// Its model.
    pub model: ModelId,
    /// Items that the device computes, padding included.
    pub units: u32,
    /// It may not start before.
    pub earliest: Time,
    /// It may not start after.
    pub latest: Time,
    /// Its requests.
    pub requests: Vec<RequestId>,
}

/// A load as it was issued: a copy of a model's weights to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadRecord {
    /// The action that carries it.
    pub action: ActionId,
    /// Where the weights go.
    pub device: DeviceId,
    /// The model.
    pub model: ModelId,
    /// It may not start before.
    pub earliest: Time,
    /// It may not start after.
    pub latest: Time,
}

impl From<&Load> for LoadRecord {
    fn from(load: &Load) -> LoadRecord {
        let &Load { action, device, model, earliest, latest, .. } = load;
        LoadRecord { action, device, model, earliest, latest }
    }
}

/// What became of a batch or a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// It ran to its end; the device computed for so long.
    Done(Span),
    /// The device did not run it.
    Rejected(Refusal),
    /// It was stopped.
    Preempted,
    /// It was taken back before it began.
    Cancelled,
}

impl Closed {
    /// Its word in a log.
    pub fn word(self) -> &'static str {
        match self {
            Closed::Done(_) => "done",
            Closed::Rejected(Refusal::Late) => "rejected_late",
            Closed::Rejected(Refusal::NotLoaded) => "rejected_not_loaded",
            Closed::Rejected(Refusal::NoMemory) => "rejected_no_memory",
            Closed::Rejected(Refusal::DeviceDown) => "rejected_device_down",
            Closed::Preempted => "preempted",
            Closed::Cancelled => "cancelled",
        }
    }
}

impl From<Outcome> for Closed {
    fn from(outcome: Outcome) -> Closed {
        match outcome {
            Outcome::Done { device, .. } => Closed::Done(device),
            Outcome::Rejected(why) => Closed::Rejected(why),
            Outcome::Preempted { .. } => Closed::Preempted,
            Outcome::Cancelled => Closed::Cancelled,
        }
    }
}

/// The word of a device's change in a log.
pub fn change_word(change: Change) -> &'static str {
    match change {
        Change::Up => "up",
        Change::Draining => "draining",
        Change::Down => "down",
    }
}

impl Record {
    /// When it happened.
    pub fn time(&self) -> Time {
        match *self {
            Record::Arrive { time, .. }
            | Record::Issue { time, .. }
            | Record::Load { time, .. }
            | Record::Unload { time, .. }
            | Record::Begin { time, .. }
            | Record::Close { time, .. }
            | Record::End { time, .. }
            | Record::Device { time, .. }
            | Record::Why { time, .. }
            | Record::Finish { time } => time,
        }
    }

    /// The batch as a record; what an observer learns of it later is in other records.
    pub fn issue(now: Time, batch: &Batch<'_>) -> Record {
        let batch = BatchRecord {
            action: batch.action,
            device: batch.device,
            lane: batch.lane,
            model: batch.model,
            units: batch.units,
            earliest: batch.earliest,
            latest: batch.latest,
            requests: batch.requests.to_vec(),
        };
        Record::Issue { time: now, batch }
    }
}
