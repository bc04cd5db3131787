//! Where the lines of a log of one's own form go.

use std::fmt::{self, Write as _};
use std::io::{self, Write};

/// Writes lines, and keeps the first error for the end: an observer cannot fail.
#[derive(Debug)]
pub(crate) struct Sink<W> {
    to: W,
    line: String,
    error: Option<io::Error>,
}

impl<W: Write> Sink<W> {
    /// Nothing is written yet.
    pub(crate) fn new(to: W) -> Sink<W> {
        Sink { to, line: String::new(), error: None }
    }

    /// Writes text as it is.
    pub(crate) fn put(&mut self, text: &str) {
        if self.error.is_none() {
            self.error = self.to.write_all(text.as_bytes()).err();
        }
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, line: impl fmt::Display) {
        let mut text = std::mem::take(&mut self.line);
        text.clear();
        let _ = writeln!(text, "{line}");
        self.put(&text);
        self.line = text;
    }

    /// What was written to, or the first error of writing.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        match self.error {
            Some(error) => Err(error),
            None => self.to.flush().map(|()| self.to),
        }
    }
}
