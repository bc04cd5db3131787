//! A scenario with some of its keys changed, the text that identifies it, and the files it reads.
//!
//! It checks nothing itself: a changed scenario goes through the same checks as a file.

use super::file::ScenarioFile;
use super::place::{self, Source, parse_error};
use super::{Scenario, expanded};
use crate::key_names::names;
use orrery_results::{PolicyText, distinct};
use orrery_run::error::{SpecError, hint};
use orrery_traces::azure2019_days::Days;
use orrery_traces::shipped::SHIPPED;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use std::sync::Arc;
use toml::Value;

/// A file that a scenario reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputFile {
    /// One that travels in the program: its name and its SHA-256.
    Shipped(&'static str, &'static str),
    /// One on disk: its name in the scenario, and its path.
    Path(String, PathBuf),
}

impl Scenario {
    /// This scenario with dotted keys set to other values, such as `model.bert.slo_ms` (a model,
    /// application or device by its name), `arrivals.poisson.rate_per_s` or
    /// `policy.clockwork.max_batch` (a parameter of every policy of that name).
    ///
    /// # Errors
    /// When a key is none of a scenario's, or a value is wrong; the message names the key.
    pub fn with(&self, changes: &[(String, Value)]) -> Result<Scenario, SpecError> {
        if changes.is_empty() {
            return Ok(self.clone());
        }
        let (file, source): (ScenarioFile, Source) =
            changed(&self.source, changes, "a scenario (docs/scenarios.md)")?;
        let (file, origins, unfit_profile) = expanded(&file, &self.files)?;
        let (name, files) = (self.name.clone(), self.files.clone());
        Ok(Scenario { name, seed: self.seed, file, source, files, origins, unfit_profile })
    }

    /// Everything that the results depend on, but for seeds, policies and the contents of files:
    /// the file's values with defaults filled in, in one fixed order.
    pub fn canonical(&self) -> String {
        let mut file = self.file.clone();
        file.name = None;
        file.policies.clear();
        file.seed = 0;
        toml::to_string(&file).unwrap_or_else(|_| self.text())
    }

    /// The files that a run reads, each once, in the order of the keys.
    pub fn inputs(&self) -> Vec<InputFile> {
        let arrivals = self.file.arrivals.iter().flat_map(|a| {
            let trace = a.trace.iter().map(|t| &t.file);
            let llm = a.llm.iter().map(|l| &l.file);
            let queries = a.queries.iter().map(|q| &q.file);
            trace.chain(llm).chain(a.workload.iter().map(|w| &w.file)).chain(queries)
        });
        let sizes = self.file.app.iter().filter_map(|a| match &a.sizes {
            Some(super::file::SizesLaw::Samples { file, .. }) => Some(file),
            _ => None,
        });
        let times = self.file.app.iter().filter_map(|a| match &a.time {
            Some(
                super::file::TimeLaw::Samples { file, .. }
                | super::file::TimeLaw::Lengths { file, .. },
            ) => Some(file),
            _ => None,
        });
        let names = distinct(arrivals.chain(times).chain(sizes));
        let input = |name: &String| match SHIPPED.iter().find(|s| s.name == name) {
            Some(s) => vec![InputFile::Shipped(s.name, s.sha256)],
            None => self.on_disk(name),
        };
        names.into_iter().flat_map(input).collect()
    }

    /// A file, or the days of the published trace that are in a folder.
    fn on_disk(&self, name: &str) -> Vec<InputFile> {
        let path = self.files.folder.join(name);
        let days = path.is_dir().then(|| Days::in_folder(&path).ok()).flatten();
        let Some(days) = days else { return vec![InputFile::Path(name.to_string(), path)] };
        let day = |path: &PathBuf| {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            InputFile::Path(format!("{name}/{file}"), path.clone())
        };
        days.files().iter().map(day).collect()
    }
}

