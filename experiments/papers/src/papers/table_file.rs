//! Table files: one declarative file for each of a paper's tables.
//!
//! A file may extend another one; tables are merged key by key, arrays replaced. Unknown keys are
//! errors. It knows what a table assumes, not how it is run.

use orrery_scenario::error::nearest;
use orrery_scenario::kind;
use orrery_scenario::limits::{SEEDS_MAX, count};
use orrery_scenario::scenario::place::Source;
use orrery_scenario::{PolicySpec, SpecError, read_text};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toml::Value;

/// A table's file.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct TableFile {
    /// The table's id on the command line.
    pub id: String,
    /// One line on what it shows.
    pub title: String,
    /// Paper and table.
    pub source: String,
    /// The number under which the paper's figures are shipped.
    pub paper_table: u32,
    /// SLOs, as multiples of P99.
    pub slo_x_p99: Vec<f64>,
    /// Replications.
    pub seeds: u32,
    /// Seconds that a run takes on 2 cores, for `orrery list`.
    pub expected_s: u32,
    /// The offered load.
    pub load: Load,
    /// The arrivals.
    pub arrivals: Arrivals,
    /// The true latency of a batch.
    pub latency: LatencyLaw,
    /// What policies are told.
    pub profile: Profile,
    /// The applications.
    pub cases: Cases,
    /// The systems, in the order of the columns.
    pub system: Vec<System>,
    /// For a sensitivity table: what is changed, one at a time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vary: Vec<Vary>,
    /// The file's text, for the lines of messages.
    #[serde(skip)]
    pub origin: Source,
}

/// What the load is.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Arrival rate times the execution time named by `of`.
    pub offered: f64,
    /// Which execution time normalises it.
    pub of: Normalise,
    /// Requests of a run.
    pub requests: u64,
    /// Share of the run whose arrivals do not count.
    pub warm_up: f64,
    /// Whose P99 the SLO is a multiple of.
    pub p99: P99,
}

/// Which execution time the load is normalised by.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Normalise {
    /// The mean, alone.
    Mean,
    /// The 99th percentile, alone.
    P99,
}

/// Whose P99 the SLO is a multiple of.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum P99 {
    /// The law's.
    Law,
    /// That of the execution times drawn in the run.
    Draw,
}

/// Where arrivals come from.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Arrivals {
    /// A shipped Azure 2019 sample, or `poisson`, `constant`, `gamma:SHAPE`.
    pub trace: String,
    /// Label of the first minute taken.
    pub first_minute: u32,
    /// Minutes taken, at most.
    pub minutes: u32,
    /// `all`, `without-top:N`, `ranks:A-B` or `trigger:NAME`.
    pub functions: String,
    /// `poisson` or `even`.
    pub inside: Inside,
}

/// How arrivals lie within a minute.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Inside {
    /// A Poisson process.
    Poisson,
    /// Evenly spaced.
    Even,
}

/// The true latency of a batch.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct LatencyLaw {
    /// `proportional` or `eq3`.
    pub law: LawName,
    /// Marginal cost of an item.
    pub c1: f64,
    /// Constant cost of a batch under `eq3`, as a share of the case's mean execution time.
    #[serde(default)]
    pub c0_share_of_mean: f64,
}

/// The law's form.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum LawName {
    /// (1 - c1 + c1 k) max l.
    Proportional,
    /// c0 + c1 k max l, as the paper prints it.
    Eq3,
}

/// What policies are told.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Batch sizes that exist.
    pub sizes: Vec<u32>,
    /// Batches measured for each size.
    pub batches: u32,
    /// Bins of a histogram.
    pub bins: usize,
}

/// The applications of every case, by rule.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Cases {
    /// Which rule makes a case from its name.
    pub family: Family,
    /// The table's rows.
    pub names: Vec<String>,
    /// Milliseconds of a unit of the synthetic cases.
    pub unit_ms: f64,
    /// Units between modes.
    pub spacing_units: f64,
    /// Standard deviation of a mode, units.
    pub sd_units: f64,
    /// Where the one-modal case is.
    pub single_at_units: f64,
    /// Share of the narrow peak of unequal peaks.
    pub narrow_share: f64,
    /// Share of the short group of a real task.
    pub short_share: f64,
    /// sd / mean of its groups, at most.
    pub sd_cap: f64,
    /// sd / mean of its groups, per (P99 / mean - 1).
    pub sd_slope: f64,
    /// The model of the synthetic cases.
    pub synthetic_model: String,
    /// Execution times of the static models.
    pub static_ms: BTreeMap<String, f64>,
}

/// The rules that make cases.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// `two-modal`: modes evenly spaced.
    Modes,
    /// `std-A` or `std-A/B`: two modes of these widths.
    Widths,
    /// `model-dataset`: a real task by mean and P99.
    Tasks,
    /// `model-dataset`: a constant.
    Static,
}

