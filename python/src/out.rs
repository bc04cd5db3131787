//! What a policy in Python asks for: [`Out`] checks each action in the handler's own line, and keeps it until
//! the handler returns.

use crate::world::PyRequest;
use orrery_sim::policy::{Actions, Event, Exec, Known, Outcome, TimerKey};
use orrery_sim::request::{ActionId, DeviceId, Drop, ModelId, RequestId};
use orrery_sim::time::Time;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Where a request is.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// It waits.
    Waiting,
    /// It is in a batch.
    InFlight,
    /// It is in a batch, and was dropped.
    Dropped,
}

enum Asked {
    Exec(Exec, Vec<RequestId>),
    Load(DeviceId, ModelId, Time, Time),
    Unload(DeviceId, ModelId),
    Cancel(ActionId),
    Preempt(ActionId),
    End(RequestId, Drop),
    SetTimer(TimerKey, Time),
    ClearTimer(TimerKey),
    Why(RequestId, String),
}

/// What a policy asks for: a method for each action.
#[pyclass(module = "orrery")]
pub struct Out {
    asked: Vec<Asked>,
    /// By number: their models and where they are.
    requests: BTreeMap<u64, (u32, Place)>,
    /// Actions that have not come to their end; loads have no requests.
    open: BTreeSet<u64>,
    next: u64,
    /// By device: its lanes.
    lanes: Vec<u8>,
    models: usize,
    why: bool,
    /// What times are multiplied by where the policy sees them.
    scale: u64,
}

impl Out {
    pub fn new(models: usize, scale: u64) -> Out {
        Out {
            asked: Vec::new(),
            requests: BTreeMap::new(),
            open: BTreeSet::new(),
            next: 0,
            lanes: Vec::new(),
            models,
            why: false,
            scale,
        }
    }

    /// What an event says of requests, actions and devices.
    pub fn begins(&mut self, event: &Event<'_>, known: &Known<'_>, why: bool) {
        self.why = why;
        match event {
            Event::Start | Event::Device(..) => {
                self.lanes = known.devices().iter().map(|d| d.lanes).collect();
            }
            Event::Arrive(r) => {
                self.requests.insert(r.id.0, (r.model.0, Place::Waiting));
            }
            Event::Result { action, outcome, requests, .. } => {
                self.open.remove(&action.0);
                let done = matches!(outcome, Outcome::Done { .. });
                for id in *requests {
                    let Some(at) = self.requests.get_mut(&id.0) else { continue };
                    if done || at.1 == Place::Dropped {
                        self.requests.remove(&id.0);
                    } else {
                        at.1 = Place::Waiting;
                    }
                }
            }
            Event::Timer(_) | Event::Profiled { .. } => {}
        }
    }

    pub fn carry_out(&mut self, out: &mut Actions) {
        for asked in self.asked.drain(..) {
            match asked {
                Asked::Exec(exec, requests) => {
                    out.exec(exec, &requests);
                }
                Asked::Load(device, model, earliest, latest) => {
                    out.load(device, model, earliest, latest);
                }
                Asked::Unload(device, model) => out.unload(device, model),
                Asked::Cancel(action) => out.cancel(action),
                Asked::Preempt(action) => out.preempt(action),
                Asked::End(request, why) => out.end(request, why),
                Asked::SetTimer(key, at) => out.set_timer(key, at),
                Asked::ClearTimer(key) => out.clear_timer(key),
                Asked::Why(request, text) => out.why(request, || text),
            }
        }
    }

    /// An instant that the policy says; one between two nanoseconds is the later.
    fn time(&self, ns: u64) -> Time {
        Time::from_ns(ns.div_ceil(self.scale))
    }

    fn device(&self, device: u32) -> PyResult<DeviceId> {
        if (device as usize) < self.lanes.len() {
            return Ok(DeviceId(device));
        }
        let last = self.lanes.len().saturating_sub(1);
        Err(PyValueError::new_err(format!("there is no device {device}; there are 0 to {last}")))
    }

    fn model(&self, model: u32) -> PyResult<ModelId> {
        if (model as usize) < self.models {
            return Ok(ModelId(model));
        }
        let last = self.models.saturating_sub(1);
        Err(PyValueError::new_err(format!("there is no model {model}; there are 0 to {last}")))
    }

    fn action(&self, action: u64) -> PyResult<ActionId> {
        if action < self.next {
            return Ok(ActionId(action));
        }
        let text =
            format!("action {action} was never issued; the last is {:?}", self.next.checked_sub(1));
        Err(PyValueError::new_err(text))
    }

    fn issue(&mut self) -> u64 {
        self.open.insert(self.next);
        self.next += 1;
        self.next - 1
    }
}

/// A request's number, or the request itself.
#[derive(FromPyObject)]
enum Which<'py> {
    Number(u64),
    Request(PyRef<'py, PyRequest>),
}

impl Which<'_> {
    fn id(&self) -> u64 {
        match self {
            Which::Number(id) => *id,
            Which::Request(request) => request.id,
        }
    }
}

fn timer(key: u64) -> PyResult<TimerKey> {
    if key < 1 << 56 {
        return Ok(TimerKey(key));
    }
    Err(PyValueError::new_err(format!("timer {key}: a key is below 2**56")))
}

