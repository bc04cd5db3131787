//! What a CUDA device runs for each model: plain data, as a campaign's file names it.
//!
//! Nothing here is taken from the simulator's latency model: the device must not be its own predictor.

use super::pages::PAGE_BYTES;
use crate::device::DeviceError;
use crate::device::encoder::EncoderConfig;
use orrery_sim::time::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a CUDA device is opened with.
///
/// ```toml
/// seed = 1
/// chunk_us = 500.0
/// [[models]]
/// pages = 7
/// workload = { timed = { eq3 = { c0_us = 100.0, c1 = 0.3 } } }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CudaConfig {
    /// Names the streams of the encoder's weights, inputs and lengths.
    #[serde(default)]
    pub seed: u64,
    /// By the number of the model in the scenario.
    pub models: Vec<ModelConfig>,
    /// Pages of the device's page cache; room for every model once, when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_pages: Option<u32>,
    /// Work is launched in chunks of about this long, and a batch can be stopped between two of them.
    /// Left out: one launch, and no batch can be stopped. An encoder's chunk is a layer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk_us: Option<f64>,
    /// A job that has not ended after so long has hung.
    #[serde(default = "patience_s")]
    pub patience_s: u32,
    /// Iterations of the arithmetic kernel that `compute` takes for a microsecond. Left out: those of the run's profile, and
    /// as measured when the device is opened where it has none. A device that is slower than at its profile is seen so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations_per_us: Option<f64>,
    /// Whether an encoder's batch is captured once and then launched as one CUDA graph; without `chunk_us` only.
    #[serde(default)]
    pub graphs: Graphs,
    /// Use our own matrix product even when cuBLAS is found.
    #[serde(default)]
    pub without_cublas: bool,
}

/// Whether batches are launched as CUDA graphs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Graphs {
    /// Where they can be captured; the record says it where they cannot.
    #[default]
    Auto,
    /// Kernel by kernel.
    Off,
    /// A capture that fails is an error.
    Required,
}

/// A model on the device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// Its weights, in pages of 16 MiB: what a load copies.
    #[serde(default)]
    pub pages: u32,
    /// What a batch computes.
    pub workload: Workload,
}

/// What a batch computes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Workload {
    /// A kernel that runs for a given time (Orloj, §5.2: "the model is modified to allow us to
    /// explicitly control its execution time via input"). One thread of the device watches the clock,
    /// so batches on several lanes do not disturb each other.
    Timed(Curve),
    /// As much arithmetic, on all multiprocessors, as took that long when the device was opened: clocks,
    /// power and contention show.
    Compute(Curve),
    /// A transformer encoder, whose cost is its own.
    Encoder(EncoderConfig),
}

/// How long a batch of `k` items, the longest of which takes `l` alone, is to take.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Curve {
    /// `c0 + c1 k l` (Orloj, Eq. 3 and 4).
    Eq3 {
        /// For each batch.
        c0_us: f64,
        /// For each item, as a share of `l`.
        c1: f64,
    },
    /// `alpha k + beta` (Symphony, §2).
    Affine {
        /// For each item.
        alpha_us: f64,
        /// For each batch.
        beta_us: f64,
    },
}

impl Curve {
    /// The batch's time on the device.
    pub fn duration(&self, units: u32, longest: Span) -> Span {
        let k = f64::from(units);
        match *self {
            Curve::Eq3 { c0_us, c1 } => {
                Span::from_ns_f64(c0_us * 1e3 + c1 * k * longest.ns() as f64)
            }
            Curve::Affine { alpha_us, beta_us } => {
                Span::from_ns_f64((alpha_us * k + beta_us) * 1e3)
            }
        }
    }

    fn numbers(&self) -> [(&'static str, f64); 2] {
        match *self {
            Curve::Eq3 { c0_us, c1 } => [("c0_us", c0_us), ("c1", c1)],
            Curve::Affine { alpha_us, beta_us } => [("alpha_us", alpha_us), ("beta_us", beta_us)],
        }
    }
}

fn patience_s() -> u32 {
    30
}

impl CudaConfig {
    /// Checks what the types cannot.
    ///
    /// # Errors
    /// Names the key, what was found and what is allowed.
    pub fn check(&self, device: &str) -> Result<(), DeviceError> {
        let doing = "reading the device's configuration";
        self.faults().map_err(|said| DeviceError::new(device, doing, said, "correct the key"))
    }

    fn faults(&self) -> Result<(), String> {
        if self.models.is_empty() {
            return Err("`models` is empty; every model of the scenario needs an entry".to_string());
        }
        if let Some(us) = self.chunk_us
            && !(us.is_finite() && us >= 50.0)
        {
            return Err(format!("`chunk_us` is {us}; it can be 50 or more"));
        }
        if self.chunk_us.is_some() && self.graphs == Graphs::Required {
            return Err("`graphs` is `required`, and `chunk_us` stops between launches".to_string());
        }
        if let Some(rate) = self.iterations_per_us
            && !(rate.is_finite() && rate > 0.0)
        {
            return Err(format!("`iterations_per_us` is {rate}; it can be above 0"));
        }
        for (i, model) in self.models.iter().enumerate() {
            if u64::from(model.pages) * PAGE_BYTES > 1 << 40 {
                return Err(format!("`models[{i}].pages` is {}; 65536 at most", model.pages));
            }
            match &model.workload {
                Workload::Timed(curve) | Workload::Compute(curve) => {
                    for (key, value) in curve.numbers() {
                        if !(value.is_finite() && value >= 0.0) {
                            return Err(format!(
                                "`models[{i}].workload.{key}` is {value}; it can be 0 or more"
                            ));
                        }
                    }
                }
                Workload::Encoder(encoder) => encoder
                    .check()
                    .map_err(|fault| format!("`models[{i}].workload.encoder`: {fault}"))?,
            }
        }
        let largest = self.models.iter().map(|m| m.pages).max().unwrap_or(0);
        match self.cache_pages {
            Some(pages) if pages < largest => {
                Err(format!("`cache_pages` is {pages}; the largest model has {largest} pages"))
            }
            _ => Ok(()),
        }
    }

    /// Pages of the page cache.
    pub fn pages(&self) -> u32 {
        let all = self.models.iter().fold(0u32, |sum, m| sum.saturating_add(m.pages));
        self.cache_pages.unwrap_or(all)
    }
}

#[cfg(test)]
mod tests;
