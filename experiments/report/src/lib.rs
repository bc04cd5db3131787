//! How an answer leaves a program: its forms, files written whole or not at all, figures, progress, threads; man
//! pages and completions.
//!
//! stdout is the result, byte for byte the same; stderr is progress and diagnostics.

pub mod figure;
pub mod log_file;
pub mod manual;
pub mod page;
#[cfg(feature = "polars")]
pub mod parquet;
pub mod progress;
pub mod result_files;
pub mod row_files;
mod stdout;
pub mod tables;
pub mod threads;
pub mod view;
pub mod voice;
pub mod whole_file;
pub mod width;

use clap::{Args, ValueEnum};
use orrery_results::{JsonRows, Row, Wide, is_metric};
use orrery_run::SpecError;
pub use page::Page;
use page::WITHOUT_EFFECT;
pub use progress::Progress;
use row_files::{RowFiles, path_of};
use serde_json::Value;
use std::path::PathBuf;
pub use stdout::why_stdout_is_closed;
pub use voice::{say, say_more, set_verbosity, tell, verbosity};
use whole_file::write_atomically;

/// How many rows are in memory as text at a time.
const ROWS: usize = 8192;

/// What a command has to say.
#[derive(Debug, Default)]
pub struct Answer {
    /// The result.
    pub stdout: String,
    /// A file whose bytes are the result, where it is too long for memory.
    pub file: Option<PathBuf>,
    /// Whether a check failed.
    pub failed: bool,
    /// Whether Ctrl-C stopped it.
    pub interrupted: bool,
    /// What went wrong after the result: it is printed all the same.
    pub error: Option<SpecError>,
}

impl Answer {
    /// A result to be read: long lines are folded.
    pub fn text(stdout: &str) -> Answer {
        Answer::of(width::folded(stdout))
    }

    /// A result without a check.
    pub fn of(stdout: String) -> Answer {
        Answer { stdout, ..Answer::default() }
    }
}

/// Where the result goes, and in which form.
#[derive(Clone, Debug, Args)]
pub struct Output {
    /// The format of the result on stdout.
    #[arg(long, value_enum, default_value_t = Format::Table, help_heading = WITHOUT_EFFECT)]
    pub format: Format,
    /// Also write the result to this folder, in every format.
    #[arg(long, value_name = "DIR", help_heading = WITHOUT_EFFECT)]
    pub out: Option<PathBuf>,
    /// Also write the result as one HTML page with figures and tables.
    #[arg(long, value_name = "FILE", help_heading = WITHOUT_EFFECT)]
    pub html: Option<PathBuf>,
}

impl Output {
    /// Whether the result of this name will find its place: asked before the runs.
    ///
    /// # Errors
    /// When `--out` or `--html` cannot be written, or has a file of the user's.
    pub fn check(&self, id: &str) -> Result<(), SpecError> {
        self.out.as_deref().map_or(Ok(()), |folder| row_files::check(folder, id))?;
        self.html.as_deref().map_or(Ok(()), page::check)
    }
}

/// The forms of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A table for people.
    Table,
    /// CSV with one row per cell and metric, with its provenance (docs/formats.md).
    Csv,
    /// CSV with one row per cell and one column per metric.
    Wide,
    /// JSON with the rows and everything that belongs to them.
    Json,
}

/// A result of which all forms are made.
pub struct Forms {
    /// A table for people.
    pub table: String,
    /// What JSON has beside the rows.
    pub more: Vec<(&'static str, Value)>,
    /// The rows.
    pub rows: Vec<Row>,
    /// The page, where one is asked for.
    pub page: Option<Page>,
}

impl Forms {
    /// One row for each cell, with a column for each metric.
    pub fn wide(&self) -> String {
        orrery_results::wide(&self.rows)
    }

    /// The rows and what belongs to them.
    pub fn json(&self) -> String {
        orrery_results::to_json(&self.rows, &self.more)
    }

    /// Writes all forms into `--out` and picks the one for stdout.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn answer(mut self, id: &str, output: &Output) -> Result<Answer, SpecError> {
        self.table = width::folded(&self.table);
        // What is made is what may be asked for (`results/src/metric.rs`).
        let unlisted = self.rows.iter().find(|row| !is_metric(&row.metric));
        debug_assert!(unlisted.is_none(), "{unlisted:?}");
        if let Some(folder) = &output.out {
            let mut columns = Wide::default();
            columns.see(&self.rows);
            let json = JsonRows::new(&self.more);
            let mut files = RowFiles::begin(folder, id, columns, Some(json))?;
            self.rows.chunks(ROWS).try_for_each(|rows| files.add(rows))?;
            files.finish()?;
            write_atomically(&path_of(folder, id, "txt"), self.table.as_bytes())?;
        }
        leave_page(self.page.take(), &self.rows, output)?;
        Ok(Answer::of(match output.format {
            Format::Table => self.table,
            Format::Csv => orrery_results::to_csv(&self.rows),
            Format::Wide => self.wide(),
            Format::Json => self.json(),
        }))
    }
}

/// Writes the page of a result, where one was asked for and made.
///
/// # Errors
/// When it cannot be written.
pub fn leave_page(page: Option<Page>, rows: &[Row], output: &Output) -> Result<(), SpecError> {
    let (Some(path), Some(page)) = (&output.html, page) else { return Ok(()) };
    page::write(&whole_page(page, rows, page::command_line()), path)
}

/// The HTML of a page, with where it is from.
pub fn whole_page(mut page: Page, rows: &[Row], command: String) -> String {
    page.provenance.push(("command".to_string(), command));
    page.provenance.extend(page::provenance(rows));
    page.to_html()
}
