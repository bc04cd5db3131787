//! Keys of a file that change nothing: what a command runs is the same without them.
//!
//! One way for all keys and commands. Each key that the file gives is taken away (a number that must be there is doubled)
//! and the file read again; what the command would run is compared, as it is and without what nothing looks at
//! ([`RULES`]).

use super::file::{ScenarioFile, Sharing};
use super::{Scenario, texts};
use orrery_run::PolicySpec;
use orrery_run::SpecError;
use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value};

/// Why nothing looks at a part of a file, and the file without that part.
type Rule = (&'static str, fn(&mut ScenarioFile));

const RULES: [Rule; 7] = [
    ("no device has `memory_pages`", |file| {
        if file.device.iter().all(|d| d.memory_pages.is_none()) {
            file.load_noise = None;
            file.model.iter_mut().for_each(|m| (m.pages, m.load_ms) = (0, 0.0));
        }
    }),
    ("the device has one lane: set its `lanes`", |file| {
        let alone = file.device.iter_mut().filter(|d| d.lanes == 1);
        alone.for_each(|d| d.sharing = Sharing::None);
    }),
    ("no rate of stalls is above 0", |file| {
        file.stalls = file.stalls.take().filter(|stalls| !stalls.is_none());
    }),
    ("`burst_s` is 0: there are quiet times alone", |file| {
        file.stalls.iter_mut().filter(|s| s.burst_s == 0.0).for_each(|s| s.quiet_s = 0.0);
    }),
    ("`outlier_share` is 0", |file| {
        let noises = file.model.iter_mut().filter_map(|m| m.noise.as_mut());
        let all = noises.chain(&mut file.load_noise).filter(|n| n.outlier_share == 0.0);
        all.for_each(|n| n.outlier_factors.clear());
    }),
    ("no model has a latency at some sizes alone, with others between them", |file| {
        file.model.iter_mut().filter(|m| !m.has_gaps()).for_each(|m| m.between = None);
    }),
    ("of these policies none learns from it (`orloj[relearn_every=500]` does)", |file| {
        let reads = |policy: &String| PolicySpec::parse(policy).is_ok_and(|p| p.needs_profiler());
        if !file.policies.is_empty() && !file.policies.iter().any(reads) {
            file.profiler = None;
        }
    }),
];

/// Keys that who runs a file may replace, and those that only allow what would be refused.
const NOT_ASKED: [&str; 4] = ["name", "seed", "policies", "allow_hopeless_slo"];

impl Scenario {
    /// The keys of its file that change nothing, in a sentence for each reason. `run` says what a command makes of a file
    /// for the first, second ... of its `runs`, and `why` the reason of keys that make no difference there.
    pub fn without_effect(
        &self,
        why: &'static str,
        runs: usize,
        run: impl Fn(&Scenario, usize) -> Result<ScenarioFile, SpecError>,
    ) -> Vec<String> {
        let Ok(table) = self.text().parse::<Table>() else { return Vec::new() };
        // Three copies say as much as thousands.
        let copies = |value, list: &str| edited(&value, &[list.into(), "copies".into()], at_most_3);
        let few = copies(copies(Value::Table(table.clone()), "model"), "zoo");
        let less = toml::to_string(&few).ok().and_then(|text| self.instead(&text).ok());
        let (of, table) = match &less {
            Some(less) => (less, few),
            None => (self, Value::Table(table)),
        };
        let with = (0..runs).map(|i| run(of, i)).collect::<Result<Vec<_>, _>>();
        let Ok(with) = with else { return Vec::new() };
        let said = of.said();
        let reason = |path: &[String]| {
            let less = instead(&table, path, |text| self.instead(text).ok())?;
            if less.said() == said {
                // Its default, or of a kind of device of which there are none.
                return Some(None);
            }
            if less.file == of.file {
                // Else it says what is so without it.
                let is = |key: &str| path.iter().any(|part| part.starts_with(key));
                let whys = [
                    ("latency_on", "no device is of that kind"),
                    ("popularity", "one application has the whole load"),
                ];
                return Some(whys.into_iter().find(|(key, _)| is(key)).map(|(_, why)| why));
            }
            let rules = with.iter().enumerate().map(|(i, with)| {
                let mut both = [with.clone(), run(&less, i).ok()?];
                if both[0] == both[1] {
                    return Some(0);
                }
                let last = RULES.iter().position(|(_, leave_out)| {
                    both.iter_mut().for_each(leave_out);
                    both[0] == both[1]
                });
                last.map(|i| i + 1)
            });
            let most = rules.collect::<Option<Vec<usize>>>()?.into_iter().max()?;
            Some(Some(most.checked_sub(1).map_or(why, |i| RULES[i].0)))
        };
        sentences(self.origin().0, &table, reason)
    }

    /// What the file says beside defaults, and beside kinds of devices of which there are none.
    fn said(&self) -> Option<ScenarioFile> {
        let mut file: ScenarioFile = texts::read(self.origin().0, &self.text()).ok()?;
        let absent = |kind: &str| file.device.iter().any(|d| d.kind == kind && d.count == 0);
        for model in &mut file.model {
            model.latency_on.retain(|kind, _| !absent(kind));
        }
        file.device.retain(|d| d.count > 0);
        Some(file)
    }
}

/// A sentence for each reason why keys of a table change nothing. `reason` has one of a key, or none that is said, or
/// the key changes something: then the keys below it are looked at.
pub(crate) fn sentences(
    name: &str,
    table: &Value,
    reason: impl Fn(&[String]) -> Option<Option<&'static str>>,
) -> Vec<String> {
    let mut open: Vec<Vec<String>> = vec![Vec::new()];
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    while let Some(path) = open.pop() {
        for key in keys(table, &path) {
            let path = [&path[..], &[key]].concat();
            if path.len() == 1 && NOT_ASKED.contains(&&*path[0]) {
                continue;
            }
            match reason(&path) {
                None => open.push(path),
                Some(None) => {}
                Some(Some(why)) => found.entry(why).or_default().push(path.join(".")),
            }
        }
    }
    let words = |(why, mut keys): (&str, Vec<String>)| {
        keys.sort();
        let verb = if keys.len() == 1 { "changes" } else { "change" };
        format!("{name}: `{}` {verb} nothing: {why}", keys.join("`, `"))
    };
    found.into_iter().map(words).collect()
}

/// What is read of a table without a key, or with twice its value where it must be there.
pub(crate) fn instead<T>(
    table: &Value,
    path: &[String],
    read: impl Fn(&str) -> Option<T>,
) -> Option<T> {
    let read = |other: Value| read(&toml::to_string(&other).ok()?);
    read(edited(table, path, |_| None)).or_else(|| read(edited(table, path, doubled)))
}

/// The keys below a path, of all items of a list.
fn keys(value: &Value, path: &[String]) -> BTreeSet<String> {
    match (value, path) {
        (Value::Array(items), _) => items.iter().flat_map(|item| keys(item, path)).collect(),
        (Value::Table(table), []) => table.keys().cloned().collect(),
        (Value::Table(table), [first, rest @ ..]) => {
            table.get(first).map_or_else(BTreeSet::new, |value| keys(value, rest))
        }
        _ => BTreeSet::new(),
    }
}

/// The same with another value of a key, or without it, in all items of a list.
fn edited(value: &Value, path: &[String], edit: fn(&Value) -> Option<Value>) -> Value {
    match (value, path) {
        (Value::Array(items), _) => {
            Value::Array(items.iter().map(|item| edited(item, path, edit)).collect())
        }
        (Value::Table(table), [first, rest @ ..]) => {
            let each = table.iter().filter_map(|(key, value)| {
                let new = match (key == first, rest) {
                    (false, _) => Some(value.clone()),
                    (true, []) => edit(value),
                    (true, rest) => Some(edited(value, rest, edit)),
                };
                Some((key.clone(), new?))
            });
            Value::Table(each.collect())
        }
        _ => value.clone(),
    }
}

fn at_most_3(value: &Value) -> Option<Value> {
    Some(Value::Integer(value.as_integer()?.min(3)))
}

fn doubled(value: &Value) -> Option<Value> {
    match value {
        Value::Integer(n) => n.checked_mul(2).map(Value::Integer),
        Value::Float(x) => Some(Value::Float(2.0 * x)),
        _ => None,
    }
}