#[pymethods]
impl Out {
    /// Executes requests of one model as one batch, from `earliest` on and not after `latest` (ns). Returns the
    /// action's number.
    #[pyo3(signature = (device, model, requests, *, earliest=None, latest=None, lane=0, billed=0))]
    #[allow(clippy::too_many_arguments)]
    fn exec(
        &mut self,
        device: u32,
        model: u32,
        requests: Vec<Which<'_>>,
        earliest: Option<u64>,
        latest: Option<u64>,
        lane: u8,
        billed: u32,
    ) -> PyResult<u64> {
        let (device, model) = (self.device(device)?, self.model(model)?);
        let lanes = self.lanes[device.index()];
        if lane >= lanes {
            let text = format!("device {} has no lane {lane}; it has {lanes}", device.0);
            return Err(PyValueError::new_err(text));
        }
        if requests.is_empty() {
            return Err(PyValueError::new_err("a batch needs at least one request"));
        }
        let mut ids = Vec::with_capacity(requests.len());
        for request in &requests {
            let id = request.id();
            let wrong = match self.requests.get(&id) {
                None => "has ended, or never arrived".to_string(),
                Some((_, Place::InFlight)) => "is in another batch".to_string(),
                Some((_, Place::Dropped)) => "was dropped".to_string(),
                Some((of, _)) if *of != model.0 => format!("asks for model {of}"),
                Some(_) if ids.contains(&RequestId(id)) => "is in the batch twice".to_string(),
                Some(_) => {
                    ids.push(RequestId(id));
                    continue;
                }
            };
            let text = format!("request {id} cannot be executed by model {}: it {wrong}", model.0);
            return Err(PyValueError::new_err(text));
        }
        for id in &ids {
            if let Some(at) = self.requests.get_mut(&id.0) {
                at.1 = Place::InFlight;
            }
        }
        let earliest = earliest.map_or(Time::ZERO, |at| self.time(at));
        let latest = latest.map_or(Time::NEVER, |at| self.time(at));
        let exec = Exec { lane, billed, earliest, latest, ..Exec::now(device, model) };
        self.asked.push(Asked::Exec(exec, ids));
        Ok(self.issue())
    }

    /// Copies a model's weights to a device. Returns the action's number.
    #[pyo3(signature = (device, model, *, earliest=None, latest=None))]
    fn load(
        &mut self,
        device: u32,
        model: u32,
        earliest: Option<u64>,
        latest: Option<u64>,
    ) -> PyResult<u64> {
        let (device, model) = (self.device(device)?, self.model(model)?);
        let earliest = earliest.map_or(Time::ZERO, |at| self.time(at));
        let latest = latest.map_or(Time::NEVER, |at| self.time(at));
        self.asked.push(Asked::Load(device, model, earliest, latest));
        Ok(self.issue())
    }

    /// Frees a model's memory on a device.
    fn unload(&mut self, device: u32, model: u32) -> PyResult<()> {
        let asked = Asked::Unload(self.device(device)?, self.model(model)?);
        self.asked.push(asked);
        Ok(())
    }

    /// Takes an action back if it has not begun.
    fn cancel(&mut self, action: u64) -> PyResult<()> {
        let action = self.action(action)?;
        if self.open.contains(&action.0) {
            self.asked.push(Asked::Cancel(action));
        }
        Ok(())
    }

    /// Stops an action that is running.
    fn preempt(&mut self, action: u64) -> PyResult<()> {
        let action = self.action(action)?;
        if self.open.contains(&action.0) {
            self.asked.push(Asked::Preempt(action));
        }
        Ok(())
    }

    /// Ends a request without a model's answer: `expired`, `infeasible`, `refused`, `default-reply` or `shed`.
    #[pyo3(signature = (request, why="infeasible"))]
    fn drop(&mut self, request: Which<'_>, why: &str) -> PyResult<()> {
        let reason = match why {
            "expired" => Drop::Expired,
            "infeasible" => Drop::Infeasible,
            "refused" => Drop::Refused,
            "default-reply" => Drop::DefaultReply,
            "shed" => Drop::Shed,
            _ => {
                let text = format!(
                    "`{why}` is no reason; allowed: expired, infeasible, refused, default-reply, shed"
                );
                return Err(PyValueError::new_err(text));
            }
        };
        let id = request.id();
        match self.requests.get_mut(&id) {
            Some((_, place @ Place::InFlight)) => *place = Place::Dropped,
            Some((_, Place::Waiting)) => {
                self.requests.remove(&id);
            }
            _ => {
                let text =
                    format!("request {id} cannot be dropped: it has ended, or never arrived");
                return Err(PyValueError::new_err(text));
            }
        }
        self.asked.push(Asked::End(RequestId(id), reason));
        Ok(())
    }

    /// Sets or moves a timer to an instant, ns.
    fn set_timer(&mut self, key: u64, at: u64) -> PyResult<()> {
        self.asked.push(Asked::SetTimer(timer(key)?, self.time(at)));
        Ok(())
    }

    /// Clears a timer if it is set.
    fn clear_timer(&mut self, key: u64) -> PyResult<()> {
        self.asked.push(Asked::ClearTimer(timer(key)?));
        Ok(())
    }

    /// Says why a request is treated as it is, for `orrery log explain`.
    fn why(&mut self, request: Which<'_>, text: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.why {
            let text: String = match text.extract() {
                Ok(text) => text,
                Err(_) if text.is_callable() => text.call0()?.extract()?,
                Err(_) => {
                    return Err(PyTypeError::new_err(
                        "a reason is a text, or a call that gives one",
                    ));
                }
            };
            self.asked.push(Asked::Why(RequestId(request.id()), text));
        }
        Ok(())
    }
}
