//! The lines of a log of any kind, read in large blocks.

use super::error::{LINE_BYTES_MAX, LogError};
use super::fields::Fields;
use std::io::Read;
use std::ops::Range;

/// Bytes that are read at a time.
const BLOCK: usize = 1 << 17;

/// Reads lines; each has to end with a newline, so that a log that was cut off is found.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    input: R,
    file: String,
    line: u64,
    /// Bytes that were read; those before `next` are done with.
    block: Vec<u8>,
    next: usize,
}

impl<R: Read> LineReader<R> {
    /// Nothing is read yet; `name` is what errors call the input.
    pub(crate) fn new(input: R, name: &str) -> LineReader<R> {
        LineReader { input, file: name.to_owned(), line: 0, block: Vec::new(), next: 0 }
    }

    /// What errors call the input.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// The number of the line that was read last, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// Where the next line is, without its newline; `None` at the end of the file. It is there until the next one is
    /// read.
    #[inline]
    pub(crate) fn read_line(&mut self) -> Result<Option<Range<usize>>, LogError> {
        self.line += 1;
        // So much of the line has been searched.
        let mut searched = 0;
        loop {
            let rest = &self.block[self.next + searched..];
            if let Some(at) = rest.iter().position(|&b| b == b'\n') {
                let line = self.next..self.next + searched + at;
                self.next = line.end + 1;
                return Ok(Some(line));
            }
            searched += rest.len();
            let more = searched < LINE_BYTES_MAX && self.fill()?;
            if !more && searched > 0 {
                let (file, line) = (self.file.clone(), self.line);
                return Err(LogError::Cut { file, line, bytes: searched });
            }
            if !more {
                return Ok(None);
            }
        }
    }

    /// Reads another block behind what is not done with; false at the end of the file.
    #[cold]
    fn fill(&mut self) -> Result<bool, LogError> {
        self.block.drain(..self.next);
        self.next = 0;
        let before = self.block.len();
        let mut limited = self.input.by_ref().take(BLOCK as u64);
        let (file, line) = (&self.file, self.line);
        limited.read_to_end(&mut self.block).map_err(|error| LogError::Io {
            file: file.clone(),
            line,
            error,
        })?;
        Ok(self.block.len() > before)
    }

    /// Reads the first line, which has to be this.
    pub(crate) fn header(&mut self, header: &str) -> Result<(), LogError> {
        let first = self.read_line()?.unwrap_or_default();
        let found = self.text(first.clone());
        match found == header.as_bytes() {
            true => Ok(()),
            false => Err(self.fields(first).error("first line", found, header)),
        }
    }

    /// A line's bytes.
    #[inline]
    pub(crate) fn text(&self, line: Range<usize>) -> &[u8] {
        &self.block[line]
    }

    /// A line's fields.
    #[inline]
    pub(crate) fn fields(&self, line: Range<usize>) -> Fields<'_> {
        Fields { file: &self.file, line: self.line, rest: Some(&self.block[line]) }
    }
}
