//! The command line: what can be asked, and how the answer leaves.
//!
//! stdout is the result and nothing else; stderr is progress and diagnostics. Exit codes: 0 fine, 1
//! a check failed, 2 usage or input.

use crate::commands;
use crate::output;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use orrery_scenario::SpecError;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// The version of the program and that of its results.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (results version 3)");
const _: () = assert!(orrery_results::RESULT_VERSION == 3, "raise the number in VERSION as well");

/// A deterministic simulator of the published DNN-inference schedulers.
#[derive(Debug, Parser)]
#[command(name = "orrery", version = VERSION, about, arg_required_else_help = true)]
#[command(after_help = "Examples:
  orrery reproduce orloj-table-3 --plot table-3.svg
  orrery reproduce orloj-table-3 --case six-modal --format csv
  orrery run scenarios/one-gpu-bert.toml --policy orloj --log bert.log --why
  orrery explain bert.log --worst 5
  orrery sweep scenarios/sweeps/bert-slo.toml
  orrery regress baselines/*.toml

Exit codes: 0 fine, 1 a check failed, 2 usage or input, 130 stopped by Ctrl-C.
stdout is the result; stderr is progress and diagnostics.")]
pub struct Cli {
    /// Say nothing on stderr but errors.
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Say more on stderr.
    #[arg(long, short, global = true)]
    verbose: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a paper's table and print it beside the paper's figures.
    Reproduce(Reproduce),
    /// List what can be reproduced, and the model zoos; or the models of a zoo.
    List {
        /// A zoo.
        zoo: Option<String>,
    },
    /// Run a scenario file and print the metrics of its policies.
    Run(Run),
    /// Find the highest rate that a scenario's devices carry, or the fewest devices for its rate.
    Goodput(crate::goodput::Goodput),
    /// Run a scenario over axes, in parallel; continues where it was stopped.
    Sweep(Sweep),
    /// Join the shards of a sweep.
    Merge(Merge),
    /// Look at traces, or write a scenario's workload down.
    #[command(subcommand)]
    Trace(Trace),
    /// Check a schedule log: conservation, causality, windows, outcomes.
    Audit {
        /// A log written by `orrery run --log`.
        log: PathBuf,
        /// It is of a replay on a wall clock, where a request is told a little after its arrival.
        #[arg(long)]
        wall_clock: bool,
    },
    /// Turn a schedule log into a timeline that ui.perfetto.dev opens.
    Timeline(crate::timeline::Timeline),
    /// Tell what happened to one request, step by step.
    Explain(crate::explain::Explain),
    /// Turn result tables into figures.
    Plot(crate::plot::Plot),
    /// Divide models among sub-clusters, evenly and with few moves.
    Partition(crate::partition::Partition),
    /// Find the cheapest pool of machines for a load, or the best under a budget.
    Plan(crate::plan::Plan),
    /// Rerun what baselines name and compare.
    Regress(crate::regress::Regress),
    /// Print the JSON Schema of a kind of file, for editors.
    Schema(crate::schema::Schema),
    /// Print a shell's completions.
    #[command(after_help = "Example:
  orrery completions bash > ~/.local/share/bash-completion/completions/orrery")]
    Completions {
        /// The shell.
        shell: Shell,
    },
}

/// `orrery reproduce`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  orrery reproduce orloj-table-3
  orrery reproduce orloj-table-3 --case six-modal --seeds 10 --format wide
  orrery reproduce orloj-table-5 --out results/ --plot results/table-5.png")]
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
    // No doc comment: clap would print it.
    #[allow(missing_docs)]
    #[command(flatten)]
    pub until: Until,
    /// Draw the table's figure: `.svg` or `.png`.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
}

/// When to stop adding seeds.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Until {
    /// Add seeds until the finish rate's 95 % interval is at most so wide.
    #[arg(long, value_name = "WIDTH", value_parser = width)]
    pub until_ci: Option<f64>,
    /// The most seeds that `--until-ci` may take [default: 100].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub max_seeds: Option<u32>,
}

impl Until {
    /// Width and most seeds, where asked for.
    ///
    /// # Errors
    /// When there is a limit and nothing that it limits.
    pub fn pair(&self) -> Result<Option<(f64, u32)>, SpecError> {
        match (self.until_ci, self.max_seeds) {
            (None, Some(max)) => {
                let remedy = "add `--until-ci WIDTH`, or say `--seeds` for a fixed number";
                Err(SpecError::value("--max-seeds", max, "only with `--until-ci`", remedy))
            }
            (width, max) => Ok(width.map(|w| (w, max.unwrap_or(100)))),
        }
    }
}

fn width(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(w) if w > 0.0 && w <= 1.0 => Ok(w),
        _ => Err("a number above 0, at most 1, such as 0.01".to_string()),
    }
}

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
    /// Replications of each cell, instead of the file's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub seeds: Option<u32>,
    /// Simulations at a time; one for each core by default. Results do not depend on it.
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub jobs: Option<u16>,
    // No doc comment: clap would print it.
    #[allow(missing_docs)]
    #[command(flatten)]
    pub until: Until,
    /// Run only the K-th of N disjoint parts into `--out`; `orrery merge` joins them.
    #[arg(long, value_name = "K/N", requires = "out")]
    pub shard: Option<Shard>,
}

/// The K-th of N parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    k: usize,
    n: usize,
}

impl Shard {
    /// Whether a cell belongs to it.
    pub fn has(self, cell: usize) -> bool {
        cell % self.n == self.k - 1
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.k, self.n)
    }
}

impl std::str::FromStr for Shard {
    type Err = String;
    fn from_str(text: &str) -> Result<Shard, String> {
        let parts =
            text.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((k, n)) if 1 <= k && k <= n => Ok(Shard { k, n }),
            _ => Err("K/N with K from 1 to N, such as 2/8".to_string()),
        }
    }
}

/// `orrery merge`.
#[derive(Debug, Args)]
pub struct Merge {
    /// The folder that the shards were run into.
    pub folder: PathBuf,
    /// The form of the result on stdout.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

impl Merge {
    /// Where the result goes.
    pub fn output(&self) -> Output {
        Output { format: self.format, out: None }
    }
}

/// `orrery run`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  orrery run scenarios/one-gpu-bert.toml
  orrery run scenarios/one-gpu-bert.toml --seeds 10 --format wide
  orrery run scenarios/one-gpu-bert.toml --policy 'clockwork[estimator=static-mean]' --until-ci 0.005
  orrery run scenarios/md1.toml --policy fifo --log md1.log --why")]
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
    /// Replications: seeds that follow the first.
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub seeds: u32,
    // No doc comment: clap would print it.
    #[allow(missing_docs)]
    #[command(flatten)]
    pub until: Until,
    /// Simulations at a time; one for each core by default. Results do not depend on it.
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub jobs: Option<u16>,
    /// Write the schedule log of the first seed here; needs exactly one policy.
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Log the policy's reasons too, for `orrery explain`.
    #[arg(long, requires = "log")]
    pub why: bool,
    /// Also write distributions and time series of the first seed into `--out`, for `orrery plot`.
    #[arg(long, requires = "out")]
    pub details: bool,
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

impl Output {
    /// Whether the result will find its place: asked before the runs.
    ///
    /// # Errors
    /// When `--out` cannot be written.
    pub fn check(&self) -> Result<(), SpecError> {
        self.out.as_deref().map_or(Ok(()), crate::whole_file::check_folder)
    }
}

/// The forms of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For reading.
    Table,
    /// One row for each cell and metric, with its provenance (docs/formats.md).
    Csv,
    /// CSV with one row for each cell, and a column for each metric.
    Wide,
    /// The rows, and what belongs to them.
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
    output::set_verbosity(if cli.quiet { 0 } else { 1 + u8::from(cli.verbose) });
    let result = match cli.command {
        Command::Reproduce(args) => commands::reproduce(&args),
        Command::List { zoo: None } => commands::list(),
        Command::List { zoo: Some(zoo) } => crate::zoos::models(&zoo),
        Command::Run(args) => commands::run(&args),
        Command::Goodput(args) => crate::goodput::command(&args),
        Command::Sweep(args) => crate::sweep::sweep(&args),
        Command::Merge(args) => crate::sweep::merge(&args),
        Command::Trace(command) => commands::trace(&command),
        Command::Audit { log, wall_clock } => commands::audit(&log, wall_clock),
        Command::Timeline(args) => crate::timeline::command(&args),
        Command::Explain(args) => crate::explain::command(&args),
        Command::Plot(args) => crate::plot::command(&args),
        Command::Partition(args) => crate::partition::command(&args),
        Command::Plan(args) => crate::plan::command(&args),
        Command::Regress(args) => crate::regress::command(&args),
        Command::Schema(args) => Ok(crate::schema::command(&args)),
        Command::Completions { shell } => Ok(completions(shell)),
    };
    match result {
        Ok(answer) => match print(&answer.stdout) {
            Ok(()) if answer.interrupted => ExitCode::from(130),
            Ok(()) => ExitCode::from(u8::from(answer.failed)),
            Err(e) => {
                output::tell(&format!("error: stdout: {e}"));
                ExitCode::from(2)
            }
        },
        Err(e) => {
            output::tell(&format!("error: {e}"));
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
    /// Whether Ctrl-C stopped it.
    pub interrupted: bool,
}

impl Answer {
    /// A result without a check.
    pub fn of(stdout: String) -> Answer {
        Answer { stdout, ..Answer::default() }
    }
}

fn completions(shell: Shell) -> Answer {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "orrery", &mut bytes);
    Answer::of(String::from_utf8_lossy(&bytes).into_owned())
}

/// Prints; a reader that went away is no error.
fn print(text: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
