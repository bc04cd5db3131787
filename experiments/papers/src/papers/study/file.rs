//! Study files: a paper's figure or table over clusters, as a sweep with the paper's own numbers and
//! sentences beside it.
//!
//! It checks what it reads; what is swept is checked by the sweep.

use crate::cells::goodput::Search;
use crate::cells::{Axis, Point, Sample, SweepFile};
use crate::table_file::overlay;
use orrery_scenario::error::nearest;
use orrery_scenario::scenario::Scenario;
use orrery_scenario::scenario::place::{Source, line_of};
use orrery_scenario::{PolicySpec, SpecError, read_text};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use toml::Value;

/// A study's file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Its id on the command line.
    pub id: String,
    /// One line on what it shows.
    pub title: String,
    /// Paper, table or figure.
    pub source: String,
    /// Seconds that a run takes on 2 cores, for `orrery list`.
    pub expected_s: u32,
    /// The base scenario, as a scenario file's text; its policies are the systems.
    pub scenario: String,
    /// The systems, in the order of the columns.
    pub system: Vec<System>,
    /// Replications of each cell.
    pub seeds: u32,
    /// Search the peak goodput of each cell, in place of one run.
    pub goodput: Option<Search>,
    /// What is printed, as metrics of the rows; the paper's numbers stand beside the first.
    pub show: Vec<String>,
    /// Keys set in every cell.
    #[serde(default)]
    pub set: BTreeMap<String, Value>,
    /// What is varied.
    #[serde(default)]
    pub axis: Vec<Axis>,
    /// Points listed one by one.
    #[serde(default)]
    pub point: Vec<Point>,
    /// Only so many of the combinations, drawn at random.
    pub sample: Option<Sample>,
    /// The paper's numbers.
    #[serde(default)]
    pub paper: Vec<Paper>,
    /// The paper's sentences.
    #[serde(default)]
    pub claim: Vec<Claim>,
    /// What the paper leaves open, and what was chosen.
    #[serde(default)]
    pub assumption: Vec<String>,
    /// The file's text, for the lines of messages.
    #[serde(skip)]
    pub origin: Source,
    /// The file that the scenario stands in: this one, or the one that it extends.
    #[serde(skip)]
    scenario_in: Source,
}

/// `[[system]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// Its name in columns, claims and the paper's numbers.
    pub name: String,
    /// Whose settings these are.
    pub preset: String,
    /// The policy.
    pub policy: String,
}

/// `[[paper]]`: a number that the paper prints.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Which cells: axes as in results, or a part of them; all when it is left out.
    #[serde(default)]
    pub at: String,
    /// The system.
    pub system: String,
    /// The metric; the first that is shown when it is left out.
    #[serde(default)]
    pub metric: String,
    /// The number.
    pub value: f64,
    /// Table, figure or sentence.
    pub source: String,
}

/// `[[claim]]`: a sentence of the paper about the ratio of two systems.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The sentence's content, in our words, and where it stands.
    pub text: String,
    /// The system above the line.
    pub of: String,
    /// The system below the line; without one, the value itself is checked.
    #[serde(default)]
    pub over: String,
    /// Which cells; all when it is left out.
    #[serde(default)]
    pub at: String,
    /// For a ratio across cells: the cells of `over`, when they are others than `at`.
    #[serde(default)]
    pub over_at: String,
    /// The metric; the first that is shown when it is left out.
    #[serde(default)]
    pub metric: String,
    /// The ratio is at least this.
    pub at_least: Option<f64>,
    /// The ratio is at most this.
    pub at_most: Option<f64>,
}

