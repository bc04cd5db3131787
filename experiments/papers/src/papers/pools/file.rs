//! Pool files: a figure about pools of several instance types, as columns and searches with the
//! paper's sentences beside them.
//!
//! It checks what it reads; pools and schemes are checked by whoever makes them.

use super::conditions::Conditions;
use super::scheme::Scheme;
use super::select::Selector;
use crate::table_file::overlay;
use orrery_scenario::SpecError;
use orrery_scenario::kairos::model_names;
use orrery_scenario::limits::{SEEDS_MAX, count};
use orrery_scenario::scenario::place::Source;
use serde::Deserialize;
use toml::Value;

/// A figure's file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Its id on the command line.
    pub id: String,
    /// One line on what it shows.
    pub title: String,
    /// Paper and figure.
    pub source: String,
    /// Seconds that a run takes on 2 cores, for `orrery list`.
    pub expected_s: u32,
    /// Kairos's models.
    pub models: Vec<String>,
    /// Replications of each evaluation.
    pub seeds: u32,
    /// Under what everything runs; keys left out are those of [`Conditions`]'s default.
    #[serde(default)]
    pub conditions: toml::Table,
    /// Variants of the conditions; one when there are none.
    #[serde(default)]
    pub setting: Vec<Setting>,
    /// Schemes on pools: each cell is an allowable throughput.
    #[serde(default)]
    pub column: Vec<Column>,
    /// Whose value the others of the same model are divided by in the text.
    #[serde(default)]
    pub relative_to: String,
    /// Searches for the best pool.
    #[serde(default)]
    pub search: Vec<Search>,
    /// List every pool with its upper bound, in place of columns.
    #[serde(default)]
    pub bounds: bool,
    /// The paper's sentences.
    #[serde(default)]
    pub claim: Vec<Claim>,
    /// What the paper leaves open, and what was chosen.
    #[serde(default)]
    pub assumption: Vec<String>,
    /// The file's text, for the lines of messages.
    #[serde(skip)]
    pub origin: Source,
}

/// `[[setting]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// Its name in rows and claims.
    pub name: String,
    /// Conditions that differ.
    #[serde(default)]
    pub set: toml::Table,
    /// In place of the figure's columns, only those of these names; all when it is left out.
    #[serde(default)]
    pub columns: Vec<String>,
}

/// `[[column]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Whose settings these are.
    #[serde(default)]
    pub preset: String,
    /// A policy; or `drs-climb`, `drs-scan`, `orcl`, `upper-bound`.
    pub scheme: String,
    /// Which pool or pools: see [`Selector`].
    pub pool: String,
}

/// `[[search]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// Its name.
    pub name: String,
    /// What evaluates a pool, as in a column.
    pub scheme: String,
    /// How pools are chosen.
    pub algorithm: Algorithm,
    /// How often it is run, with seeds 1, 2, ...; the ones without randomness once.
    #[serde(default = "one")]
    pub runs: u32,
    /// The most pools that it may evaluate.
    pub evaluations_max: Option<usize>,
    /// Whether sub-configurations of evaluated pools are ruled out.
    #[serde(default = "yes")]
    pub prune: bool,
    /// Pools that carry less, in queries/s, are taken out of the space first.
    pub prefilter_per_s: Option<f64>,
    /// Whether every pool is evaluated too, to tell how good what was found is.
    #[serde(default)]
    pub optimum: bool,
    /// A column: when is its throughput reached?
    #[serde(default)]
    pub until: String,
    /// How many evaluations of the first run are listed.
    #[serde(default)]
    pub trajectory: usize,
}

/// How pools are chosen.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Algorithm 1.
    KairosPlus,
    /// RAND.
    Random,
    /// GENE.
    Genetic,
    /// Simulated annealing.
    Annealing,
    /// Ribbon's Bayesian optimisation, for throughput.
    Bayesian,
}

/// `[[claim]]`: a sentence of the paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The sentence's content, in our words, and where it stands.
    pub text: String,
    /// The column or search above the line.
    pub of: String,
    /// The one below the line; without one, the value itself is checked.
    #[serde(default)]
    pub over: String,
    /// The metric.
    #[serde(default = "allowable")]
    pub metric: String,
    /// Only this model.
    #[serde(default)]
    pub model: String,
    /// Only this pool of `of`.
    #[serde(default)]
    pub pool: String,
    /// Only this pool of `over`; that of `of` where it is left out and both have several.
    #[serde(default)]
    pub over_pool: String,
    /// Only this setting of `of`.
    #[serde(default)]
    pub setting: String,
    /// Only this setting of `over`; that of `of` where it is left out.
    #[serde(default)]
    pub over_setting: String,
    /// A ratio of ratios: what both sides are divided by first, each in its own setting.
    #[serde(default)]
    pub relative_to: String,
    /// What of several cells is checked.
    #[serde(default)]
    pub take: Take,
    /// At least this.
    pub at_least: Option<f64>,
    /// At most this.
    pub at_most: Option<f64>,
}

/// What of several cells is checked.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Take {
    /// Each of them.
    #[default]
    Each,
    /// The largest: "up to".
    Largest,
    /// The smallest.
    Smallest,
    /// The mean: "about".
    Mean,
}

fn one() -> u32 {
    1
}

fn yes() -> bool {
    true
}

fn allowable() -> String {
    super::ALLOWABLE.to_string()
}

