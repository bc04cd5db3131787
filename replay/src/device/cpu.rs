//! A core of this machine, which runs real neural networks: no GPU is needed, in CI neither.
//!
//! ```text
//!  lane 0 ─ Worker ─▶ core N      inputs copied in, layer after layer, outputs copied out
//!  lane 1 ─ Worker ─▶ core N + 1
//!  loads  ─ Worker ─▶ the core after the last lane's: copies weights into what the layers read
//! ```
//!
//! The time on the device is the CPU time of the worker's thread; what the machine took away is told
//! apart from it ([`Ran::away`](super::Ran)). In a virtual machine, Linux subtracts what the host
//! stole from the CPU time of whatever runs when it hears of it: a batch may read shorter than it was,
//! a short one even 0, and its time away longer by as much. Every worker is pinned to its core, and every buffer is
//! made and touched before the first job.
//!
//! It validates the driver, the timing of the host, and a law that is fitted to real computation. It
//! validates no GPU: there is no bus, no launch queue, and no clock or power of a GPU.
//!
//! # Differences from a serving engine
//!
//! - Weights are random: dense arithmetic takes as long for any finite weights.
//! - An encoder's input is its embedded tokens; no text is split into tokens.
//! - `matrixmultiply` packs its operands into memory that it takes from the allocator for each product
//!   of matrices; nothing else is allocated in a run.

mod config;
mod encoder;
mod lane;
mod loader;
mod model;
mod network;
mod product;

pub use config::{Copied, CpuConfig, CpuModel, Preempt, Workload};

use super::encoder::random;
use super::{Description, Device, DeviceError, Primitive, RUNS, Worker};
use crate::host::Host;
use crate::threads::cores;
use model::Model;
use orrery_sim::request::ModelId;
use orrery_sim::time::Span;
use std::sync::{Arc, RwLock};
use std::time::Instant;

/// Where the first device's first lane runs, when `--device cpu` does not say: the controller keeps
/// core 0.
pub const FIRST_CORE: usize = 1;

/// The most floats that a model's weights and buffers may take.
const FLOATS_MAX: u64 = 1 << 29;

/// An opened core.
pub struct CpuDevice {
    core: usize,
    preempt: Preempt,
    models: Vec<Arc<Model>>,
}

/// Opens the N-th core that the process was given.
///
/// # Errors
/// When there is no such core, or the configuration is wrong.
pub fn open(core: usize, config: &CpuConfig) -> Result<CpuDevice, DeviceError> {
    let device = format!("cpu:{core}");
    let cores = cores().len();
    if core == 0 || core >= cores {
        let said =
            format!("it is not there: this process was given {cores} cores, numbered from 0");
        let remedy = match cores {
            0 | 1 => "give the process two cores or more: the controller keeps core 0",
            _ => "choose another core; the controller keeps core 0",
        };
        return Err(DeviceError::new(&device, "looking for the core", said, remedy));
    }
    config.check(&device)?;
    for (i, model) in config.models.iter().enumerate() {
        let floats = model.workload.encoder.floats();
        if floats > FLOATS_MAX {
            let (found, most) = (floats >> 18, FLOATS_MAX >> 18);
            let said =
                format!("`models[{i}]` needs {found} MiB for its largest batch; {most} at most");
            return Err(DeviceError::new(
                &device,
                "making room for its models",
                said,
                "lower `max_batch`",
            ));
        }
    }
    let model = |(number, model): (usize, &CpuModel)| {
        let encoder = model.workload.encoder.clone();
        let shape = encoder.shape();
        let seed = config.seed.wrapping_add(number as u64);
        let mut master = random::weights(&shape, seed);
        let floats = usize::try_from(model.weights_mib).unwrap_or(0) << 18;
        if master.len() < floats {
            master.resize(floats, 0.5);
        }
        let weights = RwLock::new(master.clone());
        let (items, length) = (encoder.max_batch, encoder.padded(encoder.max_len));
        let input = random::input(&shape, items, length, seed);
        Arc::new(Model { encoder, copied: model.copy, master, weights, input })
    };
    let models = config.models.iter().enumerate().map(model).collect();
    Ok(CpuDevice { core, preempt: config.preempt, models })
}

impl Device for CpuDevice {
    fn describe(&self) -> Description {
        let host = Host::here();
        let read = |path: &str| {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            if text.is_empty() { "unknown".to_string() } else { text.trim().to_string() }
        };
        let number = cores().get(self.core).copied().unwrap_or(0);
        let governor = format!("/sys/devices/system/cpu/cpu{number}/cpufreq/scaling_governor");
        let networks: Vec<String> = self.models.iter().map(|m| m.encoder.describe()).collect();
        let facts = [
            ("core", number.to_string()),
            ("frequency governor", read(&governor)),
            ("matrix products", "matrixmultiply, one thread, fp32".to_string()),
            (RUNS, networks.join("; ")),
        ];
        Description {
            device: format!("cpu:{}", self.core),
            name: host.cpu,
            driver: host.system,
            facts: facts.map(|(fact, value)| (fact.to_string(), value)).to_vec(),
            can_preempt: self.preempt == Preempt::Layer,
        }
    }

    fn workers(&mut self, lanes: u8) -> Result<Vec<Box<dyn Worker>>, DeviceError> {
        let (last, cores) = (self.core + usize::from(lanes) - 1, cores().len());
        if last >= cores {
            let said = format!(
                "its {lanes} lanes need cores {} to {last}, and this process was given {cores}",
                self.core
            );
            let remedy = "use fewer lanes or devices, or more cores: the controller and every lane \
                          need one each";
            return Err(DeviceError::new(&self.name(), "placing its lanes", said, remedy));
        }
        let mut workers: Vec<Box<dyn Worker>> = Vec::new();
        for lane in 0..usize::from(lanes) {
            let models = self.models.clone();
            workers.push(Box::new(lane::Lane::new(self.core + lane, models, self.preempt)));
        }
        let core = (last + 1) % cores;
        workers.push(Box::new(loader::Loader::new(core, self.models.clone())));
        Ok(workers)
    }

    fn primitives(&mut self) -> Result<Vec<Primitive>, DeviceError> {
        let from = vec![1f32; 16 << 20];
        let mut to = vec![0f32; from.len()];
        let bytes = 4.0 * from.len() as f64;
        let copy = |_| {
            let since = Instant::now();
            to.copy_from_slice(std::hint::black_box(&from));
            std::hint::black_box(&to);
            bytes / since.elapsed().as_nanos().max(1) as f64
        };
        let copies = (0..12).map(copy).skip(2).collect();
        // Each step waits for the one before: its time follows the clock.
        let chain = |_| {
            let (since, mut x) = (Instant::now(), std::hint::black_box(1u64));
            for _ in 0..100_000 {
                x = x.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(1);
            }
            std::hint::black_box(x);
            since.elapsed().as_nanos() as f64 / 100_000.0
        };
        let chains = (0..200).map(chain).collect();
        Ok(vec![
            Primitive::of("copy in memory, 64 MiB", "GB/s", copies),
            Primitive::of("a multiplication and a rotation, one after another", "ns", chains),
        ])
    }

    fn steps(&self, model: ModelId) -> Vec<Span> {
        self.models.get(model.index()).map_or(Vec::new(), |m| m.encoder.steps())
    }

    fn batch_max(&self, model: ModelId) -> Option<u32> {
        self.models.get(model.index()).map(|m| m.encoder.max_batch)
    }
}

impl CpuDevice {
    fn name(&self) -> String {
        format!("cpu:{}", self.core)
    }
}

#[cfg(test)]
mod tests;
