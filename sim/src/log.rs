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
//! terms,device,number,lanes,can_preempt|cannot_preempt,memory    before all records; numbers from 0
//! terms,later-device,0,lanes,can_preempt|cannot_preempt,memory   devices that are added, if all alike
//! terms,pages,model,pages                     what a model takes of a device's memory, where counted
//! terms,app,number,model,slo_ns               the SLO is empty for none, `own` where requests differ
//! terms,penalties,app,DEADLINE:COST ...       of late answers, where counted: in millionths of the SLO and of one
//! terms,stalls,0                              the host has stalls: arrivals may be told late
//! why,time,request,TEXT                       why the policy did what follows, where asked for
//! arrive,time,request,app,model,size,source,arrival,deadline
//! issue,time,action,device,lane,model,units,earliest,latest,requests with spaces between
//! load,time,action,device,model,earliest,latest
//! begin,time,action                           of a batch or a load
//! close,time,action,outcome,device_ns         the last field is empty unless the outcome is `done`
//! unload,time,device,model
//! end,time,request,how
//! device,time,device,up|draining|down
//! finish,time
//! ```
//!
//! The number of a device's lanes is followed by ` shared` where k batches on them run at 1/k of the speed.
//!
//! A device's `memory` is empty where it always has every model; otherwise its pages and then the
//! models that it has from the start, with spaces between. Pages are `-` where they are not counted.
//!
//! The same run gives the same bytes. [`LogWriter`] writes them, [`read_log`] reads them one record
//! at a time, [`MemoryLog`] keeps the records.
//!
//! # Example
//! A run that writes its log, and the audit of that log:
//!
//! ```
//! use orrery_sim::audit::audit_log;
//! use orrery_sim::driver::{World, simulate};
//! use orrery_sim::latency::Latency;
//! use orrery_sim::log::{LogWriter, read_log};
//! use orrery_sim::policy::fifo::{Config, Fifo};
//! use orrery_sim::request::{AppId, Arrival, ModelId, VecSource};
//! use orrery_sim::time::{Span, Time};
//!
//! let (at, ms) = (Time::ZERO, Span::from_ms(1));
//! let request = Arrival { at, app: AppId(0), model: ModelId(0), size: 1, slo: ms, alone: ms };
//! let world = World::single(Latency::Affine { alpha: ms, beta: ms });
//! let source = Box::new(VecSource::new(vec![request]));
//! let fifo = Fifo::new(Config { max_batch: 4, drop_expired: false });
//! let run = simulate(&world, vec![source], fifo, LogWriter::new(Vec::new()));
//! let bytes = run.observer.finish()?;
//!
//! let lines: Vec<&str> = std::str::from_utf8(&bytes)?.lines().collect();
//! assert_eq!(lines[0], "orrery-log,4");
//! assert!(lines.contains(&"end,2000000,0,late"));
//! assert!(audit_log(read_log(&bytes[..], "run.log"))?.is_clean());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod fields;
mod line_reader;
mod lines;
mod memory;
mod names;
mod read;
mod record;
mod sink;
mod terms;
#[cfg(test)]
mod tests;
mod write;

pub use error::LogError;
pub(crate) use fields::Fields;
pub(crate) use line_reader::LineReader;
pub use lines::push_decimal;
pub use memory::MemoryLog;
pub(crate) use memory::observe_as_records;
pub use names::Names;
pub use read::{LogReader, read_log};
pub use record::{BatchRecord, Closed, HEADER, LoadRecord, Record, change_word};
pub(crate) use sink::Sink;
pub use terms::{AppTerms, DeviceTerms, MemoryTerms, Terms};
pub use write::LogWriter;
