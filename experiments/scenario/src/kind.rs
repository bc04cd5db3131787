//! Kinds of files, told apart by what stands in them: whoever gets a file of another kind says which
//! command it is for.

use crate::whole::read_text;
use orrery_run::SpecError;
use std::path::Path;
use toml::Table;

/// A kind of file.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its name, with its article.
    pub name: &'static str,
    /// What to do with one, `FILE` for its path.
    pub command: &'static str,
}

/// What an emulated or a CUDA device is made to do.
pub const DEVICE: Kind =
    kind("a device's configuration", "orrery-replay run SCENARIO --device-config FILE");

/// A kind with what it is known by.
type Known = (Kind, fn(&Table) -> bool);

const fn kind(name: &'static str, command: &'static str) -> Kind {
    Kind { name, command }
}

/// What `orrery run` takes.
pub const SCENARIO: Kind = kind("a scenario", "orrery run FILE");
/// What `orrery run` takes as well.
pub const JOBS: Kind = kind("a file of jobs", "orrery run FILE");
/// What `orrery run --log` writes of jobs.
pub const JOBS_LOG: Kind = kind("a log of jobs", "orrery log audit FILE");
/// What `orrery run` takes as well.
pub const TOKENS: Kind = kind("a file of tokens", "orrery run FILE");
/// What `orrery run --log` writes of tokens.
pub const TOKENS_LOG: Kind = kind("a log of tokens", "orrery log audit FILE");
/// What `orrery sweep` takes.
pub const SWEEP: Kind = kind("a sweep file", "orrery sweep FILE");
/// What `orrery plan` takes.
pub const PLAN: Kind = kind("a plan file", "orrery plan FILE");
/// What a plan file plans for.
pub const PLANNED: Kind = kind("a scenario to plan for", "orrery plan PLAN");
/// What `orrery reproduce` takes.
pub const EXPERIMENT: Kind = kind("an experiment", "orrery reproduce FILE");
/// What `orrery regress` takes.
pub const BASELINE: Kind = kind("a baseline", "orrery regress FILE");
/// What `orrery-replay validate` takes.
pub const CAMPAIGN: Kind = kind("a campaign", "orrery-replay validate FILE");
/// What `orrery-replay profile` writes.
pub const PROFILE: Kind = kind("a measured profile", "orrery-replay run SCENARIO --profile FILE");
/// What `orrery run --log` writes.
pub const LOG: Kind = kind("a schedule log", "orrery log explain FILE --worst 5");
/// What `orrery plot` takes.
pub const TABLE: Kind = kind("a result table", "orrery plot FILE --out figure.svg");
/// What `orrery trace record` writes.
pub const WORKLOAD: Kind = kind("a workload", "orrery trace inspect FILE");
/// What `orrery sweep` keeps in its folder.
pub const CELLS: Kind = kind("the plan of a sweep's folder", "orrery sweep merge DIR");

/// The first that fits is meant.
const TOML: &[Known] = &[
    (BASELINE, |t| t.contains_key("rerun")),
    (PROFILE, |t| t.contains_key("orrery_profile")),
    (CAMPAIGN, |t| t.contains_key("grid")),
    (EXPERIMENT, |t| has(t, &["show", "extends", "system", "claim", "paper"])),
    (JOBS, |t| has(t, &["jobs"])),
    (TOKENS, |t| has(t, &["tokens"])),
    (PLAN, |t| has(t, &["instance", "pools", "scenario_file"])),
    (SWEEP, |t| t.get("scenario").is_some_and(|s| s.is_str()) || has(t, &["axis", "point"])),
    (SCENARIO, |t| has(t, &["policies", "model", "app", "zoo", "arrivals", "closed_loop"])),
];

fn has(table: &Table, keys: &[&str]) -> bool {
    keys.iter().any(|k| table.contains_key(*k))
}

/// The kind of a file, as far as its text tells.
///
/// ```
/// use orrery_scenario::kind;
///
/// let found = kind::of("policies = [\"fifo\"]\n").unwrap();
/// assert_eq!((found.name, found.command), ("a scenario", "orrery run FILE"));
/// assert!(kind::of("hello").is_none());
/// ```
pub fn of(text: &str) -> Option<Kind> {
    let first = text.lines().next().unwrap_or_default();
    if first.starts_with("orrery-log,") {
        return Some(LOG);
    }
    if first.starts_with("orrery-jobs-log,") {
        return Some(JOBS_LOG);
    }
    if first.starts_with("orrery-tokens-log,") {
        return Some(TOKENS_LOG);
    }
    if first.starts_with('{') && text.contains("\"spec_sha256\"") {
        return Some(CELLS);
    }
    let columns: Vec<&str> = first.split(',').collect();
    let is = |names: &[&str]| names.iter().all(|n| columns.contains(n));
    if is(&["arrival_ns", "app", "model"]) {
        return Some(WORKLOAD);
    }
    let tables = [&["metric", "axes"][..], &["share", "quantity"], &["from_ns", "quantity"]];
    if tables.into_iter().any(is) || is(&["device", "start_ns"]) {
        return Some(TABLE);
    }
    let Ok(table) = text.parse::<Table>() else { return foreign(text) };
    TOML.iter().find(|(_, is)| is(&table)).map(|(kind, _)| *kind)
}

/// Whether a file is one of this kind, as far as it can be read.
pub fn is_of(kind: Kind, path: &Path) -> bool {
    let text = read_text(path).ok();
    text.and_then(|text| of(&text)).is_some_and(|found| found.name == kind.name)
}

/// What another tool wrote.
fn foreign(text: &str) -> Option<Kind> {
    let open = || orrery_traces::Input::from_bytes("", text.as_bytes().to_vec());
    let format = orrery_import::recognise(&orrery_import::File::new("", &open)).ok()??;
    Some(kind(format.title, "orrery import FILE"))
}

/// The error of a file that cannot be read as what was wanted: if it is of another kind, that.
pub fn instead(wanted: Kind, file: &str, text: &str, error: SpecError) -> SpecError {
    match of(text) {
        Some(found) if found.name != wanted.name => found.instead_of(wanted, file),
        _ => error,
    }
}

impl Kind {
    /// The error of a file of this kind where another was wanted.
    pub fn instead_of(self, wanted: Kind, file: &str) -> SpecError {
        let remedy = if self.name == TOKENS.name && [PLAN.name, PLANNED.name].contains(&wanted.name)
        {
            // Batches are no token's world, and one executor is no cluster.
            format!(
                "no capacity is planned with requests that are answered token by token \
                 (docs/tokens.md): `orrery goodput {file}` says which rate the executor sustains"
            )
        } else {
            format!("this file is for `{}`", self.command.replace("FILE", file))
        };
        SpecError::value("FILE", self.name, wanted.name, remedy).in_file(file)
    }
}
