//! What a baseline's values were made from: the program, the keys of the files, the data files, the seeds; and
//! what of it changed.
//!
//! ```text
//!  files ── Input ──> Made, a table of the baseline     Made, of then ──┐
//!          (trees)   (dotted keys with their values)    Input, of now ──┴──> differences
//! ```

use orrery_report::page;
use orrery_results::{RESULT_VERSION, Row, pairs};
use orrery_sweep::hash::{sha256, sha256_of_file, spec_sha256};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use toml::{Table, Value};

/// Digits of a SHA-256 that are kept.
const DIGITS: usize = 16;
/// A value of more characters is kept as its hash.
const VALUE_MAX: usize = 400;
/// The most characters of all keys with their values: where there are more, the inner tables are kept as hashes.
const KEYS_MAX: usize = 64 * 1024;
/// A table deeper than this is kept as its hash.
const DEPTH_MAX: usize = 12;
/// How the key of the order of a list of tables begins.
const ORDER: &str = "order of ";
/// Characters of a value in a difference.
const SHOWN_MAX: usize = 60;

/// Keys that no value depends on.
const WORDS: [&str; 11] = [
    "id",
    "name",
    "title",
    "source",
    "order",
    "expected_s",
    "claim",
    "paper",
    "figure",
    "errors",
    "assumption",
];
/// Keys that say which seeds are run.
const SEEDS: [&str; 5] = ["seed", "seeds", "rerun.seeds", "sweep.seeds", "sweep.first_seed"];

/// The files that values are made from, as trees of keys.
#[derive(Clone, Debug, Default)]
pub struct Input {
    keys: Table,
    data: BTreeMap<String, String>,
}

/// What values were made from; a table of the baseline.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Made {
    /// The program's version, with its commit.
    pub program: String,
    /// The version of the program's results.
    pub result_version: Option<u32>,
    /// The seeds.
    pub seeds: String,
    /// The first digits of a SHA-256 of all specifications: scenarios with their policies.
    pub specifications: String,
    /// From which depth on tables are kept as hashes, where not all is kept.
    pub depth: Option<usize>,
    /// The first digits of the SHA-256 of each data file, by its name.
    #[serde(default)]
    data: Data,
    /// The keys of the files with their values; none where a program wrote the file that did not keep them.
    input: Option<BTreeMap<String, Value>>,
}

/// The data files; programs before this one kept one hash of all.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(untagged)]
enum Data {
    Names(BTreeMap<String, String>),
    Hash(String),
}

impl Default for Data {
    fn default() -> Data {
        Data::Names(BTreeMap::new())
    }
}

