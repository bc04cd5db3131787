//! The auditor of jobs: reads the records of a run and says which rules of the world they break.
//!
//! It shares no code with the [`super::world`], and knows nothing but the records and the
//! [`Terms`] before them. [`Report::UNSEEN`] lists what they do not show.
//!
//! # The rules
//! 1. *Conservation.* A job is submitted once, ends once, and ends with no work left. Stages follow one
//!    another, without a gap. The run finishes when its last job ends.
//! 2. *Safety.* At every record, the persistent memory of all admitted jobs and the largest iteration of
//!    each lane fit the GPU together; so do the lanes. A job is in one lane that it fits, and a lane runs
//!    one job at a time.
//! 3. *Widths.* What runs on a worker takes at most all of it; `k` workers are `k` different ones.
//! 4. *Rates.* A job does as much work as its slowdown allows, and no less than that but for roundings: a
//!    nanosecond for each change of its rate.
//! 5. *Steps.* A job stops only between iterations.

mod fault;
#[cfg(test)]
mod tests;

pub use fault::{Fault, Finding, Report};

use super::job::{Bytes, Job, JobId, Slowdown, Width};
use super::log::Terms;
use super::record::{JobObserver, LaneId, On, Record};
use crate::ordered::{ById, SortedMap};
use crate::time::{Span, Time};

/// Audits the records of a run.
pub fn audit(terms: Terms, records: impl IntoIterator<Item = (Time, Record)>) -> Report {
    let mut auditor = Auditor::new(terms);
    records.into_iter().for_each(|(now, record)| auditor.record(now, &record));
    auditor.finish()
}

/// The auditor: give it every record, in order. It can watch a run while it runs.
#[derive(Debug, Default)]
pub struct Auditor {
    terms: Terms,
    line: Option<u64>,
    now: Time,
    finished: bool,
    last_end: Time,
    submitted: ById<()>,
    /// Jobs that have not ended, by stage; a stage without any stays.
    open: SortedMap<u32, u64>,
    alive: ById<Alive>,
    lanes: SortedMap<LaneId, Lane>,
    persistent: u128,
    sizes: u128,
    /// The largest iterations of all lanes, summed up.
    largest: u128,
    busy: u128,
    /// What a run in a lane has done since the beginning, in 2^-32 ns: at most and at least; and how
    /// often its rate has changed.
    lane_clock: (u128, u128, u64),
    /// By worker, who has how many parts of it: (job, parts).
    workers: SortedMap<u32, Vec<(JobId, u32)>>,
    report: Report,
}

#[derive(Debug)]
struct Alive {
    what: Job,
    left: Span,
    lane: Option<LaneId>,
    run: Option<Run>,
}

#[derive(Debug)]
struct Run {
    on: On,
    since: Time,
    clock: (u128, u128, u64),
}

#[derive(Debug, Default)]
struct Lane {
    size: Bytes,
    jobs: Vec<(JobId, Bytes)>,
    runs: Option<JobId>,
}

impl Lane {
    fn largest(&self) -> u128 {
        self.jobs.iter().map(|j| u128::from(j.1)).max().unwrap_or(0)
    }
}

const FINE: u32 = 32;

impl JobObserver for Auditor {
    fn record(&mut self, now: Time, record: &Record) {
        self.report.records += 1;
        if now < self.now {
            self.fault(Fault::TimeBackwards { before: self.now });
        }
        self.advance(now);
        if self.finished {
            self.fault(Fault::AfterFinish);
        }
        match record {
            Record::Submit { job, what } => self.submit(*job, *what),
            Record::Lane { lane, size } => self.resize(*lane, *size),
            Record::Place { job, lane } => self.place(*job, *lane),
            Record::Run { job, on } => self.run(*job, on.clone()),
            Record::Stop { job, left } => self.stop(*job, *left),
            Record::Done { job } => self.done(*job),
            Record::Finish => {
                self.finished = true;
                if self.now > self.last_end {
                    self.fault(Fault::FinishesLate { last: self.last_end });
                }
            }
        }
    }
}

impl Auditor {
    /// An auditor that holds the run to these terms.
    pub fn new(terms: Terms) -> Auditor {
        Auditor { terms, ..Auditor::default() }
    }

    /// The next records come from this line of a file.
    pub fn at_line(&mut self, line: u64) {
        self.line = Some(line);
    }

    /// What was found. Jobs that have not ended are found here.
    pub fn finish(mut self) -> Report {
        if !self.finished {
            self.fault(Fault::NoFinish);
        }
        for (job, _) in std::mem::take(&mut self.alive).iter() {
            let job = JobId(job as u32);
            self.fault(Fault::LeftWithoutEnd { job });
        }
        self.report
    }

