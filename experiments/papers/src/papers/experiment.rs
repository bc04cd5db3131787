//! The one shape of an experiment: a paper's table or figure, or a user's own, as a file.
//!
//! What is run (a scenario, applications, pools, a partition), over which axes and systems, what is
//! measured, the paper's numbers and sentences beside it, and what was assumed. The comments on the
//! fields are what readers see in `docs/experiments.md` and in the JSON Schema.

use super::claims::Claim;
use super::numbers::{Number, NumbersFile};
use crate::cells::applications::Applications;
use crate::cells::goodput::Search;
use crate::cells::grid::{self, Axis, Point, Sample};
use crate::cells::known::known;
use crate::cells::partition::PartitionFile;
use crate::cells::pool::Searching;
use orrery_results::Row;
use orrery_scenario::limits::{SEEDS_MAX, count};
use orrery_scenario::reference::{Reference, Table};
use orrery_scenario::scenario::place::Source;
use orrery_scenario::{PolicySpec, SpecError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toml::Value;

/// An experiment's file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "orrery experiment")]
pub struct Experiment {
    /// Its id; it names files: letters, digits, `-`, `_`, `+`, `.`.
    pub id: String,
    /// One line on what it shows.
    pub title: String,
    /// Paper, table or figure; for your own, what it is about.
    pub source: String,
    /// Seconds that it takes on 2 cores, for `orrery list`.
    #[serde(default)]
    #[schemars(extend("x-default" = "not told"))]
    pub expected_s: u32,
    /// Replications of each cell; `--seeds` replaces it.
    pub seeds: u32,
    /// What is printed, as metrics of the rows; the paper's numbers are of the first, where they do not
    /// say.
    pub show: Vec<String>,
    /// What is run: a scenario file's text, or the path of one (`.toml`) from the experiment's folder.
    #[schemars(extend("x-default" = "one of `scenario`, `applications`, `pool`, `partition`"))]
    pub scenario: Option<String>,
    /// What is run: Orloj's applications of one model, with the axes `case` and `slo_x_p99`.
    pub applications: Option<Applications>,
    /// What is run: Kairos's pools of several instance types, with the axis `model`.
    pub pool: Option<PoolOptions>,
    /// What is run: a partition problem; each seed is a configuration.
    pub partition: Option<PartitionFile>,
    /// With `scenario`: search the peak goodput of each cell, in place of one run.
    pub goodput: Option<Search>,
    /// With `scenario`: rows for so many parts of the time besides those of the whole.
    pub parts_of_time: Option<usize>,
    /// Keys of what is run that are set in every cell: `{ "DOTTED.KEY" = VALUE }`.
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
    /// The axis under which points stand in results.
    #[serde(default = "point_axis")]
    pub point_axis: String,
    /// Only so many of the combinations, drawn at random.
    pub sample: Option<Sample>,
    /// The systems, in the order of the columns.
    #[serde(default)]
    pub system: Vec<System>,
    /// Only systems of these presets; all when it is empty.
    #[serde(default)]
    #[schemars(extend("x-default" = "all"))]
    pub presets: Vec<Preset>,
    /// The system that the others are compared with seed by seed, by paired differences.
    pub compare_to: Option<String>,
    /// The system that the values of the others are divided by, in the text.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    pub relative_to: String,
    /// With `applications`: rows are means over these axes, `mean_finish_rate` and `mean_abs_error`.
    #[serde(default)]
    #[schemars(extend("x-default" = "none"))]
    pub mean_over: Vec<String>,
    /// The paper's numbers.
    #[serde(default)]
    pub paper: Vec<Number>,
    /// The paper's numbers in a CSV file.
    pub paper_csv: Option<NumbersFile>,
    /// The paper's sentences.
    #[serde(default)]
    pub claim: Vec<Claim>,
    /// What the paper leaves open, and what was chosen.
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
    /// Its name in columns, claims and the paper's numbers.
    pub name: String,
    /// Whose settings these are.
    #[serde(default)]
    pub preset: Preset,
    /// The policy with its parameters. With `pool` also `drs-climb`, `drs-scan`, `orcl`, `upper-bound`;
    /// with `partition` a solver.
    pub policy: String,
    /// Only at these points, each as `AXIS=VALUE`; at all when it is empty.
    #[serde(default)]
    #[schemars(extend("x-default" = "all"))]
    pub at: Vec<String>,
    /// With `applications`: the device waits for the host this long for each request of a batch.
    #[serde(default)]
    pub host_ms_per_request: f64,
    /// With `applications`: the marginal batch cost under this system, by model, where it is another.
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
            Preset::Reference => "reference",
        }
    }
}

/// `[pool]`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PoolOptions {
    /// List every pool with its upper bound, in place of systems.
    pub bounds: bool,
}

