//! The `orrery` command line: papers' tables, scenarios, traces.
//!
//! | module | what is in it |
//! |---|---|
//! | [`cli`], [`commands`] | what can be asked, and what is done then |
//! | [`table_file`] | one declarative file for each of a paper's tables |
//! | [`cases`] | from a row's name to its applications |
//! | [`runs`] | a table's simulations, in parallel |
//! | [`score`] | how far off the paper's figures ours are |
//! | [`cell`], [`scenario_cell`] | one specification and policy with its seeds, and its rows |
//! | [`sweep`] | a scenario over axes: plan, stored cells, shards |
//! | [`advice`] | what a run says about the number of devices (Symphony, §3.5) |
//! | [`goodput`] | peak goodput: a search in place of a run |
//! | [`study`] | figures and tables over clusters: sweeps with the paper's numbers and sentences |
//! | [`over_time`] | Symphony's Fig. 15: a workload over time, with the autoscaler and without |
//! | [`partition`] | models to sub-clusters, and Symphony's Fig. 16 |
//! | [`pools`] | Kairos's figures: pools of several instance types |
//! | [`regress`] | baselines that guard results |
//! | [`schema`] | JSON Schemas of scenario and sweep files |
//! | [`report`], [`sensitivity`], [`run_report`] | text, wide CSV and JSON |
//! | [`output`], [`whole_file`], [`details`] | how results leave; the tables behind figures |
//! | [`plot`], [`table_figure`] | figures |
//! | [`log_file`], [`timeline`], [`explain`] | schedule logs, and what is read from them |
//! | [`zoos`] | lists of the model zoos |
//! | [`paper`] | the papers' figures |

pub mod advice;
pub mod cases;
pub mod cell;
pub mod cli;
pub mod commands;
pub mod details;
pub mod explain;
pub mod goodput;
pub mod log_file;
pub mod output;
pub mod over_time;
pub mod paper;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod partition;
pub mod plan;
pub mod plot;
pub mod pools;
pub mod regress;
pub mod report;
pub mod reproduce;
pub mod run_report;
pub mod runs;
pub mod scenario_cell;
pub mod schema;
pub mod score;
pub mod sensitivity;
pub mod study;
pub mod sweep;
pub mod table_figure;
pub mod table_file;
pub mod timeline;
pub mod whole_file;
pub mod zoos;
