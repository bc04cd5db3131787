//! The schedule log: every fact of a run as one line of text, and the facts as [`Record`]s.
//!
//! It computes nothing and judges nothing: [`crate::metrics`] computes, [`crate::audit`] judges.
//!
//! The first line is [`HEADER`]. Then come [`Names`] and [`Terms`], if there are any, and then the
//! records: each line is a word and whole numbers, with commas between; times are nanoseconds, and
//! an empty field is "none" (a deadline) or "never" (a `latest`). NAME and TEXT are the rest of their
//! line, commas included:
//!
//! ```text
//! name,policy|model|app|device,number,NAME    before all records; of each kind, numbers from 0
//! terms,device,number,lanes,can_preempt|cannot_preempt     before all records; numbers from 0
//! terms,later-device,0,lanes,can_preempt|cannot_preempt    devices that are added, if all alike
//! terms,app,number,model,slo_ns               the SLO is empty for none, `own` where requests differ
//! why,time,request,TEXT                       why the policy did what follows, where asked for
//! arrive,time,request,app,model,size,source,arrival,deadline
//! issue,time,action,device,lane,model,units,earliest,latest,requests with spaces between
//! begin,time,action
//! close,time,action,outcome,device_ns         the last field is empty unless the outcome is `done`
//! end,time,request,how
//! device,time,device,up|draining|down
//! finish,time
//! ```
//!
//! The same run gives the same bytes. [`LogWriter`] writes them, [`read_log`] reads them one record
//! at a time, [`MemoryLog`] keeps the records. A log of version 2 is one without terms, one of
//! version 1 without names and reasons too.

mod error;
mod fields;
mod lines;
mod memory;
mod names;
mod read;
mod record;
mod terms;
#[cfg(test)]
mod tests;
mod write;

pub use error::LogError;
pub use lines::push_decimal;
pub use memory::MemoryLog;
pub(crate) use memory::observe_as_records;
pub use names::Names;
pub use read::{LogReader, read_log};
pub use record::{BatchRecord, Closed, HEADER, HEADER_1, HEADER_2, Record, change_word};
pub use terms::{AppTerms, DeviceTerms, Terms};
pub use write::LogWriter;
