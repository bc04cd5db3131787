//! Runs of jobs: one seed of one policy, what it was measured to be, and its log.
//!
//! `orrery run` and the experiments of jobs come down to this; their results are the same rows.

use super::hash;
use super::notes::notes_of;
use super::replication::Replication;
use super::rows::rows;
use super::seeds::Seeds;
use orrery_output::Progress;
use orrery_output::page::{Field, Page, Part, Table};
use orrery_output::whole_file::{Unfinished, unwritable};
use orrery_results::metric::{Column, Metric};
use orrery_results::{Row, metric};
use orrery_scenario::jobs::{JobPolicySpec, Jobs, JobsFile, Made};
use orrery_scenario::{SpecError, read_text};
use orrery_sim::jobs::job::{JobId, WHOLE};
use orrery_sim::jobs::log::{LogWriter, Terms};
use orrery_sim::jobs::metrics::Metrics;
use orrery_sim::jobs::record::{JobObserver, On, Record};
use orrery_sim::jobs::world::{self, simulate};
use orrery_sim::time::{Span, Time};
use rayon::prelude::*;
use std::fs::File;
use std::io::{BufWriter, Write};
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

/// The hash of everything that a run depends on but its seed. What a list has is in it.
///
/// # Errors
/// When a list cannot be read.
pub fn spec_sha256(
    jobs: &Jobs,
    folder: &Path,
    policy: &JobPolicySpec,
) -> Result<String, SpecError> {
    let list = match &jobs.file {
        Some(file) => read_text(folder.join(file))?,
        None => String::new(),
    };
    // A table of plain values can always be written.
    let table = toml::to_string(jobs).unwrap_or_default();
    Ok(hash::spec_sha256(&["jobs", &table, &list, &policy.name()]))
}

/// Runs jobs and measures the run.
pub fn one(made: &Made, policy: &JobPolicySpec, seed: u64) -> Replication {
    let run = world::measured(&made.cluster, &made.jobs, policy.build());
    measured(&run.observer, made, seed)
}

/// The same, with the run's log in a file: whole, or not there at all.
///
/// # Errors
/// When the file cannot be written.
pub fn logged(
    made: &Made,
    policy: &JobPolicySpec,
    seed: u64,
    path: &Path,
) -> Result<Replication, SpecError> {
    let unwritable = |e: std::io::Error| unwritable("--log", path, &e);
    let text = Unfinished::beside(path).map_err(unwritable)?;
    let file = BufWriter::new(File::create(text.path()).map_err(unwritable)?);
    let terms = Terms::new(&made.cluster, &policy.name());
    let observer = (Metrics::default(), LogWriter::new(file, &terms));
    let run = simulate(&made.cluster, &made.jobs, policy.build(), observer);
    let (metrics, log) = run.observer;
    log.finish().and_then(|mut file| file.flush()).map_err(unwritable)?;
    text.rename(path).map_err(unwritable)?;
    Ok(measured(&metrics, made, seed))
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

/// The rows of a file's policies. `log` is where the first seed's log goes, of the only policy.
///
/// # Errors
/// When jobs cannot be made or read, or a log cannot be written.
pub fn rows_of_file(
    file: &JobsFile,
    policies: &[JobPolicySpec],
    seeds: Seeds,
    log: Option<&Path>,
) -> Result<Vec<Row>, SpecError> {
    let folder = Path::new(&file.source.path).parent().unwrap_or(Path::new(""));
    let progress = Progress::new(policies.len() as u64, "policies");
    let of_policy = |policy: &JobPolicySpec| {
        let runs = seeds.run(|seed| {
            let made = file.runs(seed, std::slice::from_ref(policy))?;
            match log.filter(|_| seed == seeds.first) {
                Some(path) => logged(&made, policy, seed, path),
                None => Ok(one(&made, policy, seed)),
            }
        })?;
        let place = Row {
            experiment: file.name.clone(),
            system: policy.text().split('[').next().unwrap_or_default().to_string(),
            policy: policy.name(),
            warm_up: "none".to_string(),
            spec_sha256: spec_sha256(&file.jobs, folder, policy)?,
            result_version: orrery_results::RESULT_VERSION,
            ..Row::default()
        };
        progress.step();
        Ok(rows(&place, &seeds, &runs))
    };
    let all: Vec<Vec<Row>> =
        policies.par_iter().map(of_policy).collect::<Result<_, SpecError>>()?;
    Ok(all.concat())
}

/// The document of a run of jobs: a line for each policy.
pub fn document(file: &JobsFile, seed: u64, rows: &[Row]) -> Page {
    let columns: Vec<(&Metric, Column)> =
        metric::all().iter().filter_map(|m| Some((m, m.jobs?))).collect();
    let mut head = vec!["policy"];
    head.extend(columns.iter().map(|c| c.1.heading));
    let mut table = Table::new("", &head);
    for cell in rows.chunk_by(|a, b| a.policy == b.policy) {
        let field = |(metric, column): &(&Metric, Column)| {
            let (scale, digits) = (metric.reading.divisor, column.digits);
            let row = cell.iter().find(|r| r.metric == metric.name);
            let half = row.and_then(|r| r.ci95()).map(|(low, high)| (high - low) / 2.0 / scale);
            let half = half.map_or(String::new(), |h| format!(" ±{h:.digits$}"));
            let value = row.and_then(|r| r.value);
            value.map_or(Field::none(), |x| {
                Field::number(x, format!("{:.digits$}{half}", x / scale))
            })
        };
        let line = std::iter::once(Field::text(&*cell[0].policy));
        table.rows.push(line.chain(columns.iter().map(field)).collect());
    }
    let mut page = Page::new("jobs", &file.name);
    page.subtitle = format!("seed {seed}");
    page.section("Results", table.part());
    let words = "Queueing: from submission to admission; first run: to the first iteration.";
    let mut notes = vec![words.to_string()];
    notes.extend(notes_of(rows));
    page.section("What to know first", Part::list(notes));
    page
}
