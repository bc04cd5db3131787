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
///
/// Which options apply to which kind of experiment is said in one place: `reproduce/options.rs`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  orrery reproduce orloj-table-3
  orrery reproduce orloj-table-3 --case six-modal --seeds 10 --format wide
  orrery reproduce orloj-table-5 --out results/ --plot results/table-5.png")]
pub struct Reproduce {
    /// The table's id (see `orrery list`), or a table file.
    pub id: String,
    /// Run only this case (a table's row, a study's point, a model, a solver); may be repeated, and for
    /// tables may name cases that the paper has no figure for.
    #[arg(long = "case", value_name = "NAME")]
    pub cases: Vec<String>,
    // No doc comment: clap would print it.
    #[allow(missing_docs)]
    #[command(flatten)]
    pub output: Output,
    /// Replications (configurations of a partition); the file says how many by default.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub seeds: Option<u32>,
    /// Simulations at a time; one for each core by default. Results do not depend on it.
    #[arg(long, value_name = "J", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub jobs: Option<u16>,
    // No doc comment: clap would print it.
    #[allow(missing_docs)]
    #[command(flatten)]
    pub until: Until,
    /// Draw the figure of the table or study: `.svg` or `.png`.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
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
    // Before hours of runs, and before help is printed.
    if let Some(why) = orrery_stdio::why_stdout_is_closed() {
        output::tell(&format!(
            "error: stdout: {why}\n  remedy: to have no result, write `>/dev/null`"
        ));
        return ExitCode::from(2);
    }
    let cli = Cli::parse();
    output::set_verbosity(if cli.quiet { 0 } else { 1 + u8::from(cli.verbose) });
    let result = match cli.command {
        Command::Reproduce(args) => crate::reproduce::command(&args),
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
