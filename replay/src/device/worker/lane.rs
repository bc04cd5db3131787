//! A lane, or the executor for loads: asks its process, one job at a time.

use super::config::WorkerConfig;
use super::message::Done;
use super::process::{Process, monotonic_ns};
use crate::device::{DeviceError, Job, Place, Ran, Stop, Work, Worker};
use orrery_sim::time::{Span, Time};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// See the module's text.
pub struct Lane {
    /// None where nothing is loaded.
    process: Option<Process>,
    config: Arc<WorkerConfig>,
}

impl Lane {
    pub fn new(process: Option<Process>, config: Arc<WorkerConfig>) -> Lane {
        Lane { process, config }
    }
}

impl Worker for Lane {
    fn start(&mut self) -> Result<(), DeviceError> {
        let Some(process) = &mut self.process else { return Ok(()) };
        let models = self.config.models.iter().map(|m| {
            let lengths: Vec<u32> = m.lengths.iter().map(|(length, _)| *length).collect();
            json!({ "run": m.run, "max_batch": m.max_batch, "lengths": lengths })
        });
        let question = json!({ "do": "prepare", "models": models.collect::<Vec<_>>() });
        let limit = ("prepare_s", Duration::from_secs_f64(self.config.prepare_s));
        process.ask(question, "preparing its models", limit, None, |_, _, _| Ok(()))
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
        let Some(process) = &mut self.process else {
            let said = "a load, and no model of the scenario has `load_ms`";
            return Err(DeviceError::new(&job.device.to_string(), &doing, said, "report a bug"));
        };
        let until = place.clock.now() + job.fetch;
        while job.fetch > Span::ZERO && place.clock.now() < until && !stop.is_set() {
            place.clock.wait(place.me, until);
        }
        let limit = ("patience_s", self.config.patience());
        let done = process.ask(question, &doing, limit, Some(stop), Done::of)?;
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
