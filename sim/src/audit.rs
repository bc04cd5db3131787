//! The auditor: reads a schedule log and says which rules of the world it breaks.
//!
//! It shares no code with the engine and knows nothing but the log: its records, and the names and
//! [`Terms`] before them. [`Report::UNSEEN`] lists what no log shows.
//!
//! # The rules
//!
//! 1. *Conservation.* Requests arrive in the order of their ids, each once; each ends exactly once, and
//!    those that are told as pending at the instant at which the run finishes.
//! 2. *Causality.* Time never runs backwards; a batch contains requests that have arrived, begins
//!    after it was issued, closes after it began; an answer comes after its batch closed as done, and all answers
//!    of a batch at one instant. An arrival is told at its instant; where the host has stalls, it may be told after
//!    a time in which nothing else happened.
//! 3. *Windows.* A batch begins within [earliest, latest]; it is refused as late only after latest.
//! 4. *Lanes.* No two batches run on one lane of a device at once; a batch goes to a lane that the
//!    device has.
//! 5. *One life.* A request is in at most one open batch, in none after one that closed as done, and
//!    in none that is issued after its end. It may end while its batch is in flight.
//! 6. *Deadlines.* In time is at or before the deadline, late is after it; nothing is dropped as
//!    expired before it. It comes its application's SLO after the arrival, and not before it.
//! 7. *Batches.* All of one model; as many units as their requests' sizes together, or more; the
//!    device computes no longer than the batch ran.
//! 8. *Devices.* A batch begins on a device that was announced and is not gone; one that drains
//!    finishes only what was issued before. It comes up once, drains at most once, and what is gone
//!    does not come back. Only a device that can preempt stops a batch, unless it fails. Every device has terms where
//!    the log has any.
//! 9. *Names.* Applications and models are those that the log names; an application asks for its model.
//! 10. *Memory.* A batch begins only where its model is, and no model leaves a device that runs it. A
//!     model is where it was from the start, or where its load closed as done, until it is unloaded.
//!     The pages of what a device has and loads are at most its own, and it loads one model at a time,
//!     in the load's window. What is refused for memory would not have fitted, and what is refused as
//!     not loaded was not there.
//!
//! 11. *Sharing.* Where k batches that share a device run at 1/k of the speed, a batch closes as done when it has
//!     got the time that it computed, not before.
//!
//! Where the log says what late answers cost, [`Report::cost`] sums it up.
//!
//! Memory is proportional to what is alive, not to the length of the log.

mod closing;
mod costs;
mod fault;
mod memory;
mod requests;
mod shared;
#[cfg(test)]
mod tests;

pub use fault::{Fault, Finding, Report};
pub(crate) use fault::{verdict, write_findings};

use crate::cluster::{Change, Sharing};
use crate::log::{
    BatchRecord, LogError, LogReader, Names, Record, Terms, change_word, observe_as_records,
};
use crate::ordered::{ById, SortedMap};
use crate::request::{ActionId, DeviceId, End, Request, RequestId};
use crate::time::Time;
use memory::{Memory, OpenLoad};
use shared::Served;
use std::io::Read;
use std::ops::Range;

/// Audits the records of a run.
pub fn audit(records: impl IntoIterator<Item = Record>) -> Report {
    let mut auditor = Auditor::default();
    records.into_iter().for_each(|record| auditor.record(record));
    auditor.finish()
}

/// Audits a log that is being read.
///
/// # Errors
/// The reader's, if a line cannot be read.
pub fn audit_log(log: LogReader<impl Read>) -> Result<Report, LogError> {
    Auditor::default().read(log)
}

/// The auditor: give it every record, in order. It is an observer too, and so can audit a run while
/// it runs.
#[derive(Debug, Default)]
pub struct Auditor {
    terms: Terms,
    /// How many applications and models have a name; 0 when none has.
    named_apps: usize,
    named_models: usize,
    /// The line of the record, where the log is read from a file.
    line: Option<u64>,
    now: Time,
    /// The last instant before this one at which something happened.
    before: Option<Time>,
    /// A request may be told a little after its arrival.
    on_a_wall_clock: bool,
    /// The id of the next arrival.
    next_request: u64,
    /// Ids that a faulty log left out.
    skipped: Vec<Range<u64>>,
    /// Requests that have not ended, or are in an open batch.
    live: ById<Live>,
    /// Actions below have been issued (or were no batches).
    next_action: u64,
    open: ById<Open>,
    /// Batches that closed as done, until all of their requests have ended.
    answers: ById<Answers>,
    lanes: SortedMap<(DeviceId, u8), ActionId>,
    loads: ById<OpenLoad>,
    /// What batches that share a device got of it, by device.
    served: SortedMap<DeviceId, Served>,
    /// By device; those that always have every model are not in it.
    memories: SortedMap<DeviceId, Memory>,
    /// What each device is, and since which record.
    devices: SortedMap<DeviceId, (Change, u64)>,
    /// A request that was told as pending, and when.
    pending: Option<(RequestId, Time)>,
    finished: bool,
    report: Report,
}

