//! The auditor: reads a schedule log and says which rules of the world it breaks.
//!
//! It shares no code with the engine and knows nothing but the log. It cannot see what a log does
//! not say: whether a model was in memory, or whether the policy's choice was a good one.
//!
//! # The rules
//!
//! 1. *Conservation.* Requests arrive in the order of their ids, each once; each ends exactly once.
//! 2. *Causality.* Time never runs backwards; a batch contains requests that have arrived, begins
//!    after it was issued, closes after it began; an answer comes after its batch closed as done.
//! 3. *Windows.* A batch begins within [earliest, latest]; it is refused as late only after latest.
//! 4. *Lanes.* No two batches run on one lane of a device at once.
//! 5. *One life.* A request is in at most one open batch, in none after one that closed as done, and
//!    in none that is issued after its end. It may end while its batch is in flight.
//! 6. *Deadlines.* In time is at or before the deadline, late is after it.
//! 7. *Batches.* All of one model; as many units as their requests' sizes together, or more; the
//!    device computes no longer than the batch ran.
//! 8. *Devices.* A batch begins on a device that was announced and is not gone; one that drains
//!    finishes only what was issued before. What is gone does not come back.
//!
//! Memory is proportional to what is alive, not to the length of the log.

mod fault;
#[cfg(test)]
mod tests;

pub use fault::{Fault, Finding, Report};

use crate::cluster::Change;
use crate::log::{BatchRecord, Closed, LogError, Record, observe_as_records};
use crate::policy::Refusal;
use crate::request::{ActionId, DeviceId, End, Request, RequestId};
use crate::time::Time;
use std::collections::BTreeMap;
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
pub fn audit_log(
    records: impl IntoIterator<Item = Result<Record, LogError>>,
) -> Result<Report, LogError> {
    Auditor::default().read(records)
}

/// The auditor: give it every record, in order. It is an observer too, and so can audit a run while
/// it runs.
#[derive(Debug, Default)]
pub struct Auditor {
    now: Time,
    /// A request may be told a little after its arrival.
    on_a_wall_clock: bool,
    /// The id of the next arrival.
    next_request: u64,
    /// Ids that a faulty log left out.
    skipped: Vec<Range<u64>>,
    /// Requests that have not ended, or are in an open batch.
    live: BTreeMap<RequestId, Live>,
    /// Actions below have been issued (or were no batches).
    next_action: u64,
    open: BTreeMap<ActionId, Open>,
    lanes: BTreeMap<(DeviceId, u8), ActionId>,
    /// What each device is, and since which record.
    devices: BTreeMap<DeviceId, (Change, u64)>,
    pending: Option<RequestId>,
    finished: bool,
    report: Report,
}

#[derive(Debug)]
struct Live {
    request: Request,
    /// The open batch that contains it.
    batch: Option<ActionId>,
    /// When a batch with it closed as done.
    done: Option<Time>,
    ended: bool,
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

