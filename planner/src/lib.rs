//! Which machines, how many, at what cost: the configuration half of Kairos (Li et al., "Kairos:
//! Building Cost-Efficient Machine Learning Inference Systems with Heterogeneous Cloud Resources",
//! HPDC 2023), §5.2, and the searches it is compared with. No simulation happens here: who wants to
//! know what a pool carries hands in an [`Evaluate`].

mod bound;
mod catalogue;
mod error;
mod ingredients;
mod pool;
mod profile;
mod ranking;
pub mod released;

pub use bound::{auxiliary_bound_per_s, base_bound_per_s, upper_bound_per_s};
pub use catalogue::{Catalogue, InstanceType, Price, Role};
pub use error::PlannerError;
pub use ingredients::{Auxiliary, Ingredients, Region, most_cost_effective_base};
pub use pool::{POOLS_MAX, Pool, Space};
pub use profile::{Latency, Profile, Sizes};
pub use ranking::{PickedBy, Ranking, write_table};