/// Whose settings a system has.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
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
            Preset::Released => "released",
            Preset::Paper => "paper",
            Preset::Calibrated => "calibrated",
            Preset::Reference => "reference",
        }
    }
}

/// A column of the table.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// The system's name; the paper's column of that name stands beside it.
    pub name: String,
    /// Whose settings these are.
    pub preset: Preset,
    /// The policy with its parameters.
    pub policy: String,
    /// The device waits for the host this long for each request of a batch.
    #[serde(default)]
    pub host_ms_per_request: f64,
    /// Marginal batch cost under this system, by model, where it is not the table's.
    #[serde(default)]
    pub c1_of: BTreeMap<String, f64>,
}

/// One change of a sensitivity table.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Vary {
    /// What is changed, as printed.
    pub name: String,
    /// Dotted keys and their values; `system.NAME.KEY` names a calibrated system.
    pub set: BTreeMap<String, Value>,
}

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../tables/", $name, ".toml")))),*]
    };
}

/// The files that are shipped, bases included.
const FILES: &[(&str, &str)] = shipped![
    "orloj",
    "orloj-table-2",
    "orloj-table-3",
    "orloj-table-3-sensitivity",
    "orloj-table-4",
    "orloj-table-5",
];

impl TableFile {
    /// The ids of the shipped tables.
    pub fn ids() -> impl Iterator<Item = &'static str> {
        FILES.iter().map(|f| f.0).filter(|id| id.contains("-table-"))
    }

    /// A shipped table, or one in a file (recognised by its `.toml`).
    ///
    /// # Errors
    /// When there is none of that id, or the file is wrong.
    pub fn load(id: &str) -> Result<TableFile, SpecError> {
        if id.ends_with(".toml") {
            let text = read_text(id)?;
            return TableFile::from_text(id, &text);
        }
        let Some((_, text)) = FILES.iter().find(|f| f.0 == id && f.0.contains("-table-")) else {
            let known = crate::reproduce::Subject::ids();
            let hint = nearest(id, known.iter().copied());
            let hint = hint.map_or(String::new(), |n| format!("did you mean `{n}`? "));
            return Err(SpecError::value(
                "ID",
                id,
                known.join(", "),
                format!("{hint}see `orrery list`"),
            ));
        };
        TableFile::from_text(&format!("{id}.toml"), text)
    }

    /// A table from a file's text.
    ///
    /// # Errors
    /// When the text is no TOML, a key is unknown or missing, or a value is out of range.
    pub fn from_text(name: &str, text: &str) -> Result<TableFile, SpecError> {
        let wrong = |e: SpecError| kind::instead(kind::EXPERIMENT, name, text, e);
        let value = merged(name, text, 0).map_err(wrong)?;
        let mut table = TableFile::from_value(name, value).map_err(wrong)?;
        table.origin = Source::new(name, text);
        table.check().map_err(|e| table.origin.placed(e))?;
        Ok(table)
    }

    fn from_value(name: &str, value: Value) -> Result<TableFile, SpecError> {
        value.try_into().map_err(|e: toml::de::Error| parse_error(name, &e))
    }

    /// This table with one change made.
    ///
    /// # Errors
    /// When the change names no key of the table, or the result is wrong.
    pub fn with(&self, vary: &Vary) -> Result<TableFile, SpecError> {
        let mut value = Value::try_from(self)
            .map_err(|e| SpecError::Parse { file: self.id.clone(), message: e.to_string() })?;
        for (key, new) in &vary.set {
            set(&mut value, key, new.clone()).ok_or_else(|| {
                let allowed = "a key of the table";
                let error = SpecError::value("vary", key, allowed, "correct the dotted key");
                self.origin.placed(error.at(format!("vary.set.{key}")))
            })?;
        }
        let name = format!("{} with {}", self.origin.path, vary.name);
        let mut table = TableFile::from_value(&name, value)?;
        table.origin = self.origin.clone();
        table.check().map_err(|e| table.origin.placed(e))?;
        Ok(table)
    }

    /// Whether its values make sense.
    ///
    /// # Errors
    /// Names the key, what was found and what is allowed.
    pub fn check(&self) -> Result<(), SpecError> {
        let within = |key: &str, x: f64, low: f64, high: f64| {
            if x >= low && x <= high {
                return Ok(());
            }
            let allowed = format!("a number from {low} to {high}");
            Err(SpecError::value(key, x, allowed, format!("correct `{key}`")))
        };
        within("load.offered", self.load.offered, 1e-6, 1e3)?;
        within("load.warm_up", self.load.warm_up, 0.0, 0.9)?;
        within("load.requests", self.load.requests as f64, 1.0, 1e10)?;
        within("latency.c1", self.latency.c1, 1e-9, 10.0)?;
        within("latency.c0_share_of_mean", self.latency.c0_share_of_mean, 0.0, 10.0)?;
        count("seeds", self.seeds.into(), 1, SEEDS_MAX)?;
        within("arrivals.first_minute", f64::from(self.arrivals.first_minute), 0.0, 1e6)?;
        within("arrivals.minutes", f64::from(self.arrivals.minutes), 1.0, 1e6)?;
        let c = &self.cases;
        within("cases.unit_ms", c.unit_ms, 1e-6, 1e6)?;
        within("cases.spacing_units", c.spacing_units, 0.0, 1e6)?;
        within("cases.sd_units", c.sd_units, 0.0, 1e6)?;
        within("cases.single_at_units", c.single_at_units, 1e-6, 1e6)?;
        within("cases.narrow_share", c.narrow_share, 1e-6, 1.0 - 1e-6)?;
        within("cases.short_share", c.short_share, 1e-6, 1.0 - 1e-6)?;
        for (i, s) in self.system.iter().enumerate() {
            within(&format!("system[{i}].host_ms_per_request"), s.host_ms_per_request, 0.0, 1e6)?;
            for (model, c1) in &s.c1_of {
                within(&format!("system[{i}].c1_of.{model}"), *c1, 1e-9, 10.0)?;
            }
            let named = |message: String| {
                let key = format!("system[{i}].policy");
                SpecError::value(key, &s.policy, "a policy that exists", message)
            };
            PolicySpec::parse(&s.policy).map_err(|e| named(e.to_string()))?;
        }
        within("profile.batches", f64::from(self.profile.batches), 1.0, 1e6)?;
        within("profile.bins", self.profile.bins as f64, 1.0, 1e5)?;
        for x in &self.slo_x_p99 {
            within("slo_x_p99", *x, 1e-3, 1e6)?;
        }
        for (key, empty) in [
            ("slo_x_p99", self.slo_x_p99.is_empty()),
            ("cases.names", self.cases.names.is_empty()),
            ("system", self.system.is_empty()),
            ("profile.sizes", self.profile.sizes.is_empty()),
        ] {
            if empty {
                return Err(SpecError::value(key, "nothing", "at least one", "add one"));
            }
        }
        let sizes = &self.profile.sizes;
        if !sizes.is_sorted_by(|a, b| a < b) || sizes[0] != 1 || sizes.len() > 24 {
            let (found, allowed) = (format!("{sizes:?}"), "growing sizes, the first 1, at most 24");
            return Err(SpecError::value("profile.sizes", found, allowed, "correct the list"));
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_+.".contains(c);
        if !self.id.chars().all(plain) || self.id.starts_with('.') || self.id.is_empty() {
            let allowed = "letters, digits, `-`, `_`, `+` and `.`: it names files";
            return Err(SpecError::value("id", &self.id, allowed, "choose another id"));
        }
        Ok(())
    }
}