    fn fault(&mut self, fault: Fault) {
        self.report.fault_count += 1;
        if self.report.faults.len() < Report::FAULTS_MAX {
            let (record, line, time) = (self.report.records, self.line, self.now);
            self.report.faults.push(Finding { record, line, time, fault });
        }
    }

    /// Runs in lanes go on: at one over the larger of one and their busy parts.
    fn advance(&mut self, now: Time) {
        let passed = u128::from(now.since(self.now).ns());
        self.now = self.now.max(now);
        let fine = (passed * 1_000_000) << FINE;
        let rate = self.busy.max(1_000_000);
        self.lane_clock.0 += fine.div_ceil(rate);
        self.lane_clock.1 += fine / rate;
    }

    fn submit(&mut self, job: JobId, what: Job) {
        self.report.jobs += 1;
        if self.submitted.insert(job.0.into(), ()).is_some() {
            return self.fault(Fault::SubmittedTwice { job });
        }
        if what.iterations == 0 || what.iteration == Span::ZERO {
            return self.fault(Fault::NoWork { job });
        }
        let stage = what.stage;
        let open = self.open.range(..stage).iter().map(|s| s.1).sum();
        if open > 0 {
            self.fault(Fault::StageEarly { job, stage, open });
        }
        if stage > 0 && !self.open.contains_key(&(stage - 1)) {
            self.fault(Fault::StageSkipped { job, stage });
        }
        if let Some(later) = self.open.last().map(|last| last.0).filter(|last| *last > stage) {
            self.fault(Fault::StageLate { job, stage, later });
        }
        *self.open.get_or_default(stage) += 1;
        let left = Span::from_ns(what.iteration.ns().saturating_mul(what.iterations));
        self.alive.insert(job.0.into(), Alive { what, left, lane: None, run: None });
    }

    fn resize(&mut self, id: LaneId, size: Bytes) {
        let lane = self.lanes.get_or_default(id);
        self.sizes = self.sizes + u128::from(size) - u128::from(lane.size);
        lane.size = size;
        let small = lane.jobs.iter().find(|j| j.1 > size).copied();
        if lane.jobs.is_empty() && size == 0 {
            self.lanes.remove(&id);
        }
        if let Some((job, ephemeral)) = small {
            self.fault(Fault::LaneTooSmall { job, lane: id, ephemeral, size });
        }
        let memory = self.terms.memory;
        if self.sizes > u128::from(memory) {
            let sizes = Bytes::try_from(self.sizes).unwrap_or(Bytes::MAX);
            self.fault(Fault::LanesTooLarge { sizes, memory });
        }
    }

    fn place(&mut self, job: JobId, id: LaneId) {
        let Some(alive) = self.alive.get_mut(job.0.into()) else {
            return self.fault(Fault::NotHere { job });
        };
        if let Some(old) = alive.lane {
            return self.fault(Fault::InTwoLanes { job, lane: id, old });
        }
        alive.lane = Some(id);
        let (persistent, ephemeral) = (alive.what.persistent, alive.what.ephemeral);
        let lane = self.lanes.get_or_default(id);
        let before = lane.largest();
        lane.jobs.push((job, ephemeral));
        self.largest = self.largest + lane.largest() - before;
        self.persistent += u128::from(persistent);
        let size = lane.size;
        if ephemeral > size {
            self.fault(Fault::LaneTooSmall { job, lane: id, ephemeral, size });
        }
        let (wants, memory) = (self.persistent + self.largest, self.terms.memory);
        if wants > u128::from(memory) {
            let wants = Bytes::try_from(wants).unwrap_or(Bytes::MAX);
            self.fault(Fault::Unsafe { wants, memory });
        }
    }

    fn run(&mut self, job: JobId, on: On) {
        let Some(alive) = self.alive.get(job.0.into()) else {
            return self.fault(Fault::NotHere { job });
        };
        if alive.run.is_some() {
            return self.fault(Fault::RunsTwice { job });
        }
        let (lane, busy) = (alive.lane, u128::from(alive.what.busy));
        match &on {
            On::Lane => {
                let Some(id) = lane else { return self.fault(Fault::NoLane { job }) };
                let lane = self.lanes.get_or_default(id);
                if let Some(other) = lane.runs.replace(job) {
                    self.fault(Fault::LaneRunsTwo { job, lane: id, other });
                }
                self.busy += busy;
                self.lane_clock.2 += 1;
            }
            On::Part { worker, parts } => self.take(job, *worker, *parts),
            On::Workers(workers) => workers.iter().for_each(|w| self.take(job, *w, 1)),
        }
        let run = Run { on, since: self.now, clock: self.lane_clock };
        self.alive.get_mut(job.0.into()).expect("it was there").run = Some(run);
    }