/// A file with some of its dotted keys changed; `of` says what the file is.
///
/// # Errors
/// When a key is none of the file's, or a value is none of its key's.
pub fn changed<T: DeserializeOwned>(
    source: &Source,
    changes: &[(String, Value)],
    of: &str,
) -> Result<(T, Source), SpecError> {
    // Who runs it says these: set here, they would change nothing.
    if let Some((key, _)) = changes.iter().find(|c| ["name", "seed"].contains(&c.0.as_str())) {
        let allowed = format!("a key of {of} that a run depends on");
        let remedy = match key.as_str() {
            "seed" => "give the seed as an option: `--seed N`, or `--seeds N` for several",
            _ => "rename the file, or write `name` in it",
        };
        return Err(SpecError::value(key, format!("`{key}`"), allowed, remedy));
    }
    let Source { path, text, changed } = source;
    let table = match changed {
        Some(table) => toml::Table::clone(table),
        None => text.parse::<toml::Table>().map_err(|e| parse_error(path, text, &e))?,
    };
    let mut value = Value::Table(table);
    let root = value.clone();
    for change @ (key, new) in changes {
        match key.strip_prefix("policy.") {
            Some(rest) => set_policy(&mut value, key, rest, new)?,
            None => {
                set(&mut value, key, new.clone()).map_err(|e| remedied::<T>(e, &root, change))?
            }
        }
    }
    let table = value.as_table().cloned().map(Arc::new);
    let file = value.try_into().map_err(|e| {
        // The message names the first key that is wrong alone.
        let mut each = changes.chunks(1).filter(|_| changes.len() > 1);
        let alone = each.find_map(|change| self::changed::<T>(source, change, of).err());
        alone.unwrap_or_else(|| match changes {
            [change] => remedied::<T>(no_such_file(changes, &e, of), &root, change),
            _ => no_such_file(changes, &e, of),
        })
    })?;
    Ok((file, Source { changed: table, ..source.clone() }))
}

/// The error with the key that is meant as its remedy, where there is one that works.
fn remedied<T: DeserializeOwned>(
    mut error: SpecError,
    root: &Value,
    (key, new): &(String, Value),
) -> SpecError {
    let own = key.strip_prefix("scenario.").unwrap_or(key);
    let (SpecError::Value { remedy, .. }, Some((list, rest))) = (&mut error, own.split_once('.'))
    else {
        return error;
    };
    let last = rest.rsplit('.').next().unwrap_or(rest);
    let list = list.split('[').next().unwrap_or(list);
    let forms = |before: &str| {
        let name = |list: &str| {
            let of = if before.is_empty() { Some(root) } else { root.get("scenario") };
            let first = of.and_then(|table| table.get(list)?.as_array()?.first());
            Some(format!("{before}{list}.{}", first.and_then(name_of)?))
        };
        let of_list = name(list).map(|item| format!("{item}.{rest}"));
        // The models of a zoo are in no list.
        let zoo = name("zoo").filter(|_| list == "model").map(|zoo| format!("{zoo}.{last}"));
        let plain = [format!("{before}{list}.{rest}"), format!("{before}{list}[0].{rest}")];
        [of_list, zoo].into_iter().flatten().chain(plain).collect::<Vec<_>>()
    };
    let before =
        ["", "scenario."].into_iter().filter(|b| b.is_empty() || root.get("scenario").is_some());
    let works = |form: &String| {
        let mut table = root.clone();
        form != key && set(&mut table, form, new.clone()).is_ok() && table.try_into::<T>().is_ok()
    };
    if let Some(form) = before.flat_map(forms).find(works) {
        *remedy = format!("set `{form}`");
    } else if let Some(file) =
        root.get("scenario_file").filter(|_| names::<ScenarioFile>(&[]).contains(&list))
    {
        *remedy = format!("it is a key of the scenario: write it in {file}");
    }
    error
}

/// A table with some of its dotted keys changed; `of` says what the table is.
///
/// # Errors
/// When a key is none of the table's, or a value is none of its key's.
pub fn with_keys<T: Serialize + DeserializeOwned>(
    base: &T,
    changes: &[(String, Value)],
    of: &str,
) -> Result<T, SpecError> {
    let base = Value::try_from(base)
        .map_err(|e| SpecError::value(of, e, "a table", "correct its values"))?;
    let with = |changes: &[(String, Value)]| -> Result<T, SpecError> {
        let mut table = base.clone();
        changes.iter().try_for_each(|(key, new)| set(&mut table, key, new.clone()))?;
        table.try_into().map_err(|e| no_such_file(changes, &e, of))
    };
    // The message names the first key that is wrong alone.
    with(changes).map_err(|error| {
        let alone = changes.chunks(1).find_map(|change| with(change).err());
        alone.unwrap_or(error)
    })
}

