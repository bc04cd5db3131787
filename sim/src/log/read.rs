//! Reading a schedule log, one record at a time.
//!
//! It checks the form of every line, not whether the run makes sense: that is the auditor's work.

use super::{BatchRecord, Closed, HEADER, HEADER_1, Names, Record};
use crate::cluster::Change;
use crate::policy::Refusal;
use crate::request::{ActionId, AppId, DeviceId, End, ModelId, Request, RequestId, SourceId};
use crate::time::{Span, Time};
use std::borrow::Cow;
use std::io::{self, Read};
use std::ops::Range;

/// A longer line is not read: no batch has that many requests.
const LINE_BYTES_MAX: usize = 16 << 20;

/// Bytes that are read at a time.
const BLOCK: usize = 1 << 17;

const OUTCOMES: [Closed; 7] = [
    Closed::Done(Span::ZERO),
    Closed::Rejected(Refusal::Late),
    Closed::Rejected(Refusal::NotLoaded),
    Closed::Rejected(Refusal::NoMemory),
    Closed::Rejected(Refusal::DeviceDown),
    Closed::Preempted,
    Closed::Cancelled,
];

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum LogError {
    #[error("{file}, line {line}: cannot read: {error}; check the disk and the file's permissions")]
    Io { file: String, line: u64, error: io::Error },
    #[error(
        "{file}, line 1: found {found:?}, allowed is {HEADER:?} or {HEADER_1:?}; is it a schedule \
         log, and of this version? Write it again with this version"
    )]
    Version { file: String, found: String },
    #[error(
        "{file}, line {line}: the {field} is {found:?}, allowed is {allowed}; the line was damaged: \
         write the log again, or cut the file before this line"
    )]
    Field { file: String, line: u64, field: &'static str, found: String, allowed: String },
    #[error(
        "{file}, line {line}: the line has no end after {bytes} bytes, allowed is one line of at \
         most {LINE_BYTES_MAX} bytes with its newline; the log was cut off: write it again, or cut \
         the file before this line"
    )]
    Cut { file: String, line: u64, bytes: usize },
}

/// The records of a log. After an error there is no more.
#[derive(Debug)]
pub struct LogReader<R> {
    input: R,
    file: String,
    line: u64,
    /// Bytes that were read; those before `next` are done with.
    block: Vec<u8>,
    next: usize,
    names: Names,
    /// A line that is still to be read as a record.
    waiting: Option<Range<usize>>,
    over: bool,
}

/// Reads a log; `name` is what errors call it. It reads in large blocks, so the input needs no
/// buffer of its own.
pub fn read_log<R: Read>(input: R, name: &str) -> LogReader<R> {
    LogReader {
        input,
        file: name.to_owned(),
        line: 0,
        block: Vec::new(),
        next: 0,
        names: Names::default(),
        waiting: None,
        over: false,
    }
}

impl<R: Read> LogReader<R> {
    /// Where the next line is in `block`, without its newline; `None` at the end of the file.
    #[inline]
    fn read_line(&mut self) -> Result<Option<Range<usize>>, LogError> {
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

    fn fields(&self, line: Range<usize>) -> Fields<'_> {
        Fields { file: &self.file, line: self.line, rest: Some(&self.block[line]) }
    }

    /// The names of what is in the log: none in a log that has none.
    ///
    /// # Errors
    /// When the file is no log, or a name cannot be read.
    pub fn names(&mut self) -> Result<&Names, LogError> {
        if self.line == 0
            && let Err(error) = self.read_head()
        {
            self.over = true;
            return Err(error);
        }
        Ok(&self.names)
    }

    /// The number of the line that was read last, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The header and the names; the first line after them waits.
    fn read_head(&mut self) -> Result<(), LogError> {
        let header = self.read_line()?.map_or(&b""[..], |line| &self.block[line]);
        let named = header == HEADER.as_bytes();
        if !named && header != HEADER_1.as_bytes() {
            let found = String::from_utf8_lossy(header).into_owned();
            return Err(LogError::Version { file: self.file.clone(), found });
        }
        while let Some(line) = self.read_line()? {
            if !named || !self.block[line.clone()].starts_with(b"name,") {
                self.waiting = Some(line);
                return Ok(());
            }
            let mut names = std::mem::take(&mut self.names);
            self.fields(line).name(&mut names)?;
            self.names = names;
        }
        self.over = true;
        Ok(())
    }

