//! A lane: runs one batch at a time on its own stream.
//!
//! Work that can be stopped is launched in chunks, two ahead of the device, so that it never runs dry
//! between two of them; after a stop no further chunk is launched.
#![allow(unsafe_code)]

use super::bench::{arithmetic, one_thread};
use super::config::Workload;
use super::driver::Memory;
use super::forward::Forward;
use super::shared::Shared;
use super::wait::wait;
use crate::device::encoder::EncoderConfig;
use crate::device::encoder::plan::{Arg, Kernel, Launch};
use crate::device::{DeviceError, Job, Place, Ran, Stop, Work, Worker};
use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaEvent, CudaStream};
use orrery_sim::request::{ModelId, RequestId};
use orrery_sim::time::{Span, Time};
use std::sync::Arc;

/// Chunks launched and not ended.
const AHEAD: u32 = 2;
/// The nanosecond timer is used for spins of so many of its steps, and of so many ns; shorter ones
/// count cycles.
const STEPS: u64 = 20;
const SHORT_NS: u64 = 10_000;

/// See the module's text.
pub struct Lane {
    // Before the stream: its handle of cuBLAS must go first.
    forward: Option<Forward>,
    stream: Arc<CudaStream>,
    first: CudaEvent,
    ends: [CudaEvent; AHEAD as usize],
    /// Where `timed` keeps its start, and `compute` what it never writes.
    scratch: Memory,
    shared: Arc<Shared>,
}

/// A batch as it will be launched.
struct Batch {
    chunks: u32,
    work: Chunks,
    /// What it will surely take.
    expected: Span,
}

enum Chunks {
    Timed {
        spin_ns: u64,
        chunk_ns: u64,
    },
    Cycles(u64),
    Compute {
        each: u32,
    },
    /// A chunk is a layer, or all of them.
    Encoder {
        items: u32,
        length: u32,
    },
}

impl Lane {
    /// A lane, warmed up. Its encoder's buffers are large enough for the largest batch of every model.
    pub fn new(shared: Arc<Shared>) -> Result<Lane, DeviceError> {
        let gpu = &shared.gpu;
        let stream = gpu.stream(true)?;
        let scratch = gpu.memory("a lane", u64::from(shared.multiprocessors).max(2) * 4)?;
        let forward = Forward::new(&shared, &stream)?;
        let ends = [gpu.event()?, gpu.event()?];
        let mut lane = Lane { first: gpu.event()?, ends, stream, scratch, forward, shared };
        lane.warm_up()?;
        Ok(lane)
    }

