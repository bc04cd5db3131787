//! Runs of jobs: what one is measured to be, its log, and what each job ran on over time.

use super::hash;
use super::own::{OwnWorld, Spec, flushed};
use super::replication::Replication;
use orrery_results::metric;
use orrery_results::metric::{Column, Metric};
use orrery_run::SpecError;
use orrery_scenario::jobs::{JobPolicySpec, Jobs, Made};
use orrery_scenario::read_text;
use orrery_sim::jobs::job::{JobId, WHOLE};
use orrery_sim::jobs::log::{LogWriter, Terms};
use orrery_sim::jobs::metrics::Metrics;
use orrery_sim::jobs::record::{JobObserver, On, Record};
use orrery_sim::jobs::world::{self, simulate};
use orrery_sim::time::{Span, Time};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

/// How many GPUs or workers a job ran on, over a part of the time.
pub use orrery_results::metric::GPUS_HELD as HELD;

/// Quantiles of completion times, for cumulative shares.
const QUANTILES: [(u64, &str); 11] = [
    (0, "min"),
    (10, "p10"),
    (20, "p20"),
    (30, "p30"),
    (40, "p40"),
    (50, "p50"),
    (60, "p60"),
    (70, "p70"),
    (80, "p80"),
    (90, "p90"),
    (100, "max"),
];

impl OwnWorld for Jobs {
    const WORDS: &'static str =
        "Queueing: from submission to admission; first run: to the first iteration.";

    fn inputs(&self, folder: &Path) -> Result<String, SpecError> {
        match &self.file {
            Some(file) => read_text(folder.join(file)),
            None => Ok(String::new()),
        }
    }

    fn one(made: &Made, policy: &Spec<Self>, seed: u64) -> Replication {
        let run = world::measured(&made.cluster, &made.jobs, policy.build());
        measured(&run.observer, made, seed)
    }

    fn logged(
        made: &Made,
        policy: &Spec<Self>,
        seed: u64,
        log: BufWriter<File>,
    ) -> io::Result<Replication> {
        let terms = Terms::new(&made.cluster, &policy.name());
        let observer = (Metrics::default(), LogWriter::new(log, &terms));
        let run = simulate(&made.cluster, &made.jobs, policy.build(), observer);
        let (metrics, log) = run.observer;
        flushed(log.finish())?;
        Ok(measured(&metrics, made, seed))
    }

    fn column(metric: &Metric) -> Option<Column> {
        metric.jobs
    }
}

fn measured(metrics: &Metrics, made: &Made, seed: u64) -> Replication {
    let total = metrics.total_of(made.cluster.workers);
    let mut one = Replication { seed, ..Replication::default() };
    let mut push = |metric: &str, value: f64| one.push("all", metric, value, total.jobs);
    let ns = |span: Span| span.ns() as f64;
    push(metric::JOBS, total.jobs as f64);
    push(metric::MAKESPAN, ns(total.makespan));
    push(metric::JCT_MEAN, ns(total.jct_mean));
    push(metric::JCT_P95, ns(metrics.jct_quantile(95)));
    push(metric::JOB_QUEUEING_MEAN, ns(total.queueing_mean));
    push(metric::FIRST_SERVICE_MEAN, ns(total.first_service_mean));
    push(metric::GPU_BUSY, total.busy_fraction);
    push(metric::JOBS_RESIDENT, total.resident_mean);
    push(metric::SWITCHES, total.switches as f64);
    for (of_100, part) in QUANTILES {
        push(&metric::JCT.name(&[part]), ns(metrics.jct_quantile(of_100)));
    }
    one
}

/// What each job ran on, by parts of the time: millionths of devices, times nanoseconds.
struct Held {
    width: Span,
    bins: Vec<Vec<u128>>,
    jobs: usize,
    runs: Vec<Option<(Time, u64)>>,
}

impl Held {
    fn add(&mut self, job: usize, from: Time, to: Time, share: u64) {
        let mut at = from;
        while at < to {
            let bin = (at.ns() / self.width.ns()) as usize;
            let next = Time::from_ns((bin as u64 + 1) * self.width.ns()).min(to);
            if self.bins.len() <= bin {
                self.bins.resize(bin + 1, vec![0; self.jobs]);
            }
            self.bins[bin][job] += u128::from((next - at).ns()) * u128::from(share);
            at = next;
        }
    }
}

impl JobObserver for Held {
    fn record(&mut self, now: Time, record: &Record) {
        match record {
            Record::Run { job: JobId(job), on } => {
                let share = match on {
                    On::Lane => u64::from(WHOLE),
                    On::Part { parts, .. } => u64::from(WHOLE / parts),
                    On::Workers(workers) => u64::from(WHOLE) * workers.len() as u64,
                };
                self.runs[*job as usize] = Some((now, share));
            }
            Record::Stop { job: JobId(job), .. } => {
                if let Some((since, share)) = self.runs[*job as usize].take() {
                    self.add(*job as usize, since, now, share);
                }
            }
            _ => (),
        }
    }
}

/// The hash of a cell whose parts of the time are rows too.
pub fn over_time_sha256(cell: &str, bin_s: f64) -> String {
    hash::spec_sha256(&["bins", cell, &bin_s.to_string()])
}

/// Groups that parts of the time are told apart by: the jobs.
pub fn groups(made: &Made) -> Vec<String> {
    (0..made.jobs.len()).map(|i| format!("job {i}")).collect()
}

/// One run: the whole, then for each part of the time of this length what each job ran on.
pub fn over_time(made: &Made, policy: &JobPolicySpec, seed: u64, bin_s: f64) -> Vec<Replication> {
    let jobs = made.jobs.len();
    let width = Span::from_secs_f64(bin_s);
    let held = Held { width, bins: Vec::new(), jobs, runs: vec![None; jobs] };
    let observer = (Metrics::default(), held);
    let run = simulate(&made.cluster, &made.jobs, policy.build(), observer);
    let (metrics, held) = run.observer;
    let mut out = vec![measured(&metrics, made, seed)];
    for (i, bin) in held.bins.iter().enumerate() {
        let from = Time::from_ns(i as u64 * width.ns());
        let span = width.ns().min((run.end - from).ns());
        for (name, held) in groups(made).iter().zip(bin) {
            let mut part = Replication { seed, ..Replication::default() };
            part.push(&format!("group {name}"), metric::FROM, from.as_secs_f64(), 0);
            let value = *held as f64 / f64::from(WHOLE) / span as f64;
            part.push("all", HELD, value, 1);
            out.push(part);
        }
    }
    out
}