impl Figure {
    /// Reads and checks a figure's text; `name` stands in messages.
    ///
    /// # Errors
    /// When a key is unknown or missing, or a value or a name is wrong.
    pub fn from_text(name: &str, text: &str) -> Result<Figure, SpecError> {
        let parse = |e: toml::de::Error| SpecError::Parse {
            file: name.to_string(),
            message: e.to_string().trim_end().to_string(),
        };
        let mut figure: Figure = toml::from_str(text).map_err(parse)?;
        if figure.setting.is_empty() {
            let (set, columns) = (toml::Table::new(), Vec::new());
            figure.setting.push(Setting { name: String::new(), set, columns });
        }
        let path = if name.ends_with(".toml") { name.into() } else { format!("{name}.toml") };
        figure.origin = Source::new(path, text);
        figure.check().map_err(|e| figure.origin.placed(e))?;
        Ok(figure)
    }

    /// The conditions of a setting.
    ///
    /// # Errors
    /// When a key is unknown or a value is wrong.
    pub fn conditions_of(&self, setting: &Setting) -> Result<Conditions, SpecError> {
        let mut all = Value::Table(self.conditions.clone());
        overlay(&mut all, Value::Table(setting.set.clone()));
        let wrong = |e: toml::de::Error| {
            let key = if setting.name.is_empty() { "conditions" } else { "setting.set" };
            let found = e.to_string().trim_end().replace('\n', " ");
            let remedy = "correct it; docs/kairos.md lists the keys";
            SpecError::value(key, found, "the keys of conditions", remedy)
        };
        all.try_into().map_err(wrong)
    }

    fn check(&self) -> Result<(), SpecError> {
        let none =
            |key: &str, remedy: &str| Err(SpecError::value(key, "nothing", "at least one", remedy));
        if self.models.is_empty() {
            return none("models", "name a model, such as `rm2`");
        }
        if self.column.is_empty() && self.search.is_empty() && !self.bounds {
            return none("column", "add a `[[column]]`, a `[[search]]`, or `bounds = true`");
        }
        count("seeds", self.seeds.into(), 1, SEEDS_MAX)?;
        for model in &self.models {
            known("models", model, &model_names().collect::<Vec<_>>())?;
        }
        let columns: Vec<&str> = self.column.iter().map(|c| c.name.as_str()).collect();
        let searches: Vec<&str> = self.search.iter().map(|s| s.name.as_str()).collect();
        let settings: Vec<&str> = self.setting.iter().map(|s| s.name.as_str()).collect();
        let both: Vec<&str> = columns.iter().chain(&searches).copied().collect();
        unique("name", &both)?;
        unique("setting.name", &settings)?;
        for (i, column) in self.column.iter().enumerate() {
            let key = |part: &str| format!("column[{i}].{part}");
            Scheme::parse(&column.scheme).map_err(|e| e.at(key("scheme")))?;
            Selector::parse(&column.pool).map_err(|e| e.at(key("pool")))?;
        }
        for (i, search) in self.search.iter().enumerate() {
            Scheme::parse(&search.scheme).map_err(|e| e.at(format!("search[{i}].scheme")))?;
            if !search.until.is_empty() {
                known("search.until", &search.until, &columns)?;
            }
            count(&format!("search[{i}].runs"), search.runs.into(), 1, SEEDS_MAX)?;
        }
        if !self.relative_to.is_empty() {
            known("relative_to", &self.relative_to, &columns)?;
        }
        for setting in &self.setting {
            setting.columns.iter().try_for_each(|c| known("setting.columns", c, &columns))?;
            self.conditions_of(setting)?;
        }
        self.claim.iter().try_for_each(|claim| check_claim(claim, self, &both, &settings))
    }
}

fn check_claim(
    claim: &Claim,
    figure: &Figure,
    names: &[&str],
    settings: &[&str],
) -> Result<(), SpecError> {
    known("claim.of", &claim.of, names)?;
    for name in [&claim.over, &claim.relative_to] {
        if !name.is_empty() {
            known("claim", name, names)?;
        }
    }
    for setting in [&claim.setting, &claim.over_setting] {
        if !setting.is_empty() {
            known("claim.setting", setting, settings)?;
        }
    }
    if !claim.model.is_empty() {
        known(
            "claim.model",
            &claim.model,
            &figure.models.iter().map(String::as_str).collect::<Vec<_>>(),
        )?;
    }
    if claim.at_least.is_none() && claim.at_most.is_none() {
        let (allowed, remedy) = ("`at_least`, `at_most` or both", "say what would make it false");
        return Err(SpecError::value("claim", format!("`{}`", claim.text), allowed, remedy));
    }
    Ok(())
}

/// A name that must be one of these.
pub(super) fn known(key: &str, name: &str, all: &[&str]) -> Result<(), SpecError> {
    if all.contains(&name) {
        return Ok(());
    }
    let hint = orrery_scenario::error::nearest(name, all.iter().copied());
    let remedy = hint.map_or("correct the name".to_string(), |n| format!("did you mean `{n}`?"));
    Err(SpecError::value(key, format!("`{name}`"), format!("one of {}", all.join(", ")), remedy))
}

fn unique(key: &str, names: &[&str]) -> Result<(), SpecError> {
    for (i, name) in names.iter().enumerate() {
        if names[..i].contains(name) {
            let remedy = "give each column, search and setting a name of its own";
            return Err(SpecError::value(key, format!("`{name}` twice"), "each name once", remedy));
        }
    }
    Ok(())
}
