//! x
#![allow(missing_docs)]
pub mod audit;
pub mod cluster;
pub mod core;
pub mod det;
pub mod distribution;
pub mod driver;
pub mod event_queue;
pub mod latency;
pub mod log;
pub mod metrics;
pub mod observer;
pub mod policy;
pub mod profile;
pub mod request;
pub mod rng;
pub mod table;
pub mod time;
mod ziggurat;
