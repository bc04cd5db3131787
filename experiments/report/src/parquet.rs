//! Parquet: workloads, tables and schedule logs for whoever reads them with polars, pandas or DuckDB.
//!
//! Behind the feature `polars`, which takes minutes to build.

mod log;

pub use log::log_to_parquet;

use crate::whole_file::Unfinished;
use orrery_results::Row;
use orrery_scenario::SpecError;
use orrery_sim::request::{Arrival, Source};
use orrery_sim::time::{Span, Time};
use orrery_traces::workload_file::after_the_end;
use polars::prelude::*;
use std::fs::File;
use std::path::Path;

/// Rows held in memory at a time.
const CHUNK: usize = 1 << 17;

fn error(path: &Path, e: impl ToString) -> SpecError {
    SpecError::value(
        "parquet",
        format!("{}: {}", path.display(), e.to_string()),
        "a file that can be written",
        "choose another path",
    )
}

fn chunk(rows: &[Arrival]) -> PolarsResult<DataFrame> {
    let u64s = |name: &str, f: &dyn Fn(&Arrival) -> u64| {
        Column::new(name.into(), rows.iter().map(f).collect::<Vec<u64>>())
    };
    let u32s = |name: &str, f: &dyn Fn(&Arrival) -> u32| {
        Column::new(name.into(), rows.iter().map(f).collect::<Vec<u32>>())
    };
    let slo: Vec<Option<u64>> =
        rows.iter().map(|a| (a.slo != Span::MAX).then_some(a.slo.ns())).collect();
    let columns = vec![
        u64s("arrival_ns", &|a| a.at.ns()),
        u32s("app", &|a| a.app.0),
        u32s("model", &|a| a.model.0),
        u32s("size", &|a| a.size),
        Column::new("slo_ns".into(), slo),
        u64s("alone_ns", &|a| a.alone.ns()),
    ];
    DataFrame::new(rows.len(), columns)
}

/// Writes a source down, in the columns of the workload CSV. Returns the number of rows.
///
/// # Errors
/// When the file cannot be written or the source fails.
pub fn record(source: &mut dyn Source, path: &Path) -> Result<u64, SpecError> {
    let unfinished = Unfinished::beside(path).map_err(|e| error(path, e))?;
    let file = File::create(unfinished.path()).map_err(|e| error(path, e))?;
    let schema = chunk(&[]).map_err(|e| error(path, e))?.schema().clone();
    let mut writer = ParquetWriter::new(file)
        .with_compression(ParquetCompression::Zstd(None))
        .batched(&schema)
        .map_err(|e| error(path, e))?;
    let mut rows = Vec::with_capacity(CHUNK);
    let mut count = 0;
    loop {
        let arrival = source.pop();
        if arrival.is_some_and(|a| a.at == Time::NEVER) {
            return Err(after_the_end(count).into());
        }
        count += u64::from(arrival.is_some());
        rows.extend(arrival);
        if rows.len() == CHUNK || arrival.is_none() {
            let chunk = chunk(&rows).map_err(|e| error(path, e))?;
            writer.write_batch(&chunk).map_err(|e| error(path, e))?;
            rows.clear();
        }
        if arrival.is_none() {
            break;
        }
    }
    writer.finish().map_err(|e| error(path, e))?;
    if let Some(why) = source.failure() {
        return Err(error(path, why));
    }
    unfinished.rename(path).map_err(|e| error(path, e))?;
    Ok(count)
}

/// Writes result rows as Parquet: one typed column for each column of the schema, in its order;
/// empty words and missing numbers are nulls. The same rows give the same bytes.
///
/// # Errors
/// When the file cannot be written.
pub fn table_from_rows(rows: &[Row], path: &Path) -> Result<(), SpecError> {
    let mut frame = rows_frame(rows).map_err(|e| error(path, e))?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|e| error(path, e))?;
    }
    let unfinished = Unfinished::beside(path).map_err(|e| error(path, e))?;
    let file = File::create(unfinished.path()).map_err(|e| error(path, e))?;
    ParquetWriter::new(file)
        .with_compression(ParquetCompression::Zstd(None))
        .finish(&mut frame)
        .map_err(|e| error(path, e))?;
    unfinished.rename(path).map_err(|e| error(path, e))
}

/// Result rows as Parquet that come bit by bit: the rows of [`table_from_rows`], in groups of another size.
pub struct Growing {
    path: std::path::PathBuf,
    unfinished: Unfinished,
    writer: BatchedWriter<File>,
}

impl Growing {
    /// Begins a file.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn begin(path: &Path) -> Result<Growing, SpecError> {
        let unfinished = Unfinished::beside(path).map_err(|e| error(path, e))?;
        let file = File::create(unfinished.path()).map_err(|e| error(path, e))?;
        let schema = rows_frame(&[]).map_err(|e| error(path, e))?.schema().clone();
        let writer = ParquetWriter::new(file)
            .with_compression(ParquetCompression::Zstd(None))
            .batched(&schema)
            .map_err(|e| error(path, e))?;
        Ok(Growing { path: path.to_path_buf(), unfinished, writer })
    }

    /// The next rows.
    ///
    /// # Errors
    /// When there is no room.
    pub fn add(&mut self, rows: &[Row]) -> Result<(), SpecError> {
        let frame = rows_frame(rows).map_err(|e| error(&self.path, e))?;
        self.writer.write_batch(&frame).map_err(|e| error(&self.path, e))
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// When there is no room.
    pub fn finish(self) -> Result<(), SpecError> {
        self.writer.finish().map_err(|e| error(&self.path, e))?;
        self.unfinished.rename(&self.path).map_err(|e| error(&self.path, e))
    }
}

/// Result rows as a frame, with the columns of [`table_from_rows`].
///
/// # Errors
/// Of polars.
pub fn rows_frame(rows: &[Row]) -> PolarsResult<DataFrame> {
    fn filled(word: &str) -> Option<&str> {
        (!word.is_empty()).then_some(word)
    }
    macro_rules! column {
        (word $name:ident) => {
            Column::new(
                stringify!($name).into(),
                rows.iter().map(|r| filled(&r.$name)).collect::<Vec<Option<&str>>>(),
            )
        };
        (number $name:ident) => {
            Column::new(stringify!($name).into(), rows.iter().map(|r| r.$name).collect::<Vec<_>>())
        };
    }
    let columns = vec![
        column!(word experiment),
        column!(word case),
        column!(word axes),
        column!(word system),
        column!(word preset),
        column!(word policy),
        column!(word scope),
        column!(word metric),
        column!(word unit),
        column!(word versus),
        column!(number value),
        column!(word reason),
        column!(number ci95_low),
        column!(number ci95_high),
        column!(word ci_method),
        column!(number samples),
        column!(word flags),
        column!(word seeds),
        column!(word warm_up),
        column!(number paper),
        column!(word paper_source),
        column!(number abs_error),
        column!(word spec_sha256),
        column!(number result_version),
        column!(word inputs_sha256),
    ];
    DataFrame::new(rows.len(), columns)
}

#[cfg(test)]
mod tests;
