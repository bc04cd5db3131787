//! What is not a run: searches, plans, papers' tables, figures, and what happened to a request.

use crate::call::{Call, Chosen, Given, Input, beside, refused};
use crate::policy::{Failed, outside};
use crate::table::{Of, Table};
use clap::ValueEnum;
use orrery_calibrate::{ARRIVALS, Arriving, Asked as Calibrate, Measurements, Options};
use orrery_sweep::answers::answers;
use orrery_sweep::goodput::{Criterion, Find, Search};
use orrery_sweep::goodput_report;
use orrery_sweep::parts;
use orrery_sweep::scenario_cell::ScenarioCell;
use orrery_sweep::seeds::Seeds;
use orrery_explain::explain::{self as stories, Failure};
use orrery_report::figure::bytes;
use orrery_report::view::{Kind, Tables, View, figure as figure_of};
use orrery_report::width::folded;
use orrery_reproduce::options::CliOption;
use orrery_reproduce::reproduce::{self as papers, Asked, How, Outcome};
use orrery_reproduce::{figure as of_paper, registry};
use orrery_plan::{self as plans, PlanFile};
use orrery_scenario::scenario::file::Timestamps;
use orrery_run::{PolicySpec, SpecError};
use orrery_sim::request::RequestId;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;

/// How a search is made; nothing stands for the command line's default.
#[derive(FromPyObject)]
pub struct Sought {
    find: String,
    criterion: String,
    target: Option<f64>,
    requests_per_model: Option<u64>,
    probe_s: Option<f64>,
    tolerance: Option<f64>,
}

impl Sought {
    fn search(self) -> Result<Search, SpecError> {
        let default = Search::default();
        let wrong = |key: &str, found: &str, allowed: &str| {
            SpecError::value(key, format!("`{found}`"), allowed, "choose one of them")
        };
        let find = Find::from_str(&self.find, false)
            .map_err(|_| wrong("find", &self.find, "`rate` or `devices`"))?;
        let criterion = Criterion::named(&self.criterion).ok_or_else(|| {
            wrong("criterion", &self.criterion, &format!("`{}`", Criterion::NAMES.join("` or `")))
        })?;
        let search = Search {
            find,
            criterion,
            target: self.target.unwrap_or(default.target),
            requests_per_model: self.requests_per_model.unwrap_or(default.requests_per_model),
            probe_s: self.probe_s,
            tolerance: self.tolerance.unwrap_or(default.tolerance),
            ..default
        };
        search.check()?;
        Ok(search)
    }
}

/// Searches with each policy: rows and the report.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn goodput(
    py: Python<'_>,
    input: Input,
    policies: Vec<Given>,
    sought: Sought,
    rate: Option<f64>,
    seeds: u32,
    seed: Option<u64>,
    jobs: u16,
) -> PyResult<(Table, String)> {
    outside("goodput")?;
    let count = crate::counted(seeds)?;
    let (rows, text) = py.detach(|| {
        let mut call = Call::new(&input, false, false)?;
        let search = sought.search().map_err(refused)?;
        if let Some(rate) = rate {
            call.scenario = call.scenario.with_rate(rate).map_err(refused)?;
        }
        let seeds = Seeds { first: seed.unwrap_or(call.scenario.seed), count, until_ci: None };
        call.scenario.setup(seeds.first).map_err(refused)?;
        let cell = |chosen: &Chosen| {
            Ok(ScenarioCell { search: Some(search.clone()), ..call.cell(chosen, seeds)? })
        };
        let cells: Vec<ScenarioCell> =
            call.choose_all(policies)?.iter().map(cell).collect::<PyResult<_>>()?;
        let policies: Vec<PolicySpec> = cells.iter().map(|c| c.policy.clone()).collect();
        let name = &call.scenario.name;
        let found = interruptible(jobs, &call.failed, || answers(name, &cells))?;
        let (rows, each) = (found.rows, found.each);
        let document = goodput_report::document(&call.scenario, &search, &rows, &policies, &each);
        let text = document.map_err(refused)?.to_text();
        Ok::<_, PyErr>((rows, text))
    })?;
    Ok((Table::of(Of::Results(rows))?, text))
}

