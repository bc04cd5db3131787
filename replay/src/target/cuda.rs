//! The way to CUDA devices: the one place outside `device/cuda` that knows of them.

pub use crate::device::cuda::look;

use super::each::{ENCODER, nothing_is_cut, one_for_each};
use crate::device::Device;
use crate::device::cuda::{self, CudaConfig, Workload};
use crate::error::Error;
use orrery_scenario::Scenario;
use std::path::Path;

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
    Ok(Box::new(cuda::open(ordinal, config)?))
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
