//! The fields of a line: from text to records.

use super::names::KINDS as NAMED;
use super::{BatchRecord, Closed, LoadRecord, LogError, Names, Record, change_word};
use crate::cluster::Change;
use crate::policy::Refusal;
use crate::request::{ActionId, AppId, DeviceId, End, ModelId, Request, RequestId, SourceId};
use crate::time::{Span, Time};
use std::borrow::Cow;

const OUTCOMES: [Closed; 7] = [
    Closed::Done(Span::ZERO),
    Closed::Rejected(Refusal::Late),
    Closed::Rejected(Refusal::NotLoaded),
    Closed::Rejected(Refusal::NoMemory),
    Closed::Rejected(Refusal::DeviceDown),
    Closed::Preempted,
    Closed::Cancelled,
];

/// What is left of a line.
pub(crate) struct Fields<'a> {
    pub(super) file: &'a str,
    pub(super) line: u64,
    pub(super) rest: Option<&'a [u8]>,
}

impl<'a> Fields<'a> {
    #[cold]
    pub(crate) fn error(&self, field: &'static str, found: &[u8], allowed: &str) -> LogError {
        let (file, line) = (self.file.to_owned(), self.line);
        let found = String::from_utf8_lossy(found).into_owned();
        LogError::Field { file, line, field, found, allowed: allowed.to_owned() }
    }

    #[cold]
    fn ends_early(&self, field: &'static str) -> LogError {
        self.error(field, b"", "a field: the line ends before it")
    }

    #[inline]
    pub(crate) fn text(&mut self, field: &'static str) -> Result<&'a [u8], LogError> {
        let rest = self.rest.ok_or_else(|| self.ends_early(field))?;
        let Some(comma) = rest.iter().position(|&b| b == b',') else {
            self.rest = None;
            return Ok(rest);
        };
        self.rest = Some(&rest[comma + 1..]);
        Ok(&rest[..comma])
    }

    /// The rest of the line, commas included. What is not UTF-8 is marked as such.
    pub(crate) fn rest(&mut self, field: &'static str) -> Result<Cow<'a, str>, LogError> {
        let rest = self.rest.take().ok_or_else(|| self.ends_early(field))?;
        Ok(String::from_utf8_lossy(rest))
    }

    pub(super) fn name(mut self, names: &mut Names) -> Result<(), LogError> {
        self.text("name")?;
        let kind = self.word("what is named", &NAMED, |kind| kind)?;
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
    pub(crate) fn parse(
        &self,
        field: &'static str,
        text: &[u8],
        max: u64,
    ) -> Result<u64, LogError> {
        whole_number(text)
            .filter(|&n| n <= max)
            .ok_or_else(|| self.error(field, text, &format!("a whole number from 0 to {max}")))
    }

    #[inline]
    pub(crate) fn number(&mut self, field: &'static str, max: u64) -> Result<u64, LogError> {
        let text = self.text(field)?;
        self.parse(field, text, max)
    }

    pub(crate) fn u32(&mut self, field: &'static str) -> Result<u32, LogError> {
        self.number(field, u64::from(u32::MAX)).map(|n| n as u32)
    }

    pub(crate) fn time(&mut self, field: &'static str) -> Result<Time, LogError> {
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
    pub(super) fn word<T: Copy>(
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

    pub(super) fn record(mut self) -> Result<Record, LogError> {
        #[rustfmt::skip]
        const KINDS: [&str; 10] = [
            "arrive", "issue", "load", "begin", "close", "unload", "end", "device", "why", "finish",
        ];
        let kind = self.text("kind of record")?;
        if !KINDS.iter().any(|k| k.as_bytes() == kind) {
            return Err(self.error("kind of record", kind, &KINDS.join(" | ")));
        }
        let time = self.time("time")?;
        let record = match kind {
            b"arrive" => Record::Arrive { time, request: self.request()? },
            b"issue" => Record::Issue { time, batch: self.batch()? },
            b"load" => Record::Load { time, load: self.load()? },
            b"unload" => {
                let (device, model) = (DeviceId(self.u32("device")?), ModelId(self.u32("model")?));
                Record::Unload { time, device, model }
            }
            b"begin" => Record::Begin { time, action: self.action()? },
            b"close" => Record::Close { time, action: self.action()?, outcome: self.outcome()? },
            b"end" => {
                let request = RequestId(self.number("request", u64::MAX)?);
                Record::End { time, request, end: self.word("end", &End::ALL, End::word)? }
            }
            b"device" => {
                let device = DeviceId(self.u32("device")?);
                let all = [Change::Up, Change::Draining, Change::Down];
                Record::Device { time, device, change: self.word("change", &all, change_word)? }
            }
            b"why" => {
                let request = RequestId(self.number("request", u64::MAX)?);
                Record::Why { time, request, text: self.rest("text")?.into_owned() }
            }
            _ => Record::Finish { time },
        };
        self.nothing_more().map(|()| record)
    }

    pub(crate) fn nothing_more(&self) -> Result<(), LogError> {
        match self.rest {
            None => Ok(()),
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

    fn load(&mut self) -> Result<LoadRecord, LogError> {
        Ok(LoadRecord {
            action: self.action()?,
            device: DeviceId(self.u32("device")?),
            model: ModelId(self.u32("model")?),
            earliest: self.time("earliest")?,
            latest: self.time_or_never("latest")?,
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