/// In the order of `orrery list`.
const STUDIES: &[&str] = &[
    include_str!("../../studies/symphony-table-2.toml"),
    include_str!("../../studies/symphony-fig-1.toml"),
    include_str!("../../studies/symphony-fig-2.toml"),
    include_str!("../../studies/symphony-fig-6a.toml"),
    include_str!("../../studies/symphony-fig-6b.toml"),
    include_str!("../../studies/symphony-fig-7.toml"),
    include_str!("../../studies/symphony-fig-7-sample.toml"),
    include_str!("../../studies/symphony-fig-7-mixed.toml"),
    include_str!("../../studies/symphony-fig-9.toml"),
    include_str!("../../studies/symphony-fig-10.toml"),
    include_str!("../../studies/symphony-fig-11.toml"),
    include_str!("../../studies/symphony-fig-12.toml"),
    include_str!("../../studies/symphony-fig-13-right.toml"),
    include_str!("../../studies/symphony-fig-14.toml"),
    include_str!("../../studies/clockwork-fig-7.toml"),
];

/// The text of the shipped study that another extends.
fn extended(base: &Value) -> Result<&'static str, SpecError> {
    let found = base.as_str().map_or_else(|| base.to_string(), |id| format!("`{id}`"));
    let id = base.as_str().unwrap_or_default();
    let at = Study::ids().position(|known| known == id);
    at.map(|at| STUDIES[at]).ok_or_else(|| {
        let near = nearest(id, Study::ids());
        let near = near.map_or(String::new(), |n| format!("did you mean `{n}`? "));
        let allowed = format!("one of {}", Study::ids().collect::<Vec<_>>().join(", "));
        SpecError::value("extends", found, allowed, format!("{near}name a shipped study"))
    })
}

