//! What commands share: arguments, what they tell and what they answer.

use crate::device::Description;
use crate::error::{Error, read_toml};
use crate::profile::{Clocks, ProfileFile};
use crate::target::{Choice, DeviceConfig, Target};
use clap::Args;
use orrery_scenario::kind;
use std::path::PathBuf;

/// Which device, and what it runs.
#[derive(Args, Debug)]
pub struct DeviceArgs {
    /// `emulated`, `cpu`, `cpu:N`, `cuda:N` or `worker:N`.
    #[arg(long, default_value = "emulated")]
    device: String,
    /// A TOML file that says what the device runs (docs/replay.md); without it, an emulated device follows
    /// the scenario's latencies, with noise.
    #[arg(long, value_name = "FILE")]
    device_config: Option<PathBuf>,
}

impl DeviceArgs {
    pub fn choice(&self) -> Result<Choice, Error> {
        let target: Target = self.device.parse()?;
        let file = self.device_config.clone().unwrap_or_default();
        let config: DeviceConfig = match &self.device_config {
            Some(file) => read_toml(file, kind::DEVICE)?,
            None => DeviceConfig::default(),
        };
        Ok(Choice { target, number: 0, config, file })
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
    pub fn clocks(&self) -> Clocks {
        if self.virtual_clock { Clocks::Virtual } else { Clocks::Wall(self.time_scale) }
    }
}

/// Refuses a profile that is not fit to predict a run on this device by this clock; where `any` will do, says why not.
pub fn check_profile(
    profile: &ProfileFile,
    clocks: Clocks,
    device: &Description,
    any: bool,
) -> Result<Vec<String>, Error> {
    let mut against = profile.against(clocks, Some(device)).into_iter();
    if any {
        let file = profile.file.display();
        let note = |(_, why, _)| format!("{file} is not fit to predict with: {why}");
        return Ok(against.map(note).collect());
    }
    let Some((key, found, allowed)) = against.next() else { return Ok(Vec::new()) };
    let remedy = "profile this device by this clock when the machine is quiet, or use it all the same with \
                  `--any-profile`";
    Err(Error::in_file(&profile.file, key, found, allowed, remedy))
}

/// What a command answers.
pub struct Answer {
    /// The result, for stdout.
    pub text: String,
    /// Whether the check, if it was one, was passed.
    pub passed: bool,
}

impl Answer {
    pub fn of(text: String) -> Answer {
        Answer { text, passed: true }
    }
}
