//! The log of a run: every record as one line of text. It computes nothing and judges nothing.
//!
//! The first line is [`HEADER`]; then come the terms of the run and the records. Fields have commas between;
//! times are whole nanoseconds, but those of the law, which are picoseconds:
//!
//! ```text
//! policy,NAME                                 the rest of the line, commas included
//! blocks,count,tokens                         of KV memory, and how many tokens a block holds
//! dense,tokens,time_ps                        a point of the curve; likewise `head,sequences,time_ps`
//! attention,floor,3 of decode,3 of prompt,5 of mixed
//! all_reduce,once,for each token
//! arrive,time,request,tokens_in,tokens_out,ttft_slo_ns,tpot_slo_ns   the last two are empty for none
//! drop,time,request
//! evict,time,request
//! step,time,end,REQUEST:TOKENS ...            who computes how many tokens in it
//! first,time,request
//! done,time,request
//! finish,time
//! ```

use super::law::{Attention, Curve};
use super::record::{Record, TokenObserver};
use super::request::{Machine, RequestId, Slo, TokenRequest};
use crate::log::{Fields, LineReader, LogError, Sink};
use crate::time::{Span, Time};
use std::fmt::{self, Write as _};
use std::io::{self, Read, Write};

/// The first line of a log of requests with tokens.
pub const HEADER: &str = "orrery-tokens-log,1";

/// The terms of a run, as the log says them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// The policy's name.
    pub policy: String,
    /// The executor.
    pub machine: Machine,
}

/// A record as its line, without the newline.
struct Line<'a>(Time, &'a Record);

/// A time, or nothing where there is none.
fn or_none(span: Span) -> String {
    if span == Span::MAX { String::new() } else { span.ns().to_string() }
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let now = self.0.ns();
        match self.1 {
            Record::Arrive { request, what: TokenRequest { tokens_in, tokens_out, slo, .. } } => {
                let (first, each) = (or_none(slo.first), or_none(slo.each));
                write!(f, "arrive,{now},{},{tokens_in},{tokens_out},{first},{each}", request.0)
            }
            Record::Drop { request } => write!(f, "drop,{now},{}", request.0),
            Record::Evict { request } => write!(f, "evict,{now},{}", request.0),
            Record::Step { end, parts } => {
                write!(f, "step,{now},{},", end.ns())?;
                parts.iter().enumerate().try_for_each(|(i, (request, tokens))| {
                    let space = if i == 0 { "" } else { " " };
                    write!(f, "{space}{}:{tokens}", request.0)
                })
            }
            Record::First { request } => write!(f, "first,{now},{}", request.0),
            Record::Done { request } => write!(f, "done,{now},{}", request.0),
            Record::Finish => write!(f, "finish,{now}"),
        }
    }
}

/// Writes the log of a run.
#[derive(Debug)]
pub struct LogWriter<W: Write>(Sink<W>);

impl<W: Write> LogWriter<W> {
    /// A log that begins with its terms.
    pub fn new(to: W, terms: &Terms) -> LogWriter<W> {
        let mut sink = Sink::new(to);
        let Machine { law, blocks, block_tokens } = &terms.machine;
        let mut head = format!("{HEADER}\npolicy,{}\n", terms.policy);
        let _ = writeln!(head, "blocks,{blocks},{block_tokens}");
        for (word, curve) in [("dense", &law.dense), ("head", &law.head)] {
            for (count, ps) in curve.points() {
                let _ = writeln!(head, "{word},{count},{ps}");
            }
        }
        let a = &law.attention;
        let all = a.decode.iter().chain(&a.prompt).chain(&a.mixed);
        let all: String = all.map(|c| format!(",{c}")).collect();
        let _ = writeln!(head, "attention,{}{all}", a.floor);
        let _ = writeln!(head, "all_reduce,{},{}", law.all_reduce[0], law.all_reduce[1]);
        sink.put(&head);
        LogWriter(sink)
    }

    /// What was written to.
    ///
    /// # Errors
    /// The first error of writing.
    pub fn finish(self) -> io::Result<W> {
        self.0.finish()
    }
}

impl<W: Write> TokenObserver for LogWriter<W> {
    fn record(&mut self, now: Time, record: &Record) {
        self.0.line(Line(now, record));
    }
}

/// A log that was read: its terms, and the records with time and line.
pub type ReadLog = (Terms, Vec<(Time, Record, u64)>);

