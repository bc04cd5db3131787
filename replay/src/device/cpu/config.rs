//! What a core runs for each model: plain data, as a campaign's file names it.

use crate::device::encoder::EncoderConfig;
use crate::device::{DeviceError, one};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a core is opened with.
///
/// ```toml
/// [[models]]
/// workload = { encoder = { layers = 2, heads = 2, hidden = 128, max_len = 64, max_batch = 16, lengths = [[64, 64.0]] } }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CpuConfig {
    /// Names the streams of weights and inputs.
    #[serde(default = "one::<u64>")]
    pub seed: u64,
    /// Where a batch can be stopped.
    #[serde(default)]
    pub preempt: Preempt,
    /// By the number of the model in the scenario.
    pub models: Vec<CpuModel>,
}

/// Where a batch can be stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Preempt {
    /// Between two layers.
    #[default]
    Layer,
    /// Nowhere.
    None,
}

/// A model on the device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CpuModel {
    /// What a batch computes.
    pub workload: Workload,
    /// Copied for each item besides the network's own input and output, inside the batch.
    #[serde(default)]
    pub copy: Copied,
    /// What a load copies at least; the network's weights if they are larger.
    #[serde(default)]
    pub weights_mib: u32,
}

/// Bytes for each item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Copied {
    /// Before the first layer.
    pub in_bytes: u32,
    /// After the last.
    pub out_bytes: u32,
}

/// What a batch computes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// A transformer encoder, the same that a GPU runs.
    pub encoder: EncoderConfig,
}

impl CpuConfig {
    /// Checks what the types cannot.
    ///
    /// # Errors
    /// Names the key, what was found and what is allowed.
    pub fn check(&self, device: &str) -> Result<(), DeviceError> {
        let fault = |said: String| {
            DeviceError::new(device, "reading the device's configuration", said, "correct the key")
        };
        if self.models.is_empty() {
            let said = "`models` is empty; every model of the scenario needs an entry";
            return Err(fault(said.to_string()));
        }
        for (i, model) in self.models.iter().enumerate() {
            let checked = model.workload.encoder.check();
            checked.map_err(|e| fault(format!("`models[{i}].workload.encoder`: {e}")))?;
            if model.weights_mib > 2048 {
                let said =
                    format!("`models[{i}].weights_mib` is {}; 2048 at most", model.weights_mib);
                return Err(fault(said));
            }
            let most = 1 << 28;
            if model.copy.in_bytes.max(model.copy.out_bytes) > most {
                let said = format!("`models[{i}].copy` is {:?}; {most} bytes at most", model.copy);
                return Err(fault(said));
            }
        }
        Ok(())
    }
}
