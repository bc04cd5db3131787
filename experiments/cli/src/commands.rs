//! The commands: arguments and one `run` each. None imports another's.

pub mod arena;
pub mod audit;
pub mod calibrate;
pub mod cells;
pub mod explain;
pub mod goodput;
pub mod import;
pub mod list;
pub mod man;
pub mod names;
pub mod page;
pub mod plan;
pub mod plot;
pub mod regress;
pub mod reproduce;
pub mod results;
pub mod run;
pub mod schema;
pub mod serve;
pub mod set;
pub mod sweep;
pub mod timeline;
pub mod trace;
