//! Policies of jobs by name.

use orrery_run::policy_spec::Spec;
use orrery_sim::jobs::policy::Configured;

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
pub type JobPolicySpec = Spec<dyn Configured>;
