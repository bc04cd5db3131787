//! A policy in Python, as the simulator sees it: events become calls of its methods, and what it asks of
//! [`Out`] is carried out when the handler returns.
//!
//! It knows no truth: a handler is given what a Rust policy is given, and nothing else.

use crate::out::Out;
use crate::world::{Context, Device, PyRequest, WorldNames};
use orrery_sim::policy::parameters::{Assumption, Configured, Lanes, Named};
use orrery_sim::policy::{Actions, Event, Known, Outcome, Policy, Refusal};
use orrery_sim::profile::ModelProfile;
use orrery_sim::request::{ActionId, DeviceId, RequestId};
use orrery_sim::time::{Span, Time};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The first exception of a run, which ends it.
#[derive(Default)]
pub struct Failed {
    is: AtomicBool,
    error: Mutex<Option<PyErr>>,
}

impl Failed {
    /// Whether a handler has raised.
    pub fn is(&self) -> bool {
        self.is.load(Ordering::Relaxed)
    }

    /// Keeps an exception, if it is the first.
    pub fn keep(&self, error: PyErr) {
        let mut kept = self.error.lock().expect("nobody panics with it");
        if kept.is_none() {
            *kept = Some(error);
        }
        self.is.store(true, Ordering::Relaxed);
    }

    /// The exception.
    pub fn error(&self) -> Option<PyErr> {
        let kept = self.error.lock().expect("nobody panics with it");
        kept.as_ref().map(|error| Python::attach(|py| error.clone_ref(py)))
    }
}

thread_local! {
    /// Whether this thread is in a policy's own code.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// A policy's own code, for as long as this lives.
struct Inside;

impl Inside {
    fn enter() -> Inside {
        INSIDE.set(true);
        Inside
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(false);
    }
}

/// Passes outside of a policy's own code. Inside, a run of the same scenario would tell a policy its own future.
///
/// # Errors
/// Inside.
pub fn outside(call: &str) -> PyResult<()> {
    if !INSIDE.get() {
        return Ok(());
    }
    Err(PyRuntimeError::new_err(format!(
        "orrery.{call} inside a policy: it could simulate its own future; call it before the run, and give the \
         policy what it found"
    )))
}

/// What makes a policy for each run: `make()` gives a fresh object.
pub struct Factory {
    /// As in results: `python:NAME`.
    pub name: String,
    /// Makes the object.
    pub make: Py<PyAny>,
    /// How models and applications are called.
    pub names: Arc<WorldNames>,
    /// Where exceptions go.
    pub failed: Arc<Failed>,
    /// Every time that the policy sees is multiplied by this, and every time that it says divided.
    pub scale: u64,
}

impl fmt::Debug for Factory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Named for Factory {
    fn name(&self) -> String {
        self.name.clone()
    }
    fn value(&self, _: &str) -> Option<String> {
        None
    }
}

impl Configured for Factory {
    fn build(&self, profiles: &[ModelProfile], seed: u64) -> Box<dyn Policy> {
        let made = Python::attach(|py| {
            let inside = Inside::enter();
            let object = self.make.call0(py)?;
            drop(inside);
            let out = Py::new(py, Out::new(profiles.len(), self.scale))?;
            PyResult::Ok((object, out))
        });
        let (object, out) = match made {
            Ok(made) => made,
            Err(error) => {
                self.failed.keep(error);
                Python::attach(|py| {
                    let out = Py::new(py, Out::new(0, 1)).expect("an empty object can be made");
                    (py.None(), out)
                })
            }
        };
        Box::new(Bridge {
            name: self.name.clone(),
            object,
            out,
            profiles: profiles.to_vec(),
            names: self.names.clone(),
            seed,
            failed: self.failed.clone(),
            scale: self.scale,
        })
    }
    fn facts(&self, _: &[ModelProfile]) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
    fn epoch(&self) -> Option<Span> {
        None
    }
    fn why_slow(&self) -> Option<&'static str> {
        None
    }
    fn needs_profiler(&self) -> bool {
        false
    }
    fn preempts(&self) -> bool {
        false
    }
    fn lanes(&self) -> Lanes {
        Lanes::All
    }
    fn assumes(&self) -> &'static [Assumption] {
        &[Assumption::OneKind]
    }
}

