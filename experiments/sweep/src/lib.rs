//! A cell is one specification and one policy with its seeds, and the rows that come of it; grids of cells and their
//! store; the one search for a rate.
//!
//! `reproduce`, `run` and `sweep` all come down to cells; their results are the same rows.

pub mod advice;
pub mod answers;
pub mod busy;
pub mod costs;
pub mod details;
pub mod goodput;
pub mod goodput_report;
pub mod grid;
pub mod hash;
pub mod jobs;
pub mod join;
pub mod kept;
pub mod logged;
pub mod manifest;
pub mod manifest_file;
pub mod metrics;
pub mod notes;
pub mod own;
pub mod page;
pub mod parts;
pub mod pivot;
pub mod rows;
pub mod run_report;
pub mod scenario_cell;
pub mod scenario_rows;
pub mod scenario_search;
pub mod seeds;
pub mod shard;
pub mod store;
pub mod sweep_file;
pub mod tokens;
mod tokens_search;
pub mod work;

pub use orrery_run::replication;
