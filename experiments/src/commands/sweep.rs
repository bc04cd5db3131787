//! `orrery sweep` and `orrery merge`: a scenario over axes, in parallel, nothing finished ever lost.
//!
//! ```text
//!  FILE.toml ── file.rs ──> points ── plan.rs ──> cells, each with the hash of its specification
//!                                                   │ run in parallel, each entry written at its end
//!  results <── join ── plan.json + cells/HASH.cell <┘ store.rs
//! ```
//!
//! Results are made from the stored entries alone, in the order of the plan: neither the number of
//! jobs, nor shards, nor a run that was killed in between can change a byte. A folder has one plan:
//! whoever comes with another is refused.

use clap::Args;
use orrery_papers::cells;
use orrery_papers::cells::parts::{Ran, run_parts};
use orrery_papers::cells::plan::{Plan, PlannedCell, plan};
use orrery_papers::cells::replication::Replication;
use orrery_papers::cells::rows::{difference, rows};
use orrery_papers::cells::run_report;
use orrery_papers::cells::seeds::Until;
use orrery_papers::cells::shard::Shard;
use orrery_papers::cells::store::{Entry, Store};
use orrery_papers::cells::sweep_file::SweepFile;
use orrery_papers::output::{Answer, Format, Forms, Output, say, say_more, tell};
use orrery_papers::papers::reproduce::{self, Outcome};
use orrery_results::{Row, to_json, wide};
use orrery_scenario::SpecError;
use std::path::{Path, PathBuf};

/// `orrery sweep`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  orrery sweep scenarios/sweeps/bert-slo.toml
  orrery sweep my.toml --out results/ --until-ci 0.01
  orrery sweep my.toml --out shared/ --shard 1/4      # on each of four machines, then:
  orrery merge shared/")]
pub struct Sweep {
    /// The sweep file.
    pub file: PathBuf,
    // No doc comment: clap would print it.
    #[allow(missing_docs)]
    #[command(flatten)]
    pub output: Output,
    /// Number of replications of each cell, instead of the file's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub seeds: Option<u32>,
    /// Number of parallel simulations; by default one per core. Results do not depend on it.
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub jobs: Option<u16>,
    // No doc comment: clap would print it.
    #[allow(missing_docs)]
    #[command(flatten)]
    pub until: Until,
    /// Run only the K-th of N disjoint parts into `--out`; `orrery merge` joins them.
    #[arg(long, value_name = "K/N", requires = "out", conflicts_with = "html")]
    pub shard: Option<Shard>,
    /// Run nothing; list and remove cells in the folder that do not belong to this sweep, such as those of
    /// an earlier version of its file.
    #[arg(long, conflicts_with = "shard")]
    pub prune: bool,
}

