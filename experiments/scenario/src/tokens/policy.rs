//! Policies of requests that are answered token by token, by name.

use orrery_run::policy_spec::Spec;
use orrery_sim::tokens::policy::Configured;

/// A policy of requests that are answered token by token, ready to be built.
///
/// ```
/// use orrery_scenario::tokens::TokenPolicySpec;
///
/// let spec = TokenPolicySpec::parse("continuous[order=edf]").unwrap();
/// assert_eq!(spec.name(), "continuous[order=edf,drop=none,budget=2048,sequences=128]");
///
/// let error = TokenPolicySpec::parse("fifo").unwrap_err().to_string();
/// assert!(error.contains("`fifo` works on requests, and here are tokens"));
/// ```
pub type TokenPolicySpec = Spec<dyn Configured>;
