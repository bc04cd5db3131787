//! The one shape of an experiment: a paper's table or figure, or a user's own, as a file.
//!
//! What is run (a scenario, applications, pools, a partition), over which axes and systems, what is
//! measured, the paper's numbers and sentences beside it, and what was assumed. The comments on the
//! fields are what readers see in `docs/experiments.md` and in the JSON Schema.

mod check;
mod errors;
mod figure;

pub use errors::ErrorsFile;
pub use figure::{FigureFile, FigureKind, FigureScale};

use super::claims::Claim;
use super::numbers::{Number, NumbersFile};
use orrery_cells::applications::Applications;
use orrery_cells::arithmetic::laws::LawsFile;
use orrery_cells::arithmetic::score::ScoreFile;
use orrery_cells::goodput::Search;
use orrery_cells::grid::{self, Axis, Point, Sample};
use orrery_cells::partition::PartitionFile;
use orrery_cells::pool::Searching;
use orrery_results::{Row, metric};
use orrery_scenario::SpecError;
use orrery_scenario::error::known;
use orrery_scenario::jobs::Jobs;
use orrery_scenario::reference::{Reference, Table};
use orrery_scenario::scenario::place::Source;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toml::Value;

/// An experiment's file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "orrery experiment")]
pub struct Experiment {
    /// Its id, used in file names: letters, digits, `-`, `_`, `+`, `.`.
    pub id: String,
    /// One line that says what it shows.
    pub title: String,
    /// The paper's table or figure; for your own experiment, any text.
    pub source: String,
    /// Its running time on 2 cores, shown by `orrery list`.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    pub expected_s: u32,
    /// Number of replications of each cell; `--seeds` replaces it.
    pub seeds: u32,
    /// The metrics to print; a number of the paper without a metric belongs to the first.
    pub show: Vec<String>,
    /// What is run: a scenario file's text, or the path of one (`.toml`) from the experiment's folder.
    #[schemars(extend("x-default" = "one of `scenario`, `applications`, `pool`, `partition`, `score`, `jobs`"))]
    pub scenario: Option<String>,
    /// What is run: Orloj's applications of one model, with the axes `case` and `slo_x_p99`.
    pub applications: Option<Applications>,
    /// What is run: Kairos's pools of several instance types, with the axis `model`.
    pub pool: Option<PoolOptions>,
    /// What is run: a partition problem; each seed is a configuration.
    pub partition: Option<PartitionFile>,
    /// What is run: jobs that share a GPU or workers; axes set its keys.
    pub jobs: Option<Jobs>,
    /// What is computed: a toy example of Orloj's scores, without a run.
    pub score: Option<ScoreFile>,
    /// With `applications`: the laws of execution times of its cases, in place of runs.
    pub laws: Option<LawsFile>,
    /// With `scenario`: search the peak goodput of each cell, in place of one run.
    pub goodput: Option<Search>,
    /// With `scenario`: also make rows for this many equal parts of the time.
    pub parts_of_time: Option<usize>,
    /// With `scenario`: rows for each part of the time of this length, and for each `group` of
    /// applications, in place of `parts_of_time`; and the errors of a policy's own predictions. A last
    /// part of less than a twentieth of it is left out. With `jobs`: what each job ran on.
    pub bin_s: Option<f64>,
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
    /// With `applications`: rows are means over these axes, `mean_finish_rate` and `mean_abs_error`.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    pub mean_over: Vec<String>,
    /// With `mean_over`: also the error of each case of the paper under what is best for all others.
    pub leave_one_out: Option<LeaveOneOut>,
    /// With `applications` and `compare_to`: the paper's claim about the mean improvement of that system; it is
    /// printed with our means and the paper's.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    pub improvement_claim: String,
    /// The paper's numbers.
    #[serde(default)]
    pub paper: Vec<Number>,
    /// The paper's numbers in a CSV file.
    pub paper_csv: Option<NumbersFile>,
    /// How the errors against these numbers are printed.
    pub errors: Option<ErrorsFile>,
    /// The paper's sentences.
    #[serde(default)]
    pub claim: Vec<Claim>,
    /// What the paper does not specify, and what this file chose.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    pub assumption: Vec<String>,
    /// The figure that `--plot` draws.
    pub figure: Option<FigureFile>,
    /// All keys, those of the file that it extends included.
    #[serde(skip)]
    pub resolved: Option<Value>,
    /// The file's text, for the lines of messages.
    #[serde(skip)]
    pub origin: Source,
    /// The file that the scenario's text stands in: this one, or the one that it extends.
    #[serde(skip)]
    pub scenario_in: Source,
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
    /// with `partition` a solver; with `jobs` a policy of jobs.
    pub policy: String,
    /// Run only at these points, each as `AXIS=VALUE`; at all if empty.
    #[serde(default)]
    #[schemars(extend("x-default" = "all"))]
    pub at: Vec<String>,
    /// With `scenario`: keys set for this system alone: `{ "DOTTED.KEY" = VALUE }`.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    #[schemars(extend("x-default" = "none"))]
    pub set: BTreeMap<String, Value>,
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

/// `[pool]`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PoolOptions {
    /// List every pool with its upper bound, instead of running systems.
    pub bounds: bool,
}

