//! orrery in Python: the module `orrery._orrery`, which `python/orrery` wraps.
//!
//! A run here is the command line's: the same scenario, rows and CSV. What is new is a policy whose handlers
//! are Python's ([`policy`]), and tables that leave by Arrow ([`table`]).
//!
//! | module | |
//! |---|---|
//! | [`call`] | what is asked for, and its runs |
//! | [`policy`], [`out`], [`world`] | a policy in Python: its handlers, what they ask for, what they see |
//! | [`sweep`] | runs over axes |
//! | [`arena`] | a league on a frozen suite |
//! | [`answers`] | what is not a run: goodput, plans, papers' tables, figures, explanations |
//! | [`table`], [`watching`] | how results leave; what watches a run |

mod answers;
mod arena;
mod call;
mod out;
mod policy;
mod sweep;
mod table;
mod watching;
mod world;

use crate::call::{Call, Given, Input, refused};
use crate::policy::outside;
use crate::table::{Of, Table};
use crate::watching::Requests;
use orrery_sweep::details;
use orrery_sweep::notes::{notes_of, say_slow};
use orrery_sweep::parts;
use orrery_sweep::replication::Replication;
use orrery_sweep::rows::{difference, rows};
use orrery_sweep::seeds::Seeds;
use orrery_explain::timeline::batch_rows;
use orrery_report::{say, voice};
use orrery_results::{Flags, Row, metric};
use orrery_scenario::Scenario;
use orrery_scenario::scenario::caveats::CAVEATS;
use orrery_sim::log::Record;
use pyo3::exceptions::{PyAssertionError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use sha2::{Digest, Sha256};
use std::ffi::OsString;

/// At least one seed.
fn counted(seeds: u32) -> PyResult<u32> {
    match seeds {
        0 => Err(PyValueError::new_err("seeds: found 0; allowed: at least 1")),
        n => Ok(n),
    }
}

/// Runs policies on a scenario: the rows of results, and those of requests where asked for.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
fn run(
    py: Python<'_>,
    input: Input,
    policies: Vec<Given>,
    seeds: u32,
    seed: Option<u64>,
    audit: bool,
    requests: bool,
    jobs: u16,
) -> PyResult<(Table, Option<Table>)> {
    outside("run")?;
    let count = counted(seeds)?;
    let (rows, parts) = py.detach(|| {
        let call = Call::new(&input, audit, requests)?;
        let all = call.choose_all(policies)?;
        let seeds = Seeds { first: seed.unwrap_or(call.scenario.seed), count, until_ci: None };
        call.scenario.setup(seeds.first).map_err(refused)?;
        call.scenario.notes().iter().for_each(|note| say(note));
        say_slow::<Scenario>(all.iter().map(|chosen| &chosen.policy));
        let numbers: Vec<u64> = (0..count).map(|i| seeds.first.wrapping_add(i.into())).collect();
        let ran = call.runs(&all, &numbers, jobs.into())?;
        let mut out: Vec<Row> = Vec::new();
        let mut parts = Vec::new();
        let mut base: Vec<Replication> = Vec::new();
        for (i, (chosen, own)) in all.iter().zip(ran).enumerate() {
            let mut runs = Vec::new();
            for (ran, seed) in own.into_iter().zip(&numbers) {
                runs.push(ran.replication);
                parts.push((chosen.policy.text().to_string(), *seed, ran.requests));
            }
            let place = call.cell(chosen, seeds)?.place(&call.scenario.name);
            out.extend(rows(&place, &seeds, &runs));
            if i == 0 {
                base = runs;
            } else {
                out.extend(difference(&place, all[0].policy.text(), &runs, &base));
            }
        }
        // The rest is in `notes`.
        let is_said = |note: &&String| {
            let said = CAVEATS.iter().map(|c| c.0).chain([Flags::PENDING]);
            said.into_iter().any(|flag| note.starts_with(flag))
        };
        notes_of(&out).iter().filter(is_said).for_each(|note| say(note));
        PyResult::Ok((out, parts))
    })?;
    let requests = requests.then(|| Requests::table(parts)).transpose()?;
    Ok((Table::of(Of::Results(rows))?, requests))
}

/// What must be known before the rows of a run are relied on, a sentence each.
#[pyfunction]
fn notes(table: PyRef<'_, Table>) -> Vec<String> {
    match table.rows() {
        Of::Results(rows) => notes_of(rows),
        _ => Vec::new(),
    }
}

/// The distributions and time series of a run of every policy.
#[pyfunction]
fn tables(
    py: Python<'_>,
    input: Input,
    policies: Vec<Given>,
    seed: Option<u64>,
) -> PyResult<(Table, Table)> {
    outside("Result.distributions")?;
    let (distributions, series) = py.detach(|| {
        let call = Call::new(&input, false, false)?;
        let all = call.choose_all(policies)?;
        let policies: Vec<_> = all.into_iter().map(|c| c.policy).collect();
        let seed = seed.unwrap_or(call.scenario.seed);
        let made = details::tables(&call.scenario, &policies, seed);
        call.failed.error().map_or(made.map_err(refused), Err)
    })?;
    Ok((Table::of(Of::Distributions(distributions))?, Table::of(Of::Series(series))?))
}

/// The batches and drops of a run of every policy.
#[pyfunction]
fn batches(
    py: Python<'_>,
    input: Input,
    policies: Vec<Given>,
    seed: Option<u64>,
) -> PyResult<Table> {
    outside("Result.batches")?;
    let rows = py.detach(|| {
        let call = Call::new(&input, false, false)?;
        let seed = seed.unwrap_or(call.scenario.seed);
        let mut rows = Vec::new();
        for chosen in call.choose_all(policies)? {
            let log = call.log(&chosen, seed)?.into_iter().map(Ok);
            let own = batch_rows(&call.log_names(&chosen), log);
            rows.extend(own.map_err(|e| PyRuntimeError::new_err(format!("{e:?}")))?);
        }
        PyResult::Ok(rows)
    })?;
    Table::of(Of::Batches(rows))
}

/// The hash of the schedule log of one run: the same for the same decisions.
fn log_sha256(records: &[Record]) -> String {
    let mut hash = Sha256::new();
    records.iter().for_each(|record| hash.update(format!("{record:?}\n")));
    hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
}

/// Runs one's own policy, audited: the hash of its schedule.
#[pyfunction]
fn schedule(py: Python<'_>, input: Input, policy: Given, seed: u64) -> PyResult<String> {
    outside("check")?;
    py.detach(|| {
        let call = Call::new(&input, true, false)?;
        let chosen = call.choose(policy, 1)?;
        let ran = call.run(&chosen, seed)?.replication;
        let pending = ran.pending;
        // Where the scenario ends a run, some may be on their way.
        let is_cut_off = call.scenario.file.until_s.is_some();
        let all = ran.value("all", metric::REQUESTS).unwrap_or(0.0);
        if pending > 0 && (!is_cut_off || pending as f64 >= all) {
            return Err(PyAssertionError::new_err(format!(
                "{}: {pending} of {all} requests are pending at the end: end every request with `out.exec` or \
                 `out.drop`, and set a timer for what waits",
                chosen.policy.text()
            )));
        }
        Ok(log_sha256(&call.decisions(&chosen, seed)?))
    })
}

/// Where the schedules of two forms of a policy differ first, in words; nothing where they are the same. The
/// second sees all times multiplied by `scale`.
#[pyfunction]
fn differ(
    py: Python<'_>,
    input: Input,
    policy: Given,
    again: Given,
    seed: u64,
    scale: u64,
) -> PyResult<Option<String>> {
    outside("check")?;
    py.detach(|| {
        let call = Call::new(&input, true, false)?;
        let (first, second) = (call.choose(policy, 1)?, call.choose(again, scale)?);
        let (a, b) = (call.decisions(&first, seed)?, call.decisions(&second, seed)?);
        let at = a.iter().zip(&b).position(|(x, y)| x != y);
        Ok(match at {
            None if a.len() == b.len() => None,
            None => Some(format!("{} records, then {}", a.len(), b.len())),
            Some(i) => Some(format!("record {i}: {:?}\n  then: {:?}", a[i], b[i])),
        })
    })
}

/// What is said during a run goes to Python's `sys.stderr`: a notebook shows it.
fn speak(line: &str) {
    Python::attach(|py| {
        let written = py
            .import("sys")
            .and_then(|sys| sys.getattr("stderr"))
            .and_then(|stderr| stderr.call_method1("write", (format!("{line}\n"),)));
        // Nobody listens: no reason to stop.
        drop(written);
    });
}

/// How much is said: 0 errors only, 1 notes and progress.
#[pyfunction]
fn verbosity(level: u8) {
    voice::set_verbosity(level);
}

/// The command `orrery`, which is installed beside the module: what `sys.argv` asks for, and its exit code.
#[pyfunction]
fn command_line(py: Python<'_>) -> PyResult<u8> {
    let sys = py.import("sys")?;
    let args: Vec<OsString> = sys.getattr("argv")?.extract()?;
    // The interpreter would only note Ctrl-C, and nobody asks it.
    let signal = py.import("signal")?;
    signal.call_method1("signal", (signal.getattr("SIGINT")?, signal.getattr("SIG_DFL")?))?;
    parts::be_guest(false);
    let args = std::iter::once("orrery".into()).chain(args.into_iter().skip(1));
    Ok(py.detach(|| orrery::cli::run(orrery_version::commit!(), args)))
}

/// The module.
#[pymodule]
fn _orrery(m: &Bound<'_, PyModule>) -> PyResult<()> {
    voice::set_speaker(speak);
    parts::be_guest(true);
    m.add_function(wrap_pyfunction!(command_line, m)?)?;
    m.add_function(wrap_pyfunction!(run, m)?)?;
    m.add_function(wrap_pyfunction!(notes, m)?)?;
    m.add_function(wrap_pyfunction!(tables, m)?)?;
    m.add_function(wrap_pyfunction!(batches, m)?)?;
    m.add_function(wrap_pyfunction!(schedule, m)?)?;
    m.add_function(wrap_pyfunction!(differ, m)?)?;
    m.add_function(wrap_pyfunction!(verbosity, m)?)?;
    m.add_function(wrap_pyfunction!(answers::goodput, m)?)?;
    m.add_function(wrap_pyfunction!(sweep::sweep, m)?)?;
    m.add_function(wrap_pyfunction!(arena::arena, m)?)?;
    m.add_function(wrap_pyfunction!(answers::calibrate, m)?)?;
    m.add_function(wrap_pyfunction!(answers::plan, m)?)?;
    m.add_function(wrap_pyfunction!(answers::reproduce, m)?)?;
    m.add_function(wrap_pyfunction!(answers::experiments, m)?)?;
    m.add_function(wrap_pyfunction!(answers::figure, m)?)?;
    m.add_function(wrap_pyfunction!(answers::explain, m)?)?;
    m.add_class::<Table>()?;
    m.add_class::<answers::Picture>()?;
    m.add_class::<world::App>()?;
    m.add_class::<out::Out>()?;
    m.add_class::<policy::Batch>()?;
    m.add_class::<world::PyRequest>()?;
    m.add_class::<world::Device>()?;
    m.add_class::<world::Profile>()?;
    m.add_class::<world::Context>()?;
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    Ok(())
}
