//! The arena: one's own policies on a frozen suite, beside the published ones.

use crate::call::{Call, Given, refused, runs};
use crate::policy::{Failed, outside};
use crate::table::{Of, Table};
use orrery_arena::fight::{Asked, How, Outcome, fight};
use orrery_arena::{League, Suite, claims, document, own, possible, rows};
use orrery_scenario::Scenario;
use orrery_sweep::notes::say_slow;
use orrery_sweep::replication::Replication;
use orrery_sweep::seeds::Seeds;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// A policy's name in results with the hash of its source, and its runs in every scenario, in this thread.
type OwnRuns = ((String, String), Vec<Vec<Replication>>);

fn own_runs(suite: &Suite, given: &Given, seeds: u32, audit: bool) -> PyResult<OwnRuns> {
    let failed = Arc::<Failed>::default();
    let one = |at: usize| -> PyResult<Vec<Replication>> {
        let scenario = &suite.scenarios[at].scenario;
        let call = Call::of(scenario.clone(), failed.clone(), audit);
        let chosen = call.choose(given.again(), 1)?;
        let own = Seeds { first: scenario.seed, count: seeds, until_ci: None };
        (0..own.count)
            .map(|i| Ok(call.run(&chosen, own.first + u64::from(i))?.replication))
            .collect()
    };
    let all = vec![true; suite.scenarios.len()];
    let ran = runs(&all, 1, &failed, one)?;
    let name = match given {
        Given::Own(name, _, sha256) => (format!("{}{name}", crate::call::OWN), sha256.clone()),
        Given::Published(text) => (text.clone(), String::new()),
    };
    Ok((name, ran))
}

/// A league: rows, what the command prints, the page, and the maps as SVG where the suite has any.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn arena(
    py: Python<'_>,
    name: &str,
    quick: bool,
    given: Vec<Given>,
    alone: bool,
    seeds: u32,
    audit: bool,
    out: Option<PathBuf>,
    jobs: u16,
) -> PyResult<(Table, String, String, Option<String>)> {
    outside("arena")?;
    let (rows, text, html, svg) = py.detach(|| {
        let suite = Suite::find(name).map_err(refused)?;
        let suite = if quick { suite.quick() } else { suite };
        let texts = given.iter().filter_map(|g| match g {
            Given::Published(text) => Some(text.clone()),
            Given::Own(..) => None,
        });
        let texts: Vec<String> = texts.collect();
        let (asked, mut beside) = Asked::with(suite, &texts, alone, seeds).map_err(refused)?;
        // One's own first: what is raised in it is known at once.
        let mut ran = Vec::new();
        for one in given.iter().filter(|g| matches!(g, Given::Own(..))) {
            beside.push(asked.policies.len() + ran.len());
            ran.push(own_runs(&asked.suite, one, seeds, audit)?);
        }
        say_slow::<Scenario>(&asked.policies);
        let how = How { jobs: jobs.into(), out, ..How::default() };
        let found =
            crate::answers::interruptible(jobs, &Failed::default(), || fight(&asked, &how))?;
        let Outcome::Whole(mut cells) = found else {
            return Err(PyKeyboardInterrupt::new_err(()));
        };
        for ((name, sha256), runs) in ran {
            own::join((name.as_str(), sha256.as_str()), runs, &asked.suite, &mut cells);
        }
        let bounds = || possible::add(&asked, &mut cells, &how);
        if !crate::answers::interruptible(jobs, &Failed::default(), bounds)? {
            return Err(PyKeyboardInterrupt::new_err(()));
        }
        let league = League::of(asked, beside, cells);
        let mut rows = rows::of(&league);
        let verdicts = claims::judge(&league, &rows).map_err(refused)?;
        rows.extend(claims::rows(&league, &verdicts));
        let document = document::document(&league, None, &verdicts);
        let svg = document::figure(&league).ok().map(|f| f.to_svg());
        let text = document.to_text();
        let html = orrery_report::whole_page(document, &rows, "orrery.arena in Python".to_string());
        PyResult::Ok((rows, text, html, svg))
    })?;
    Ok((Table::of(Of::Results(rows))?, text, html, svg))
}
