//! What a baseline reruns: an experiment, a scenario, a file of tokens, or a sweep.

use super::input::Input;
use orrery_reproduce::registry;
use orrery_reproduce::reproduce::{Asked, rows_of};
use orrery_results::{Row, metric};
use orrery_run::SpecError;
use orrery_run::limits::{SEEDS_MAX, count};
use orrery_scenario::kind;
use orrery_scenario::own::WorldFile;
use orrery_scenario::scenario::Scenario;
use orrery_scenario::tokens::TokensFile;
use orrery_sweep::manifest::Lister;
use orrery_sweep::metrics::known_metric;
use orrery_sweep::scenario_cell::{Cell, Subject};
use orrery_sweep::scenario_rows::{rows_of_cells, rows_of_scenario};
use orrery_sweep::seeds::{Seeds, Until};
use orrery_sweep::sweep_file::SweepFile;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The table `[rerun]` of a baseline.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Rerun {
    /// An experiment's id, or its file by its path from the baseline's folder, or
    pub reproduce: Option<String>,
    /// a scenario or a file of tokens, by its path from the baseline's folder, or
    pub scenario: Option<PathBuf>,
    /// a sweep file, in the same way.
    pub sweep: Option<PathBuf>,
    /// The experiment's cases; all when it is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<String>,
    /// Requests of a run, where the experiment is about applications.
    pub requests: Option<u64>,
    /// The scenario's policies; its own when it is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<String>,
    /// Number of replications.
    pub seeds: Option<u32>,
    /// The metrics whose values are recorded.
    pub metrics: Option<Vec<String>>,
}

/// What a rerun found.
pub struct Ran {
    /// Its rows, but for differences between policies.
    pub rows: Vec<Row>,
    /// What they were made from.
    pub input: Input,
}

/// What must hold of the policies' names, where they are known before the run.
pub type Check<'a> = &'a dyn Fn(&[String]) -> Result<(), SpecError>;

/// The metrics that are recorded where the file names none.
const METRICS: [&str; 4] =
    [metric::REQUESTS, metric::FINISH_RATE, metric::LATENCY_P99, metric::MEAN_BATCH_SIZE];

/// Passes when the file that a key names is there.
fn is_there(key: &str, path: &Path, folder: &Path) -> Result<(), SpecError> {
    let whole = folder.join(path);
    if whole.exists() {
        return Ok(());
    }
    let found = format!("`{}`, and there is no file {}", path.display(), whole.display());
    let allowed = "the path of a file, from the baseline's folder";
    let remedy = "give its path from the folder of the baseline, not from where the command runs";
    Err(SpecError::value(format!("rerun.{key}"), found, allowed, remedy))
}

impl Rerun {
    /// The metrics whose values are recorded.
    pub fn metrics(&self) -> Vec<&str> {
        match &self.metrics {
            Some(own) => own.iter().map(String::as_str).collect(),
            None => METRICS.to_vec(),
        }
    }

    /// Passes when one thing is rerun, with keys that apply to it.
    ///
    /// # Errors
    /// Names the key.
    pub fn check(&self) -> Result<(), SpecError> {
        let kinds = [
            ("reproduce", self.reproduce.is_some()),
            ("scenario", self.scenario.is_some()),
            ("sweep", self.sweep.is_some()),
        ];
        let named: Vec<&str> = kinds.iter().filter(|k| k.1).map(|k| k.0).collect();
        let [kind] = named[..] else {
            let found = if named.is_empty() { "none".to_string() } else { named.join(" and ") };
            let remedy = "under `[rerun]` keep one of `reproduce = \"ID\"`, `scenario = \"FILE\"` and \
                          `sweep = \"FILE\"`";
            return Err(SpecError::value("rerun", found, "one thing to rerun", remedy));
        };
        let keys = [
            ("cases", "reproduce", !self.cases.is_empty()),
            ("requests", "reproduce", self.requests.is_some()),
            ("policies", "scenario", !self.policies.is_empty()),
        ];
        if let Some((key, of, _)) = keys.iter().find(|(_, of, is_there)| *is_there && *of != kind) {
            let allowed = format!("only with `{of}`");
            let remedy = format!("remove it, or set it in the file that `{kind}` names");
            return Err(SpecError::value(format!("rerun.{key}"), "it", allowed, remedy));
        }
        for (i, name) in self.metrics.iter().flatten().enumerate() {
            known_metric(&format!("rerun.metrics[{i}]"), name)?;
        }
        self.seeds.map_or(Ok(()), |seeds| count("rerun.seeds", seeds.into(), 1, SEEDS_MAX))
    }

