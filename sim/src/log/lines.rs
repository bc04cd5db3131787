//! The lines of a schedule log, put together as bytes, without the formatting machinery, because a run
//! spends a good part of its time here.

use super::{BatchRecord, Closed, LoadRecord, Names, Record, change_word};
use crate::cluster::Change;
use crate::observer::Batch;
use crate::request::{ActionId, DeviceId, End, ModelId, Request, RequestId};
use crate::time::Time;
use std::fmt;

/// The two digits of every number below 100.
const PAIRS: [u8; 200] = {
    let mut pairs = [b'0'; 200];
    let mut n = 0;
    while n < 100 {
        pairs[2 * n] += (n / 10) as u8;
        pairs[2 * n + 1] += (n % 10) as u8;
        n += 1;
    }
    pairs
};

/// Appends a whole number in decimal.
#[inline]
pub fn push_decimal(out: &mut Vec<u8>, mut n: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    while n >= 10 {
        let pair = (n % 100) as usize * 2;
        n /= 100;
        at -= 2;
        digits[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    }
    // What is left is the first digit, or nothing when the last pair began with it.
    if n > 0 || at == digits.len() {
        at -= 1;
        digits[at] = b'0' + n as u8;
    }
    out.extend_from_slice(&digits[at..]);
}

/// Lines on their way out.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) bytes: Vec<u8>,
    /// An instant and its digits: one instant has many records, and some say it twice.
    time: Time,
    digits: [u8; 20],
    digit_count: usize,
}

impl Lines {
    pub(super) fn with_capacity(bytes: usize) -> Lines {
        Lines { bytes: Vec::with_capacity(bytes), ..Lines::default() }
    }

    /// Appends a comma and a number.
    #[inline]
    pub(super) fn field(&mut self, n: u64) {
        self.bytes.push(b',');
        if n < 10 {
            return self.bytes.push(b'0' + n as u8);
        }
        push_decimal(&mut self.bytes, n);
    }

    /// Appends a comma and an instant.
    #[inline]
    fn time(&mut self, time: Time) {
        if time != self.time || self.digit_count == 0 {
            let from = self.bytes.len();
            self.field(time.ns());
            let written = &self.bytes[from + 1..];
            self.digits[..written.len()].copy_from_slice(written);
            (self.time, self.digit_count) = (time, written.len());
            return;
        }
        self.bytes.push(b',');
        self.bytes.extend_from_slice(&self.digits[..self.digit_count]);
    }

    /// Appends a comma and an instant, or nothing after it for [`Time::NEVER`].
    #[inline]
    fn time_or_never(&mut self, time: Time) {
        self.bytes.push(b',');
        if time != Time::NEVER {
            push_decimal(&mut self.bytes, time.ns());
        }
    }

    /// Appends a comma, the rest of a line and the line's end. A line stays one line.
    fn text_and_end(&mut self, text: &str) {
        self.bytes.push(b',');
        self.bytes.extend(text.bytes().map(|b| if b == b'\n' { b' ' } else { b }));
        self.end_line();
    }

    pub(super) fn end_line(&mut self) {
        self.bytes.push(b'\n');
    }

    #[inline]
    fn begin_line(&mut self, kind: &[u8], time: Time) {
        self.bytes.extend_from_slice(kind);
        self.time(time);
    }

    pub(super) fn names(&mut self, names: &Names) {
        for (kind, number, name) in names.iter() {
            self.bytes.extend_from_slice(b"name,");
            self.bytes.extend_from_slice(kind.as_bytes());
            self.field(number as u64);
            self.text_and_end(name);
        }
    }

    pub(super) fn arrive(&mut self, time: Time, r: &Request) {
        self.begin_line(b"arrive", time);
        self.field(r.id.0);
        for number in [r.app.0, r.model.0, r.size, r.source.0] {
            self.field(u64::from(number));
        }
        self.time(r.arrival);
        self.time_or_never(r.deadline);
        self.end_line();
    }

