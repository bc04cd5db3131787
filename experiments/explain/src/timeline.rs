//! A schedule log as Chrome trace JSON, which ui.perfetto.dev opens, or as a table of its batches.
//!
//! A log is read once and the output is written as it goes: memory holds what is in flight. State from before
//! the time window is right, because the log is read from its beginning.

mod batches;
mod follow;
mod json;
mod selection;
mod trace;

pub use batches::write as write_batches;
pub use selection::{Failure, Selection};
pub use trace::write as write_trace;

use orrery_results::BatchRow;
use orrery_sim::log::{LogError, Names, Record};

/// The rows of the table of batches.
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
