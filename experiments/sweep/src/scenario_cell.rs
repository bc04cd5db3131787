//! A cell of a scenario, or of a file of tokens: what it is run with, what identifies it, and its runs.

use super::goodput::{Find, Search, Searched};
use super::hash;
use super::replication::Replication;
use super::scenario_search::{least_warm_up_s, searched};
use super::seeds::Seeds;
use orrery_report::page::counted;
use orrery_results::metric;
use orrery_results::{RESULT_VERSION, Row, system_of};
use orrery_run::{PolicySpec, SpecError};
use orrery_scenario::scenario::{InputFile, Scenario};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use toml::Value;

/// A column of a table of answers: its heading, its metric, what that is multiplied by, and the digits behind its
/// point.
pub type AnswerColumn = (&'static str, &'static str, f64, usize);

/// What a cell runs.
pub trait Subject:
    Searched<Policy: Clone + FromStr<Err = SpecError> + Send + Sync> + Clone + Send + Sync
{
    /// The first word of its specification.
    const KIND: &'static str;
    /// What a table of answers shows of the run at each, and the digits of a rate.
    const AT_ANSWER: (&'static [AnswerColumn], usize);

    /// One from its text; `name` is its path.
    ///
    /// # Errors
    /// When it is wrong.
    fn from_text(name: &str, text: &str) -> Result<Self, SpecError>;

    /// The path of its file, and the text that was read there.
    fn origin(&self) -> (&str, &str);

    /// It with dotted keys set to other values.
    ///
    /// # Errors
    /// When a key or a value is wrong.
    fn changed(&self, changes: &[(String, Value)]) -> Result<Self, SpecError>;

    /// It with these policies in place of its own, where there are any.
    ///
    /// # Errors
    /// As [`Subject::changed`].
    fn with_policies(self, policies: &[String]) -> Result<Self, SpecError> {
        if policies.is_empty() {
            return Ok(self);
        }
        let list = Value::Array(policies.iter().cloned().map(Value::String).collect());
        self.changed(&[("policies".to_string(), list)])
    }

    /// A policy's name in results.
    fn name_of(policy: &Self::Policy) -> String;

    /// Why a run of a policy may take hours, if so.
    fn why_slow(_: &Self::Policy) -> Option<String> {
        None
    }

    /// The policies of its file.
    ///
    /// # Errors
    /// When one is wrong.
    fn policies(&self) -> Result<Vec<Self::Policy>, SpecError>;

    /// Passes when it can be set up for these policies, and searched if that is asked for.
    ///
    /// # Errors
    /// When a value is wrong, or a file cannot be read.
    fn check(
        &self,
        seed: u64,
        policies: &[Self::Policy],
        search: Option<&Search>,
    ) -> Result<(), SpecError>;

    /// Whether its runs have a finish rate.
    fn has_finish_rate(&self) -> bool {
        true
    }

    /// Its name in results, and its first seed.
    fn about(&self) -> (&str, u64);

    /// Everything that the results depend on, but for seeds, policies and the contents of files.
    fn canonical(&self) -> String;

    /// The files that a run reads.
    fn inputs(&self) -> Vec<InputFile>;

    /// What is to be known of a policy's results before it is run.
    fn caveats(&self, policy: &Self::Policy) -> Vec<&'static str>;

    /// The keys of its file that change nothing, whichever of these changes are made to it.
    fn without_effect(
        &self,
        _policies: &[Self::Policy],
        _search: Option<&Search>,
        _changes: &[Vec<(String, Value)>],
    ) -> Vec<String> {
        Vec::new()
    }

    /// The rule by which the warm-up of a run is cut, and of a search.
    fn warm_up(&self, search: Option<&Search>) -> String;

    /// About how many requests a run has, or those that a search has at least, where that is known.
    fn requests_expected(&self, search: Option<&Search>) -> Option<u64>;

    /// Runs it.
    ///
    /// # Errors
    /// When it cannot be set up, or a run fails.
    fn one(&self, policy: &Self::Policy, seed: u64) -> Result<Replication, SpecError>;

    /// What is looked for in it, in a line.
    ///
    /// # Errors
    /// When it has no rate.
    fn sought(&self, search: &Search) -> Result<String, SpecError>;
}

impl Subject for Scenario {
    const KIND: &'static str = "scenario";
    const AT_ANSWER: (&'static [AnswerColumn], usize) = (
        &[("batch p50", metric::BATCH_SIZE_P50, 1.0, 1), ("util", metric::UTILISATION, 1.0, 2)],
        0,
    );

    fn from_text(name: &str, text: &str) -> Result<Scenario, SpecError> {
        Scenario::from_text(name, text)
    }

    fn origin(&self) -> (&str, &str) {
        Scenario::origin(self)
    }

    fn changed(&self, changes: &[(String, Value)]) -> Result<Scenario, SpecError> {
        self.with(changes)
    }

    fn name_of(policy: &PolicySpec) -> String {
        policy.text().to_string()
    }

    fn why_slow(policy: &PolicySpec) -> Option<String> {
        policy.why_slow()
    }

    fn policies(&self) -> Result<Vec<PolicySpec>, SpecError> {
        Scenario::policies(self)
    }

    fn check(&self, seed: u64, _: &[PolicySpec], of: Option<&Search>) -> Result<(), SpecError> {
        of.map(|_| self.for_probes()).transpose()?;
        self.setup(seed).map(drop)
    }

    fn about(&self) -> (&str, u64) {
        (&self.name, self.seed)
    }

    fn canonical(&self) -> String {
        Scenario::canonical(self)
    }

    fn inputs(&self) -> Vec<InputFile> {
        Scenario::inputs(self)
    }

    fn caveats(&self, policy: &PolicySpec) -> Vec<&'static str> {
        Scenario::caveats(self, policy)
    }

    fn without_effect(
        &self,
        policies: &[PolicySpec],
        search: Option<&Search>,
        changes: &[Vec<(String, Value)>],
    ) -> Vec<String> {
        let least_s = search.map(|search| least_warm_up_s(self, search, policies));
        let Ok(least_s) = least_s.transpose() else { return Vec::new() };
        let run = |scenario: &Scenario, i: usize| {
            let changed = scenario.with(&changes[i])?;
            Ok(least_s.map_or(changed.clone(), |s| searched(&changed, s)).file)
        };
        let why = search.map_or("no run looks at it", |_| "a search says how long its runs are");
        Scenario::without_effect(self, why, changes.len(), run)
    }

    fn warm_up(&self, search: Option<&Search>) -> String {
        let warm_up_s = self.file.warm_up_s;
        match search {
            Some(search) => search.warm_up(),
            None if warm_up_s > 0.0 => format!("arrivals before {warm_up_s} s are not counted"),
            None => "none".to_string(),
        }
    }

    fn requests_expected(&self, search: Option<&Search>) -> Option<u64> {
        match search {
            None => Scenario::requests_expected(self),
            Some(search) => {
                Some(search.requests_per_model.saturating_mul(self.file.model.len() as u64))
            }
        }
    }

    fn one(&self, policy: &PolicySpec, seed: u64) -> Result<Replication, SpecError> {
        let metrics = self.setup(seed)?.run(policy, seed)?;
        Ok(Replication::of(seed, &metrics, &self.scope_names()))
    }

    fn sought(&self, search: &Search) -> Result<String, SpecError> {
        let devices: u32 = self.file.device.iter().map(|d| d.count).sum();
        let what = match search.find {
            Find::Rate => format!("the highest offered rate on {}", counted(devices, "device")),
            Find::Devices => {
                format!("the fewest devices for {:.1} requests/s", Scenario::rate(self)?)
            }
        };
        let models = self.model_names().len();
        let each = if models == 1 { "" } else { "each " };
        let models = counted(models as u64, "model");
        Ok(format!("{what}: {models}, {each}with {}", search.target_in_words()))
    }
}