    fn read_record(&mut self) -> Result<Option<Record>, LogError> {
        if self.line == 0 {
            self.read_head()?;
        }
        let line = match self.waiting.take() {
            Some(line) => Some(line),
            None if self.over => None,
            None => self.read_line()?,
        };
        line.map(|line| self.fields(line).record()).transpose()
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

/// What is left of a line.
struct Fields<'a> {
    file: &'a str,
    line: u64,
    rest: Option<&'a [u8]>,
}

impl<'a> Fields<'a> {
    #[cold]
    fn error(&self, field: &'static str, found: &[u8], allowed: &str) -> LogError {
        let (file, line) = (self.file.to_owned(), self.line);
        let found = String::from_utf8_lossy(found).into_owned();
        LogError::Field { file, line, field, found, allowed: allowed.to_owned() }
    }

    #[cold]
    fn ends_early(&self, field: &'static str) -> LogError {
        self.error(field, b"", "a field: the line ends before it")
    }

    #[inline]
    fn text(&mut self, field: &'static str) -> Result<&'a [u8], LogError> {
        let rest = self.rest.ok_or_else(|| self.ends_early(field))?;
        let Some(comma) = rest.iter().position(|&b| b == b',') else {
            self.rest = None;
            return Ok(rest);
        };
        self.rest = Some(&rest[comma + 1..]);
        Ok(&rest[..comma])
    }

    /// The rest of the line, commas included. What is not UTF-8 is marked as such.
    fn rest(&mut self, field: &'static str) -> Result<Cow<'a, str>, LogError> {
        let rest = self.rest.take().ok_or_else(|| self.ends_early(field))?;
        Ok(String::from_utf8_lossy(rest))
    }

    fn name(mut self, names: &mut Names) -> Result<(), LogError> {
        self.text("name")?;
        let kind = self.word("what is named", &super::names::KINDS, |kind| kind)?;
        let number = self.text("number of what is named")?;
        let next = names.count(kind);
        if number != next.to_string().as_bytes() || (kind == "policy" && next > 0) {
            let allowed = format!("{next}: names are in order, and there is one policy");
            return Err(self.error("number of what is named", number, &allowed));
        }
        let name = self.rest("name")?.into_owned();
        names.add(kind, name);
        Ok(())
    }

    #[inline]
    fn parse(&self, field: &'static str, text: &[u8], max: u64) -> Result<u64, LogError> {
        whole_number(text)
            .filter(|&n| n <= max)
            .ok_or_else(|| self.error(field, text, &format!("a whole number from 0 to {max}")))
    }

    #[inline]
    fn number(&mut self, field: &'static str, max: u64) -> Result<u64, LogError> {
        let text = self.text(field)?;
        self.parse(field, text, max)
    }

    fn u32(&mut self, field: &'static str) -> Result<u32, LogError> {
        self.number(field, u64::from(u32::MAX)).map(|n| n as u32)
    }

    fn time(&mut self, field: &'static str) -> Result<Time, LogError> {
        self.number(field, u64::MAX).map(Time::from_ns)
    }

    fn time_or_never(&mut self, field: &'static str) -> Result<Time, LogError> {
        let text = self.text(field)?;
        if text.is_empty() {
            return Ok(Time::NEVER);
        }
        self.parse(field, text, u64::MAX - 1).map(Time::from_ns)
    }

    fn action(&mut self) -> Result<ActionId, LogError> {
        self.number("action", u64::MAX).map(ActionId)
    }

    /// One of `all`, by its word.
    fn word<T: Copy>(
        &mut self,
        field: &'static str,
        all: &[T],
        word: impl Fn(T) -> &'static str,
    ) -> Result<T, LogError> {
        let text = self.text(field)?;
        all.iter().copied().find(|&t| word(t).as_bytes() == text).ok_or_else(|| {
            let words: Vec<_> = all.iter().map(|&t| word(t)).collect();
            self.error(field, text, &words.join(" | "))
        })
    }

    fn record(mut self) -> Result<Record, LogError> {
        const KINDS: [&str; 8] =
            ["arrive", "issue", "begin", "close", "end", "device", "why", "finish"];
        let kind = self.text("kind of record")?;
        if !KINDS.iter().any(|k| k.as_bytes() == kind) {
            return Err(self.error("kind of record", kind, &KINDS.join(" | ")));
        }
        let time = self.time("time")?;
        let record = match kind {
            b"arrive" => Record::Arrive { time, request: self.request()? },
            b"issue" => Record::Issue { time, batch: self.batch()? },
            b"begin" => Record::Begin { time, action: self.action()? },
            b"close" => Record::Close { time, action: self.action()?, outcome: self.outcome()? },
            b"end" => {
                let request = RequestId(self.number("request", u64::MAX)?);
                Record::End { time, request, end: self.word("end", &End::ALL, End::word)? }
            }
            b"device" => {
                let device = DeviceId(self.u32("device")?);
                let all = [Change::Up, Change::Draining, Change::Down];
                Record::Device {
                    time,
                    device,
                    change: self.word("change", &all, super::change_word)?,
                }
            }
            b"why" => {
                let request = RequestId(self.number("request", u64::MAX)?);
                Record::Why { time, request, text: self.rest("text")?.into_owned() }
            }
            _ => Record::Finish { time },
        };
        match self.rest {
            None => Ok(record),
            Some(rest) => Err(self.error("rest of the line", rest, "nothing")),
        }
    }

    fn request(&mut self) -> Result<Request, LogError> {
        Ok(Request {
            id: RequestId(self.number("request", u64::MAX)?),
            app: AppId(self.u32("app")?),
            model: ModelId(self.u32("model")?),
            size: self.u32("size")?,
            source: SourceId(self.u32("source")?),
            arrival: self.time("arrival")?,
            deadline: self.time_or_never("deadline")?,
        })
    }

    fn batch(&mut self) -> Result<BatchRecord, LogError> {
        Ok(BatchRecord {
            action: self.action()?,
            device: DeviceId(self.u32("device")?),
            lane: self.number("lane", u64::from(u8::MAX))? as u8,
            model: ModelId(self.u32("model")?),
            units: self.u32("units")?,
            earliest: self.time("earliest")?,
            latest: self.time_or_never("latest")?,
            requests: self.requests()?,
        })
    }

    fn requests(&mut self) -> Result<Vec<RequestId>, LogError> {
        let text = self.text("requests")?;
        if text.is_empty() {
            return Ok(Vec::new());
        }
        let ids = text.split(|&b| b == b' ');
        let mut requests = Vec::with_capacity(1 + text.iter().filter(|&&b| b == b' ').count());
        for id in ids {
            requests.push(RequestId(self.parse("request", id, u64::MAX)?));
        }
        Ok(requests)
    }

    fn outcome(&mut self) -> Result<Closed, LogError> {
        let outcome = self.word("outcome", &OUTCOMES, Closed::word)?;
        if let Closed::Done(_) = outcome {
            return Ok(Closed::Done(Span::from_ns(self.number("device_ns", u64::MAX)?)));
        }
        match self.text("device_ns")? {
            b"" => Ok(outcome),
            found => Err(self.error("device_ns", found, "nothing unless the outcome is done")),
        }
    }
}

/// A number as it is written: digits, without a needless zero in front.
#[inline]
fn whole_number(text: &[u8]) -> Option<u64> {
    let (&first, rest) = text.split_first()?;
    if !first.is_ascii_digit() || (first == b'0' && !rest.is_empty()) {
        return None;
    }
    let mut n = u64::from(first - b'0');
    // Nineteen digits always fit.
    let fits = text.len() <= 19;
    for &b in rest {
        let digit = b.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        n = if fits {
            n * 10 + u64::from(digit)
        } else {
            n.checked_mul(10)?.checked_add(u64::from(digit))?
        };
    }
    Some(n)
}
