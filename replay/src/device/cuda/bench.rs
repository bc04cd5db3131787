//! Measuring the device itself: what launches, copies and clocks cost. Samples, not averages.
#![allow(unsafe_code)]

use super::driver::Gpu;
use super::wait::wait;
use crate::device::DeviceError;
use crate::device::encoder::plan::{Arg, Kernel, Launch};
use crate::quantiles::median;
use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaEvent, CudaStream};
use orrery_sim::time::Span;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Instant;

/// A copy from pinned host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopySample {
    /// Its size.
    pub bytes: u64,
    /// By the device's clock.
    pub device: Span,
    /// From the call until it was seen to have ended, by the host's clock.
    pub host: Span,
}

/// A launch of a kernel that does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchSample {
    /// Until the call returned, by the host's clock.
    pub call: Span,
    /// From the call until the kernel was seen to have ended, by the host's clock.
    pub host: Span,
    /// Between an event before and one after it, by the device's clock.
    pub device: Span,
}

/// What `timed` and `compute` are set by; measured when the device is opened.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Between the two events of a job that computes nothing: the median of 33.
    pub empty_ns: u64,
    /// A step of the device's nanosecond timer: the median of 63.
    pub timer_step_ns: u64,
    /// Multiprocessor cycles.
    pub cycles_per_us: f64,
    /// Iterations of the arithmetic kernel, on all multiprocessors.
    pub iterations_per_us: f64,
}

/// A stream and two events to measure with.
pub struct Bench<'a> {
    gpu: &'a Gpu,
    stream: Arc<CudaStream>,
    first: CudaEvent,
    last: CudaEvent,
}

