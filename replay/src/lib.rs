//! The replay harness: orrery's policies and their schedules on a device that really takes time, and
//! how far the prediction was off.
//!
//! The wall-clock driver ([`driver`]) is a second loop around the simulator's core; a [`device`] is
//! emulated or CUDA.

pub mod card;
pub mod cli;
pub mod clock;
pub mod compare;
pub mod device;
pub mod driver;
pub mod error;
pub mod folder;
pub mod host;
pub mod prediction;
pub mod profile;
pub mod quantiles;
mod quiet;
pub mod record;
pub mod retrace;
pub mod runner;
mod speed;
mod table;
pub mod target;
pub mod threads;
pub mod twin;
mod usual;
pub mod validate;

pub use error::Error;
