//! Kairos's pools: several instance types under a budget, what a pool carries under a scheme, and the
//! searches for the best one.
//!
//! ```text
//!  Conditions, model ──▶ World (pools, bounds, what is simulated)
//!                          │
//!    Selector ─────────────┼──▶ Evaluator ──▶ allowable throughputs
//!    Searching ── planner ─┘
//! ```

pub mod conditions;
pub mod evaluate;
mod oracle;
pub mod scheme;
pub mod searches;
pub mod select;
pub mod world;

pub use conditions::Conditions;
pub use evaluate::{Evaluator, Known, Value};
pub use scheme::Scheme;
pub use searches::Searching;
pub use select::{Selector, dashed};
pub use world::World;

/// What a pool carries, and what searches find.
pub use orrery_results::metric::ALLOWABLE_THROUGHPUT as ALLOWABLE;
