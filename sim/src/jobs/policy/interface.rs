//! What a policy of jobs is told, may look at and answers; how it is built.

use crate::jobs::job::{Bytes, Cluster, Job, JobId};
use crate::jobs::record::{LaneId, On};
use crate::jobs::runs::Runs;
use crate::policy::parameters::{About, Named, Preset};
use crate::time::{Span, Time};

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A job is here.
    Submit(JobId),
    /// A job's run has ended with an iteration, and the job has more of them.
    Step(JobId),
    /// A job has ended and left; what it had is free.
    Done(JobId),
}

/// What a scheduler of jobs may tell the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Open a lane, or give it another size; a size of nothing closes it. A lane shrinks only to
    /// what its jobs still fit in.
    Lane(LaneId, Bytes),
    /// Admit a job to a lane.
    Place(JobId, LaneId),
    /// Run this many of a job's next iterations.
    Run(JobId, u64, On),
    /// End a job's run with its running iteration: at once, if one ends now. Nothing, if it does not run.
    Interrupt(JobId),
}

/// What a policy may look at.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// What the jobs share.
    pub cluster: &'a Cluster,
    /// The jobs. A policy looks only at those that were submitted.
    pub jobs: &'a [Job],
    /// The work left of each, without what its present run has done.
    pub(in crate::jobs) left: &'a [Span],
    pub(in crate::jobs) runs: &'a Runs,
    /// The time.
    pub now: Time,
}

impl Known<'_> {
    /// A job.
    pub fn job(&self, job: JobId) -> &Job {
        &self.jobs[job.0 as usize]
    }

    /// The work that a job has left now, as time on one device.
    pub fn left(&self, job: JobId) -> Span {
        self.runs.left(job, self.now).unwrap_or(self.left[job.0 as usize])
    }

    /// The work of a job that is done.
    pub fn used(&self, job: JobId) -> Span {
        self.job(job).work().minus(self.left(job))
    }
}

/// A policy of jobs. Within an instant it is told all that has happened (jobs that stopped, in the order
/// of their numbers, then jobs that are submitted), and asked once what to do; if that stops a job in
/// the same instant, it is told and asked again.
pub trait JobPolicy {
    /// Its name with its parameters.
    fn name(&self) -> String;
    /// Is told.
    fn on(&mut self, now: Time, event: Event, known: &Known<'_>);
    /// Is asked.
    fn decide(&mut self, now: Time, known: &Known<'_>, out: &mut Vec<Action>);
}

impl<P: JobPolicy + ?Sized> JobPolicy for Box<P> {
    fn name(&self) -> String {
        (**self).name()
    }
    fn on(&mut self, now: Time, event: Event, known: &Known<'_>) {
        (**self).on(now, event, known);
    }
    fn decide(&mut self, now: Time, known: &Known<'_>, out: &mut Vec<Action>) {
        (**self).decide(now, known, out);
    }
}

/// A policy of jobs with its parameters, whatever policy it is.
pub trait Configured: Named {
    /// The policy before its start.
    fn build(&self) -> Box<dyn JobPolicy>;
    /// Whether it places jobs in lanes of a GPU, in place of widths on workers.
    fn has_lanes(&self) -> bool;
}

/// What every policy of jobs says of its one preset.
pub(super) const fn preset<C>(make: fn() -> C, what: &'static str) -> Preset<C> {
    Preset { name: "default", what, make }
}

/// What a policy of jobs is; `paper` names the dissertation's chapter.
pub(super) const fn about(name: &'static str, what: &'static str, paper: &'static str) -> About {
    About { name, what, paper }
}