/// Reads a log, header included; `file` is its name in errors.
///
/// # Errors
/// When the file cannot be read, or a line is not what the module's text says.
pub fn read_log(from: impl Read, file: &str) -> Result<ReadLog, LogError> {
    let (mut terms, mut records) = (Terms::default(), Vec::new());
    let (mut dense, mut head) = (Vec::new(), Vec::new());
    let mut lines = LineReader::new(from, file);
    lines.header(HEADER)?;
    while let Some(line) = lines.read_line()? {
        let mut fields = lines.fields(line);
        let machine = &mut terms.machine;
        match fields.text("kind of record")? {
            b"policy" => terms.policy = fields.rest("policy")?.into_owned(),
            b"blocks" => {
                machine.blocks = fields.u32("count of blocks")?;
                machine.block_tokens = at_least_one(&mut fields, "tokens of a block")?;
            }
            b"dense" => point(&mut fields, &mut dense, &mut machine.law.dense)?,
            b"head" => point(&mut fields, &mut head, &mut machine.law.head)?,
            b"attention" => machine.law.attention = attention(&mut fields)?,
            b"all_reduce" => {
                machine.law.all_reduce = [signed(&mut fields)?, signed(&mut fields)?];
            }
            kind => {
                let now = fields.time("time")?;
                let record = record(&mut fields, kind, now)?;
                records.push((now, record, lines.line()));
            }
        }
        fields.nothing_more()?;
    }
    Ok((terms, records))
}

fn at_least_one(fields: &mut Fields<'_>, name: &'static str) -> Result<u32, LogError> {
    let text = fields.text(name)?;
    let number = fields.parse(name, text, u64::from(u32::MAX))?;
    let number = u32::try_from(number).ok().filter(|n| *n >= 1);
    number.ok_or_else(|| fields.error(name, text, "1 or more"))
}

/// The next point of a curve.
fn point(
    fields: &mut Fields<'_>,
    points: &mut Vec<(u32, u64)>,
    curve: &mut Curve,
) -> Result<(), LogError> {
    let text = fields.text("count")?;
    let count = fields.parse("count", text, u64::from(u32::MAX))? as u32;
    points.push((count, fields.number("time", u64::MAX)?));
    *curve = Curve::new(points.clone())
        .ok_or_else(|| fields.error("count", text, "more than in the line before"))?;
    Ok(())
}

/// A coefficient of the law.
fn signed(fields: &mut Fields<'_>) -> Result<i64, LogError> {
    let text = fields.text("coefficient")?;
    let number = std::str::from_utf8(text).ok().and_then(|t| t.parse().ok());
    number.ok_or_else(|| fields.error("coefficient", text, "a whole number"))
}

fn attention(fields: &mut Fields<'_>) -> Result<Attention, LogError> {
    let mut law = Attention { floor: signed(fields)?, ..Attention::default() };
    let all = law.decode.iter_mut().chain(&mut law.prompt).chain(&mut law.mixed);
    for coefficient in all {
        *coefficient = signed(fields)?;
    }
    Ok(law)
}

fn request(fields: &mut Fields<'_>) -> Result<RequestId, LogError> {
    fields.u32("request").map(RequestId)
}

/// A time, or none.
fn slo(fields: &mut Fields<'_>, name: &'static str) -> Result<Span, LogError> {
    let text = fields.text(name)?;
    if text.is_empty() {
        return Ok(Span::MAX);
    }
    fields.parse(name, text, u64::MAX).map(Span::from_ns)
}

fn parts(fields: &mut Fields<'_>) -> Result<Vec<(RequestId, u32)>, LogError> {
    let text = fields.text("parts")?;
    let part = |word: &str| {
        let (request, tokens) = word.split_once(':')?;
        Some((RequestId(request.parse().ok()?), tokens.parse().ok()?))
    };
    let all = std::str::from_utf8(text).ok().and_then(|t| t.split(' ').map(part).collect());
    all.ok_or_else(|| fields.error("parts", text, "REQUEST:TOKENS, with spaces between"))
}

fn record(fields: &mut Fields<'_>, kind: &[u8], now: Time) -> Result<Record, LogError> {
    Ok(match kind {
        b"arrive" => Record::Arrive {
            request: request(fields)?,
            what: TokenRequest {
                at: now,
                tokens_in: at_least_one(fields, "tokens in")?,
                tokens_out: at_least_one(fields, "tokens out")?,
                slo: Slo { first: slo(fields, "TTFT's SLO")?, each: slo(fields, "TPOT's SLO")? },
            },
        },
        b"drop" => Record::Drop { request: request(fields)? },
        b"evict" => Record::Evict { request: request(fields)? },
        b"step" => Record::Step { end: fields.time("end")?, parts: parts(fields)? },
        b"first" => Record::First { request: request(fields)? },
        b"done" => Record::Done { request: request(fields)? },
        b"finish" => Record::Finish,
        _ => {
            let allowed = "policy, blocks, dense, head, attention, all_reduce, arrive, drop, evict, \
                           step, first, done or finish";
            return Err(fields.error("kind of record", kind, allowed));
        }
    })
}
