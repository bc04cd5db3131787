//! An encoder on a lane: its buffers, and its forward pass as launches that are ready to go.
#![allow(unsafe_code)]

use super::blas::Blas;
use super::config::{Graphs, Workload};
use super::driver::{Gpu, Graph, Memory, Pinned};
use super::resident::Resident;
use super::shared::Shared;
use crate::device::DeviceError;
use crate::device::encoder::plan::{self, Arg, Buffer, Gemm, Launch, Spot, Step};
use cudarc::driver::CudaStream;
use cudarc::driver::sys::CUdeviceptr;
use orrery_sim::request::{ModelId, RequestId};
use orrery_sim::rng::{fnv1a, keyed_uniform};
use orrery_sim::time::Span;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Plans kept: a plan is a batch size and a length of a model.
const PLANS: usize = 1_024;

enum Ready {
    Gemm(Gemm),
    Launch(Launch<CUdeviceptr>),
}

struct Plan {
    layers: Vec<Vec<Ready>>,
    /// The least it ever took.
    least: Option<Span>,
    /// The number of the batch that used it last.
    used: u64,
    /// All of it, captured.
    graph: Option<Graph>,
}

type Key = (ModelId, u32, u32);

/// See the module's text.
pub struct Forward {
    blas: Option<Blas>,
    product: String,
    work: BTreeMap<Buffer, Memory>,
    lengths: Memory,
    lengths_host: Pinned,
    plans: BTreeMap<Key, Plan>,
    batches: u64,
    /// Graphs that were captured, the nodes of the largest, and their memory in bytes; why there are no more.
    captured: (u32, usize, usize),
    not_captured: Option<String>,
    current: Option<Key>,
    seed: u64,
}

/// The plan that was not used for longest.
fn oldest(plans: &BTreeMap<Key, Plan>) -> Option<Key> {
    plans.iter().min_by_key(|(_, plan)| plan.used).map(|(key, _)| *key)
}

impl Forward {
    /// Buffers for the largest batch of any encoder of the device; None when it has none.
    pub fn new(shared: &Shared, stream: &CudaStream) -> Result<Option<Forward>, DeviceError> {
        let gpu = &shared.gpu;
        let mut sizes: BTreeMap<Buffer, u64> = BTreeMap::new();
        for config in &shared.models {
            let Workload::Encoder(e) = &config.workload else { continue };
            let shape = e.shape();
            for buffer in Buffer::WORK.into_iter().chain([Buffer::Lengths]) {
                let floats = shape.floats(buffer, e.max_batch, e.padded(e.max_len));
                let size = sizes.entry(buffer).or_default();
                *size = (*size).max(floats * 4);
            }
        }
        let Some(lengths) = sizes.remove(&Buffer::Lengths) else { return Ok(None) };
        let mut work = BTreeMap::new();
        for (buffer, bytes) in sizes {
            work.insert(buffer, gpu.memory("an encoder's batches", bytes)?);
        }
        gpu.bind()?;
        let blas = match shared.without_cublas {
            true => Err("the configuration says so".to_string()),
            false => Blas::new(gpu, stream),
        };
        let product = match &blas {
            Ok(blas) => format!("cuBLAS {}", blas.version()),
            Err(why) => format!("orrery's own kernel; cuBLAS: {why}"),
        };
        Ok(Some(Forward {
            blas: blas.ok(),
            product,
            work,
            lengths: gpu.memory("an encoder's lengths", lengths)?,
            lengths_host: gpu.pinned(lengths)?,
            plans: BTreeMap::new(),
            batches: 0,
            captured: (0, 0, 0),
            not_captured: match (shared.graphs, shared.chunk) {
                (Graphs::Off, _) => Some("the configuration says so".to_string()),
                (_, Some(_)) => Some("`chunk_us` stops between launches".to_string()),
                _ => None,
            },
            current: None,
            seed: shared.seed,
        }))
    }

    /// What multiplies the matrices.
    pub fn product(&self) -> String {
        self.product.clone()
    }

    /// How many of these batches are to be captured; none where no more are.
    pub fn reserve_graphs(&mut self, pairs: usize) -> Option<usize> {
        if self.not_captured.is_some() {
            return None;
        }
        let room = PLANS - self.plans.len();
        if pairs > room {
            self.not_captured = Some(format!("{PLANS} are kept"));
        }
        Some(pairs.min(room))
    }

    /// What was captured, for the record.
    pub fn graphs(&self) -> String {
        let (graphs, nodes, bytes) = self.captured;
        let made = format!("{graphs} of up to {nodes} nodes, {} MiB", bytes >> 20);
        match (&self.not_captured, graphs) {
            (None, _) => made,
            (Some(why), 0) => format!("none: {why}"),
            (Some(why), _) => format!("{made}; the others are launched kernel by kernel: {why}"),
        }
    }

