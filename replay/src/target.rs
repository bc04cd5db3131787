//! Which device a replay uses: `emulated`, `cpu:N`, `cuda:N` or `worker:N`, and what it is to run there.

mod cpu;
mod cuda;
mod each;
mod worker;

pub use cuda::{look, open as open_cuda};

use crate::device::cpu::{CpuConfig, FIRST_CORE};
use crate::device::emulated::{Config, DEFAULT_NOISE};
use crate::device::worker::WorkerConfig;
use crate::device::{Device, DeviceError};
use crate::error::Error;
use crate::profile::ProfileFile;
use orrery_scenario::Scenario;
use orrery_scenario::scenario::file::{Device as DeviceKind, Model, Sharing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// A device's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// The one that waits.
    #[default]
    Emulated,
    /// A core of this machine, by its number among those that the process was given.
    Cpu(usize),
    /// A GPU, by its number.
    Cuda(usize),
    /// A program, by the number that it is told.
    Worker(usize),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Emulated => f.write_str("emulated"),
            Target::Cpu(n) => write!(f, "cpu:{n}"),
            Target::Cuda(n) => write!(f, "cuda:{n}"),
            Target::Worker(n) => write!(f, "worker:{n}"),
        }
    }
}

impl FromStr for Target {
    type Err = DeviceError;

    fn from_str(text: &str) -> Result<Target, DeviceError> {
        if text == "emulated" {
            return Ok(Target::Emulated);
        }
        let number = |kind| text.strip_prefix(kind).and_then(|n| n.parse().ok());
        let cpu = number("cpu:").or((text == "cpu").then_some(FIRST_CORE)).map(Target::Cpu);
        let others = number("cuda:").map(Target::Cuda).or(number("worker:").map(Target::Worker));
        cpu.or(others).ok_or_else(|| {
            let said = "an unknown kind of device; the kinds are `emulated`, `cpu`, `cpu:N`, `cuda:N` and `worker:N`";
            DeviceError::new(text, "looking for it", said, "see `orrery-replay devices`")
        })
    }
}

/// What devices run, by kind: a file of its own, or a part of a campaign.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceConfig {
    /// For `emulated`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulated: Option<Config>,
    /// For `cpu:N`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuConfig>,
    /// For `cuda:N`; read when such a device is opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<crate::device::cuda::CudaConfig>")]
    pub cuda: Option<toml::Table>,
    /// For `worker:N`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<WorkerConfig>,
}

/// A device with its configuration, not yet opened.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The device or worker that batches are sent to.
    pub target: Target,
    /// The number of the device in the scenario.
    pub number: usize,
    /// What it runs.
    pub config: DeviceConfig,
    /// Where that is written, for messages and for the paths in it.
    pub file: PathBuf,
}

impl Choice {
    /// The same, set by what the device was when it was profiled: `compute` asks for as much work as took that long
    /// then, so that a device that has become slower is seen to be.
    pub fn as_profiled(mut self, profile: &ProfileFile) -> Choice {
        if let (Target::Cuda(_), Some(table)) = (&self.target, &mut self.config.cuda) {
            cuda::as_profiled(table, &profile.device.facts);
        }
        if let Some(config) = &mut self.config.worker {
            worker::as_profiled(config, profile);
        }
        self
    }

    /// Opens the device for a scenario. An emulated device without a configuration obeys the
    /// scenario's own laws for its kind, with [`DEFAULT_NOISE`]. `noise` is added to the seed of an emulated
    /// device's noise: repetitions of a run are to meet different noise.
    ///
    /// # Errors
    /// When there is no such device, or its configuration does not fit the scenario.
    pub fn open(&self, scenario: &Scenario, noise: u64) -> Result<Box<dyn Device>, Error> {
        let names = scenario.model_names();
        let shares = self.kind(scenario).sharing == Sharing::Processor;
        if shares && !matches!(self.target, Target::Cuda(_) | Target::Worker(_)) {
            let (device, doing) = (self.target.to_string(), "sharing it among lanes");
            let said = "each lane of this device is as fast as alone";
            let remedy =
                "remove `sharing = \"processor\"` of `[[device]]`: `orrery run` simulates it";
            return Err(DeviceError::new(&device, doing, said, remedy).into());
        }
        match self.target {
            Target::Emulated => {
                let models = scenario.file.model.iter();
                let kind = self.kind(scenario);
                let law = |m: &Model| m.law_on(kind).unwrap_or_else(|| m.latency.clone());
                let laws: Vec<_> = models.map(|m| (m.name.clone(), law(m))).collect();
                let like = || Config::like(&laws, DEFAULT_NOISE);
                let mut config = self.config.emulated.clone().unwrap_or_else(like);
                config.seed = config.seed.wrapping_add(noise);
                let device = config.device(&self.file, &names)?;
                Ok(Box::new(device))
            }
            Target::Cpu(core) => cpu::open(core, self.config.cpu.as_ref(), &self.file, scenario),
            Target::Cuda(ordinal) => {
                let empty = toml::Table::new();
                let table = self.config.cuda.as_ref().unwrap_or(&empty);
                open_cuda(ordinal, table, &self.file, scenario)
            }
            Target::Worker(number) => {
                worker::open(number, self.config.worker.as_ref(), &self.file, scenario)
            }
        }
    }

    /// The choice for the n-th device of a scenario: the n-th GPU from the one named, or the cores after
    /// those of the devices before.
    pub fn nth(&self, n: usize, scenario: &Scenario) -> Choice {
        let lanes = |d: &DeviceKind| std::iter::repeat_n(usize::from(d.lanes), d.count as usize);
        let before: usize = scenario.file.device.iter().flat_map(lanes).take(n).sum();
        let target = match self.target {
            Target::Emulated => Target::Emulated,
            Target::Cpu(first) => Target::Cpu(first + before),
            Target::Cuda(first) => Target::Cuda(first + n),
            Target::Worker(first) => Target::Worker(first + n),
        };
        Choice { target, number: n, ..self.clone() }
    }

    /// The kind of the device; one that is added later is of the kind that the autoscaler asks for.
    fn kind<'a>(&self, scenario: &'a Scenario) -> &'a DeviceKind {
        let file = &scenario.file;
        let mut all = file.device.iter().flat_map(|d| std::iter::repeat_n(d, d.count as usize));
        let asked = file.autoscale.as_ref().and_then(|a| a.kind.as_ref());
        let added = file.device.iter().find(|d| asked.is_none_or(|kind| d.kind == *kind));
        all.nth(self.number).or(added).unwrap_or(&file.device[0])
    }

    /// Whether it takes its own time, so that no clock may be slowed down or replaced.
    pub fn computes(&self) -> bool {
        self.target != Target::Emulated
    }

    /// Everything about it that a result depends on, as text.
    pub fn identity(&self) -> String {
        let config = toml::to_string(&self.config).unwrap_or_default();
        format!("{}\n{config}", self.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_others_are_refused() {
        for name in ["emulated", "cpu:1", "cpu:3", "cuda:0", "cuda:13", "worker:2"] {
            assert_eq!(name.parse::<Target>().unwrap().to_string(), name);
        }
        assert_eq!("cpu".parse::<Target>().unwrap().to_string(), "cpu:1");
        for name in ["gpu", "cuda", "cuda:x", "cpu:", "cpu:x", ""] {
            assert!(name.parse::<Target>().unwrap_err().to_string().contains("cuda:N"));
        }
    }
}
