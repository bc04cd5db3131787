//! A cell of a scenario: what it is run with, what identifies it, and its runs.

use super::goodput::Search;
use super::hash;
use super::replication::Replication;
use super::seeds::Seeds;
use super::watch::{run_one, scope_names};
use orrery_results::{RESULT_VERSION, Row};
use orrery_scenario::scenario::{InputFile, Scenario};
use orrery_scenario::{PolicySpec, SpecError};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// A scenario and a policy, with seeds.
#[derive(Clone, Debug)]
pub struct ScenarioCell {
    /// The scenario, changes made.
    pub scenario: Scenario,
    /// As in [`Row::axes`].
    pub axes: String,
    /// The policy.
    pub policy: PolicySpec,
    /// The seeds.
    pub seeds: Seeds,
    /// As in [`Row::inputs_sha256`].
    pub inputs_sha256: String,
    /// Search for the peak goodput instead of running once.
    pub search: Option<Search>,
}

impl ScenarioCell {
    /// A cell for each policy, of a scenario without axes.
    ///
    /// # Errors
    /// When a file of the scenario cannot be read.
    pub fn of_policies(
        scenario: &Scenario,
        policies: &[PolicySpec],
        seeds: Seeds,
        search: Option<&Search>,
    ) -> Result<Vec<ScenarioCell>, SpecError> {
        let inputs_sha256 = inputs_sha256(scenario)?;
        let cell = |policy: &PolicySpec| ScenarioCell {
            scenario: scenario.clone(),
            axes: String::new(),
            policy: policy.clone(),
            seeds,
            inputs_sha256: inputs_sha256.clone(),
            search: search.cloned(),
        };
        Ok(policies.iter().map(cell).collect())
    }

    /// The hash that names its entry, whatever the number of seeds, and the hash of all that the results
    /// depend on.
    pub fn hashes(&self) -> (String, String) {
        let scenario = self.scenario.canonical();
        (self.hash(&scenario, &self.seeds.entry()), self.hash(&scenario, &self.seeds))
    }

    fn hash(&self, scenario: &str, seeds: &Seeds) -> String {
        let seeds = seeds.words();
        let parts = ["scenario", scenario, self.policy.text(), &seeds, &self.inputs_sha256];
        match self.search.as_ref().map(Search::words) {
            None => hash::spec_sha256(&parts),
            Some(search) => hash::spec_sha256(&[&parts[..], &["goodput", &search]].concat()),
        }
    }

    /// The rule by which its warm-up is cut.
    pub fn warm_up(&self) -> String {
        let warm_up_s = self.scenario.file.warm_up_s;
        match &self.search {
            Some(search) => search.warm_up(),
            None if warm_up_s > 0.0 => format!("arrivals before {warm_up_s} s are not counted"),
            None => "none".to_string(),
        }
    }

    /// About how many requests a run has, or those that a search has at least, where that is known.
    pub fn requests_expected(&self) -> Option<u64> {
        match &self.search {
            None => self.scenario.requests_expected(),
            Some(search) => Some(
                search.requests_per_model.saturating_mul(self.scenario.file.model.len() as u64),
            ),
        }
    }

    /// What all its rows have in common; the flags are those of what it is judged by.
    pub fn place(&self, experiment: &str) -> Row {
        Row {
            experiment: experiment.to_string(),
            axes: self.axes.clone(),
            system: self.policy.system().to_string(),
            policy: self.policy.text().to_string(),
            warm_up: self.warm_up(),
            flags: self.scenario.caveats(&self.policy).join(" "),
            spec_sha256: self.hashes().1,
            result_version: RESULT_VERSION,
            inputs_sha256: self.inputs_sha256.clone(),
            ..Row::default()
        }
    }

    /// Runs it.
    ///
    /// # Errors
    /// When the scenario cannot be set up or a run cannot be made.
    pub fn run(&self) -> Result<Vec<Replication>, SpecError> {
        self.seeds.run(|seed| self.one(seed))
    }

    /// Runs it with one seed.
    ///
    /// # Errors
    /// As [`ScenarioCell::run`].
    pub fn one(&self, seed: u64) -> Result<Replication, SpecError> {
        if let Some(search) = &self.search {
            return search.run(&self.scenario, &self.policy, seed);
        }
        let (metrics, watch) = run_one(&self.scenario.setup(seed)?, &self.policy, seed)?;
        Ok(Replication::of(seed, &metrics, &watch, &scope_names(&self.scenario)))
    }
}

/// The checksums of scenarios' files, each file read once.
#[derive(Default)]
pub struct Inputs {
    known: Mutex<BTreeMap<PathBuf, String>>,
}

impl Inputs {
    /// As in [`Row::inputs_sha256`].
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn sha256(&self, scenario: &Scenario) -> Result<String, SpecError> {
        let sum = |input: InputFile| -> Result<String, SpecError> {
            match input {
                InputFile::Shipped(name, sha256) => Ok(format!("{name}={sha256}")),
                InputFile::Path(name, path) => Ok(format!("{name}={}", self.of_file(path)?)),
            }
        };
        let sums: Vec<String> = scenario.inputs().into_iter().map(sum).collect::<Result<_, _>>()?;
        Ok(sums.join(";"))
    }

    fn of_file(&self, path: PathBuf) -> Result<String, SpecError> {
        // Held while a file is read: nobody reads it a second time.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sum) = known.get(&path) {
            return Ok(sum.clone());
        }
        let file = path.display().to_string();
        let sum = hash::sha256_of_file(&path).map_err(|source| SpecError::Read { file, source })?;
        known.insert(path, sum.clone());
        Ok(sum)
    }
}

/// As [`Inputs::sha256`], of one scenario.
///
/// # Errors
/// When a file cannot be read.
pub fn inputs_sha256(scenario: &Scenario) -> Result<String, SpecError> {
    Inputs::default().sha256(scenario)
}
