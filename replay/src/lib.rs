//! The replay harness: orrery's policies and their schedules on a device that really takes time, and
//! how far the prediction was off.
//!
//! The wall-clock driver ([`driver`]) is a second loop around the simulator's core; a [`device`] is
//! emulated or CUDA.

pub mod clock;
pub mod device;
pub mod driver;
pub mod threads;
