//! The one integration-test binary of the workspace: what crosses modules and crates.
//!
//! Unit tests are not here; they stand beside the code that they test.

#![expect(
    clippy::too_many_lines,
    reason = "a table of cases, or a reference that reads in one piece"
)]

mod browser;
mod cli;
mod clockwork_cluster;
mod clockwork_lost_size;
mod covering;
mod csv_lines;
mod determinism;
mod differential;
mod effect;
mod example_policy;
mod explain;
mod forms;
mod golden;
mod information;
mod intervals;
mod jobs;
mod measurements;
mod naive;
mod no_lock;
mod orloj_queue;
mod orloj_relearning;
mod papers;
mod penalties;
mod readings;
mod recorded;
mod recorded_kairos;
mod recount;
mod reference;
mod regions;
mod regressions;
mod replay;
mod result_version;
mod scheduler_cost;
mod tails;
mod tidy;
mod timeline;
mod verdicts;
mod version;
