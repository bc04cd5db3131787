//! The `orrery` command line: papers' tables, scenarios, traces.
//!
//! | floor | what is on it |
//! |---|---|
//! | [`cli`] | what can be asked; dispatch; nothing imports it |
//! | [`commands`] | arguments and one `run` each, a file or a folder each |
//! | `orrery_papers` | papers' experiments, cells, and how an answer leaves |

pub mod cli;
pub mod commands;
