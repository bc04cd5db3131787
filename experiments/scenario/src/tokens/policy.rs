//! Policies of requests that are answered token by token, by name.

use crate::own::{self, OwnPolicy, OwnPolicySpec};
use orrery_sim::policy::parameters::Registered;
use orrery_sim::tokens::policy::{ALL, Configured, TokenPolicy};
use schemars::{Schema, SchemaGenerator};

impl OwnPolicy for dyn Configured {
    const ON: &'static str = "tokens";
    const ALLOWED: &'static str =
        "a policy of tokens such as `continuous[order=edf,drop=infeasible]`";

    fn all() -> &'static [Registered<dyn Configured>] {
        ALL
    }

    fn own_name(&self) -> String {
        self.name()
    }
}

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
pub type TokenPolicySpec = OwnPolicySpec<dyn Configured>;

impl OwnPolicySpec<dyn Configured> {
    /// The most tokens and sequences in a step.
    pub fn most(&self) -> (u32, u32) {
        self.config().most()
    }

    /// The policy before its start.
    pub fn build(&self) -> Box<dyn TokenPolicy> {
        self.config().build()
    }
}

/// [`own::list_schema`].
pub(super) fn list_schema(_: &mut SchemaGenerator) -> Schema {
    own::list_schema::<dyn Configured>()
}
