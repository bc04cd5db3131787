//! Simulations that were made: none is made twice, neither for this answer nor, where they are kept in a folder, for the
//! next one.
//!
//! The name of one is the hash of all that its outcome depends on. Prices, terms and budgets are not among it, nor which
//! search asked: another question about the same machines finds them. What was found counts as a simulation all the
//! same, so that an answer does not depend on what was there.

use orrery_run::SpecError;
use orrery_run::search::{Probe, Seen};
use orrery_scenario::Scenario;
use orrery_sim::request::Arrival;
use orrery_sweep::hash::{Hasher, spec_sha256};
use orrery_sweep::kept::Kept;
use orrery_sweep::scenario_cell::Inputs;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What a simulation of a pool showed.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Shown {
    /// Its verdict.
    pub probe: Probe,
    /// What else its run showed.
    pub seen: Seen,
}

impl Shown {
    /// About how many numbers it has.
    fn values(&self) -> usize {
        let ramp = self.probe.ramp.as_ref().map_or(0, |ramp| ramp.values());
        let largest: usize = self.seen.largest.iter().map(Vec::len).sum();
        20 + 4 * self.probe.shares.len() + largest + ramp
    }
}

/// With so many values no more simulations are kept in memory: some 80 MB.
const VALUES_MAX: usize = 10_000_000;

/// Those of a plan and its what-ifs, which share them.
#[derive(Clone, Debug, Default)]
pub struct Made(Arc<All>);

#[derive(Debug, Default)]
struct All {
    kept: Kept,
    inputs: Inputs,
    here: Mutex<(BTreeMap<String, Shown>, usize)>,
    found: AtomicU64,
    made: AtomicU64,
}

impl Made {
    /// None yet but those of a folder, where one is given: a stopped plan goes on there.
    ///
    /// # Errors
    /// When the folder cannot be made or written.
    pub fn at(folder: Option<&Path>) -> Result<Made, SpecError> {
        Ok(Made(Arc::new(All { kept: Kept::at(folder)?, ..All::default() })))
    }

    /// How many were found in the folder, and how many were made.
    pub fn found_and_made(&self) -> (u64, u64) {
        (self.0.found.load(Ordering::Relaxed), self.0.made.load(Ordering::Relaxed))
    }

    /// The simulation of a scenario, with what else it depends on; made if it was not yet.
    ///
    /// # Errors
    /// When it cannot be made, read or kept.
    pub fn once(
        &self,
        scenario: &Scenario,
        more: &[&str],
        make: impl FnOnce() -> Result<Shown, SpecError>,
    ) -> Result<Shown, SpecError> {
        let all = &*self.0;
        let (canonical, inputs) = (scenario.canonical(), all.inputs.sha256(scenario)?);
        let name = spec_sha256(&[&["a pool", canonical.as_str(), inputs.as_str()], more].concat());
        let here = || all.here.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shown) = here().0.get(&name) {
            return Ok(shown.clone());
        }
        let mut of = &all.found;
        let shown = all.kept.once(&name, "a simulation of the plan", || {
            of = &all.made;
            make()
        })?;
        of.fetch_add(1, Ordering::Relaxed);
        let mut here = here();
        if here.1 < VALUES_MAX {
            here.1 += shown.values();
            here.0.insert(name, shown.clone());
        }
        Ok(shown)
    }
}

/// The hash of requests.
pub fn sha256_of(arrivals: &[Arrival]) -> String {
    let mut hash = Hasher::default();
    for Arrival { at, app, model, size, slo, alone } in arrivals {
        for number in [at.ns(), app.0.into(), model.0.into(), (*size).into(), slo.ns(), alone.ns()]
        {
            hash.add(&number.to_le_bytes());
        }
    }
    hash.sha256()
}
