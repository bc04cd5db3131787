//! Partition files: models or a generator, limits, and how it is solved.

use super::error::in_words;
use super::generate::Generate;
use super::problem::{Method, Named};
use orrery_scenario::defaults::one;
use orrery_scenario::kind;
use orrery_scenario::limits::{COUNT_MAX, count};
use orrery_scenario::scenario::place::Source;
use orrery_scenario::scenario::texts;
use orrery_scenario::{SpecError, read_text};
use orrery_solvers::partition::{Answer, ModelLoad, Problem, local_search, random};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A partition file.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartitionFile {
    /// Number of sub-clusters.
    pub clusters: usize,
    /// The highest rate that a dispatcher sustains; no limit if omitted.
    #[serde(default = "unlimited")]
    pub rate_max_per_s: f64,
    /// The memory of a backend; no limit if omitted.
    #[serde(default = "unlimited")]
    pub memory_max_mb: f64,
    /// Maximum cost of the change; no limit if omitted.
    #[serde(default = "unlimited")]
    pub cost_max: f64,
    /// The objective's w, requests/s per MB; if omitted, both imbalances have the same weight.
    pub weight: Option<f64>,
    /// The seed of generated models and of the search.
    #[serde(default = "one::<u64>")]
    pub seed: u64,
    /// The solver.
    #[serde(default)]
    pub method: Method,
    /// Number of assignments that `random` draws.
    #[serde(default = "draws")]
    pub draws: u64,
    /// Maximum number of evaluations of `local-search`.
    #[serde(default = "evaluations")]
    pub evaluations: u64,
    /// The models, one by one.
    #[serde(default)]
    pub model: Vec<FileModel>,
    /// Or drawn from a zoo.
    pub generate: Option<Generate>,
    /// The file's text, for the lines of messages.
    #[serde(skip)]
    pub source: Source,
}

/// `[[model]]`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileModel {
    /// Its name.
    pub name: String,
    /// Its request rate.
    pub rate_per_s: f64,
    /// Memory for as long as it is loaded.
    pub static_mb: f64,
    /// Memory while it runs.
    #[serde(default)]
    pub dynamic_mb: f64,
    /// The sub-cluster that has it now; none for a new model.
    pub current: Option<usize>,
    /// What loading it costs, and unloading it: 1 when it is left out.
    #[serde(default = "one::<f64>")]
    pub move_cost: f64,
}

fn unlimited() -> f64 {
    f64::INFINITY
}
fn draws() -> u64 {
    20_000
}
fn evaluations() -> u64 {
    20_000_000
}

impl PartitionFile {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or a key is unknown, missing or wrong.
    pub fn load(path: &Path) -> Result<PartitionFile, SpecError> {
        let file = path.display().to_string();
        let text = read_text(path)?;
        texts::check(&file, &text)?;
        let mut read: PartitionFile = toml::from_str(&text).map_err(|e| {
            let said = e.to_string();
            let message = format!("{}\n  the keys are in docs/partition.md", said.trim_end());
            let error = SpecError::Parse { message, file: file.clone() };
            kind::instead(kind::PARTITION, &file, &text, error)
        })?;
        read.source = Source::new(file, text);
        Ok(read)
    }

    /// The problem; a generated one depends on the seed.
    ///
    /// # Errors
    /// When there are no models, or both lists of them, or the generator is wrong.
    pub fn problem(&self, seed: u64) -> Result<Named, SpecError> {
        count("clusters", self.clusters as u64, 1, COUNT_MAX)?;
        let (names, models): (Vec<String>, Vec<ModelLoad>) = match &self.generate {
            Some(generate) if self.model.is_empty() => generate.models(seed)?.into_iter().unzip(),
            None if !self.model.is_empty() => self.model.iter().map(FileModel::load).unzip(),
            both => {
                let found = if both.is_some() { "both" } else { "neither" };
                let remedy = "list `[[model]]`, or give `[generate]`";
                return Err(SpecError::value("model", found, "one of the two", remedy));
            }
        };
        let problem = Problem {
            memory_weight: self.weight.unwrap_or_else(|| Problem::even_weight(&models)),
            models,
            clusters: self.clusters,
            rate_max: self.rate_max_per_s,
            memory_max: self.memory_max_mb,
            cost_max: self.cost_max,
        };
        Ok(Named { problem, names })
    }

    /// Solves a problem within the file's bounds.
    ///
    /// # Errors
    /// As the solvers.
    pub fn solve(&self, named: &Named, method: Method, seed: u64) -> Result<Answer, SpecError> {
        let p = &named.problem;
        let solved = match method {
            Method::Random => random(p, seed, self.draws),
            Method::LocalSearch => local_search(p, seed, self.evaluations),
        };
        solved.map_err(|e| in_words(e, named, method))
    }

    /// A method with its bounds, as results name it.
    pub fn in_words(&self, method: Method) -> String {
        let (draws, evaluations) = (self.draws, self.evaluations);
        match method {
            Method::Random => format!("random[draws={draws}]"),
            Method::LocalSearch => format!("local-search[evaluations={evaluations}]"),
        }
    }
}

impl FileModel {
    fn load(&self) -> (String, ModelLoad) {
        let load = ModelLoad {
            rate: self.rate_per_s,
            static_mem: self.static_mb,
            dynamic_mem: self.dynamic_mb,
            move_cost: self.move_cost,
            current: self.current,
        };
        (self.name.clone(), load)
    }
}
