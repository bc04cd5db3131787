//! Writing a schedule log as a run goes.

use super::lines::Lines;
use super::{HEADER, Names, Record, Terms};
use crate::cluster::Change;
use crate::observer::{Batch, Load, Observer};
use crate::policy::Outcome;
use crate::request::{DeviceId, End, ModelId, Request, RequestId};
use crate::time::Time;
use std::io::{self, Write};

/// Bytes that are gathered before they are written.
const BUFFER: usize = 1 << 16;

/// An observer that writes every record as one line. It gathers what it writes, so the writer needs
/// no buffer of its own.
#[derive(Debug)]
pub struct LogWriter<W> {
    out: W,
    lines: Lines,
    reasons: bool,
    /// The first failure; nothing is written after it.
    failure: Option<io::Error>,
}

impl<W: Write> LogWriter<W> {
    /// Begins a log on `out`.
    pub fn new(out: W) -> LogWriter<W> {
        LogWriter::with_names(out, &Names::default())
    }

    /// Begins a log on `out` that says what things are called.
    pub fn with_names(out: W, names: &Names) -> LogWriter<W> {
        let mut lines = Lines::with_capacity(2 * BUFFER);
        lines.bytes.extend_from_slice(HEADER.as_bytes());
        lines.end_line();
        lines.names(names);
        LogWriter { out, lines, reasons: false, failure: None }
    }

    /// The same log with the terms of the run, which the auditor holds it to. To be called before
    /// the first record.
    pub fn with_terms(mut self, terms: &Terms) -> LogWriter<W> {
        self.lines.terms(terms);
        self
    }

    /// The same log with the policy's reasons, if `ask`.
    pub fn ask_for_reasons(mut self, ask: bool) -> LogWriter<W> {
        self.reasons = ask;
        self
    }

    /// Writes one record.
    pub fn record(&mut self, record: Record) {
        self.line(|lines| lines.record(&record));
    }

    #[inline]
    fn line(&mut self, write: impl FnOnce(&mut Lines)) {
        write(&mut self.lines);
        if self.lines.bytes.len() >= BUFFER {
            self.flush_buffer();
        }
    }

    #[cold]
    fn flush_buffer(&mut self) {
        if self.failure.is_none() {
            self.failure = self.out.write_all(&self.lines.bytes).err();
        }
        self.lines.bytes.clear();
    }

    /// Flushes and gives the writer back.
    ///
    /// # Errors
    /// The first failure of the writer, whenever it was.
    pub fn finish(mut self) -> io::Result<W> {
        self.flush_buffer();
        match self.failure {
            Some(failure) => Err(failure),
            None => self.out.flush().map(|()| self.out),
        }
    }
}

impl<W: Write> Observer for LogWriter<W> {
    fn arrived(&mut self, now: Time, request: &Request) {
        self.line(|lines| lines.arrive(now, request));
    }
    fn issued(&mut self, now: Time, batch: &Batch<'_>) {
        self.line(|lines| lines.issue(now, batch));
    }
    fn began(&mut self, now: Time, batch: &Batch<'_>) {
        self.line(|lines| lines.begin(now, batch.action));
    }
    fn closed(&mut self, now: Time, batch: &Batch<'_>, _start: Option<Time>, outcome: Outcome) {
        self.line(|lines| lines.close(now, batch.action, outcome.into()));
    }
    fn load_issued(&mut self, now: Time, load: &Load) {
        self.line(|lines| lines.load(now, load.into()));
    }
    fn load_began(&mut self, now: Time, load: &Load) {
        self.line(|lines| lines.begin(now, load.action));
    }
    fn load_closed(&mut self, now: Time, load: &Load, _start: Option<Time>, outcome: Outcome) {
        self.line(|lines| lines.close(now, load.action, outcome.into()));
    }
    fn unloaded(&mut self, now: Time, device: DeviceId, model: ModelId) {
        self.line(|lines| lines.unload(now, device, model));
    }
    fn ended(&mut self, now: Time, request: &Request, how: End, _start: Option<Time>) {
        self.line(|lines| lines.end(now, request.id, how));
    }
    fn device(&mut self, now: Time, id: DeviceId, change: Change) {
        self.line(|lines| lines.device(now, id, change));
    }
    fn wants_reasons(&self) -> bool {
        self.reasons
    }
    fn why(&mut self, now: Time, request: RequestId, text: &str) {
        if self.reasons {
            self.line(|lines| lines.why(now, request, text));
        }
    }
    fn finished(&mut self, now: Time) {
        self.line(|lines| lines.finish(now));
    }
}