impl Study {
    /// The ids of the shipped studies.
    pub fn ids() -> impl Iterator<Item = &'static str> {
        let id = |text: &'static str| {
            let line = text.lines().find_map(|l| l.strip_prefix("id = \""));
            line.and_then(|l| l.strip_suffix('"')).unwrap_or_default()
        };
        STUDIES.iter().map(move |text| id(text))
    }

    /// All shipped studies.
    ///
    /// # Errors
    /// When one is damaged.
    pub fn shipped() -> Result<Vec<Study>, SpecError> {
        STUDIES.iter().map(|text| Study::from_text("a shipped study", text)).collect()
    }

    /// The shipped study of an id, or the one in a file (`.toml`, with the key `show`), if there is
    /// one.
    ///
    /// # Errors
    /// When it is wrong.
    pub fn find(id: &str) -> Result<Option<Study>, SpecError> {
        if id.ends_with(".toml") {
            let text = read_text(id)?;
            let is_study = text.parse::<toml::Table>().is_ok_and(|t| t.contains_key("show"));
            return is_study.then(|| Study::from_text(id, &text)).transpose();
        }
        let at = Study::ids().position(|known| known == id);
        at.map(|at| Study::from_text(id, STUDIES[at])).transpose()
    }

    /// Reads and checks a study's text; `name` stands in messages.
    ///
    /// # Errors
    /// When a key is unknown or missing, or names no system of the study.
    pub fn from_text(name: &str, text: &str) -> Result<Study, SpecError> {
        let parse = |message: String| SpecError::Parse { file: name.to_string(), message };
        let mut own: Value = toml::from_str(text).map_err(|e| parse(e.to_string()))?;
        let has_scenario = own.get("scenario").is_some();
        let base_id = own.get("extends").and_then(Value::as_str).map(str::to_string);
        if let Some(base) = own.as_table_mut().and_then(|t| t.remove("extends")) {
            let text = extended(&base).map_err(|e| e.in_file(name))?;
            let mut base: Value = toml::from_str(text).map_err(|e| parse(e.to_string()))?;
            overlay(&mut base, own);
            own = base;
        }
        let mut study: Study =
            own.try_into().map_err(|e: toml::de::Error| parse(e.to_string().trim_end().into()))?;
        let shipped =
            |id: &str| if id.ends_with(".toml") { id.into() } else { format!("{id}.toml") };
        study.origin = Source::new(shipped(name), text);
        let base = |id: String| {
            let at = Study::ids().position(|known| known == id)?;
            Some(Source::new(shipped(&id), STUDIES[at]))
        };
        let base = base_id.filter(|_| !has_scenario).and_then(base);
        study.scenario_in = base.unwrap_or_else(|| study.origin.clone());
        study.check().map_err(|e| study.origin.placed(e))?;
        let first = study.show.first().cloned().unwrap_or_default();
        let fill = |metric: &mut String| {
            if metric.is_empty() {
                metric.clone_from(&first);
            }
        };
        study.paper.iter_mut().for_each(|p| fill(&mut p.metric));
        study.claim.iter_mut().for_each(|c| fill(&mut c.metric));
        Ok(study)
    }

    fn check(&self) -> Result<(), SpecError> {
        if self.show.is_empty() {
            let remedy = "name a metric of the rows, such as `finish_rate`";
            return Err(SpecError::value("show", "nothing", "at least one metric", remedy));
        }
        for (i, s) in self.system.iter().enumerate() {
            PolicySpec::parse(&s.policy).map_err(|e| e.at(format!("system[{i}].policy")))?;
        }
        let of_paper =
            |(i, p): (usize, &'_ Paper)| (format!("paper[{i}].system"), p.system.clone());
        let of_claim = |(i, c): (usize, &'_ Claim)| {
            let key = |part: &str| format!("claim[{i}].{part}");
            [(key("of"), c.of.clone()), (key("over"), c.over.clone())]
        };
        let named = self.paper.iter().enumerate().map(of_paper);
        let named = named.chain(self.claim.iter().enumerate().flat_map(of_claim));
        for (key, name) in named.filter(|(_, name)| !name.is_empty()) {
            if !self.system.iter().any(|s| s.name == name) {
                let known: Vec<&str> = self.system.iter().map(|s| s.name.as_str()).collect();
                let allowed = format!("one of {}", known.join(", "));
                let remedy = "correct the name, or add a `[[system]]`";
                return Err(SpecError::value(key, format!("`{name}`"), allowed, remedy));
            }
        }
        Ok(())
    }

    /// The sweep that it is, and its base scenario.
    ///
    /// # Errors
    /// When the scenario is wrong.
    pub fn sweep(&self) -> Result<(SweepFile, Scenario), SpecError> {
        let file = SweepFile {
            name: self.id.clone(),
            scenario: PathBuf::new(),
            seeds: self.seeds,
            first_seed: None,
            until_ci: None,
            max_seeds: 100,
            policies: self.system.iter().map(|s| s.policy.clone()).collect(),
            compare_to: None,
            goodput: self.goodput.clone(),
            set: self.set.clone(),
            axis: self.axis.clone(),
            point: self.point.clone(),
            sample: self.sample,
            path: PathBuf::from(&self.origin.path),
            text: self.origin.text.clone(),
        };
        Ok((file.checked()?, self.base()?))
    }

    /// The base scenario. Its text is moved to the lines that it has in the study's file, so that
    /// messages name these.
    fn base(&self) -> Result<Scenario, SpecError> {
        let policies: Vec<&String> = self.system.iter().map(|s| &s.policy).collect();
        let Source { path, text } = &self.scenario_in;
        let line = line_of(text, "scenario").unwrap_or(1);
        let rest = text.lines().nth(line - 1).and_then(|l| l.split_once('='));
        let opens = |quotes: &str| rest.is_some_and(|(_, value)| value.trim() == quotes);
        let is_block = opens("'''") || opens("\"\"\"");
        let (name, before) = match is_block {
            true => (path.clone(), "\n".repeat(line)),
            false => (format!("{path}:{line} (scenario)"), "\n".to_string()),
        };
        Scenario::from_text(&name, &format!("policies = {policies:?}{before}{}", self.scenario))
    }

    /// The system of a cell, by the cell's number: systems change fastest.
    pub fn system_of(&self, cell: usize) -> &System {
        &self.system[cell % self.system.len()]
    }
}
