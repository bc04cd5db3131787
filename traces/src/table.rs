//! [`Table`]: the lines of a comma-separated file with a header, one line in memory at a time.
//!
//! It is not a general CSV reader: a record is one line, so that every error names the true line
//! and a stray quote cannot swallow the rest of the file. Windows line ends, a byte order mark,
//! blank lines, quoted fields, `#` lines before the header and a missing last newline are accepted.

use crate::error::{TraceError, shorten};
use crate::open::{Input, read_error};
use crate::quirks::{Met, Quirk};
use orrery_sim::request::SIZE_MAX;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{BufRead, Read};

/// The longest line accepted, in bytes: a full day of one Azure 2019 function takes 16 kB.
const LINE_BYTES_MAX: usize = 4 << 20;
/// The remedy for a damaged field.
pub(crate) const CORRECT: &str = "correct the field or remove the line";

/// A file being read. [`Table::advance`] moves to the next line; the accessors read its fields.
#[derive(Debug)]
pub struct Table {
    input: Input,
    header: Vec<String>,
    header_line: u64,
    line: u64,
    raw: Vec<u8>,
    text: String,
    fields: Vec<(usize, usize)>,
    /// Whether rows end in one more comma than the header; the first row says it.
    ends_in_comma: Option<bool>,
    met: RefCell<Met>,
}

impl Table {
    /// Reads the header.
    ///
    /// # Errors
    /// When there is none, it is not text, or two columns have one name.
    pub fn open(input: Input) -> Result<Table, TraceError> {
        let mut table = Table {
            input,
            header: Vec::new(),
            header_line: 1,
            line: 0,
            raw: Vec::new(),
            text: String::new(),
            fields: Vec::new(),
            ends_in_comma: None,
            met: RefCell::default(),
        };
        loop {
            if !table.next_line()? {
                return Err(table.ended("a header", "check that the file is whole"));
            }
            if !table.text.starts_with('#') {
                break;
            }
        }
        table.split()?;
        table.header_line = table.line;
        table.header = (0..table.fields.len()).map(|i| table.text(i).trim().to_string()).collect();
        table.check_header()?;
        Ok(table)
    }

    /// The file's name in messages.
    pub fn file(&self) -> &str {
        &self.input.name
    }

    /// What was odd about it so far.
    pub fn met(&self) -> Met {
        self.met.borrow().clone()
    }

    /// The line last read, counted from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The line of the header, counted from 1.
    pub fn header_line(&self) -> u64 {
        self.header_line
    }

    /// The names of the columns, in the file's order.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The column of that name, where there is one.
    pub fn find(&self, column: &str) -> Option<usize> {
        self.header.iter().position(|name| name == column)
    }

    /// The column of that name.
    ///
    /// # Errors
    /// When there is none.
    pub fn column(&self, column: &str) -> Result<usize, TraceError> {
        self.find(column).ok_or_else(|| TraceError::MissingColumn {
            file: self.file().into(),
            line: self.header_line,
            column: column.into(),
            found: self.found_header(),
        })
    }

    /// Moves to the next line that is not blank; `false` at the end of the file.
    ///
    /// # Errors
    /// When the bytes cannot be read or are no text, or the number of fields is not the header's.
    pub fn advance(&mut self) -> Result<bool, TraceError> {
        if !self.next_line()? {
            return Ok(false);
        }
        self.split()?;
        let (fields, columns) = (self.fields.len(), self.header.len());
        let more = fields == columns + 1 && self.text(columns).trim().is_empty();
        if more && *self.ends_in_comma.get_or_insert(true) {
            self.fields.pop();
            self.met.get_mut().add(Quirk::TrailingComma, || format!("on line {}", self.line));
            return Ok(true);
        }
        let ends_in_comma = self.ends_in_comma.get_or_insert(false);
        if fields != columns || *ends_in_comma {
            let found = format!("{fields} fields (`{}`)", shorten(&self.text));
            let (allowed, remedy) = if *ends_in_comma {
                let allowed = format!("{columns} fields and one more comma, as in the rows above");
                (allowed, "end all rows alike; the file may have been cut short")
            } else {
                let allowed = format!("{columns} fields, as in the header");
                (allowed, "complete the line or remove it; the file may have been cut short")
            };
            return Err(self.bad_row(found, allowed, remedy));
        }
        Ok(true)
    }

    /// A field of the current line, as it stands.
    pub fn text(&self, column: usize) -> &str {
        self.fields.get(column).map_or("", |&(from, to)| &self.text[from..to])
    }

