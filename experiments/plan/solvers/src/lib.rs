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
//! | the order by it, the pool Kairos picks | [`Ranking`] |
//! | Kairos+ and the other searches | [`search`] |
//! | which models on which kind, when a cluster's cost is dear to know | [`fleet`] |
//! | which models in which sub-cluster | [`partition`] |
//!
//! ```
//! use orrery_solvers::search::{Rules, kairos_plus};
//! use orrery_solvers::{Pool, Ranking, Space, released, upper_bound_per_s};
//!
//! // Every pool of the paper's four instance types under 2.5 $/h, and what each carries at most.
//! let space = Space::within(&released::catalogue(), released::BUDGET)?;
//! let ingredients = released::ingredients("rm2").expect("one of the paper's models");
//! let ranking = Ranking::new(&space, &ingredients)?;
//!
//! // Kairos builds a pool without evaluating any: one g4dn.xlarge and thirteen r5n.large.
//! let (picked, _) = ranking.pick(&space);
//! assert_eq!(space.pools()[picked], Pool(vec![1, 0, 13, 0]));
//!
//! // Kairos+ evaluates a few. Here each carries 9/10 of its bound; a simulation would say.
//! let mut carries = |pool: &Pool| upper_bound_per_s(&ingredients, pool).map(|b| 0.9 * b);
//! let found = kairos_plus(&space, &ranking, Rules::default(), &mut carries).expect("a pool");
//! assert_eq!(space.pools().len(), 331);
//! assert!(found.evaluations() < 10);
//! # Ok::<(), orrery_solvers::PlannerError>(())
//! ```
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
pub mod fleet;
mod gaussian_process;
mod ingredients;
pub mod partition;
mod pool;
mod profile;
mod ranking;
pub mod released;
pub mod search;
mod tariff;

pub use bound::{auxiliary_bound_per_s, base_bound_per_s, headroom, upper_bound_per_s};
pub use catalogue::{Catalogue, InstanceType, Price, Role};
pub use error::PlannerError;
pub use ingredients::{Auxiliary, Ingredients, Region};
pub use pool::{POOLS_MAX, Pool, Space};
pub use profile::{Latency, Profile, Sizes};
pub use ranking::{PickedBy, Ranking};
pub use tariff::{Pack, Purchase, Tariff};

// The tests in `tests/it/` see what a user of the crate sees. They are a module here, because each test
// program of its own costs a link.
#[cfg(test)]
extern crate self as orrery_solvers;
#[cfg(test)]
#[path = "../tests/it/main.rs"]
mod it;
