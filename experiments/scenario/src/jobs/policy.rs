//! Policies of jobs by name.

use crate::own::{self, OwnPolicy, OwnPolicySpec};
use orrery_sim::jobs::policy::{ALL, Configured, JobPolicy};
use orrery_sim::policy::parameters::Registered;
use schemars::{Schema, SchemaGenerator};

impl OwnPolicy for dyn Configured {
    const ON: &'static str = "jobs";
    const ALLOWED: &'static str = "a policy of jobs such as `salus[order=srtf]` or `fluid`";

    fn all() -> &'static [Registered<dyn Configured>] {
        ALL
    }

    fn own_name(&self) -> String {
        self.name()
    }
}

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
pub type JobPolicySpec = OwnPolicySpec<dyn Configured>;

impl OwnPolicySpec<dyn Configured> {
    /// The value of a parameter.
    pub fn value(&self, key: &str) -> Option<String> {
        self.config().value(key)
    }

    /// Whether it places jobs in lanes of a GPU, in place of widths on workers.
    pub fn has_lanes(&self) -> bool {
        self.config().has_lanes()
    }

    /// The policy before its start.
    pub fn build(&self) -> Box<dyn JobPolicy> {
        self.config().build()
    }
}

/// [`own::list_schema`].
pub(super) fn list_schema(_: &mut SchemaGenerator) -> Schema {
    own::list_schema::<dyn Configured>()
}
