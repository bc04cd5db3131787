//! What a policy in Python may look at: requests, devices and profiles, as a Rust policy sees them.

use orrery_scenario::scenario::{Scenario, file};
use orrery_sim::cluster::{Change, DeviceView};
use orrery_sim::profile::ModelProfile;
use orrery_sim::request::Request;
use orrery_sim::time::{Span, Time};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

/// What a policy knows of a scenario's models and applications, by number.
#[derive(Debug, Default)]
pub struct WorldNames {
    /// How models are called.
    models: Vec<String>,
    /// Applications.
    apps: Vec<App>,
}

impl WorldNames {
    /// Those of a scenario.
    pub fn of(scenario: &Scenario) -> WorldNames {
        let models = scenario.model_names();
        let app = |(id, app): (usize, &file::App)| {
            let model = models.iter().position(|name| *name == app.model).unwrap_or_default();
            let slo_ms = app.slo_ms.unwrap_or(scenario.file.model[model].slo_ms);
            let slo = slo_ms.is_finite().then(|| Span::from_ms_f64(slo_ms).ns());
            App { id: id as u32, name: app.name.clone(), model: model as u32, slo }
        };
        let apps = scenario.file.app.iter().enumerate().map(app).collect();
        WorldNames { models, apps }
    }
}

/// An application.
#[pyclass(frozen, get_all, module = "orrery")]
#[derive(Clone, Debug)]
pub struct App {
    /// Its number.
    id: u32,
    /// The application's name.
    name: String,
    /// The model that its requests ask for, by number.
    model: u32,
    /// Its SLO, ns; `None` without one. A request's own deadline counts where `slo_steps` or a workload file set
    /// others.
    slo: Option<u64>,
}

#[pymethods]
impl App {
    fn __repr__(&self) -> String {
        let slo = self.slo.map_or("None".to_string(), |slo| slo.to_string());
        format!("App(id={}, name={:?}, model={}, slo={slo})", self.id, self.name, self.model)
    }
}

/// A request, without how long it takes.
#[pyclass(frozen, get_all, name = "Request", module = "orrery")]
pub struct PyRequest {
    /// Its number in the order of arrival.
    pub id: u64,
    /// The application that sent it, by number.
    app: u32,
    /// The model that it asks for, by number.
    model: u32,
    /// How many items it has.
    size: u32,
    /// When it arrived, ns.
    arrival: u64,
    /// When it must be answered, ns; `None` without an SLO.
    deadline: Option<u64>,
}

impl PyRequest {
    pub fn of(r: &Request, scale: u64) -> PyRequest {
        let (id, app, model, size) = (r.id.0, r.app.0, r.model.0, r.size);
        let deadline = (r.deadline != Time::NEVER).then(|| scale * r.deadline.ns());
        PyRequest { id, app, model, size, arrival: scale * r.arrival.ns(), deadline }
    }
}

#[pymethods]
impl PyRequest {
    fn __repr__(&self) -> String {
        let PyRequest { id, app, model, size, arrival, .. } = self;
        let deadline = self.deadline.map_or("None".to_string(), |d| d.to_string());
        format!(
            "Request(id={id}, app={app}, model={model}, size={size}, arrival={arrival}, deadline={deadline})"
        )
    }
}

/// A device.
#[pyclass(frozen, get_all, module = "orrery")]
#[derive(Clone)]
pub struct Device {
    /// Its number.
    id: u32,
    /// Its kind, by number.
    kind: u32,
    /// `up`, `draining` or `down`.
    state: &'static str,
    /// Batches that it runs at a time.
    lanes: u8,
    /// Whether a running batch can be stopped.
    can_preempt: bool,
    /// Free pages of its memory; `None` where memory is not counted.
    free_pages: Option<u32>,
}

impl Device {
    pub fn of(view: &DeviceView) -> Device {
        let state = match view.state {
            Change::Up => "up",
            Change::Draining => "draining",
            Change::Down => "down",
        };
        Device {
            id: view.id.0,
            kind: view.kind,
            state,
            lanes: view.lanes,
            can_preempt: view.can_preempt,
            free_pages: view.free_pages,
        }
    }
}