/// `[figure]`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FigureFile {
    /// How values are drawn.
    #[schemars(extend("x-default" = "`curves` where there is an axis of numbers, else `bars`"))]
    pub kind: Option<FigureKind>,
    /// The metric along y; of `shares`, with `metrics`.
    #[schemars(extend("x-default" = "the first that is shown"))]
    pub metric: Option<String>,
    /// Several metrics, a panel for each; of `shares`, quantiles such as `latency_p99_ns`.
    #[schemars(extend("x-default" = "none"))]
    pub metrics: Vec<String>,
    /// Along x: an axis, `case`, `system`, `metric`, another metric of the same cells, or a parameter of
    /// the policies.
    #[schemars(extend("x-default" = "the only axis with several numbers; of bars, the first axis"))]
    pub x: Option<String>,
    /// Of `heat`, the axis along y.
    pub y: Option<String>,
    /// The axis whose values are curves or bars.
    #[schemars(extend("x-default" = "the systems"))]
    pub series: Option<String>,
    /// The axes that make panels; `system` and `case` may be among them. Values of `heat` that share a
    /// place are shown as their median.
    #[schemars(extend("x-default" = "all axes that differ"))]
    pub panels: Option<Vec<String>>,
    /// Only systems of these presets; the paper's numbers stand beside them.
    #[schemars(extend("x-default" = "`calibrated` where there are any, else all"))]
    pub presets: Vec<Preset>,
    /// Only these systems.
    #[schemars(extend("x-default" = "all"))]
    pub systems: Vec<String>,
    /// Systems that are drawn as a line across the panel.
    #[schemars(extend("x-default" = "none"))]
    pub lines: Vec<String>,
    /// Values that are drawn as a line across the panel: `{ "NAME" = VALUE }`.
    #[schemars(extend("x-default" = "none"))]
    pub levels: BTreeMap<String, f64>,
    /// Values are divided by those of this system at the same place; `""` for none.
    #[schemars(extend("x-default" = "that of the experiment"))]
    pub relative_to: Option<String>,
    /// Only these systems, each divided by another: `{ SYSTEM = "OTHER" }`.
    #[schemars(extend("x-default" = "none"))]
    pub ratios: BTreeMap<String, String>,
    /// Two metrics that are the ends of intervals: `["LOW", "HIGH"]`.
    #[schemars(extend("x-default" = "95 % confidence intervals"))]
    pub interval: Option<[String; 2]>,
    /// The points that get a star: a system, or a metric that is 1 there.
    pub star: Option<String>,
    /// In place of the name of the x axis.
    pub x_label: Option<String>,
    /// In place of the name of the y axis.
    pub y_label: Option<String>,
    /// Spacing along x.
    #[schemars(extend("x-default" = "by the values"))]
    pub x_scale: Option<FigureScale>,
    /// Spacing along y, or of the colours of `heat`.
    #[schemars(extend("x-default" = "by the values"))]
    pub y_scale: Option<FigureScale>,
    /// The ends of the y axis, or of the colours of `heat`.
    #[schemars(extend("x-default" = "by the values"))]
    pub y_range: Option<[f64; 2]>,
    /// Each panel has a y axis of its own.
    pub own_y: bool,
    /// Panels beside each other.
    #[schemars(extend("x-default" = "by their number"))]
    pub columns: Option<usize>,
}

/// How the values of a figure are drawn.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum FigureKind {
    /// Lines with markers over numbers.
    Curves,
    /// Bars over categories; dots where y is logarithmic.
    Bars,
    /// A grid of two axes with colours.
    Heat,
    /// Cumulative shares from quantiles.
    Shares,
}

/// The spacing of a figure's axis.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum FigureScale {
    /// Equal differences are equally far apart.
    Linear,
    /// Equal ratios are equally far apart.
    Log,
    /// The values are equally far apart.
    Even,
}

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
        ("claim", table(&["claim"])),
        ("figure", table(&["figure"])),
        ("goodput", table(&["goodput"])),
        ("load", table(&["applications", "load"])),
        ("arrivals", table(&["applications", "arrivals"])),
        ("latency", table(&["applications", "latency"])),
        ("profile", table(&["applications", "profile"])),
        ("cases", table(&["applications", "cases"])),
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
    /// A run of a scenario over time (`parts_of_time`).
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
}

impl Experiment {
    /// What is run.
    pub fn kind(&self) -> Kind {
        match self {
            Experiment { applications: Some(_), mean_over, .. } if mean_over.is_empty() => {
                Kind::Applications
            }
            Experiment { applications: Some(_), .. } => Kind::Means,
            Experiment { pool: Some(p), .. } if p.bounds => Kind::Bounds,
            Experiment { pool: Some(_), .. } => Kind::Pool,
            Experiment { partition: Some(_), .. } => Kind::Partition,
            Experiment { goodput: Some(_), .. } => Kind::Search,
            Experiment { parts_of_time: Some(_), .. } => Kind::OverTime,
            _ => Kind::Scenario,
        }
    }

