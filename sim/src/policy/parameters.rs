//! A policy's parameters as one table. From it come the parser, the policy's name in results, the
//! reference and the errors. It knows no policy.
//!
//! A policy's `Config` implements [`Settings`]: what the policy is, its presets, and one row for
//! each parameter. A row names the field that it sets, so a default is stated once: in the preset.
//! [`Build`] makes the policy.

mod allowed;
mod registered;
mod row;
mod settings;
mod table;

pub use crate::words;
pub use allowed::{Allowed, SettingError};
pub use registered::{Build, Configured, Named, Registered};
pub use row::{Parameter, Word, Words, count, count_or, flag, ms, number, seconds, us, word};
pub use settings::{About, Assumption, Lanes, Preset, Settings};
pub use table::{Row, Table};
