//! The one shape of an experiment: a paper's table or figure, or a user's own, as a file.
//!
//! Its frame is the same for every kind: over which axes and systems it is run, what is measured, the
//! paper's numbers and sentences beside it, and what was assumed. What is run is its [`Kind`], with keys of
//! its own. The comments on the fields are what readers see in `docs/experiments.md` and in the JSON Schema.

mod check;
mod errors;
mod figure;
mod kind;

pub use errors::ErrorsFile;
pub use figure::{FigureFile, FigureKind, FigureScale};
pub use kind::{CaseRows, CasesOf, Keys, Kind, KindEntry, Made, Parts, UntilCi, placed};

use super::claims::{Claim, LeftOut};
use super::numbers::{Number, NumbersFile, is_at};
use super::options::{CliOption, Refused};
use crate::searching::Searching;
use orrery_results::{Row, metric};
use orrery_run::SpecError;
use orrery_run::error::known;
use orrery_scenario::scenario::place::Source;
use orrery_sweep::grid::{self, Axis, Point, Sample};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::Value;

/// An experiment: its frame, which reads as its own fields, and what is run.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// What every kind has.
    pub frame: Frame,
    /// What is run.
    pub kind: Arc<dyn Kind>,
    /// All keys, those of the file that it extends included.
    pub resolved: Value,
    /// The file's text, for the lines of messages.
    pub origin: Source,
    /// The file that the scenario's text stands in: this one, or the one that it extends.
    pub scenario_in: Source,
    /// With `cases`: the file that `--paper` names in place of its own.
    pub cases_from: Option<PathBuf>,
    /// Rows of each model, application and device are asked for, too.
    pub details: bool,
    /// What was set by hand, which every row names beside the id.
    pub changed: String,
}

impl Deref for Experiment {
    type Target = Frame;

    fn deref(&self) -> &Frame {
        &self.frame
    }
}

impl DerefMut for Experiment {
    fn deref_mut(&mut self) -> &mut Frame {
        &mut self.frame
    }
}

/// An experiment's file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "orrery experiment")]
pub struct Frame {
    /// Its id, used in file names: letters, digits, `-`, `_`, `+`, `.`.
    pub id: String,
    /// One line that says what it shows.
    pub title: String,
    /// The paper's table or figure; for your own experiment, any text.
    pub source: String,
    /// Its place in `orrery list`, if it is shipped.
    #[schemars(extend("x-default" = "none"))]
    pub order: Option<u32>,
    /// Its running time on 2 cores, shown by `orrery list`.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    pub expected_s: u32,
    /// Number of replications of each cell; `--seeds` replaces it.
    pub seeds: u32,
    /// The metrics to print; a number of the paper without a metric belongs to the first.
    pub show: Vec<String>,
    /// Keys set in every cell: `{ "DOTTED.KEY" = VALUE }`.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    #[schemars(extend("x-default" = "none"))]
    pub set: BTreeMap<String, Value>,
    /// What is varied: every combination is run.
    #[serde(default)]
    pub axis: Vec<Axis>,
    /// Points listed one by one; each is combined with all axes.
    #[serde(default)]
    pub point: Vec<Point>,
    /// The name of the points' axis in results.
    #[serde(default = "point_axis")]
    pub point_axis: String,
    /// Run only a random sample of the combinations.
    pub sample: Option<Sample>,
    /// The systems, in the order of the columns.
    #[serde(default)]
    pub system: Vec<System>,
    /// Run only systems with these presets; all if empty.
    #[serde(default)]
    #[schemars(extend("x-default" = "all"))]
    pub presets: Vec<Preset>,
    /// The system that the others are compared with, seed by seed (paired differences).
    pub compare_to: Option<String>,
    /// The system whose values the printed table divides the others by.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    pub relative_to: String,
    /// The paper's numbers.
    #[serde(default)]
    pub paper: Vec<Number>,
    /// Those that were kept from this project, wherever they were named.
    #[serde(skip)]
    pub withheld: Vec<Number>,
    /// The paper's numbers in a CSV file.
    pub paper_csv: Option<NumbersFile>,
    /// How the errors against these numbers are printed.
    pub errors: Option<ErrorsFile>,
    /// The paper's claims.
    #[serde(default)]
    pub claim: Vec<Claim>,
    /// One or two axes of what the paper does not give: each claim is judged with each of their values, and none counts
    /// as one of the paper's.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    pub region: Vec<String>,
    /// What is not run of that of which they speak.
    #[serde(skip)]
    pub left_out: LeftOut,
    /// What the paper does not specify, and what this file chose.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    pub assumption: Vec<String>,
    /// The figure that `--plot` draws.
    pub figure: Option<FigureFile>,
}