/// `[leave_one_out]`: every combination of the axes (but `case` and `slo_x_p99`) is a configuration. For each
/// case, the one with the smallest mean error over all other cases and all systems is taken.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LeaveOneOut {
    /// Axes that change one system alone each: a system takes its own best value of them.
    #[schemars(extend("x-default" = "none"))]
    pub own: Vec<String>,
}

/// The name that laws of execution times go by where systems have theirs.
pub const LAW: &str = "time alone";

fn point_axis() -> String {
    "point".to_string()
}

/// The tables of `docs/experiments.md`.
pub fn reference() -> Vec<Table> {
    let keys = Reference::of::<Experiment>();
    let table = |path: &[&str]| keys.keys(path, &[]);
    vec![
        ("file", table(&[])),
        ("axis", table(&["axis"])),
        ("point", table(&["point"])),
        ("system", table(&["system"])),
        ("paper", table(&["paper"])),
        ("paper_csv", table(&["paper_csv"])),
        ("errors", table(&["errors"])),
        ("claim", table(&["claim"])),
        ("figure", table(&["figure"])),
        ("goodput", table(&["goodput"])),
        ("load", table(&["applications", "load"])),
        ("arrivals", table(&["applications", "arrivals"])),
        ("latency", table(&["applications", "latency"])),
        ("profile", table(&["applications", "profile"])),
        ("cases", table(&["applications", "cases"])),
        ("laws", table(&["laws"])),
        ("score", table(&["score"])),
        ("score law", table(&["score", "law"])),
        ("score request", table(&["score", "request"])),
        ("leave_one_out", table(&["leave_one_out"])),
        ("pool", table(&["pool"])),
        ("search", table(&["system", "search"])),
        ("partition", table(&["partition"])),
    ]
}

/// What is run: the one thing that differs between kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Cells that are runs of a scenario.
    Scenario,
    /// A run of a scenario over time (`parts_of_time`, `bin_s`).
    OverTime,
    /// Cells that are searches in a scenario (`[goodput]`).
    Search,
    /// Orloj's applications.
    Applications,
    /// The same, as means over axes.
    Means,
    /// Kairos's pools.
    Pool,
    /// Upper bounds of pools: arithmetic, no run.
    Bounds,
    /// Models divided among sub-clusters.
    Partition,
    /// Jobs that share devices.
    Jobs,
    /// Scores of a toy example: arithmetic, no run.
    Score,
    /// Laws of execution times: arithmetic, no run.
    Laws,
}

