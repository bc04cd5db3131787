//! The log of a run of jobs: every record as one line of text. It computes nothing and judges nothing.
//!
//! The first line is [`HEADER`]; then come what the jobs share and the records. Fields have commas between;
//! times are whole nanoseconds, memory is in bytes, `busy` in millionths of a GPU:
//!
//! ```text
//! policy,NAME                                 the rest of the line, commas included
//! memory,bytes                                of the GPU; 0 where there are no lanes
//! workers,count
//! slowdown,WIDTH,numerator,denominator        of a width: how much longer than on one worker
//! submit,time,job,stage,iterations,iteration_ns,persistent,ephemeral,busy
//! lane,time,lane,size                         opened, or of another size; 0 closes it
//! place,time,job,lane                         admitted: persistent memory is held
//! run,time,job,lane|1/PARTS WORKER|workers WORKER ...
//! stop,time,job,left_ns                       work left, as time on one device
//! done,time,job
//! finish,time
//! ```
//!
//! A line tells a change, not an iteration: between `run` and `stop` a job runs whole iterations.

use super::job::{Cluster, Job, JobId, PARTS_MAX, Slowdown, Width};
use super::record::{JobObserver, LaneId, On, Record};
use crate::log::{Fields, LineReader, LogError, Sink};
use crate::time::{Span, Time};
use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io::{self, Read, Write};

/// The first line of a log of jobs.
pub const HEADER: &str = "orrery-jobs-log,1";

/// What the jobs share, as the log says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// The policy's name.
    pub policy: String,
    /// The GPU's memory in bytes.
    pub memory: u64,
    /// How many workers there are.
    pub workers: u32,
    /// What a width does to a job's time.
    pub slowdowns: Vec<(Width, Slowdown)>,
}

impl Terms {
    /// The terms of a run.
    pub fn new(cluster: &Cluster, policy: &str) -> Terms {
        let parts = (2..=PARTS_MAX).map(Width::Part);
        let widths = parts.chain((1..=cluster.workers).map(Width::Workers));
        Terms {
            policy: policy.to_string(),
            memory: cluster.memory,
            workers: cluster.workers,
            slowdowns: widths.map(|w| (w, cluster.curve.at(w))).collect(),
        }
    }
}