    /// The metric that it is about: the first that it shows.
    pub fn main(&self) -> &str {
        self.show.first().map_or("finish_rate", String::as_str)
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
            Kind::Applications | Kind::Means => Some("case"),
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
            return Err(SpecError::value("--case", found, allowed, "leave `--case` out"));
        }
        let names: Vec<&str> = all.iter().map(String::as_str).collect();
        // The rule of applications makes cases that the paper does not have.
        if !matches!(self.kind(), Kind::Applications | Kind::Means) {
            cases.iter().try_for_each(|case| known("--case", case, &names))?;
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

    /// Whether its values make sense; what is run is checked by its runner.
    pub(super) fn check(&self) -> Result<(), SpecError> {
        let none =
            |key: &str, remedy: &str| Err(SpecError::value(key, "nothing", "at least one", remedy));
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_+.".contains(c);
        if !self.id.chars().all(plain) || self.id.starts_with('.') || self.id.is_empty() {
            let allowed = "letters, digits, `-`, `_`, `+` and `.`: it names files";
            return Err(SpecError::value("id", &self.id, allowed, "choose another id"));
        }
        if self.show.is_empty() {
            return none("show", "name a metric of the rows, such as `finish_rate`");
        }
        count("seeds", self.seeds.into(), 1, SEEDS_MAX)?;
        self.check_kind()?;
        for (i, axis) in self.axis.iter().enumerate() {
            if axis.values.is_empty() {
                return none(&format!("axis[{i}].values"), "add one");
            }
        }
        grid::check(&self.point, &self.axis)?;
        if self.system.is_empty() && self.kind() != Kind::Bounds {
            return none("system", "add a `[[system]]` with `name` and `policy`");
        }
        self.check_names()
    }

    /// One thing is run, and no key is of another kind.
    fn check_kind(&self) -> Result<(), SpecError> {
        let kinds = [
            ("scenario", self.scenario.is_some()),
            ("applications", self.applications.is_some()),
            ("pool", self.pool.is_some()),
            ("partition", self.partition.is_some()),
        ];
        let given: Vec<&str> = kinds.iter().filter(|k| k.1).map(|k| k.0).collect();
        let [one] = given[..] else {
            let (found, key) = match given.as_slice() {
                [] => ("nothing to run".to_string(), "scenario"),
                [_, second, ..] => (format!("`{}`", given.join("`, `")), *second),
                [one] => (String::new(), *one),
            };
            let allowed = "one of `scenario`, `applications`, `pool`, `partition`";
            return Err(SpecError::value(key, found, allowed, "say one thing that is run"));
        };
        let foreign = |key: String, of: &str| {
            let allowed = format!("only with `{of}`; here is `{one}`");
            Err(SpecError::value(key, "a key of another kind", allowed, "remove it"))
        };
        if one != "scenario" && self.goodput.is_some() {
            return foreign("goodput".into(), "scenario");
        }
        if one != "scenario" && self.parts_of_time.is_some() {
            return foreign("parts_of_time".into(), "scenario");
        }
        if one != "applications" && !self.mean_over.is_empty() {
            return foreign("mean_over".into(), "applications");
        }
        for (i, s) in self.system.iter().enumerate() {
            let key = |part: &str| format!("system[{i}].{part}");
            if ["scenario", "applications"].contains(&one) {
                PolicySpec::parse(&s.policy).map_err(|e| e.at(key("policy")))?;
            }
            if one != "applications" && s.host_ms_per_request != 0.0 {
                return foreign(key("host_ms_per_request"), "applications");
            }
            if one != "applications" && !s.c1_of.is_empty() {
                return foreign(key("c1_of"), "applications");
            }
            if one != "pool" && s.pool.is_some() {
                return foreign(key("pool"), "pool");
            }
            if one != "pool" && s.search.is_some() {
                return foreign(key("search"), "pool");
            }
        }
        Ok(())
    }

    /// Names that refer to systems do, and each system is named once with a preset.
    fn check_names(&self) -> Result<(), SpecError> {
        let mut names: Vec<&str> = Vec::new();
        for (i, s) in self.system.iter().enumerate() {
            let same = |o: &&System| o.name == s.name && o.preset == s.preset && o.at == s.at;
            if self.system[..i].iter().any(|o| same(&o)) {
                let (key, found) = (format!("system[{i}].name"), format!("`{}` twice", s.name));
                let remedy = "give each system a name or a preset of its own";
                return Err(SpecError::value(key, found, "each name once", remedy));
            }
            names.push(&s.name);
        }
        let of = |key: String, name: &str| {
            let name = name.split('/').next().unwrap_or_default();
            if name.is_empty() { Ok(()) } else { known(&key, name, &names) }
        };
        if self.kind() == Kind::Bounds {
            return Ok(());
        }
        for (i, p) in self.paper.iter().enumerate() {
            of(format!("paper[{i}].system"), &p.system)?;
        }
        for (i, c) in self.claim.iter().enumerate() {
            let key = |part: &str| format!("claim[{i}].{part}");
            of(key("of"), &c.of)?;
            of(key("over"), &c.over)?;
            of(key("relative_to"), &c.relative_to)?;
            c.check().map_err(|e| e.at(key("at_least")))?;
        }
        for (i, s) in self.system.iter().enumerate() {
            if let Some(search) = &s.search {
                of(format!("system[{i}].search.until"), &search.until)?;
            }
        }
        of("relative_to".into(), &self.relative_to)?;
        of("compare_to".into(), self.compare_to.as_deref().unwrap_or_default())
    }
}
