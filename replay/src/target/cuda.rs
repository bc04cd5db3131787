//! The way to CUDA devices: the one place outside `device/cuda` that knows of them.

use super::each::{ENCODER, nothing_is_cut, one_for_each};
use crate::device::cuda::{self, CudaConfig, CudaDevice, Workload};
use crate::device::{Description, Device, DeviceError, Primitive, Worker};
use crate::error::Error;
use orrery_scenario::Scenario;
use orrery_sim::request::ModelId;
use orrery_sim::time::Span;
use std::path::Path;

/// Samples of each primitive.
const SAMPLES: u32 = 200;

/// Bytes of a copy: a page of Clockwork's, and a model of ten.
const COPIES: [(&str, u64); 2] = [("16 MiB", 16 << 20), ("160 MiB", 160 << 20)];

/// Opens a GPU for what a `[cuda]` table says it is to run; there must be an entry for each of the
/// scenario's models.
///
/// # Errors
/// When it is not there, or cannot run it.
pub fn open(
    ordinal: usize,
    config: &toml::Table,
    file: &Path,
    scenario: &Scenario,
) -> Result<Box<dyn Device>, Error> {
    let config: CudaConfig = config.clone().try_into().map_err(|e: toml::de::Error| {
        let allowed = "the keys that `orrery-replay schema` lists";
        Error::in_file(file, "cuda", e.message(), allowed, "correct the table")
    })?;
    one_for_each(file, "cuda", config.models.len(), &scenario.model_names())?;
    let encoder = |workload: &Workload| match workload {
        Workload::Encoder(encoder) => encoder.lengths.last().map(|l| l.1),
        Workload::Timed(_) | Workload::Compute(_) => None,
    };
    let longest: Vec<Option<f64>> = config.models.iter().map(|m| encoder(&m.workload)).collect();
    nothing_is_cut(file, ("cuda", ENCODER), &longest, scenario)?;
    same_pages(file, &config, scenario)?;
    Ok(Box::new(Gpu(cuda::open(ordinal, config)?)))
}

/// Sets a `[cuda]` table by what a profile says of the device, where it does not say it itself.
pub(super) fn as_profiled(table: &mut toml::Table, facts: &[(String, String)]) {
    let fact = facts.iter().find(|(fact, _)| fact == cuda::ITERATIONS);
    if let Some(rate) = fact.and_then(|(_, value)| value.parse::<f64>().ok()) {
        table.entry("iterations_per_us").or_insert(toml::Value::Float(rate));
    }
}

/// A scenario whose models come and go has the pages that the device has, so that what is predicted to be evicted is.
fn same_pages(file: &Path, config: &CudaConfig, scenario: &Scenario) -> Result<(), Error> {
    let kinds = || scenario.file.device.iter();
    let Some(memory) = kinds().find_map(|kind| kind.memory_pages) else { return Ok(()) };
    let wrong = |key: String, found: u32, wanted: u32, theirs: &str| {
        let allowed = format!("{wanted}: {theirs} of the scenario");
        let remedy =
            "write the same in both: what is evicted, and how long a load takes, goes by it";
        Err(Error::in_file(file, key, found, allowed, remedy))
    };
    for (m, (ours, theirs)) in config.models.iter().zip(&scenario.file.model).enumerate() {
        if ours.pages != theirs.pages {
            let name = format!("`pages` of `{}`", theirs.name);
            return wrong(format!("cuda.models[{m}].pages"), ours.pages, theirs.pages, &name);
        }
    }
    match config.pages() {
        pages if pages == memory => Ok(()),
        pages => wrong("cuda.cache_pages".to_string(), pages, memory, "`memory_pages`"),
    }
}

/// What was looked for, and what was found: a line each.
pub fn look() -> Vec<String> {
    cuda::look().to_string().lines().map(str::to_string).collect()
}

/// A GPU, with what is measured before a run.
struct Gpu(CudaDevice);

impl Device for Gpu {
    fn describe(&self) -> Description {
        self.0.describe()
    }

    fn workers(&mut self, lanes: u8) -> Result<Vec<Box<dyn Worker>>, DeviceError> {
        self.0.workers(lanes)
    }

    fn steps(&self, model: ModelId) -> Vec<Span> {
        self.0.steps(model)
    }

    fn batch_max(&self, model: ModelId) -> Option<u32> {
        self.0.batch_max(model)
    }

    fn primitives(&mut self) -> Result<Vec<Primitive>, DeviceError> {
        let us = |span: Span| span.ns() as f64 / 1e3;
        let of = |name: &str, unit: &str, samples| {
            let (name, unit) = (name.to_string(), unit.to_string());
            Primitive { name, unit, samples }
        };
        let mut all = Vec::new();
        for (what, bytes) in COPIES {
            let copies = self.0.host_to_device(bytes, SAMPLES / 10)?;
            // Bytes for each nanosecond are gigabytes a second.
            let rates = copies.iter().map(|c| c.bytes as f64 / c.device.ns().max(1) as f64);
            all.push(of(&format!("host to device, {what}"), "GB/s", rates.collect()));
        }
        let launches = self.0.launch_overhead(SAMPLES)?;
        let each = |f: &dyn Fn(&cuda::LaunchSample) -> Span| -> Vec<f64> {
            launches.iter().map(|l| us(f(l))).collect()
        };
        all.push(of("launch, the call", "us", each(&|l| l.call)));
        all.push(of("launch, until seen to be over", "us", each(&|l| l.host)));
        all.push(of("launch, on the device", "us", each(&|l| l.device)));
        let steps = self.0.timer_steps(SAMPLES)?;
        all.push(of("device timer step", "ns", steps.iter().map(|s| s.ns() as f64).collect()));
        Ok(all)
    }
}
