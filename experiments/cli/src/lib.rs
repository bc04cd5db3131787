//! The `orrery` command line: papers' tables, scenarios, traces.
//!
//! | floor | what is on it |
//! |---|---|
//! | [`cli`] | what can be asked; dispatch; nothing imports it |
//! | `groups` | the commands by what they are for, as the program's help has them |
//! | `commands` | arguments and one `run` each, a file or a folder each |
//! | `orrery_reproduce` | papers' experiments, cells, and how an answer leaves |

pub mod cli;
mod commands;
mod groups;
