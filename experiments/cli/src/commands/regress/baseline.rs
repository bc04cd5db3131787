//! Baseline files: what is rerun, what is required of it, and what was recorded.

use super::compare::Change;
use super::input::{Difference, Made};
use super::require::{Judged, Requirement, absent};
use super::rerun::Rerun;
use super::row::BaselineRow;
use orrery_results::{Row, TableError, read_csv, to_csv};
use orrery_run::SpecError;
use orrery_scenario::scenario::place::{Source, line_of, parse_error};
use orrery_scenario::{kind, read_text};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// A baseline.
#[derive(Clone, Debug)]
pub struct Baseline {
    /// The recorded rows.
    pub rows: Vec<BaselineRow>,
    /// What they were made from, where that was kept.
    pub made_from: Option<Made>,
    /// What is required.
    pub require: Vec<Requirement>,
    /// What is rerun.
    pub rerun: Rerun,
    path: PathBuf,
    source: Source,
}

/// What was found now.
pub struct Found {
    /// All rows.
    pub rows: Vec<Row>,
    /// The values that are recorded.
    pub recorded: Vec<BaselineRow>,
    /// What they were made from.
    pub made_from: Made,
    /// What changed in that since they were recorded, where a record was kept.
    pub differs: Option<Vec<Difference>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rerun: Rerun,
    #[serde(default)]
    require: Vec<Requirement>,
    made_from: Option<Made>,
    recorded: Option<Recorded>,
    /// Programs before this one wrote the version and the rows in front of all tables.
    result_version: Option<u32>,
    rows: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    rows: String,
}

/// What is allowed of a baseline's values.
const ONCE: &str = "one value of each metric of each system, model and setting";
/// What to do where the part that a program writes cannot be used.
const RECORD_ANEW: &str = "remove `[made_from]` and `[recorded]` by hand, then `--bless` again";
/// What stands before the part of a file that a program writes.
const MARK: &str = "# Recorded by `orrery regress --bless`, which writes all below anew.";

impl Baseline {
    /// Reads a baseline.
    ///
    /// # Errors
    /// When it cannot be read, names nothing to rerun, or requires what cannot be judged.
    pub fn load(path: &Path) -> Result<Baseline, SpecError> {
        Baseline::from_text(path, read_text(path)?)
    }

    fn from_text(path: &Path, text: String) -> Result<Baseline, SpecError> {
        let name = path.display().to_string();
        let source = Source::new(&name, &text);
        let file: File = toml::from_str(&text).map_err(|e| {
            kind::instead(kind::BASELINE, &name, &text, parse_error(&name, &text, &e))
        })?;
        file.rerun.check().map_err(|e| source.placed(e))?;
        for (i, requirement) in file.require.iter().enumerate() {
            requirement.check(i).map_err(|e| source.placed(e))?;
        }
        let rows = match (file.recorded, file.rows) {
            (Some(Recorded { rows }), _) => recorded(&source, "recorded.rows", &rows)?,
            (None, Some(rows)) => recorded(&source, "rows", &rows)?,
            (None, None) => Vec::new(),
        };
        let made_from = file.made_from.map(|mut made| {
            made.result_version = made.result_version.or(file.result_version);
            made
        });
        let (require, rerun) = (file.require, file.rerun);
        Ok(Baseline { rows, made_from, require, rerun, path: path.to_path_buf(), source })
    }

    /// Whether values are recorded here, or shall be: not where requirements are all that a file has.
    pub fn records(&self) -> bool {
        !self.rows.is_empty() || self.require.is_empty() || self.rerun.metrics.is_some()
    }

    /// The lines of these changes' recorded values, for annotations; that of `[rerun]` where one is not recorded.
    pub fn lines(&self, changes: &[Change]) -> Vec<usize> {
        let line = |key: &str| line_of(&self.source.text, key);
        let rerun = line("rerun").unwrap_or(1);
        // Behind the line of the key are the names of the columns.
        let first = ["recorded.rows", "rows"].into_iter().find_map(line).map(|at| at + 2);
        let numbered = self.rows.iter().enumerate().map(|(n, row)| (row.place(), n));
        let known: BTreeMap<[&str; 7], usize> = numbered.collect();
        let one = |change: &Change| match (first, known.get(&change.row().place())) {
            (Some(first), Some(n)) => first + n,
            _ => rerun,
        };
        changes.iter().map(one).collect()
    }

