//! The arena: a frozen suite of scenarios, and which scheduler leads where in it.
//!
//! ```text
//!  suite ──> fight: a cell for each scenario and policy, kept as a sweep's are
//!                             │          rates: highest rates
//!                             │
//!  document, rows <── league: board (scores, ties, places), map (two axes)
//!     └── claims: what the papers' headlines say of these scenarios
//! ```
//!
//! It runs nothing of its own: a cell is a scenario and a policy with its seeds, as in a sweep.

pub mod board;
pub mod claims;
pub mod document;
pub mod fight;
pub mod league;
pub mod map;
pub mod own;
pub mod possible;
pub mod rates;
pub mod rows;
mod shipped;
pub mod suite;
#[cfg(test)]
mod tests;
pub mod tuned;
mod words;

pub use fight::{Asked, How, Outcome, fight};
pub use league::League;
pub use shipped::names as suites;
pub use suite::Suite;