    pub(super) fn issue(&mut self, time: Time, b: &Batch<'_>) {
        self.begin_line(b"issue", time);
        self.field(b.action.0);
        for number in [b.device.0, u32::from(b.lane), b.model.0, b.units] {
            self.field(u64::from(number));
        }
        // Not through `time`, which would forget the instant of the records.
        self.field(b.earliest.ns());
        self.time_or_never(b.latest);
        let mut between = b',';
        for request in b.requests {
            self.bytes.push(between);
            push_decimal(&mut self.bytes, request.0);
            between = b' ';
        }
        if b.requests.is_empty() {
            self.bytes.push(between);
        }
        self.end_line();
    }

    pub(super) fn load(&mut self, time: Time, l: LoadRecord) {
        self.begin_line(b"load", time);
        self.field(l.action.0);
        self.field(u64::from(l.device.0));
        self.field(u64::from(l.model.0));
        self.field(l.earliest.ns());
        self.time_or_never(l.latest);
        self.end_line();
    }

    pub(super) fn unload(&mut self, time: Time, device: DeviceId, model: ModelId) {
        self.begin_line(b"unload", time);
        self.field(u64::from(device.0));
        self.field(u64::from(model.0));
        self.end_line();
    }

    pub(super) fn begin(&mut self, time: Time, action: ActionId) {
        self.begin_line(b"begin", time);
        self.field(action.0);
        self.end_line();
    }

    pub(super) fn close(&mut self, time: Time, action: ActionId, outcome: Closed) {
        self.begin_line(b"close", time);
        self.field(action.0);
        self.bytes.push(b',');
        self.bytes.extend_from_slice(outcome.word().as_bytes());
        self.bytes.push(b',');
        if let Closed::Done(device) = outcome {
            push_decimal(&mut self.bytes, device.ns());
        }
        self.end_line();
    }

    pub(super) fn end(&mut self, time: Time, request: RequestId, end: End) {
        self.begin_line(b"end", time);
        self.field(request.0);
        self.bytes.push(b',');
        self.bytes.extend_from_slice(end.word().as_bytes());
        self.end_line();
    }

    pub(super) fn device(&mut self, time: Time, device: DeviceId, change: Change) {
        self.begin_line(b"device", time);
        self.field(u64::from(device.0));
        self.bytes.push(b',');
        self.bytes.extend_from_slice(change_word(change).as_bytes());
        self.end_line();
    }

    pub(super) fn why(&mut self, time: Time, request: RequestId, text: &str) {
        self.begin_line(b"why", time);
        self.field(request.0);
        self.text_and_end(text);
    }

    pub(super) fn finish(&mut self, time: Time) {
        self.begin_line(b"finish", time);
        self.end_line();
    }

    /// Appends the line of a record.
    pub(super) fn record(&mut self, record: &Record) {
        match record {
            Record::Arrive { time, request } => self.arrive(*time, request),
            Record::Issue { time, batch } => self.issue(*time, &observed(*time, batch)),
            Record::Load { time, load } => self.load(*time, *load),
            Record::Unload { time, device, model } => self.unload(*time, *device, *model),
            Record::Begin { time, action } => self.begin(*time, *action),
            Record::Close { time, action, outcome } => self.close(*time, *action, *outcome),
            Record::End { time, request, end } => self.end(*time, *request, *end),
            Record::Device { time, device, change } => self.device(*time, *device, *change),
            Record::Why { time, request, text } => self.why(*time, *request, text),
            Record::Finish { time } => self.finish(*time),
        }
    }
}

/// A batch as observers see it.
fn observed(issued: Time, b: &BatchRecord) -> Batch<'_> {
    Batch {
        action: b.action,
        device: b.device,
        lane: b.lane,
        // Neither the record nor its line says it.
        lanes: 1,
        sharing: Default::default(),
        model: b.model,
        requests: &b.requests,
        units: b.units,
        issued,
        earliest: b.earliest,
        latest: b.latest,
    }
}

/// The line of a record, without its newline.
impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Lines::default();
        lines.record(self);
        f.write_str(String::from_utf8_lossy(&lines.bytes).trim_end_matches('\n'))
    }
}
