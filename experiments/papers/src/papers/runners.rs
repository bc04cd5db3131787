//! The kinds of experiments: how a point of each is run.

pub mod applications;
pub mod means;
pub mod partition;
pub mod pool;
mod pool_text;
pub mod scenario;
mod times;
