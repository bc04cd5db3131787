//! What an audit can find, and the report that it makes.
//!
//! Nothing here looks for faults; that is [`super::Auditor`].

use crate::log::Closed;
use crate::request::{ActionId, AppId, DeviceId, End, ModelId, RequestId};
use crate::time::{Span, Time};
use std::fmt;

/// One rule that the log breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum Fault {
    // The log as a whole.
    #[error("time runs backwards: it was {before} already")]
    TimeBackwards { before: Time },
    #[error("something happens after the run has finished")]
    AfterFinish,
    #[error("the run goes on after {request} was recorded as pending at its end")]
    AfterPending { request: RequestId },
    #[error("the log ends without a finish: it was cut off")]
    NoFinish,
    #[error("{request} was recorded as pending at {at}, and the run finishes now")]
    PendingBeforeFinish { request: RequestId, at: Time },

    // Names and terms.
    #[error("{request} is of {app}, which the log does not name")]
    UnknownApp { request: RequestId, app: AppId },
    #[error("{request} asks for {model}, which the log does not name")]
    UnknownModel { request: RequestId, model: ModelId },
    #[error("{request} of {app} asks for {model}, and {app} asks for {wants}")]
    AppOfAnotherModel { request: RequestId, app: AppId, model: ModelId, wants: ModelId },
    #[error("{request} has the deadline {deadline}, which is not its arrival and its SLO of {slo}")]
    DeadlineMoved { request: RequestId, deadline: Time, slo: Span },
    #[error("{request} has the deadline {deadline}, before its arrival {arrival}")]
    DeadlineBeforeArrival { request: RequestId, deadline: Time, arrival: Time },
    #[error("{device} is left out by the terms of the log")]
    DeviceWithoutTerms { device: DeviceId },

    // Conservation.
    #[error("{request} arrives twice")]
    ArrivesTwice { request: RequestId },
    #[error("{request} arrives out of order: {expected} is next")]
    ArrivalSkipped { request: RequestId, expected: RequestId },
    #[error("{request} arrived at {arrival}, and its arrival is recorded now")]
    ArrivalAtAnotherTime { request: RequestId, arrival: Time },
    #[error("{request} ends and never arrived")]
    EndsWithoutArriving { request: RequestId },
    #[error("{request} ends twice")]
    EndsTwice { request: RequestId },
    #[error("{request} arrived at {arrival} and has no end when the run finishes")]
    LeftWithoutEnd { request: RequestId, arrival: Time },

    // Ends.
    #[error("{request} is answered ({}), but no batch with it has closed as done", end.word())]
    AnsweredBeforeItsBatch { request: RequestId, end: End },
    #[error("{request} is answered, but the others of its {action} were at {others}")]
    AnsweredApart { request: RequestId, action: ActionId, others: Time },
    #[error("{request} is counted as on time, after its deadline {deadline}")]
    LateCountedAsGood { request: RequestId, deadline: Time },
    #[error("{request} is dropped as expired, before its deadline {deadline}")]
    ExpiredBeforeDeadline { request: RequestId, deadline: Time },
    #[error("{request} is counted as late, not after its deadline {deadline}")]
    GoodCountedAsLate { request: RequestId, deadline: Time },

    // Batches as issued.
    #[error("{action} is issued, but ids had reached {expected}")]
    ActionReused { action: ActionId, expected: ActionId },
    #[error("{action} has no requests")]
    EmptyBatch { action: ActionId },
    #[error("{action} goes to {device}, which was never announced")]
    UnknownDevice { action: ActionId, device: DeviceId },
    #[error("{action} goes to lane {lane} of {device}, which does not have it")]
    NoSuchLane { action: ActionId, device: DeviceId, lane: u8 },
    #[error("{action} contains {request}, which never arrived")]
    RunsWithoutArriving { action: ActionId, request: RequestId },
    #[error("{action} contains {request}, which has ended")]
    RunsAfterEnd { action: ActionId, request: RequestId },
    #[error("{action} contains {request}, which a batch that closed as done at {done} contained")]
    RunsTwice { action: ActionId, request: RequestId, done: Time },
    #[error("{action} contains {request}, which the open {other} contains")]
    InTwoBatches { action: ActionId, request: RequestId, other: ActionId },
    #[error("{action} runs {batch} and contains {request}, which asks for {wants}")]
    WrongModel { action: ActionId, batch: ModelId, request: RequestId, wants: ModelId },
    #[error("{action} computes {units} units for requests of {size} together")]
    TooFewUnits { action: ActionId, units: u32, size: u64 },

    // Batches as run.
    #[error("{action} begins and is not open")]
    BeginsWithoutIssue { action: ActionId },
    #[error("{action} begins twice: first at {first}")]
    BeginsTwice { action: ActionId, first: Time },
    #[error("{action} begins before its earliest start {earliest}")]
    BeginsTooEarly { action: ActionId, earliest: Time },
    #[error("{action} begins after its latest start {latest}")]
    BeginsTooLate { action: ActionId, latest: Time },
    #[error("{action} begins on {device}, where lane {lane} still runs {running}")]
    LaneOverlap { action: ActionId, device: DeviceId, lane: u8, running: ActionId },
    #[error("{action} begins on {device}, which is down")]
    BeginsOnDownDevice { action: ActionId, device: DeviceId },
    #[error("{action} begins on {device}, which was draining when it was issued")]
    BeginsOnDrainingDevice { action: ActionId, device: DeviceId },

    // Batches as closed.
    #[error("{action} closes ({}) and is not open", outcome.word())]
    ClosesWithoutIssue { action: ActionId, outcome: Closed },
    #[error("{action} closes as {} and never began", outcome.word())]
    ClosesWithoutBegin { action: ActionId, outcome: Closed },
    #[error("{action} closes as {}, but began at {began}", outcome.word())]
    ClosesAfterBegin { action: ActionId, outcome: Closed, began: Time },
    #[error("{action} is refused as late, inside its window: latest is {latest}")]
    RefusedInsideWindow { action: ActionId, latest: Time },
    #[error("{action} is refused because {device} is not up, and it is up")]
    RefusedByDeviceThatIsUp { action: ActionId, device: DeviceId },
    #[error("{action} is stopped on {device}, which cannot preempt and has not failed")]
    PreemptedWhereItCannot { action: ActionId, device: DeviceId },
    #[error("{action} is done on {device}, which is down")]
    DoneOnDownDevice { action: ActionId, device: DeviceId },
    #[error("{action} computed for {device_time}, but ran for {ran} only")]
    ComputedLongerThanItRan { action: ActionId, device_time: Span, ran: Span },
    #[error("{action} computed for {device_time}, but its share of the device was {got} only")]
    ClosesBeforeItsShare { action: ActionId, device_time: Span, got: Span },

    // Loads and memory.
    #[error("{action} begins on {device}, where {model} is not")]
    RunsAbsentModel { action: ActionId, device: DeviceId, model: ModelId },
    #[error("{action} begins to load on {device}, which still loads by {running}")]
    LoadOverlap { action: ActionId, device: DeviceId, running: ActionId },
    #[error(
        "{action} loads {model} on {device}, which then has {used} pages in use and {pages} in all"
    )]
    TooManyPages { action: ActionId, device: DeviceId, model: ModelId, used: u64, pages: u32 },
    #[error("{model} leaves {device}, which runs it in {action}")]
    UnloadsModelInUse { device: DeviceId, model: ModelId, action: ActionId },
    #[error("{model} leaves {device}, where it is not")]
    UnloadsAbsentModel { device: DeviceId, model: ModelId },
    #[error("{action} is refused because {model} is not on {device}, and it is there")]
    RefusedWithItsModel { action: ActionId, device: DeviceId, model: ModelId },
    #[error("{action} is refused for want of memory on {device}, where there is room for it")]
    RefusedWithRoom { action: ActionId, device: DeviceId },

    // Devices.
    #[error("{device} changes after it was gone")]
    ChangesAfterGone { device: DeviceId },
    #[error("{device} is said to be {change}, which does not follow what it was")]
    ChangesOutOfOrder { device: DeviceId, change: &'static str },
}

