//! The world of jobs: who runs, how fast, until when. It decides nothing.
//!
//! # The one mechanism
//! A run has work left and a [`Slowdown`]. In a lane that is `max(1, sum of the busy parts of all running
//! lanes)`: side by side, iterations slow down alike when together they want more than the GPU. On
//! workers it is the [`super::job::Curve`] at the run's width. When it changes, the work done until
//! now is booked (rounded down to whole nanoseconds, so that nothing is served twice) and the run's
//! end moves (rounded up). An iteration that ends at a policy's wish ends exactly: the books never
//! have a part of an iteration left over.
//!
//! # Order within an instant
//! 1. Runs that end, by the numbers of their jobs; 2. stages that begin and jobs that are submitted,
//!    by number; 3. the policy's decision, and again while it stops jobs in this instant.

use super::job::{Bytes, Cluster, Job, JobId, Slowdown};
use super::metrics::Metrics;
use super::policy::{Action, Event, JobPolicy, Known};
use super::record::{JobObserver, LaneId, On, Record};
use super::runs::{Running, Runs};
use crate::event_queue::{EventQueue, Place};
use crate::ordered::sort_by_key;
use crate::time::{Span, Time};

/// A run that is over.
#[derive(Debug)]
pub struct Ran<O> {
    /// When the last job ended.
    pub end: Time,
    /// What watched it.
    pub observer: O,
}

/// What the books have of a lane.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    size: Bytes,
    runs: Option<JobId>,
}

/// Where a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ahead,
    Here,
    In(LaneId),
    Gone,
}

struct World<'a, O> {
    cluster: &'a Cluster,
    jobs: &'a [Job],
    observer: O,
    queue: EventQueue<JobId>,
    runs: Runs,
    left: Vec<Span>,
    states: Vec<State>,
    lanes: Vec<Lane>,
    /// The slowdown that runs in lanes have.
    slowdown: Slowdown,
    now: Time,
}

/// Jobs in the order of their submission, stage by stage.
struct Submissions {
    order: Vec<JobId>,
    next: usize,
    stage: u32,
    began: Time,
    /// Jobs of the stages until now that have not ended.
    open: usize,
}

impl Submissions {
    fn new(jobs: &[Job]) -> Submissions {
        let mut order: Vec<JobId> = (0..jobs.len() as u32).map(JobId).collect();
        sort_by_key(&mut order, |id| {
            let job = &jobs[id.0 as usize];
            (job.stage, job.submitted, *id)
        });
        let mut all = Submissions { order, next: 0, stage: 0, began: Time::ZERO, open: 0 };
        all.enter(jobs, 0, Time::ZERO);
        all
    }

    fn enter(&mut self, jobs: &[Job], stage: u32, now: Time) {
        let of_stage = |id: &&JobId| jobs[id.0 as usize].stage == stage;
        self.open = self.order[self.next..].iter().take_while(of_stage).count();
        (self.stage, self.began) = (stage, now);
    }

    /// A job has ended: perhaps the next stage begins.
    fn ended(&mut self, jobs: &[Job], now: Time) {
        self.open -= 1;
        if self.open == 0 && self.next < self.order.len() {
            self.enter(jobs, self.stage + 1, now);
        }
    }

    fn peek(&self, jobs: &[Job]) -> Option<(Time, JobId)> {
        let id = *self.order.get(self.next)?;
        let job = &jobs[id.0 as usize];
        (job.stage == self.stage).then(|| (job.submitted.max(self.began), id))
    }
}

/// [`simulate`] with metrics, compiled here: a crate that is built quickly rather than well calls this one.
///
/// # Panics
/// As [`simulate`].
#[inline(never)]
pub fn measured(cluster: &Cluster, jobs: &[Job], policy: Box<dyn JobPolicy>) -> Ran<Metrics> {
    simulate(cluster, jobs, policy, Metrics::default())
}

/// Runs the jobs to the last.
///
/// # Panics
/// When the policy asks for what cannot be, or leaves a job alone for ever: only a bug does. Jobs are
/// checked by whoever reads them: each has an iteration of at least 1 ns, fits the GPU if it has lanes,
/// and stages have no gaps.
pub fn simulate<P: JobPolicy, O: JobObserver>(
    cluster: &Cluster,
    jobs: &[Job],
    mut policy: P,
    observer: O,
) -> Ran<O> {
    let mut world = World {
        cluster,
        jobs,
        observer,
        queue: EventQueue::new(),
        runs: Runs::new(jobs.len()),
        left: jobs.iter().map(Job::work).collect(),
        states: vec![State::Ahead; jobs.len()],
        lanes: Vec::new(),
        slowdown: Slowdown::NONE,
        now: Time::ZERO,
    };
    let mut submissions = Submissions::new(jobs);
    let mut actions = Vec::new();
    let mut stopped = Vec::new();
    let mut left = jobs.len();
    loop {
        let end = world.queue.peek().map(Place::time);
        let submission = submissions.peek(jobs).map(|s| s.0);
        let Some(now) = end.into_iter().chain(submission).min() else { break };
        world.now = now;
        world.queue.begin(now);
        while world.queue.peek().is_some_and(|next| next.time() == now) {
            let (_, job) = world.queue.pop().expect("it was there");
            if world.stop(job) == Span::ZERO {
                world.leave(job);
                left -= 1;
                submissions.ended(jobs, now);
                policy.on(now, Event::Done(job), &world.known());
            } else {
                policy.on(now, Event::Step(job), &world.known());
            }
        }
        while let Some((_, job)) = submissions.peek(jobs).filter(|s| s.0 <= now) {
            submissions.next += 1;
            world.states[job.0 as usize] = State::Here;
            world.observer.record(now, &Record::Submit { job, what: jobs[job.0 as usize] });
            policy.on(now, Event::Submit(job), &world.known());
        }
        loop {
            policy.decide(now, &world.known(), &mut actions);
            actions.drain(..).for_each(|action| world.apply(action, &mut stopped));
            if stopped.is_empty() {
                break;
            }
            stopped.sort_unstable();
            stopped.drain(..).for_each(|job| policy.on(now, Event::Step(job), &world.known()));
        }
        world.schedule();
    }
    assert!(left == 0, "{} leaves {left} jobs alone for ever", policy.name());
    world.observer.record(world.now, &Record::Finish);
    Ran { end: world.now, observer: world.observer }
}