    /// Captures the batch that was prepared, which has run: from now on it is one launch.
    pub fn capture(
        &mut self,
        shared: &Shared,
        stream: &Arc<CudaStream>,
    ) -> Result<(), DeviceError> {
        let gpu = &shared.gpu;
        let free = gpu.memory_bytes()?.0;
        let graph = gpu.capture(stream, || self.launched(shared, stream, None));
        let plan = self.current.and_then(|key| self.plans.get_mut(&key));
        match (graph, plan) {
            (Ok(graph), Some(plan)) => {
                let nodes = 1 + plan.layers.iter().map(Vec::len).sum::<usize>();
                let bytes = free.saturating_sub(gpu.memory_bytes()?.0);
                let (graphs, most, before) = self.captured;
                self.captured = (graphs + 1, most.max(nodes), before + bytes);
                plan.graph = Some(graph);
                Ok(())
            }
            (Err(why), _) if shared.graphs == Graphs::Required => {
                let remedy = "write `graphs = \"auto\"`, or `\"off\"`, in `[cuda]`";
                Err(DeviceError::new(gpu.device(), "capturing a batch", why, remedy))
            }
            (Err(why), _) => {
                self.not_captured = Some(why);
                Ok(())
            }
            (Ok(_), None) => Ok(()),
        }
    }

    /// Writes down the lengths of the batch's sequences, and makes its launches. The first
    /// sequence is as long as the batch's longest, the others are drawn by the batch's first request;
    /// that changes no cost, only the mask.
    pub fn prepare(
        &mut self,
        shared: &Shared,
        model: ModelId,
        units: u32,
        real: u32,
        length: u32,
        first: RequestId,
    ) -> Result<(), DeviceError> {
        let draw = |i: u32| match i {
            0 => real,
            _ => {
                let key = first.0.wrapping_add(u64::from(i));
                let share = keyed_uniform(self.seed, fnv1a("encoder lengths"), key);
                1 + (share * f64::from(real)) as u32
            }
        };
        // One more than can be is enough to be refused.
        let units = units.min(shared.encoders.get(&model).map_or(0, |e| e.max_batch) + 1);
        let lengths: Vec<u32> = (0..units).map(|i| draw(i).min(real)).collect();
        self.prepare_lengths(shared, model, &lengths, length)
    }

    /// The same for given lengths.
    pub fn prepare_lengths(
        &mut self,
        shared: &Shared,
        model: ModelId,
        lengths: &[u32],
        length: u32,
    ) -> Result<(), DeviceError> {
        let gpu = &shared.gpu;
        let units = lengths.len() as u32;
        let doing = format!("preparing a batch of {units} sequences");
        let Some(resident) = shared.encoders.get(&model) else {
            return Err(DeviceError::new(
                gpu.device(),
                &doing,
                "the model is no encoder",
                "report a bug",
            ));
        };
        if units == 0 || units > resident.max_batch {
            let said = format!("the configuration's `max_batch` is {}", resident.max_batch);
            let remedy = "raise `max_batch` of the encoder, or lower the scenario's largest batch";
            return Err(DeviceError::new(gpu.device(), &doing, said, remedy));
        }
        self.lengths_host.write(lengths);
        let key = (model, units, length);
        if !self.plans.contains_key(&key) {
            if self.plans.len() >= PLANS
                && let Some(oldest) = oldest(&self.plans)
            {
                self.plans.remove(&oldest);
            }
            let steps = plan::forward(&resident.shape, units, length);
            let ready = |step| match step {
                Step::Gemm(gemm) if self.blas.is_some() => Ready::Gemm(gemm),
                Step::Gemm(gemm) => Ready::Launch(self.resolved(resident, gemm.launch())),
                Step::Launch(launch) => Ready::Launch(self.resolved(resident, launch)),
            };
            let layers =
                steps.into_iter().map(|layer| layer.into_iter().map(ready).collect()).collect();
            self.plans.insert(key, Plan { layers, least: None, used: 0, graph: None });
        }
        self.batches += 1;
        if let Some(plan) = self.plans.get_mut(&key) {
            plan.used = self.batches;
        }
        self.current = Some(key);
        Ok(())
    }

    fn at(&self, resident: &Resident, (buffer, floats): Spot) -> CUdeviceptr {
        let memory = match buffer {
            Buffer::Weights => &resident.weights,
            Buffer::Input => &resident.input,
            Buffer::Lengths => &self.lengths,
            _ => self.work.get(&buffer).unwrap_or(&self.lengths),
        };
        memory.pointer() + floats * 4
    }

