//! Files that other tools wrote: what they are, and what orrery makes of them.
//!
//! ```text
//!  file ── head.rs ──> FORMATS: which one is it? ── formats/*.rs ──> Content ──> its CSV
//!                                                                     │ profile: latency by batch size
//!                                                                     │ workload: what arrives when
//!                                                                     │ prompts: the same with tokens
//!                                                                     └ measured: load, latency, rate
//! ```
//!
//! A format is one file in `formats/` and one row of [`FORMATS`], from which help, documents and errors are
//! made. Nothing here simulates, and nothing is guessed in silence: a reader says what it took, what it left
//! and what it assumed.
//!
//! Invariant: bad input is an [`ImportError`] that names file, line and column, never a panic
//! (`tests::mutated_samples_are_read_or_refused`).

mod content;
mod ended;
mod error;
mod format;
mod formats;
mod head;
mod join;
mod json;
mod load;
mod prompts;
mod refused;
mod settle;
#[cfg(test)]
mod tests;
mod when;

pub use content::{Content, Kind, Measured, Offered, Point, Profile, Prompts, Request, Workload};
pub use error::ImportError;
pub use format::{Field, Format, Options, Reading, Taken};
pub use formats::FORMATS;
pub use join::join;
pub use load::{ALLOWED as ARRIVALS, Arriving, Spacing};

use head::Head;
use orrery_traces::inspect::{Format::Other, Inspection};
use orrery_traces::quirks::{Met, Quirk};
use orrery_traces::{Input, TraceError};
use std::cell::RefCell;

/// A file that can be opened more than once.
pub struct File<'a> {
    name: String,
    open: &'a dyn Fn() -> Result<Input, TraceError>,
    met: RefCell<Met>,
}

impl File<'_> {
    /// A file by its name in messages, and how it is opened.
    pub fn new<'a>(name: &str, open: &'a dyn Fn() -> Result<Input, TraceError>) -> File<'a> {
        File { name: name.to_string(), open, met: RefCell::default() }
    }

    pub(crate) fn open(&self) -> Result<Input, ImportError> {
        Ok((self.open)()?)
    }

    /// Counts a quirk, with its place: the report says it.
    pub(crate) fn meet(&self, quirk: Quirk, first: impl FnOnce() -> String) {
        self.met.borrow_mut().add(quirk, first);
    }

    /// Counts what a reader met.
    pub(crate) fn met_in(&self, reader: &Met) {
        self.met.borrow_mut().extend(reader);
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The format of a file, by its first bytes; `None` where no row of [`FORMATS`] knows it.
///
/// # Errors
/// When the file cannot be read.
pub fn recognise(file: &File<'_>) -> Result<Option<&'static Format>, ImportError> {
    let head = Head::of(file)?;
    Ok(FORMATS.iter().find(|format| (format.is)(&head)))
}

/// What is in a file of a known format.
///
/// # Errors
/// When it is of no known format or damaged, or an option that it needs is missing.
pub fn read(file: &File<'_>, options: &Options) -> Result<Reading, ImportError> {
    let format = match &options.format {
        Some(format) => *format,
        None => recognise(file)?.ok_or_else(|| unknown(file, options.kind))?,
    };
    read_as(file, format, options)
}

/// The same as a format that is known already.
///
/// # Errors
/// As [`read`].
pub fn read_as(
    file: &File<'_>,
    format: &'static Format,
    options: &Options,
) -> Result<Reading, ImportError> {
    file.met.take();
    let mut reading = (format.read)(file, options)?;
    reading.assumed.extend(file.met.take().notes());
    for option in options.given().filter(|option| !format.options.contains(option)) {
        reading.assume(format!(
            "`--{option}` changes nothing: a file of this format says it, or has no such thing"
        ));
    }
    reading.format = Some(format);
    reading.file = file.name.clone();
    settle::settle(&mut reading, options)?;
    Ok(reading)
}

/// What is in a file of another tool, in short: its load, or what else it becomes.
///
/// # Errors
/// As [`read`].
pub fn inspect(file: &File<'_>) -> Result<Inspection, ImportError> {
    let format = recognise(file)?.ok_or_else(|| unknown(file, None))?;
    let reading = read_as(file, format, &Options::default())?;
    let (name, other) = (file.name(), Other(format.title, format.direct));
    let content = reading.content(None)?;
    let all = match content {
        Content::Prompts(p) => Inspection::of_prompts(name, other, &p.rows),
        Content::Workload(w) => {
            let rows = w.requests.iter().map(|r| (r.at, r.alone.or(r.latency)));
            Inspection::of_requests(name, other, w.names.len(), rows)
        }
        Content::Profile(_) | Content::Measured(_) => {
            let no_load = Inspection { file: name.to_string(), format: other, facts: Vec::new() };
            let becomes = format!("{}; `orrery import` shows it", content.kind().word());
            no_load.with("becomes", becomes).with("rows", content.rows())
        }
    };
    Ok(reading.assumed.into_iter().fold(all, |all, line| all.with("assumed", line)))
}

/// What is allowed, for messages.
const ALLOWED: &str = "a file of a format that `orrery import --help` lists";

/// The error of a file that is known to be no load and no measurement of one.
pub fn refusal(file: &File<'_>) -> Option<ImportError> {
    let (found, remedy) = refused::refused(&Head::of(file).ok()?)?;
    Some(ImportError::value(file.name(), found, ALLOWED, remedy))
}

/// The error of a file of no known format: what it is where that is known, else the formats that are nearest, of those
/// that become what is wanted.
pub fn unknown(file: &File<'_>, kind: Option<Kind>) -> ImportError {
    let head = match Head::of(file) {
        Ok(head) => head,
        Err(error) => return error,
    };
    if let Some(error) = refusal(file) {
        return error;
    }
    let allowed = ALLOWED;
    if let Ok(own) = file.open().and_then(|input| Ok(orrery_traces::inspect::format_of(input)?)) {
        let remedy = match own.arrivals() {
            Some(process) => {
                format!("nothing is to be imported: `{process}` of a scenario reads it")
            }
            None => "`orrery trace inspect` describes it".to_string(),
        };
        return ImportError::value(file.name(), own.name(), allowed, remedy);
    }
    let allowed =
        format!("a file of a known format; the nearest: {}", format::nearest(FORMATS, &head, kind));
    let names = if head.is_json() { "keys" } else { "names" };
    let remedy = format!("correct the {names}, or see `orrery import --help` for all formats");
    ImportError::value(file.name(), head.shown(), allowed, remedy)
}

/// The table of people's own files, for `docs/formats.md`.
pub fn reference() -> String {
    format::reference(FORMATS)
}

/// The formats for `--help`: a line each.
pub fn help() -> String {
    format::help(FORMATS)
}
