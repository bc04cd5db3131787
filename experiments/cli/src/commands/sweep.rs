//! `orrery sweep` and `orrery sweep merge`: a scenario or a file of tokens over axes, in parallel, nothing finished ever lost.
//!
//! ```text
//!  FILE.toml ── Lister ──> manifest.jsonl: a line for each cell, with the hash of its specification
//!                               │ lines become cells where they are run, each entry written at its end
//!  results <── join ── manifest.jsonl + cells/ab/HASH.cell <┘
//! ```
//!
//! Results are made from the stored entries alone, in the order of the manifest: neither the number of
//! jobs, nor shards, nor workers that share, nor a run that was killed in between can change a byte. A
//! folder has one manifest: whoever comes with another is refused.

use super::set::Set;
use clap::Args;
use orrery_report::page::{self, WITHOUT_EFFECT};
use orrery_report::{Answer, Format, Output, say, tell};
use orrery_reproduce::reproduce::{self, Outcome};
use orrery_run::SpecError;
use orrery_scenario::kind;
use orrery_scenario::own::WorldFile;
use orrery_scenario::tokens::TokensFile;
use orrery_sweep::join::{check_forms, join};
use orrery_sweep::manifest::Lister;
use orrery_sweep::parts::{Ran, run_parts};
use orrery_sweep::scenario_cell::Subject;
use orrery_sweep::seeds::Until;
use orrery_sweep::shard::Shard;
use orrery_sweep::store::Store;
use orrery_sweep::sweep_file::SweepFile;
use orrery_sweep::work::Work;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// `orrery sweep`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  orrery sweep scenarios/sweeps/bert-slo.toml
  orrery sweep my.toml --out results/ --until-ci 0.01
  orrery sweep my.toml --out shared/ --shard 1/4      # 2/4, 3/4, 4/4 on other machines, then:
  orrery sweep merge shared/")]
pub struct Sweep {
    /// The sweep file.
    pub file: PathBuf,
    // No doc comment: clap would print it.
    #[command(flatten)]
    pub set: Set,
    // No doc comment: clap would print it.
    #[command(flatten)]
    pub output: Output,
    /// Number of replications of each cell, instead of the file's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub seeds: Option<u32>,
    /// Number of parallel simulations; by default one per core. Results do not depend on it.
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=4096))]
    #[arg(help_heading = WITHOUT_EFFECT)]
    pub jobs: Option<u16>,
    // No doc comment: clap would print it.
    #[command(flatten)]
    pub until: Until,
    /// Run only the K-th of N disjoint parts into `--out`; `orrery sweep merge` joins them.
    #[arg(long, value_name = "K/N", requires = "out", conflicts_with = "html")]
    pub shard: Option<Shard>,
    /// Run nothing; check every cell and write the manifest, with which workers begin at once.
    #[arg(long, conflicts_with_all = ["shard", "html"])]
    pub manifest: bool,
    /// Run nothing; list and remove cells in the folder that do not belong to this sweep, such as those of
    /// an earlier version of its file.
    #[arg(long, conflicts_with_all = ["shard", "manifest"])]
    pub prune: bool,
}

/// `orrery sweep merge`.
#[derive(Debug, Args)]
pub struct Merge {
    /// The folder that the shards wrote to.
    pub folder: PathBuf,
    /// The form of the result on stdout.
    #[arg(long, value_enum, default_value_t = Format::Table, help_heading = WITHOUT_EFFECT)]
    pub format: Format,
    /// Also write the result as one HTML page.
    #[arg(long, value_name = "FILE", help_heading = WITHOUT_EFFECT)]
    pub html: Option<PathBuf>,
}

/// Runs it.
///
/// # Errors
/// When the file is wrong, a run cannot be made or the folder cannot be written.
pub fn command(args: &Sweep) -> Result<Answer, SpecError> {
    let file = SweepFile::load(&args.file)?.with(args.seeds, args.until)?;
    let file = file.at(args.set.changes()?)?;
    let base = file.base_path();
    if kind::is_of(kind::TOKENS, &base) {
        return swept(args, &file, TokensFile::load(&base)?);
    }
    swept(args, &file, file.base()?)
}

