//! The executor for loads: copies a model's weights into the memory that its layers read.

use super::model::Model;
use crate::device::{DeviceError, Job, Place, Ran, Stop, Work, Worker};
use crate::threads::{cpu_time, pin_to};
use std::sync::{Arc, PoisonError};

/// See the module's text.
pub struct Loader {
    core: usize,
    models: Vec<Arc<Model>>,
}

impl Loader {
    /// A loader on a core.
    pub fn new(core: usize, models: Vec<Arc<Model>>) -> Loader {
        Loader { core, models }
    }
}

impl Worker for Loader {
    fn start(&mut self) -> Result<(), DeviceError> {
        pin_to(self.core).map_err(|e| {
            let remedy = "let the process use this core, or choose another";
            let device = format!("cpu:{}", self.core);
            DeviceError::new(&device, "pinning the thread for loads", e.to_string(), remedy)
        })
    }

    fn run(&mut self, job: &Job, place: &Place<'_>, _stop: &Stop) -> Result<Ran, DeviceError> {
        let start = place.clock.now();
        let doing = format!("loading a model (action {})", job.action.0);
        let fault = |said: &str, remedy| {
            Err(DeviceError::new(&format!("cpu:{}", self.core), &doing, said, remedy))
        };
        let Work::Load { model, .. } = job.work else {
            return fault("it is no load", "report a bug");
        };
        let Some(model) = self.models.get(model.index()) else {
            let remedy = "give every model of the scenario an entry in `models`";
            return fault("it has no entry in the device's configuration", remedy);
        };
        let begun = cpu_time();
        let mut weights = model.weights.write().unwrap_or_else(PoisonError::into_inner);
        weights.copy_from_slice(&model.master);
        let device = cpu_time().minus(begun);
        let end = place.clock.now();
        let away = end.since(start).minus(device);
        Ok(Ran { start, end, device, away, stopped: false })
    }
}
