//! A schedule log as Chrome trace JSON, which ui.perfetto.dev opens, or as a table of its batches.
//!
//! A log is read once and the output is written as it goes: memory holds what is in flight. State from before
//! the time window is right, because the log is read from its beginning.

mod batches;
mod follow;
mod json;
mod selection;
mod trace;

pub use selection::{Failure, Selection};

use orrery_results::BatchRow;
use orrery_sim::log::{LogError, Names, Record};
use std::io::Write;

/// Writes a log's records as Chrome trace JSON. The bytes depend on the log and the selection only.
///
/// # Errors
/// When a record cannot be read, a selected request is not there, or `out` cannot be written.
pub fn write_trace(
    names: &Names,
    records: impl IntoIterator<Item = Result<Record, LogError>>,
    selection: &Selection,
    out: impl Write,
) -> Result<(), Failure> {
    trace::write(names, records, selection, out)
}

/// Writes a log's batches as CSV with the columns of [`orrery_results::BatchRow`], in the order in
/// which they ended.
///
/// # Errors
/// When a record cannot be read or `out` cannot be written.
pub fn write_batches(
    names: &Names,
    records: impl IntoIterator<Item = Result<Record, LogError>>,
    selection: &Selection,
    out: impl Write,
) -> Result<(), Failure> {
    batches::write(names, records, selection, out)
}

/// The rows of that table.
///
/// # Errors
/// When a record cannot be read.
pub fn batch_rows(
    names: &Names,
    records: impl IntoIterator<Item = Result<Record, LogError>>,
) -> Result<Vec<BatchRow>, Failure> {
    let mut rows = Vec::new();
    batches::each(names, records, &Selection::default(), |row| {
        rows.push(row);
        Ok(())
    })?;
    Ok(rows)
}
