//! CUDA devices, through the driver's own interface: no toolkit is needed, to build or to run.
//!
//! ```text
//!  lane 0 ─ Worker ─▶ stream (urgent) ─▶ kernels          batches: `timed`, `compute`, `encoder`
//!  lane 1 ─ Worker ─▶ stream (urgent) ─▶ kernels
//!  loads  ─ Worker ─▶ stream          ─▶ pinned memory ─▶ 16 MiB pages (Clockwork, §5.2)
//! ```
//!
//! Every lane, and the executor for loads, has a stream and two events of its own: starts and ends are
//! read from the driver's clock when the host sees them, the time on the device is what lies between the
//! events. The same binary runs where there is no CUDA; [`look`] says what was looked for.
//!
//! # Differences from Clockwork's worker (§5.2)
//!
//! - No inputs or outputs are copied but the lengths of an encoder's sequences: an input lies on the
//!   device, and an output stays there. A scenario's `fetch_per_request` is waited for instead.
//! - The device is not told of unloads, so kernels do not read weights from the page cache; an encoder's
//!   lie beside it, one copy for all models of a size. A load copies as many bytes as it would.
//! - Clockwork gives 512 MB to work space and as much to inputs; here each lane takes what the largest
//!   batch of its encoders needs, and what is left of the device stays free.
//!
//! # Differences from Orloj's test bed (§5.2)
//!
//! - `timed` occupies one thread of the device, not all of it: what is controlled is time.
//! - Clocks are not fixed, which takes an administrator (`nvidia-smi -lgc`). They are measured, and
//!   written down.
//!
//! It has run on an H100 (`replay/validated`), in tests against a stand-in for the driver, and its kernels on the
//! CPU. A batch of an encoder is one launch of a CUDA graph, captured when its lane is made; graphs have not run on a GPU
//! yet. Where they cannot be captured it is launched kernel by kernel, and where the host stops, the device waits.

mod bench;
mod blas;
mod config;
mod cublas;
mod driver;
mod error;
mod forward;
mod lane;
mod loader;
mod pages;
mod probe;
mod resident;
mod shared;
mod wait;

pub use bench::{Calibration, CopySample, LaunchSample};
pub use config::{CudaConfig, Curve, Graphs, ModelConfig, Workload};
pub use pages::PAGE_BYTES;
pub use probe::{FUNCTIONS, OPTIONAL, Report, Seen, look};

use super::encoder::EncoderConfig;
use super::encoder::plan::Shape;
use super::{Description, Device, DeviceError, Primitive, Worker};
use bench::Bench;
use cudarc::driver::sys::CUdevice_attribute as Attribute;
use driver::Gpu;
use forward::Forward;
use lane::Lane;
use loader::Loader;
use orrery_sim::request::ModelId;
use orrery_sim::time::Span;
use resident::Resident;
use shared::Shared;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The kernels, for compute capability 7.0 and newer.
pub static KERNELS: &str = include_str!("../../kernels/orrery_sm70.ptx");

/// The fact of a description that says the rate of arithmetic, which a profile keeps.
pub const ITERATIONS: &str = "arithmetic iterations per us";

/// Samples of each primitive.
const SAMPLES: u32 = 200;

/// Bytes of a copy: a page of Clockwork's, and a model of ten.
const COPIES: [(&str, u64); 2] = [("16 MiB", 16 << 20), ("160 MiB", 160 << 20)];

/// An opened CUDA device.
pub struct CudaDevice {
    shared: Arc<Shared>,
    description: Description,
}

/// Opens device number `ordinal`, loads its kernels and measures what they are set by (about a second).
///
/// # Errors
/// When there is no driver or it is too old, when there is no such device, when it is out of memory or
/// fails; and when the configuration cannot be.
pub fn open(ordinal: usize, config: CudaConfig) -> Result<CudaDevice, DeviceError> {
    let device = format!("cuda:{ordinal}");
    config.check(&device)?;
    probe::guarded(&device, || {
        let driver = probe::ready(&device)?;
        CudaDevice::open(ordinal, &config, driver)
    })
}

