//! orrery in Python: the module `orrery._orrery`, which `python/orrery` wraps.
//!
//! A run here is the command line's: the same scenario, rows and CSV. What is new is a policy whose handlers
//! are Python's ([`policy`]), and tables that leave by Arrow ([`table`]).

mod out;
mod policy;
mod table;
mod watching;
mod world;

use crate::policy::{Factory, Failed};
use crate::table::Table;
use crate::watching::{Requests, Stopper};
use crate::world::WorldNames;
use orrery_papers::cells::logged::names;
use orrery_papers::cells::replication::Replication;
use orrery_papers::cells::rows::{difference, rows};
use orrery_papers::cells::scenario_cell::{ScenarioCell, inputs_sha256};
use orrery_papers::cells::seeds::Seeds;
use orrery_papers::cells::watch::{scope_names, watch};
use orrery_papers::papers::options::Choice;
use orrery_papers::papers::reproduce::{self, Asked, How, Outcome};
use orrery_papers::papers::{figure, registry};
use orrery_results::Row;
use orrery_scenario::scenario::Scenario;
use orrery_scenario::{PolicySpec, Setup, SpecError};
use orrery_sim::audit::Auditor;
use orrery_sim::driver::simulate;
use orrery_sim::log::MemoryLog;
use orrery_sim::metrics::Metrics;
use orrery_sim::observer::Observer;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use sha2::{Digest, Sha256};
use std::path::Path;
use std::sync::Arc;

/// What the name of a policy in Python begins with in results.
const OWN: &str = "python:";

