//! A cell of a scenario: what it is run with, what identifies it, and its runs.

use super::goodput::Search;
use super::hash;
use super::replication::Replication;
use super::seeds::Seeds;
use super::watch::{run_one, scope_names};
use orrery_results::{RESULT_VERSION, Row};
use orrery_scenario::scenario::{InputFile, Scenario};
use orrery_scenario::{PolicySpec, SpecError};

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
    /// The hash of all that the results depend on.
    pub fn spec_sha256(&self) -> String {
        self.hash(&self.seeds)
    }

    /// The hash that names its entry: whatever the number of seeds.
    pub fn entry_sha256(&self) -> String {
        self.hash(&self.seeds.entry())
    }

    fn hash(&self, seeds: &Seeds) -> String {
        let (scenario, seeds) = (self.scenario.canonical(), seeds.words());
        let parts = ["scenario", &scenario, self.policy.text(), &seeds, &self.inputs_sha256];
        match self.search.as_ref().map(Search::words) {
            None => hash::spec_sha256(&parts),
            Some(search) => hash::spec_sha256(&[&parts[..], &["goodput", &search]].concat()),
        }
    }

    /// What all its rows have in common.
    pub fn place(&self, experiment: &str) -> Row {
        let warm_up_s = self.scenario.file.warm_up_s;
        Row {
            experiment: experiment.to_string(),
            axes: self.axes.clone(),
            system: self.policy.system().to_string(),
            policy: self.policy.text().to_string(),
            warm_up: if let Some(search) = &self.search {
                search.warm_up()
            } else if warm_up_s > 0.0 {
                format!("arrivals before {warm_up_s} s are not counted")
            } else {
                "none".to_string()
            },
            spec_sha256: self.spec_sha256(),
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

/// The checksums of a scenario's files, as in [`Row::inputs_sha256`].
///
/// # Errors
/// When a file cannot be read.
pub fn inputs_sha256(scenario: &Scenario) -> Result<String, SpecError> {
    let sum = |input: InputFile| -> Result<String, SpecError> {
        match input {
            InputFile::Shipped(name, sha256) => Ok(format!("{name}={sha256}")),
            InputFile::Path(name, path) => {
                let file = path.display().to_string();
                let sum = hash::sha256_of_file(&path);
                let sum = sum.map_err(|source| SpecError::Read { file, source })?;
                Ok(format!("{name}={sum}"))
            }
        }
    };
    let sums: Vec<String> = scenario.inputs().into_iter().map(sum).collect::<Result<_, _>>()?;
    Ok(sums.join(";"))
}
