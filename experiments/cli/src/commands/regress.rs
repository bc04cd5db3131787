//! The regression gate: rerun what a baseline names, compare, and say what moved.
//!
//! The simulator is deterministic, so "the same" means equal to the last digit unless a tolerance is
//! asked for. A baseline is one TOML file: what to rerun, and the rows that came out, as CSV.

mod against;
mod baseline;
mod compare;
mod input;
mod junit;
mod page;

pub use baseline::{Baseline, BaselineRow};
pub use compare::{Change, Comparison, compare};

use against::Other;
use junit::{Compared, Outcome};
use orrery_output::Answer;
use orrery_output::page::{self as page_file, WITHOUT_EFFECT};
use orrery_output::tell;
use orrery_output::whole_file::{check_place, write_atomically};
use orrery_results::RESULT_VERSION;
use orrery_scenario::SpecError;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// `orrery regress`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  orrery regress baselines/*.toml
  orrery regress baselines/*.toml --junit junit.xml --markdown summary.md
  orrery regress baselines/*.toml --html report.html
  orrery regress mine.toml --bless          # accept the current numbers
  orrery regress baselines/*.toml --against ./orrery-of-last-week

A baseline names what to rerun; `--bless` writes its rows:

  result_version = 4
  [rerun]
  scenario = \"my-scenario.toml\"             # or: reproduce = \"orloj-table-3\", cases = [...]
  policies = [\"clockwork\"]
  seeds = 2
  metrics = [\"finish_rate\", \"latency_p99_ns\"]

Exit codes: 0 nothing changed, 1 a number changed, 2 a baseline could not be run.")]
pub struct Regress {
    /// The baseline files.
    #[arg(required = true)]
    pub baselines: Vec<PathBuf>,
    /// Ignore differences up to this share of the larger value.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = tolerance)]
    pub tolerance: f64,
    /// Rewrite the baselines with the current numbers, and print the changes.
    #[arg(long)]
    pub bless: bool,
    /// Compare with the results of another version of orrery, instead of the baselines' rows.
    #[arg(long, value_name = "ORRERY", conflicts_with = "bless")]
    pub against: Option<PathBuf>,
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

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if (0.0..=1.0).contains(&x) => Ok(x),
        _ => Err("a number from 0 to 1, such as 0.01".to_string()),
    }
}

/// Runs `orrery regress`.
///
/// # Errors
/// When a baseline cannot be read or rerun, or is of another version of the results; all others are
/// compared first, and the reports written.
pub fn command(args: &Regress) -> Result<Answer, SpecError> {
    args.html.as_deref().map_or(Ok(()), page_file::check)?;
    for (option, path) in [("--junit", &args.junit), ("--markdown", &args.markdown)] {
        path.as_deref().map_or(Ok(()), |path| check_place(option, path))?;
    }
    let other = args.against.as_deref().map(Other::new).transpose()?;
    let mut outcomes = Vec::new();
    let mut broken: Option<SpecError> = None;
    for path in &args.baselines {
        let began = Instant::now();
        let outcome = one(path, args, other.as_ref());
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
    if let Some(path) = &args.junit {
        write_atomically(path, junit::junit(&outcomes)?.as_bytes())?;
    }
    let how = page::How {
        against: other.as_ref().map(|o| o.version.as_str()),
        tolerance: args.tolerance,
        blessed: args.bless,
    };
    let document = page::page(&outcomes, &how);
    if let Some(path) = &args.markdown {
        write_atomically(path, document.to_markdown().as_bytes())?;
    }
    if let Some(path) = &args.html {
        page_file::write(&document.to_html(), path)?;
    }
    if let Some(error) = broken {
        if let (failed, all @ 2..) = (could_not_run(&outcomes), outcomes.len()) {
            tell(&format!(
                "{failed} of {all} baselines could not be run; the others were compared"
            ));
        }
        return Err(error);
    }
    let moved = outcomes.iter().filter_map(Outcome::comparison).any(|c| !c.is_same());
    let failed = !args.bless && moved;
    Ok(Answer { stdout: document.to_text(), failed, ..Answer::default() })
}

fn could_not_run(outcomes: &[Outcome]) -> usize {
    outcomes.iter().filter(|o| o.result.is_err()).count()
}

fn one(path: &Path, args: &Regress, other: Option<&Other>) -> Result<Compared, SpecError> {
    let baseline = Baseline::load(path)?;
    if let Some(other) = other {
        let found = baseline.run()?;
        let of = path.display().to_string();
        let before = other.rows(&baseline).map_err(|e| e.in_file(&of))?;
        let comparison = compare(&before, &found.rows, args.tolerance);
        // Both were asked for the same.
        return Ok(Compared { comparison, differs: Some(Vec::new()) });
    }
    if baseline.result_version != RESULT_VERSION && !args.bless {
        let found = format!("version {}", baseline.result_version);
        let allowed = format!("version {RESULT_VERSION}, that of this program's results");
        let remedy = "look at the changelog's \"Results changed\", then accept with `--bless`";
        let error = SpecError::value("result_version", found, allowed, remedy);
        return Err(error.in_file(&path.display().to_string()));
    }
    let found = baseline.run()?;
    let comparison = compare(&baseline.rows, &found.rows, args.tolerance);
    let is_whole = baseline.result_version == RESULT_VERSION && baseline.made_from.is_some();
    if args.bless && (!comparison.is_same() || !is_whole) {
        write_atomically(path, baseline.with(&found).as_bytes())?;
    }
    let differs = baseline.made_from.map(|made| made.differs(&found.made_from));
    Ok(Compared { comparison, differs })
}
