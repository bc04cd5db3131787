//! The `orrery` command line: papers' tables, scenarios, traces.
//!
//! | module | what is in it |
//! |---|---|
//! | [`cli`], [`commands`] | what can be asked, and what is done then |
//! | [`table_file`] | one declarative file for each of a paper's tables |
//! | [`cases`] | from a row's name to its applications |
//! | [`runs`] | a table's simulations, in parallel |
//! | [`score`] | how far off the paper's figures ours are |
//! | [`report`], [`sensitivity`], [`run_report`] | text, CSV and JSON |
//! | [`paper`] | the papers' figures |

pub mod cases;
pub mod cli;
pub mod commands;
pub mod explain;
pub mod paper;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod plot;
pub mod regress;
pub mod report;
pub mod run_report;
pub mod runs;
pub mod score;
pub mod sensitivity;
pub mod table_file;
pub mod timeline;
