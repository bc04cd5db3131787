//! What an audit of jobs can find, and the report that it makes. Nothing here looks for faults.

use crate::audit::{verdict, write_findings};
use crate::jobs::job::{Bytes, JobId};
use crate::jobs::record::LaneId;
use crate::time::{Span, Time};
use std::fmt;

/// A rule that a log of jobs breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum Fault {
    // The log as a whole.
    #[error("time runs backwards: it was {before} already")]
    TimeBackwards { before: Time },
    #[error("something happens after the run has finished")]
    AfterFinish,
    #[error("the log ends without a finish: it was cut off")]
    NoFinish,
    #[error("the run finishes later than the last job ended, at {last}")]
    FinishesLate { last: Time },

    // 1. Conservation.
    #[error("{job} is submitted twice")]
    SubmittedTwice { job: JobId },
    #[error("{job} has no iterations, or they take no time")]
    NoWork { job: JobId },
    #[error("{job} was never submitted, or has ended")]
    NotHere { job: JobId },
    #[error(
        "{job} of stage {stage} is submitted while {open} jobs of earlier stages have not ended"
    )]
    StageEarly { job: JobId, stage: u32, open: u64 },
    #[error("{job} of stage {stage} is submitted, and no job of the stage before was")]
    StageSkipped { job: JobId, stage: u32 },
    #[error("{job} of stage {stage} is submitted after jobs of stage {later}")]
    StageLate { job: JobId, stage: u32, later: u32 },
    #[error("{job} ends with {left} of work left")]
    EndsEarly { job: JobId, left: Span },
    #[error("{job} has more work left than before: {left} after {before}")]
    WorkComesBack { job: JobId, left: Span, before: Span },
    #[error("{job} has not ended when the run finishes")]
    LeftWithoutEnd { job: JobId },

    // 2. Memory and lanes.
    #[error(
        "the jobs want {wants} bytes, and the GPU has {memory}: the safety condition is broken"
    )]
    Unsafe { wants: Bytes, memory: Bytes },
    #[error("the lanes have {sizes} bytes together, and the GPU has {memory}")]
    LanesTooLarge { sizes: Bytes, memory: Bytes },
    #[error("{job} needs {ephemeral} bytes for an iteration, and its lane {} has {size}", lane.0)]
    LaneTooSmall { job: JobId, lane: LaneId, ephemeral: Bytes, size: Bytes },
    #[error("{job} is placed in lane {}, and is in lane {} already", lane.0, old.0)]
    InTwoLanes { job: JobId, lane: LaneId, old: LaneId },
    #[error("{job} runs in a lane, and was placed in none")]
    NoLane { job: JobId },
    #[error("{job} runs in lane {}, in which {other} runs", lane.0)]
    LaneRunsTwo { job: JobId, lane: LaneId, other: JobId },

    // 3. Widths.
    #[error("{job} runs on worker {worker}, and there are {workers}")]
    NoSuchWorker { job: JobId, worker: u32, workers: u32 },
    #[error("{job} runs on worker {worker} twice")]
    SameWorkerTwice { job: JobId, worker: u32 },
    #[error("{job} runs on worker {worker}, which has no room for it")]
    WorkerTooFull { job: JobId, worker: u32 },
    #[error("{job} runs at a width of which the log does not say how fast it is")]
    UnknownWidth { job: JobId },

    // 4. Rates.
    #[error("{job} runs, and runs already")]
    RunsTwice { job: JobId },
    #[error("{job} stops, and does not run")]
    StopsWithoutRunning { job: JobId },
    #[error("{job} did {done} of work, and at most {most} can be done in the time that it ran")]
    TooFast { job: JobId, done: Span, most: Span },
    #[error("{job} did {done} of work, and at least {least} is done in the time that it ran")]
    TooSlow { job: JobId, done: Span, least: Span },

    // 5. Steps.
    #[error("{job} stops within an iteration, with {left} of work left")]
    StopsWithinAnIteration { job: JobId, left: Span },
}

/// A fault and where it is.
pub type Finding = crate::audit::Finding<Fault>;

/// What an audit found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Records read.
    pub records: u64,
    /// Jobs that were submitted.
    pub jobs: u64,
    /// Jobs that ended.
    pub done: u64,
    /// All faults; the first [`Report::FAULTS_MAX`] are kept.
    pub fault_count: u64,
    /// The first of them.
    pub faults: Vec<Finding>,
}

impl Report {
    /// More faults are counted only.
    pub const FAULTS_MAX: usize = 100;

    /// What no log of jobs shows.
    pub const UNSEEN: &'static [&'static str] = &[
        "whether the policy chose the right job, lane or width",
        "when a later stage of jobs should have been submitted, only that it was not too early",
        "iterations between `run` and `stop`: only that they are whole and took the right time",
    ];

    /// Whether nothing was found.
    pub fn is_clean(&self) -> bool {
        self.fault_count == 0
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = verdict(self.fault_count);
        let Report { records, jobs, done, .. } = self;
        writeln!(f, "audit: {verdict}; {records} records, {jobs} jobs, {done} done")?;
        write_findings(f, &self.faults, self.fault_count, Report::UNSEEN.iter())
    }
}
