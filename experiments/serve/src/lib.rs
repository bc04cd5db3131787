//! What if: a scenario or a plan, the questions that an address asks of it, and their answers.
//!
//! ```text
//!  a file's text ── controls.rs ──> what can be changed, with units and bounds
//!       │               │
//!  an address ────── question.rs ──> a scenario, policies, seeds     (a question is an address)
//!                       │
//!                    desk.rs: one reply, or events
//!                       │
//!                    answers.rs: runs, the shortest first, until told to stop
//!                    plans.rs: the same of a plan, whose questions are what-ifs
//!                    report.rs: the report page, which `orrery run --html` writes too
//! ```
//!
//! It knows no sockets, and opens no files but those that a scenario names. `orrery serve` sends its answers over the
//! loopback; `web/` is the same code in the page itself. `src/page/` is the page of both.

mod address;
mod answers;
mod controls;
mod desk;
mod file;
pub mod page;
mod plans;
mod question;
pub mod report;

pub use address::pairs;
pub use desk::{Desk, Events, Reply, Tell, Whole, has_events};
pub use file::File;