    /// Audits a log that is being read.
    ///
    /// # Errors
    /// The reader's, if a line cannot be read.
    pub fn read(
        mut self,
        records: impl IntoIterator<Item = Result<Record, LogError>>,
    ) -> Result<Report, LogError> {
        for record in records {
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
        self.now = self.now.max(time);
        if self.finished {
            self.fault(Fault::AfterFinish);
        }
        let closing =
            matches!(record, Record::End { end: End::Pending, .. } | Record::Finish { .. });
        if !closing && let Some(request) = self.pending {
            self.fault(Fault::AfterPending { request });
        }
        match record {
            Record::Arrive { request, .. } => self.arrive(request),
            Record::Issue { batch, .. } => self.issue(batch),
            Record::Begin { action, .. } => self.begin(action),
            Record::Close { action, outcome, .. } => self.close(action, outcome),
            Record::End { request, end, .. } => self.end(request, end),
            Record::Device { device, change, .. } => self.device(device, change),
            Record::Why { .. } => {}
            Record::Finish { .. } => self.finished = true,
        }
    }

    /// What was found. Requests without an end are found here.
    pub fn finish(mut self) -> Report {
        if !self.finished {
            self.fault(Fault::NoFinish);
        }
        for (id, live) in std::mem::take(&mut self.live) {
            if !live.ended {
                let arrival = live.request.arrival;
                self.fault(Fault::LeftWithoutEnd { request: id, arrival });
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
            self.report.faults.push(Finding { record: self.report.records, time, fault });
        }
    }

    fn check(&mut self, holds: bool, fault: Fault) {
        if !holds {
            self.fault(fault);
        }
    }

    /// Whether a request that is not alive has been: ids count arrivals.
    fn has_arrived(&self, request: RequestId) -> bool {
        request.0 < self.next_request && !self.skipped.iter().any(|s| s.contains(&request.0))
    }

    fn arrive(&mut self, request: Request) {
        let (id, expected) = (request.id, RequestId(self.next_request));
        if id < expected {
            return self.fault(Fault::ArrivesTwice { request: id });
        }
        if id > expected {
            self.skipped.push(expected.0..id.0);
            self.fault(Fault::ArrivalSkipped { request: id, expected });
        }
        let arrival = request.arrival;
        let is_told_at_once = arrival == self.now || self.on_a_wall_clock && arrival < self.now;
        self.check(is_told_at_once, Fault::ArrivalAtAnotherTime { request: id, arrival });
        self.report.requests += 1;
        self.next_request = id.0.saturating_add(1);
        self.live.insert(id, Live { request, batch: None, done: None, ended: false });
    }

    fn issue(&mut self, batch: BatchRecord) {
        let (action, device) = (batch.action, batch.device);
        if action.0 < self.next_action {
            let expected = ActionId(self.next_action);
            return self.fault(Fault::ActionReused { action, expected });
        }
        self.next_action = action.0.saturating_add(1);
        self.report.batches += 1;
        self.check(!batch.requests.is_empty(), Fault::EmptyBatch { action });
        self.check(self.devices.contains_key(&device), Fault::UnknownDevice { action, device });
        let mut size = 0;
        for &request in &batch.requests {
            size += self.take_into(&batch, request);
        }
        let units = batch.units;
        self.check(u64::from(units) >= size, Fault::TooFewUnits { action, units, size });
        self.open.insert(action, Open { batch, issued: self.report.records, began: None });
    }

    /// Puts a request into a batch and gives its size.
    fn take_into(&mut self, batch: &BatchRecord, request: RequestId) -> u64 {
        let action = batch.action;
        let arrived = self.has_arrived(request);
        let Some(live) = self.live.get_mut(&request) else {
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
            live.done.map(|done| Fault::RunsTwice { action, request, done })
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
        let Some(open) = self.open.get_mut(&action) else {
            return self.fault(Fault::BeginsWithoutIssue { action });
        };
        if let Some(first) = open.began {
            return self.fault(Fault::BeginsTwice { action, first });
        }
        open.began = Some(now);
        let (device, lane, issued) = (open.batch.device, open.batch.lane, open.issued);
        let (earliest, latest) = (open.batch.earliest, open.batch.latest);
        self.check(now >= earliest, Fault::BeginsTooEarly { action, earliest });
        self.check(now <= latest, Fault::BeginsTooLate { action, latest });
        if let Some(running) = self.lanes.insert((device, lane), action) {
            self.fault(Fault::LaneOverlap { action, device, lane, running });
        }
        match self.devices.get(&device) {
            Some((Change::Down, _)) => self.fault(Fault::BeginsOnDownDevice { action, device }),
            Some((Change::Draining, since)) if issued > *since => {
                self.fault(Fault::BeginsOnDrainingDevice { action, device });
            }
            _ => {}
        }
    }

    fn close(&mut self, action: ActionId, outcome: Closed) {
        let Some(open) = self.open.remove(&action) else {
            return self.fault(Fault::ClosesWithoutIssue { action, outcome });
        };
        let lane = (open.batch.device, open.batch.lane);
        if self.lanes.get(&lane) == Some(&action) {
            self.lanes.remove(&lane);
        }
        self.check_outcome(&open, outcome);
        let done = matches!(outcome, Closed::Done(_));
        self.report.batches_done += u64::from(done);
        for request in &open.batch.requests {
            self.give_back(action, *request, done);
        }
    }

    fn check_outcome(&mut self, open: &Open, outcome: Closed) {
        let (action, device, latest) = (open.batch.action, open.batch.device, open.batch.latest);
        let state = self.devices.get(&device).map(|d| d.0);
        match (outcome, open.began) {
            (Closed::Done(_) | Closed::Preempted, None) => {
                self.fault(Fault::ClosesWithoutBegin { action, outcome });
            }
            (Closed::Done(device_time), Some(began)) => {
                let ran = self.now.since(began);
                let fault = Fault::ComputedLongerThanItRan { action, device_time, ran };
                self.check(device_time <= ran, fault);
                self.check(state != Some(Change::Down), Fault::DoneOnDownDevice { action, device });
            }
            (Closed::Rejected(_) | Closed::Cancelled, Some(began)) => {
                self.fault(Fault::ClosesAfterBegin { action, outcome, began });
            }
            (Closed::Rejected(Refusal::Late), None) => {
                self.check(self.now > latest, Fault::RefusedInsideWindow { action, latest });
            }
            (Closed::Rejected(Refusal::DeviceDown), None) => {
                let fault = Fault::RefusedByDeviceThatIsUp { action, device };
                self.check(state != Some(Change::Up), fault);
            }
            (Closed::Preempted, Some(_)) | (Closed::Rejected(_) | Closed::Cancelled, None) => {}
        }
    }

    /// Takes a request out of a batch that has closed.
    fn give_back(&mut self, action: ActionId, request: RequestId, done: bool) {
        let Some(live) = self.live.get_mut(&request) else { return };
        if live.batch != Some(action) {
            return;
        }
        live.batch = None;
        if done {
            live.done = Some(self.now);
        }
        if live.ended {
            self.live.remove(&request);
        }
    }

    fn end(&mut self, request: RequestId, end: End) {
        let (now, arrived) = (self.now, self.has_arrived(request));
        let Some(live) = self.live.get_mut(&request).filter(|l| !l.ended) else {
            return self.fault(if arrived {
                Fault::EndsTwice { request }
            } else {
                Fault::EndsWithoutArriving { request }
            });
        };
        live.ended = true;
        let (deadline, done) = (live.request.deadline, live.done);
        if live.batch.is_none() {
            self.live.remove(&request);
        }
        self.report.ends[end.index()] += 1;
        match end {
            End::InTime => {
                self.check(now <= deadline, Fault::LateCountedAsGood { request, deadline });
            }
            End::Late => {
                self.check(now > deadline, Fault::GoodCountedAsLate { request, deadline });
            }
            End::Dropped(_) => return,
            End::Pending => return self.pending = Some(request),
        }
        self.check(done.is_some(), Fault::AnsweredBeforeItsBatch { request, end });
    }

    fn device(&mut self, device: DeviceId, change: Change) {
        let before = self.devices.insert(device, (change, self.report.records));
        let gone = matches!(before, Some((Change::Down, _)));
        self.check(!gone, Fault::ChangesAfterGone { device });
    }
}
