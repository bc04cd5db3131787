//! Capacity plans: which machines, how many, at what cost.
//!
//! ```text
//!  PLAN.toml ── input ──> Problem ── search ── a pool of several types, clusters of one type, or a fleet
//!     │           ▲                    │ trial: simulations
//!     │           │                    ▼
//!     └── --what-if ──────────────> Solved ── document ──> Answers: text, tables, page, rows, figure
//! ```
//!
//! Bounds only leave pools out; what is answered was simulated, with several seeds. Several models that share
//! one pool of several types are not planned here.

mod document;
mod input;
mod search;
#[cfg(test)]
mod tests;

pub use document::answers::{Answers, answers};
pub use document::figure::{draw, label_of, of as figure_of, over as figure_over};
pub use document::page::page_of;
pub use input::file::{PlanFile, Pools, Source};
pub use input::growth::Growth;
pub use input::loss::Survive;
pub use input::one_line::Line;
pub use input::problem::{Group, Problem};
pub use input::simulation_cache::SimulationCache;
pub use input::watcher::Watcher;
pub use input::what_if::{changed, over};
pub use search::answer::{Answer as Answered, Choice, Point, Searched};
pub use search::replan::is_quick;
pub use search::robust::{Better, Robust};
pub use search::solve::solve;
pub use search::solved::{Fleet, Solved};
pub use search::trial::{Check, Edge};
pub use search::variants::{Enough, Next, Tried, Variant};
