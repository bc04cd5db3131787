//! [`Table`]: the lines of a file of fields with a header, one line in memory at a time.
//!
//! It is not a general CSV reader: a record is one line, so that every error names the true line
//! and a stray quote cannot swallow the rest of the file. Windows line ends, a byte order mark,
//! blank lines, quoted fields, `#` lines before the header and a missing last newline are accepted;
//! what else is odd and known is in [`crate::quirks`].

use crate::error::{TraceError, shorten};
use crate::open::{Input, read_error};
use crate::quirks::{Met, Quirk};
use orrery_sim::request::SIZE_MAX;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::{BufRead, Read};

/// The longest line accepted, in bytes: a full day of one Azure 2019 function takes 16 kB.
const LINE_BYTES_MAX: usize = 4 << 20;
/// How many lines may come before a header that is looked for.
pub const PREAMBLE_MAX: usize = 50;
/// The remedy for a damaged field.
pub(crate) const CORRECT: &str = "correct the field or remove the line";
/// The remedy for a time on the calendar where one from the start is read.
const SINCE_1970: &str = "this is a time since 1970: subtract the first time of the list from all, so that it begins at 0";

/// A file being read. [`Table::advance`] moves to the next line; the accessors read its fields.
#[derive(Debug)]
pub struct Table {
    input: Input,
    header: Vec<String>,
    header_line: u64,
    line: u64,
    raw: Vec<u8>,
    /// The line as it stands, without its end.
    shown: String,
    /// Its fields without their quotes, one after another.
    text: String,
    fields: Vec<(usize, usize)>,
    /// What stands between fields.
    separator: char,
    /// Whether a blank line came before this one.
    is_after_blank: bool,
    /// Whether a row had a number or a date.
    has_numbers: bool,
    /// Whether a second table has begun.
    is_over: bool,
    /// Whether a second table is an error, as nobody would be told of it.
    is_alone: bool,
    /// Whether a comma in a number is a decimal one, once a number has said it.
    is_decimal: Cell<Option<bool>>,
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
        Table::open_at(input, |_| true)
    }

    /// A table whose header is not in its file.
    pub fn headed(input: Input, header: Vec<String>) -> Table {
        Table { header, header_line: 0, ..Table::empty(input) }
    }

    /// The same of a header that some lines may come before; the first line where there is none.
    ///
    /// # Errors
    /// As [`Table::open`].
    pub fn open_at(
        input: Input,
        is_header: impl Fn(&[String]) -> bool,
    ) -> Result<Table, TraceError> {
        let mut table = Table::empty(input);
        let mut before: Vec<(u64, String)> = Vec::new();
        while before.len() < PREAMBLE_MAX && table.next_line()? {
            if table.shown.starts_with('#') && before.is_empty() {
                continue;
            }
            before.push((table.line, table.shown.clone()));
            if is_header(&columns(&table.shown)) {
                before.rotate_right(1);
                break;
            }
        }
        let is_found = before.first().is_some_and(|first| first.0 == table.line);
        for (line, text) in before.iter().skip(1).filter(|_| is_found) {
            table.meet(Quirk::Preamble, || format!("`{}` on line {line}", shorten(text)));
        }
        if before.is_empty() {
            return Err(table.ended("a header", "check that the file is whole"));
        }
        (table.header_line, table.shown) = before.swap_remove(0);
        table.separator = separator(&table.shown);
        table.split(table.header_line)?;
        table.header = (0..table.fields.len()).map(|i| table.text(i).trim().to_string()).collect();
        table.check_header()?;
        if table.separator != ',' {
            table.meet(Quirk::Separator, || format!("on line {}", table.header_line));
        }
        Ok(table)
    }

    fn empty(input: Input) -> Table {
        Table {
            input,
            header: Vec::new(),
            header_line: 1,
            line: 0,
            raw: Vec::new(),
            shown: String::new(),
            text: String::new(),
            fields: Vec::new(),
            separator: ',',
            is_after_blank: false,
            has_numbers: false,
            is_over: false,
            is_alone: false,
            is_decimal: Cell::new(None),
            ends_in_comma: None,
            met: RefCell::default(),
        }
    }

    /// The same of a header that has all these columns.
    ///
    /// # Errors
    /// As [`Table::open`].
    pub fn with(input: Input, columns: &[&str]) -> Result<Table, TraceError> {
        Table::open_at(input, |header| columns.iter().all(|c| header.iter().any(|h| h == c)))
    }

    /// The same, of which a second table is an error: for readers that do not say what they met.
    pub(crate) fn alone(self) -> Table {
        Table { is_alone: true, ..self }
    }

    /// Counts a quirk.
    pub(crate) fn meet(&self, quirk: Quirk, first: impl FnOnce() -> String) {
        self.met.borrow_mut().add(quirk, first);
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

    /// The names of all columns but these.
    pub fn others(&self, used: &[&str]) -> Vec<String> {
        let others = self.header.iter().filter(|name| !used.contains(&name.as_str()));
        others.map(|name| shorten(name)).collect()
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

    /// Moves to the next line that is not blank; `false` at the end of the table.
    ///
    /// # Errors
    /// When the bytes cannot be read or are no text, or the number of fields is not the header's.
    pub fn advance(&mut self) -> Result<bool, TraceError> {
        loop {
            if self.is_over || !self.next_line()? {
                return Ok(false);
            }
            self.split(self.line)?;
            if self.is_second_table() {
                if self.is_alone {
                    let found = format!("a second table (`{}`)", shorten(&self.shown));
                    let remedy = "remove the blank line before it and correct it, or keep one table in the file";
                    return Err(self.bad_row(found, "rows of the table above".into(), remedy));
                }
                self.is_over = true;
                let line = self.line;
                self.meet(Quirk::SecondTable, || {
                    format!("`{}` on line {line}", shorten(&self.shown))
                });
                return Ok(false);
            }
            let is_header = |(i, name): (usize, &String)| self.text(i).trim() == name;
            if self.fields.len() != self.header.len()
                || !self.header.iter().enumerate().all(is_header)
            {
                break;
            }
            self.meet(Quirk::HeaderAgain, || format!("on line {}", self.line));
        }
        let (fields, columns) = (self.fields.len(), self.header.len());
        let more = fields == columns + 1 && self.text(columns).trim().is_empty();
        if more && *self.ends_in_comma.get_or_insert(true) {
            self.fields.pop();
            self.meet(Quirk::TrailingComma, || format!("on line {}", self.line));
            return Ok(true);
        }
        let ends_in_comma = *self.ends_in_comma.get_or_insert(false);
        if fields == columns && !ends_in_comma {
            return Ok(true);
        }
        let found = format!("{fields} fields (`{}`)", shorten(&self.shown));
        let (allowed, remedy) = if ends_in_comma {
            let allowed = format!("{columns} fields and one more comma, as in the rows above");
            (allowed, "end all rows alike; the file may have been cut short")
        } else {
            let allowed = format!("{columns} fields, as in the header");
            (allowed, "complete the line or remove it; the file may have been cut short")
        };
        Err(self.bad_row(found, allowed, remedy))
    }

    /// Whether another table begins on this line: it comes after a blank one, and no field begins as a number or a
    /// date does, as some above did.
    fn is_second_table(&mut self) -> bool {
        let begins = |text: &str| text.trim_start_matches([' ', '-', '+', '.', '[']).chars().next();
        let is_number = |i| begins(self.text(i)).is_some_and(|c: char| c.is_ascii_digit());
        if self.has_numbers && !self.is_after_blank {
            return false;
        }
        let has_numbers = (0..self.fields.len()).any(is_number);
        let is_other = self.has_numbers || self.fields.len() != self.header.len();
        self.has_numbers |= has_numbers;
        self.is_after_blank && !has_numbers && is_other
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
        let text = self.plain(column);
        let (digits, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let is_whole = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        match digits.parse::<u64>() {
            Ok(n) if is_whole && n <= max && fraction.bytes().all(|b| b == b'0') => {
                if digits.len() < text.len() {
                    self.meet(Quirk::Whole, || format!("`{text}` on line {}", self.line));
                }
                Ok(n)
            }
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
        match self.plain(column).parse::<f64>() {
            Ok(x) if x >= 0.0 && x <= max => Ok(x + 0.0), // -0.0 + 0.0 is 0.0
            _ => Err(self.bad_field(column, format!("a number from 0 to {max:e}"))),
        }
    }

    /// A field without the commas that its number has, where it is one and they have one meaning.
    pub fn plain(&self, column: usize) -> Cow<'_, str> {
        let text = self.text(column).trim();
        if !text.contains(',') || !text.bytes().all(|b| b.is_ascii_digit() || b",.+-".contains(&b))
        {
            return text.into();
        }
        let mut groups = text.trim_start_matches(['-', '+']).split(['.', ',']);
        let first = groups.next().unwrap_or_default();
        let commas = text.matches(',').count();
        let is_first = (1..=3).contains(&first.len()) && !first.starts_with('0');
        let thousands = is_first
            && groups.by_ref().take(commas).all(|g| g.len() == 3)
            && text.rfind(',') < text.find('.').or(Some(text.len()));
        let decimal = commas == 1 && !text.contains('.');
        // `1,234` may be either: what a number before it was, this one is too.
        let is_one = (thousands != decimal).then_some(decimal);
        let Some(is_decimal) = self.is_decimal.get().or(is_one) else { return text.into() };
        if is_one.is_some_and(|one| one != is_decimal) || !(thousands || decimal) {
            return text.into();
        }
        self.is_decimal.set(Some(is_decimal));
        let quirk = if is_decimal { Quirk::DecimalComma } else { Quirk::Thousands };
        self.meet(quirk, || format!("`{text}` on line {}", self.line));
        text.replace(',', if is_decimal { "." } else { "" }).into()
    }

    /// An error about one field of the current line.
    pub fn bad_field(&self, column: usize, allowed: impl Into<String>) -> TraceError {
        TraceError::Field {
            file: self.file().into(),
            line: self.line,
            column: self.header.get(column).cloned().unwrap_or_default(),
            found: shorten(self.text(column)),
            allowed: allowed.into(),
            remedy: match self.text(column).contains(',') {
                true => "write numbers with a point and without commas between thousands",
                false if self.is_since_1970(column) => SINCE_1970,
                false => CORRECT,
            },
        }
    }

    /// Whether a field whose column names a unit of time is an instant of our days, from 2001 on.
    fn is_since_1970(&self, column: usize) -> bool {
        let units = [("_ns", 1.0), ("_us", 1e3), ("_ms", 1e6), ("_s", 1e9)];
        let name = self.header.get(column).map_or("", String::as_str);
        let unit_ns = units.iter().find(|unit| name.ends_with(unit.0)).map(|unit| unit.1);
        let ns = self.plain(column).parse::<f64>().ok().zip(unit_ns).map(|(x, unit)| x * unit);
        ns.is_some_and(|ns| (1e18..1e19).contains(&ns))
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

    /// Reads the next line that is not blank into `shown`.
    fn next_line(&mut self) -> Result<bool, TraceError> {
        self.is_after_blank = false;
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
            if !self.shown.trim().is_empty() {
                return Ok(true);
            }
            self.is_after_blank = true;
        }
    }

    /// Moves the raw line to `shown`, without its line end.
    fn decode(&mut self) -> Result<(), TraceError> {
        let mut line: &[u8] = &self.raw;
        line = line.strip_suffix(b"\n").unwrap_or(line);
        line = line.strip_suffix(b"\r").unwrap_or(line);
        if self.line == 1 {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        self.shown.clear();
        match std::str::from_utf8(line) {
            Ok(text) => self.shown.push_str(text),
            Err(e) => {
                let found = format!("bytes that are not UTF-8 at byte {}", e.valid_up_to() + 1);
                return Err(self.bad_row(found, "UTF-8 text".into(), "check the file"));
            }
        }
        Ok(())
    }

    /// Finds the fields of `shown`; `line` is its number.
    fn split(&mut self, line: u64) -> Result<(), TraceError> {
        let found = split(&self.shown, self.separator, &mut self.text, &mut self.fields);
        found.map_err(|(found, allowed)| TraceError::Row {
            file: self.file().into(),
            line,
            found: format!("{found} (`{}`)", shorten(&self.shown)),
            allowed: allowed.into(),
            remedy: CORRECT,
        })
    }
}

/// What stands between the fields of a header: tabs or semicolons where it has no comma.
fn separator(header: &str) -> char {
    let is_in = |c: &char| header.contains(*c);
    [',', '\t', ';'].into_iter().find(is_in).unwrap_or(',')
}

/// The columns of a line, if it is a header.
pub fn columns(line: &str) -> Vec<String> {
    let (mut text, mut fields) = (String::new(), Vec::new());
    match split(line, separator(line), &mut text, &mut fields) {
        Ok(()) => fields.iter().map(|&(from, to)| text[from..to].trim().to_string()).collect(),
        Err(_) => vec![line.trim().to_string()],
    }
}

/// The fields of a line, one after another in `text`; what is wrong with its quotes, and what is allowed.
fn split(
    line: &str,
    separator: char,
    text: &mut String,
    fields: &mut Vec<(usize, usize)>,
) -> Result<(), (&'static str, &'static str)> {
    fields.clear();
    text.clear();
    if !line.contains('"') {
        text.push_str(line);
        let mut from = 0;
        for (at, _) in line.match_indices(separator) {
            fields.push((from, at));
            from = at + 1;
        }
        fields.push((from, line.len()));
        return Ok(());
    }
    let mut rest = line;
    loop {
        let from = text.len();
        if let Some(inside) = rest.strip_prefix('"') {
            rest = unquote(inside, text).ok_or(("an open quote", "quotes in pairs"))?;
        } else {
            let end = rest.find(separator).unwrap_or(rest.len());
            text.push_str(&rest[..end]);
            rest = &rest[end..];
        }
        fields.push((from, text.len()));
        match rest.strip_prefix(separator) {
            Some(next) => rest = next,
            None if rest.is_empty() => return Ok(()),
            None => return Err(("text after a closing quote", "a separator there")),
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
    fn a_comma_in_a_number_has_one_meaning_or_is_an_error() {
        let read = |rows: &[&str]| -> Vec<Option<f64>> {
            let rows: String = rows.iter().map(|row| format!("{row}\n")).collect();
            let mut t = table(&format!("a;b\n{rows}")).unwrap();
            let mut all = Vec::new();
            while t.advance().unwrap() {
                all.push(t.number(0, 1e9).ok());
            }
            all
        };
        assert_eq!(read(&["1,234;"]), [None]);
        assert_eq!(read(&["0,5;", "1,234;", "1,234,567;"]), [Some(0.5), Some(1.234), None]);
        assert_eq!(
            read(&["1,234,567;", "1,234;", "0,5;"]),
            [Some(1_234_567.0), Some(1234.0), None]
        );
        assert_eq!(read(&["1,234.5;", "1.234,5;", "12,34,567;"]), [Some(1234.5), None, None]);
        let mut t = table("a;b\n1,234;\n").unwrap();
        t.advance().unwrap();
        assert!(t.number(0, 1e9).unwrap_err().to_string().contains("without commas"));
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
