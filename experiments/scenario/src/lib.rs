//! Scenarios: the registry of policies, and runs made from declarative files.
//!
//! This crate is free of tables and plots, so the replay harness may use it.

pub mod error;
pub mod kairos;
pub mod kind;
pub mod limits;
pub mod policy_spec;
pub mod pool;
pub mod reference;
pub mod scenario;
pub mod search;
pub mod setup;
pub mod whole;

pub use error::SpecError;
pub use policy_spec::PolicySpec;
pub use scenario::{Scenario, zoo};
pub use setup::Setup;
pub use whole::read_text;

// The tests in `tests/it/` see what a user of the crate sees. They are a module here, because each test
// program of its own costs a link.
#[cfg(test)]
extern crate self as orrery_scenario;
#[cfg(test)]
#[path = "../tests/it/main.rs"]
mod it;
