//! The schedule log: every fact of a run as one line of text, and the facts as [`Record`]s.
//!
//! It computes nothing and judges nothing: [`crate::metrics`] computes, [`crate::audit`] judges.
//!
//! The first line is [`HEADER`]. Then come [`Names`] and [`Terms`], if there are any, and then the
//! records: each line is a word and whole numbers, with commas between; times are nanoseconds, and
//! an empty field is "none" (a deadline) or "never" (a `latest`). NAME and TEXT are the rest of their
//! line, commas included:
//!
//! ```text
//! name,policy|model|app|device,number,NAME    before all records; of each kind, numbers from 0
//! terms,device,number,lanes,can_preempt|cannot_preempt     before all records; numbers from 0
//! terms,later-device,0,lanes,can_preempt|cannot_preempt    devices that are added, if all alike
//! terms,app,number,model,slo_ns               the SLO is empty for none, `own` where requests differ
//! why,time,request,TEXT                       why the policy did what follows, where asked for
//! arrive,time,request,app,model,size,source,arrival,deadline
//! issue,time,action,device,lane,model,units,earliest,latest,requests with spaces between
//! begin,time,action
//! close,time,action,outcome,device_ns         the last field is empty unless the outcome is `done`
//! end,time,request,how
//! device,time,device,up|draining|down
//! finish,time
//! ```
//!
//! The same run gives the same bytes. [`LogWriter`] writes them, [`read_log`] reads them one record
//! at a time, [`MemoryLog`] keeps the records. A log of version 2 is one without terms, one of
//! version 1 without names and reasons too.

mod fields;
mod memory;
mod names;
mod read;
mod terms;
#[cfg(test)]
mod tests;
mod write;

pub use memory::MemoryLog;
pub(crate) use memory::observe_as_records;
pub use names::Names;
pub use read::{LogError, LogReader, read_log};
pub use terms::{AppTerms, DeviceTerms, Terms};
pub use write::{LogWriter, push_decimal};

use crate::cluster::Change;
use crate::observer::Batch;
use crate::policy::{Outcome, Refusal};
use crate::request::{ActionId, DeviceId, End, ModelId, Request, RequestId};
use crate::time::{Span, Time};
use std::fmt;

/// The first line of a log: the format's name and version.
pub const HEADER: &str = "orrery-log,3";

/// The first line of a log of version 2, which is read as well.
pub const HEADER_2: &str = "orrery-log,2";

/// The first line of a log of version 1, which is read as well.
pub const HEADER_1: &str = "orrery-log,1";

/// One fact of a run: one line of its log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Record {
    /// A request arrived.
    Arrive { time: Time, request: Request },
    /// The policy issued a batch.
    Issue { time: Time, batch: BatchRecord },
    /// A device began a batch.
    Begin { time: Time, action: ActionId },
    /// A batch came to its end.
    Close { time: Time, action: ActionId, outcome: Closed },
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

/// What became of a batch.
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

/// The line of a record, without its newline.
impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = write::Lines::default();
        lines.record(self);
        f.write_str(String::from_utf8_lossy(&lines.bytes).trim_end_matches('\n'))
    }
}