fn no_such_file(changes: &[(String, Value)], e: &toml::de::Error, of: &str) -> SpecError {
    let keys: Vec<&str> = changes.iter().map(|c| c.0.as_str()).collect();
    let (found, allowed) = (place::said(e.message()), format!("a key and a value of {of}"));
    let list = keys
        .iter()
        .find_map(|key| Some(key.strip_prefix("scenario.").unwrap_or(key).split_once('.')?.0));
    if let Some(list) = list.filter(|_| e.message().contains("map, expected a sequence")) {
        let found = format!("a key of one of `{list}`, a list of which the file has none");
        let remedy = format!("add `[[{list}]]` to the file");
        return SpecError::value(keys.join("`, `"), found, allowed, remedy);
    }
    SpecError::value(keys.join("`, `"), found, allowed, "correct the key or the value")
}

/// Sets a dotted key; tables on the way are made, items of lists are found by name or number.
fn set(root: &mut Value, key: &str, new: Value) -> Result<(), SpecError> {
    let parts: Vec<&str> = key.split('.').collect();
    let mut place = root;
    for (i, part) in parts.iter().enumerate() {
        let (part, index) = match part.split_once('[') {
            Some((part, rest)) => (part, Some(rest.trim_end_matches(']'))),
            None => (*part, None),
        };
        let last = i + 1 == parts.len();
        if let Value::Array(items) = place {
            place = item(items, key, part)?;
            if last {
                *place = new;
                return Ok(());
            }
            continue;
        }
        let Value::Table(table) = place else {
            let allowed = "a table on the way to the key";
            return Err(SpecError::value(
                key,
                format!("a value before `{part}`"),
                allowed,
                "correct the key",
            ));
        };
        if last && index.is_none() {
            table.insert(part.to_string(), new);
            return Ok(());
        }
        // The first of a list that the file leaves to its default is made.
        let made = || match index {
            Some("0") => Value::Array(vec![Value::Table(toml::Table::new())]),
            _ => Value::Table(toml::Table::new()),
        };
        place = table.entry(part).or_insert_with(made);
        if let Some(index) = index {
            let Value::Array(items) = place else {
                let found = format!("`{part}` is no list");
                return Err(SpecError::value(
                    key,
                    found,
                    "an index into a list",
                    "remove the index",
                ));
            };
            place = item(items, key, index)?;
            if last {
                *place = new;
                return Ok(());
            }
        }
    }
    Ok(())
}

fn name_of(item: &Value) -> Option<&str> {
    item.get("name").or_else(|| item.get("kind")).and_then(Value::as_str)
}

/// An item of a list, by its `name` or `kind`, or by its number from 0.
fn item<'a>(items: &'a mut [Value], key: &str, wanted: &str) -> Result<&'a mut Value, SpecError> {
    let names: Vec<String> = items.iter().filter_map(name_of).map(str::to_string).collect();
    let at = items.iter().position(|v| name_of(v) == Some(wanted));
    let at = at.or_else(|| wanted.parse().ok().filter(|i| *i < items.len()));
    match at {
        Some(at) => Ok(&mut items[at]),
        None => {
            let hint = hint(wanted, names.iter().map(String::as_str));
            let allowed = format!("one of {}, or a number below {}", names.join(", "), items.len());
            Err(SpecError::value(
                key,
                format!("`{wanted}`"),
                allowed,
                format!("{hint}correct the key"),
            ))
        }
    }
}

/// Sets a parameter of every policy of a name: `NAME.PARAMETER`.
fn set_policy(root: &mut Value, key: &str, rest: &str, new: &Value) -> Result<(), SpecError> {
    let wrong =
        |found: String, allowed: &str| SpecError::value(key, found, allowed, "correct the key");
    let Some((name, parameter)) = rest.split_once('.') else {
        return Err(wrong(format!("`{rest}`"), "`policy.NAME.PARAMETER`"));
    };
    let policies = root.get_mut("policies").and_then(Value::as_array_mut);
    let text = match new {
        Value::String(s) => s.clone(),
        other => other.to_string(),
    };
    let mut names = Vec::new();
    for policy in policies.into_iter().flatten() {
        let Some(old) = policy.as_str() else { continue };
        let old = PolicyText::new(old);
        names.push(old.system.to_string());
        if old.system == name {
            *policy = Value::String(old.with(parameter, &text));
        }
    }
    if names.iter().any(|known| known == name) {
        return Ok(());
    }
    Err(wrong(format!("`{name}`"), &format!("a policy that is run: {}", names.join(", "))))
}
