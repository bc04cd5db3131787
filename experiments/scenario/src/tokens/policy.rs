//! Policies of requests that are answered token by token, by name.

use crate::own;
use crate::policy_spec::Spec;
use orrery_sim::tokens::policy::Configured;
use schemars::{Schema, SchemaGenerator};

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

/// [`own::list_schema`].
pub(super) fn list_schema(_: &mut SchemaGenerator) -> Schema {
    own::list_schema::<dyn Configured>()
}
