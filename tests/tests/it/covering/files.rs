//! The other files that have keys: jobs, sweeps and plans. Each has a table of its keys, as scenarios have, and laws.

mod jobs;
mod plans;
mod sweeps;