    fn take(&mut self, job: JobId, worker: u32, parts: u32) {
        let workers = self.terms.workers;
        if worker >= workers {
            return self.fault(Fault::NoSuchWorker { job, worker, workers });
        }
        let users = self.workers.get_or_default(worker);
        let is_twice = users.iter().any(|u| u.0 == job);
        users.push((job, parts));
        let is_full = more_than_one(users.iter().map(|u| u.1));
        if is_twice {
            self.fault(Fault::SameWorkerTwice { job, worker });
        } else if is_full {
            self.fault(Fault::WorkerTooFull { job, worker });
        }
    }

    fn stop(&mut self, job: JobId, left: Span) {
        let Some(alive) = self.alive.get_mut(job.0.into()) else {
            return self.fault(Fault::NotHere { job });
        };
        let Some(run) = alive.run.take() else {
            return self.fault(Fault::StopsWithoutRunning { job });
        };
        let (before, iteration) = (std::mem::replace(&mut alive.left, left), alive.what.iteration);
        let (lane, busy) = (alive.lane, u128::from(alive.what.busy));
        if let On::Lane = run.on {
            self.busy -= busy;
            self.lane_clock.2 += 1;
            if let Some(lane) = lane.and_then(|id| self.lanes.get_mut(&id)) {
                lane.runs = lane.runs.filter(|other| *other != job);
            }
        }
        let workers = match &run.on {
            On::Lane => &[][..],
            On::Part { worker, .. } => std::slice::from_ref(worker),
            On::Workers(workers) => workers,
        };
        for worker in workers {
            self.workers.get_or_default(*worker).retain(|u| u.0 != job);
        }
        if !left.ns().is_multiple_of(iteration.ns()) {
            self.fault(Fault::StopsWithinAnIteration { job, left });
        }
        if left > before {
            return self.fault(Fault::WorkComesBack { job, left, before });
        }
        let done = before.minus(left);
        let Some((least, most)) = self.served(&run) else {
            return self.fault(Fault::UnknownWidth { job });
        };
        if done > most {
            self.fault(Fault::TooFast { job, done, most });
        }
        if done < least {
            self.fault(Fault::TooSlow { job, done, least });
        }
    }

    /// What a run can have done until now: at least and at most.
    fn served(&self, run: &Run) -> Option<(Span, Span)> {
        let ns = |work: u128| Span::from_ns(u64::try_from(work).unwrap_or(u64::MAX));
        let Some(width) = run.on.width() else {
            let most = (self.lane_clock.0 - run.clock.0) >> FINE;
            let least = (self.lane_clock.1 - run.clock.1) >> FINE;
            // Each change of the rate may lose a part of a nanosecond, and the end is rounded up.
            let lost = u128::from(self.lane_clock.2 - run.clock.2) + 2;
            return Some((ns(least.saturating_sub(lost)), ns(most)));
        };
        let known = |w: &&(Width, Slowdown)| w.0 == width;
        let slowdown = self.terms.slowdowns.iter().find(known)?.1;
        let passed = u128::from(self.now.since(run.since).ns());
        let most = passed * u128::from(slowdown.denominator) / u128::from(slowdown.numerator);
        // A nanosecond on many workers is several of work.
        let lost = u128::from(slowdown.denominator / slowdown.numerator) + 2;
        Some((ns(most.saturating_sub(lost)), ns(most)))
    }

    fn done(&mut self, job: JobId) {
        let Some(alive) = self.alive.remove(job.0.into()) else {
            return self.fault(Fault::NotHere { job });
        };
        self.report.done += 1;
        self.last_end = self.now;
        let open = self.open.get_mut(&alive.what.stage).expect("a job of it was submitted");
        *open -= 1;
        if let Some(lane) = alive.lane.and_then(|id| self.lanes.get_mut(&id)) {
            let before = lane.largest();
            lane.jobs.retain(|j| j.0 != job);
            self.largest = self.largest + lane.largest() - before;
            self.persistent -= u128::from(alive.what.persistent);
        }
        if alive.left > Span::ZERO || alive.run.is_some() {
            self.fault(Fault::EndsEarly { job, left: alive.left });
        }
    }
}

/// Whether these parts of a worker are more than all of it.
fn more_than_one(parts: impl Iterator<Item = u32> + Clone) -> bool {
    // Sum of 1/c as a fraction; parts are few and small.
    let exact = parts.clone().try_fold((0u128, 1u128), |(above, below), c| {
        let c = u128::from(c);
        let (above, below) = (above.checked_mul(c)?.checked_add(below)?, below.checked_mul(c)?);
        let (mut a, mut b) = (above, below);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        Some((above / a, below / a))
    });
    match exact {
        Some((above, below)) => above > below,
        // A log may say what no policy does.
        None => parts.map(|c| 1.0 / f64::from(c)).sum::<f64>() > 1.0,
    }
}