    fn resolved(&self, resident: &Resident, launch: Launch<Spot>) -> Launch<CUdeviceptr> {
        let Launch { kernel, grid, block, args } = launch;
        let arg = |arg| match arg {
            Arg::At(place) => Arg::At(self.at(resident, place)),
            Arg::U32(value) => Arg::U32(value),
            Arg::U64(value) => Arg::U64(value),
            Arg::F32(value) => Arg::F32(value),
        };
        Launch { kernel, grid, block, args: args.into_iter().map(arg).collect() }
    }

    /// Starts one layer of what was prepared, or all: by its graph where it has one.
    pub fn start(
        &mut self,
        shared: &Shared,
        stream: &CudaStream,
        layer: Option<u32>,
    ) -> Result<(), DeviceError> {
        let plan = self.current.and_then(|key| self.plans.get_mut(&key));
        match (plan.and_then(|plan| plan.graph.as_mut()), layer) {
            (Some(graph), None) => shared.gpu.check("launching a graph", graph.launch()),
            _ => self.launched(shared, stream, layer),
        }
    }

    /// Copies the lengths to the device, and launches kernel by kernel.
    fn launched(
        &mut self,
        shared: &Shared,
        stream: &CudaStream,
        layer: Option<u32>,
    ) -> Result<(), DeviceError> {
        let gpu = &shared.gpu;
        if let (Some((_, units, _)), None | Some(0)) = (self.current, layer) {
            // SAFETY: the lane waits for its stream before the next batch is prepared.
            unsafe {
                gpu.copy(stream, &self.lengths_host, &self.lengths, 0, u64::from(units) * 4)?;
            }
        }
        let found = self
            .current
            .and_then(|key| Some((self.plans.get(&key)?, shared.encoders.get(&key.0)?)));
        let Some((plan, resident)) = found else {
            return Err(DeviceError::new(
                gpu.device(),
                "launching",
                "nothing was prepared",
                "report a bug",
            ));
        };
        let layers = match layer {
            Some(layer) => plan.layers.get(layer as usize..=layer as usize).unwrap_or_default(),
            None => &plan.layers[..],
        };
        let mut blas = self.blas.take();
        let mut outcome = Ok(());
        for step in layers.iter().flatten() {
            outcome = match (step, &mut blas) {
                // SAFETY: the plan's launches are those of the kernels in `orrery.cu` (a test runs them
                // on the CPU, with bounds checked), on buffers as large as the largest batch, which
                // `prepare` has held this one against; only this lane writes to them, in its stream.
                (Ready::Launch(launch), _) => unsafe { gpu.launch(stream, launch) },
                // SAFETY: as above.
                (Ready::Gemm(gemm), Some(blas)) => {
                    unsafe { blas.gemm(gemm, |place| self.at(resident, place)) }.map_err(|said| {
                        let remedy =
                            "set `without_cublas = true`, or end other programs on the device";
                        DeviceError::new(gpu.device(), "multiplying matrices", said, remedy)
                    })
                }
                (Ready::Gemm(_), None) => Ok(()),
            };
            if outcome.is_err() {
                break;
            }
        }
        self.blas = blas;
        outcome
    }

    /// What the prepared batch will surely take: three quarters of the least it ever took.
    pub fn expected(&self) -> Span {
        let plan = self.current.and_then(|key| self.plans.get(&key));
        plan.and_then(|plan| plan.least).map_or(Span::ZERO, |least| least.scale(0.75))
    }

    /// The batch took so long.
    pub fn took(&mut self, model: ModelId, units: u32, length: u32, time: Span) {
        if let Some(plan) = self.plans.get_mut(&(model, units, length)) {
            plan.least = Some(plan.least.map_or(time, |least| least.min(time)));
        }
    }

    /// The output of the last batch, once the stream has ended it.
    pub fn output(&self, gpu: &Gpu, floats: usize) -> Result<Vec<f32>, DeviceError> {
        match self.work.get(&Buffer::X) {
            Some(x) => gpu.read(x, floats),
            None => Ok(Vec::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_that_was_not_used_for_longest_goes_first() {
        // As of two models of batches of one, which were used last, and of a larger one that was not.
        let plan = |used| Plan { layers: Vec::new(), least: None, used, graph: None };
        let key = |model, units| (ModelId(model), units, 16);
        let plans =
            BTreeMap::from([(key(0, 1), plan(9)), (key(0, 2), plan(3)), (key(1, 1), plan(8))]);
        assert_eq!(oldest(&plans), Some(key(0, 2)));
    }
}