    /// What there is to know of a lane that runs encoders: what multiplies its matrices, and its graphs.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let of = |f: &Forward| [("matrix product", f.product()), ("graphs", f.graphs())];
        self.forward.iter().flat_map(of).collect()
    }

    fn prepare(
        &mut self,
        model: ModelId,
        units: u32,
        longest: Span,
        first: RequestId,
    ) -> Result<Batch, DeviceError> {
        let shared = Arc::clone(&self.shared);
        let Some(config) = shared.models.get(model.0 as usize) else {
            return Err(DeviceError::new(
                shared.gpu.device(),
                &format!("preparing a batch of model {}", model.0),
                format!("the device's configuration has {} models", shared.models.len()),
                "give every model of the scenario an entry in `models`",
            ));
        };
        match &config.workload {
            Workload::Timed(curve) => Ok(self.timed(curve.duration(units, longest))),
            Workload::Compute(curve) => Ok(self.compute(curve.duration(units, longest))),
            Workload::Encoder(encoder) => self.encoder(encoder, model, units, longest, first),
        }
    }

    fn chunks(&self, ns: u64) -> u32 {
        let chunks = self.shared.chunk.map_or(1, |chunk| ns.div_ceil(chunk.ns()));
        chunks.clamp(1, u64::from(u32::MAX)) as u32
    }

    /// The job's time is what lies between its events: what these and the launch take is left out of
    /// the spin.
    fn timed(&self, time: Span) -> Batch {
        let calibration = &self.shared.calibration;
        let spin_ns = time.ns().saturating_sub(calibration.empty_ns);
        if spin_ns < (STEPS * calibration.timer_step_ns).max(SHORT_NS) {
            let cycles = (spin_ns as f64 * calibration.cycles_per_us / 1e3) as u64;
            return Batch { chunks: 1, work: Chunks::Cycles(cycles), expected: Span::ZERO };
        }
        let chunks = self.chunks(spin_ns);
        let chunk_ns = spin_ns.div_ceil(u64::from(chunks));
        Batch {
            chunks,
            work: Chunks::Timed { spin_ns, chunk_ns },
            expected: Span::from_ns(spin_ns),
        }
    }

    fn compute(&self, time: Span) -> Batch {
        let calibration = &self.shared.calibration;
        let spin_ns = time.ns().saturating_sub(calibration.empty_ns);
        let chunks = self.chunks(spin_ns);
        let iterations = spin_ns as f64 / 1e3 * calibration.iterations_per_us;
        let each = (iterations / f64::from(chunks) + 0.5) as u32;
        // Clocks may have gone up since.
        Batch { chunks, work: Chunks::Compute { each }, expected: Span::from_ns(spin_ns / 2) }
    }

    fn encoder(
        &mut self,
        encoder: &EncoderConfig,
        model: ModelId,
        units: u32,
        longest: Span,
        first: RequestId,
    ) -> Result<Batch, DeviceError> {
        let Some(forward) = &mut self.forward else {
            return Err(DeviceError::new(
                self.shared.gpu.device(),
                "preparing a batch",
                "no encoder",
                "report a bug",
            ));
        };
        let real = encoder.length(longest);
        let length = encoder.padded(real);
        forward.prepare(&self.shared, model, units, real, length, first)?;
        let chunks = if self.shared.chunk.is_some() { encoder.layers } else { 1 };
        let expected = forward.expected();
        Ok(Batch { chunks, work: Chunks::Encoder { items: units, length }, expected })
    }

    fn start_chunk(&mut self, batch: &Batch, index: u32) -> Result<(), DeviceError> {
        let at = Arg::At(self.scratch.pointer());
        let launch: Launch<CUdeviceptr> = match batch.work {
            Chunks::Timed { spin_ns, chunk_ns } => {
                let until = spin_ns.min((u64::from(index) + 1).saturating_mul(chunk_ns));
                one_thread(
                    Kernel::TimedNs,
                    vec![at, Arg::U32(u32::from(index == 0)), Arg::U64(until)],
                )
            }
            Chunks::Cycles(cycles) => one_thread(Kernel::TimedCycles, vec![Arg::U64(cycles)]),
            Chunks::Compute { each } => {
                arithmetic(self.scratch.pointer(), self.shared.multiprocessors, each)
            }
            Chunks::Encoder { .. } => {
                let Some(forward) = &mut self.forward else { return Ok(()) };
                let layers = if batch.chunks == 1 { None } else { Some(index) };
                return forward.start(&self.shared, &self.stream, layers);
            }
        };
        // SAFETY: the arguments are the kernel's; the scratch memory is this lane's, which waits for
        // its stream before the next batch, and large enough for a start and a float of each block.
        unsafe { self.shared.gpu.launch(&self.stream, &launch) }
    }

    /// Runs every kernel once, and the encoders at all batch sizes and lengths: a driver loads a kernel when it is first
    /// launched. All pairs of them where batches are captured, otherwise some.
    fn warm_up(&mut self) -> Result<(), DeviceError> {
        let shared = Arc::clone(&self.shared);
        let scratch = self.scratch.pointer();
        for launch in [
            one_thread(Kernel::TimedNs, vec![Arg::At(scratch), Arg::U32(1), Arg::U64(1)]),
            one_thread(Kernel::TimedCycles, vec![Arg::U64(1)]),
            arithmetic(scratch, shared.multiprocessors, 1),
        ] {
            // SAFETY: as in `start_chunk`; `finish` waits.
            unsafe { shared.gpu.launch(&self.stream, &launch)? };
            self.finish()?;
        }
        for (model, config) in (0..).map(ModelId).zip(&shared.models) {
            let Workload::Encoder(e) = &config.workload else { continue };
            let lengths = (1..=e.padded(e.max_len) / e.pad_to).map(|n| n * e.pad_to);
            let by_length = lengths.flat_map(|length| [(1, length), (e.max_batch, length)]);
            let by_units = (1..=e.max_batch).map(|units| (units, e.padded(e.max_len)));
            let some = by_length.chain(by_units);
            let steps = e.padded(e.max_len) / e.pad_to;
            let pairs = |units| (1..=steps).map(move |n| (units, n * e.pad_to));
            let all = (1..=e.max_batch).flat_map(pairs);
            let captured = self
                .forward
                .as_mut()
                .and_then(|f| f.reserve_graphs((e.max_batch * steps) as usize));
            let warmed: Vec<(u32, u32)> = match captured {
                Some(count) => all.take(count).chain(some).collect(),
                None => some.collect(),
            };
            for (i, (units, length)) in warmed.into_iter().enumerate() {
                let Some(forward) = &mut self.forward else { continue };
                let real = vec![length; units as usize];
                forward.prepare_lengths(&shared, model, &real, length)?;
                forward.start(&shared, &self.stream, None)?;
                self.finish()?;
                if let (Some(forward), true) = (&mut self.forward, captured.is_some_and(|n| i < n))
                {
                    forward.capture(&shared, &self.stream)?;
                }
            }
        }
        Ok(())
    }

    fn finish(&self) -> Result<(), DeviceError> {
        let doing = "warming up";
        let end = &self.ends[0];
        self.shared.gpu.check(doing, end.record(&self.stream))?;
        wait(&self.shared.gpu, end, doing, Span::ZERO, None)
    }

    /// Launches and waits; the job began at `start`.
    fn drive(
        &mut self,
        batch: &Batch,
        start: Time,
        place: &Place<'_>,
        stop: &Stop,
    ) -> Result<Ran, DeviceError> {
        let shared = Arc::clone(&self.shared);
        let gpu = &shared.gpu;
        let doing = "running a batch";
        let end = |chunk: u32| (chunk % AHEAD) as usize;
        gpu.check(doing, self.first.record(&self.stream))?;
        let (mut sent, mut ended) = (0, 0);
        let expected = Span::from_ns(batch.expected.ns() / u64::from(batch.chunks));
        while ended < batch.chunks {
            while sent < batch.chunks && sent < ended + AHEAD && !stop.is_set() {
                self.start_chunk(batch, sent)?;
                gpu.check(doing, self.ends[end(sent)].record(&self.stream))?;
                sent += 1;
            }
            if ended == sent {
                break;
            }
            wait(gpu, &self.ends[end(ended)], doing, expected, Some(place))?;
            ended += 1;
        }
        let end_seen = place.clock.now();
        let device = match sent.checked_sub(1) {
            Some(last) => gpu.between(&self.first, &self.ends[end(last)])?,
            None => Span::ZERO,
        };
        Ok(Ran { start, end: end_seen, device, away: Span::ZERO, stopped: sent < batch.chunks })
    }
}

impl Worker for Lane {
    fn start(&mut self) -> Result<(), DeviceError> {
        self.shared.gpu.bind()
    }

    fn run(&mut self, job: &Job, place: &Place<'_>, stop: &Stop) -> Result<Ran, DeviceError> {
        let start = place.clock.now();
        let Work::Batch { model, units, longest, first, .. } = job.work else {
            let doing = "running a load on a lane";
            return Err(DeviceError::new(
                self.shared.gpu.device(),
                doing,
                "it is no batch",
                "report a bug",
            ));
        };
        let stoppable = Stop::default();
        let stop = if self.shared.chunk.is_some() { stop } else { &stoppable };
        place.wait(place.clock.now() + job.fetch, stop);
        let batch = self.prepare(model, units, longest, first)?;
        let ran = self.drive(&batch, start, place, stop)?;
        if let (Chunks::Encoder { items, length }, false, Some(forward)) =
            (&batch.work, ran.stopped, &mut self.forward)
        {
            forward.took(model, *items, *length, ran.device);
        }
        Ok(ran)
    }
}