impl Fault {
    /// The variant's name: `LateCountedAsGood`.
    pub fn name(&self) -> String {
        variant(self)
    }
}

/// The name of a fault's variant.
fn variant(fault: &impl fmt::Debug) -> String {
    let text = format!("{fault:?}");
    text.split([' ', '{']).next().unwrap_or_default().to_owned()
}

/// A fault and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding<F = Fault> {
    /// The record's number, from 1.
    pub record: u64,
    /// Its line, where the log was read from a file.
    pub line: Option<u64>,
    /// The record's time.
    pub time: Time,
    /// What is wrong.
    pub fault: F,
}

impl<F: fmt::Debug> Finding<F> {
    /// The name of the fault's variant.
    pub fn name(&self) -> String {
        variant(&self.fault)
    }
}

impl<F: fmt::Debug + fmt::Display> fmt::Display for Finding<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { record, line, time, fault } = self;
        let line = line.map(|line| format!(" (line {line})")).unwrap_or_default();
        write!(f, "record {record}{line}, at {time}: {}: {fault}", self.name())
    }
}

/// What an audit found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Records read.
    pub records: u64,
    /// Requests that arrived.
    pub requests: u64,
    /// Requests by how they ended, in the order of [`End::ALL`].
    pub ends: [u64; End::ALL.len()],
    /// What all that ended cost, millionths; `None` where the log says no costs.
    pub cost: Option<u128>,
    /// Batches issued.
    pub batches: u64,
    /// Batches that ran to their end.
    pub batches_done: u64,
    /// Loads that ran to their end.
    pub loads_done: u64,
    /// The first faults, at most [`Report::FAULTS_MAX`].
    pub faults: Vec<Finding>,
    /// Faults in all.
    pub fault_count: u64,
    /// Whether the log says nothing of lanes, preemption, SLOs and applications.
    pub without_terms: bool,
}