/// As the command line says it.
fn refused(error: SpecError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A policy of the call: text for a published one, a name with what makes an object for one in Python.
#[derive(FromPyObject)]
enum Given {
    Published(String),
    Own(String, Py<PyAny>, String),
}

/// A scenario: its path, its text, or the JSON of a dict.
fn scenario(kind: &str, text: &str, json: Option<&str>) -> Result<Scenario, SpecError> {
    let parse = |message: String| SpecError::Parse { file: "scenario".to_string(), message };
    let (name, text) = match kind {
        "path" => (text.to_string(), orrery_scenario::read_text(Path::new(text))?),
        "dict" => {
            let value: toml::Value =
                serde_json::from_str(text).map_err(|e| parse(e.to_string()))?;
            let text = toml::to_string(&value).map_err(|e| parse(e.to_string()))?;
            ("scenario".to_string(), text)
        }
        _ => ("scenario".to_string(), text.to_string()),
    };
    // Policies are the call's; a file without any is whole here.
    let text = match text.parse::<toml::Table>() {
        Ok(table) if !table.contains_key("policies") => format!("policies = [\"fifo\"]\n{text}"),
        _ => text,
    };
    let scenario = Scenario::from_text(&name, &text)?;
    let Some(json) = json else { return Ok(scenario) };
    let set: Vec<(String, toml::Value)> =
        serde_json::from_str(json).map_err(|e| parse(e.to_string()))?;
    scenario.with(&set)
}

/// A published policy, or one in Python with where its exceptions go.
fn spec(
    given: Given,
    names: &Arc<WorldNames>,
    failed: &Arc<Failed>,
) -> Result<PolicySpec, SpecError> {
    Ok(match given {
        Given::Published(text) => PolicySpec::parse(&text)?,
        Given::Own(name, make, _) => {
            let name = format!("{OWN}{name}");
            let (names, failed) = (names.clone(), failed.clone());
            let factory = Factory { name: name.clone(), make, names, failed };
            PolicySpec::custom(&name, Arc::new(factory))
        }
    })
}

/// What all runs of a call have in common.
struct Call {
    scenario: Scenario,
    failed: Arc<Failed>,
    audit: bool,
    requests: bool,
}

/// What one run left.
struct Ran {
    replication: Replication,
    requests: Requests,
}

impl Call {
    /// One run. The setup is made here, in the thread that runs it.
    fn run(&self, policy: &PolicySpec, seed: u64) -> PyResult<Ran> {
        let setup = self.scenario.setup(seed).map_err(refused)?;
        let extra = (Requests::new(self.requests), Stopper::new(self.failed.clone()));
        let (metrics, watched, requests) = if self.audit && policy.text().starts_with(OWN) {
            let names = names(&self.scenario, policy.text().to_string());
            let auditor = Auditor::default().with_terms(&names, setup.terms());
            let observer = (watch(&setup), (extra, auditor));
            let (metrics, (watched, ((requests, _), auditor))) =
                self.watched(&setup, policy, seed, observer)?;
            let report = auditor.finish();
            if let Some(first) = report.faults.first() {
                let (policy, n) = (policy.text(), report.fault_count);
                let text = format!(
                    "{policy}, seed {seed}: the run breaks a rule of the cluster ({n} in all)\n  {first}"
                );
                return Err(PyRuntimeError::new_err(text));
            }
            (metrics, watched, requests)
        } else {
            let observer = (watch(&setup), extra);
            let (metrics, (watched, (requests, _))) =
                self.watched(&setup, policy, seed, observer)?;
            (metrics, watched, requests)
        };
        let replication = Replication::of(seed, &metrics, &watched, &scope_names(&self.scenario));
        Ok(Ran { replication, requests })
    }

    /// A run with its observers. A handler's exception comes before whatever followed from it.
    fn watched<O: Observer>(
        &self,
        setup: &Setup,
        policy: &PolicySpec,
        seed: u64,
        observer: O,
    ) -> PyResult<(Metrics, O)> {
        let ran = setup.run_by(policy, seed, observer, simulate);
        match self.failed.take() {
            Some(error) => Err(error),
            None => Ok(ran.map_err(refused)?.observer),
        }
    }
}

/// Runs policies on a scenario: the rows of results, and those of requests where asked for.
#[pyfunction]
#[pyo3(signature = (kind, text, set, policies, seeds, seed, audit, requests))]
#[allow(clippy::too_many_arguments)]
fn run(
    py: Python<'_>,
    kind: &str,
    text: &str,
    set: Option<&str>,
    policies: Vec<Given>,
    seeds: u32,
    seed: Option<u64>,
    audit: bool,
    requests: bool,
) -> PyResult<(Table, Option<Table>)> {
    if seeds == 0 {
        return Err(PyValueError::new_err("seeds: found 0; allowed: at least 1"));
    }
    let (rows, parts) = py.detach(|| {
        let scenario = scenario(kind, text, set).map_err(refused)?;
        let first = seed.unwrap_or(scenario.seed);
        let seeds = Seeds { first, count: seeds, until_ci: None };
        let names = WorldNames { models: scenario.model_names(), apps: scenario.app_names() };
        let (names, failed) = (Arc::new(names), Arc::new(Failed::default()));
        let inputs = inputs_sha256(&scenario).map_err(refused)?;
        let mut cells = Vec::new();
        for given in policies {
            // The rows of one's own policy name what it was made of.
            let own = match &given {
                Given::Own(name, _, sha256) => Some(format!("{OWN}{name}={sha256}")),
                Given::Published(_) => None,
            };
            let all = [inputs.clone()].into_iter().chain(own).filter(|i| !i.is_empty());
            let all: Vec<String> = all.collect();
            cells.push(ScenarioCell {
                scenario: scenario.clone(),
                axes: String::new(),
                policy: spec(given, &names, &failed).map_err(refused)?,
                seeds,
                inputs_sha256: all.join(";"),
                search: None,
            });
        }
        let call = Call { scenario, failed, audit, requests };
        let mut rows_of_all: Vec<Row> = Vec::new();
        let mut parts = Vec::new();
        let mut base: Option<(String, Vec<Replication>)> = None;
        for cell in &cells {
            let mut runs = Vec::new();
            for seed in first..first + u64::from(seeds.count) {
                let ran = call.run(&cell.policy, seed)?;
                runs.push(ran.replication);
                parts.push((cell.policy.text().to_string(), seed, ran.requests));
            }
            let place = cell.place(&call.scenario.name);
            rows_of_all.extend(rows(&place, &seeds, &runs));
            match &base {
                None => base = Some((cell.policy.text().to_string(), runs)),
                Some((name, of)) => rows_of_all.extend(difference(&place, name, &runs, of)),
            }
        }
        PyResult::Ok((rows_of_all, parts))
    })?;
    let requests = requests.then(|| Requests::table(parts)).transpose()?;
    Ok((Table::of_rows(rows)?, requests))
}

/// The hash of the schedule log of one run: the same for the same decisions.
#[pyfunction]
fn log_sha256(
    py: Python<'_>,
    kind: &str,
    text: &str,
    set: Option<&str>,
    policy: Given,
    seed: Option<u64>,
) -> PyResult<String> {
    py.detach(|| {
        let scenario = scenario(kind, text, set).map_err(refused)?;
        let seed = seed.unwrap_or(scenario.seed);
        let names = WorldNames { models: scenario.model_names(), apps: scenario.app_names() };
        let failed = Arc::new(Failed::default());
        let policy = spec(policy, &Arc::new(names), &failed).map_err(refused)?;
        let call = Call { scenario, failed, audit: true, requests: false };
        call.run(&policy, seed)?;
        let setup = call.scenario.setup(seed).map_err(refused)?;
        let observer = (MemoryLog::default(), Stopper::new(call.failed.clone()));
        let (_, (log, _)) = call.watched(&setup, &policy, seed, observer)?;
        let mut hash = Sha256::new();
        log.records.iter().for_each(|record| hash.update(format!("{record:?}\n")));
        Ok(hash.finalize().iter().map(|b| format!("{b:02x}")).collect())
    })
}

/// A paper's table or figure, or an experiment file: its rows, its text, and its figure as SVG if it has one.
#[pyfunction(name = "reproduce")]
fn reproduced(
    py: Python<'_>,
    id: &str,
    cases: Vec<String>,
    seeds: Option<u32>,
    paper: Option<String>,
) -> PyResult<(Table, String, Option<String>)> {
    let (forms, svg) = py.detach(|| {
        let e = registry::find(id).map_err(refused)?;
        for (option, value) in [
            (Choice::Case, (!cases.is_empty()).then(|| format!("`{}`", cases.join("`, `")))),
            (Choice::Seeds, seeds.map(|n| n.to_string())),
            (Choice::Paper, paper.clone()),
        ] {
            if let Some(value) = value {
                reproduce::check_option(&e, option, &value).map_err(refused)?;
            }
        }
        let asked = Asked { cases, seeds, paper: paper.map(Into::into), ..Asked::default() };
        let outcome = reproduce::run(&e, &asked, &How::default()).map_err(refused)?;
        let Outcome::Whole(forms) = outcome else {
            return Err(PyKeyboardInterrupt::new_err(()));
        };
        let e = reproduce::with(&e, &asked).map_err(refused)?;
        let svg = figure::of(&e, &forms.rows).ok().map(|f| f.to_svg());
        Ok((*forms, svg))
    })?;
    Ok((Table::of_rows(forms.rows)?, forms.table, svg))
}

/// The ids of all that is shipped.
#[pyfunction]
fn experiments() -> Vec<&'static str> {
    registry::ids().collect()
}

/// The module.
#[pymodule]
fn _orrery(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(run, m)?)?;
    m.add_function(wrap_pyfunction!(log_sha256, m)?)?;
    m.add_function(wrap_pyfunction!(reproduced, m)?)?;
    m.add_function(wrap_pyfunction!(experiments, m)?)?;
    m.add_class::<Table>()?;
    m.add_class::<out::Out>()?;
    m.add_class::<policy::Batch>()?;
    m.add_class::<world::PyRequest>()?;
    m.add_class::<world::Device>()?;
    m.add_class::<world::Profile>()?;
    m.add_class::<world::Context>()?;
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    Ok(())
}
