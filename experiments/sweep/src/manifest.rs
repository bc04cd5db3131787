//! From a sweep file to its cells, in one fixed order: points, then axes (the first changes
//! slowest), then policies; and from a line of the manifest back to its cell.
//!
//! ```text
//!  sweep file + scenario ── Lister ──> head, and a line for each cell ── manifest_file ──> DIR/manifest.jsonl
//!                             every scenario set up once                                     │
//!  a run <── ScenarioCell <── Maker: the head's scenario with the line's keys <── one line ──┘
//! ```
//!
//! A line has all that its cell needs besides the head: whoever runs a cell makes no other.

use super::grid::{Combination, combinations};
use super::hash;
use super::notes::say_slow;
use super::replication::Replication;
use super::scenario_cell::{Cell, Inputs, Subject};
use super::seeds::Seeds;
use super::sweep_file::SweepFile;
use crate::goodput::Search;
use orrery_report::threads::pool;
use orrery_results::{RESULT_VERSION, Row, system_of};
use orrery_run::SpecError;
use orrery_scenario::kind;
use orrery_scenario::scenario::Scenario;
use orrery_scenario::tokens::TokensFile;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use toml::Value;

/// How many combinations are made at a time.
const CHUNK: usize = 512;
/// A rule of warm-up that most cells have.
const NO_WARM_UP: &str = "none";

/// What all cells of a manifest have in common: the first line of its file.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
pub struct Head {
    /// `orrery-manifest`.
    pub schema: String,
    /// The version of this form.
    pub schema_version: u32,
    /// The version of the results.
    pub result_version: u32,
    /// The sweep's name.
    pub name: String,
    /// The policy that the others are compared with.
    pub compare_to: String,
    /// Of every cell.
    pub seeds: Seeds,
    /// Where each cell is a search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goodput: Option<Search>,
    /// The sweep's policies; those of the scenario where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<String>,
    /// The keys that are set in every cell, with their values in TOML.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<(String, String)>,
    /// The path of the base scenario as it was given, by which its files are found.
    pub scenario: String,
    /// The text of the base scenario.
    pub scenario_text: String,
    /// The hash of all that the lines follow from, but for the contents of traces: equal definitions
    /// have equal manifests.
    pub definition_sha256: String,
}

/// A cell of a manifest: a line of its file.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
pub struct ListedCell {
    /// The name of its entry: the hash of its specification, whatever the number of seeds.
    pub entry_sha256: String,
    /// As in [`Row::spec_sha256`].
    pub spec_sha256: String,
    /// As in [`Row::axes`].
    pub axes: String,
    /// The policy.
    pub policy: String,
    /// The keys that it sets besides the head's, with their values in TOML.
    pub set: Vec<(String, String)>,
    /// As in [`Row::warm_up`].
    #[serde(default = "no_warm_up", skip_serializing_if = "is_no_warm_up")]
    pub warm_up: String,
    /// As in [`Row::inputs_sha256`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub inputs_sha256: String,
    /// As in [`Row::flags`], known before it is run.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub flags: String,
    /// About how many requests a run has, where that is known: for the order of the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
}

fn no_warm_up() -> String {
    NO_WARM_UP.to_string()
}

fn is_no_warm_up(text: &str) -> bool {
    text == NO_WARM_UP
}

impl ListedCell {
    /// What its rows have in common.
    pub fn place(&self, head: &Head) -> Row {
        Row {
            experiment: head.name.clone(),
            axes: self.axes.clone(),
            system: system_of(&self.policy).to_string(),
            policy: self.policy.clone(),
            warm_up: self.warm_up.clone(),
            flags: self.flags.clone(),
            spec_sha256: self.spec_sha256.clone(),
            result_version: head.result_version,
            inputs_sha256: self.inputs_sha256.clone(),
            ..Row::default()
        }
    }

    /// For messages.
    pub fn words(&self) -> String {
        format!("{} {}", self.axes, self.policy)
    }
}

/// A cell with its line.
pub struct Listed<S: Subject = Scenario> {
    /// The cell.
    pub cell: Cell<S>,
    /// Its line.
    pub line: ListedCell,
}