    /// Judges all that it requires of rows.
    ///
    /// # Errors
    /// When a requirement is about nothing that was rerun.
    pub fn judged(&self, rows: &[Row]) -> Result<Vec<Judged>, SpecError> {
        let each = self.require.iter().enumerate().map(|(i, requirement)| {
            let line = line_of(&self.source.text, &format!("require[{i}]")).unwrap_or(1);
            requirement.judge(i, line, rows).map_err(|e| self.source.placed(e))
        });
        Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Reruns what it names.
    ///
    /// # Errors
    /// When that does not exist or cannot be run, or lacks one of the metrics.
    pub fn run(&self) -> Result<Found, SpecError> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let details = self.rows.iter().any(|r| r.scope != "all")
            || self.require.iter().any(|r| r.model.is_some());
        let check = |names: &[String]| {
            let mut required = self.require.iter().enumerate();
            let known = || names.iter().map(String::as_str);
            required.try_for_each(|(i, requirement)| requirement.policies(i, known()).map(drop))
        };
        let ran = self.rerun.run(folder, details, &check).map_err(|e| match e.key() {
            Some(key) if key.starts_with("rerun.") || key.starts_with("require[") => {
                self.source.placed(e)
            }
            _ => e.in_file(&self.source.path),
        })?;
        let known: BTreeSet<&str> = ran.rows.iter().map(|r| r.metric.as_str()).collect();
        for (i, name) in self.rerun.metrics.iter().flatten().enumerate() {
            // One that was recorded is gone.
            if !known.contains(name.as_str()) && self.rows.iter().all(|r| r.metric != *name) {
                let place = (format!("rerun.metrics[{i}]"), "metrics");
                return Err(self.source.placed(absent(place, name, &known)));
            }
        }
        let metrics = self.rerun.metrics();
        let recorded = ran.rows.iter().filter(|r| metrics.contains(&r.metric.as_str()));
        let recorded: Vec<BaselineRow> = recorded.map(BaselineRow::of).collect();
        if recorded.is_empty() && self.records() {
            let found = if metrics.is_empty() { "no metric".into() } else { metrics.join(", ") };
            let allowed = "metrics of what is rerun (docs/formats.md)";
            let error = SpecError::value("rerun.metrics", found, allowed, "correct the list");
            return Err(self.source.placed(error));
        }
        if let Some(row) = BaselineRow::again(&recorded) {
            let found = format!("two values of {} of {}", row.metric, row.group());
            let remedy = "give what is rerun a name for each system, and distinct points";
            return Err(self.source.placed(SpecError::value("rerun", found, ONCE, remedy)));
        }
        let made_from = Made::of(&ran.rows, &ran.input);
        let then = self.made_from.as_ref();
        let differs = then.map(|then| then.differs(&made_from, &ran.input));
        Ok(Found { rows: ran.rows, recorded, made_from, differs })
    }

    /// The file's text with other values, and what they were made from.
    ///
    /// # Errors
    /// When the text does not read as the same baseline again: what was written by hand is never lost.
    pub fn with(&self, found: &Found) -> Result<String, SpecError> {
        let table = |key: &str, value: Value| Table::from_iter([(key.to_string(), value)]);
        let made = Value::try_from(&found.made_from);
        let made = made.map_err(|e| self.unwritable(e.to_string()))?;
        let rows = table("rows", Value::String(to_csv(&found.recorded)));
        let mut written = table("made_from", made);
        written.insert("recorded".to_string(), Value::Table(rows));
        let written = toml::to_string(&written).map_err(|e| self.unwritable(e.to_string()))?;
        let text = format!("{}\n\n{MARK}\n{written}", by_hand(&self.source.text));
        let again = Baseline::from_text(&self.path, text.clone());
        let is_same = again.is_ok_and(|b| {
            (b.rerun == self.rerun && b.require == self.require)
                && (b.rows.len() == found.recorded.len()
                    && b.made_from.as_ref() == Some(&found.made_from))
        });
        if is_same { Ok(text) } else { Err(self.unwritable("its tables are in no usual form")) }
    }

    fn unwritable(&self, why: impl Into<String>) -> SpecError {
        let allowed = "a baseline whose recorded part can be replaced";
        SpecError::value("recorded", why.into(), allowed, RECORD_ANEW).in_file(&self.source.path)
    }
}

/// The recorded rows of a key. Its text is read at the lines that it has in the file, so that messages name these.
fn recorded(source: &Source, key: &str, text: &str) -> Result<Vec<BaselineRow>, SpecError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let wrong = |found: String, allowed: &str| {
        source.placed(SpecError::value(key, found, allowed, RECORD_ANEW))
    };
    let before = "\n".repeat(line_of(&source.text, key).unwrap_or(1));
    let rows: Vec<BaselineRow> = read_csv(&source.path, &(before + text)).map_err(|e| {
        let TableError::Parse { message, .. } = e;
        wrong(message, "rows as `--bless` writes them")
    })?;
    match BaselineRow::again(&rows) {
        Some(row) => Err(wrong(format!("two values of {} of {}", row.metric, row.group()), ONCE)),
        None => Ok(rows),
    }
}

/// What was written by hand: the text without the recorded tables and keys. Comments stay wherever they stand.
fn by_hand(text: &str) -> String {
    const KEYS: [&str; 3] = ["result_version", "made_from", "rows"];
    let (mut is_recorded, mut is_root, mut within) = (false, true, None::<&str>);
    let mut out: Vec<&str> = Vec::new();
    for line in text.lines() {
        if let Some(end) = within {
            within = (!line.contains(end)).then_some(end);
            continue;
        }
        let start = line.trim();
        if start.starts_with('#') {
            out.extend((start != MARK).then_some(line));
            continue;
        }
        if start.starts_with('[') {
            let name = start.trim_matches(|c: char| "[] \t".contains(c));
            is_root = false;
            is_recorded = ["made_from", "recorded"].iter().any(|own| {
                name.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            });
        }
        let key = start.split('=').next().unwrap_or_default().trim();
        if is_recorded || (is_root && KEYS.contains(&key)) {
            let opens = |end: &&&str| line.matches(**end).count() == 1;
            within = ["'''", "\"\"\""].iter().find(opens).copied();
            continue;
        }
        // Of blank lines in a row one is enough.
        if !(start.is_empty() && out.last().is_none_or(|last| last.trim().is_empty())) {
            out.push(line);
        }
    }
    out.join("\n").trim_end().to_string()
}