/// `orrery merge`.
#[derive(Debug, Args)]
pub struct Merge {
    /// The folder that the shards wrote to.
    pub folder: PathBuf,
    /// The form of the result on stdout.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Also write the result as one HTML page.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

impl Merge {
    /// Where the result goes.
    pub fn output(&self) -> Output {
        Output { format: self.format, out: None, html: self.html.clone() }
    }
}

/// Runs it.
///
/// # Errors
/// When the file is wrong, a run cannot be made or the folder cannot be written.
pub fn command(args: &Sweep) -> Result<Answer, SpecError> {
    let file = SweepFile::load(&args.file)?.with(args.seeds, args.until)?;
    let (plan, cells) = plan(&file, file.base()?)?;
    args.output.check()?;
    let folder = match &args.output.out {
        Some(folder) => folder.clone(),
        None => PathBuf::from(format!("{}.sweep", file.name)),
    };
    if args.prune {
        if !folder.join("cells").is_dir() {
            let remedy = "give the folder of `orrery sweep --out`";
            let found = format!("{} without `cells`", folder.display());
            return Err(SpecError::value("--out", found, "the folder of a sweep", remedy));
        }
        let removed = Store::open(&folder)?.prune(&plan)?;
        let list: String = removed.iter().map(|hash| format!("removed {hash}\n")).collect();
        let kept = "cells of this sweep are kept";
        return Ok(Answer::of(format!("{list}{} old cells removed; {kept}\n", removed.len())));
    }
    let store = Store::open(&folder)?;
    store.write_plan(&plan)?;
    let mine = |i: &usize| args.shard.is_none_or(|s| s.has(*i));
    let mut pending = Vec::new();
    let mut kept = 0;
    for i in (0..cells.len()).filter(mine) {
        match store.read(&plan.cells[i].entry_sha256) {
            Entry::Good(runs) if plan.cells[i].seeds.all_of(&runs).is_some() => kept += 1,
            Entry::Good(_) | Entry::Absent => pending.push(i),
            Entry::Damaged(why) => {
                say(&format!("damaged: {why}; that cell is run again"));
                pending.push(i);
            }
        }
    }
    let run = |i: usize| -> Result<(), SpecError> {
        let place = &plan.cells[i].place;
        say_more(&format!("cell {} begins: {} {}", i + 1, place.axes, place.policy));
        let entry = &plan.cells[i].entry_sha256;
        let kept = match store.read(entry) {
            Entry::Good(runs) => runs,
            Entry::Absent | Entry::Damaged(_) => Vec::new(),
        };
        let runs = cells[i].seeds.go_on(&kept, |seed| cells[i].one(seed))?;
        store.write(entry, &runs)
    };
    let jobs = args.jobs.unwrap_or(0).into();
    let ran = run_parts(&pending, jobs, run).inspect_err(|_| {
        say(&format!("finished cells are kept in {}", folder.display()));
    })?;
    if let Ran::Stopped = ran {
        say(&format!(
            "stopped; finished cells are kept in {}: the same command continues",
            folder.display()
        ));
        return Ok(Answer { interrupted: true, ..Answer::default() });
    }
    if let Some(shard) = args.shard {
        return Ok(Answer::of(format!(
            "shard {shard}: {} cells run, {kept} were there; `orrery merge {}` joins the shards\n",
            pending.len(),
            folder.display()
        )));
    }
    say(&format!(
        "{} cells run, {kept} were there; results in {}",
        pending.len(),
        folder.display()
    ));
    join(&folder, &args.output)
}

/// Joins the shards of a sweep or an experiment.
///
/// # Errors
/// When the plan is missing, damaged or edited, or the folder cannot be written.
pub fn merge(args: &Merge) -> Result<Answer, SpecError> {
    let output = args.output();
    output.check()?;
    if !reproduce::is_sharded(&args.folder) {
        return join(&args.folder, &output);
    }
    let (e, outcome) = match reproduce::merge(&args.folder, output.html.is_some()) {
        // Cells that are missing are a check that failed, as they are of a sweep.
        Err(error) if error.key() == Some("cells") => {
            tell(&format!("error: {error}"));
            return Ok(Answer { failed: true, ..Answer::default() });
        }
        other => other?,
    };
    let Outcome::Whole(forms) = outcome else {
        return Ok(Answer { interrupted: true, ..Answer::default() });
    };
    forms.answer(&e.id, &Output { out: Some(args.folder.clone()), ..output })
}

/// Results from the plan and its entries, written into the folder. Without all entries there are none,
/// and the check has failed.
fn join(folder: &Path, output: &Output) -> Result<Answer, SpecError> {
    let store = Store::existing(folder)?;
    let plan = store.plan()?;
    let mut runs: Vec<Vec<Replication>> = Vec::with_capacity(plan.cells.len());
    let mut missing = Vec::new();
    for (i, cell) in plan.cells.iter().enumerate() {
        match store.read(&cell.entry_sha256) {
            Entry::Good(found) => match cell.seeds.all_of(&found) {
                Some(found) => runs.push(found),
                None => missing.push(format!("{} (only {} of its seeds)", i + 1, found.len())),
            },
            Entry::Absent => missing.push(format!("{} ({})", i + 1, cell.place.axes)),
            Entry::Damaged(why) => missing.push(format!("{} ({why})", i + 1)),
        }
    }
    if !missing.is_empty() {
        let shown = missing.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
        let dots = if missing.len() > 5 { ", ..." } else { "" };
        let (missing, cells) = (missing.len(), plan.cells.len());
        let file = store.plan_file().display().to_string();
        let found = format!("{missing} of {cells} cells missing: {shown}{dots}");
        let allowed = format!("every cell of this plan: {}", plan.words());
        let remedy = "run the missing shards into this folder, or `orrery sweep` without `--shard`";
        let error = SpecError::value("cells", found, allowed, remedy).in_file(&file);
        tell(&format!("error: {error}"));
        return Ok(Answer { failed: true, ..Answer::default() });
    }
    let rows = all_rows(&plan, &runs);
    let title = format!("sweep {}, {} cells", plan.name, plan.cells.len());
    let forms = Forms {
        table: run_report::pivot(&title, &rows),
        wide: wide(&rows),
        json: to_json(&rows, &[("sweep", plan.name.clone().into())]),
        page: output.html.as_ref().map(|_| cells::page::of_cells("sweep", &plan.name, &rows)),
        rows,
    };
    let out = Some(folder.to_path_buf());
    let into = Output { out, html: output.html.clone(), ..*output };
    forms.answer(&plan.name, &into)
}

fn all_rows(plan: &Plan, runs: &[Vec<Replication>]) -> Vec<Row> {
    let mut out = Vec::new();
    for (cell, own) in plan.cells.iter().zip(runs) {
        out.extend(rows(&cell.place, &cell.seeds, own));
        if cell.place.policy == plan.compare_to {
            continue;
        }
        let same =
            |c: &&PlannedCell| c.place.axes == cell.place.axes && c.place.policy == plan.compare_to;
        let base = plan.cells.iter().position(|c| same(&c));
        out.extend(base.and_then(|b| difference(&cell.place, &plan.compare_to, own, &runs[b])));
    }
    out
}
