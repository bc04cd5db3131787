//! Tables from files: what is in them is told by their headers.

use orrery_results::{BatchRow, DistributionRow, Row, SeriesRow, TableError, read_csv, read_rows};
use orrery_run::SpecError;
use orrery_scenario::{kind, read_text};
use std::path::{Path, PathBuf};

/// The tables of one kind, from all files.
///
/// Each has the names of its files, for messages.
pub enum Tables {
    /// Result rows.
    Results(String, Vec<Row>),
    /// Distributions.
    Distributions(String, Vec<DistributionRow>),
    /// Time series.
    Series(String, Vec<SeriesRow>),
    /// Batches and drops.
    Batches(String, Vec<BatchRow>),
}

impl Tables {
    /// Reads them all, as CSV.
    ///
    /// # Errors
    /// When a file cannot be read, is no result table, or is of another kind than those before it.
    pub fn read(files: &[PathBuf]) -> Result<Tables, SpecError> {
        let mut all: Option<Tables> = None;
        for path in files {
            let next = Tables::read_one(path)?;
            all = Some(match all {
                None => next,
                Some(before) => before.with(next)?,
            });
        }
        all.ok_or_else(|| SpecError::value("FILE", "none", "result tables", "name a table"))
    }

    /// The kind of a table is in its header.
    fn read_one(path: &Path) -> Result<Tables, SpecError> {
        let file = path.display().to_string();
        let text = read_text(path)?;
        let header = orrery_results::header(&text);
        let has = |column: &str| header.iter().any(|c| c == column);
        let error =
            |TableError::Parse { file, message }: TableError| SpecError::Parse { file, message };
        if has("metric") && has("axes") {
            let rows = read_rows(&file, &text).map_err(error)?;
            return Ok(Tables::Results(file, rows));
        }
        if has("share") && has("quantity") {
            let rows = read_csv(&file, &text).map_err(error)?;
            return Ok(Tables::Distributions(file, rows));
        }
        if has("quantity") && has("from_ns") {
            let rows = read_csv(&file, &text).map_err(error)?;
            return Ok(Tables::Series(file, rows));
        }
        if has("device") && has("start_ns") {
            let rows = read_csv(&file, &text).map_err(error)?;
            return Ok(Tables::Batches(file, rows));
        }
        let columns = header.join(",");
        let found = if columns.is_empty() { "an empty file".to_string() } else { columns };
        let error = SpecError::value(
            "header",
            found,
            "the columns of result rows (`metric`, `axes`), distributions (`share`, `quantity`), \
             time series (`from_ns`, `quantity`) or batches (`device`, `start_ns`)",
            "give a CSV file as `--format csv` or `--out` writes it; see `docs/formats.md`",
        );
        Err(kind::instead(kind::TABLE, &file, &text, error.in_file(&file)))
    }

    fn with(self, next: Tables) -> Result<Tables, SpecError> {
        fn joined<T>(mut a: Vec<T>, b: Vec<T>) -> Vec<T> {
            a.extend(b);
            a
        }
        match (self, next) {
            (Tables::Results(f, a), Tables::Results(g, b)) => {
                Ok(Tables::Results(format!("{f}, {g}"), joined(a, b)))
            }
            (Tables::Distributions(f, a), Tables::Distributions(g, b)) => {
                Ok(Tables::Distributions(format!("{f}, {g}"), joined(a, b)))
            }
            (Tables::Series(f, a), Tables::Series(g, b)) => {
                Ok(Tables::Series(format!("{f}, {g}"), joined(a, b)))
            }
            (Tables::Batches(f, a), Tables::Batches(g, b)) => {
                Ok(Tables::Batches(format!("{f}, {g}"), joined(a, b)))
            }
            (before, next) => Err(SpecError::value(
                "FILE",
                format!("{} after {}", next.what(), before.what()),
                "tables of one kind",
                "draw each kind in a separate figure",
            )
            .in_file(next.file())),
        }
    }

    /// The files, for messages.
    pub(super) fn file(&self) -> &str {
        match self {
            Tables::Results(file, _)
            | Tables::Distributions(file, _)
            | Tables::Series(file, _)
            | Tables::Batches(file, _) => file,
        }
    }

    /// What the rows are, for messages.
    pub(super) fn what(&self) -> &'static str {
        match self {
            Tables::Results(..) => "result rows",
            Tables::Distributions(..) => "distributions",
            Tables::Series(..) => "a time series",
            Tables::Batches(..) => "batches",
        }
    }
}
