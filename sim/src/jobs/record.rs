//! What happens in a run of jobs: the records that metrics, log and auditor are given.

use super::job::{Bytes, Job, JobId, Width};
use crate::time::{Span, Time};

/// A lane's number; numbers are never used again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LaneId(pub u32);

/// Where a job runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum On {
    /// In the lane that it was placed in.
    Lane,
    /// On one of so many equal parts of a worker.
    Part {
        /// The worker's number.
        worker: u32,
        /// Into how many parts it is divided.
        parts: u32,
    },
    /// On these whole workers.
    Workers(Vec<u32>),
}

impl On {
    /// The width; `None` in a lane.
    pub fn width(&self) -> Option<Width> {
        match self {
            On::Lane => None,
            On::Part { parts, .. } => Some(Width::Part(*parts)),
            On::Workers(workers) => Some(Width::Workers(workers.len() as u32)),
        }
    }
}

/// One fact of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A job is submitted.
    Submit {
        /// The job's number, in the order of arrival.
        job: JobId,
        /// The job as it was submitted.
        what: Job,
    },
    /// A lane is opened, or gets another size; a size of nothing closes it.
    Lane {
        /// The lane whose memory changes.
        lane: LaneId,
        /// Its size from now on.
        size: Bytes,
    },
    /// A job is admitted to a lane: it holds its persistent memory from now on.
    Place {
        /// The job's number, in the order of arrival.
        job: JobId,
        /// Where.
        lane: LaneId,
    },
    /// A job begins to run its next iterations.
    Run {
        /// The job's number, in the order of arrival.
        job: JobId,
        /// Where.
        on: On,
    },
    /// A job stops running, with this much work left.
    Stop {
        /// The job's number, in the order of arrival.
        job: JobId,
        /// Its work that is left, as time on one device.
        left: Span,
    },
    /// A job has ended and leaves.
    Done {
        /// The job's number, in the order of arrival.
        job: JobId,
    },
    /// The run is over.
    Finish,
}

/// Watches a run of jobs. It cannot change it.
pub trait JobObserver {
    /// The next fact; times never run backwards.
    fn record(&mut self, now: Time, record: &Record);
}

impl JobObserver for () {
    fn record(&mut self, _: Time, _: &Record) {}
}

impl<A: JobObserver, B: JobObserver> JobObserver for (A, B) {
    fn record(&mut self, now: Time, record: &Record) {
        self.0.record(now, record);
        self.1.record(now, record);
    }
}

/// Every record with its time.
impl JobObserver for Vec<(Time, Record)> {
    fn record(&mut self, now: Time, record: &Record) {
        self.push((now, record.clone()));
    }
}
