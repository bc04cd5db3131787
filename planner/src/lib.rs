//! Which machines, how many, at what cost: the configuration half of Kairos (Li et al., "Kairos:
//! Building Cost-Efficient Machine Learning Inference Systems with Heterogeneous Cloud Resources",
//! HPDC 2023), §5.2, and the searches that it is compared with. No simulation happens here: whoever
//! knows what a pool carries hands in an [`Evaluate`](search::Evaluate).
//!
//! ```text
//!  latencies, query sizes ──▶ Ingredients ──┐
//!  Catalogue, budget ──▶ Space (pools) ─────┼─▶ Ranking ──▶ pick, without any evaluation
//!                          │                        │
//!                          └──────────┬─────────────┘
//!                  Evaluate ──▶ search ──▶ Found
//! ```
//!
//! | what | where |
//! |---|---|
//! | instance types and prices; every pool under a budget | [`Catalogue`], [`Space`] |
//! | what the bound is made of, measured or as released | [`Ingredients`], [`released`] |
//! | the upper bound, Eq. 9 to 15 | [`upper_bound_per_s`] |
//! | the order by it, the pool Kairos picks, the table of all bounds | [`Ranking`], [`write_table`] |
//! | Kairos+ and the other searches | [`search`] |
//!
//! One order breaks every tie: that of the pools in their [`Space`]. Money is whole millionths of a
//! dollar, latencies are whole nanoseconds, throughputs are floats in queries/s that only
//! arithmetic, square roots and `libm` have touched.
//!
//! What is assumed of an evaluator, where a search says that it is complete: that it gives the same
//! answer whenever it is asked; that bounds hold, where bounds are used; that more instances never
//! carry less, where sub-configurations are ruled out.

mod bound;
mod catalogue;
mod error;
mod gaussian_process;
mod ingredients;
mod pool;
mod profile;
mod ranking;
pub mod released;
pub mod search;

pub use bound::{auxiliary_bound_per_s, base_bound_per_s, headroom, upper_bound_per_s};
pub use catalogue::{Catalogue, InstanceType, Price, Role};
pub use error::PlannerError;
pub use ingredients::{Auxiliary, Ingredients, Region};
pub use pool::{POOLS_MAX, Pool, Space};
pub use profile::{Latency, Profile, Sizes};
pub use ranking::{PickedBy, Ranking, write_table};

// The tests in `tests/it/` see what a user of the crate sees. They are a module here, because each test
// program of its own costs a link.
#[cfg(test)]
extern crate self as orrery_planner;
#[cfg(test)]
#[path = "../tests/it/main.rs"]
mod it;
