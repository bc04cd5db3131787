//! Files of jobs: what is submitted, what the jobs share, and the policies that run them.
//!
//! It is not a scenario, whose load is requests. `docs/jobs.md` lists the keys.

mod generate;
mod policy;

pub use generate::{Generate, Halving};
pub use policy::JobPolicySpec;

use crate::defaults::one;
use crate::kind;
use crate::own::{World, WorldFile};
use crate::range::within;
use crate::reference::{Reference, Table};
use crate::scenario::place::Source;
use orrery_run::SpecError;
use orrery_run::limits::{COUNT_MAX, SEEDS_MAX};
use orrery_run::policies;
use orrery_sim::jobs::job::{Cluster, Curve, Job, MB, PARTS_MAX, WHOLE, Width};
use orrery_sim::jobs::policy::Configured;
use orrery_sim::time::{Span, Time};
use orrery_traces::Input;
use orrery_traces::job_list::{
    self, AT_S_MAX, ITERATION_MS_MAX, ITERATIONS_MAX, JOBS_MAX, MEMORY_MB_MAX, STAGE_MAX,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// All jobs together may take this long, at whatever width: some 36 years.
const ALL_NS_MAX: u64 = 1 << 60;

/// A file of jobs, for `orrery run`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "orrery jobs")]
pub struct JobsFile {
    /// Its name in results.
    #[serde(default)]
    #[schemars(extend("x-default" = "the file's name"))]
    pub name: String,
    /// The policies: `salus` or `fluid`, with their parameters.
    #[schemars(schema_with = "policies::list_schema::<dyn Configured>")]
    pub policies: Vec<String>,
    /// The seed of what is drawn.
    #[serde(default = "one::<u64>")]
    pub seed: u64,
    /// The jobs, and what they share.
    pub jobs: Jobs,
    /// The file's text, for the lines of messages.
    #[serde(skip)]
    pub source: Source,
}

/// `[jobs]`: jobs, listed or made by one of four ways, and what they share.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Jobs {
    /// Memory of the GPU; `salus` needs it.
    #[schemars(extend("x-default" = "none"))]
    pub memory_mb: Option<f64>,
    /// Number of workers, for `fluid`.
    #[serde(default = "one::<u32>")]
    pub workers: u32,
    /// Slowdown by a further trial on a worker (Fluid, Eq. 3.2); if omitted, packing conserves work.
    #[schemars(extend("x-default" = "work is conserved"))]
    pub alpha: Option<f64>,
    /// Slowdown by a further worker of a trial (Fluid, Eq. 3.2).
    #[serde(default = "one::<f64>")]
    pub beta: f64,
    /// The jobs: a CSV file beside this one, with the columns `iterations`, `iteration_ms` and, if given,
    /// `at_s`, `persistent_mb`, `ephemeral_mb`, `busy`, `stage`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "one of `file`, `job`, `generate`, `halving`"))]
    pub file: Option<String>,
    /// The jobs, one by one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub job: Vec<JobEntry>,
    /// Jobs of random lengths, of the dissertation's 33 measured workloads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generate: Option<Generate>,
    /// The trials of successive halving.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub halving: Option<Halving>,
}

/// `[[jobs.job]]`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobEntry {
    /// Number of jobs like this.
    #[serde(default = "one::<u32>")]
    pub count: u32,
    /// When it is submitted.
    #[serde(default)]
    pub at_s: f64,
    /// Number of iterations.
    pub iterations: u64,
    /// Time of an iteration, alone on a device.
    pub iteration_ms: f64,
    /// Memory from admission to the end.
    #[serde(default)]
    pub persistent_mb: f64,
    /// Memory while an iteration runs.
    #[serde(default)]
    pub ephemeral_mb: f64,
    /// The part of a GPU that an iteration keeps busy.
    #[serde(default = "one::<f64>")]
    pub busy: f64,
    /// Its stage: it is submitted after the last job of the stage before has ended.
    #[serde(default)]
    pub stage: u32,
}

/// MB as bytes.
fn bytes(mb: f64) -> u64 {
    (mb * MB as f64 + 0.5) as u64
}