    /// Reruns it; `folder` is the baseline's. `details`: rows of each model, too, of an experiment.
    ///
    /// # Errors
    /// When what it names does not exist or cannot be run.
    pub fn run(&self, folder: &Path, details: bool, check: Check<'_>) -> Result<Ran, SpecError> {
        let files = [("scenario", &self.scenario), ("sweep", &self.sweep)];
        for (key, path) in files.into_iter().filter_map(|(key, path)| Some((key, path.as_ref()?))) {
            is_there(key, path, folder)?;
        }
        let mut input = Input::default();
        input.add("rerun", toml::Value::try_from(self).unwrap_or(toml::Value::Boolean(false)));
        let rows = match (&self.reproduce, &self.scenario, &self.sweep) {
            (Some(id), ..) => self.experiment(id, folder, details, &mut input)?,
            (_, Some(file), _) if kind::is_of(kind::TOKENS, &folder.join(file)) => {
                self.tokens(&folder.join(file), &mut input, check)?
            }
            (_, Some(file), _) => self.scenario(&folder.join(file), &mut input, check)?,
            (_, _, Some(file)) => self.sweep(&folder.join(file), &mut input, check)?,
            _ => Vec::new(),
        };
        Ok(Ran { rows: rows.into_iter().filter(|r| r.versus.is_empty()).collect(), input })
    }

    fn experiment(
        &self,
        id: &str,
        folder: &Path,
        details: bool,
        input: &mut Input,
    ) -> Result<Vec<Row>, SpecError> {
        let requests = self.requests.map(|n| {
            let n = i64::try_from(n).unwrap_or(i64::MAX);
            ("load.requests".to_string(), toml::Value::Integer(n))
        });
        let asked = Asked {
            cases: self.cases.clone(),
            seeds: self.seeds,
            set: requests.into_iter().collect(),
            details,
            ..Asked::default()
        };
        let is_file = id.ends_with(".toml");
        let path = is_file.then(|| folder.join(id).display().to_string());
        let experiment = registry::find(path.as_deref().unwrap_or(id))?;
        // Whatever a shipped one names is in the program.
        input.add_file(experiment.resolved.clone(), is_file.then(|| experiment.folder()));
        rows_of(&experiment, &asked)
    }

    fn scenario(
        &self,
        path: &Path,
        input: &mut Input,
        check: Check<'_>,
    ) -> Result<Vec<Row>, SpecError> {
        let scenario = Scenario::load(path)?;
        input.add_text(&scenario.text(), path);
        let policies = policies_of(&scenario, &self.policies, check)?;
        let bound = self.metrics().contains(&metric::FINISH_RATE_BOUND);
        rows_of_scenario(&scenario, &policies, self.seeds_from(scenario.seed), None, bound)
    }

    fn tokens(
        &self,
        path: &Path,
        input: &mut Input,
        check: Check<'_>,
    ) -> Result<Vec<Row>, SpecError> {
        let file = TokensFile::load(path)?;
        input.add_text(file.origin().1, path);
        let policies = policies_of(&file, &self.policies, check)?;
        let (name, first) = file.about();
        let cells = Cell::of_policies(&file, &policies, self.seeds_from(first), None)?;
        rows_of_cells(name, &cells)
    }

    fn sweep(
        &self,
        path: &Path,
        input: &mut Input,
        check: Check<'_>,
    ) -> Result<Vec<Row>, SpecError> {
        let until = Until { until_ci: None, max_seeds: None };
        let file = SweepFile::load(path)?.with(self.seeds, until)?;
        let text = file.text.parse::<toml::Table>().unwrap_or_default();
        input.add("sweep", toml::Value::Table(text));
        let base = file.base_path();
        match kind::is_of(kind::TOKENS, &base) {
            true => swept(&file, TokensFile::load(&base)?, input, check),
            false => swept(&file, file.base()?, input, check),
        }
    }

    fn seeds_from(&self, first: u64) -> Seeds {
        Seeds { first, count: self.seeds.unwrap_or(1), until_ci: None }
    }
}

/// The policies that are named, or those of the file, checked.
fn policies_of<S: Subject>(
    file: &S,
    named: &[String],
    check: Check<'_>,
) -> Result<Vec<S::Policy>, SpecError> {
    let one = |(i, name): (usize, &String)| {
        name.parse::<S::Policy>().map_err(|e| e.at(format!("rerun.policies[{i}]")))
    };
    let policies: Vec<S::Policy> = match named.is_empty() {
        true => file.policies()?,
        false => named.iter().enumerate().map(one).collect::<Result<_, _>>()?,
    };
    check(&policies.iter().map(S::name_of).collect::<Vec<_>>())?;
    Ok(policies)
}

/// The rows of all cells of a sweep.
fn swept<S: Subject>(
    file: &SweepFile,
    base: S,
    input: &mut Input,
    check: Check<'_>,
) -> Result<Vec<Row>, SpecError> {
    input.add_text(base.origin().1, &file.base_path());
    policies_of(&base, &file.policies, check)?;
    let mut cells = Vec::new();
    Lister::new(file, base)?.one_by_one(|listed| {
        cells.push(listed.cell);
        Ok(())
    })?;
    rows_of_cells(&file.name, &cells)
}
