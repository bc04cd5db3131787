//! Scenarios: the registry of policies, and runs made from declarative files.
//!
//! This crate is free of tables and plots, so the replay harness may use it.
//!
//! ```
//! use orrery_scenario::Scenario;
//!
//! let text = r#"
//! policies = ["fifo", "nexus"]
//!
//! [[model]]
//! name = "bert"
//! slo_ms = 100.0
//! latency = { affine = { alpha_ms = 1.0, beta_ms = 4.0 } }
//!
//! [[app]]
//! name = "chat"
//! model = "bert"
//! time = { constant = { ms = 5.0 } }
//!
//! [arrivals]
//! poisson = { rate_per_s = 900.0 }
//! requests = 5000
//! "#;
//! let scenario = Scenario::from_text("chat.toml", text)?;
//! let setup = scenario.setup(scenario.seed)?;
//! for policy in scenario.policies()? {
//!     let total = setup.run(&policy, scenario.seed)?.total();
//!     assert_eq!(total.offered, 5_000);
//!     println!("{policy}: {:.3} in time", total.finish_rate());
//! }
//! # Ok::<(), orrery_run::SpecError>(())
//! ```

pub mod defaults;
pub mod jobs;
pub mod kairos;
mod key_names;
pub mod kind;
mod listed;
pub mod own;
mod range;
pub mod reference;
pub mod scenario;
pub mod search;
pub mod tokens;
pub mod whole;

pub use scenario::{Scenario, zoo};
pub use whole::read_text;

// The tests in `tests/it/` see what a user of the crate sees. They are a module here, because each test
// program of its own costs a link.
#[cfg(test)]
extern crate self as orrery_scenario;
#[cfg(test)]
#[path = "../tests/it/main.rs"]
mod it;
