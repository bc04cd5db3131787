//! From a name such as `salus[order=srtf]` to a policy of jobs.

use crate::error::SpecError;
use crate::policy_spec::{Fault, hint, of, split, wrong};
use orrery_sim::jobs::policy::{ALL, Configured, JobPolicy};
use orrery_sim::policy::parameters::Registered;
use schemars::{Schema, SchemaGenerator, json_schema};
use std::fmt;
use std::sync::Arc;

/// A policy of jobs and its parameters, ready to be built.
///
/// ```
/// use orrery_scenario::jobs::JobPolicySpec;
///
/// let spec = JobPolicySpec::parse("salus[order=srtf]").unwrap();
/// assert_eq!(spec.name(), "salus[order=srtf,lanes=released]");
///
/// let error = JobPolicySpec::parse("salus[order=sjf]").unwrap_err().to_string();
/// assert!(error.contains("allowed: fifo, srtf, las, rr, pack"));
/// ```
#[derive(Clone, Debug)]
pub struct JobPolicySpec {
    text: String,
    config: Arc<dyn Configured>,
}

impl JobPolicySpec {
    /// Reads a policy's name and parameters.
    ///
    /// # Errors
    /// When the name or a parameter is unknown (the nearest one is offered), or a value is wrong.
    pub fn parse(text: &str) -> Result<JobPolicySpec, SpecError> {
        let (name, given) = split(text)?;
        let policy = registered(name).map_err(|e| of(text, e))?;
        let config = policy.parse(&given).map_err(|e| wrong(text, &e))?;
        Ok(JobPolicySpec { text: text.to_string(), config: config.into() })
    }

    /// As [`JobPolicySpec::parse`], for the text at a key of a file.
    ///
    /// # Errors
    /// The same, with the key.
    pub fn parse_at(key: String, text: &str) -> Result<JobPolicySpec, SpecError> {
        JobPolicySpec::parse(text).map_err(|error| match error {
            SpecError::Policy { policy, message, remedy } => {
                let allowed = "a policy of jobs such as `salus[order=srtf]` or `fluid`";
                SpecError::value(key, format!("`{policy}`: {message}"), allowed, remedy)
            }
            other => other,
        })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The policy's own name in results, with all its parameters.
    pub fn name(&self) -> String {
        self.config.name()
    }

    /// The value of a parameter.
    pub fn value(&self, key: &str) -> Option<String> {
        self.config.value(key)
    }

    /// Whether it places jobs in lanes of a GPU, in place of widths on workers.
    pub fn has_lanes(&self) -> bool {
        self.config.has_lanes()
    }

    /// The policy before its start.
    pub fn build(&self) -> Box<dyn JobPolicy> {
        self.config.build()
    }
}

impl fmt::Display for JobPolicySpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The policy of a name; without one, the nearest and all of them.
pub(crate) fn registered(name: &str) -> Result<&'static Registered<dyn Configured>, Fault> {
    ALL.iter().find(|p| p.about.name == name).ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|p| p.about.name).collect();
        let known = names.join(", ");
        if orrery_sim::policy::ALL.iter().any(|p| p.about.name == name) {
            let message = format!("`{name}` works on requests, and here are jobs");
            return (message, format!("use a policy of jobs: {known}"));
        }
        let message = format!("there is no policy of jobs `{name}`");
        (message, format!("{}known: {known}", hint(name, &names)))
    })
}

/// A policy's text in files: the names that there are, with or without brackets.
pub(super) fn list_schema(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<&str> = ALL.iter().map(|p| p.about.name).collect();
    let pattern = format!(r"^\s*({})\s*(\[.*\]\s*)?$", names.join("|"));
    let examples: Vec<String> = ALL.iter().map(|p| p.table().name).collect();
    json_schema!({
        "type": "array",
        "items": { "type": "string", "pattern": pattern, "examples": examples },
    })
}
