//! The command line: what can be asked, and how the answer leaves.
//!
//! stdout is the result and nothing else; stderr is progress and diagnostics. Exit codes: 0 fine, 1
//! a check failed (a run is invalid, a campaign misses its targets), 2 usage or input.

mod compare;
mod interrupt;
mod profile;
mod retrace;
mod run;
mod shared;
mod validate;

use crate::device::worker::end_all;
use crate::error::Error;
use crate::profile::ProfileFile;
use crate::target::{DeviceConfig, look};
use crate::threads::cores;
use crate::validate::CampaignFile;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use orrery_report::manual::{Shell, completions, pages};
use orrery_report::set_verbosity;
use orrery_report::whole_file::write_atomically;
use orrery_results::RESULT_VERSION;
use orrery_scenario::reference::schema;
use shared::Answer;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs orrery's policies on a device in real time, and compares with the simulation.
#[derive(Debug, Parser)]
#[command(name = "orrery-replay", version, about, arg_required_else_help = true)]
#[command(after_help = "Examples:
  orrery-replay devices
  orrery-replay profile scenarios/one-gpu-bert.toml --device emulated --out bert-profile.toml
  orrery-replay run scenarios/one-gpu-bert.toml --policy orloj --profile bert-profile.toml --out run
  orrery-replay compare run/predicted.log run --plot errors.svg
  orrery-replay retrace scenarios/one-gpu-bert.toml run --profile bert-profile.toml
  orrery-replay validate replay/campaigns/emulated.toml --out replay/validated/emulated
  orrery-replay validated replay/validated

Exit codes: 0 success, 1 a check failed, 2 wrong usage or input.
stdout is the result; stderr is progress and diagnostics.")]
pub struct Cli {
    /// Print only errors on stderr.
    #[arg(long, short, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the devices, and where orrery-replay looked for them.
    Devices,
    /// Measure how long batches take on a device, and write a profile for scenarios.
    Profile(profile::Profile),
    /// Run a scenario on a device, live or from a recorded schedule.
    Run(run::Run),
    /// Compare a prediction with a measurement.
    Compare(compare::Compare),
    /// Feed the simulator with what was measured of a run: does it take the same decisions?
    Retrace(retrace::Retrace),
    /// Run a campaign: simulate and replay many points.
    Validate(validate::Validate),
    /// Sum up campaigns that have run, in one table.
    Validated(validate::Validated),
    /// Print the JSON Schema of a kind of file, for editors.
    Schema {
        /// The kind of file.
        kind: Kind,
    },
    /// Print a shell's completions.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Write the man pages, one for each command.
    Man {
        /// The folder for the pages.
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// What `profile` writes and scenarios name.
    Profile,
    /// What `validate` takes.
    Campaign,
    /// What `--device-config` takes.
    Device,
}

/// The command line of a program that was built from this commit.
fn program(commit: &str) -> clap::Command {
    let version = env!("CARGO_PKG_VERSION");
    let version = format!("{version} (commit {commit}, results {RESULT_VERSION})");
    // Once in a run: clap wants a text that stays.
    Cli::command().version(&*version.leak())
}

/// Reads the arguments, does it, and answers, as a program that was built from this commit.
pub fn main(commit: &str) -> ExitCode {
    if let Some(why) = orrery_report::why_stdout_is_closed() {
        return fail(&format!(
            "stdout: {why}\n  remedy: to discard the result, write `>/dev/null`"
        ));
    }
    // One that was asked has commands of its own for help.
    let mut asked = program(commit);
    let matches = asked.try_get_matches_from_mut(std::env::args_os());
    let cli = match matches.and_then(|m| Cli::from_arg_matches(&m)) {
        Ok(cli) => cli,
        Err(e) => {
            let _ = e.print();
            return if e.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    set_verbosity(u8::from(!cli.quiet));
    let answer = match &cli.command {
        Command::Devices => Ok(Answer::of(devices())),
        Command::Profile(args) => args.answer(),
        Command::Run(args) => args.answer(),
        Command::Compare(args) => args.answer(),
        Command::Retrace(args) => args.answer(),
        Command::Validate(args) => args.answer(),
        Command::Validated(args) => args.answer(),
        Command::Schema { kind } => Ok(Answer::of(schema_of(*kind))),
        Command::Completions { shell } => Ok(Answer::of(completions(*shell, program(commit)))),
        Command::Man { out } => man(out, program(commit)),
    };
    end_all();
    match answer {
        Ok(Answer { text, passed }) => {
            let mut stdout = std::io::stdout().lock();
            match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
                // A reader that went away is no error.
                Err(e) if e.kind() != ErrorKind::BrokenPipe => fail(&format!("stdout: {e}")),
                _ if passed => ExitCode::SUCCESS,
                _ => ExitCode::from(1),
            }
        }
        Err(e) => fail(&e.to_string()),
    }
}

fn fail(why: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "error: {why}");
    ExitCode::from(2)
}

fn schema_of(kind: Kind) -> String {
    let schema = match kind {
        Kind::Profile => schema::<ProfileFile>(),
        Kind::Campaign => schema::<CampaignFile>(),
        Kind::Device => schema::<DeviceConfig>(),
    };
    format!("{:#}\n", schema.as_value())
}

/// Writes the man pages, and lists them.
fn man(out: &Path, program: clap::Command) -> Result<Answer, Error> {
    let mut list = String::new();
    for (name, text) in pages(program).map_err(|e| Error::unwritable(out, &e))? {
        let path = out.join(name);
        write_atomically(&path, text.as_ref())?;
        list += &format!("{}\n", path.display());
    }
    Ok(Answer::of(list))
}

fn devices() -> String {
    let mut text =
        String::from("emulated: waits as long as a curve or a sample says; needs nothing\n");
    let last = cores().len() - 1;
    let keeps = "a core runs a network; the controller keeps core 0\n";
    text += &match last {
        0 => "cpu:N: a core runs a network; it takes two cores, and this process was given one\n"
            .to_string(),
        1 => format!("cpu:1: {keeps}"),
        _ => format!("cpu:1 to cpu:{last}: {keeps}"),
    };
    text += "worker:N: any program that answers (docs/worker.md); `--device-config` says which\n";
    text + &look().to_string()
}