#[pymethods]
impl Device {
    fn __repr__(&self) -> String {
        format!("Device(id={}, kind={}, state={:?})", self.id, self.kind, self.state)
    }
}

/// What is known of a model: its latency by batch size and its applications' execution times, as a profiler
/// measured them.
#[pyclass(frozen, module = "orrery")]
pub struct Profile {
    profile: ModelProfile,
    scale: u64,
}

#[pymethods]
impl Profile {
    /// The batch sizes that were measured.
    #[getter]
    fn sizes(&self) -> Vec<u32> {
        self.profile.sizes.iter().map(|s| s.size).collect()
    }

    /// The SLO that plans are made for, ns; `None` without one.
    #[getter]
    fn slo(&self) -> Option<u64> {
        let slo = self.profile.slo;
        (slo != Span::MAX).then(|| self.scale * slo.ns())
    }

    /// Mean latency of a batch of that size, ns; it is one of `sizes`.
    fn latency_ns(&self, size: u32) -> PyResult<u64> {
        let of = self.profile.sizes.iter().find(|s| s.size == size);
        of.map(|s| self.scale * s.mean.ns()).ok_or_else(|| {
            let text = format!("batches of {size} were not measured; sizes: {:?}", self.sizes());
            PyValueError::new_err(text)
        })
    }

    /// Mean execution time in isolation of an application's requests, ns; `None` where it was not measured.
    fn alone_ns(&self, app: u32) -> Option<u64> {
        let place = self.profile.place_of(app as usize)?;
        Some(self.scale * self.profile.apps[place].law.mean_ns() as u64)
    }

    /// A quantile of an application's execution times in isolation, ns; `None` where it was not measured.
    fn alone_quantile_ns(&self, app: u32, q: f64) -> PyResult<Option<u64>> {
        if !(0.0..=1.0).contains(&q) {
            return Err(PyValueError::new_err(format!("quantile {q}: it is from 0 to 1")));
        }
        let place = self.profile.place_of(app as usize);
        Ok(place.map(|at| self.scale * self.profile.apps[at].law.quantile_ns(q) as u64))
    }
}

/// What is there when a run begins.
#[pyclass(frozen, module = "orrery")]
pub struct Context {
    devices: Vec<Device>,
    profiles: Vec<ModelProfile>,
    names: Arc<WorldNames>,
    seed: u64,
    scale: u64,
}

impl Context {
    pub fn new(
        devices: Vec<Device>,
        profiles: Vec<ModelProfile>,
        names: Arc<WorldNames>,
        seed: u64,
        scale: u64,
    ) -> Context {
        Context { devices, profiles, names, seed, scale }
    }
}

#[pymethods]
impl Context {
    /// The devices.
    #[getter]
    fn devices(&self) -> Vec<Device> {
        self.devices.clone()
    }

    /// The models' names, by number.
    #[getter]
    fn models(&self) -> Vec<String> {
        self.names.models.clone()
    }

    /// The applications' names, by number.
    #[getter]
    fn apps(&self) -> Vec<String> {
        self.names.apps.iter().map(|app| app.name.clone()).collect()
    }

    /// An application: its name, its model's number, its SLO.
    fn app(&self, app: u32) -> PyResult<App> {
        let last = self.names.apps.len().saturating_sub(1);
        let text = || {
            PyValueError::new_err(format!("there is no application {app}; there are 0 to {last}"))
        };
        let found = self.names.apps.get(app as usize).cloned().ok_or_else(text)?;
        Ok(App { slo: found.slo.map(|slo| slo * self.scale), ..found })
    }

    /// The run's seed: for a policy that draws numbers, from a generator of its own.
    #[getter]
    fn seed(&self) -> u64 {
        self.seed
    }

    /// What is known of a model.
    fn profile(&self, model: u32) -> PyResult<Profile> {
        let profile = self.profiles.get(model as usize).cloned();
        let last = self.profiles.len().saturating_sub(1);
        let text =
            || PyValueError::new_err(format!("there is no model {model}; there are 0 to {last}"));
        Ok(Profile { profile: profile.ok_or_else(text)?, scale: self.scale })
    }
}