impl CudaDevice {
    fn open(
        ordinal: usize,
        config: &CudaConfig,
        driver: String,
    ) -> Result<CudaDevice, DeviceError> {
        let patience = Duration::from_secs(u64::from(config.patience_s));
        let gpu = Gpu::open(ordinal, KERNELS, patience)?;
        let multiprocessors =
            gpu.attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT).unwrap_or(1).max(1);
        let multiprocessors = multiprocessors as u32;
        let calibration = Bench::new(&gpu)?.calibrate(multiprocessors, config.iterations_per_us)?;
        let mut encoders: BTreeMap<ModelId, Arc<Resident>> = BTreeMap::new();
        let mut made: BTreeMap<(Shape, u32, u32), Arc<Resident>> = BTreeMap::new();
        for (model, entry) in (0..).map(ModelId).zip(&config.models) {
            let Workload::Encoder(e) = &entry.workload else { continue };
            let shape = e.shape();
            let key = (shape, e.max_batch, e.padded(e.max_len));
            let resident = match made.get(&key) {
                Some(resident) => Arc::clone(resident),
                None => {
                    let (_, max_batch, max_len) = key;
                    Arc::new(Resident::new(&gpu, shape, max_batch, max_len, config.seed)?)
                }
            };
            made.insert(key, Arc::clone(&resident));
            encoders.insert(model, resident);
        }
        let description = describe(&gpu, driver, &calibration, config)?;
        let shared = Shared {
            gpu,
            models: config.models.clone(),
            encoders,
            calibration,
            multiprocessors,
            cache_pages: config.pages(),
            chunk: config.chunk_us.map(|us| Span::from_ns_f64(us * 1e3)),
            graphs: config.graphs,
            without_cublas: config.without_cublas,
            seed: config.seed,
        };
        Ok(CudaDevice { shared: Arc::new(shared), description })
    }

    /// What `timed` and `compute` are set by.
    pub fn calibration(&self) -> Calibration {
        self.shared.calibration
    }

    /// Copies of so many bytes from pinned host memory, one after the other.
    ///
    /// # Errors
    /// When the device fails or has no memory left.
    pub fn host_to_device(&self, bytes: u64, count: u32) -> Result<Vec<CopySample>, DeviceError> {
        self.bench(|bench| bench.copies(bytes, count))
    }

    /// Launches of a kernel that does nothing, one after the other.
    ///
    /// # Errors
    /// When the device fails.
    pub fn launch_overhead(&self, count: u32) -> Result<Vec<LaunchSample>, DeviceError> {
        self.bench(|bench| bench.launches(count))
    }

    /// Distances of the first values that the device's nanosecond timer takes: its resolution.
    ///
    /// # Errors
    /// When the device fails or has no memory left.
    pub fn timer_steps(&self, count: u32) -> Result<Vec<Span>, DeviceError> {
        self.bench(|bench| bench.timer_steps(count))
    }

    /// Runs an encoder of the configuration on a batch with these lengths, as a lane does: by its graph, where graphs are
    /// captured.
    ///
    /// # Errors
    /// When the device fails, when `model` is no encoder, or the batch is too large for it.
    pub fn encoder_output(&self, model: ModelId, lengths: &[u32]) -> Result<Vec<f32>, DeviceError> {
        let shared = &self.shared;
        let doing = "checking the encoder";
        let refused = |said: &str| {
            let remedy = "name an encoder, and lengths that fit it";
            Err(DeviceError::new(shared.gpu.device(), doing, said, remedy))
        };
        let Some((encoder, resident)) = self.encoder(model).zip(shared.encoders.get(&model)) else {
            return refused("the model is no encoder");
        };
        let longest = lengths.iter().copied().max().unwrap_or(0);
        if lengths.contains(&0) || longest == 0 || longest > encoder.max_len {
            return refused("a length is 0 or beyond `max_len`, or there is none");
        }
        let padded = encoder.padded(longest);
        let stream = shared.gpu.stream(true)?;
        let Some(mut forward) = Forward::new(shared, &stream)? else {
            return refused("the model is no encoder");
        };
        forward.prepare_lengths(shared, model, lengths, padded)?;
        if forward.reserve_graphs(1).is_some() {
            // Launched first: what is not loaded yet cannot be captured.
            forward.start(shared, &stream, None)?;
            shared.gpu.check(doing, stream.synchronize())?;
            forward.capture(shared, &stream)?;
        }
        forward.start(shared, &stream, None)?;
        shared.gpu.check(doing, stream.synchronize())?;
        let floats = resident.shape.activation_floats(lengths.len() as u32, padded) as usize;
        forward.output(&shared.gpu, floats)
    }

    fn encoder(&self, model: ModelId) -> Option<&EncoderConfig> {
        match &self.shared.models.get(model.index())?.workload {
            Workload::Encoder(encoder) => Some(encoder),
            Workload::Timed(_) | Workload::Compute(_) => None,
        }
    }

    fn bench<T>(
        &self,
        act: impl FnOnce(&Bench<'_>) -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        probe::guarded(self.shared.gpu.device(), || act(&Bench::new(&self.shared.gpu)?))
    }
}