fn swept<S: Subject>(args: &Sweep, file: &SweepFile, base: S) -> Result<Answer, SpecError> {
    let lister = Lister::new(file, base.clone())?;
    let jobs: usize = args.jobs.unwrap_or(0).into();
    let folder = match &args.output.out {
        Some(folder) => folder.clone(),
        None => PathBuf::from(format!("{}.sweep", file.name)),
    };
    if args.prune {
        args.output.check(&file.name)?;
        return prune(&lister, &folder, jobs);
    }
    // What is wrong with the file is told before the folder is made.
    lister.first()?;
    args.output.check(&file.name)?;
    file.without_effect(&base, &[]).iter().for_each(|note| say(note));
    let store = Store::open(&folder)?;
    let work = Work::of(&store, store.manifest_of(&lister, jobs)?)?;
    let (cells, shown) = (work.parts().len(), folder.display());
    if args.manifest {
        return Ok(Answer::of(format!("{cells} cells are listed in {shown}/manifest.jsonl\n")));
    }
    check_forms(cells, &args.output)?;
    let names = || work.parts().iter().map(|part| part.name.as_str());
    let own = args.shard.map_or_else(|| (0..cells).collect(), |shard| shard.of(names()));
    let all = own.len();
    let pending: Vec<usize> = own.into_iter().filter(|i| !work.is_whole(*i)).collect();
    let kept = all - pending.len();
    let ran = run_parts(&pending, jobs, |i| work.run(i)).inspect_err(|_| {
        say(&format!("finished cells are kept in {shown}"));
    })?;
    if let Ran::Stopped = ran {
        return Ok(stopped(&folder));
    }
    if let Some(shard) = args.shard {
        return Ok(Answer::of(format!(
            "shard {shard}: {} cells run, {kept} were there; `orrery sweep merge {shown}` joins the shards\n",
            pending.len(),
        )));
    }
    say(&format!("{} cells run, {kept} were there; results in {shown}", pending.len()));
    join(&store, &args.output)
}

fn stopped(folder: &Path) -> Answer {
    let folder = folder.display();
    say(&format!("stopped; finished cells are kept in {folder}: the same command continues"));
    Answer { interrupted: true, ..Answer::default() }
}

/// Removes the entries of cells that the sweep does not have.
fn prune<S: Subject>(
    lister: &Lister<'_, S>,
    folder: &Path,
    jobs: usize,
) -> Result<Answer, SpecError> {
    if !folder.join("cells").is_dir() {
        let remedy = "give the folder of `orrery sweep --out`";
        let found = format!("{} without `cells`", folder.display());
        return Err(SpecError::value("--out", found, "the folder of a sweep", remedy));
    }
    let mut keep = BTreeSet::new();
    lister.each(jobs, |listed| {
        keep.insert(listed.line.entry_sha256);
        Ok(ControlFlow::Continue(()))
    })?;
    let removed = Store::open(folder)?.prune(&keep)?;
    let list: String = removed.iter().map(|hash| format!("removed {hash}\n")).collect();
    let kept = "cells of this sweep are kept";
    Ok(Answer::of(format!("{list}{} old cells removed; {kept}\n", removed.len())))
}

/// Joins the shards of a sweep or an experiment.
///
/// # Errors
/// When the manifest is missing, damaged or edited, or the folder cannot be written.
pub fn merge(args: &Merge) -> Result<Answer, SpecError> {
    let output = Output { format: args.format, out: None, html: args.html.clone() };
    output.html.as_deref().map_or(Ok(()), page::check)?;
    if !reproduce::is_sharded(&args.folder) {
        return join(&Store::existing(&args.folder)?, &output);
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
    let output = Output { out: Some(args.folder.clone()), ..output };
    output.check(&e.id)?;
    forms.answer(&e.id, &output)
}
