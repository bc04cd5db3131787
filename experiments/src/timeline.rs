//! `orrery timeline`: a schedule log as Chrome trace JSON, which ui.perfetto.dev opens, or as a table
//! of its batches.
//!
//! The log is read once and the output is written as it goes: memory holds what is in flight. State
//! from before the time window is right, because the log is read from its beginning.

mod batches;
mod follow;
mod json;
mod trace;

use crate::cli::Answer;
use crate::log_file::{self, Unfinished};
use clap::ValueEnum;
use orrery_scenario::SpecError;
use orrery_sim::log::{LogError, Names, Record};
use orrery_sim::request::RequestId;
use orrery_sim::time::{Span, Time};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// `orrery timeline`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  orrery timeline bert.log --out bert.json                          # open it in ui.perfetto.dev
  orrery timeline bert.log --from-ms 1000 --to-ms 2000 --request 117 --out bert.json
  orrery timeline bert.log --format batches --out batches.csv")]
pub struct Timeline {
    /// A log written by `orrery run --log`.
    log: PathBuf,
    /// Leave out what ended before this instant of the run.
    #[arg(long, value_name = "MS", value_parser = instant, default_value = "0")]
    from_ms: Time,
    /// Leave out what begins after this instant of the run.
    #[arg(long, value_name = "MS", value_parser = instant)]
    to_ms: Option<Time>,
    /// Show this request and its way to its batches; may be repeated.
    #[arg(long = "request", value_name = "ID")]
    requests: Vec<u64>,
    /// The form.
    #[arg(long, value_enum, default_value_t = Format::Trace)]
    format: Format,
    /// Write it here instead of on stdout.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Chrome trace JSON.
    Trace,
    /// CSV: a row for each batch that ran.
    Batches,
}

fn instant(text: &str) -> Result<Time, String> {
    match text.parse::<f64>() {
        Ok(ms) if ms >= 0.0 && ms.is_finite() => Ok(Time::ZERO + Span::from_ms_f64(ms)),
        _ => Err("a number of milliseconds from 0 on".to_string()),
    }
}

/// What of a log is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// What ended before is left out.
    pub from: Time,
    /// What begins after is left out.
    pub to: Time,
    /// Requests that are shown with their way to their batches.
    pub requests: BTreeSet<RequestId>,
}

impl Default for Selection {
    /// The whole run, no request on its own.
    fn default() -> Selection {
        Selection { from: Time::ZERO, to: Time::NEVER, requests: BTreeSet::new() }
    }
}

/// Why a timeline cannot be written.
#[derive(Debug)]
pub enum Failure {
    /// The log cannot be read.
    Log(LogError),
    /// The timeline cannot be written.
    Write(io::Error),
}

impl From<LogError> for Failure {
    fn from(error: LogError) -> Failure {
        Failure::Log(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Write(error)
    }
}

/// Writes a log's records as Chrome trace JSON. The bytes depend on the log and the selection only.
///
/// # Errors
/// When a record cannot be read or `out` cannot be written.
pub fn write_trace(
    names: &Names,
    records: impl IntoIterator<Item = Result<Record, LogError>>,
    selection: &Selection,
    out: impl Write,
) -> Result<(), Failure> {
    trace::write(names, records, selection, out)
}

/// Writes a log's batches as CSV with the columns of [`orrery_results::BatchRow`], in the order in
/// which they ended.
///
/// # Errors
/// As [`write_trace`].
pub fn write_batches(
    names: &Names,
    records: impl IntoIterator<Item = Result<Record, LogError>>,
    selection: &Selection,
    out: impl Write,
) -> Result<(), Failure> {
    batches::write(names, records, selection, out)
}

/// Runs `orrery timeline`.
///
/// # Errors
/// When the log cannot be read or the output cannot be written.
pub fn command(args: &Timeline) -> Result<Answer, SpecError> {
    let to = args.to_ms.unwrap_or(Time::NEVER);
    if to < args.from_ms {
        let found = format!("{}, before --from-ms", to.since(Time::ZERO));
        return Err(SpecError::value("--to-ms", found, "--from-ms or later", "give a later end"));
    }
    let requests = args.requests.iter().map(|&id| RequestId(id)).collect();
    let selection = Selection { from: args.from_ms, to, requests };
    let Some(path) = &args.out else {
        return match write(args, &selection, BufWriter::new(io::stdout().lock())) {
            // A reader that went away is no error.
            Err(Failure::Write(e)) if e.kind() == io::ErrorKind::BrokenPipe => {
                Ok(Answer::default())
            }
            other => other.map_err(|e| error(e, Path::new("stdout"))).map(|()| Answer::default()),
        };
    };
    let unfinished = Unfinished::beside(path);
    let done = File::create(unfinished.path()).map_err(Failure::Write);
    done.and_then(|file| write(args, &selection, BufWriter::with_capacity(1 << 18, file)))
        .and_then(|()| unfinished.rename(path).map_err(Failure::Write))
        .map_err(|e| error(e, path))?;
    Ok(Answer::default())
}

fn write(args: &Timeline, selection: &Selection, mut out: impl Write) -> Result<(), Failure> {
    let mut log = log_file::open(&args.log).map_err(|e| match e {
        SpecError::Read { file, source } => {
            Failure::Log(LogError::Io { file, line: 1, error: source })
        }
        other => Failure::Write(io::Error::other(other.to_string())),
    })?;
    let names = log.names()?.clone();
    match args.format {
        Format::Trace => write_trace(&names, log, selection, &mut out)?,
        Format::Batches => write_batches(&names, log, selection, &mut out)?,
    }
    Ok(out.flush()?)
}

fn error(failure: Failure, path: &Path) -> SpecError {
    match failure {
        Failure::Log(error) => error.into(),
        Failure::Write(error) => {
            let found = format!("{}: {error}", path.display());
            SpecError::value("--out", found, "a file that can be written", "choose another path")
        }
    }
}
