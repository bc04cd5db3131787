//! The jobs that run now: work left, rate and end of each. It schedules nothing.

use super::job::{JobId, Slowdown, WHOLE};
use super::record::On;
use crate::event_queue::Handle;
use crate::time::{Span, Time};

/// A job that runs now.
#[derive(Debug)]
pub(super) struct Running {
    pub job: JobId,
    pub on: On,
    /// The books were last made then,
    pub since: Time,
    /// when the job had this much work left,
    pub work: Span,
    /// and the run ends with this much left.
    pub until: Span,
    pub slowdown: Slowdown,
    /// Its end in the queue; none for a run of this instant.
    pub end: Option<Handle>,
}

impl Running {
    /// The time at which the job has this much work left.
    pub fn when(&self, left: Span) -> Time {
        self.since + self.slowdown.time_of(self.work.minus(left))
    }

    /// The job's work that is left.
    pub fn left(&self, now: Time) -> Span {
        self.work.minus(self.slowdown.work_in(now - self.since)).max(self.until)
    }

    /// The work that is left where the running iteration ends; one that ends now counts.
    pub fn boundary(&self, now: Time, iteration: Span) -> Span {
        let left = self.left(now);
        let above = iteration * left.ns().div_ceil(iteration.ns());
        if above <= self.work && self.when(above) == now {
            return above;
        }
        above.minus(iteration)
    }
}

/// All jobs that run.
#[derive(Debug)]
pub struct Runs {
    /// By job: its place in `all`, or [`NOWHERE`].
    of: Vec<u32>,
    pub(super) all: Vec<Running>,
    /// Those of this instant: they get their end when it is over.
    pub(super) fresh: Vec<JobId>,
    /// The busy parts of those in lanes, summed up.
    pub(super) busy: u64,
}

const NOWHERE: u32 = u32::MAX;

impl Runs {
    /// None of so many jobs.
    pub(super) fn new(jobs: usize) -> Runs {
        Runs { of: vec![NOWHERE; jobs], all: Vec::new(), fresh: Vec::new(), busy: 0 }
    }

    pub(super) fn find(&self, job: JobId) -> Option<usize> {
        let place = self.of[job.0 as usize];
        (place != NOWHERE).then_some(place as usize)
    }

    /// The work that a running job has left.
    pub(super) fn left(&self, job: JobId, now: Time) -> Option<Span> {
        self.find(job).map(|i| self.all[i].left(now))
    }

    pub(super) fn insert(&mut self, run: Running) {
        self.of[run.job.0 as usize] = self.all.len() as u32;
        self.fresh.push(run.job);
        self.all.push(run);
    }

    pub(super) fn remove(&mut self, job: JobId) -> Running {
        let place = self.find(job).expect("a job that runs");
        self.of[job.0 as usize] = NOWHERE;
        let run = self.all.swap_remove(place);
        if let Some(moved) = self.all.get(place) {
            self.of[moved.job.0 as usize] = place as u32;
        }
        run
    }

    pub(super) fn in_lanes(&self) -> Slowdown {
        let one = u64::from(WHOLE);
        Slowdown { numerator: self.busy.max(one), denominator: one }
    }
}