fn parse_error(name: &str, e: &toml::de::Error) -> SpecError {
    SpecError::Parse { file: name.to_string(), message: e.to_string().trim_end().to_string() }
}

/// The text's value over that of the file it extends.
fn merged(name: &str, text: &str, depth: u32) -> Result<Value, SpecError> {
    let own: toml::Table = text.parse().map_err(|e| parse_error(name, &e))?;
    let mut own = Value::Table(own);
    let Some(base) = own.as_table_mut().and_then(|t| t.remove("extends")) else { return Ok(own) };
    let base = base.as_str().unwrap_or_default().to_string();
    let Some((file, text)) = FILES.iter().find(|f| f.0 == base).filter(|_| depth < 8) else {
        let known: Vec<&str> = FILES.iter().map(|f| f.0).collect();
        return Err(SpecError::value("extends", base, known.join(", "), "name a shipped file")
            .in_file(name));
    };
    let mut value = merged(&format!("{file}.toml"), text, depth + 1)?;
    overlay(&mut value, own);
    Ok(value)
}

/// Lays one file's keys over another's; tables are merged, all else replaced.
pub fn overlay(base: &mut Value, over: Value) {
    match (base, over) {
        (Value::Table(base), Value::Table(over)) => {
            for (key, value) in over {
                match base.get_mut(&key) {
                    Some(old) => overlay(old, value),
                    None => {
                        base.insert(key, value);
                    }
                }
            }
        }
        (base, over) => *base = over,
    }
}

/// Sets a dotted key. `system.NAME.KEY` means the calibrated system of that name.
fn set(value: &mut Value, key: &str, new: Value) -> Option<()> {
    if let Some(rest) = key.strip_prefix("system.") {
        let (name, key) = rest.split_once('.')?;
        let systems = value.get_mut("system")?.as_array_mut()?;
        let is = |s: &&mut Value| {
            s.get("name").and_then(Value::as_str) == Some(name)
                && s.get("preset").and_then(Value::as_str) == Some("calibrated")
        };
        let system = systems.iter_mut().find(is)?.as_table_mut()?;
        system.insert(key.to_string(), new);
        return Some(());
    }
    let mut place = value;
    for part in key.split('.') {
        place = place.get_mut(part)?;
    }
    *place = new;
    Some(())
}
