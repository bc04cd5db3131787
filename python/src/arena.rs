//! The arena: one's own policies on a frozen suite, beside the published ones.

use crate::call::{Call, Given, refused, runs};
use crate::policy::{Failed, outside};
use crate::table::{Of, Table};
use orrery_arena::fight::{Asked, How, Outcome, fight};
use orrery_arena::own::OwnRuns;
use orrery_arena::{League, Suite, claims, document, possible, rows};
use orrery_sweep::notes::say_slow;
use orrery_sweep::replication::Replication;
use orrery_sweep::seeds::Seeds;
use orrery_scenario::{PolicySpec, Scenario, policies};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

fn suite(name: &str, quick: bool) -> PyResult<Suite> {
    let suite = Suite::find(name).map_err(refused)?;
    Ok(if quick { suite.quick() } else { suite })
}

/// The runs of one's own policy in every scenario, in this thread.
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
    let (name, sha256) = match given {
        Given::Own(name, _, sha256) => (format!("{}{name}", crate::call::OWN), sha256.as_str()),
        Given::Published(text) => (text.clone(), ""),
    };
    Ok(OwnRuns::of(suite, &name, sha256, ran))
}

/// The runs of one's own policy as JSON, for `orrery arena --policy FILE.py:CLASS`.
#[pyfunction]
pub fn arena_runs(
    py: Python<'_>,
    name: &str,
    quick: bool,
    policy: Given,
    seeds: u32,
) -> PyResult<String> {
    outside("arena")?;
    py.detach(|| {
        let runs = own_runs(&suite(name, quick)?, &policy, seeds, true)?;
        Ok(serde_json::to_string(&runs).unwrap_or_default())
    })
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
        let suite = suite(name, quick)?;
        let mut published: Vec<PolicySpec> = Vec::new();
        let shipped = policies::all().map(|table| table.about.name.to_string());
        let texts = given.iter().filter_map(|g| match g {
            Given::Published(text) => Some(text.clone()),
            Given::Own(..) => None,
        });
        let texts: Vec<String> = texts.collect();
        for text in shipped.filter(|_| !alone).chain(texts.iter().cloned()) {
            let policy = PolicySpec::parse(&text).map_err(refused)?;
            if !published.contains(&policy) {
                published.push(policy);
            }
        }
        let is_asked = |p: &PolicySpec| texts.iter().any(|t| t == p.text());
        let mut own: Vec<usize> =
            (0..published.len()).filter(|i| is_asked(&published[*i])).collect();
        // One's own first: what is raised in it is known at once.
        let mut ran = Vec::new();
        for one in given.iter().filter(|g| matches!(g, Given::Own(..))) {
            own.push(published.len() + ran.len());
            ran.push(own_runs(&suite, one, seeds, audit)?);
        }
        let asked = Asked::of(suite, published, seeds);
        say_slow::<Scenario>(&asked.policies);
        let how = How { jobs: jobs.into(), out, ..How::default() };
        let found =
            crate::answers::interruptible(jobs, &Failed::default(), || fight(&asked, &how))?;
        let Outcome::Whole(mut cells) = found else {
            return Err(PyKeyboardInterrupt::new_err(()));
        };
        for runs in ran {
            runs.join(&asked.suite, &mut cells).map_err(refused)?;
        }
        let bounds = || possible::add(&asked, &mut cells, &how);
        if !crate::answers::interruptible(jobs, &Failed::default(), bounds)? {
            return Err(PyKeyboardInterrupt::new_err(()));
        }
        let league = League::of(asked, own, cells);
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