impl WorldFile for JobsFile {
    type World = Jobs;
    const KIND: kind::Kind = kind::JOBS;
    const EXAMPLE: &'static str = "salus[order=srtf]";

    fn world(&self) -> &Jobs {
        &self.jobs
    }

    fn head(&self) -> (&[String], u64, &Source) {
        (&self.policies, self.seed, &self.source)
    }

    fn read_as(&mut self) -> (&mut String, &mut Source) {
        (&mut self.name, &mut self.source)
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn notes(&self, policies: &[JobPolicySpec]) -> Result<Vec<String>, SpecError> {
        Ok(policies.iter().flat_map(|policy| self.jobs.excluded(policy)).collect())
    }
}

/// Jobs, and what they share.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// What they share.
    pub cluster: Cluster,
    /// In the order of their numbers.
    pub jobs: Vec<Job>,
}

impl World for Jobs {
    const KEY: &'static str = "jobs";
    type Policy = dyn Configured;
    type Made = Made;

    fn make(&self, seed: u64, folder: &Path) -> Result<Made, SpecError> {
        if !(1..=COUNT_MAX).contains(&self.workers) {
            let allowed = format!("a whole number from 1 to {COUNT_MAX}");
            return Err(SpecError::value("workers", self.workers, allowed, "correct `workers`"));
        }
        let memory_mb = self.memory_mb.unwrap_or(0.0);
        within("memory_mb", memory_mb, 0.0, MEMORY_MB_MAX, " MB")?;
        within("alpha", self.alpha.unwrap_or(1.0), 1.0, 16.0, "")?;
        within("beta", self.beta, 1.0, 16.0, "")?;
        if self.alpha.is_none() && self.beta != 1.0 {
            let remedy = "add `alpha`, or remove `beta`";
            let allowed = "`beta` with `alpha` only: both are of Eq. 3.2";
            return Err(SpecError::value("beta", self.beta, allowed, remedy));
        }
        let (memory, workers, curve) = (bytes(memory_mb), self.workers, self.curve());
        let cluster = Cluster { memory, workers, curve };
        let jobs = self.list(seed, folder)?;
        check_stages(&jobs)?;
        let work = jobs.iter().map(|j| u128::from(j.work().ns())).sum::<u128>();
        if work > u128::from(ALL_NS_MAX) {
            let found = format!("{:.0} years of work", work as f64 / 1e9 / 86_400.0 / 365.25);
            let allowed = "at most 36 years of all jobs together";
            return Err(SpecError::value(self.way(), found, allowed, "use fewer or shorter jobs"));
        }
        Ok(Made { cluster, jobs })
    }

    fn unseen(policies: &[JobPolicySpec], made: &mut Made) {
        if !policies.iter().any(|p| p.has_lanes()) {
            made.cluster.memory = 0;
            for job in &mut made.jobs {
                let Job { persistent, ephemeral, busy, .. } = Job::default();
                *job = Job { persistent, ephemeral, busy, ..*job };
            }
        }
        if policies.iter().all(|p| p.has_lanes()) {
            made.cluster.workers = 1;
            made.cluster.curve = Curve::conserving(1);
        }
    }

