//! What is run: a world, its load, its policy and its observers ([`Setup`]); and the one [`search`] for the load that
//! a cluster carries. A run comes down to its [`replication::Replication`].
//!
//! Nothing here reads a file: [`Setup`]s are made from scenarios, one floor above. What a simulation spends its time
//! in is compiled here and below; the floors above are built quickly rather than well.

pub mod bound;
pub mod error;
pub mod limits;
pub mod policies;
pub mod policy_spec;
pub mod replication;
pub mod search;
pub mod setup;
pub mod sources;

pub use error::SpecError;
pub use policy_spec::PolicySpec;
pub use setup::Setup;