impl<'a> Bench<'a> {
    pub fn new(gpu: &'a Gpu) -> Result<Bench<'a>, DeviceError> {
        let stream = gpu.stream(true)?;
        Ok(Bench { gpu, stream, first: gpu.event()?, last: gpu.event()? })
    }

    /// Runs `start` between two events: until it returned, until all had ended, and between the events.
    fn sample(
        &self,
        doing: &str,
        start: impl FnOnce(&CudaStream) -> Result<(), DeviceError>,
    ) -> Result<LaunchSample, DeviceError> {
        let began = Instant::now();
        self.gpu.check(doing, self.first.record(&self.stream))?;
        let before = Instant::now();
        start(&self.stream)?;
        let call = span(before);
        self.gpu.check(doing, self.last.record(&self.stream))?;
        wait(self.gpu, &self.last, doing, Span::ZERO, None)?;
        let host = span(began);
        Ok(LaunchSample { call, host, device: self.gpu.between(&self.first, &self.last)? })
    }

    fn run(&self, doing: &str, launch: &Launch<CUdeviceptr>) -> Result<LaunchSample, DeviceError> {
        // SAFETY: the launches below are those of the kernels in `orrery.cu`, on memory that they made
        // large enough and keep until `sample` has waited.
        self.sample(doing, |stream| unsafe { self.gpu.launch(stream, launch) })
    }

    pub fn launches(&self, count: u32) -> Result<Vec<LaunchSample>, DeviceError> {
        let empty = one_thread(Kernel::Empty, Vec::new());
        (0..count).map(|_| self.run("measuring the launch overhead", &empty)).collect()
    }

    pub fn copies(&self, bytes: u64, count: u32) -> Result<Vec<CopySample>, DeviceError> {
        let (from, to) = (self.gpu.pinned(bytes)?, self.gpu.memory("copies", bytes)?);
        let doing = "measuring copies to the device";
        let sample = |_| {
            // SAFETY: nobody writes to `from`, and both live until `sample` has waited.
            let start =
                |stream: &CudaStream| unsafe { self.gpu.copy(stream, &from, &to, 0, bytes) };
            let LaunchSample { host, device, .. } = self.sample(doing, start)?;
            Ok(CopySample { bytes, device, host })
        };
        (0..count).map(sample).collect()
    }

    pub fn timer_steps(&self, count: u32) -> Result<Vec<Span>, DeviceError> {
        let values = self.gpu.memory("timer readings", (u64::from(count) + 1) * 8)?;
        let args = vec![Arg::At(values.pointer()), Arg::U32(count + 1)];
        self.run("measuring the timer", &one_thread(Kernel::TimerValues, args))?;
        let values: Vec<u64> = self.gpu.read(&values, count as usize + 1)?;
        Ok(values.windows(2).map(|w| Span::from_ns(w[1].saturating_sub(w[0]))).collect())
    }

    fn cycles_per_us(&self) -> Result<f64, DeviceError> {
        let doing = "measuring the multiprocessor clock";
        let readings = self.gpu.memory("clock readings", 32)?;
        let mut rates = Vec::new();
        for _ in 0..5 {
            let args = vec![Arg::At(readings.pointer()), Arg::U64(4_000_000)];
            self.run(doing, &one_thread(Kernel::ClockRate, args))?;
            let got: Vec<u64> = self.gpu.read(&readings, 4)?;
            let (ns, cycles) = (got[2].wrapping_sub(got[0]), got[3].wrapping_sub(got[1]));
            rates.push(cycles as f64 * 1e3 / ns as f64);
        }
        self.positive(doing, median(&mut rates))
    }

    fn iterations_per_us(&self, multiprocessors: u32) -> Result<f64, DeviceError> {
        let doing = "measuring the rate of arithmetic";
        let sink = self.gpu.memory("arithmetic", u64::from(multiprocessors) * 4)?;
        let device = |iterations| {
            let launch = arithmetic(sink.pointer(), multiprocessors, iterations);
            self.run(doing, &launch).map(|sample| sample.device.ns() as f64)
        };
        // A tenth of a second of work first: a device that was idle has to raise its clocks.
        let mut iterations = 1_000;
        while device(iterations)? < 1e8 && iterations < 1 << 30 {
            iterations *= 4;
        }
        let (many, few) = (iterations / 8, iterations / 32);
        let mut rates = Vec::new();
        for _ in 0..5 {
            let ns = device(many)? - device(few)?;
            rates.push(f64::from(many - few) * 1e3 / ns);
        }
        self.positive(doing, median(&mut rates))
    }

    fn positive(&self, doing: &str, rate: f64) -> Result<f64, DeviceError> {
        if rate.is_finite() && rate > 0.0 {
            return Ok(rate);
        }
        let said = format!("the device's clocks gave a rate of {rate} per microsecond");
        Err(DeviceError::new(
            self.gpu.device(),
            doing,
            said,
            "end other programs on the device, and run again",
        ))
    }

    /// What kernels are set by; the rate of arithmetic as it is `known`, or as it is now.
    pub fn calibrate(
        &self,
        multiprocessors: u32,
        known: Option<f64>,
    ) -> Result<Calibration, DeviceError> {
        let iterations_per_us = match known {
            Some(rate) => rate,
            None => self.iterations_per_us(multiprocessors)?,
        };
        let cycles_per_us = self.cycles_per_us()?;
        let mut steps: Vec<f64> = self.timer_steps(63)?.iter().map(|s| s.ns() as f64).collect();
        let mut empty: Vec<f64> = self.launches(33)?.iter().map(|s| s.device.ns() as f64).collect();
        Ok(Calibration {
            empty_ns: median(&mut empty) as u64,
            timer_step_ns: median(&mut steps) as u64,
            cycles_per_us,
            iterations_per_us,
        })
    }
}

/// The arithmetic kernel: a block of 256 threads keeps a multiprocessor's pipelines full, and an
/// iteration is short.
pub fn arithmetic(sink: CUdeviceptr, multiprocessors: u32, iterations: u32) -> Launch<CUdeviceptr> {
    Launch {
        kernel: Kernel::Fma,
        grid: (multiprocessors, 1, 1),
        block: 256,
        args: vec![Arg::At(sink), Arg::U32(iterations)],
    }
}

/// A kernel of one thread.
pub fn one_thread(kernel: Kernel, args: Vec<Arg<CUdeviceptr>>) -> Launch<CUdeviceptr> {
    Launch { kernel, grid: (1, 1, 1), block: 1, args }
}

fn span(since: Instant) -> Span {
    Span::from_ns(since.elapsed().as_nanos() as u64)
}