impl<O: JobObserver> World<'_, O> {
    fn known(&self) -> Known<'_> {
        Known {
            cluster: self.cluster,
            jobs: self.jobs,
            left: &self.left,
            runs: &self.runs,
            now: self.now,
        }
    }

    fn apply(&mut self, action: Action, stopped: &mut Vec<JobId>) {
        match action {
            Action::Lane(lane, size) => {
                let index = lane.0 as usize;
                self.lanes.resize(self.lanes.len().max(index + 1), Lane::default());
                self.lanes[index].size = size;
                self.observer.record(self.now, &Record::Lane { lane, size });
            }
            Action::Place(job, lane) => {
                assert!(self.states[job.0 as usize] == State::Here, "{job} cannot be placed");
                self.states[job.0 as usize] = State::In(lane);
                self.observer.record(self.now, &Record::Place { job, lane });
            }
            Action::Run(job, steps, on) => self.run(job, steps, on),
            Action::Interrupt(job) => self.interrupt(job, stopped),
        }
    }

    fn run(&mut self, job: JobId, steps: u64, on: On) {
        let (id, what) = (job.0 as usize, &self.jobs[job.0 as usize]);
        assert!(self.runs.find(job).is_none() && steps > 0, "{job} runs already");
        match (self.states[id], &on) {
            (State::In(lane), On::Lane) => {
                let lane = &mut self.lanes[lane.0 as usize];
                assert!(lane.runs.is_none() && what.ephemeral <= lane.size, "{job}: no room");
                lane.runs = Some(job);
                self.runs.busy += u64::from(what.busy);
            }
            (State::Here, On::Part { .. } | On::Workers(_)) => (),
            (state, on) => panic!("{job} is {state:?} and cannot run on {on:?}"),
        }
        let work = self.left[id];
        let until = work.minus(what.iteration * steps);
        let slowdown = on.width().map_or(self.slowdown, |width| self.cluster.curve.at(width));
        self.observer.record(self.now, &Record::Run { job, on: on.clone() });
        let since = self.now;
        self.runs.insert(Running { job, on, since, work, until, slowdown, end: None });
    }

    fn interrupt(&mut self, job: JobId, stopped: &mut Vec<JobId>) {
        let Some(place) = self.runs.find(job) else { return };
        let run = &mut self.runs.all[place];
        let iteration = self.jobs[job.0 as usize].iteration;
        let boundary = run.boundary(self.now, iteration).max(run.until);
        run.until = boundary;
        let at = run.when(boundary);
        let handle = run.end;
        if at == self.now {
            handle.map(|handle| self.queue.cancel(handle));
            self.stop(job);
            stopped.push(job);
        } else if let Some(handle) = handle {
            self.queue.reschedule(handle, at, u64::from(job.0));
        }
    }

    /// Ends a job's run; what it has left.
    fn stop(&mut self, job: JobId) -> Span {
        let run = self.runs.remove(job);
        self.left[job.0 as usize] = run.until;
        if let State::In(lane) = self.states[job.0 as usize] {
            self.lanes[lane.0 as usize].runs = None;
            self.runs.busy -= u64::from(self.jobs[job.0 as usize].busy);
        }
        self.observer.record(self.now, &Record::Stop { job, left: run.until });
        run.until
    }

    fn leave(&mut self, job: JobId) {
        self.states[job.0 as usize] = State::Gone;
        self.observer.record(self.now, &Record::Done { job });
    }

    /// The end of an instant: runs in lanes get the slowdown of all that run now, and what is new
    /// gets its end.
    fn schedule(&mut self) {
        let slowdown = self.runs.in_lanes();
        if slowdown != self.slowdown {
            self.slowdown = slowdown;
            for run in self.runs.all.iter_mut().filter(|run| run.on == On::Lane) {
                (run.work, run.since) = (run.left(self.now), self.now);
                run.slowdown = slowdown;
                if let Some(handle) = run.end {
                    let at = run.when(run.until);
                    self.queue.reschedule(handle, at, u64::from(run.job.0));
                }
            }
        }
        let mut fresh = std::mem::take(&mut self.runs.fresh);
        for job in fresh.drain(..) {
            let Some(place) = self.runs.find(job) else { continue };
            let run = &mut self.runs.all[place];
            if run.end.is_none() {
                let at = run.when(run.until);
                run.end = Some(self.queue.schedule(at, u64::from(job.0), job));
            }
        }
        self.runs.fresh = fresh;
    }
}
