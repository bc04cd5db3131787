//! A lane: runs one batch at a time on its core.

use super::config::Preempt;
use super::model::Model;
use super::network::Work as Buffers;
use crate::device::{DeviceError, Job, Place, Ran, Stop, Work, Worker};
use crate::threads::{cpu_time, pin_to};
use orrery_sim::time::Span;
use std::sync::{Arc, PoisonError};

/// See the module's text.
pub struct Lane {
    core: usize,
    models: Vec<Arc<Model>>,
    preempt: Preempt,
    /// By model; made on the worker's own thread.
    buffers: Vec<Buffers>,
    /// What is copied besides inputs, and where outputs go.
    bytes: Vec<u8>,
    taken: Vec<u8>,
    output: Vec<f32>,
}

impl Lane {
    /// A lane on a core.
    pub fn new(core: usize, models: Vec<Arc<Model>>, preempt: Preempt) -> Lane {
        let (buffers, bytes, taken, output) = Default::default();
        Lane { core, models, preempt, buffers, bytes, taken, output }
    }

    fn name(&self) -> String {
        format!("cpu:{}", self.core)
    }
}

impl Worker for Lane {
    fn start(&mut self) -> Result<(), DeviceError> {
        pin_to(self.core).map_err(|e| {
            let remedy = "let the process use this core, or choose another";
            DeviceError::new(&self.name(), "pinning a lane's thread", e.to_string(), remedy)
        })?;
        self.buffers = self.models.iter().map(|m| m.encoder.work()).collect();
        let most = |m: &Arc<Model>| {
            u64::from(m.copied.in_bytes.max(m.copied.out_bytes)) * u64::from(m.encoder.max_batch)
        };
        let bytes = self.models.iter().map(most).max().unwrap_or(0) as usize;
        (self.bytes, self.taken) = (vec![1; bytes], vec![2; bytes]);
        let longest = self.models.iter().map(|m| m.input.len()).max().unwrap_or(0);
        self.output = vec![0.5; longest.max(1 << 16)];
        // Every model once, with its largest batch.
        for (model, work) in self.models.iter().zip(&mut self.buffers) {
            let longest = model.encoder.steps().last().copied().unwrap_or(Span::ZERO);
            let weights = model.weights.read().unwrap_or_else(PoisonError::into_inner);
            model.encoder.take(work, &model.input, model.encoder.max_batch, longest, 0);
            (0..work.layers()).for_each(|layer| work.run(layer, &weights));
        }
        Ok(())
    }

    fn run(&mut self, job: &Job, place: &Place<'_>, stop: &Stop) -> Result<Ran, DeviceError> {
        let start = place.clock.now();
        let doing = format!("running a batch (action {})", job.action.0);
        let Work::Batch { model: number, units, longest, first, .. } = job.work else {
            return Err(DeviceError::new(&self.name(), &doing, "it is no batch", "report a bug"));
        };
        let Some(model) = self.models.get(number.index()).cloned() else {
            let said = format!("model {} has no entry in the device's configuration", number.0);
            let remedy = "give every model of the scenario an entry in `models`";
            return Err(DeviceError::new(&self.name(), &doing, said, remedy));
        };
        place.wait(start + job.fetch, stop);
        let begun = (place.clock.now(), cpu_time());
        let weights = model.weights.read().unwrap_or_else(PoisonError::into_inner);
        let work = &mut self.buffers[number.index()];
        if !model.encoder.take(work, &model.input, units, longest, first.0) {
            let said = format!("a batch of {units}; `max_batch` is {}", model.encoder.max_batch);
            let remedy = "raise `max_batch` of the model, or lower the scenario's largest batch";
            return Err(DeviceError::new(&self.name(), &doing, said, remedy));
        }
        let more = units as usize * model.copied.in_bytes as usize;
        self.taken[..more].copy_from_slice(&self.bytes[..more]);
        let mut stopped = false;
        for layer in 0..work.layers() {
            stopped = self.preempt == Preempt::Layer && stop.is_set();
            if stopped {
                break;
            }
            work.run(layer, &weights);
        }
        if !stopped {
            let output = work.output(&model.encoder);
            self.output[..output.len()].copy_from_slice(output);
            let more = units as usize * model.copied.out_bytes as usize;
            self.bytes[..more].copy_from_slice(&self.taken[..more]);
        }
        let device = cpu_time().minus(begun.1);
        let end = place.clock.now();
        let away = end.since(begun.0).minus(device);
        Ok(Ran { start, end, device, away, stopped })
    }
}
