//! A lane, or the executor for loads: asks its process, one job at a time.

use super::config::WorkerConfig;
use super::message::Done;
use super::process::monotonic_ns;
use super::seat::Seat;
use crate::device::{DeviceError, Job, Place, Ran, Stop, Work, Worker};
use orrery_sim::time::{Span, Time};
use serde_json::json;
use std::sync::Arc;

/// See the module's text.
pub struct Lane {
    /// None where nothing is loaded.
    seat: Option<Seat>,
    config: Arc<WorkerConfig>,
}

impl Lane {
    pub fn new(seat: Option<Seat>, config: Arc<WorkerConfig>) -> Lane {
        Lane { seat, config }
    }
}

impl Worker for Lane {
    fn start(&mut self) -> Result<(), DeviceError> {
        let Some(seat) = &mut self.seat else { return Ok(()) };
        let models = self.config.models.iter().map(|m| {
            let lengths: Vec<u32> = m.lengths.iter().map(|(length, _)| *length).collect();
            json!({ "run": m.run, "max_batch": m.max_batch, "lengths": lengths })
        });
        seat.prepare(models.collect(), self.config.prepare_s)
    }

    fn run(&mut self, job: &Job, place: &Place<'_>, stop: &Stop) -> Result<Ran, DeviceError> {
        let (doing, question) = match job.work {
            Work::Batch { model, units, longest, .. } => {
                let length = self.config.models.get(model.index()).and_then(|m| m.length(longest));
                let question =
                    json!({ "do": "run", "model": model.0, "size": units, "length": length });
                (format!("running a batch (action {})", job.action.0), question)
            }
            Work::Load { model, .. } => {
                let doing = format!("loading a model (action {})", job.action.0);
                (doing, json!({ "do": "load", "model": model.0 }))
            }
        };
        let Some(seat) = &mut self.seat else {
            let said = "a load, and no model of the scenario has `load_ms`";
            return Err(DeviceError::new(&job.device.to_string(), &doing, said, "report a bug"));
        };
        let until = place.clock.now() + job.fetch;
        while job.fetch > Span::ZERO && place.clock.now() < until && !stop.is_set() {
            place.clock.wait(place.me, until);
        }
        let limit = ("patience_s", self.config.patience());
        let done = seat.process().ask(question, &doing, limit, Some(stop), Done::of)?;
        let (now, now_ns) = (place.clock.now(), monotonic_ns());
        let at = |ns: u64| Time::from_ns(now.ns().saturating_sub(now_ns.saturating_sub(ns)));
        Ok(Ran {
            start: at(done.start_ns).minus(job.fetch),
            end: at(done.end_ns),
            device: Span::from_ns(done.device_ns()),
            away: Span::from_ns(done.away_ns),
            stopped: false,
        })
    }
}