/// Replays a measured load: rows, the report, and the recommended scenario, where there is one.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn calibrate(
    py: Python<'_>,
    input: Input,
    measured: PathBuf,
    policy: Option<String>,
    requests: u64,
    batch: Option<u32>,
    arrivals: Option<String>,
    model: Option<String>,
    times: (Option<String>, Option<String>, Option<String>),
    seed: Option<u64>,
    jobs: u16,
) -> PyResult<(Table, String, Option<String>)> {
    outside("calibrate")?;
    let arrivals = arrivals.map(|words| {
        let wrong = || PyValueError::new_err(format!("arrivals: found {words:?}; allowed: {ARRIVALS}"));
        Arriving::parse(&words).ok_or_else(wrong)
    });
    let arrivals = arrivals.transpose()?;
    let (rows, text, recommended) = py.detach(|| {
        let scenario = Call::new(&input, false, false)?.scenario;
        let (is, unit, format) = times;
        let times = Timestamps::of_words(is.as_deref(), unit.as_deref(), format).map_err(refused)?;
        let options = Options { batch, arrivals, model, ..Options::default() };
        let measured = Measurements::load(&measured, options, times).map_err(refused)?;
        let policy = policy.map(|text| PolicySpec::parse(&text)).transpose().map_err(refused)?;
        let seed = seed.unwrap_or(scenario.seed);
        let asked = Calibrate { policy, requests, seed };
        let found = interruptible(jobs, &Failed::default(), || {
            orrery_calibrate::calibrate(&scenario, &measured, asked)
        })?;
        let own = std::path::Path::new(scenario.origin().0).parent();
        let recommended = found.recommended_text(own.unwrap_or(std::path::Path::new("")));
        let text = found.document().to_text();
        Ok::<_, PyErr>((found.rows().map_err(refused)?, text, recommended))
    })?;
    Ok((Table::of(Of::Results(rows))?, text, recommended))
}

/// Answers a plan file: rows, the report, and whether each pool does what was asked.
#[pyfunction]
pub fn plan(
    py: Python<'_>,
    input: Input,
    what_if: Vec<String>,
    seed: Option<u64>,
    seeds: Option<u32>,
    jobs: u16,
) -> PyResult<(Table, String, bool)> {
    outside("plan")?;
    let (rows, text, is_answered) = py.detach(|| {
        let (name, text) = input.text().map_err(refused)?;
        let (mut file, source) = PlanFile::from_text(&name, &text).map_err(refused)?;
        file.seed = seed.unwrap_or(file.seed);
        file.seeds = seeds.unwrap_or(file.seeds);
        let found = interruptible(jobs, &Failed::default(), || {
            plans::answers(&file, &source, &what_if, false)
        })?;
        let text = found.document().to_text();
        Ok::<_, PyErr>((found.rows, text, found.plan.is_answered()))
    })?;
    Ok((Table::of(Of::Results(rows))?, text, is_answered))
}

/// Does work in a pool while this thread looks for Ctrl-C: then no further simulation, or search, or cell begins.
pub(crate) fn interruptible<T: Send>(
    jobs: u16,
    failed: &Failed,
    work: impl FnOnce() -> Result<T, SpecError> + Send,
) -> PyResult<T> {
    let interrupted = || parts::stop(true);
    let done = beside(jobs.into(), failed, interrupted, || vec![work()], Vec::new);
    parts::stop(false);
    match (failed.error(), done?.pop()) {
        (Some(error), _) => Err(error),
        (None, Some(found)) => found.map_err(refused),
        (None, None) => Err(PyRuntimeError::new_err("a thread of runs came to its end")),
    }
}

/// A paper's table or figure, or an experiment file: its rows, its text, and its figure as SVG if it has one.
#[pyfunction]
pub fn reproduce(
    py: Python<'_>,
    id: &str,
    cases: Vec<String>,
    seeds: Option<u32>,
    paper: Option<String>,
    jobs: u16,
) -> PyResult<(Table, String, Option<String>)> {
    outside("reproduce")?;
    let (forms, svg) = py.detach(|| {
        let e = registry::find(id).map_err(refused)?;
        for (option, value) in [
            (CliOption::Case, (!cases.is_empty()).then(|| format!("`{}`", cases.join("`, `")))),
            (CliOption::Seeds, seeds.map(|n| n.to_string())),
            (CliOption::Paper, paper.clone()),
        ] {
            if let Some(value) = value {
                papers::check_option(&e, option, &value).map_err(refused)?;
            }
        }
        let asked = Asked { cases, seeds, paper: paper.map(Into::into), ..Asked::default() };
        let how = How { jobs: jobs.into(), ..How::default() };
        let outcome = interruptible(jobs, &Failed::default(), || papers::run(&e, &asked, &how))?;
        let Outcome::Whole(forms) = outcome else {
            return Err(PyKeyboardInterrupt::new_err(()));
        };
        let e = papers::with(&e, &asked).map_err(refused)?;
        let svg = of_paper::of(&e, &forms.rows).ok().map(|f| f.to_svg());
        Ok((*forms, svg))
    })?;
    Ok((Table::of(Of::Results(forms.rows))?, folded(&forms.table), svg))
}