/// Makes the cells of a sweep.
pub struct Lister<'a, S: Subject = Scenario> {
    file: &'a SweepFile,
    base: S,
    inputs: Inputs,
    /// What they have in common.
    pub head: Head,
}

impl<'a, S: Subject> Lister<'a, S> {
    /// Makes no cell yet.
    ///
    /// # Errors
    /// When a policy or `compare_to` is wrong.
    pub fn new(file: &'a SweepFile, base: S) -> Result<Lister<'a, S>, SpecError> {
        let (path, text) = base.origin();
        let (path, text) = (path.to_string(), text.to_string());
        let base = base.with_policies(&file.policies).map_err(|e| file.placed(e))?;
        let seeds = Seeds {
            first: file.first_seed.unwrap_or(base.about().1),
            count: file.seeds,
            until_ci: file.until(),
        };
        let compare_to = compared(file, &base)?;
        let search = file.goodput.as_ref().map(Search::words).unwrap_or_default();
        let varied = format!("{:?} {:?} {:?} {:?}", file.set, file.axis, file.point, file.sample);
        let policies: Vec<String> = texts(&base)?;
        let all = [&file.name, &compare_to, &seeds.words(), &search, &policies.join("\n"), &varied];
        let canonical = base.canonical();
        let parts: Vec<&str> = all.into_iter().map(String::as_str).chain([&*canonical]).collect();
        let definition_sha256 = hash::spec_sha256(&parts);
        let head = Head {
            schema: "orrery-manifest".to_string(),
            schema_version: 2,
            result_version: RESULT_VERSION,
            name: file.name.clone(),
            compare_to,
            seeds,
            goodput: file.goodput.clone(),
            policies: file.policies.clone(),
            set: file.set.iter().map(|(k, v)| (k.clone(), toml_text(v))).collect(),
            scenario: path,
            scenario_text: text,
            definition_sha256,
        };
        Ok(Lister { file, base, inputs: Inputs::default(), head })
    }

    /// Every cell, in order; each scenario is set up once, so that a wrong value is found before hours
    /// of runs. They are made on so many threads (one for each core when 0).
    ///
    /// # Errors
    /// Of the first cell that is wrong: a key, a policy, or a file that cannot be read; or of `each`.
    pub fn each(
        &self,
        jobs: usize,
        mut each: impl FnMut(Listed<S>) -> Result<ControlFlow<()>, SpecError>,
    ) -> Result<(), SpecError> {
        let pool = pool(jobs)?;
        let mut all = combinations(&self.file.point, &self.file.axis, self.file.sample);
        loop {
            let chunk: Vec<Combination> = all.by_ref().take(CHUNK).collect();
            if chunk.is_empty() {
                return Ok(());
            }
            let make = |c: Combination| self.cells_of(c);
            let made: Vec<_> = pool.install(|| chunk.into_par_iter().map(make).collect());
            for cells in made {
                for cell in cells? {
                    if each(cell)?.is_break() {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Makes the first combination: what is wrong with the file is mostly wrong there. Says which of its policies may
    /// take hours.
    ///
    /// # Errors
    /// As [`Lister::each`].
    pub fn first(&self) -> Result<(), SpecError> {
        let mut all = combinations(&self.file.point, &self.file.axis, self.file.sample);
        let first = all.next().map_or(Ok(Vec::new()), |c| self.cells_of(c))?;
        say_slow::<S>(first.iter().map(|one| &one.cell.policy));
        Ok(())
    }

    /// Shows every cell, in order, made on this thread.
    ///
    /// # Errors
    /// As [`Lister::each`].
    pub fn one_by_one(
        &self,
        mut each: impl FnMut(Listed<S>) -> Result<(), SpecError>,
    ) -> Result<(), SpecError> {
        let mut all = combinations(&self.file.point, &self.file.axis, self.file.sample);
        all.try_for_each(|c| self.cells_of(c)?.into_iter().try_for_each(&mut each))
    }

    /// What makes its cells again from their lines.
    ///
    /// # Errors
    /// When a value is no TOML.
    pub fn maker(self) -> Result<Maker<S>, SpecError> {
        let fixed = values(&self.head.set)?;
        Ok(Maker { head: self.head, base: self.base, fixed, inputs: self.inputs })
    }

    /// The cells of a combination: one for each policy.
    fn cells_of(&self, combination: Combination) -> Result<Vec<Listed<S>>, SpecError> {
        let fixed = self.file.set.iter().map(|(k, v)| (k.clone(), v.clone()));
        let set: Vec<(String, String)> =
            combination.changes.iter().map(|(k, v)| (k.clone(), toml_text(v))).collect();
        let changes: Vec<(String, Value)> = fixed.chain(combination.changes).collect();
        let scenario = self.base.changed(&changes).map_err(|e| self.file.placed(e))?;
        let axes = combination.axes.join(";");
        let (seeds, search) = (self.head.seeds, self.file.goodput.as_ref());
        let policies = scenario.policies();
        let known = policies.as_deref().unwrap_or_default();
        scenario.check(seeds.first, known, search).map_err(|e| within(self.file, &axes, e))?;
        if let Some((width, _)) = seeds.until_ci.filter(|_| !scenario.has_finish_rate()) {
            let remedy = "remove it and set `seeds`, or add SLOs";
            let allowed = "a fixed number of seeds: without an SLO there is no finish rate";
            return Err(self.file.placed(SpecError::value("until_ci", width, allowed, remedy)));
        }
        let inputs_sha256 = self.inputs.sha256(&scenario)?;
        let policies = policies?;
        let canonical = scenario.canonical();
        let cell = |policy| Cell {
            scenario: scenario.clone(),
            axes: axes.clone(),
            policy,
            seeds,
            inputs_sha256: inputs_sha256.clone(),
            search: self.file.goodput.clone(),
        };
        let listed = |policy| {
            let cell = cell(policy);
            let line = line(&cell, &canonical, set.clone());
            Listed { cell, line }
        };
        Ok(policies.into_iter().map(listed).collect())
    }
}

/// The line of a cell, with [`Subject::canonical`] of its scenario: cells of many policies share it.
pub fn line<S: Subject>(cell: &Cell<S>, canonical: &str, set: Vec<(String, String)>) -> ListedCell {
    let (entry_sha256, spec_sha256) = cell.hashes_of(canonical);
    ListedCell {
        entry_sha256,
        spec_sha256,
        axes: cell.axes.clone(),
        policy: S::name_of(&cell.policy),
        set,
        warm_up: cell.warm_up(),
        inputs_sha256: cell.inputs_sha256.clone(),
        flags: cell.scenario.caveats(&cell.policy).join(" "),
        requests: cell.requests_expected(),
    }
}

/// Makes cells from lines of a manifest, one by one.
pub struct Maker<S: Subject = Scenario> {
    /// What all lines have in common.
    pub head: Head,
    base: S,
    fixed: Vec<(String, Value)>,
    inputs: Inputs,
}

/// Runs cells of lines of a manifest, whatever they are of.
pub trait RunsLines: Send + Sync {
    /// Adds what the kept runs of a line's cell are short of.
    ///
    /// # Errors
    /// As [`Maker::cell`], or when a run fails.
    fn run(&self, line: &ListedCell, kept: &mut Vec<Replication>) -> Result<(), SpecError>;
}

impl<S: Subject> RunsLines for Maker<S> {
    fn run(&self, line: &ListedCell, kept: &mut Vec<Replication>) -> Result<(), SpecError> {
        let cell = self.cell(line)?;
        cell.seeds.go_on(kept, |seed| cell.one(seed))
    }
}

/// What runs the lines below a head.
///
/// # Errors
/// As [`Maker::new`].
pub fn runs_of(head: &Head) -> Result<Box<dyn RunsLines>, SpecError> {
    let is_tokens = kind::of(&head.scenario_text).is_some_and(|k| k.name == kind::TOKENS.name);
    Ok(match is_tokens {
        true => Box::new(Maker::<TokensFile>::new(head)?),
        false => Box::new(Maker::<Scenario>::new(head)?),
    })
}

impl<S: Subject> Maker<S> {
    /// With what all lines have in common.
    ///
    /// # Errors
    /// When the head has no scenario: it was edited.
    pub fn new(head: &Head) -> Result<Maker<S>, SpecError> {
        let base = S::from_text(&head.scenario, &head.scenario_text)?;
        let base = base.with_policies(&head.policies)?;
        let fixed = values(&head.set)?;
        Ok(Maker { head: head.clone(), base, fixed, inputs: Inputs::default() })
    }

    /// The cell of a line.
    ///
    /// # Errors
    /// When a file of its scenario is missing, or is not the one that it was listed with.
    pub fn cell(&self, line: &ListedCell) -> Result<Cell<S>, SpecError> {
        let changes = [self.fixed.clone(), values(&line.set)?].concat();
        let scenario = self.base.changed(&changes)?;
        let cell = Cell {
            axes: line.axes.clone(),
            policy: line.policy.parse()?,
            seeds: self.head.seeds,
            inputs_sha256: self.inputs.sha256(&scenario)?,
            search: self.head.goodput.clone(),
            scenario,
        };
        if cell.entry_sha256(&cell.scenario.canonical()) == line.entry_sha256 {
            return Ok(cell);
        }
        let (found, allowed) = if cell.inputs_sha256 == line.inputs_sha256 {
            ("a manifest of another orrery".to_string(), "a manifest that this program wrote")
        } else {
            (cell.inputs_sha256, "the files that the manifest was made with")
        };
        let remedy = "restore the files, or remove `manifest.jsonl` and run the sweep again";
        Err(SpecError::value("manifest", format!("{}: {found}", line.words()), allowed, remedy))
    }
}

/// A value as TOML, which has all numbers; JSON has no infinity.
fn toml_text(value: &Value) -> String {
    value.to_string()
}

fn values(set: &[(String, String)]) -> Result<Vec<(String, Value)>, SpecError> {
    let value = |(key, text): &(String, String)| {
        let table = format!("value = {text}").parse::<toml::Table>();
        let value = table.ok().and_then(|mut t| t.remove("value"));
        let wrong = || SpecError::value(key, text, "a value in TOML", "run the sweep again");
        Ok((key.clone(), value.ok_or_else(wrong)?))
    };
    set.iter().map(value).collect()
}

/// What is wrong with a scenario that was changed may be the change.
fn within(file: &SweepFile, cell: &str, error: SpecError) -> SpecError {
    if cell.is_empty() {
        return error;
    }
    let file = format!("{}, at {cell}", file.path.display());
    SpecError::Within { file, source: Box::new(error) }
}

fn texts<S: Subject>(base: &S) -> Result<Vec<String>, SpecError> {
    Ok(base.policies()?.iter().map(S::name_of).collect())
}

/// The policy that the others are compared with.
fn compared<S: Subject>(file: &SweepFile, base: &S) -> Result<String, SpecError> {
    let policies = texts(base)?;
    let Some(name) = &file.compare_to else {
        return Ok(policies.first().cloned().unwrap_or_default());
    };
    let named = name.parse().map(|policy| S::name_of(&policy)).ok();
    match named.filter(|named| policies.contains(named)) {
        Some(named) => Ok(named),
        None => {
            let allowed = format!("one of {}", policies.join(", "));
            let error = SpecError::value("compare_to", format!("`{name}`"), allowed, "correct it");
            Err(file.placed(error))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_a_line_is_the_value_that_was_listed() {
        let set = "a = 60.0\nb = inf\nc = \"x\\\"y\"\nd = [{ count = 2, e = [1.5, 'z'] }]\nf = 1979-05-27";
        let table: toml::Table = set.parse().unwrap();
        let lines: Vec<_> = table.iter().map(|(k, v)| (k.clone(), toml_text(v))).collect();
        let text = serde_json::to_string(&lines).unwrap();
        let back = values(&serde_json::from_str::<Vec<_>>(&text).unwrap()).unwrap();
        assert_eq!(back, table.into_iter().collect::<Vec<_>>());
    }
}
