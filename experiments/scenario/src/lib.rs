//! Scenarios: the registry of policies, and runs made from declarative files.
//!
//! This crate is free of tables and plots, so the replay harness may use it.

pub mod error;
pub mod kairos;
pub mod kind;
pub mod limits;
pub mod policies;
pub mod policy_spec;
pub mod pool;
pub mod reference;
pub mod scenario;
pub mod search;
pub mod setup;
pub mod whole;
pub mod zoo;

pub use error::SpecError;
pub use policy_spec::PolicySpec;
pub use scenario::Scenario;
pub use setup::Setup;
pub use whole::read_text;
