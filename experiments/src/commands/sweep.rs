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

mod busy;
mod file;
mod plan;
mod store;

pub use file::{Axis, Point, Sample, SweepFile, reference};
pub use plan::{Plan, PlannedCell, plan};
pub use store::{Entry, Store};

use crate::cell::{Replication, difference, rows};
use crate::cli::{Answer, Merge, Sweep};
use crate::output::{Forms, Progress, say, say_more, tell};
use crate::run_report;
use orrery_results::{Row, to_json, wide};
use orrery_scenario::SpecError;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// `orrery sweep`.
///
/// # Errors
/// When the file is wrong, a run cannot be made or the folder cannot be written.
pub fn sweep(args: &Sweep) -> Result<Answer, SpecError> {
    let file = SweepFile::load(&args.file)?.with(args)?;
    let (plan, cells) = plan::plan(&file, file.base()?)?;
    let folder = match &args.output.out {
        Some(folder) => folder.clone(),
        None => PathBuf::from(format!("{}.sweep", file.name)),
    };
    let store = Store::open(&folder)?;
    store.write_plan(&plan)?;
    let mine = |i: &usize| args.shard.is_none_or(|s| s.has(*i));
    let mut pending = Vec::new();
    let mut kept = 0;
    for i in (0..cells.len()).filter(mine) {
        match store.read(&plan.cells[i].spec_sha256) {
            Entry::Good(_) => kept += 1,
            Entry::Absent => pending.push(i),
            Entry::Damaged(why) => {
                say(&format!("damaged: {why}; that cell is run again"));
                pending.push(i);
            }
        }
    }
    let run = |i: usize| -> Result<(), SpecError> {
        let place = &plan.cells[i].place;
        say_more(&format!("cell {} begins: {} {}", i + 1, place.axes, place.policy));
        let runs = cells[i].run()?;
        store.write(&plan.cells[i].spec_sha256, &runs)
    };
    let jobs = args.jobs.unwrap_or(0).into();
    let all_done = run_cells(&pending, jobs, run).inspect_err(|_| {
        say(&format!("finished cells are kept in {}", folder.display()));
    })?;
    if !all_done {
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

/// `orrery merge`.
///
/// # Errors
/// When the plan is missing, damaged or edited, or the folder cannot be written.
pub fn merge(args: &Merge) -> Result<Answer, SpecError> {
    join(&args.folder, &args.output())
}

/// Results from the plan and its entries, written into the folder. Without all entries there are none,
/// and the check has failed.
fn join(folder: &Path, output: &crate::cli::Output) -> Result<Answer, SpecError> {
    let store = Store::existing(folder)?;
    let plan = store.plan()?;
    let mut runs: Vec<Vec<Replication>> = Vec::with_capacity(plan.cells.len());
    let mut missing = Vec::new();
    for (i, cell) in plan.cells.iter().enumerate() {
        match store.read(&cell.spec_sha256) {
            Entry::Good(found) => runs.push(found),
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
        table: run_report::text(&title, &rows, false),
        wide: wide(&rows),
        json: to_json(&rows, &[("sweep", plan.name.clone().into())]),
        rows,
    };
    let into = crate::cli::Output { format: output.format, out: Some(folder.to_path_buf()) };
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

/// Runs cells in parallel; `false` when Ctrl-C stopped it. Cells that have begun are finished, and
/// the error of the first cell that failed is returned.
fn run_cells(
    cells: &[usize],
    jobs: usize,
    run: impl Fn(usize) -> Result<(), SpecError> + Sync,
) -> Result<bool, SpecError> {
    static STOP: AtomicBool = AtomicBool::new(false);
    // A second Ctrl-C ends at once: finished cells are on disk already.
    let handler = || {
        if STOP.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        say("stopping after the cells that have begun; Ctrl-C again stops at once");
    };
    // Only the first sweep of a process can install it, and one is enough.
    let _ = ctrlc::set_handler(handler);
    let pool = crate::commands::pool(jobs)?;
    let progress = Progress::new(cells.len() as u64, "cells");
    let failed: Mutex<Option<(usize, SpecError)>> = Mutex::new(None);
    pool.install(|| {
        cells.par_iter().with_max_len(1).for_each(|&i| {
            if STOP.load(Ordering::SeqCst) || failed.lock().is_ok_and(|f| f.is_some()) {
                return;
            }
            match run(i) {
                Ok(()) => progress.step(),
                Err(e) => {
                    let Ok(mut first) = failed.lock() else { return };
                    if first.as_ref().is_none_or(|(at, _)| i < *at) {
                        *first = Some((i, e));
                    }
                }
            }
        });
    });
    drop(progress);
    match failed.into_inner() {
        Ok(Some((_, e))) => Err(e),
        _ => Ok(!STOP.load(Ordering::SeqCst)),
    }
}
