//! Workloads: real traces, arrival processes, and laws of execution times.
//! It schedules nothing: it only makes the arrivals that `orrery-sim` consumes.
//!
//! Three ways to a workload, all of which are a [`Source`](orrery_sim::request::Source):
//!
//! ```text
//!  trace file ── azure2019 ──> Minutes ─┐
//!                                       ├─> ArrivalProcess ─┐
//!  parameters ── ArrivalLaw ────────────┘                   ├─> OpenWorkload, MergedFunctions
//!  parameters or samples ── ExecLaw ──> Application ────────┤
//!                                                           └─> ClosedLoop
//!  trace files ── azure2019, azure2019_days ──> Blocks ─────> Dealt: thousands of applications
//!  trace file ── azure_llm, azure2021 ──────────────────────> arrivals with their own times
//!  any of these ── record ──> workload file ── CsvSource ───> the same arrivals again
//! ```
//!
//! A workload is generated once, written down, and replayed to every policy:
//!
//! ```
//! use orrery_sim::request::{AppId, ModelId, Source};
//! use orrery_sim::time::{Span, Time};
//! use orrery_traces::Input;
//! use orrery_traces::arrivals::{ArrivalLaw, Limited};
//! use orrery_traces::exec_time::ExecLaw;
//! use orrery_traces::workload::{Application, OpenWorkload};
//! use orrery_traces::workload_file::{CsvSource, record};
//!
//! let chat = Application {
//!     app: AppId(0),
//!     model: ModelId(0),
//!     weight: 1.0,
//!     law: ExecLaw::log_normal(8.0, 5.0)?, // mean and deviation, ms
//!     slo: Span::from_ms(100),
//!     size: 1,
//! };
//! let poisson = ArrivalLaw::Poisson { rate_per_s: 120.0 }.start(1, 0)?; // seed, index
//! let thousand = Limited::new(poisson, Time::NEVER, 1_000);
//! let mut workload = OpenWorkload::new(Box::new(thousand), vec![chat], 1)?;
//!
//! let mut file = Vec::new();
//! assert_eq!(record(&mut workload, &mut file, "chat.csv")?, 1_000);
//! let mut replayed = CsvSource::open(Input::from_bytes("chat.csv", file)?)?;
//! let first = replayed.pop().expect("an arrival");
//! assert_eq!((first.app, first.slo), (AppId(0), Span::from_ms(100)));
//! # Ok::<(), orrery_traces::TraceError>(())
//! ```
//!
//! Architecture invariant: nothing here preloads arrivals. A source holds at most one arrival for
//! each stream that it merges. (Azure 2021 is the exception: its file is not in order of arrival. A search keeps
//! the gaps that it has drawn, up to 16 MiB: see [`gaps`].)
//!
//! Architecture invariant: bad input is a [`TraceError`] that names file, line and column, never a
//! panic. A damaged line that is met in mid-stream ends the source, whose `failure` says why.

pub mod ahead;
pub mod arrivals;
pub mod azure2019;
pub mod azure2019_days;
pub mod azure2019_durations;
pub mod azure2021;
pub mod azure_llm;
pub mod blocks;
pub mod changed;
pub mod closed_loop;
pub mod columns;
pub mod dealt;
pub mod error;
pub mod exec_time;
pub mod gaps;
pub mod inspect;
pub mod job_list;
pub mod latencies;
pub mod open;
pub mod part;
pub mod per_app;
pub mod phases;
pub mod query_list;
pub mod query_sizes;
pub mod quirks;
pub mod rate;
pub mod replayed;
pub mod samples;
pub mod shipped;
pub mod slo_steps;
pub mod spread;
pub mod stats;
pub mod step_profile;
pub mod table;
pub mod timestamp;
pub mod token_list;
pub mod two_group;
pub mod workload;
pub mod workload_file;

pub use error::TraceError;
pub use latencies::MeasuredLatencies;
pub use open::Input;

// The tests in `tests/it/` see what a user of the crate sees. They are a module here, because each test
// program of its own costs a link.
#[cfg(test)]
extern crate self as orrery_traces;
#[cfg(test)]
#[path = "../tests/it/main.rs"]
mod it;
