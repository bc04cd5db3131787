//! Policies of the small worlds beside that of requests: from a name such as `salus[order=srtf]` to a policy.

use crate::error::{SpecError, hint, one_of};
use crate::policy_spec::{Fault, of, split, wrong};
use crate::scenario::place::Source;
use orrery_sim::policy::parameters::Registered;
use schemars::{Schema, json_schema};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A configured policy of a world of its own.
pub trait OwnPolicy: fmt::Debug + Send + Sync + 'static {
    /// What the policies of the world work on, in the plural: `jobs`.
    const ON: &'static str;
    /// What is allowed as a policy, with an example.
    const ALLOWED: &'static str;

    /// The policies of the world, by name.
    fn all() -> &'static [Registered<Self>];

    /// The policy's own name in results, with all its parameters.
    fn own_name(&self) -> String;
}

/// A policy and its parameters, ready to be built.
#[derive(Debug)]
pub struct OwnPolicySpec<K: ?Sized> {
    text: String,
    config: Arc<K>,
}

impl<K: ?Sized> Clone for OwnPolicySpec<K> {
    fn clone(&self) -> OwnPolicySpec<K> {
        OwnPolicySpec { text: self.text.clone(), config: Arc::clone(&self.config) }
    }
}

impl<K: OwnPolicy + ?Sized> OwnPolicySpec<K> {
    /// Reads a policy's name and parameters.
    ///
    /// # Errors
    /// When the name or a parameter is unknown (the nearest one is offered), or a value is wrong.
    pub fn parse(text: &str) -> Result<OwnPolicySpec<K>, SpecError> {
        let (name, given) = split(text)?;
        let policy = registered::<K>(name).map_err(|e| of(text, e))?;
        let config = policy.parse(&given).map_err(|e| wrong(text, &e))?;
        Ok(OwnPolicySpec { text: text.to_string(), config: config.into() })
    }

    /// As [`OwnPolicySpec::parse`], for the text at a key of a file.
    ///
    /// # Errors
    /// The same, with the key.
    pub fn parse_at(key: String, text: &str) -> Result<OwnPolicySpec<K>, SpecError> {
        OwnPolicySpec::parse(text).map_err(|error| match error {
            SpecError::Policy { policy, message, remedy } => {
                SpecError::value(key, format!("`{policy}`: {message}"), K::ALLOWED, remedy)
            }
            other => other,
        })
    }

    /// The policy's own name in results, with all its parameters.
    pub fn name(&self) -> String {
        self.config.own_name()
    }
}

impl<K: ?Sized> OwnPolicySpec<K> {
    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The policy with its parameters.
    pub fn config(&self) -> &K {
        &self.config
    }
}

impl<K: ?Sized> fmt::Display for OwnPolicySpec<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The policy of a name; without one, the nearest and all of them.
fn registered<K: OwnPolicy + ?Sized>(name: &str) -> Result<&'static Registered<K>, Fault> {
    let on = K::ON;
    K::all().iter().find(|p| p.about.name == name).ok_or_else(|| {
        let names: Vec<&str> = K::all().iter().map(|p| p.about.name).collect();
        if orrery_sim::policy::ALL.iter().any(|p| p.about.name == name) {
            let message = format!("`{name}` works on requests, and here are {on}");
            return (message, format!("use a policy of {on}: {}", names.join(", ")));
        }
        let message = format!("there is no policy of {on} `{name}`");
        (message, format!("{}name {}", hint(name, names.iter().copied()), one_of(name, names)))
    })
}

/// The policies of a file.
///
/// # Errors
/// When one is unknown or has a wrong parameter, with its line.
pub(crate) fn policies<K: OwnPolicy + ?Sized>(
    texts: &[String],
    source: &Source,
) -> Result<Vec<OwnPolicySpec<K>>, SpecError> {
    let parse = |(i, text): (usize, &String)| {
        let parsed = OwnPolicySpec::parse_at(format!("policies[{i}]"), text);
        parsed.map_err(|e| source.placed(e))
    };
    texts.iter().enumerate().map(parse).collect()
}

/// Refuses a file without a policy; an example is one that it could name.
pub(crate) fn some_policies(
    texts: &[String],
    example: &str,
    source: &Source,
) -> Result<(), SpecError> {
    if !texts.is_empty() {
        return Ok(());
    }
    let remedy = format!("name one, such as `{example}`");
    Err(source.placed(SpecError::value("policies", "none", "at least one policy", remedy)))
}

/// A file without a name of its own has its path's.
pub(crate) fn name_after(path: &Path, name: &mut String) {
    if name.is_empty() {
        *name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    }
}

/// The error, at a key of the world's own table.
pub(crate) fn in_table(table: &str, error: SpecError) -> SpecError {
    match error.key() {
        Some(key) if !key.starts_with(&format!("{table}.")) && key != "policies" => {
            let key = format!("{table}.{key}");
            error.at(key)
        }
        _ => error,
    }
}

/// A policy's text in files: the names that there are, with or without brackets.
pub fn list_schema<K: OwnPolicy + ?Sized>() -> Schema {
    let names: Vec<&str> = K::all().iter().map(|p| p.about.name).collect();
    let pattern = format!(r"^\s*({})\s*(\[.*\]\s*)?$", names.join("|"));
    let examples: Vec<String> = K::all().iter().map(|p| p.table().name).collect();
    json_schema!({
        "type": "array",
        "items": { "type": "string", "pattern": pattern, "examples": examples },
    })
}