#[derive(Debug)]
struct Live {
    request: Request,
    /// The open batch that contains it.
    batch: Option<ActionId>,
    /// The batch with it that closed as done, and when.
    done: Option<(ActionId, Time)>,
    ended: bool,
}

/// The answers of a batch.
#[derive(Debug)]
struct Answers {
    /// Requests that have not ended.
    left: usize,
    /// When the first of them was answered.
    at: Option<Time>,
}

#[derive(Debug)]
struct Open {
    batch: BatchRecord,
    /// The number of the record that issued it.
    issued: u64,
    began: Option<Time>,
}

// Reasons are the policy's own words: there is nothing to check in them.
observe_as_records!(Auditor, |_: &Auditor| false);

impl Auditor {
    /// An auditor of a run on a real device, where a request is told a little after its arrival.
    pub fn on_a_wall_clock() -> Auditor {
        Auditor { on_a_wall_clock: true, ..Auditor::default() }
    }

    /// The same auditor, which holds the run to these names and terms.
    pub fn with_terms(mut self, names: &Names, terms: Terms) -> Auditor {
        (self.named_apps, self.named_models) = (names.apps.len(), names.models.len());
        self.report.without_terms = terms == Terms::default();
        self.terms = terms;
        self
    }

    /// Audits a log that is being read, with its names and terms.
    ///
    /// # Errors
    /// The reader's, if a line cannot be read.
    pub fn read(mut self, mut log: LogReader<impl Read>) -> Result<Report, LogError> {
        let names = log.names()?.clone();
        self = self.with_terms(&names, log.terms()?.clone());
        while let Some(record) = log.next() {
            self.line = Some(log.line());
            self.record(record?);
        }
        Ok(self.finish())
    }

    /// The next record of the log.
    pub fn record(&mut self, record: Record) {
        self.report.records += 1;
        let time = record.time();
        if time < self.now {
            self.fault_at(time, Fault::TimeBackwards { before: self.now });
        }
        if time > self.now {
            self.before = (self.report.records > 1).then_some(self.now);
        }
        self.now = self.now.max(time);
        if self.finished {
            self.fault(Fault::AfterFinish);
        }
        let closing =
            matches!(record, Record::End { end: End::Pending, .. } | Record::Finish { .. });
        if !closing && let Some((request, _)) = self.pending {
            self.fault(Fault::AfterPending { request });
        }
        match record {
            Record::Arrive { request, .. } => self.arrive(request),
            Record::Issue { batch, .. } => self.issue(batch),
            Record::Load { load, .. } => self.load(load),
            Record::Begin { action, .. } if self.loads.contains(action.0) => {
                self.begin_load(action);
            }
            Record::Close { action, outcome, .. } if self.loads.contains(action.0) => {
                self.close_load(action, outcome);
            }
            Record::Begin { action, .. } => self.begin(action),
            Record::Close { action, outcome, .. } => self.close(action, outcome),
            Record::Unload { device, model, .. } => self.unload(device, model),
            Record::End { request, end, .. } => self.end(request, end),
            Record::Device { device, change, .. } => self.device(device, change),
            Record::Why { .. } => {}
            Record::Finish { .. } => {
                self.finished = true;
                if let Some((request, at)) = self.pending.filter(|p| p.1 != self.now) {
                    self.fault(Fault::PendingBeforeFinish { request, at });
                }
            }
        }
    }

    /// What was found. Requests without an end are found here.
    pub fn finish(mut self) -> Report {
        if !self.finished {
            self.fault(Fault::NoFinish);
        }
        for (id, live) in std::mem::take(&mut self.live).iter() {
            if !live.ended {
                let arrival = live.request.arrival;
                self.fault(Fault::LeftWithoutEnd { request: RequestId(id), arrival });
            }
        }
        self.report
    }

    fn fault(&mut self, fault: Fault) {
        self.fault_at(self.now, fault);
    }

    fn fault_at(&mut self, time: Time, fault: Fault) {
        self.report.fault_count += 1;
        if self.report.faults.len() < Report::FAULTS_MAX {
            self.report.faults.push(Finding {
                record: self.report.records,
                line: self.line,
                time,
                fault,
            });
        }
    }

    fn check(&mut self, holds: bool, fault: Fault) {
        if !holds {
            self.fault(fault);
        }
    }