/// A record as its line, without the newline.
pub struct Line<'a>(pub Time, pub &'a Record);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let now = self.0.ns();
        match self.1 {
            Record::Submit { job, what } => write!(
                f,
                "submit,{now},{},{},{},{},{},{},{}",
                job.0,
                what.stage,
                what.iterations,
                what.iteration.ns(),
                what.persistent,
                what.ephemeral,
                what.busy
            ),
            Record::Lane { lane, size } => write!(f, "lane,{now},{},{size}", lane.0),
            Record::Place { job, lane } => write!(f, "place,{now},{},{}", job.0, lane.0),
            Record::Run { job, on } => {
                write!(f, "run,{now},{},", job.0)?;
                match on {
                    On::Lane => f.write_str("lane"),
                    On::Part { worker, parts } => write!(f, "1/{parts} {worker}"),
                    On::Workers(workers) => {
                        f.write_str("workers")?;
                        workers.iter().try_for_each(|w| write!(f, " {w}"))
                    }
                }
            }
            Record::Stop { job, left } => write!(f, "stop,{now},{},{}", job.0, left.ns()),
            Record::Done { job } => write!(f, "done,{now},{}", job.0),
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
        let mut head = format!("{HEADER}\npolicy,{}\nmemory,{}\n", terms.policy, terms.memory);
        let _ = writeln!(head, "workers,{}", terms.workers);
        for (width, slow) in &terms.slowdowns {
            let _ = writeln!(head, "slowdown,{width},{},{}", slow.numerator, slow.denominator);
        }
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

impl<W: Write> JobObserver for LogWriter<W> {
    fn record(&mut self, now: Time, record: &Record) {
        self.0.line(Line(now, record));
    }
}

/// A log that was read: its terms, and the records with time and line.
pub type ReadLog = (Terms, Vec<(Time, Record, u64)>);

/// Reads a log of jobs, header included; `file` is its name in errors.
///
/// # Errors
/// When the file cannot be read, or a line is not what the module's text says.
pub fn read_log(from: impl Read, file: &str) -> Result<ReadLog, LogError> {
    let (mut terms, mut records) = (Terms::default(), Vec::new());
    let mut lines = LineReader::new(from, file);
    lines.header(HEADER)?;
    while let Some(line) = lines.read_line()? {
        let mut fields = lines.fields(line);
        match fields.text("kind of record")? {
            b"policy" => terms.policy = fields.rest("policy")?.into_owned(),
            b"memory" => terms.memory = fields.number("memory", u64::MAX)?,
            b"workers" => terms.workers = fields.u32("count of workers")?,
            b"slowdown" => {
                let width = width(&mut fields)?;
                let mut part = |name| {
                    let text = fields.text(name)?;
                    let number = fields.parse(name, text, u64::MAX)?;
                    if number == 0 {
                        return Err(fields.error(name, text, "a positive fraction's: 1 or more"));
                    }
                    Ok(number)
                };
                let (numerator, denominator) = (part("numerator")?, part("denominator")?);
                terms.slowdowns.push((width, Slowdown { numerator, denominator }));
            }
            kind => {
                let now = fields.time("time")?;
                let record = record(&mut fields, kind)?;
                records.push((now, record, lines.line()));
            }
        }
        fields.nothing_more()?;
    }
    Ok((terms, records))
}

fn job(fields: &mut Fields<'_>) -> Result<JobId, LogError> {
    fields.u32("job").map(JobId)
}

fn lane(fields: &mut Fields<'_>) -> Result<LaneId, LogError> {
    fields.u32("lane").map(LaneId)
}

/// A field as text; what is not UTF-8 is marked as such, and so no word that is known.
fn word<'a>(fields: &mut Fields<'a>, name: &'static str) -> Result<Cow<'a, str>, LogError> {
    fields.text(name).map(String::from_utf8_lossy)
}

fn width(fields: &mut Fields<'_>) -> Result<Width, LogError> {
    let text = word(fields, "width")?;
    let parts = text.strip_prefix("1/").map(|c| c.parse().ok().filter(|c| *c >= 2));
    let width = match parts {
        Some(parts) => parts.map(Width::Part),
        None => text.parse().ok().filter(|k| *k >= 1).map(Width::Workers),
    };
    let allowed = "1/PARTS, or a count of workers";
    width.ok_or_else(|| fields.error("width", text.as_bytes(), allowed))
}

fn on(fields: &mut Fields<'_>) -> Result<On, LogError> {
    let text = word(fields, "place of the run")?;
    let mut words = text.split(' ');
    let first = words.next().unwrap_or_default();
    let rest: Option<Vec<u32>> = words.map(|w| w.parse().ok()).collect();
    let parts = first.strip_prefix("1/").and_then(|c| c.parse().ok()).filter(|c| *c >= 2);
    match (first, parts, rest) {
        ("lane", _, Some(rest)) if rest.is_empty() => Ok(On::Lane),
        ("workers", _, Some(workers)) if !workers.is_empty() => Ok(On::Workers(workers)),
        (_, Some(parts), Some(rest)) if rest.len() == 1 => Ok(On::Part { worker: rest[0], parts }),
        _ => Err(fields.error(
            "place of the run",
            text.as_bytes(),
            "lane, 1/PARTS WORKER, or workers with their numbers",
        )),
    }
}

fn record(fields: &mut Fields<'_>, kind: &[u8]) -> Result<Record, LogError> {
    Ok(match kind {
        b"submit" => Record::Submit {
            job: job(fields)?,
            what: Job {
                submitted: Time::ZERO,
                stage: fields.u32("stage")?,
                iterations: fields.number("iterations", u64::MAX)?,
                iteration: Span::from_ns(fields.number("iteration", u64::MAX)?),
                persistent: fields.number("persistent memory", u64::MAX)?,
                ephemeral: fields.number("ephemeral memory", u64::MAX)?,
                busy: fields.u32("busy part")?,
            },
        },
        b"lane" => Record::Lane { lane: lane(fields)?, size: fields.number("size", u64::MAX)? },
        b"place" => Record::Place { job: job(fields)?, lane: lane(fields)? },
        b"run" => Record::Run { job: job(fields)?, on: on(fields)? },
        b"stop" => {
            let job = job(fields)?;
            Record::Stop { job, left: Span::from_ns(fields.number("work left", u64::MAX)?) }
        }
        b"done" => Record::Done { job: job(fields)? },
        b"finish" => Record::Finish,
        _ => {
            let allowed = "policy, memory, workers, slowdown, submit, lane, place, run, stop, \
                           done or finish";
            return Err(fields.error("kind of record", kind, allowed));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_line_is_named_with_what_is_allowed() {
        let error = |text: &str| read_log(text.as_bytes(), "a.log").unwrap_err().to_string();
        let of = |line: &str| error(&format!("{HEADER}\n{line}\n"));
        assert!(error("").contains("line 1") && error("orrery-log,4\n").contains(HEADER));
        assert!(of("dance,1,2").starts_with("a.log, line 2: the kind of record is \"dance\""));
        assert!(of("run,1,2,worker 3").contains("lane, 1/PARTS WORKER, or workers"));
        assert!(of("run,1,2,1/1 3").contains("lane, 1/PARTS WORKER"));
        assert!(of("stop,1,2").contains("the line ends before it"));
        assert!(of("done,1,2,3").contains("allowed is nothing"));
        assert!(of("done,-1,2").contains("the time is \"-1\""));
        assert!(of("slowdown,2,0,1").contains("a positive fraction"));
        let cut = error(&format!("{HEADER}\ndone,1,2\nfinish,12"));
        assert!(cut.contains("line 3") && cut.contains("cut off"), "{cut}");
    }
}