    fn check_for(&self, policy: &JobPolicySpec, made: &Made) -> Result<(), SpecError> {
        if policy.has_lanes() {
            let Some(memory_mb) = self.memory_mb else {
                let found = format!("none, and `{}` shares it", policy.text());
                let remedy = "add `memory_mb` to `[jobs]`";
                return Err(SpecError::value("memory_mb", found, "the GPU's memory", remedy));
            };
            let wants = |j: &Job| j.persistent + j.ephemeral;
            let too_large = |j: &&Job| wants(j) > made.cluster.memory;
            let Some(large) = made.jobs.iter().position(|j| too_large(&j)) else { return Ok(()) };
            let job = &made.jobs[large];
            let found = format!(
                "job {large} of {} MB persistent and {} MB ephemeral memory",
                job.persistent as f64 / MB as f64,
                job.ephemeral as f64 / MB as f64
            );
            let allowed = format!("together at most the GPU's {memory_mb} MB");
            let remedy = "make the job smaller, or raise `memory_mb`";
            return Err(SpecError::value(self.way(), found, allowed, remedy));
        }
        let (c, d) = (count_of(policy, "c"), count_of(policy, "d"));
        if let Some(d) = d.filter(|d| *d > self.workers) {
            let found = format!("`{}` with d={d}, and {} workers", policy.text(), self.workers);
            let remedy = "raise `workers`, or lower `d`";
            return Err(SpecError::value("workers", found, "at least as many as `d`", remedy));
        }
        let curve = &made.cluster.curve;
        let (parts, widest) = match policy.value("as").as_deref() {
            Some("released") => (PARTS_MAX, self.workers),
            _ => (c.unwrap_or(curve.packed(0)), d.unwrap_or(curve.widest())),
        };
        let work = made.jobs.iter().map(Job::work).sum::<Span>();
        let widths = (2..=parts).map(Width::Part).chain((1..=widest).map(Width::Workers));
        let slowest = widths.map(|w| curve.at(w).time_of(work)).max();
        if slowest.is_some_and(|time| time.ns() > 1 << 62) {
            let found =
                format!("jobs that would take more than 146 years under `{}`", policy.text());
            let remedy = "lower `alpha`, `beta`, `c` or the work";
            return Err(SpecError::value("alpha", found, "at most 146 years", remedy));
        }
        Ok(())
    }
}

/// A parameter of `fluid` that is a number, if it is given.
fn count_of(policy: &JobPolicySpec, key: &str) -> Option<u32> {
    policy.value(key)?.parse().ok()
}

impl Jobs {
    /// What a width does to a job's time.
    fn curve(&self) -> Curve {
        match self.alpha {
            None => Curve::conserving(self.workers),
            Some(alpha) => Curve::eq_3_2(alpha, self.beta, self.workers),
        }
    }

    /// Where a policy is given a `c` or `d` that Eq. 3.2 excludes with this `alpha` and `beta`.
    fn excluded(&self, policy: &JobPolicySpec) -> Vec<String> {
        let is_printed = policy.value("as").is_some_and(|whose| whose == "printed");
        let Some(alpha) = self.alpha.filter(|_| is_printed) else { return Vec::new() };
        let (curve, name, mut notes) = (self.curve(), policy.text(), Vec::new());
        if policy.value("rule").is_some_and(|rule| rule == "one") {
            return notes;
        }
        let (packed, widest) = (curve.packed(0), curve.widest());
        if let Some(c) = count_of(policy, "c").filter(|c| *c > packed) {
            let below = f64::from(c) / f64::from(c - 1);
            notes.push(format!(
                "`{name}`: Eq. 3.2 is for alpha below c/(c-1) = {below:.3} with c = {c}, and `alpha` is {alpha}: \
                 sharing a worker costs more than it gains; without `c`, Eq. 3.1 gives c = {packed}"
            ));
        }
        if let Some(d) = count_of(policy, "d").filter(|d| *d > widest) {
            let (below, beta) = (1.0 + 1.0 / f64::from(d), self.beta);
            notes.push(format!(
                "`{name}`: Eq. 3.2 is for beta below 1 + 1/d = {below:.3} with d = {d}, and `beta` is {beta}: \
                 the last of these workers may gain nothing; without `d`, it is {widest}"
            ));
        }
        notes
    }

