//! A device that waits: it needs nothing, and takes as long as its own law says.
//!
//! The law is a sample of measured durations, or a curve with noise from a stream of its own. It is
//! never the object with which a prediction is made: comparing a model with itself proves nothing.

mod config;
mod curve;
mod samples;

pub use config::{Config, DEFAULT_NOISE, ModelConfig, SamplesConfig};
pub use curve::{Curve, Noise};
pub use samples::Samples;

use super::{Description, Device, DeviceError, Job, Place, Ran, Stop, Worker};
use orrery_sim::request::ModelId;
use orrery_sim::time::Span;
use std::sync::Arc;

/// How long a job takes. Pure: it may depend on the job alone.
pub trait Durations: Send + Sync {
    /// Time on the device, fetching left out.
    fn duration(&self, job: &Job) -> Span;

    /// What it is, for the record.
    fn describe(&self) -> String;
}

/// The emulated device.
pub struct Emulated {
    durations: Arc<dyn Durations>,
    can_preempt: bool,
}

impl Emulated {
    /// A device that takes as long as `durations` says.
    pub fn new(durations: Arc<dyn Durations>, can_preempt: bool) -> Emulated {
        Emulated { durations, can_preempt }
    }
}

impl Device for Emulated {
    fn describe(&self) -> Description {
        Description {
            device: "emulated".to_string(),
            name: self.durations.describe(),
            can_preempt: self.can_preempt,
            ..Description::default()
        }
    }

    fn workers(&mut self, lanes: u8) -> Result<Vec<Box<dyn Worker>>, DeviceError> {
        let worker = |_| -> Box<dyn Worker> { Box::new(Waiter(Arc::clone(&self.durations))) };
        Ok((0..=lanes).map(worker).collect())
    }

    fn steps(&self, _: ModelId) -> Vec<Span> {
        Vec::new()
    }

    fn batch_max(&self, _: ModelId) -> Option<u32> {
        None
    }
}

struct Waiter(Arc<dyn Durations>);

impl Worker for Waiter {
    fn run(&mut self, job: &Job, place: &Place<'_>, stop: &Stop) -> Result<Ran, DeviceError> {
        let start = place.clock.now();
        let until = start + job.fetch + self.0.duration(job);
        loop {
            let now = place.clock.now();
            let stopped = stop.is_set();
            if stopped || now >= until {
                // Its time ends when it is due; what is later, the host took away.
                let device = now.min(until).since(start).minus(job.fetch);
                return Ok(Ran { start, end: now, device, away: now.since(until), stopped });
            }
            place.clock.wait(place.me, until);
        }
    }
}
