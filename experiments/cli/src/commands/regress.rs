//! The regression gate: rerun what a baseline names, compare, judge what is required, and say what moved and why.
//!
//! The simulator is deterministic, so "the same" means equal to the last digit unless a tolerance is
//! asked for. A baseline is one TOML file: what to rerun, what is required of it, and what was recorded.
//!
//! ```text
//!  Baseline ── rerun ──> rows ──┬── compare: what became of each recorded value
//!   (file)               Input  ├── require: met, missed, undecided
//!                          │    └── noise: how far the luck of the seeds goes
//!                          └─ input: what changed, key by key
//!  Outcome of each ──> page (text, Markdown, HTML), junit, github
//! ```

mod baseline;
mod compare;
mod github;
mod input;
mod junit;
mod noise;
mod outcome;
mod page;
mod require;
mod rerun;
mod row;

use baseline::{Baseline, Found};
use compare::{Comparison, compare};
use orrery_report::Answer;
use orrery_report::page::{self as page_file, WITHOUT_EFFECT};
use orrery_report::tell;
use orrery_report::whole_file::{check_place, write_atomically};
use orrery_run::SpecError;
use outcome::{Compared, Outcome};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// `orrery regress`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  orrery regress tests/baselines/*.toml
  orrery regress tests/baselines/*.toml --junit junit.xml --markdown summary.md
  orrery regress tests/baselines/*.toml --html report.html
  orrery regress tests/baselines/*.toml --format github
  orrery regress mine.toml --bless          # accept the current numbers

A baseline names what to rerun, and what is required of it; `--bless` records its values:

  [rerun]
  scenario = \"my-scenario.toml\"             # or: sweep = \"FILE\", reproduce = \"orloj-table-3\"
  policies = [\"clockwork\"]
  seeds = 5
  metrics = [\"finish_rate\", \"latency_p99_ns\"]

  [[require]]
  policy = \"clockwork\"
  metric = \"finish_rate\"
  min = 0.99                                # or: max

Exit codes: 0 all is the same and what is required is met, 1 a value moved or a requirement is not met,
2 a baseline could not be run.")]
pub struct Regress {
    /// The baseline files.
    #[arg(required = true)]
    pub baselines: Vec<PathBuf>,
    /// Ignore differences up to this share of the larger value.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = tolerance)]
    pub tolerance: f64,
    /// Record the current numbers in the baselines, and print the changes.
    #[arg(long)]
    pub bless: bool,
    /// The form of the answer on stdout: a table, or annotations of GitHub Actions.
    #[arg(long, value_enum, default_value_t = Form::Table, help_heading = WITHOUT_EFFECT)]
    pub format: Form,
    /// Write the outcome as JUnit XML: one suite per baseline, one test case per group of values.
    #[arg(long, value_name = "FILE", help_heading = WITHOUT_EFFECT)]
    pub junit: Option<PathBuf>,
    /// Write the outcome as Markdown.
    #[arg(long, value_name = "FILE", help_heading = WITHOUT_EFFECT)]
    pub markdown: Option<PathBuf>,
    /// Write the outcome as one HTML page.
    #[arg(long, value_name = "FILE", help_heading = WITHOUT_EFFECT)]
    pub html: Option<PathBuf>,
}

/// The form of the answer on stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// Text for reading.
    Table,
    /// Annotations of GitHub Actions.
    Github,
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if (0.0..=1.0).contains(&x) => Ok(x),
        _ => Err("a number from 0 to 1, such as 0.01".to_string()),
    }
}

/// Runs `orrery regress`.
///
/// # Errors
/// When a baseline cannot be read or rerun; all others are compared first, and the reports written.
pub fn command(args: &Regress) -> Result<Answer, SpecError> {
    args.html.as_deref().map_or(Ok(()), page_file::check)?;
    for (option, path) in [("--junit", &args.junit), ("--markdown", &args.markdown)] {
        path.as_deref().map_or(Ok(()), |path| check_place(option, path))?;
    }
    let (outcomes, broken) = all(args);
    let how = page::How { tolerance: args.tolerance, blessed: args.bless };
    let text = reports(args, &outcomes, &how)?;
    let stdout = match args.format {
        Form::Github => github::annotations(&outcomes, args.bless),
        Form::Table if outcomes.iter().all(|o| o.result.is_err()) => String::new(),
        Form::Table => text,
    };
    if let (Some(how_many), 2..) = (outcome::broken(&outcomes), outcomes.len()) {
        tell(&format!("{how_many}; the others were compared"));
    }
    let compared = || outcomes.iter().filter_map(Outcome::compared);
    let moved = !args.bless && compared().any(|c| !c.comparison.is_same());
    let unmet = compared().any(|c| c.unmet().next().is_some());
    Ok(Answer { stdout, failed: moved || unmet, error: broken, ..Answer::default() })
}

/// What came of each baseline, and the first error.
fn all(args: &Regress) -> (Vec<Outcome>, Option<SpecError>) {
    let mut outcomes = Vec::new();
    let mut broken: Option<SpecError> = None;
    for path in &args.baselines {
        let began = Instant::now();
        let outcome = one(path, args);
        let name = path.display().to_string();
        let result = outcome.map_err(|e| {
            let text = e.to_string();
            // The first is what the command ends with.
            if broken.is_some() {
                tell(&format!("error: {text}"));
            } else {
                broken = Some(e);
            }
            text
        });
        outcomes.push(Outcome { name, result, took: began.elapsed() });
    }
    (outcomes, broken)
}

/// Writes the reports that are asked for; the text of the answer.
fn reports(args: &Regress, outcomes: &[Outcome], how: &page::How) -> Result<String, SpecError> {
    if let Some(path) = &args.junit {
        write_atomically(path, junit::junit(outcomes, args.bless)?.as_bytes())?;
    }
    let document = page::page(outcomes, how);
    if let Some(path) = &args.markdown {
        write_atomically(path, document.to_markdown().as_bytes())?;
    }
    if let Some(path) = &args.html {
        page_file::write(&document.to_html(), path)?;
    }
    Ok(page::text(&document))
}

fn one(path: &Path, args: &Regress) -> Result<Compared, SpecError> {
    let baseline = Baseline::load(path)?;
    let found = baseline.run()?;
    let judged = baseline.judged(&found.rows)?;
    let is_of = |made: &input::Made| made.seeds == found.made_from.seeds;
    let same_seeds = baseline.made_from.as_ref().is_none_or(is_of);
    let comparison = match baseline.records() {
        true => compare(&baseline.rows, &found.recorded, args.tolerance, same_seeds),
        false => Comparison::default(),
    };
    if args.bless && baseline.records() {
        bless(path, &baseline, &found, &comparison)?;
    }
    let lines = baseline.lines(&comparison.changes);
    let differs = found.differs;
    Ok(Compared { comparison, differs, judged, records: baseline.records(), lines })
}

/// Records what was found, where it is not what the file has already.
fn bless(
    path: &Path,
    baseline: &Baseline,
    found: &Found,
    comparison: &Comparison,
) -> Result<(), SpecError> {
    let is_whole = baseline.made_from.as_ref().is_some_and(input::Made::is_whole);
    let changed = |d: &input::Difference| !matches!(d, input::Difference::Program(..));
    let is_of_now = !found.differs.iter().flatten().any(changed);
    if comparison.is_same() && is_whole && is_of_now {
        return Ok(());
    }
    write_atomically(path, baseline.with(found)?.as_bytes())
}