    /// Whether an action of that id may be issued to that device: whoever uses an id again is not
    /// listened to.
    fn is_new(&mut self, action: ActionId, device: DeviceId) -> bool {
        if action.0 < self.next_action {
            let expected = ActionId(self.next_action);
            self.fault(Fault::ActionReused { action, expected });
            return false;
        }
        self.next_action = action.0.saturating_add(1);
        self.check(self.devices.contains_key(&device), Fault::UnknownDevice { action, device });
        true
    }

    fn issue(&mut self, batch: BatchRecord) {
        let (action, device) = (batch.action, batch.device);
        if !self.is_new(action, device) {
            return;
        }
        self.report.batches += 1;
        self.check(!batch.requests.is_empty(), Fault::EmptyBatch { action });
        let (lane, terms) = (batch.lane, self.terms.device(device.index()));
        let has_lane = terms.is_none_or(|terms| lane < terms.lanes);
        self.check(has_lane, Fault::NoSuchLane { action, device, lane });
        let mut size = 0;
        for &request in &batch.requests {
            size += self.take_into(&batch, request);
        }
        let units = batch.units;
        self.check(u64::from(units) >= size, Fault::TooFewUnits { action, units, size });
        self.open.insert(action.0, Open { batch, issued: self.report.records, began: None });
    }

    /// Puts a request into a batch and gives its size.
    fn take_into(&mut self, batch: &BatchRecord, request: RequestId) -> u64 {
        let action = batch.action;
        let arrived = self.has_arrived(request);
        let Some(live) = self.live.get_mut(request.0) else {
            self.fault(if arrived {
                Fault::RunsAfterEnd { action, request }
            } else {
                Fault::RunsWithoutArriving { action, request }
            });
            return 0;
        };
        let (wants, size) = (live.request.model, u64::from(live.request.size));
        let fault = if let Some(other) = live.batch {
            Some(Fault::InTwoBatches { action, request, other })
        } else if live.ended {
            Some(Fault::RunsAfterEnd { action, request })
        } else {
            live.batch = Some(action);
            live.done.map(|(_, done)| Fault::RunsTwice { action, request, done })
        };
        if let Some(fault) = fault {
            self.fault(fault);
        }
        let model = batch.model;
        self.check(wants == model, Fault::WrongModel { action, batch: model, request, wants });
        size
    }

    fn begin(&mut self, action: ActionId) {
        let now = self.now;
        let Some(open) = self.open.get_mut(action.0) else {
            return self.fault(Fault::BeginsWithoutIssue { action });
        };
        if let Some(first) = open.began {
            return self.fault(Fault::BeginsTwice { action, first });
        }
        open.began = Some(now);
        let (device, lane, issued) = (open.batch.device, open.batch.lane, open.issued);
        let (earliest, latest, model) = (open.batch.earliest, open.batch.latest, open.batch.model);
        self.check_begin(action, device, issued, (earliest, latest));
        if let Some(running) = self.lanes.insert((device, lane), action) {
            self.fault(Fault::LaneOverlap { action, device, lane, running });
        }
        self.runs(action, device, model);
        let terms = self.terms.device(device.index());
        if terms.is_some_and(|terms| terms.sharing == Sharing::Processor) {
            self.served.get_or_default(device).begins(now, action);
        }
    }

    /// What holds of whatever begins on a device.
    fn check_begin(
        &mut self,
        action: ActionId,
        device: DeviceId,
        issued: u64,
        (earliest, latest): (Time, Time),
    ) {
        let now = self.now;
        self.check(now >= earliest, Fault::BeginsTooEarly { action, earliest });
        self.check(now <= latest, Fault::BeginsTooLate { action, latest });
        match self.devices.get(&device) {
            Some((Change::Down, _)) => self.fault(Fault::BeginsOnDownDevice { action, device }),
            Some((Change::Draining, since)) if issued > *since => {
                self.fault(Fault::BeginsOnDrainingDevice { action, device });
            }
            _ => {}
        }
    }

    fn device(&mut self, device: DeviceId, change: Change) {
        let before = self.devices.insert(device, (change, self.report.records)).map(|d| d.0);
        let follows = match before {
            Some(Change::Down) => return self.fault(Fault::ChangesAfterGone { device }),
            Some(before) => change > before,
            None => change == Change::Up,
        };
        if before.is_none() {
            self.has_memory(device);
            let has_terms = self.terms.device(device.index()).is_some();
            self.check(
                has_terms || !self.terms.has_devices(),
                Fault::DeviceWithoutTerms { device },
            );
        }
        self.check(follows, Fault::ChangesOutOfOrder { device, change: change_word(change) });
    }
}