/// `[[system]]`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// Its name in columns, in claims and for the paper's numbers.
    pub name: String,
    /// The source of its settings.
    #[serde(default)]
    pub preset: Preset,
    /// The policy with its parameters. With `pool` also `drs-climb`, `drs-scan`, `orcl`, `upper-bound`;
    /// with `partition` a solver; with `jobs` or `tokens` a policy of theirs; with `cases` text with `{{ expressions }}` over the
    /// columns of a row, or any word where all is `computed`.
    pub policy: String,
    /// Run only at these points, each as `AXIS=VALUE`; at all if empty.
    #[serde(default)]
    #[schemars(extend("x-default" = "all"))]
    pub at: Vec<String>,
    /// With `scenario` or `cases`: keys set for this system alone: `{ "DOTTED.KEY" = VALUE }`.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    #[schemars(extend("x-default" = "none"))]
    pub set: BTreeMap<String, Value>,
    /// With `cases`: what is computed of a row in place of a run: `{ METRIC = "EXPRESSION" }`.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    pub computed: BTreeMap<String, String>,
    /// With `applications`: time that the device waits for the host for each request of a batch.
    #[serde(default)]
    pub host_ms_per_request: f64,
    /// With `applications`: the time of a message between its scheduler and the device, each way.
    #[serde(default)]
    pub message_ms: f64,
    /// With `applications`: this system's marginal batch cost by model, where it differs.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    pub c1_of: BTreeMap<String, f64>,
    /// With `pool`: which pools: `homogeneous`, `homogeneous-scaled`, `pick`, `best`, `best-of:POLICY`,
    /// `best-in-top:N`, `kairos+`, `top:N`, or counts such as `2-0-9-0`.
    pub pool: Option<String>,
    /// With `pool`: in place of `pool`, a search for the best one.
    pub search: Option<Searching>,
}

impl System {
    /// Whether it is run at a place.
    pub fn is_run_at(&self, place: &Row) -> bool {
        self.at.is_empty() || self.at.iter().any(|at| is_at(place, at))
    }

    /// Its row at a place.
    pub fn row(&self, place: &Row) -> Row {
        Row {
            system: self.name.clone(),
            preset: self.preset.word().to_string(),
            policy: self.policy.clone(),
            ..place.clone()
        }
    }
}

/// Whose settings a system has.
#[derive(
    Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord,
)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// Not told.
    #[default]
    #[serde(rename = "")]
    None,
    /// The authors' code with its defaults.
    Released,
    /// What the paper's text says, where no code was released.
    Paper,
    /// Fitted, once for all tables.
    Calibrated,
    /// As calibrated, but by another reading of the paper's text.
    Reading,
    /// No system of a paper.
    Reference,
}

impl Preset {
    /// Its word in tables.
    pub fn word(self) -> &'static str {
        match self {
            Preset::None => "",
            Preset::Released => "released",
            Preset::Paper => "paper",
            Preset::Calibrated => "calibrated",
            Preset::Reading => "reading",
            Preset::Reference => "reference",
        }
    }
}

fn point_axis() -> String {
    "point".to_string()
}

impl Experiment {
    /// The metric that it is about: the first that it shows.
    pub fn main(&self) -> &str {
        self.show.first().map_or(metric::FINISH_RATE, String::as_str)
    }

    /// What rows have in common, wherever they stand.
    pub fn place(&self) -> Row {
        Row {
            experiment: format!("{}{}", self.id, self.changed),
            result_version: orrery_results::RESULT_VERSION,
            ..Row::default()
        }
    }

    /// Sets keys in every cell; `words` says which, in the title and in every row.
    ///
    /// # Errors
    /// When the experiment itself varies one of them.
    pub fn change(&mut self, keys: &[(String, Value)], words: &str) -> Result<(), SpecError> {
        for (key, value) in keys {
            let sets = |set: &BTreeMap<String, Value>| set.contains_key(key);
            let of_axis = |a: &Axis| {
                a.key == *key || a.keys.contains(key) || a.point.iter().any(|p| sets(&p.set))
            };
            let is_varied = self.axis.iter().any(of_axis)
                || self.point.iter().any(|p| sets(&p.set))
                || self.system.iter().any(|s| sets(&s.set));
            if is_varied {
                let allowed = "a key that no axis, point or system of the experiment sets";
                let remedy = "run one of its values with `--case`, or write a file of your own that `extends` it";
                return Err(SpecError::value(format!("--set {key}"), "given", allowed, remedy));
            }
            self.frame.set.insert(key.clone(), value.clone());
        }
        if !keys.is_empty() {
            self.changed = format!(" with {words}");
            self.frame.title = format!("{}, with {words}", self.title);
        }
        Ok(())
    }

