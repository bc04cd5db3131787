//! `orrery-replay profile`.

use super::interrupt;
use super::shared::{Answer, ClockArgs, DeviceArgs};
use crate::error::Error;
use crate::host;
use crate::profile::fit::Form;
use crate::profile::{Settings, profile};
use crate::runner::check_clock;
use crate::threads::Placement;
use clap::Args;
use orrery_report::say;
use orrery_report::whole_file::write_atomically;
use orrery_scenario::Scenario;
use std::path::PathBuf;

/// `orrery-replay profile`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  orrery-replay profile scenarios/one-gpu-bert.toml --device cuda:0 --device-config gpu.toml \\
      --sizes 1,2,4,8,16 --held-out 3,6,12 --out bert-profile.toml

In a scenario: latency = { profile = { file = \"bert-profile.toml\" } }")]
pub struct Profile {
    /// The scenario whose models are measured; its applications determine the lengths.
    scenario: PathBuf,
    #[command(flatten)]
    device: DeviceArgs,
    /// Batch sizes to fit; by default the scenario's, up to the device's `max_batch`.
    #[arg(long, value_delimiter = ',', value_name = "K,...")]
    sizes: Option<Vec<u32>>,
    /// Batch sizes to check the fit with; by default those half-way between the fitted ones.
    #[arg(long, value_delimiter = ',', value_name = "K,...")]
    held_out: Option<Vec<u32>>,
    /// Number of warm-up rounds, which are not counted.
    #[arg(long, default_value_t = Settings::default().warm_up, value_name = "N")]
    warm_up: u32,
    /// Number of counted rounds.
    #[arg(long, default_value_t = Settings::default().rounds, value_name = "N")]
    rounds: u32,
    /// Start no further round after this many seconds.
    #[arg(long, default_value_t = Settings::default().max_s, value_name = "S")]
    max_s: f64,
    /// Number of batches behind each model's noise; rounds count.
    #[arg(long, default_value_t = Settings::default().noise_batches, value_name = "N")]
    noise_batches: u32,
    /// Start no further of these batches after this many seconds.
    #[arg(long, default_value_t = Settings::default().noise_s, value_name = "S")]
    noise_s: f64,
    /// Watch the cores for stalls of the host for this many seconds; 0 for not at all.
    #[arg(long, default_value_t = Settings::default().stall_s, value_name = "S")]
    stall_s: f64,
    /// The law to fit.
    #[arg(long, value_enum, default_value_t = Form::Auto)]
    form: Form,
    /// Seed of the order in which points are measured.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    clock: ClockArgs,
    #[command(flatten)]
    placement: Placement,
    /// The profile to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Overwrite an existing file.
    #[arg(long)]
    force: bool,
}

impl Profile {
    pub(super) fn answer(&self) -> Result<Answer, Error> {
        if self.out.exists() && !self.force {
            let (allowed, remedy) =
                ("a file that is not there yet", "choose another, or replace it with `--force`");
            return Err(Error::value("--out", self.out.display(), allowed, remedy));
        }
        let scenario = Scenario::load(&self.scenario)?;
        let choice = self.device.choice()?;
        let settings = Settings {
            sizes: self.sizes.clone(),
            held_out: self.held_out.clone(),
            warm_up: self.warm_up,
            rounds: self.rounds,
            max_s: self.max_s,
            noise_batches: self.noise_batches,
            noise_s: self.noise_s,
            stall_s: self.stall_s,
            form: self.form,
            seed: self.seed,
        };
        interrupt::catch("", || {});
        say(&format!("profiling {} models on {}", scenario.file.model.len(), choice.target));
        let mut open = || choice.open(&scenario, 0);
        let (clocks, placement) = (self.clock.clocks(), self.placement);
        check_clock(&choice, clocks)?;
        let mut made = profile(&scenario, &settings, clocks, placement, &mut open)?;
        made.date = host::today();
        made.command = host::command();
        write_atomically(&self.out, made.to_toml().as_ref())?;
        say(&format!("wrote {}", self.out.display()));
        Ok(Answer { text: made.report(), passed: made.verdict.is_empty() })
    }
}
