//! What a worker is started with, and what it is to run.

use crate::device::DeviceError;
use orrery_sim::time::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// `[worker]`.
///
/// ```toml
/// command = ["python3", "workers/onnx.py", "--threads", "1"]
/// [[models]]
/// run = "recognition.onnx"
/// max_batch = 8
/// lengths = [[160, 10.0], [320, 20.0]]
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkerConfig {
    /// The program and its arguments; it runs in the folder of the file that names it.
    pub command: Vec<String>,
    /// A file to which its stderr is appended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<PathBuf>,
    /// It says hello within so many seconds.
    #[serde(default = "hello_s")]
    pub hello_s: f64,
    /// It is ready for its first batch within so many seconds.
    #[serde(default = "prepare_s")]
    pub prepare_s: f64,
    /// A batch or a load that has not ended after so many seconds has hung. Left out: ten times the longest that the
    /// profile measured, and at least 10; 300 without a profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience_s: Option<f64>,
    /// By the number of the model in the scenario.
    pub models: Vec<WorkerModel>,
    /// Where it runs.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// A model that a worker runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkerModel {
    /// What it is, in the worker's own words.
    pub run: String,
    /// The largest batch.
    pub max_batch: u32,
    /// `[length, alone_us]`, growing in both: a batch is padded to the first length whose time alone is not below the
    /// longest of its requests'. Left out: its work does not depend on lengths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lengths: Vec<(u32, f64)>,
}

fn hello_s() -> f64 {
    60.0
}

fn prepare_s() -> f64 {
    600.0
}

/// A job that is not known to be so long has not hung before.
const PATIENCE_MIN_S: f64 = 10.0;

impl WorkerConfig {
    /// How long a job may take.
    pub(super) fn patience(&self) -> Duration {
        Duration::from_secs_f64(self.patience_s.unwrap_or(300.0))
    }

    /// Sets how long a job may take by the longest that was measured, unless it is said.
    pub fn as_profiled(&mut self, longest_s: f64) {
        self.patience_s.get_or_insert((10.0 * longest_s).clamp(PATIENCE_MIN_S, 1e6));
    }

    /// Checks what the types cannot.
    ///
    /// # Errors
    /// Names the key, what was found and what is allowed.
    pub fn check(&self, device: &str) -> Result<(), DeviceError> {
        let doing = "reading the device's configuration";
        let error = |said| DeviceError::new(device, doing, said, "correct the key");
        self.fault().map_or(Ok(()), |said| Err(error(said)))
    }

    fn fault(&self) -> Option<String> {
        if self.command.first().is_none_or(String::is_empty) {
            return Some("`command` is empty; it is a list of a program and its arguments".into());
        }
        let limits = [("hello_s", Some(self.hello_s)), ("prepare_s", Some(self.prepare_s))];
        for (key, s) in limits.into_iter().chain([("patience_s", self.patience_s)]) {
            if let Some(s) = s.filter(|s| !(*s > 0.0 && *s <= 1e6)) {
                return Some(format!("`{key}` is {s}; it is a number of seconds above 0"));
            }
        }
        for (m, model) in self.models.iter().enumerate() {
            if !(1..=4096).contains(&model.max_batch) {
                let found = model.max_batch;
                return Some(format!("`models[{m}].max_batch` is {found}; it can be 1 to 4096"));
            }
            let mut last = (0, 0.0);
            for &(length, us) in &model.lengths {
                if length <= last.0 || !us.is_finite() || us <= last.1 {
                    return Some(format!(
                        "`models[{m}].lengths` has [{length}, {us}] after [{}, {}]; both must grow",
                        last.0, last.1
                    ));
                }
                last = (length, us);
            }
        }
        None
    }
}

impl WorkerModel {
    /// The length to which a batch is padded; none where its work does not depend on it.
    pub(super) fn length(&self, longest: Span) -> Option<u32> {
        let fits = self.steps().iter().position(|step| longest <= *step);
        let last = self.lengths.len().checked_sub(1)?;
        Some(self.lengths[fits.unwrap_or(last)].0)
    }

    /// The times alone at which its work changes: without lengths it does not.
    pub(super) fn steps(&self) -> Vec<Span> {
        if self.lengths.is_empty() {
            return vec![Span::MAX];
        }
        self.lengths.iter().map(|(_, us)| Span::from_ns_f64(us * 1e3)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_hangs_after_ten_times_the_longest_of_the_profile_and_ten_seconds() {
        let after = |said: Option<f64>, longest_s: f64| {
            let mut config = WorkerConfig { patience_s: said, ..WorkerConfig::default() };
            config.as_profiled(longest_s);
            config.patience().as_secs_f64()
        };
        assert_eq!([after(None, 0.2), after(None, 3.0), after(Some(1.0), 3.0)], [10.0, 30.0, 1.0]);
        assert_eq!(WorkerConfig::default().patience().as_secs_f64(), 300.0);
    }

    #[test]
    fn a_batch_is_padded_to_the_first_length_that_its_longest_request_fits() {
        let lengths = vec![(80, 5.0), (160, 10.0)];
        let model = WorkerModel { lengths, ..WorkerModel::default() };
        let us = |us: u64| model.length(Span::from_us(us));
        assert_eq!([us(1), us(5), us(6), us(10)], [Some(80), Some(80), Some(160), Some(160)]);
        assert_eq!(WorkerModel::default().length(Span::from_us(1)), None);
    }
}
