//! The replay harness: orrery's policies and their schedules on a device that really takes time, and
//! how far the prediction was off.
//!
//! The wall-clock driver ([`driver`]) is a second loop around the simulator's core.
//!
//! | modules | |
//! |---|---|
//! | [`target`], [`device`], [`profile`] | which device a run uses, what it is, how long its batches take |
//! | [`driver`], [`clock`], [`threads`], [`runner`] | one run on the wall clock |
//! | [`record`], [`folder`], [`host`], [`card`] | what a run leaves, and where it ran |
//! | [`prediction`], [`compare`] | what the simulator expects of it, and how far off that was |
//! | [`twin`], `usual`, `speed` | the prediction under the conditions that were measured |
//! | [`retrace`] | the simulator repeats the run's decisions |
//! | [`validate`], `quiet` | a campaign of runs, on a machine that does nothing else |
//! | [`cli`], [`error`], [`quantiles`], `table` | commands, errors, tables |

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
