//! What may be written as a parameter's value, and what is wrong with one that may not.

use std::fmt;
use thiserror::Error;

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

/// What is wrong with a parameter.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SettingError {
    /// The policy has no such parameter.
    #[error("there is no parameter `{key}` here")]
    Unknown {
        /// What was written.
        key: String,
        /// The policy's parameters.
        known: Vec<&'static str>,
    },
    /// It means something only with another parameter's value.
    #[error("`{key}` is of use only with `{needs}`")]
    Needs {
        /// The parameter.
        key: &'static str,
        /// The other's: `sizing=aimd`.
        needs: String,
    },
    /// The value is not allowed.
    #[error("`{key}`: found `{found}`; allowed: {allowed}")]
    Value {
        /// The parameter.
        key: &'static str,
        /// Its value as written.
        found: String,
        /// The values or the range that the parameter takes.
        allowed: String,
    },
}

impl SettingError {
    pub(super) fn value(key: &'static str, found: &str, allowed: impl ToString) -> SettingError {
        SettingError::Value { key, found: found.to_string(), allowed: allowed.to_string() }
    }
}