/// A scenario or a file of tokens, and a policy, with seeds.
#[derive(Clone, Debug)]
pub struct Cell<S: Subject> {
    /// The scenario or file, changes made.
    pub scenario: S,
    /// As in [`Row::axes`].
    pub axes: String,
    /// The policy.
    pub policy: S::Policy,
    /// The seeds.
    pub seeds: Seeds,
    /// As in [`Row::inputs_sha256`].
    pub inputs_sha256: String,
    /// Search for the peak goodput instead of running once.
    pub search: Option<Search>,
}

/// A cell of a scenario.
pub type ScenarioCell = Cell<Scenario>;

impl<S: Subject> Cell<S> {
    /// A cell for each policy, without axes.
    ///
    /// # Errors
    /// When a file that it reads cannot be read.
    pub fn of_policies(
        scenario: &S,
        policies: &[S::Policy],
        seeds: Seeds,
        search: Option<&Search>,
    ) -> Result<Vec<Cell<S>>, SpecError> {
        let inputs_sha256 = inputs_sha256(scenario)?;
        let cell = |policy: &S::Policy| Cell {
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
        self.hashes_of(&self.scenario.canonical())
    }

    /// As [`Cell::hashes`], where [`Subject::canonical`] of its scenario is known: cells of many policies share it.
    pub(super) fn hashes_of(&self, canonical: &str) -> (String, String) {
        (self.entry_sha256(canonical), self.hash(canonical, &self.seeds))
    }

    /// The first of [`Cell::hashes_of`].
    pub(super) fn entry_sha256(&self, canonical: &str) -> String {
        self.hash(canonical, &self.seeds.entry())
    }

    fn hash(&self, scenario: &str, seeds: &Seeds) -> String {
        let (seeds, policy) = (seeds.words(), S::name_of(&self.policy));
        let parts = [S::KIND, scenario, &policy, &seeds, &self.inputs_sha256];
        match self.search.as_ref().map(Search::words) {
            None => hash::spec_sha256(&parts),
            Some(search) => hash::spec_sha256(&[&parts[..], &["goodput", &search]].concat()),
        }
    }

    /// The rule by which its warm-up is cut.
    pub fn warm_up(&self) -> String {
        self.scenario.warm_up(self.search.as_ref())
    }

    /// As [`Subject::requests_expected`].
    pub fn requests_expected(&self) -> Option<u64> {
        self.scenario.requests_expected(self.search.as_ref())
    }

    /// What all its rows have in common; the flags are those of what it is judged by.
    pub fn place(&self, experiment: &str) -> Row {
        let policy = S::name_of(&self.policy);
        Row {
            experiment: experiment.to_string(),
            axes: self.axes.clone(),
            system: system_of(&policy).to_string(),
            policy,
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
    /// As [`Cell::run`].
    pub fn one(&self, seed: u64) -> Result<Replication, SpecError> {
        match &self.search {
            Some(search) => search.run(&self.scenario, &self.policy, seed),
            None => self.scenario.one(&self.policy, seed),
        }
    }
}

/// The checksums of scenarios' files, each file read once.
#[derive(Debug, Default)]
pub struct Inputs {
    known: Mutex<BTreeMap<PathBuf, String>>,
}

impl Inputs {
    /// As in [`Row::inputs_sha256`].
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn sha256(&self, scenario: &impl Subject) -> Result<String, SpecError> {
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
pub fn inputs_sha256(scenario: &impl Subject) -> Result<String, SpecError> {
    Inputs::default().sha256(scenario)
}
