//! Models to sub-clusters: the partitioning problem of Symphony (Chen et al., 2023), §4.4 and
//! Appendix A, for models of which none is loaded yet, and solvers for it. No simulation happens here.
//!
//! Every backend of a sub-cluster loads all models of the sub-cluster, so memory bounds which models
//! may live together; a dispatcher bounds their request rate. What is sought spreads rate and memory
//! evenly.
//!
//! ```text
//! minimise   dR + w dS                                             (3)
//! so that    rate of each sub-cluster <= R_max                     (4)
//!            static memory + largest dynamic memory <= S_max       (5)
//!            |rate - mean rate| <= dR, |memory - mean| <= dS       (6) (7)
//!            each model in exactly one sub-cluster                 (8) (9)
//! ```
//!
//! | solver | what it does |
//! |---|---|
//! | [`random()`] | the paper's baseline: draw, check, keep the best |
//! | [`local_search()`] | greedy, then moves and swaps; the one to use |
//!
//! Each is bounded by a count, never by time, and gives the same answer whenever it is asked.
//!
//! # Differences from the paper
//! - The paper stops both its solvers after 10 seconds; ours stop after a number of draws or
//!   evaluations, because time would make results depend on the machine.
//! - The paper solves the program with CPLEX. Ours is a local search, which is not in the paper.
//! - The paper also bounds the cost of loading and unloading what is loaded elsewhere (10); its
//!   Fig. 16 has no such models.

mod error;
pub mod local_search;
mod problem;
mod random;

pub use error::PartitionError;
pub use local_search::{greedy, local_search};
pub use problem::{Assignment, Imbalance, ModelLoad, Problem};
pub use random::random;
