//! The command line: what can be asked, and how the answer leaves.
//!
//! stdout is the result and nothing else; stderr is progress and diagnostics. Exit codes: 0 fine, 1
//! a check failed, 2 usage or input.

use crate::commands;
use clap::{Args, Parser, Subcommand, ValueEnum};
use orrery_scenario::SpecError;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// A deterministic simulator of the published DNN-inference schedulers.
#[derive(Debug, Parser)]
#[command(name = "orrery", version, about, arg_required_else_help = true)]
#[command(after_help = "Examples:
  orrery reproduce orloj-table-3
  orrery reproduce orloj-table-3 --case six-modal --format csv
  orrery run scenarios/one-gpu-bert.toml --policy orloj --log bert.log && orrery audit bert.log
  orrery trace inspect azure2019-f500")]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a paper's table and print it beside the paper's figures.
    Reproduce(Reproduce),
    /// List what can be reproduced.
    List,
    /// Run a scenario file and print the metrics of its policies.
    Run(Run),
    /// Look at traces, or write a scenario's workload down.
    #[command(subcommand)]
    Trace(Trace),
    /// Check a schedule log: conservation, causality, windows, outcomes.
    Audit {
        /// A log written by `orrery run --log`.
        log: PathBuf,
    },
    /// Turn a schedule log into a timeline that ui.perfetto.dev opens.
    Timeline(crate::timeline::Timeline),
    /// Tell what happened to one request, step by step.
    Explain(crate::explain::Explain),
    /// Turn result tables into figures.
    Plot(crate::plot::Plot),
    /// Rerun what baselines name and compare.
    Regress(crate::regress::Regress),
}

/// `orrery reproduce`.
#[derive(Debug, Args)]
pub struct Reproduce {
    /// The table's id (see `orrery list`), or a table file.
    pub id: String,
    /// Run only this case; may be repeated, and may name cases that the paper has no figure for.
    #[arg(long = "case", value_name = "NAME")]
    pub cases: Vec<String>,
    // No doc comment: clap would print it.
    #[allow(missing_docs)]
    #[command(flatten)]
    pub output: Output,
    /// Replications; the table's file says how many by default.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub seeds: Option<u32>,
    /// Simulations at a time; one for each core by default. Results do not depend on it.
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub jobs: Option<u16>,
}

/// `orrery run`.
#[derive(Debug, Args)]
pub struct Run {
    /// The scenario file.
    pub scenario: PathBuf,
    // No doc comment: clap would print it.
    #[allow(missing_docs)]
    #[command(flatten)]
    pub output: Output,
    /// The seed, instead of the file's.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Run this policy instead of the file's; may be repeated.
    #[arg(long = "policy", value_name = "POLICY")]
    pub policies: Vec<String>,
    /// Write the schedule log here; needs exactly one policy.
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
}

/// Where the result goes, and in which form.
#[derive(Debug, Args)]
pub struct Output {
    /// The form of the result on stdout.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Also write the result into this folder, in every form.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// The forms of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For reading.
    Table,
    /// One row for each cell.
    Csv,
    /// Rows, scores and assumptions.
    Json,
}

/// `orrery trace`.
#[derive(Debug, Subcommand)]
pub enum Trace {
    /// Say what a file is and what is in it.
    Inspect {
        /// A file, or the name of a shipped trace.
        file: String,
    },
    /// List the shipped traces.
    List,
    /// Write the workload of a scenario down, so that it can be replayed.
    Record {
        /// The scenario file.
        scenario: PathBuf,
        /// Where to: `.csv`, or `.parquet` in builds that have it.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// The seed, instead of the file's.
        #[arg(long, value_name = "N")]
        seed: Option<u64>,
    },
}

/// Runs the command line.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Reproduce(args) => commands::reproduce(&args),
        Command::List => commands::list(),
        Command::Run(args) => commands::run(&args),
        Command::Trace(command) => commands::trace(&command),
        Command::Audit { log } => commands::audit(&log),
        Command::Timeline(args) => crate::timeline::command(&args),
        Command::Explain(args) => crate::explain::command(&args),
        Command::Plot(args) => crate::plot::command(&args),
        Command::Regress(args) => crate::regress::command(&args),
    };
    match result {
        Ok(answer) => match print(&answer.stdout) {
            Ok(()) => ExitCode::from(u8::from(answer.failed)),
            Err(e) => {
                eprintln!("error: stdout: {e}");
                ExitCode::from(2)
            }
        },
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::from(2)
        }
    }
}

/// What a command has to say.
#[derive(Debug, Default)]
pub struct Answer {
    /// The result.
    pub stdout: String,
    /// Whether a check failed.
    pub failed: bool,
}

impl Answer {
    /// A result without a check.
    pub fn of(stdout: String) -> Answer {
        Answer { stdout, failed: false }
    }
}

/// Prints; a reader that went away is no error.
fn print(text: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Writes a file whole or not at all: under another name first, then renamed.
///
/// # Errors
/// When the folder cannot be written.
pub fn write_atomically(path: &std::path::Path, bytes: &[u8]) -> Result<(), SpecError> {
    let error = |e: std::io::Error| {
        let found = format!("{}: {e}", path.display());
        SpecError::value("--out", found, "a folder that can be written", "choose another folder")
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(error)?;
    }
    let temporary = path.with_extension("tmp");
    std::fs::write(&temporary, bytes).map_err(error)?;
    std::fs::rename(&temporary, path).map_err(error)
}