    /// The key under which jobs are.
    fn way(&self) -> &'static str {
        match self {
            Jobs { file: Some(_), .. } => "file",
            Jobs { generate: Some(_), .. } => "generate",
            Jobs { halving: Some(_), .. } => "halving",
            _ => "job",
        }
    }

    fn list(&self, seed: u64, folder: &Path) -> Result<Vec<Job>, SpecError> {
        let given = [
            ("file", self.file.is_some()),
            ("job", !self.job.is_empty()),
            ("generate", self.generate.is_some()),
            ("halving", self.halving.is_some()),
        ];
        let given: Vec<&str> = given.iter().filter(|g| g.1).map(|g| g.0).collect();
        if given.len() != 1 {
            let found = if given.is_empty() { "none".to_string() } else { given.join(", ") };
            let allowed = "one of `file`, `job`, `generate`, `halving`";
            let key = given.get(1).copied().unwrap_or("job");
            return Err(SpecError::value(key, found, allowed, "say once what the jobs are"));
        }
        if let Some(file) = &self.file {
            return Ok(job_list::read(Input::open(folder.join(file))?)?);
        }
        if let Some(generate) = &self.generate {
            return generate.jobs(seed);
        }
        if let Some(halving) = &self.halving {
            return halving.jobs();
        }
        let mut jobs = Vec::new();
        for (i, entry) in self.job.iter().enumerate() {
            let one = entry.job().map_err(|e| e.in_table(&format!("job[{i}]")))?;
            if jobs.len() + entry.count as usize > JOBS_MAX {
                let found = format!("more than {JOBS_MAX} jobs");
                let key = format!("job[{i}].count");
                return Err(SpecError::value(key, found, "fewer", "use fewer jobs"));
            }
            jobs.extend(std::iter::repeat_n(one, entry.count as usize));
        }
        Ok(jobs)
    }
}

impl JobEntry {
    fn job(&self) -> Result<Job, SpecError> {
        if !(1..=SEEDS_MAX * 10).contains(&self.count) {
            let allowed = format!("a whole number from 1 to {JOBS_MAX}");
            return Err(SpecError::value("count", self.count, allowed, "correct `count`"));
        }
        if !(1..=ITERATIONS_MAX).contains(&self.iterations) {
            let allowed = format!("a whole number from 1 to {ITERATIONS_MAX}");
            let remedy = "a job has at least one iteration";
            return Err(SpecError::value("iterations", self.iterations, allowed, remedy));
        }
        within("at_s", self.at_s, 0.0, AT_S_MAX, " s")?;
        within("iteration_ms", self.iteration_ms, 1e-6, ITERATION_MS_MAX, " ms")?;
        within("persistent_mb", self.persistent_mb, 0.0, MEMORY_MB_MAX, " MB")?;
        within("ephemeral_mb", self.ephemeral_mb, 0.0, MEMORY_MB_MAX, " MB")?;
        within("busy", self.busy, 1e-6, 1.0, "")?;
        if self.stage > STAGE_MAX {
            let allowed = format!("a whole number from 0 to {STAGE_MAX}");
            return Err(SpecError::value("stage", self.stage, allowed, "correct `stage`"));
        }
        Ok(Job {
            submitted: Time::ZERO + Span::from_secs_f64(self.at_s),
            stage: self.stage,
            iterations: self.iterations,
            iteration: Span::from_ms_f64(self.iteration_ms),
            persistent: bytes(self.persistent_mb),
            ephemeral: bytes(self.ephemeral_mb),
            busy: (self.busy * f64::from(WHOLE) + 0.5) as u32,
        })
    }
}

/// Stages are numbered from 0 without gaps: the engine waits for the one before.
fn check_stages(jobs: &[Job]) -> Result<(), SpecError> {
    let mut stages: Vec<u32> = jobs.iter().map(|j| j.stage).collect();
    stages.sort_unstable();
    stages.dedup();
    match (0..).zip(&stages).find(|(i, stage)| i != *stage) {
        None => Ok(()),
        Some((missing, stage)) => {
            let found = format!("stage {stage}, and no job of stage {missing}");
            let remedy = "number the stages from 0 without gaps";
            Err(SpecError::value("job", found, "a job of every stage", remedy))
        }
    }
}

/// The tables of `docs/jobs.md`.
pub fn reference() -> Vec<Table> {
    let keys = Reference::of::<JobsFile>();
    let table = |path: &[&str]| keys.keys(path, &[]);
    vec![
        ("file", table(&[])),
        ("jobs", table(&["jobs"])),
        ("job", table(&["jobs", "job"])),
        ("generate", table(&["jobs", "generate"])),
        ("halving", table(&["jobs", "halving"])),
    ]
}