impl Experiment {
    /// What is run.
    pub fn kind(&self) -> Kind {
        match self {
            Experiment { score: Some(_), .. } => Kind::Score,
            Experiment { applications: Some(_), laws: Some(_), .. } => Kind::Laws,
            Experiment { applications: Some(_), mean_over, .. } if mean_over.is_empty() => {
                Kind::Applications
            }
            Experiment { applications: Some(_), .. } => Kind::Means,
            Experiment { pool: Some(p), .. } if p.bounds => Kind::Bounds,
            Experiment { pool: Some(_), .. } => Kind::Pool,
            Experiment { partition: Some(_), .. } => Kind::Partition,
            Experiment { jobs: Some(_), .. } => Kind::Jobs,
            Experiment { goodput: Some(_), .. } => Kind::Search,
            Experiment { parts_of_time: Some(_), .. } => Kind::OverTime,
            Experiment { bin_s: Some(_), .. } => Kind::OverTime,
            _ => Kind::Scenario,
        }
    }

    /// The metric that it is about: the first that it shows.
    pub fn main(&self) -> &str {
        self.show.first().map_or(metric::FINISH_RATE, String::as_str)
    }

    /// What rows have in common, wherever they stand.
    pub fn place(&self) -> Row {
        Row {
            experiment: self.id.clone(),
            result_version: orrery_results::RESULT_VERSION,
            ..Row::default()
        }
    }

    /// The axis of cases: what `--case` chooses from. Where there is none, `--case` chooses points.
    fn case_axis(&self) -> Option<&'static str> {
        match self.kind() {
            Kind::Applications | Kind::Means | Kind::Laws => Some("case"),
            Kind::Pool | Kind::Bounds => Some("model"),
            _ => None,
        }
    }

    /// What `--case` may name. Applications may be others too: their rule makes them.
    pub fn cases(&self) -> Vec<String> {
        match self.case_axis() {
            Some(name) => {
                let axis = self.axis.iter().filter(|a| a.name == name);
                axis.flat_map(|a| a.values.iter().map(grid::word)).collect()
            }
            None if self.kind() == Kind::Partition => {
                self.system.iter().map(|s| s.name.clone()).collect()
            }
            None => self.point.iter().map(|p| p.name.clone()).collect(),
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
        // The rule of applications makes cases that the paper does not have.
        if !matches!(self.kind(), Kind::Applications | Kind::Means | Kind::Laws) {
            cases.iter().try_for_each(|case| known("--case", case, &names).map(drop))?;
        }
        match self.case_axis() {
            Some(name) => {
                let values = cases.iter().cloned().map(Value::String).collect();
                let axis = self.axis.iter_mut().find(|a| a.name == name);
                if let Some(axis) = axis {
                    let asked: Vec<Value> = values;
                    let in_order = |v: &Value| axis.values.contains(v);
                    axis.values = match asked.iter().all(in_order) && name == "model" {
                        true => axis.values.iter().filter(|v| asked.contains(v)).cloned().collect(),
                        false => asked,
                    };
                }
            }
            None if self.kind() == Kind::Partition => {
                self.system.retain(|s| cases.contains(&s.name));
            }
            None => self.point.retain(|p| cases.contains(&p.name)),
        }
        Ok(())
    }

    /// Fills in what is left out.
    pub(super) fn complete(&mut self) {
        self.axis.iter_mut().for_each(Axis::complete);
        // Nothing is run, so that the systems of the file that it extends have nothing to do.
        if self.kind() == Kind::Laws {
            self.system.clear();
            (self.compare_to, self.improvement_claim) = (None, String::new());
        }
        let axis = &self.point_axis;
        for point in self.point.iter_mut().filter(|p| p.axes.is_empty()) {
            point.axes = format!("{axis}={}", point.name.replace(';', ","));
        }
        let presets = &self.presets;
        self.system.retain(|s| presets.is_empty() || presets.contains(&s.preset));
        let main = self.main().to_string();
        let fill = |metric: &mut String| {
            if metric.is_empty() {
                metric.clone_from(&main);
            }
        };
        self.paper.iter_mut().for_each(|p| fill(&mut p.metric));
        self.claim.iter_mut().for_each(|c| fill(&mut c.metric));
    }
}
