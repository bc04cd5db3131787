//! A suite: scenarios with a sentence each of what they ask, and the axes that they lie on.
//!
//! It never changes once it is named; its hash is that of all its files and stands in every result.

use crate::shipped;
use orrery_results::pair;
use orrery_run::SpecError;
use orrery_scenario::scenario::texts;
use orrery_scenario::{Scenario, read_text};
use orrery_sweep::hash::{Hasher, sha256};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The file of a suite's folder that lists its scenarios.
pub const INDEX: &str = "suite.toml";
/// Of so many neighbours one is quick.
const QUICK: usize = 6;

/// A suite.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The name by which `--suite` and rows call it.
    pub name: String,
    /// SHA-256 of all its files.
    pub sha256: String,
    /// What its axes mean, in the order of pages.
    pub axes: Vec<Axis>,
    /// Pairs of axes that are drawn as maps.
    pub maps: Vec<(String, String)>,
    /// Its scenarios.
    pub scenarios: Vec<Asked>,
    /// Their number in the whole suite, where this is a part.
    pub whole: usize,
    /// Whether it is a sixth.
    pub is_quick: bool,
}

/// An axis.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Its name in results.
    pub name: String,
    /// The quantity that it varies, in words.
    pub means: String,
}

/// A scenario of a suite.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The name in rows, as `case`.
    pub name: String,
    /// One sentence.
    pub asks: String,
    /// As in [`orrery_results::Row::axes`].
    pub axes: String,
    /// The scenario.
    pub scenario: Scenario,
}

impl Asked {
    /// The value at an axis, if it lies on it.
    pub fn at(&self, axis: &str) -> Option<&str> {
        pair(&self.axes, axis)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    #[serde(default)]
    maps: Vec<(String, String)>,
    #[serde(default)]
    axis: Vec<Axis>,
    scenario: Vec<Listed>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    name: String,
    #[serde(default)]
    axes: String,
    asks: String,
}

/// Which half of a suite: parameters are tuned on the one and judged on the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// For tuning.
    Training,
    /// For judging.
    Judging,
}

impl Suite {
    /// A shipped suite by its name, or one in a folder.
    ///
    /// # Errors
    /// When there is none, a file of it cannot be read, or a scenario is wrong.
    pub fn find(name: &str) -> Result<Suite, SpecError> {
        if let Some(files) = shipped::files(name) {
            let files = files.iter().map(|(n, t)| ((*n).to_string(), (*t).to_string()));
            return Suite::of(name, Path::new(name), &files.collect());
        }
        let folder = Path::new(name);
        if !folder.join(INDEX).is_file() {
            let shipped: Vec<String> = shipped::names().map(|n| format!("`{n}`")).collect();
            let allowed = format!("{}, or a folder with a `{INDEX}`", shipped.join(", "));
            return Err(SpecError::value("--suite", name, allowed, "name one of these"));
        }
        let mut files = BTreeMap::from([(INDEX.to_string(), read_text(folder.join(INDEX))?)]);
        let index = index(folder, &files[INDEX])?;
        for listed in &index.scenario {
            let file = format!("{}.toml", listed.name);
            files.insert(file.clone(), read_text(folder.join(&file))?);
        }
        let last = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Suite::of(&last, folder, &files)
    }

    fn of(name: &str, folder: &Path, files: &BTreeMap<String, String>) -> Result<Suite, SpecError> {
        let Index { maps, axis, scenario } = index(folder, &files[INDEX])?;
        let asked = |listed: Listed| -> Result<Asked, SpecError> {
            let file = format!("{}.toml", listed.name);
            let path = folder.join(&file).display().to_string();
            let text = files.get(&file).ok_or_else(|| missing(folder, &file))?;
            let scenario = Scenario::from_text(&path, text)?;
            Ok(Asked { name: listed.name, asks: listed.asks, axes: listed.axes, scenario })
        };
        let scenarios: Vec<Asked> = scenario.into_iter().map(asked).collect::<Result<_, _>>()?;
        let mut hash = Hasher::default();
        for (file, text) in files {
            hash.add(format!("{file} {}\n{text}\n", text.len()).as_bytes());
        }
        let whole = scenarios.len();
        let name = name.to_string();
        Ok(Suite {
            name,
            sha256: hash.sha256(),
            axes: axis,
            maps,
            scenarios,
            whole,
            is_quick: false,
        })
    }

    /// A sixth of it: of each six neighbours the one whose name's hash is smallest.
    #[must_use]
    pub fn quick(self) -> Suite {
        Suite { is_quick: true, ..self.drawn("quick", QUICK, |place| place == 0) }
    }

    /// The same where no device can stop a running batch.
    #[must_use]
    pub fn without_stops(mut self) -> Suite {
        self.name += "-without-stops";
        for asked in &mut self.scenarios {
            asked.scenario.file.device.iter_mut().for_each(|d| d.can_preempt = false);
        }
        self
    }

    /// A half, drawn by hash: of each two neighbours one is for training. `draw` numbers other draws.
    #[must_use]
    pub fn half(self, half: Half, draw: u32) -> Suite {
        self.drawn(&format!("half {draw}"), 2, |place| (place == 0) == (half == Half::Training))
    }

    /// Of each `many` neighbours those whose place by hash is taken.
    fn drawn(mut self, word: &str, many: usize, is_taken: impl Fn(usize) -> bool) -> Suite {
        let mut kept = Vec::new();
        for group in self.scenarios.chunks(many) {
            let hash = |a: &Asked| sha256(format!("{word} {}", a.name).as_bytes());
            let mut order: Vec<usize> = (0..group.len()).collect();
            order.sort_by_key(|&i| hash(&group[i]));
            let own = (0..group.len())
                .filter(|i| is_taken(order.iter().position(|o| o == i).unwrap_or_default()));
            kept.extend(own.map(|i| group[i].clone()));
        }
        self.scenarios = kept;
        self
    }
}

fn index(folder: &Path, text: &str) -> Result<Index, SpecError> {
    let name = folder.join(INDEX).display().to_string();
    let index: Index = texts::read(&name, text)?;
    if index.scenario.is_empty() {
        let remedy = "add `[[scenario]]` with `name` and `asks`, and the file NAME.toml beside it";
        return Err(SpecError::value("scenario", "nothing", "at least one", remedy).in_file(&name));
    }
    Ok(index)
}

fn missing(folder: &Path, file: &str) -> SpecError {
    let remedy = "add the file, or remove its `[[scenario]]`";
    let found = format!("no {file}");
    SpecError::value("scenario", found, "a file for each scenario", remedy)
        .in_file(&folder.join(INDEX).display().to_string())
}