/// The ids of all that is shipped.
#[pyfunction]
pub fn experiments() -> Vec<&'static str> {
    registry::ids().collect()
}

/// A figure that was drawn.
#[pyclass(frozen, module = "orrery")]
pub struct Picture(orrery_plots::Figure);

#[pymethods]
impl Picture {
    /// As SVG.
    #[getter]
    fn svg(&self) -> String {
        self.0.to_svg()
    }

    /// As SVG, PNG or PDF, as the file's name ends.
    fn to_bytes(&self, path: PathBuf) -> PyResult<Vec<u8>> {
        bytes(&self.0, &path).map_err(refused)
    }
}

/// The figure of a table.
#[pyfunction]
pub fn figure(
    table: PyRef<'_, Table>,
    kind: Option<String>,
    x: Option<String>,
    metric: Option<String>,
    systems: Vec<String>,
    scopes: Vec<String>,
    size_in: (Option<f64>, Option<f64>),
) -> PyResult<Picture> {
    let name = "the table".to_string();
    let tables = match table.rows() {
        Of::Results(rows) => Tables::Results(name, rows.clone()),
        Of::Distributions(rows) => Tables::Distributions(name, rows.clone()),
        Of::Series(rows) => Tables::Series(name, rows.clone()),
        Of::Batches(rows) => Tables::Batches(name, rows.clone()),
        Of::Other => {
            let found = "a table of requests";
            let allowed = "results, distributions, time series, or batches";
            let remedy = "draw it with a library for data frames";
            return Err(refused(SpecError::value("figure", found, allowed, remedy)));
        }
    };
    let kind = kind.map(|word| {
        let words: Vec<String> = Kind::value_variants()
            .iter()
            .filter_map(|k| Some(k.to_possible_value()?.get_name().to_string()))
            .collect();
        Kind::from_str(&word, false).map_err(|_| {
            let allowed = format!("`{}`", words.join("`, `"));
            refused(SpecError::value("kind", format!("`{word}`"), allowed, "choose one of them"))
        })
    });
    let mut view = View { kind: kind.transpose()?, x, metric, systems, scopes, ..View::default() };
    (view.size.width_in, view.size.height_in) = size_in;
    let figure = figure_of(&tables, &view).map_err(refused)?;
    Ok(Picture(view.size.of(&figure)))
}

/// What happened to a request of a run, or which ones fared worst.
#[pyfunction]
pub fn explain(
    py: Python<'_>,
    input: Input,
    policy: Given,
    seed: Option<u64>,
    request: Option<u64>,
    worst: usize,
) -> PyResult<String> {
    outside("Result.explain")?;
    py.detach(|| {
        let call = Call::new(&input, false, false)?;
        let chosen = call.choose(policy, 1)?;
        let log = call.log(&chosen, seed.unwrap_or(call.scenario.seed))?.into_iter().map(Ok);
        let names = call.log_names(&chosen);
        let failed = |e: &dyn std::fmt::Display| PyRuntimeError::new_err(e.to_string());
        let Some(id) = request else {
            let told = stories::worst(&names, log, worst).map_err(|e| failed(&e))?;
            return Ok(folded(&told));
        };
        let told =
            stories::explain(&names, log, RequestId(id)).map_err(|failure| match failure {
                Failure::Log(error) => failed(&error),
                Failure::Unknown { requests } => {
                    let allowed = format!("0 to {}", requests.saturating_sub(1));
                    refused(SpecError::value("request", id, allowed, "give a number of the run"))
                }
            })?;
        Ok(folded(&told))
    })
}