/// What changed in the input: one key, file or version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// A key of a file, from one value to another; an empty one is none.
    Key(String, String, String),
    /// A data file, by its name, and how it changed.
    Data(String, &'static str),
    /// Something in what is run, and why it cannot be said what.
    Other(&'static str),
    /// The seeds.
    Seeds(String, String),
    /// The version of the results.
    Results(u32, u32),
    /// The program.
    Program(String, String),
}

impl Input {
    /// Adds a tree under a name.
    pub fn add(&mut self, name: &str, tree: Value) {
        self.keys.insert(name.to_string(), tree);
    }

    /// Adds the keys of a file's text.
    pub fn add_text(&mut self, text: &str, path: &Path) {
        let tree = text.parse::<Table>().unwrap_or_default();
        self.add_file(Value::Table(tree), path.parent());
    }

    /// Adds the keys of a file, and the files that its values name where it stands in a folder.
    pub fn add_file(&mut self, tree: Value, folder: Option<&Path>) {
        if let Some(folder) = folder {
            self.add_named_files(&tree, folder);
        }
        let Value::Table(tree) = tree else { return };
        self.keys.extend(tree.into_iter().filter(|(key, _)| !WORDS.contains(&key.as_str())));
    }

    fn add_named_files(&mut self, value: &Value, folder: &Path) {
        match value {
            Value::String(name) if name.contains(['.', '/']) && !self.data.contains_key(name) => {
                let path = folder.join(name);
                if let Some(sum) = path.is_file().then(|| sha256_of_file(&path).ok()).flatten() {
                    self.data.insert(name.clone(), sum[..DIGITS].to_string());
                }
            }
            Value::Array(items) => items.iter().for_each(|v| self.add_named_files(v, folder)),
            Value::Table(t) => t.values().for_each(|v| self.add_named_files(v, folder)),
            _ => {}
        }
    }

    /// The data files: those that rows name, and those that keys name.
    fn data_of(&self, rows: &[Row]) -> BTreeMap<String, String> {
        let mut data = self.data.clone();
        for (name, sum) in rows.iter().flat_map(|r| pairs(&r.inputs_sha256)) {
            data.insert(name.to_string(), sum.chars().take(DIGITS).collect());
        }
        data
    }

    /// Its dotted keys with their values.
    fn keys_at(&self, depth: usize) -> BTreeMap<String, Value> {
        let mut out = BTreeMap::new();
        flatten("", &Value::Table(self.keys.clone()), depth, &mut out);
        out
    }

    /// The keys as deep as there is room for.
    fn kept(&self) -> (BTreeMap<String, Value>, Option<usize>) {
        let size = |keys: &BTreeMap<String, Value>| {
            keys.iter().map(|(k, v)| k.len() + v.to_string().len()).sum::<usize>()
        };
        for depth in (2..=DEPTH_MAX).rev() {
            let keys = self.keys_at(depth);
            if size(&keys) <= KEYS_MAX {
                return (keys, (depth < DEPTH_MAX).then_some(depth));
            }
        }
        (self.keys_at(1), Some(1))
    }
}

/// Writes a tree as dotted keys; an item of a list of tables goes by its name, as `--set` has it.
fn flatten(prefix: &str, value: &Value, depth: usize, out: &mut BTreeMap<String, Value>) {
    let under = |name: &str| match prefix {
        "" => name.to_string(),
        _ => format!("{prefix}.{name}"),
    };
    match value {
        Value::Table(table) if depth > 0 || table.is_empty() => {
            table.iter().for_each(|(name, v)| flatten(&under(name), v, depth - 1, out));
        }
        Value::Array(items) if depth > 0 && is_list_of_tables(items) => {
            let names = names_of(items);
            if let Some((_, names)) = names.as_ref().filter(|(_, names)| names.len() > 1) {
                let order = names.iter().map(|name| Value::String((*name).to_string())).collect();
                out.insert(format!("{ORDER}{prefix}"), short(&Value::Array(order)));
            }
            for (i, item) in items.iter().enumerate() {
                let mut item = item.clone();
                let place = match &names {
                    Some((key, names)) => {
                        // The name is in the place.
                        item.as_table_mut().and_then(|table| table.remove(*key));
                        under(names[i])
                    }
                    None => format!("{prefix}[{i}]"),
                };
                flatten(&place, &item, depth - 1, out);
            }
        }
        // A scenario within an experiment's file.
        Value::String(text) if depth > 0 && text.contains('\n') => match text.parse::<Table>() {
            Ok(table) => flatten(prefix, &Value::Table(table), depth, out),
            Err(_) => drop(out.insert(prefix.to_string(), short(value))),
        },
        _ => drop(out.insert(prefix.to_string(), short(value))),
    }
}

/// Whether two lists have the same items in another order.
fn is_reordered(then: Option<&Value>, now: Option<&Value>) -> bool {
    let sorted = |v: Option<&Value>| {
        let mut all: Vec<String> = v?.as_array()?.iter().map(Value::to_string).collect();
        all.sort();
        Some(all)
    };
    then != now && sorted(then).is_some_and(|then| Some(then) == sorted(now))
}

fn is_list_of_tables(items: &[Value]) -> bool {
    !items.is_empty() && items.iter().all(Value::is_table)
}

/// The key that names the items, and their names, where each has its own.
fn names_of(items: &[Value]) -> Option<(&'static str, Vec<&str>)> {
    ["name", "kind"].into_iter().find_map(|key| {
        let names: Option<Vec<&str>> = items.iter().map(|v| v.get(key)?.as_str()).collect();
        let names = names?;
        let distinct: BTreeSet<&&str> = names.iter().collect();
        (distinct.len() == names.len()).then_some((key, names))
    })
}

/// A value, or the hash of a long one.
fn short(value: &Value) -> Value {
    let text = value.to_string();
    if text.chars().count() <= VALUE_MAX && !value.is_table() {
        return value.clone();
    }
    let size = match value {
        Value::Array(items) => format!("{} values", items.len()),
        Value::Table(table) => format!("{} keys", table.len()),
        _ => format!("{} characters", text.chars().count()),
    };
    Value::String(format!("SHA-256 {} of {size}", &sha256(text.as_bytes())[..DIGITS]))
}

impl Made {
    /// What rows were made from.
    pub fn of(rows: &[Row], input: &Input) -> Made {
        let seeds: BTreeSet<&str> = rows.iter().map(|r| r.seeds.as_str()).collect();
        let specs: BTreeSet<&str> = rows.iter().map(|r| r.spec_sha256.as_str()).collect();
        let specs: Vec<&str> = specs.into_iter().filter(|one| !one.is_empty()).collect();
        let (keys, depth) = input.kept();
        Made {
            program: page::version(),
            result_version: Some(RESULT_VERSION),
            seeds: seeds.into_iter().collect::<Vec<_>>().join(" "),
            specifications: spec_sha256(&specs)[..DIGITS].to_string(),
            depth,
            data: Data::Names(input.data_of(rows)),
            input: Some(keys),
        }
    }

    /// Whether it keeps all that this program keeps.
    pub fn is_whole(&self) -> bool {
        self.input.is_some() && self.result_version.is_some()
    }

    /// What differs from what other values are made from now; empty where nothing does. The files come first,
    /// then seeds and program.
    pub fn differs(&self, now: &Made, input: &Input) -> Vec<Difference> {
        let mut all = Vec::new();
        if let Some(then) = &self.input {
            let keys = match self.depth == now.depth {
                true => now.input.clone().unwrap_or_default(),
                false => input.keys_at(self.depth.unwrap_or(DEPTH_MAX)),
            };
            let both: BTreeSet<&String> = then.keys().chain(keys.keys()).collect();
            for key in both {
                let (then, now) = (then.get(key), keys.get(key));
                // Of items that came or went their own keys say so, and older baselines have no order.
                if !key.starts_with(ORDER) || is_reordered(then, now) {
                    changed(key, then, now, &mut all);
                }
            }
        }
        if let (Data::Names(then), Data::Names(now)) = (&self.data, &now.data) {
            all.extend(files(then, now));
        }
        if self.seeds != now.seeds {
            all.retain(|d| !matches!(d, Difference::Key(key, ..) if SEEDS.contains(&key.as_str())));
            all.push(Difference::Seeds(in_words(&self.seeds), in_words(&now.seeds)));
        }
        let versions = self.result_version.zip(now.result_version).filter(|(a, b)| a != b);
        // Seeds and the version of the results are a part of a specification.
        if all.is_empty() && self.specifications != now.specifications {
            let why = match (&self.input, versions) {
                (Some(_), None) => Some("in something that is no key of its files"),
                (Some(_), Some(_)) => None,
                (None, None) => {
                    Some("but the baseline keeps no keys to say in what; `--bless` writes them")
                }
                (None, Some(_)) => {
                    Some("perhaps: the baseline keeps no keys to say; `--bless` writes them")
                }
            };
            all.extend(why.map(Difference::Other));
        }
        all.extend(versions.map(|(then, now)| Difference::Results(then, now)));
        if self.program != now.program {
            all.push(Difference::Program(self.program.clone(), now.program.clone()));
        }
        all
    }
}

/// Seeds for reading: `1-5 7`.
fn in_words(seeds: &str) -> String {
    Row { seeds: seeds.to_string(), ..Row::default() }.seeds_in_words()
}

/// The data files that differ.
fn files(then: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<Difference> {
    let names: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    let how = |name: &&String| match (then.get(*name), now.get(*name)) {
        (Some(a), Some(b)) if a == b => None,
        (Some(_), Some(_)) => Some("has another content"),
        (Some(_), None) => Some("is not read any more"),
        _ => Some("was not read"),
    };
    names.iter().filter_map(|name| Some(Difference::Data((*name).clone(), how(name)?))).collect()
}

/// The differences of a key: of a list of words those that came and went, of other lists of one length item by item.
fn changed(key: &str, then: Option<&Value>, now: Option<&Value>, out: &mut Vec<Difference>) {
    let mut add = |then: Option<&Value>, now: Option<&Value>| {
        let text = |v: Option<&Value>| v.map_or(String::new(), |v| cut(&v.to_string()));
        out.push(Difference::Key(key.to_string(), text(then), text(now)));
    };
    match (then, now) {
        (Some(a), Some(b)) if is_same(a, b) => {}
        (Some(Value::Array(a)), Some(Value::Array(b))) if a.iter().chain(b).all(Value::is_str) => {
            let gone: Vec<&Value> = a.iter().filter(|v| !b.contains(v)).collect();
            let new: Vec<&Value> = b.iter().filter(|v| !a.contains(v)).collect();
            if gone.is_empty() && new.is_empty() {
                return add(then, now);
            }
            gone.into_iter().for_each(|v| add(Some(v), None));
            new.into_iter().for_each(|v| add(None, Some(v)));
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) if a.len() == b.len() => {
            for (i, (a, b)) in a.iter().zip(b).enumerate() {
                changed(&format!("{key}[{i}]"), Some(a), Some(b), out);
            }
        }
        _ => add(then, now),
    }
}

/// Whether two values are the same; `1` and `1.0` are.
fn is_same(a: &Value, b: &Value) -> bool {
    let number = |v: &Value| v.as_float().or_else(|| v.as_integer().map(|n| n as f64));
    a == b || number(a).zip(number(b)).is_some_and(|(a, b)| a == b)
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_string(),
    }
}

impl Difference {
    /// Whether it is of the program, and of no file.
    pub fn is_of_program(&self) -> bool {
        matches!(self, Difference::Program(..) | Difference::Results(..))
    }

    /// Whether it is one of the seeds.
    pub fn is_of_seeds(&self) -> bool {
        match self {
            Difference::Seeds(..) => true,
            Difference::Key(key, ..) => SEEDS.contains(&key.as_str()),
            _ => false,
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Key(key, then, now) => match (then.as_str(), now.as_str()) {
                ("", now) => write!(f, "{key}: {now} is added"),
                (then, "") => write!(f, "{key}: {then} is removed"),
                (then, now) => write!(f, "{key}: {then} -> {now}"),
            },
            Difference::Data(name, how) => write!(f, "file {name} {how}"),
            Difference::Other(why) => write!(f, "what is run, {why}"),
            Difference::Seeds(then, now) => write!(f, "seeds: {then} -> {now}"),
            Difference::Results(then, now) => write!(
                f,
                "version of the results: {then} -> {now} (CHANGELOG.md, \"Results changed\")"
            ),
            Difference::Program(then, now) => write!(f, "program: {then} -> {now}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(spec: &str, data: &str, seeds: &str) -> Row {
        let (spec_sha256, inputs_sha256) = (spec.to_string(), data.to_string());
        Row { spec_sha256, inputs_sha256, seeds: seeds.to_string(), ..Row::default() }
    }

    fn input(text: &str) -> Input {
        let mut input = Input::default();
        input.add_text(text, Path::new("nowhere/a.toml"));
        input
    }

    const TEXT: &str = "seed = 1\npolicies = [\"fifo\", \"nexus\"]\n[[model]]\nname = \"bert\"\n\
        latency = { table = [[1, 3.1], [2, 4.3]] }\n[[model]]\nname = \"gpt\"\n[[axis]]\nkey = \"a\"\n\
        [[axis]]\nkey = \"b\"\n";

    /// What differs where the text, the data or the seeds are others.
    fn differs(text: &str, row_now: &Row) -> Vec<String> {
        let then = Made::of(&[row("s", "x=1", "1-2")], &input(TEXT));
        let input = input(text);
        let all = then.differs(&Made::of(std::slice::from_ref(row_now), &input), &input);
        all.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_key_that_changed_is_named_with_both_values() {
        let now = row("t", "x=1", "1-2");
        for (from, to, says) in [
            ("[2, 4.3]", "[2, 4.4]", "model.bert.latency.table[1][1]: 4.3 -> 4.4"),
            (
                "\"nexus\"]",
                "\"eager\"]",
                "policies: \"nexus\" is removed; policies: \"eager\" is added",
            ),
            (
                "[\"fifo\", \"nexus\"]",
                "[\"nexus\", \"fifo\"]",
                "policies: [\"fifo\", \"nexus\"] -> [\"nexus\", \"fifo\"]",
            ),
            ("key = \"b\"", "key = \"c\"", "axis[1].key: \"b\" -> \"c\""),
            ("name = \"gpt\"", "name = \"gpt\"\nslo_ms = 5", "model.gpt.slo_ms: 5 is added"),
            ("seed = 1\n", "seed = 1\nwarm_up_s = 2.0\n", "warm_up_s: 2.0 is added"),
            ("[2, 4.3]", "[2.0, 4.3]", "what is run, in something that is no key of its files"),
        ] {
            assert_eq!(differs(&TEXT.replace(from, to), &now).join("; "), says);
        }
        // The order of tables is a part of what is run: requests of one instant are in it.
        let [first, second] = [
            "[[model]]\nname = \"bert\"\nlatency = { table = [[1, 3.1], [2, 4.3]] }\n",
            "[[model]]\nname = \"gpt\"\n",
        ];
        let swapped = TEXT.replace(&[first, second].concat(), &[second, first].concat());
        let says = "order of model: [\"bert\", \"gpt\"] -> [\"gpt\", \"bert\"]";
        assert_eq!(differs(&swapped, &now), [says]);
        let same = row("s", "x=1", "1-2");
        assert_eq!(differs(&TEXT.replace("[[axis]]", "# A comment.\n[[axis]]"), &same), [""; 0]);
    }

    #[test]
    fn data_files_are_told_by_name_and_seeds_are_no_second_difference() {
        let of = |data: &str| differs(TEXT, &row("s", data, "1-2")).join("; ");
        assert_eq!(of("x=2"), "file x has another content");
        assert_eq!(of("x=1;y=1"), "file y was not read");
        assert_eq!(of(""), "file x is not read any more");
        let seeds = differs(&TEXT.replace("seed = 1", "seed = 7"), &row("u", "x=1", "7-8"));
        assert_eq!(seeds, ["seeds: 1-2 -> 7-8"]);
    }

    #[test]
    fn a_record_of_a_large_file_is_small_and_still_says_where_it_changed() {
        let model = |i: usize| {
            let wide = (0..40).map(|j| format!("k{j} = {i}\n")).collect::<String>();
            format!("[[model]]\nname = \"m{i}\"\n[model.inner]\n{wide}")
        };
        let text: String = (0..400).map(model).collect();
        let rows = [row("s", "", "1-1")];
        let (old, then) = (input(&text), Made::of(&rows, &input(&text)));
        let size = toml::to_string(&then).unwrap().len();
        assert!(size < KEYS_MAX + KEYS_MAX / 2 && then.depth.is_some(), "{size}");
        assert_eq!(then.differs(&Made::of(&rows, &old), &old), []);
        let new = input(&text.replace("k3 = 77\n", "k3 = 78\n"));
        let differs = then.differs(&Made::of(&rows, &new), &new);
        assert_eq!(differs.len(), 1, "{differs:?}");
        assert!(differs[0].to_string().starts_with("model.m77.inner: \"SHA-256 "), "{differs:?}");
        // One that fits now is compared as deep as what was kept.
        let small = input(&text[..text.find("[[model]]\nname = \"m9\"").unwrap()]);
        let differs = then.differs(&Made::of(&rows, &small), &small);
        assert_eq!(differs.len(), 391, "{:?}", &differs[..3]);
    }

    #[test]
    fn other_versions_are_told_and_what_older_ones_kept_is_read() {
        let rows = [row("s", "", "1-1")];
        let now = Made::of(&rows, &input(TEXT));
        let newer = Made { result_version: Some(99), program: "2".into(), ..now.clone() };
        let says: Vec<String> =
            newer.differs(&now, &input(TEXT)).iter().map(ToString::to_string).collect();
        assert!(says[0].starts_with(&format!("version of the results: 99 -> {RESULT_VERSION} (")));
        assert!(says.len() == 2 && says[1].starts_with("program: 2 -> "), "{says:?}");
        let old = "program = \"1\"\nspecifications = \"a\"\ndata = \"b\"\nseeds = \"1-1\"\n";
        let old: Made = toml::from_str(old).unwrap();
        assert!(!old.is_whole() && now.is_whole());
        let says = old.differs(&now, &input(TEXT))[0].to_string();
        assert!(says.contains("keeps no keys") && says.contains("--bless"), "{says}");
        assert_eq!(toml::from_str::<Made>(&toml::to_string(&now).unwrap()).unwrap(), now);
    }
}
