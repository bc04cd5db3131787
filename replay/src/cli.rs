//! The command line: what can be asked, and how the answer leaves.
//!
//! stdout is the result and nothing else; stderr is progress and diagnostics. Exit codes: 0 fine, 1
//! a check failed (a run is invalid, a campaign misses its targets), 2 usage or input.

mod compare;
mod profile;
mod run;
mod validate;

use crate::error::{Error, read_toml};
use crate::profile::Clocks;
use crate::target::{Choice, DeviceConfig, Target, look};
use clap::{Args, Parser, Subcommand};
use orrery_scenario::kind;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs orrery's policies on a device in real time, and compares with the simulation.
#[derive(Debug, Parser)]
#[command(name = "orrery-replay", version, about, arg_required_else_help = true)]
#[command(after_help = "Examples:
  orrery-replay devices
  orrery-replay profile scenarios/one-gpu-bert.toml --device emulated --out bert-profile.toml
  orrery-replay run scenarios/one-gpu-bert.toml --policy orloj --profile bert-profile.toml --out run
  orrery-replay compare run/predicted.log run --plot errors.svg
  orrery-replay validate replay/campaigns/emulated.toml --out docs/validation/emulated

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
    /// Run a campaign: simulate and replay many points.
    Validate(validate::Validate),
}

/// Which device, and what it runs.
#[derive(Args, Debug)]
pub struct DeviceArgs {
    /// `emulated` or `cuda:N`.
    #[arg(long, default_value = "emulated")]
    device: String,
    /// A TOML file that says what the device runs (docs/replay.md); without it, an emulated device follows
    /// the scenario's latencies, with noise.
    #[arg(long, value_name = "FILE")]
    device_config: Option<PathBuf>,
}

impl DeviceArgs {
    fn choice(&self) -> Result<Choice, Error> {
        let target: Target = self.device.parse()?;
        let file = self.device_config.clone().unwrap_or_default();
        let config: DeviceConfig = match &self.device_config {
            Some(file) => read_toml(file, kind::DEVICE)?,
            None => DeviceConfig::default(),
        };
        Ok(Choice { target, config, file })
    }
}

/// Which clock.
#[derive(Args, Debug)]
pub struct ClockArgs {
    /// Slow time down: each second takes N; for slow machines, emulated device only.
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "virtual_clock",
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    time_scale: u32,
    /// Use a virtual clock that jumps to the next event: tests the harness, measures no device.
    #[arg(long)]
    virtual_clock: bool,
}

impl ClockArgs {
    fn clocks(&self) -> Clocks {
        if self.virtual_clock { Clocks::Virtual } else { Clocks::Wall(self.time_scale) }
    }
}

/// What a command answers.
struct Answer {
    /// The result, for stdout.
    text: String,
    /// Whether the check, if it was one, was passed.
    passed: bool,
}

impl Answer {
    fn of(text: String) -> Answer {
        Answer { text, passed: true }
    }
}

/// Tells what goes on, on stderr.
struct Say {
    quiet: bool,
}

impl Say {
    fn line(&self, line: &str) {
        if !self.quiet {
            // A reader that went away is no reason to stop.
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }
}

/// Reads the arguments, does it, and answers.
pub fn main() -> ExitCode {
    if let Some(why) = orrery_stdio::why_stdout_is_closed() {
        return fail(&format!(
            "stdout: {why}\n  remedy: to discard the result, write `>/dev/null`"
        ));
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            let _ = e.print();
            return if e.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    let say = Say { quiet: cli.quiet };
    let answer = match &cli.command {
        Command::Devices => Ok(Answer::of(devices())),
        Command::Profile(args) => args.answer(&say),
        Command::Run(args) => args.answer(&say),
        Command::Compare(args) => args.answer(&say),
        Command::Validate(args) => args.answer(&say),
    };
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

fn devices() -> String {
    let mut text =
        String::from("emulated: waits as long as a curve or a sample says; needs nothing\n");
    for line in look() {
        text += &line;
        text.push('\n');
    }
    text
}
