//! Reading a schedule log, one record at a time.
//!
//! It checks the form of every line, not whether the run makes sense: that is the auditor's work.

use super::error::LogError;
use super::line_reader::LineReader;
use super::{HEADER, Names, Record, Terms};
use std::io::Read;
use std::ops::Range;

/// The records of a log. After an error there is no more.
#[derive(Debug)]
pub struct LogReader<R> {
    lines: LineReader<R>,
    names: Names,
    terms: Terms,
    /// A line that is still to be read as a record.
    waiting: Option<Range<usize>>,
    over: bool,
}

/// Reads a log; `name` is what errors call it. It reads in large blocks, so the input needs no
/// buffer of its own.
pub fn read_log<R: Read>(input: R, name: &str) -> LogReader<R> {
    LogReader {
        lines: LineReader::new(input, name),
        names: Names::default(),
        terms: Terms::default(),
        waiting: None,
        over: false,
    }
}

impl<R: Read> LogReader<R> {
    /// The names of what is in the log: none in a log that has none.
    ///
    /// # Errors
    /// When the file is no log, or a name cannot be read.
    pub fn names(&mut self) -> Result<&Names, LogError> {
        self.need_head()?;
        Ok(&self.names)
    }

    /// The terms of the run: none in a log that has none.
    ///
    /// # Errors
    /// When the file is no log, or a line before the records cannot be read.
    pub fn terms(&mut self) -> Result<&Terms, LogError> {
        self.need_head()?;
        Ok(&self.terms)
    }

    fn need_head(&mut self) -> Result<(), LogError> {
        if self.line() > 0 {
            return Ok(());
        }
        let read = self.read_head();
        self.over |= read.is_err();
        read
    }

    /// The number of the line that was read last, from 1.
    pub fn line(&self) -> u64 {
        self.lines.line()
    }

    /// The header, the names and the terms; the first line after them waits.
    fn read_head(&mut self) -> Result<(), LogError> {
        let line = self.lines.read_line()?;
        let header = line.map_or(&b""[..], |line| self.lines.text(line));
        if header != HEADER.as_bytes() {
            let found = String::from_utf8_lossy(header).into_owned();
            return Err(LogError::Version { file: self.lines.file().to_owned(), found });
        }
        while let Some(line) = self.lines.read_line()? {
            let text = self.lines.text(line.clone());
            if text.starts_with(b"name,") {
                let mut names = std::mem::take(&mut self.names);
                self.lines.fields(line).name(&mut names)?;
                self.names = names;
            } else if text.starts_with(b"terms,") {
                let mut terms = std::mem::take(&mut self.terms);
                self.lines.fields(line).terms(&mut terms)?;
                self.terms = terms;
            } else {
                self.waiting = Some(line);
                return Ok(());
            }
        }
        self.over = true;
        Ok(())
    }

    fn read_record(&mut self) -> Result<Option<Record>, LogError> {
        if self.line() == 0 {
            self.read_head()?;
        }
        let line = match self.waiting.take() {
            Some(line) => Some(line),
            None if self.over => None,
            None => self.lines.read_line()?,
        };
        line.map(|line| self.lines.fields(line).record()).transpose()
    }
}

impl<R: Read> Iterator for LogReader<R> {
    type Item = Result<Record, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let next = self.read_record().transpose();
        self.over = !matches!(next, Some(Ok(_)));
        next
    }
}
