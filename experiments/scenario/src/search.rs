//! [The one search](orrery_run::search), and what the devices of a scenario can compute at most.

mod capacity;
#[cfg(test)]
mod tests;

pub use capacity::{alone, capacity_per_s};
pub use orrery_run::search::*;
