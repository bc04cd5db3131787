//! The schedule log: every fact of a run as one line of text, and the facts as [`Record`]s.
//!
//! It computes nothing and judges nothing: [`crate::metrics`] computes, [`crate::audit`] judges.
//!
//! The first line is [`HEADER`]. Every other line is a word and whole numbers, with commas between;
//! times are nanoseconds, and an empty field is "none" (a deadline) or "never" (a `latest`):
//!
//! ```text
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
//! at a time, [`MemoryLog`] keeps the records.

mod read;
#[cfg(test)]
mod tests;

pub use read::{LogError, LogReader, read_log};

use crate::cluster::Change;
use crate::observer::Batch;
use crate::policy::{Outcome, Refusal};
use crate::request::{ActionId, DeviceId, End, ModelId, Request, RequestId};
use crate::time::{Span, Time};
use std::fmt;
use std::io::{self, Write};

/// The first line of a log: the format's name and version.
pub const HEADER: &str = "orrery-log,1";

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

/// An instant, or nothing for [`Time::NEVER`].
struct OrEmpty(Time);

impl fmt::Display for OrEmpty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == Time::NEVER { Ok(()) } else { write!(f, "{}", self.0.ns()) }
    }
}

/// The line of a record, without its newline.
impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let now = self.time().ns();
        match self {
            Record::Arrive { request: r, .. } => {
                let (arrival, deadline) = (r.arrival.ns(), OrEmpty(r.deadline));
                write!(f, "arrive,{now},{},{},{},", r.id.0, r.app.0, r.model.0)?;
                write!(f, "{},{},{arrival},{deadline}", r.size, r.source.0)
            }
            Record::Issue { batch: b, .. } => {
                let (earliest, latest) = (b.earliest.ns(), OrEmpty(b.latest));
                write!(f, "issue,{now},{},{},{},", b.action.0, b.device.0, b.lane)?;
                write!(f, "{},{},{earliest},{latest},", b.model.0, b.units)?;
                for (i, request) in b.requests.iter().enumerate() {
                    write!(f, "{}{}", if i == 0 { "" } else { " " }, request.0)?;
                }
                Ok(())
            }
            Record::Begin { action, .. } => write!(f, "begin,{now},{}", action.0),
            Record::Close { action, outcome, .. } => {
                write!(f, "close,{now},{},{},", action.0, outcome.word())?;
                if let Closed::Done(device) = outcome {
                    write!(f, "{}", device.ns())
                } else {
                    Ok(())
                }
            }
            Record::End { request, end, .. } => {
                write!(f, "end,{now},{},{}", request.0, end.word())
            }
            Record::Device { device, change, .. } => {
                write!(f, "device,{now},{},{}", device.0, change_word(*change))
            }
            Record::Finish { .. } => write!(f, "finish,{now}"),
        }
    }
}

/// Makes an [`Observer`](crate::observer::Observer) of a type with a method `record(&mut self, Record)`.
macro_rules! observe_as_records {
    ([$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $crate::observer::Observer for $type {
            fn arrived(&mut self, request: &$crate::request::Request) {
                let time = request.arrival;
                self.record($crate::log::Record::Arrive { time, request: *request });
            }
            fn issued(&mut self, now: Time, batch: &$crate::observer::Batch<'_>) {
                self.record($crate::log::Record::issue(now, batch));
            }
            fn began(&mut self, time: Time, batch: &$crate::observer::Batch<'_>) {
                self.record($crate::log::Record::Begin { time, action: batch.action });
            }
            fn closed(
                &mut self,
                time: Time,
                batch: &$crate::observer::Batch<'_>,
                _start: Option<Time>,
                outcome: $crate::policy::Outcome,
            ) {
                let (action, outcome) = (batch.action, outcome.into());
                self.record($crate::log::Record::Close { time, action, outcome });
            }
            fn ended(
                &mut self,
                time: Time,
                request: &$crate::request::Request,
                end: $crate::request::End,
                _start: Option<Time>,
            ) {
                self.record($crate::log::Record::End { time, request: request.id, end });
            }
            fn device(
                &mut self,
                time: Time,
                device: $crate::request::DeviceId,
                change: $crate::cluster::Change,
            ) {
                self.record($crate::log::Record::Device { time, device, change });
            }
            fn finished(&mut self, time: Time) {
                self.record($crate::log::Record::Finish { time });
            }
        }
    };
}
pub(crate) use observe_as_records;

/// An observer that keeps every record in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryLog {
    /// The records, in order.
    pub records: Vec<Record>,
}

impl MemoryLog {
    fn record(&mut self, record: Record) {
        self.records.push(record);
    }
}

observe_as_records!([] MemoryLog);

/// An observer that writes every record as one line. Give it a buffered writer.
#[derive(Debug)]
pub struct LogWriter<W> {
    out: W,
    /// The first failure; nothing is written after it.
    failure: Option<io::Error>,
}

impl<W: Write> LogWriter<W> {
    /// Begins a log on `out`.
    pub fn new(out: W) -> LogWriter<W> {
        let mut log = LogWriter { out, failure: None };
        log.failure = writeln!(log.out, "{HEADER}").err();
        log
    }

    /// Writes one record, unless a write failed before.
    pub fn record(&mut self, record: Record) {
        if self.failure.is_none() {
            self.failure = writeln!(self.out, "{record}").err();
        }
    }

    /// Flushes and gives the writer back.
    ///
    /// # Errors
    /// The first failure of the writer, whenever it was.
    pub fn finish(mut self) -> io::Result<W> {
        match self.failure {
            Some(failure) => Err(failure),
            None => self.out.flush().map(|()| self.out),
        }
    }
}

observe_as_records!([W: Write] LogWriter<W>);
