//! Result rows in a frame of polars, and as Parquet for whoever reads them with polars, pandas or DuckDB.
//!
//! Behind the feature `polars`, which takes minutes to build.

use crate::whole_file::Unfinished;
use orrery_results::Row;
use orrery_run::SpecError;
use polars::prelude::*;
use std::fs::File;
use std::path::{Path, PathBuf};

fn error(path: &Path, e: impl ToString) -> SpecError {
    let found = format!("{}: {}", path.display(), e.to_string());
    SpecError::value("parquet", found, "a file that can be written", "choose another path")
}

/// Result rows as Parquet that come bit by bit. The same rows in the same groups give the same bytes.
pub struct Growing {
    path: PathBuf,
    unfinished: Unfinished,
    writer: polars::io::parquet::write::BatchedWriter<File>,
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
        let writer = ParquetWriter::new(file).with_compression(ParquetCompression::Zstd(None));
        let writer = writer.batched(&schema).map_err(|e| error(path, e))?;
        Ok(Growing { path: path.to_path_buf(), unfinished, writer })
    }

    /// The next rows.
    ///
    /// # Errors
    /// When there is no room.
    pub fn add(&mut self, rows: &[Row]) -> Result<(), SpecError> {
        let written = rows_frame(rows).and_then(|frame| self.writer.write_batch(&frame));
        written.map_err(|e| error(&self.path, e))
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

/// Result rows with a typed column for each of the schema, in its order; empty words and missing numbers are nulls.
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
