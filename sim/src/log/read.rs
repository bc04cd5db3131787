//! Reading a schedule log, one record at a time.
//!
//! It checks the form of every line, not whether the run makes sense: that is the auditor's work.

use super::{BatchRecord, Closed, HEADER, Record};
use crate::cluster::Change;
use crate::policy::Refusal;
use crate::request::{ActionId, AppId, DeviceId, End, ModelId, Request, RequestId, SourceId};
use crate::time::{Span, Time};
use std::io::{self, BufRead, Read};

/// A longer line is not read: no batch has that many requests.
const LINE_BYTES_MAX: u64 = 16 << 20;

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
        "{file}, line 1: found {found:?}, allowed is {HEADER:?}; is it a schedule log, and of this \
         version? Write it again with this version"
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
    text: String,
    over: bool,
}

/// Reads a log; `name` is what errors call it.
pub fn read_log<R: BufRead>(input: R, name: &str) -> LogReader<R> {
    LogReader { input, file: name.to_owned(), line: 0, text: String::new(), over: false }
}

impl<R: BufRead> LogReader<R> {
    /// The next line into `text`, without its newline; false at the end of the file.
    fn read_line(&mut self) -> Result<bool, LogError> {
        self.line += 1;
        self.text.clear();
        let mut limited = self.input.by_ref().take(LINE_BYTES_MAX);
        let bytes = limited.read_line(&mut self.text).map_err(|error| LogError::Io {
            file: self.file.clone(),
            line: self.line,
            error,
        })?;
        if bytes > 0 && self.text.pop() != Some('\n') {
            return Err(LogError::Cut { file: self.file.clone(), line: self.line, bytes });
        }
        Ok(bytes > 0)
    }

    fn read_record(&mut self) -> Result<Option<Record>, LogError> {
        if self.line == 0 {
            let found = self.read_line()?;
            if !found || self.text != HEADER {
                let (file, found) = (self.file.clone(), self.text.clone());
                return Err(LogError::Version { file, found });
            }
        }
        if !self.read_line()? {
            return Ok(None);
        }
        Fields { file: &self.file, line: self.line, rest: Some(&self.text) }.record().map(Some)
    }
}

impl<R: BufRead> Iterator for LogReader<R> {
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
    rest: Option<&'a str>,
}

impl<'a> Fields<'a> {
    fn error(&self, field: &'static str, found: &str, allowed: &str) -> LogError {
        let (file, line) = (self.file.to_owned(), self.line);
        LogError::Field { file, line, field, found: found.to_owned(), allowed: allowed.to_owned() }
    }

    fn text(&mut self, field: &'static str) -> Result<&'a str, LogError> {
        let Some(rest) = self.rest else {
            return Err(self.error(field, "", "a field: the line ends before it"));
        };
        let (first, rest) = rest.split_once(',').map_or((rest, None), |(a, b)| (a, Some(b)));
        self.rest = rest;
        Ok(first)
    }

    fn parse(&self, field: &'static str, text: &str, max: u64) -> Result<u64, LogError> {
        let plain =
            text.bytes().all(|b| b.is_ascii_digit()) && (text.len() == 1 || !text.starts_with('0'));
        let number = if plain { text.parse().ok() } else { None };
        number
            .filter(|&n| n <= max)
            .ok_or_else(|| self.error(field, text, &format!("a whole number from 0 to {max}")))
    }

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
        all.iter().copied().find(|&t| word(t) == text).ok_or_else(|| {
            let words: Vec<_> = all.iter().map(|&t| word(t)).collect();
            self.error(field, text, &words.join(" | "))
        })
    }

    fn record(mut self) -> Result<Record, LogError> {
        const KINDS: [&str; 7] = ["arrive", "issue", "begin", "close", "end", "device", "finish"];
        let kind = self.word("kind of record", &KINDS, |k| k)?;
        let time = self.time("time")?;
        let record = match kind {
            "arrive" => Record::Arrive { time, request: self.request()? },
            "issue" => Record::Issue { time, batch: self.batch()? },
            "begin" => Record::Begin { time, action: self.action()? },
            "close" => Record::Close { time, action: self.action()?, outcome: self.outcome()? },
            "end" => {
                let request = RequestId(self.number("request", u64::MAX)?);
                Record::End { time, request, end: self.word("end", &End::ALL, End::word)? }
            }
            "device" => {
                let device = DeviceId(self.u32("device")?);
                let all = [Change::Up, Change::Draining, Change::Down];
                Record::Device {
                    time,
                    device,
                    change: self.word("change", &all, super::change_word)?,
                }
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
        let ids = text.split(' ').filter(|_| !text.is_empty());
        ids.map(|id| self.parse("request", id, u64::MAX).map(RequestId)).collect()
    }

    fn outcome(&mut self) -> Result<Closed, LogError> {
        let outcome = self.word("outcome", &OUTCOMES, Closed::word)?;
        if let Closed::Done(_) = outcome {
            return Ok(Closed::Done(Span::from_ns(self.number("device_ns", u64::MAX)?)));
        }
        match self.text("device_ns")? {
            "" => Ok(outcome),
            found => Err(self.error("device_ns", found, "nothing unless the outcome is done")),
        }
    }
}