struct Bridge {
    name: String,
    object: Py<PyAny>,
    out: Py<Out>,
    profiles: Vec<ModelProfile>,
    names: Arc<WorldNames>,
    seed: u64,
    failed: Arc<Failed>,
    scale: u64,
}

impl Policy for Bridge {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn on(&mut self, now: Time, event: Event<'_>, known: &Known<'_>, out: &mut Actions) {
        if self.failed.is() {
            return;
        }
        let told = Python::attach(|py| {
            self.out.borrow_mut(py).begins(&event, known, out.asked_why());
            let inside = Inside::enter();
            self.tell(py, now, event, known)?;
            drop(inside);
            self.out.borrow_mut(py).carry_out(out);
            PyResult::Ok(())
        });
        if let Err(error) = told {
            self.failed.keep(error);
        }
    }
}

impl Bridge {
    fn tell(&self, py: Python<'_>, now: Time, event: Event<'_>, known: &Known<'_>) -> PyResult<()> {
        let (object, out) = (self.object.bind(py), self.out.bind(py));
        let now = now.ns() * self.scale;
        match event {
            Event::Start => {
                let devices = known.devices().iter().map(Device::of).collect();
                let profiles = self.profiles.clone();
                let context =
                    Context::new(devices, profiles, self.names.clone(), self.seed, self.scale);
                object.call_method1("on_start", (context, out))?;
            }
            Event::Arrive(r) => {
                object.call_method1("on_arrival", (now, PyRequest::of(r, self.scale), out))?;
            }
            Event::Result { action, device, outcome, requests } => {
                let batch = Batch::of(action, device, outcome, requests, self.scale);
                object.call_method1("on_result", (now, batch, out))?;
            }
            Event::Timer(key) => {
                object.call_method1("on_timer", (now, key.0, out))?;
            }
            Event::Device(device, _) => {
                let devices = known.devices();
                let view = &devices[device.index()];
                object.call_method1("on_device", (now, Device::of(view), out))?;
            }
            Event::Profiled { .. } => {}
        }
        Ok(())
    }
}

/// A batch, or a load, that came to its end.
#[pyclass(frozen, get_all, module = "orrery")]
pub struct Batch {
    /// The action's number, as `exec` or `load` returned it.
    action: u64,
    /// Its device.
    device: u32,
    /// `done`, `refused`, `preempted` or `cancelled`.
    outcome: &'static str,
    /// Why it was refused: `late`, `not-loaded`, `no-memory`, `device-down`; empty otherwise.
    reason: &'static str,
    /// Its requests, by number.
    requests: Vec<u64>,
    /// When the device began and finished it, ns; `None` unless it is done.
    start: Option<u64>,
    /// When the device finished it.
    end: Option<u64>,
}

impl Batch {
    fn of(
        action: ActionId,
        device: DeviceId,
        outcome: Outcome,
        requests: &[RequestId],
        scale: u64,
    ) -> Batch {
        let (word, reason, times) = match outcome {
            Outcome::Done { start, end, .. } => {
                ("done", "", Some((scale * start.ns(), scale * end.ns())))
            }
            Outcome::Preempted { .. } => ("preempted", "", None),
            Outcome::Cancelled => ("cancelled", "", None),
            Outcome::Rejected(why) => {
                let reason = match why {
                    Refusal::Late => "late",
                    Refusal::NotLoaded => "not-loaded",
                    Refusal::NoMemory => "no-memory",
                    Refusal::DeviceDown => "device-down",
                };
                ("refused", reason, None)
            }
        };
        Batch {
            action: action.0,
            device: device.0,
            outcome: word,
            reason,
            requests: requests.iter().map(|id| id.0).collect(),
            start: times.map(|t| t.0),
            end: times.map(|t| t.1),
        }
    }
}

#[pymethods]
impl Batch {
    fn __repr__(&self) -> String {
        let Batch { action, device, outcome, requests, .. } = self;
        format!(
            "Batch(action={action}, device={device}, outcome={outcome:?}, requests={requests:?})"
        )
    }
}
