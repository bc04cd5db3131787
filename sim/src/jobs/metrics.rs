//! The metrics of a run of jobs, from its records.

#[cfg(test)]
mod tests;

use super::job::{Job, JobId, WHOLE};
use super::record::{JobObserver, On, Record};
use crate::stats::between_neighbours;
use crate::time::{Span, Time};

/// What is known of a job that has ended, or of one that has not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Life {
    /// What it was.
    pub what: Job,
    /// When it was submitted; a later stage begins later than its jobs say.
    pub submitted: Time,
    /// When it was admitted to a lane, or got its first width.
    pub placed: Option<Time>,
    /// When it first ran.
    pub first: Option<Time>,
    /// When it ended.
    pub end: Option<Time>,
}

impl Life {
    /// From its submission to its end.
    pub fn jct(&self) -> Option<Span> {
        self.end.map(|end| end - self.submitted)
    }
}

/// Watches a run and keeps what the metrics need: a line for each job.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    lives: Vec<Life>,
    begin: Option<Time>,
    now: Time,
    /// By lane: who ran last.
    last: Vec<Option<JobId>>,
    lane_of: Vec<u32>,
    /// By job: its width when it last ran.
    widths: Vec<Option<u64>>,
    switches: u64,
    resident: u64,
    /// Jobs times nanoseconds.
    resident_ns: u128,
    /// Workers in millionths, and their nanoseconds: what is taken now, and summed up.
    taken: u128,
    taken_ns: u128,
    /// Busy parts times the work done in lanes.
    busy_ns: u128,
    in_lanes: bool,
}

/// All of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Total {
    /// Jobs that have ended.
    pub jobs: u64,
    /// From the first submission to the last end.
    pub makespan: Span,
    /// From submission to end: mean over jobs.
    pub jct_mean: Span,
    /// From submission to admission (a lane, or the first width): mean over jobs.
    pub queueing_mean: Span,
    /// From submission to the first iteration's begin: mean over jobs.
    pub first_service_mean: Span,
    /// The busy part of a GPU, or of all workers, over the makespan.
    pub busy_fraction: f64,
    /// Jobs that were admitted and had not ended: mean over the makespan.
    pub resident_mean: f64,
    /// How often another job's iteration was next in a lane, or a trial's width was another.
    pub switches: u64,
    /// Work that was done, as time on one device.
    pub work: Span,
}

/// As many millionths of a worker as a width takes.
fn share(on: &On) -> u64 {
    match on {
        On::Lane => 0,
        On::Part { parts, .. } => u64::from(WHOLE) / u64::from(*parts),
        On::Workers(workers) => u64::from(WHOLE) * workers.len() as u64,
    }
}

fn grown<T: Clone>(all: &mut Vec<T>, index: usize, none: T) -> &mut T {
    if all.len() <= index {
        all.resize(index + 1, none);
    }
    &mut all[index]
}

impl Metrics {
    /// Every job, by its number.
    pub fn jobs(&self) -> &[Life] {
        &self.lives
    }

    /// The share of the jobs' completion times at or below which `of_100` of 100 are, as most tables have
    /// it: between two neighbours in proportion, rounded down.
    pub fn jct_quantile(&self, of_100: u64) -> Span {
        let mut all: Vec<u64> = self.lives.iter().filter_map(Life::jct).map(Span::ns).collect();
        all.sort_unstable();
        Span::from_ns(between_neighbours(&all, of_100))
    }

    /// All of the run, with this many workers; a GPU is one.
    pub fn total_of(&self, workers: u32) -> Total {
        let ended = || self.lives.iter().filter(|l| l.end.is_some());
        let jobs = ended().count() as u64;
        let mean = |of: fn(&Life) -> Option<Time>| {
            let waits = ended().filter_map(|l| Some(u128::from((of(l)? - l.submitted).ns())));
            Span::from_ns((waits.sum::<u128>() / u128::from(jobs.max(1))) as u64)
        };
        let makespan = self.now - self.begin.unwrap_or(self.now);
        let per = |sum: u128, by: u128| if by == 0 { 0.0 } else { sum as f64 / by as f64 };
        let ns = u128::from(makespan.ns());
        let whole = ns * u128::from(WHOLE);
        let busy_fraction = match self.in_lanes {
            true => per(self.busy_ns, whole),
            false => per(self.taken_ns, whole * u128::from(workers)),
        };
        Total {
            jobs,
            makespan,
            jct_mean: mean(|l| l.end),
            queueing_mean: mean(|l| l.placed),
            first_service_mean: mean(|l| l.first),
            busy_fraction,
            resident_mean: per(self.resident_ns, ns),
            switches: self.switches,
            work: ended().map(|l| l.what.work()).sum(),
        }
    }

    /// All of a run on one GPU.
    pub fn total(&self) -> Total {
        self.total_of(1)
    }

    fn advance(&mut self, now: Time) {
        let passed = u128::from((now - self.now).ns());
        self.resident_ns += u128::from(self.resident) * passed;
        self.taken_ns += self.taken * passed;
        self.now = now;
    }
}

impl JobObserver for Metrics {
    fn record(&mut self, now: Time, record: &Record) {
        self.advance(now);
        match record {
            Record::Submit { job, what } => {
                self.begin.get_or_insert(now);
                let life = grown(&mut self.lives, job.0 as usize, Life::default());
                *life = Life { what: *what, submitted: now, ..Life::default() };
            }
            Record::Place { job, lane } => {
                self.in_lanes = true;
                self.resident += 1;
                self.lives[job.0 as usize].placed = Some(now);
                *grown(&mut self.lane_of, job.0 as usize, u32::MAX) = lane.0;
            }
            Record::Run { job, on } => {
                let life = &mut self.lives[job.0 as usize];
                let is_first = life.first.is_none();
                life.first.get_or_insert(now);
                if let On::Lane = on {
                    let lane = self.lane_of[job.0 as usize] as usize;
                    let last = grown(&mut self.last, lane, None).replace(*job);
                    self.switches += u64::from(last.is_some_and(|last| last != *job));
                    return;
                }
                if is_first {
                    life.placed = Some(now);
                    self.resident += 1;
                }
                let share = share(on);
                let last = grown(&mut self.widths, job.0 as usize, None).replace(share);
                self.switches += u64::from(last.is_some_and(|last| last != share));
                self.taken += u128::from(share);
            }
            Record::Stop { job, .. } => {
                let share = self.widths.get(job.0 as usize).copied().flatten();
                self.taken -= u128::from(share.unwrap_or(0));
            }
            Record::Done { job } => {
                let life = &mut self.lives[job.0 as usize];
                life.end = Some(now);
                self.resident -= 1;
                if self.in_lanes {
                    let work = u128::from(life.what.work().ns());
                    self.busy_ns += work * u128::from(life.what.busy);
                }
            }
            Record::Lane { .. } | Record::Finish => (),
        }
    }
}
