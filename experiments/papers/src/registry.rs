//! The one registry of experiments: what is shipped, by paper; and how a file becomes an experiment.
//!
//! A file may extend a shipped one: tables are merged key by key, all else is replaced. One that lists
//! other systems takes over none of the keys that name systems.

use super::experiment::Experiment;
use orrery_scenario::error::nearest;
use orrery_scenario::scenario::place::Source;
use orrery_scenario::{SpecError, kind, read_text};
use std::path::Path;
use toml::Value;

/// A file that is shipped.
struct File {
    paper: &'static str,
    id: &'static str,
    text: &'static str,
}

macro_rules! shipped {
    ($($paper:literal: $($id:literal),*;)*) => {
        &[$($(File {
            paper: $paper,
            id: $id,
            text: include_str!(concat!("../files/", $paper, "/", $id, ".toml")),
        }),*),*]
    };
}

/// In the order of `orrery list`.
const FILES: &[File] = shipped! {
    "orloj":
        "orloj-table-2", "orloj-table-3", "orloj-table-3-sensitivity", "orloj-table-4",
        "orloj-table-5", "orloj-table-3-readings", "orloj-table-5-readings", "orloj-generality",
        "orloj-fig-2", "orloj-laws", "orloj-fig-5", "orloj-fig-6", "orloj-fig-11", "orloj-fig-12", "orloj-shares", "orloj-drift", "orloj-bins";
    "symphony":
        "symphony-table-2", "symphony-fig-1", "symphony-fig-2", "symphony-fig-6a",
        "symphony-fig-6b", "symphony-fig-7", "symphony-fig-7-sample", "symphony-fig-7-mixed",
        "symphony-fig-9", "symphony-fig-10", "symphony-fig-11", "symphony-fig-12",
        "symphony-fig-13-right", "symphony-fig-14", "symphony-fig-15", "symphony-fig-16";
    "clockwork":
        "clockwork-fig-5", "clockwork-fig-5-sensitivity", "clockwork-fig-6", "clockwork-fig-6-quick",
        "clockwork-fig-7", "clockwork-fig-7-steps", "clockwork-fig-8", "clockwork-fig-9",
        "clockwork-fig-9-quick", "clockwork-fig-10", "clockwork-fig-11";
    "kairos":
        "kairos-upper-bounds", "kairos-upper-bounds-samples", "kairos-fig-1", "kairos-fig-2",
        "kairos-fig-3", "kairos-fig-8", "kairos-fig-8-sensitivity", "kairos-fig-9",
        "kairos-fig-10", "kairos-fig-11", "kairos-fig-12", "kairos-fig-13", "kairos-fig-14",
        "kairos-fig-15", "kairos-fig-16";
    "alpaserve":
        "alpaserve-v100", "alpaserve-v100-sensitivity";
    "salus":
        "salus-table-2-1", "salus-table-2-1-sensitivity", "salus-fig-2-9", "salus-fig-2-10",
        "salus-fig-2-11";
    "fluid": "fluid-fig-3-5", "fluid-table-3-2", "fluid-theorem-1";
};

/// What several files extend and nobody runs.
const BASES: &[File] = shipped! { "orloj": "orloj"; };

/// Files of numbers that experiments name: shipped ones, by their name.
const NUMBERS: &[(&str, &str)] = &[
    ("orloj_finish_rates.csv", include_str!("../data/orloj_finish_rates.csv")),
    ("alpaserve_v100.csv", include_str!("../data/alpaserve_v100.csv")),
];

/// Keys of the shapes that files had before there was one, and what stands for them now.
const FORMER: [(&str, &str); 14] = [
    ("paper_table", "`paper_csv = { file = \"...\", where = \"table=N\" }`"),
    ("slo_x_p99", "an `[[axis]]` with `key = \"slo_x_p99\"`"),
    ("cases", "`[applications.cases]`, and an `[[axis]]` with `key = \"case\"` for its `names`"),
    ("load", "`[applications.load]`"),
    ("arrivals", "`[applications.arrivals]`"),
    ("latency", "`[applications.latency]`"),
    ("profile", "`[applications.profile]`"),
    ("vary", "`[[point]]`, with `point_axis = \"changed\"` and `mean_over`"),
    ("models", "an `[[axis]]` with `key = \"model\"`, and `[pool]`"),
    ("conditions", "`[set]`"),
    ("column", "`[[system]]`, with `policy` for `scheme`"),
    ("setting", "`[[point]]`, with `point_axis = \"setting\"`"),
    ("configurations", "`seeds`"),
    ("problem", "`[partition]`"),
];

/// Keys that name systems.
const NAMING: [&str; 4] = ["compare_to", "relative_to", "claim", "paper"];

/// The ids of all that is shipped, in the order of `orrery list`.
pub fn ids() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|f| f.id)
}