impl Device for CudaDevice {
    fn describe(&self) -> Description {
        self.description.clone()
    }

    fn workers(&mut self, lanes: u8) -> Result<Vec<Box<dyn Worker>>, DeviceError> {
        probe::guarded(self.shared.gpu.device(), || {
            let mut workers: Vec<Box<dyn Worker>> = Vec::new();
            for _ in 0..lanes {
                let lane = Lane::new(Arc::clone(&self.shared))?;
                for (fact, value) in lane.facts() {
                    self.description.facts.retain(|(name, _)| name != fact);
                    self.description.facts.push((fact.to_string(), value));
                }
                workers.push(Box::new(lane));
            }
            workers.push(Box::new(Loader::new(Arc::clone(&self.shared))?));
            Ok(workers)
        })
    }

    fn primitives(&mut self) -> Result<Vec<Primitive>, DeviceError> {
        let us = |span: Span| span.ns() as f64 / 1e3;
        let of = Primitive::of;
        let mut all = Vec::new();
        for (what, bytes) in COPIES {
            let copies = self.host_to_device(bytes, SAMPLES / 10)?;
            // Bytes for each nanosecond are gigabytes a second.
            let rates = copies.iter().map(|c| c.bytes as f64 / c.device.ns().max(1) as f64);
            all.push(of(&format!("host to device, {what}"), "GB/s", rates.collect()));
        }
        let launches = self.launch_overhead(SAMPLES)?;
        let each = |f: &dyn Fn(&LaunchSample) -> Span| -> Vec<f64> {
            launches.iter().map(|l| us(f(l))).collect()
        };
        all.push(of("launch, the call", "us", each(&|l| l.call)));
        all.push(of("launch, until seen to be over", "us", each(&|l| l.host)));
        all.push(of("launch, on the device", "us", each(&|l| l.device)));
        let steps = self.timer_steps(SAMPLES)?;
        all.push(of("device timer step", "ns", steps.iter().map(|s| s.ns() as f64).collect()));
        Ok(all)
    }

    fn steps(&self, model: ModelId) -> Vec<Span> {
        self.encoder(model).map_or(Vec::new(), EncoderConfig::steps)
    }

    fn batch_max(&self, model: ModelId) -> Option<u32> {
        self.encoder(model).map(|encoder| encoder.max_batch)
    }
}

fn describe(
    gpu: &Gpu,
    driver: String,
    calibration: &Calibration,
    config: &CudaConfig,
) -> Result<Description, DeviceError> {
    let attribute = |a| gpu.attribute(a).map_or_else(|| "unknown".to_string(), |v| v.to_string());
    let (free, total) = gpu.memory_bytes()?;
    let capability = [
        Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
        Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
    ]
    .map(attribute)
    .join(".");
    let facts = [
        ("uuid", gpu.uuid()?),
        ("compute capability", capability),
        ("multiprocessors", attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)),
        ("clock limit kHz", attribute(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)),
        ("memory clock limit kHz", attribute(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)),
        ("memory MiB", (total >> 20).to_string()),
        ("memory free MiB", (free >> 20).to_string()),
        ("clock measured MHz", format!("{:.1}", calibration.cycles_per_us)),
        ("timer step ns", calibration.timer_step_ns.to_string()),
        ("empty job ns", calibration.empty_ns.to_string()),
        (ITERATIONS, format!("{:.4}", calibration.iterations_per_us)),
        ("kernels", "orrery's, for compute capability 7.0".to_string()),
        ("driver library", probe::loaded("libcuda.").unwrap_or_else(|| "unknown".to_string())),
    ];
    Ok(Description {
        device: gpu.device().to_string(),
        name: gpu.name()?,
        driver,
        facts: facts.map(|(fact, value)| (fact.to_string(), value)).to_vec(),
        can_preempt: config.chunk_us.is_some(),
    })
}
