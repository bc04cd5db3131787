//! The cache of a plan's simulations: none is made twice, neither for this answer nor, where the cache is a folder, for the
//! next one.
//!
//! A simulation's key is the hash of all that its outcome depends on. Prices, terms and budgets are not among it, nor
//! which search asked: another question about the same machines finds it. A simulation that was found counts as one that
//! was made, so that an answer does not depend on what the cache had.

use orrery_run::SpecError;
use orrery_run::search::{Probe, Seen};
use orrery_scenario::Scenario;
use orrery_sweep::hash::spec_sha256;
use orrery_sweep::kept::Kept;
use orrery_sweep::scenario_cell::Inputs;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What a simulation of a pool showed.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Simulated {
    /// Its verdict.
    pub probe: Probe,
    /// What else its run showed.
    pub seen: Seen,
}

impl Simulated {
    /// About how many numbers it has.
    fn values(&self) -> usize {
        let ramp = self.probe.ramp.as_ref().map_or(0, |ramp| ramp.values());
        let largest: usize = self.seen.largest.iter().map(Vec::len).sum();
        20 + 4 * self.probe.shares.len() + largest + ramp
    }
}

/// With so many values no more simulations are kept in memory: some 80 MB.
const VALUES_MAX: usize = 10_000_000;

/// The cache of a plan, which its what-ifs share.
#[derive(Clone, Debug, Default)]
pub struct SimulationCache(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    kept: Kept,
    inputs: Inputs,
    here: Mutex<(BTreeMap<String, Simulated>, usize)>,
    found: AtomicU64,
    made: AtomicU64,
}

impl SimulationCache {
    /// A cache in memory and, where one is given, in a folder: a stopped plan goes on there.
    ///
    /// # Errors
    /// When the folder cannot be made or written.
    pub fn at(folder: Option<&Path>) -> Result<SimulationCache, SpecError> {
        let shared = Shared { kept: Kept::at(folder)?, ..Shared::default() };
        Ok(SimulationCache(Arc::new(shared)))
    }

    /// How many simulations were found in the folder, and how many were made.
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
        make: impl FnOnce() -> Result<Simulated, SpecError>,
    ) -> Result<Simulated, SpecError> {
        let all = &*self.0;
        let (canonical, inputs) = (scenario.canonical(), all.inputs.sha256(scenario)?);
        let name = spec_sha256(&[&["a pool", canonical.as_str(), inputs.as_str()], more].concat());
        let here = || all.here.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(simulated) = here().0.get(&name) {
            return Ok(simulated.clone());
        }
        let mut of = &all.found;
        let simulated = all.kept.once(&name, "a simulation of the plan", || {
            of = &all.made;
            make()
        })?;
        of.fetch_add(1, Ordering::Relaxed);
        let mut here = here();
        if here.1 < VALUES_MAX {
            here.1 += simulated.values();
            here.0.insert(name, simulated.clone());
        }
        Ok(simulated)
    }
}