/// The papers, each with its experiments, in the order of `orrery list`.
pub fn by_paper() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for f in FILES {
        match all.iter_mut().find(|(paper, _)| *paper == f.paper) {
            Some((_, ids)) => ids.push(f.id),
            None => all.push((f.paper, vec![f.id])),
        }
    }
    all
}

/// The text of a shipped file of numbers.
pub fn numbers(name: &str) -> Option<&'static str> {
    NUMBERS.iter().find(|n| n.0 == name).map(|n| n.1)
}

/// The experiment of a shipped id, or that in a file (recognised by its `.toml`).
///
/// # Errors
/// When there is none, with the nearest of all; or the file is wrong.
pub fn find(id: &str) -> Result<Experiment, SpecError> {
    if id.ends_with(".toml") {
        return from_text(id, &read_text(id)?);
    }
    let file = FILES.iter().find(|f| f.id == id).ok_or_else(|| unknown("ID", id, "see"))?;
    from_text(&format!("{id}.toml"), file.text)
}

fn unknown(key: &str, id: &str, verb: &str) -> SpecError {
    let near = nearest(id, ids());
    let hint = near.map_or(String::new(), |n| format!("did you mean `{n}`? "));
    let allowed = ids().collect::<Vec<_>>().join(", ");
    SpecError::value(key, format!("`{id}`"), allowed, format!("{hint}{verb} `orrery list`"))
}

/// An experiment from a file's text; `name` is its path, for messages and for files that it names.
///
/// # Errors
/// When the text is no TOML, a key is unknown or missing, or a value is wrong.
pub fn from_text(name: &str, text: &str) -> Result<Experiment, SpecError> {
    let wrong = |e: SpecError| kind::instead(kind::EXPERIMENT, name, text, e);
    if let Some(other) = kind::of(text).filter(|k| k.name != kind::EXPERIMENT.name) {
        return Err(other.instead_of(kind::EXPERIMENT, name));
    }
    let origin = Source::new(name, text);
    let own = table(name, text).map_err(wrong)?;
    if let Some(e) = former(&own) {
        return Err(origin.placed(e));
    }
    let (value, scenario_in) = merged(&origin, own, 0).map_err(wrong)?;
    let parse = |e: toml::de::Error| SpecError::Parse {
        file: name.to_string(),
        message: format!("{}\n  the keys are in docs/experiments.md", e.to_string().trim_end()),
    };
    let resolved = Some(value.clone());
    let mut experiment: Experiment = value.try_into().map_err(parse).map_err(wrong)?;
    experiment.resolved = resolved;
    (experiment.origin, experiment.scenario_in) = (origin, scenario_in);
    experiment.complete();
    experiment.check().map_err(|e| experiment.origin.placed(e))?;
    Ok(experiment)
}

fn table(name: &str, text: &str) -> Result<Value, SpecError> {
    let parse = |e: toml::de::Error| SpecError::Parse {
        file: name.to_string(),
        message: e.to_string().trim_end().to_string(),
    };
    text.parse::<toml::Table>().map(Value::Table).map_err(parse)
}

/// A file of a former shape says what has changed.
fn former(own: &Value) -> Option<SpecError> {
    let is = |(key, _): &&(&str, &str)| own.get(*key).is_some();
    let (key, now) = FORMER.iter().find(is)?;
    let found = "a key of a former shape";
    let remedy = format!("write {now}; docs/experiments.md has an example");
    Some(SpecError::value(*key, found, "the keys of an experiment", remedy))
}

/// A file's value over that of the file that it extends, and where the scenario's text stands.
fn merged(source: &Source, mut own: Value, depth: u32) -> Result<(Value, Source), SpecError> {
    let base = own.as_table_mut().and_then(|t| t.remove("extends"));
    let Some(base) = base else { return Ok((own, source.clone())) };
    let found = base.as_str().map_or_else(|| base.to_string(), str::to_string);
    let id = found.as_str();
    let file = FILES.iter().chain(BASES).find(|f| f.id == id).filter(|_| depth < 8);
    let file = file.ok_or_else(|| source.placed(unknown("extends", id, "name one of")))?;
    let path = format!("{id}.toml");
    let of_base = table(&path, file.text)?;
    let (mut value, scenario_in) = merged(&Source::new(path, file.text), of_base, depth + 1)?;
    let scenario_in = if own.get("scenario").is_some() { source.clone() } else { scenario_in };
    // Whoever lists other systems takes over nothing that names those of the base.
    if let (Some(base), Some(_)) = (value.as_table_mut(), own.get("system")) {
        NAMING.iter().for_each(|key| _ = base.remove(*key));
    }
    overlay(&mut value, own);
    Ok((value, scenario_in))
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

/// The folder that an experiment's files are looked for in.
pub fn folder(experiment: &Experiment) -> &Path {
    Path::new(&experiment.origin.path).parent().unwrap_or(Path::new(""))
}
