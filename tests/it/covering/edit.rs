//! A world's file from edits of the base world: `path = value`, where a path is as in a message's key
//! (`model[0].latency`), and `path = none` removes.

use std::collections::BTreeMap;
use toml::{Table, Value};

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Key(String),
    At(usize),
}

/// What is to be written, by place. A place comes before those inside of it.
#[derive(Clone, Debug, Default)]
pub struct Edits(BTreeMap<Vec<Step>, Option<Value>>);

impl Edits {
    /// Reads edits, separated by `; `.
    pub fn read(text: &str) -> Edits {
        let mut edits = Edits::default();
        for edit in text.split("; ").filter(|edit| !edit.is_empty()) {
            let (path, value) = edit.split_once(" = ").unwrap_or_else(|| panic!("no edit: {edit}"));
            let value = (value != "none").then(|| parse(edit, value));
            assert!(edits.0.insert(steps(path), value).is_none(), "twice: {edit}");
        }
        edits
    }

    /// Whether both can be made: one place has one value, and nothing is written into what is removed.
    pub fn agree(&self, other: &Edits) -> bool {
        let pairs = self.0.iter().flat_map(|a| other.0.iter().map(move |b| (a, b)));
        pairs.into_iter().all(|((at, value), (other_at, other_value))| {
            let inside = |a: &[Step], b: &[Step]| a.len() > b.len() && a.starts_with(b);
            match () {
                _ if at == other_at => value == other_value,
                _ if inside(at, other_at) => other_value.is_some() || value.is_none(),
                _ if inside(other_at, at) => value.is_some() || other_value.is_none(),
                _ => true,
            }
        })
    }

    /// Adds others, which agree with these.
    pub fn add(&mut self, others: &Edits) {
        self.0.extend(others.0.iter().map(|(at, value)| (at.clone(), value.clone())));
    }

    /// The base with all edits.
    pub fn apply(&self, base: &str) -> String {
        let mut table: Table = base.parse().unwrap_or_else(|e| panic!("the base world: {e}"));
        // Removals go last: a list keeps its numbers until then.
        for (path, value) in self.0.iter().filter(|edit| edit.1.is_some()) {
            set(&mut table, path, value.clone());
        }
        for (path, _) in self.0.iter().rev().filter(|edit| edit.1.is_none()) {
            set(&mut table, path, None);
        }
        toml::to_string(&table).unwrap_or_else(|e| panic!("{e}"))
    }
}

fn parse(edit: &str, value: &str) -> Value {
    let table: Table = format!("v = {value}").parse().unwrap_or_else(|e| panic!("{edit}: {e}"));
    table["v"].clone()
}

fn steps(path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for part in path.split('.') {
        let (key, rest) = part.split_once('[').map_or((part, ""), |(key, rest)| (key, rest));
        steps.push(Step::Key(key.to_string()));
        let numbers = rest.split('[').filter(|n| !n.is_empty());
        steps.extend(numbers.map(|n| {
            let n = n.trim_end_matches(']').parse();
            Step::At(n.unwrap_or_else(|_| panic!("no path: {path}")))
        }));
    }
    steps
}

/// Writes a value, or removes it. What is on the way is made.
fn set(table: &mut Table, path: &[Step], value: Option<Value>) {
    let [Step::Key(key), rest @ ..] = path else { panic!("a path begins with a key: {path:?}") };
    if rest.is_empty() {
        match value {
            Some(value) => table.insert(key.clone(), value),
            None => table.remove(key),
        };
        return;
    }
    let empty =
        if matches!(rest[0], Step::At(_)) { Value::Array(vec![]) } else { Table::new().into() };
    let inner = table.entry(key.clone()).or_insert(empty);
    set_in(inner, rest, value);
}

fn set_in(place: &mut Value, path: &[Step], value: Option<Value>) {
    match (place, path) {
        (Value::Table(table), _) => set(table, path, value),
        (Value::Array(list), [Step::At(at)]) => match value {
            Some(value) if *at < list.len() => list[*at] = value,
            Some(value) => list.push(value),
            None => drop(list.remove(*at)),
        },
        (Value::Array(list), [Step::At(at), rest @ ..]) => {
            if *at >= list.len() {
                list.push(Table::new().into());
            }
            let at = (*at).min(list.len() - 1);
            set_in(&mut list[at], rest, value);
        }
        // A word such as `"equal"` where a table is written now.
        (place, _) => {
            let mut table = Table::new();
            set(&mut table, path, value);
            *place = table.into();
        }
    }
}

#[test]
fn edits_write_remove_and_contradict_each_other() {
    let base = "seed = 1\n[[device]]\nkind = \"gpu\"\n[arrivals]\nrequests = 5\n";
    let edits = Edits::read("device[0].speed = 2.0; device[1].kind = \"slow\"; arrivals = none");
    let whole =
        "seed = 1\n\n[[device]]\nkind = \"gpu\"\nspeed = 2.0\n\n[[device]]\nkind = \"slow\"\n";
    assert_eq!(edits.apply(base), whole);
    let agrees = |text| edits.agree(&Edits::read(text));
    assert!(agrees("device[0].speed = 2.0; device[0].count = 2; seed = 3"));
    assert!(!agrees("device[0].speed = 3.0") && !agrees("arrivals.requests = 7"));
    assert!(!agrees("device = none"));
}