impl Report {
    /// Faults that are kept; the others are only counted.
    pub const FAULTS_MAX: usize = 100;

    /// What no schedule log shows, so that no audit can find a fault in it.
    pub const UNSEEN: [&'static str; 5] = [
        "how long a batch should have taken, and by how much requests were padded",
        "when messages were sent: a batch, a result or all answers of a batch that are late",
        "windows, SLOs, sizes and sources other than those that were meant, where the log says them",
        "who stopped, refused or dropped what, and whether the reason was true, expiry apart",
        "whether the policy's choices were those of its paper",
    ];

    /// What this log does not show because it has no terms.
    pub const UNSEEN_WITHOUT_TERMS: &'static str = "lanes, preemption, memory, SLOs and \
         applications: the log has no terms";

    /// Whether no rule is broken.
    pub fn is_clean(&self) -> bool {
        self.fault_count == 0
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = verdict(self.fault_count);
        let Report { records, requests, batches, batches_done, .. } = self;
        writeln!(
            f,
            "audit: {verdict}; {records} records, {requests} requests, {batches} batches issued, \
             {batches_done} done"
        )?;
        if self.loads_done > 0 {
            writeln!(f, "  {} loads done", self.loads_done)?;
        }
        for (end, count) in End::ALL.iter().zip(self.ends).filter(|e| e.1 > 0) {
            writeln!(f, "  {:<22} {count}", end.word())?;
        }
        if let Some(cost) = self.cost {
            let ended: u64 = self.ends.iter().sum();
            let mean = cost as f64 / 1e6 / ended.max(1) as f64;
            writeln!(f, "  {:<22} {mean:.6}", "mean cost")?;
        }
        let without_terms = self.without_terms.then_some(Report::UNSEEN_WITHOUT_TERMS);
        let unseen = without_terms.iter().chain(&Report::UNSEEN);
        write_findings(f, &self.faults, self.fault_count, unseen)
    }
}

/// `clean`, or how many faults there are.
pub(crate) fn verdict(faults: u64) -> String {
    match faults {
        0 => "clean".to_owned(),
        1 => "1 fault".to_owned(),
        n => format!("{n} faults"),
    }
}

/// The end of a report: the faults that were kept of so many, and what no log of this kind shows.
pub(crate) fn write_findings<'a, F: fmt::Debug + fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    kept: &[Finding<F>],
    faults: u64,
    mut unseen: impl Iterator<Item = &'a &'static str>,
) -> fmt::Result {
    kept.iter().try_for_each(|finding| writeln!(f, "  {finding}"))?;
    match faults - kept.len() as u64 {
        0 => {}
        more => writeln!(f, "  and {more} more")?,
    }
    writeln!(f, "not seen by an audit:")?;
    unseen.try_for_each(|what| writeln!(f, "  {what}"))
}
