//! A policy's presets and parameters for readers: the same for every policy.

use super::{About, Parameter, Settings};
use std::fmt;

/// What may be written as a parameter's value. It prints as errors say it.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Allowed {
    /// A whole number, or a word for none.
    Count {
        least: u32,
        most: u32,
        or: Option<&'static str>,
    },
    Number {
        least: f64,
        most: f64,
    },
    /// A number, in the row's unit.
    Time {
        least: f64,
        most: f64,
    },
    Flag,
    /// One of these, each with its meaning.
    Words(Vec<(&'static str, &'static str)>),
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allowed::Count { least, most, or: None } => {
                write!(f, "a whole number from {least} to {most}")
            }
            Allowed::Count { least, most, or: Some(word) } => {
                write!(f, "{word}, or a whole number from {least} to {most}")
            }
            Allowed::Number { least, most } | Allowed::Time { least, most } => {
                write!(f, "a number from {least} to {most}")
            }
            Allowed::Flag => f.write_str("true, false"),
            Allowed::Words(words) => {
                let words: Vec<&str> = words.iter().map(|w| w.0).collect();
                f.write_str(&words.join(", "))
            }
        }
    }
}

impl Allowed {
    /// The type's name: `count`, `number`, `time`, `flag`, `word`.
    pub fn kind(&self) -> &'static str {
        match self {
            Allowed::Count { .. } => "count",
            Allowed::Number { .. } => "number",
            Allowed::Time { .. } => "time",
            Allowed::Flag => "flag",
            Allowed::Words(_) => "word",
        }
    }
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its name; a time's ends in its unit.
    pub name: &'static str,
    /// `ms`, `us`, `s`, or nothing.
    pub unit: &'static str,
    /// Its value in each preset, in the presets' order. Where it needs another's value, its value
    /// with that.
    pub defaults: Vec<String>,
    /// What may be written.
    pub allowed: Allowed,
    /// Another parameter and the value of it that this one needs.
    pub needs: Option<(&'static str, &'static str)>,
    /// Where its default comes from: paper, section, file of the released code. May be empty.
    pub source: &'static str,
    /// What it is, in one line without a full stop.
    pub help: &'static str,
}

/// A policy's presets and parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// What it is.
    pub about: About,
    /// Name and meaning of each preset; the first is what a bare name means.
    pub presets: Vec<(&'static str, &'static str)>,
    /// Its parameters, in the order of its name.
    pub rows: Vec<Row>,
    /// The name of the policy with its defaults, as results have it.
    pub name: String,
}

impl Table {
    /// The table of a configuration.
    pub(super) fn of<C: Settings>() -> Table {
        let base = (C::PRESETS[0].make)();
        Table {
            about: C::ABOUT,
            presets: C::PRESETS.iter().map(|p| (p.name, p.what)).collect(),
            rows: C::PARAMETERS.iter().map(row).collect(),
            name: base.name(),
        }
    }
}

fn row<C: Settings>(parameter: &Parameter<C>) -> Row {
    let default = |mut config: C| {
        if let Some((key, value)) = parameter.needs {
            let other = C::PARAMETERS.iter().find(|p| p.name() == key);
            // A bug: a row that needs what there is not.
            let other = other.unwrap_or_else(|| panic!("`{key}` is no parameter"));
            other.write(&mut config, value).unwrap_or_else(|e| panic!("{e}"));
        }
        parameter.read(&config).unwrap_or_else(|| panic!("`{}` has no place", parameter.name()))
    };
    Row {
        name: parameter.name(),
        unit: parameter.unit(),
        defaults: C::PRESETS.iter().map(|p| default((p.make)())).collect(),
        allowed: parameter.allowed(&(C::PRESETS[0].make)()),
        needs: parameter.needs,
        source: parameter.source,
        help: parameter.help,
    }
}
