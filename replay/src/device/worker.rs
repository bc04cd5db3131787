//! Any program as the device: a process for each lane, which is asked in lines of JSON.
//!
//! ```text
//!  lane 0 ─ Worker ─ stdin, stdout ─▶ process 0     runs batches with PyTorch, ONNX Runtime, ...
//!  lane 1 ─ Worker ─ stdin, stdout ─▶ process 1
//!  loads  ─ Worker ─ stdin, stdout ─▶ process 2     where it can load, and the scenario does
//! ```
//!
//! `docs/worker.md` is the protocol. Starts and ends are read by the process itself, on the clock that all
//! processes of a host share; what passes between is in the launch and the result that `profile` measures. Whatever a
//! process does wrong ends the run with what was measured, and no process is left behind. Between runs a process stays.
//!
//! # What it does not do
//!
//! - A running batch cannot be stopped.
//! - The process for loads shares no memory with those that run batches: a load copies as many bytes as it would, as on
//!   a CUDA device. It is not told of unloads.
//! - Processes share a GPU in slices of time, unless NVIDIA's MPS runs.

mod config;
mod lane;
mod message;
mod process;
mod seat;

pub use config::{WorkerConfig, WorkerModel};
pub use process::kill_all;
pub use seat::{end_all, stop_preparing};

use super::{Description, Device, DeviceError, Primitive, RUNS, Worker};
use lane::Lane;
use message::Hello;
use orrery_sim::request::ModelId;
use orrery_sim::time::Span;
use seat::Seat;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What stands before the GPU's name in a worker's.
pub const ON_GPU: &str = ", GPU ";

/// Round trips that are timed for a profile.
const ROUND_TRIPS: usize = 2_000;

/// An opened worker: its first process has said hello.
pub struct WorkerDevice {
    number: usize,
    config: Arc<WorkerConfig>,
    first: Option<Seat>,
    hello: Hello,
    loads: bool,
}

/// Starts a worker for the N-th device. `folder` is where its command runs; `loads` says whether it is to load models.
///
/// # Errors
/// When it does not start, says nothing in time or something wrong, or cannot load and is to.
pub fn open(
    number: usize,
    config: &WorkerConfig,
    folder: &Path,
    loads: bool,
) -> Result<WorkerDevice, DeviceError> {
    let config = Arc::new(WorkerConfig { folder: folder.to_path_buf(), ..config.clone() });
    let mut first = Seat::hire(number, &config, "lane", 0)?;
    let hello = first.hello().clone();
    if loads && !hello.can_load {
        let said = "it says that it cannot load models, and the scenario has `load_ms`";
        let remedy = "remove `load_ms`, or let the worker answer `load` and say `can_load`";
        return Err(DeviceError::new(&format!("worker:{number}"), "opening it", said, remedy));
    }
    Ok(WorkerDevice { number, config, first: Some(first), hello, loads })
}

impl WorkerDevice {
    fn lane(&mut self, role: &str, lane: u8) -> Result<Box<dyn Worker>, DeviceError> {
        let first = self.first.take();
        let seat = first.map_or_else(|| Seat::hire(self.number, &self.config, role, lane), Ok)?;
        Ok(Box::new(Lane::new(Some(seat), Arc::clone(&self.config))))
    }
}

impl Device for WorkerDevice {
    fn describe(&self) -> Description {
        let gpu = self.hello.gpu.clone();
        let mut facts: Vec<_> = self.hello.facts.clone().into_iter().collect();
        facts.push(("command".to_string(), self.config.command.join(" ")));
        let runs: Vec<&str> = self.config.models.iter().map(|m| m.run.as_str()).collect();
        facts.push((RUNS.to_string(), runs.join("; ")));
        facts.push(("asked through".to_string(), "pipes, a process for each lane".to_string()));
        Description {
            device: format!("worker:{}", self.number),
            name: [Some(self.hello.name.clone()), gpu]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(ON_GPU),
            driver: String::new(),
            facts,
            can_preempt: false,
        }
    }

    fn workers(&mut self, lanes: u8) -> Result<Vec<Box<dyn Worker>>, DeviceError> {
        let mut workers =
            (0..lanes).map(|lane| self.lane("lane", lane)).collect::<Result<Vec<_>, _>>()?;
        workers.push(match self.loads {
            true => self.lane("loads", lanes)?,
            false => Box::new(Lane::new(None, Arc::clone(&self.config))),
        });
        Ok(workers)
    }

    fn primitives(&mut self) -> Result<Vec<Primitive>, DeviceError> {
        let Some(seat) = &mut self.first else { return Ok(Vec::new()) };
        let limit = ("hello_s", Duration::from_secs_f64(self.config.hello_s));
        let mut samples = Vec::with_capacity(ROUND_TRIPS);
        for _ in 0..ROUND_TRIPS {
            let asked = Instant::now();
            let ping = json!({ "do": "ping" });
            seat.process().ask(ping, "timing a round trip", limit, None, |_, _, _| Ok(()))?;
            samples.push(asked.elapsed().as_nanos() as f64 / 1e3);
        }
        Ok(vec![Primitive::of("question and answer through pipes", "us", samples)])
    }

    fn steps(&self, model: ModelId) -> Vec<Span> {
        self.config.models.get(model.index()).map_or(Vec::new(), WorkerModel::steps)
    }

    fn batch_max(&self, model: ModelId) -> Option<u32> {
        self.config.models.get(model.index()).map(|m| m.max_batch)
    }
}