    /// A field as a whole number from 0 to `max`.
    ///
    /// # Errors
    /// When it is anything else.
    pub fn whole(&self, column: usize, max: u64) -> Result<u64, TraceError> {
        let text = self.text(column).trim();
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        match text.parse::<u64>() {
            Ok(n) if digits && n <= max => Ok(n),
            _ => Err(self.bad_field(column, format!("a whole number from 0 to {max}"))),
        }
    }

    /// A field as the size of a request.
    ///
    /// # Errors
    /// When it is not from 1 to [`SIZE_MAX`].
    pub fn size(&self, column: usize) -> Result<u32, TraceError> {
        match self.whole(column, u64::from(SIZE_MAX)) {
            Ok(size) if size > 0 => Ok(size as u32),
            _ => Err(self.bad_field(column, format!("a whole number from 1 to {SIZE_MAX}"))),
        }
    }

    /// A field as a number from 0 to `max`.
    ///
    /// # Errors
    /// When it is anything else, NaN and infinity included.
    pub fn number(&self, column: usize, max: f64) -> Result<f64, TraceError> {
        match self.text(column).trim().parse::<f64>() {
            Ok(x) if x >= 0.0 && x <= max => Ok(x + 0.0), // -0.0 + 0.0 is 0.0
            _ => Err(self.bad_field(column, format!("a number from 0 to {max:e}"))),
        }
    }

    /// An error about one field of the current line.
    pub fn bad_field(&self, column: usize, allowed: impl Into<String>) -> TraceError {
        TraceError::Field {
            file: self.file().into(),
            line: self.line,
            column: self.header.get(column).cloned().unwrap_or_default(),
            found: shorten(self.text(column)),
            allowed: allowed.into(),
            remedy: CORRECT,
        }
    }

    /// An error about the current line.
    pub fn bad_row(&self, found: String, allowed: String, remedy: &'static str) -> TraceError {
        TraceError::Row { file: self.file().into(), line: self.line, found, allowed, remedy }
    }

    /// An error about the header.
    pub fn bad_header(
        &self,
        found: String,
        allowed: &'static str,
        remedy: &'static str,
    ) -> TraceError {
        let (file, line) = (self.file().into(), self.header_line);
        TraceError::Header { file, line, found, allowed, remedy }
    }

    /// An error about what is missing at the end of the file.
    pub fn ended(&self, expected: impl Into<String>, remedy: &'static str) -> TraceError {
        let (file, line) = (self.file().into(), self.line + 1);
        TraceError::Empty { file, line, expected: expected.into(), remedy }
    }

    /// An error about a file of no known format.
    pub(crate) fn unknown_format(&self) -> TraceError {
        let (file, line) = (self.file().into(), self.header_line);
        TraceError::Format { file, line, found: self.found_header() }
    }

    fn found_header(&self) -> String {
        format!("`{}`", shorten(&self.header.join(",")))
    }

    fn check_header(&self) -> Result<(), TraceError> {
        let mut seen = BTreeMap::new();
        for (i, name) in self.header.iter().enumerate() {
            if let Some(first) = seen.insert(name.as_str(), i) {
                let found = format!("`{}` as columns {} and {}", shorten(name), first + 1, i + 1);
                return Err(self.bad_header(found, "each name once", "rename or remove one"));
            }
        }
        Ok(())
    }

    /// Reads the next line that is not blank into `text`.
    fn next_line(&mut self) -> Result<bool, TraceError> {
        loop {
            self.raw.clear();
            let mut limited = (&mut self.input.reader).take(LINE_BYTES_MAX as u64 + 1);
            let read = limited
                .read_until(b'\n', &mut self.raw)
                .map_err(|e| read_error(&self.input.name, self.input.gzip, self.line + 1, &e))?;
            if read == 0 {
                return Ok(false);
            }
            self.line += 1;
            if self.raw.len() > LINE_BYTES_MAX {
                let allowed = format!("lines of at most {LINE_BYTES_MAX} bytes");
                return Err(self.bad_row("a longer line".into(), allowed, "check the file"));
            }
            self.decode()?;
            if !self.text.trim().is_empty() {
                return Ok(true);
            }
        }
    }

