//! What a call asks for, and its runs: each with observers of its own, published policies in threads, one's own
//! policies in the caller's.

use crate::policy::{Factory, Failed};
use crate::watching::{Requests, Stopper};
use crate::world::WorldNames;
use orrery_sweep::logged::names;
use orrery_sweep::replication::Replication;
use orrery_sweep::scenario_cell::{ScenarioCell, inputs_sha256};
use orrery_sweep::seeds::Seeds;
use orrery_report::threads;
use orrery_scenario::scenario::Scenario;
use orrery_run::{PolicySpec, Setup, SpecError};
use orrery_sim::audit::Auditor;
use orrery_sim::driver::simulate;
use orrery_sim::log::{MemoryLog, Names, Record};
use orrery_sim::metrics::Metrics;
use orrery_sim::observer::Observer;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::prelude::*;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// What the name of a policy in Python begins with in results.
pub const OWN: &str = "python:";

/// Between two looks for Ctrl-C.
const SIGNALS_EVERY: Duration = Duration::from_millis(100);

/// As the command line says it.
pub fn refused(error: SpecError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A policy of the call: text for a published one; a name, what makes an object, and the hash of its source for
/// one in Python.
#[derive(FromPyObject)]
pub enum Given {
    Published(String),
    Own(String, Py<PyAny>, String),
}

impl Given {
    /// The same once more.
    pub fn again(&self) -> Given {
        match self {
            Given::Published(text) => Given::Published(text.clone()),
            Given::Own(name, make, sha256) => {
                let make = Python::attach(|py| make.clone_ref(py));
                Given::Own(name.clone(), make, sha256.clone())
            }
        }
    }
}

/// A scenario as Python gives it.
#[derive(FromPyObject)]
pub struct Input {
    /// `path`, `text` or `dict`.
    kind: String,
    /// Its path, its text, or the JSON of the dict.
    text: String,
    /// JSON of pairs: keys with what they are set to.
    set: Option<String>,
}

impl Input {
    /// The name and the text of a file.
    ///
    /// # Errors
    /// When it cannot be read, or a dict is no TOML.
    pub fn text(&self) -> Result<(String, String), SpecError> {
        Ok(match self.kind.as_str() {
            "path" => (self.text.clone(), orrery_scenario::read_text(Path::new(&self.text))?),
            "dict" => {
                let value: toml::Value = self.parse(serde_json::from_str(&self.text))?;
                ("dict".to_string(), self.parse(toml::to_string(&value))?)
            }
            _ => ("text".to_string(), self.text.clone()),
        })
    }

    fn parse<T, E: ToString>(&self, parsed: Result<T, E>) -> Result<T, SpecError> {
        let parse = |e: E| SpecError::Parse { file: self.kind.clone(), message: e.to_string() };
        parsed.map_err(parse)
    }

    /// The scenario.
    ///
    /// # Errors
    /// When it cannot be read or is wrong.
    pub fn scenario(&self) -> Result<Scenario, SpecError> {
        let (name, text) = self.text()?;
        let scenario = Scenario::from_text(&name, &text)?;
        let Some(json) = &self.set else { return Ok(scenario) };
        let set: Vec<(String, toml::Value)> = self.parse(serde_json::from_str(json))?;
        scenario.with(&set)
    }
}

/// What all runs of a call have in common.
pub struct Call {
    pub scenario: Scenario,
    names: Arc<WorldNames>,
    pub failed: Arc<Failed>,
    /// Runs of one's own policies pass the auditor.
    audit: bool,
    /// A row for each request is kept.
    requests: bool,
}

/// A policy of a call, and what it was made of.
pub struct Chosen {
    pub policy: PolicySpec,
    /// `python:NAME=` and the hash of the source, for one's own.
    made_of: Option<String>,
}

impl Chosen {
    pub fn is_own(&self) -> bool {
        self.made_of.is_some()
    }
}

/// What one run left.
pub struct Ran {
    pub replication: Replication,
    pub requests: Requests,
}

impl Call {
    /// # Errors
    /// When the scenario cannot be read or is wrong.
    pub fn new(input: &Input, audit: bool, requests: bool) -> PyResult<Call> {
        let scenario = input.scenario().map_err(refused)?;
        Ok(Call { requests, ..Call::of(scenario, Arc::default(), audit) })
    }

    /// Of a scenario; `failed` is where what is raised goes.
    pub fn of(scenario: Scenario, failed: Arc<Failed>, audit: bool) -> Call {
        let names = Arc::new(WorldNames::of(&scenario));
        Call { scenario, names, failed, audit, requests: false }
    }

    /// A policy of the call. One's own sees all times multiplied by `scale`, and says them so.
    ///
    /// # Errors
    /// When there is no such policy or parameter.
    pub fn choose(&self, given: Given, scale: u64) -> PyResult<Chosen> {
        Ok(match given {
            Given::Published(text) => {
                Chosen { policy: PolicySpec::parse(&text).map_err(refused)?, made_of: None }
            }
            Given::Own(name, make, sha256) => {
                let name = format!("{OWN}{name}");
                let made_of = Some(format!("{name}={sha256}"));
                let (names, failed) = (self.names.clone(), self.failed.clone());
                let factory = Factory { name: name.clone(), make, names, failed, scale };
                Chosen { policy: PolicySpec::custom(&name, Arc::new(factory)), made_of }
            }
        })
    }

    /// # Errors
    /// As [`Call::choose`], for the first that is wrong.
    pub fn choose_all(&self, given: Vec<Given>) -> PyResult<Vec<Chosen>> {
        given.into_iter().map(|g| self.choose(g, 1)).collect()
    }

    /// What identifies the results of a policy: the rows of one's own name what it was made of.
    ///
    /// # Errors
    /// When a file of the scenario cannot be read.
    pub fn cell(&self, chosen: &Chosen, seeds: Seeds) -> PyResult<ScenarioCell> {
        let inputs = inputs_sha256(&self.scenario).map_err(refused)?;
        let all = [inputs].into_iter().chain(chosen.made_of.clone()).filter(|i| !i.is_empty());
        let all: Vec<String> = all.collect();
        Ok(ScenarioCell {
            scenario: self.scenario.clone(),
            axes: String::new(),
            policy: chosen.policy.clone(),
            seeds,
            inputs_sha256: all.join(";"),
            search: None,
        })
    }

    /// One run. The setup is made here, in the thread that runs it.
    ///
    /// # Errors
    /// When the run cannot be made or breaks a rule, and what a handler raises.
    pub fn run(&self, chosen: &Chosen, seed: u64) -> PyResult<Ran> {
        let setup = self.scenario.setup(seed).map_err(refused)?;
        let policy = &chosen.policy;
        let extra = (Requests::new(self.requests), Stopper::new(self.failed.clone()));
        let (metrics, requests) = if self.audit && chosen.is_own() {
            let auditor = Auditor::default().with_terms(&self.log_names(chosen), setup.terms());
            let (metrics, ((requests, _), auditor)) =
                self.watched(&setup, policy, seed, (extra, auditor))?;
            let report = auditor.finish();
            if let Some(first) = report.faults.first() {
                let (policy, n) = (policy.text(), report.fault_count);
                let text = format!(
                    "{policy}, seed {seed}: the run breaks a rule of the cluster ({n} in all)\n  {first}"
                );
                return Err(PyRuntimeError::new_err(text));
            }
            (metrics, requests)
        } else {
            let (metrics, (requests, _)) = self.watched(&setup, policy, seed, extra)?;
            (metrics, requests)
        };
        let replication = Replication::of(seed, &metrics, &self.scenario.scope_names());
        Ok(Ran { replication, requests })
    }

    /// The records of one run without reasons: what was decided.
    ///
    /// # Errors
    /// As [`Call::run`].
    pub fn decisions(&self, chosen: &Chosen, seed: u64) -> PyResult<Vec<Record>> {
        self.records(chosen, seed, false)
    }

    /// The records of one run, with the policy's reasons.
    ///
    /// # Errors
    /// As [`Call::run`].
    pub fn log(&self, chosen: &Chosen, seed: u64) -> PyResult<Vec<Record>> {
        self.records(chosen, seed, true)
    }

    fn records(&self, chosen: &Chosen, seed: u64, reasons: bool) -> PyResult<Vec<Record>> {
        let setup = self.scenario.setup(seed).map_err(refused)?;
        let log = MemoryLog { reasons, ..MemoryLog::default() };
        let observer = (log, Stopper::new(self.failed.clone()));
        let (_, (log, _)) = self.watched(&setup, &chosen.policy, seed, observer)?;
        Ok(log.records)
    }

    /// How the records of a run call things.
    pub fn log_names(&self, chosen: &Chosen) -> Names {
        names(&self.scenario, chosen.policy.text().to_string())
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
        match self.failed.error() {
            Some(error) => Err(error),
            None => Ok(ran.map_err(refused)?.observer),
        }
    }

    /// The runs of every policy, seed by seed.
    ///
    /// # Errors
    /// As [`runs`].
    pub fn runs(&self, all: &[Chosen], seeds: &[u64], jobs: usize) -> PyResult<Vec<Vec<Ran>>> {
        let run = |i: usize| seeds.iter().map(|&seed| self.run(&all[i], seed)).collect();
        let is_own: Vec<bool> = all.iter().map(Chosen::is_own).collect();
        runs(&is_own, jobs, &self.failed, run)
    }
}

/// Does everything once, by number. What concerns published policies runs in threads; one's own run here, one after
/// the other, for the interpreter runs one at a time.
///
/// # Errors
/// What a handler raises; else the first error in the order of the numbers.
pub fn runs<T: Send>(
    is_own: &[bool],
    jobs: usize,
    failed: &Failed,
    run: impl Fn(usize) -> PyResult<T> + Sync,
) -> PyResult<Vec<T>> {
    let run = |i: usize| {
        let ran = run(i);
        if let Err(error) = &ran {
            failed.keep(Python::attach(|py| error.clone_ref(py)));
        }
        (i, ran)
    };
    let (own, published): (Vec<usize>, Vec<usize>) = (0..is_own.len()).partition(|&i| is_own[i]);
    let mut done = beside(
        jobs,
        failed,
        || {},
        || published.par_iter().with_max_len(1).map(|&i| run(i)).collect::<Vec<_>>(),
        || own.iter().map(|&i| run(i)).collect::<Vec<_>>(),
    )?;
    if let Some(error) = failed.error() {
        return Err(error);
    }
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, ran)| ran).collect()
}

/// Does `there` in a pool of threads and `here` in this one, which then looks for Ctrl-C until the others are
/// done. What is raised stops all runs that look at `failed`; `interrupted` stops what does not.
///
/// # Errors
/// When the threads cannot be started.
pub fn beside<T: Send>(
    jobs: usize,
    failed: &Failed,
    interrupted: impl Fn(),
    there: impl FnOnce() -> Vec<T> + Send,
    here: impl FnOnce() -> Vec<T>,
) -> PyResult<Vec<T>> {
    let pool = threads::pool(jobs).map_err(refused)?;
    let (done, is_done) = channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // The receiver waits for it.
            let _ = done.send(pool.install(there));
        });
        let mut all = here();
        loop {
            match is_done.recv_timeout(SIGNALS_EVERY) {
                Ok(others) => {
                    all.extend(others);
                    return Ok(all);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("a thread of runs came to its end"));
                }
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(error) = Python::attach(|py| py.check_signals()) {
                        failed.keep(error);
                        interrupted();
                    }
                }
            }
        }
    })
}