    /// The folder that its files are looked for in.
    pub fn folder(&self) -> &Path {
        Path::new(&self.origin.path).parent().unwrap_or(Path::new(""))
    }

    /// Why an option does not apply. What is refused for `--until-ci` is refused for `--max-seeds`.
    pub fn refused(&self, option: CliOption) -> Option<Refused> {
        match option {
            CliOption::MaxSeeds => self.kind.refused(CliOption::UntilCi),
            option => self.kind.refused(option),
        }
    }

    /// What `--case` may name. The rule of an open axis makes others too.
    pub fn cases(&self) -> Vec<String> {
        match self.kind.cases() {
            CasesOf::Axis { name, .. } => {
                let axis = self.axis.iter().filter(|a| a.name == name);
                axis.flat_map(|a| a.values.iter().map(grid::word)).collect()
            }
            CasesOf::Systems => self.system.iter().map(|s| s.name.clone()).collect(),
            CasesOf::Points => self.point.iter().map(|p| p.name.clone()).collect(),
        }
    }

    /// Only these cases.
    ///
    /// # Errors
    /// When there is no such case.
    pub fn keep_cases(&mut self, cases: &[String]) -> Result<(), SpecError> {
        if cases.is_empty() {
            return Ok(());
        }
        let all = self.cases();
        if all.is_empty() {
            let allowed = "nothing: this experiment has no points to choose from";
            let found = format!("`{}`", cases.join("`, `"));
            return Err(SpecError::value("--case", found, allowed, "remove `--case`"));
        }
        let names: Vec<&str> = all.iter().map(String::as_str).collect();
        let of = self.kind.cases();
        if !matches!(of, CasesOf::Axis { open: true, .. }) {
            cases.iter().try_for_each(|case| known("--case", case, &names).map(drop))?;
        }
        match of {
            CasesOf::Axis { name, open } => {
                let asked: Vec<Value> = cases.iter().cloned().map(Value::String).collect();
                let axis = self.axis.iter_mut().find(|a| a.name == name);
                if let Some(axis) = axis {
                    match open {
                        true => axis.values = asked,
                        false => axis.values.retain(|v| asked.contains(v)),
                    }
                }
            }
            CasesOf::Systems => self.system.retain(|s| cases.contains(&s.name)),
            CasesOf::Points => self.point.retain(|p| cases.contains(&p.name)),
        }
        Ok(())
    }

    /// Its cases are the rows of a file: of its own, or of the one that `--paper` names.
    ///
    /// # Errors
    /// When the file cannot be read, or an expression over it is wrong.
    pub(super) fn take_rows(&mut self, paper: Option<&Path>) -> Result<bool, SpecError> {
        let kind = Arc::clone(&self.kind);
        let Some(rows) = kind.rows(self, paper) else { return Ok(false) };
        (self.frame.point, self.frame.paper) = rows?;
        self.frame.withheld.clear();
        self.set_withheld_apart();
        self.cases_from = paper.map(Path::to_path_buf);
        Ok(true)
    }

    /// Numbers that were kept from this project are no numbers.
    pub(super) fn set_withheld_apart(&mut self) {
        let frame = &mut self.frame;
        frame.withheld.extend(frame.paper.extract_if(.., |n| n.is_withheld()));
    }

    /// Fills in what is left out.
    pub(super) fn complete(&mut self) {
        let frame = &mut self.frame;
        frame.axis.iter_mut().for_each(Axis::complete);
        // What the systems of the file that it extends would have to do.
        if self.kind.drops_systems() {
            frame.system.clear();
            frame.compare_to = None;
        }
        frame.compare_to.take_if(|system| system.is_empty());
        let axis = &frame.point_axis;
        for point in frame.point.iter_mut().filter(|p| p.axes.is_empty()) {
            point.axes = format!("{axis}={}", point.name.replace(';', ","));
        }
        let presets = &frame.presets;
        frame.system.retain(|s| presets.is_empty() || presets.contains(&s.preset));
        let main = self.main().to_string();
        let fill = |metric: &mut String| {
            if metric.is_empty() {
                metric.clone_from(&main);
            }
        };
        self.paper.iter_mut().for_each(|p| fill(&mut p.metric));
        self.set_withheld_apart();
        self.claim.iter_mut().for_each(|c| fill(&mut c.metric));
    }
}
