//! `orrery log timeline`: a schedule log for ui.perfetto.dev, or its batches as a table.

use clap::ValueEnum;
use orrery_explain::timeline::{Failure, Selection, write_batches, write_trace};
use orrery_report::Answer;
use orrery_report::log_file;
use orrery_report::whole_file::{Unfinished, check_place, unwritable};
use orrery_run::SpecError;
use orrery_sim::log::LogReader;
use orrery_sim::request::RequestId;
use orrery_sim::time::{Span, Time};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// `orrery log timeline`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  orrery log timeline bert.log --out bert.json                          # open it in ui.perfetto.dev
  orrery log timeline bert.log --from-ms 1000 --to-ms 2000 --request 117 --out bert.json
  orrery log timeline bert.log --format csv --out batches.csv")]
pub struct Timeline {
    /// A log written by `orrery run --log`.
    log: PathBuf,
    /// Omit everything that ended before this time of the run.
    #[arg(long, value_name = "MS", value_parser = instant, default_value = "0")]
    from_ms: Time,
    /// Omit everything that starts after this time of the run.
    #[arg(long, value_name = "MS", value_parser = instant)]
    to_ms: Option<Time>,
    /// Show this request with arrows to its batches; may be repeated.
    #[arg(long = "request", value_name = "ID")]
    requests: Vec<u64>,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Json)]
    format: Format,
    /// Write to this file instead of stdout.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Chrome trace JSON.
    Json,
    /// CSV: a row for each batch that ran.
    Csv,
}

fn instant(text: &str) -> Result<Time, String> {
    match text.parse::<f64>() {
        Ok(ms) if ms >= 0.0 && ms.is_finite() => Ok(Time::ZERO + Span::from_ms_f64(ms)),
        _ => Err("a number of milliseconds, at least 0".to_string()),
    }
}

/// Runs `orrery log timeline`.
///
/// # Errors
/// When the log cannot be read, does not have a request that is asked for, or the output cannot be
/// written.
pub fn command(args: &Timeline) -> Result<Answer, SpecError> {
    let to = args.to_ms.unwrap_or(Time::NEVER);
    if to < args.from_ms {
        let found = format!("{}, before --from-ms", to.since(Time::ZERO));
        return Err(SpecError::value("--to-ms", found, "--from-ms or later", "give a later end"));
    }
    if args.format == Format::Csv && !args.requests.is_empty() {
        let remedy = "remove `--request`: the table has all batches, and no requests";
        let found = "`--format csv`";
        return Err(SpecError::value("--request", found, "`--format json`", remedy));
    }
    if let Some(out) = args.out.as_ref().filter(|out| is_same_file(out, &args.log)) {
        let found = format!("{}, the log itself", out.display());
        let remedy = "choose another name: the log would be lost";
        return Err(SpecError::value("--out", found, "another file", remedy));
    }
    args.out.as_deref().map_or(Ok(()), |out| check_place("--out", out))?;
    let requests = args.requests.iter().map(|&id| RequestId(id)).collect();
    let selection = Selection { from: args.from_ms, to, requests };
    let log = log_file::open(&args.log)?;
    let error = |failure: Failure| match failure {
        Failure::Log(error) => error.into(),
        Failure::Unknown { request, requests } => {
            log_file::unknown_request(&args.log, request.0, requests)
        }
        Failure::Write(error) => match &args.out {
            Some(path) => unwritable("--out", path, &error),
            None => unwritable("stdout", Path::new("stdout"), &error),
        },
    };
    let Some(path) = &args.out else {
        return match write(log, args.format, &selection, BufWriter::new(io::stdout().lock())) {
            // A reader that went away is no error.
            Err(Failure::Write(e)) if e.kind() == io::ErrorKind::BrokenPipe => {
                Ok(Answer::default())
            }
            other => other.map_err(error).map(|()| Answer::default()),
        };
    };
    let unfinished = Unfinished::beside(path).map_err(|e| error(Failure::Write(e)))?;
    let file = File::create(unfinished.path()).map_err(Failure::Write);
    file.and_then(|file| {
        write(log, args.format, &selection, BufWriter::with_capacity(1 << 18, file))
    })
    .and_then(|()| unfinished.rename(path).map_err(Failure::Write))
    .map_err(error)?;
    Ok(Answer::default())
}

fn write(
    mut log: LogReader<File>,
    format: Format,
    selection: &Selection,
    mut out: impl Write,
) -> Result<(), Failure> {
    let names = log.names()?.clone();
    match format {
        Format::Json => write_trace(&names, log, selection, &mut out)?,
        Format::Csv => write_batches(&names, log, selection, &mut out)?,
    }
    Ok(out.flush()?)
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