    /// Moves the raw line to `text`, without its line end.
    fn decode(&mut self) -> Result<(), TraceError> {
        let mut line: &[u8] = &self.raw;
        line = line.strip_suffix(b"\n").unwrap_or(line);
        line = line.strip_suffix(b"\r").unwrap_or(line);
        if self.line == 1 {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        self.text.clear();
        match std::str::from_utf8(line) {
            Ok(text) => self.text.push_str(text),
            Err(e) => {
                let found = format!("bytes that are not UTF-8 at byte {}", e.valid_up_to() + 1);
                return Err(self.bad_row(found, "UTF-8 text".into(), "check the file"));
            }
        }
        Ok(())
    }

    /// Finds the fields of `text`.
    fn split(&mut self) -> Result<(), TraceError> {
        self.fields.clear();
        if self.text.contains('"') {
            return self.split_quoted();
        }
        let mut from = 0;
        for (at, byte) in self.text.bytes().enumerate() {
            if byte == b',' {
                self.fields.push((from, at));
                from = at + 1;
            }
        }
        self.fields.push((from, self.text.len()));
        Ok(())
    }

    /// As `split`, with quotes taken off: `text` becomes the fields one after another.
    fn split_quoted(&mut self) -> Result<(), TraceError> {
        let line = std::mem::take(&mut self.text);
        let mut rest = line.as_str();
        loop {
            let from = self.text.len();
            if let Some(inside) = rest.strip_prefix('"') {
                let Some(after) = unquote(inside, &mut self.text) else {
                    let found = format!("an open quote (`{}`)", shorten(&line));
                    return Err(self.bad_row(found, "quotes in pairs".into(), CORRECT));
                };
                rest = after;
            } else {
                let end = rest.find(',').unwrap_or(rest.len());
                self.text.push_str(&rest[..end]);
                rest = &rest[end..];
            }
            self.fields.push((from, self.text.len()));
            match rest.strip_prefix(',') {
                Some(next) => rest = next,
                None if rest.is_empty() => return Ok(()),
                None => {
                    let found = format!("text after a closing quote (`{}`)", shorten(&line));
                    return Err(self.bad_row(found, "a comma there".into(), CORRECT));
                }
            }
        }
    }
}

/// Copies a quoted field (its first quote taken off) to `out`; what follows its closing quote.
fn unquote<'a>(mut rest: &'a str, out: &mut String) -> Option<&'a str> {
    loop {
        let end = rest.find('"')?;
        out.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(more) => {
                out.push('"');
                rest = more;
            }
            None => return Some(rest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Result<Table, TraceError> {
        Table::open(Input::from_bytes("t.csv", text.as_bytes().to_vec()).unwrap())
    }

    #[test]
    fn line_ends_marks_comments_quotes_and_blank_lines_are_accepted() {
        let mut t = table("\u{feff}# note\r\na,\"b\"\r\n\r\n1,\"x,\"\"y\"\"\"\r\n2,z").unwrap();
        assert_eq!(t.header(), ["a", "b"]);
        assert!(t.advance().unwrap());
        assert_eq!((t.line(), t.text(0), t.text(1)), (4, "1", "x,\"y\""));
        assert!(t.advance().unwrap());
        assert_eq!((t.line(), t.text(0), t.text(1)), (5, "2", "z"));
        assert!(!t.advance().unwrap());
    }

    #[test]
    fn numbers_have_a_range_and_errors_have_a_place() {
        let mut t = table("a,b\n7,-1\n").unwrap();
        t.advance().unwrap();
        assert_eq!(t.whole(0, 9).unwrap(), 7);
        for error in [t.whole(0, 6), t.whole(1, 9)] {
            let text = error.unwrap_err().to_string();
            assert!(text.starts_with("t.csv: line 2: column `"), "{text}");
        }
        let mut t = table("a\nNaN\ninf\n-0.0\n+5\n1e400\n").unwrap();
        let mut seen = vec![];
        while t.advance().unwrap() {
            seen.push((t.number(0, 10.0).ok(), t.whole(0, 10).ok()));
        }
        let wrong = (None, None);
        assert_eq!(seen, [wrong, wrong, (Some(0.0), None), (Some(5.0), None), wrong]);
    }

    #[test]
    fn short_rows_open_quotes_and_double_names_are_errors() {
        let short = table("a,b\n1,2\n3\n").and_then(|mut t| t.advance().and_then(|_| t.advance()));
        assert_eq!(short.unwrap_err().line(), Some(3));
        assert!(table("a,\"b\n").unwrap_err().to_string().contains("open quote"));
        assert!(table("a,\"b\"c\n").unwrap_err().to_string().contains("closing quote"));
        assert!(table("a,b,a\n").unwrap_err().to_string().contains("columns 1 and 3"));
        assert!(table("").unwrap_err().to_string().contains("t.csv: line 1: the file ends"));
    }
}
