//! What a format is: a row of the table that help, documents and errors are made from.

use crate::File;
use crate::content::{Content, Kind, UNNAMED};
use crate::error::ImportError;
use crate::head::Head;
use crate::load::Arriving;
use orrery_traces::columns::{Found, Wanted, find, found};
use orrery_traces::error::shorten;
use orrery_traces::table::Table;

/// A format of another tool.
pub struct Format {
    /// Its name for `--as`.
    pub name: &'static str,
    /// Who writes it.
    pub title: &'static str,
    /// How it is known.
    pub how: &'static str,
    /// What it becomes; the first where `--as` does not say.
    pub becomes: &'static [Kind],
    /// What is read of it.
    pub fields: &'static [Field],
    /// The options that say what it does not say itself.
    pub options: &'static [&'static str],
    /// The process of `[arrivals]` or the law that reads it as it is.
    pub direct: Option<&'static str>,
    pub(crate) is: fn(&Head) -> bool,
    pub(crate) read: fn(&File<'_>, &Options) -> Result<Reading, ImportError>,
}

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// A column or a key that is read.
pub type Field = Wanted;

/// What a file does not say itself.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The size of the batches that were measured.
    pub batch: Option<u32>,
    /// The name of the model.
    pub model: Option<String>,
    /// The format of times, as `strftime` has it.
    pub time_format: Option<String>,
    /// How the requests of a measured load arrived.
    pub arrivals: Option<Arriving>,
    /// The nanoseconds of the unit of its times, where they are plain numbers.
    pub time_unit: Option<f64>,
    /// Whether the time of a log is the end of a request, where it does not say it.
    pub time_is_end: Option<bool>,
    /// The format of the file, where it is not to be recognised.
    pub format: Option<&'static Format>,
    /// What it is to become, where that is asked for.
    pub kind: Option<Kind>,
}

impl Options {
    /// The names of those that are given, but for arrivals, which every measured table takes.
    pub(crate) fn given(&self) -> impl Iterator<Item = &'static str> {
        let all = [
            ("batch", self.batch.is_some()),
            ("model", self.model.is_some()),
            ("time-format", self.time_format.is_some()),
            ("time-unit", self.time_unit.is_some()),
            ("time-is", self.time_is_end.is_some()),
        ];
        all.into_iter().filter(|option| option.1).map(|option| option.0)
    }

    /// The name of the model of a profile.
    pub(crate) fn name(&self) -> String {
        self.model.clone().unwrap_or_else(|| UNNAMED.to_string())
    }

    /// The size of the batches: a file that does not say it needs the option.
    pub(crate) fn needs_batch(&self, file: &File<'_>) -> Result<u32, ImportError> {
        self.batch.ok_or_else(|| {
            let found = "no batch size, neither in the file nor as an option";
            let remedy = "say how large the measured batches were: `orrery import FILE --batch N`";
            ImportError::value(file.name(), found, "the size of its batches", remedy)
        })
    }
}

/// What was taken from a column or key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Its name in the file.
    pub from: String,
    /// What it became.
    pub becomes: String,
}

/// What is in a file.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Its format.
    pub format: Option<&'static Format>,
    /// The name of the file.
    pub file: String,
    /// What it can become, the usual first.
    pub contents: Vec<Content>,
    /// What was taken.
    pub taken: Vec<Taken>,
    /// What was left.
    pub ignored: Vec<String>,
    /// What the file does not say and was assumed, and what was odd about it: what a reader of results must know.
    pub assumed: Vec<String>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
}

impl Reading {
    /// What it becomes: the usual, or what was asked for.
    ///
    /// # Errors
    /// When it cannot become that.
    pub fn content(&self, kind: Option<Kind>) -> Result<&Content, ImportError> {
        let fits = |c: &&Content| kind.is_none_or(|kind| c.kind() == kind);
        self.contents.iter().find(fits).ok_or_else(|| {
            let can: Vec<&str> = self.contents.iter().map(|c| c.kind().word()).collect();
            let found = kind.map_or("nothing", Kind::word);
            let why = self.notes.iter().find(|n| n.starts_with(&format!("no {found}")));
            let found = format!("`{found}`{}", why.map_or(String::new(), |n| format!(" ({n})")));
            let remedy = "name one of these with `orrery import --as KIND`, or import another file";
            ImportError::value(&self.file, found, can.join(", "), remedy)
        })
    }

    pub(crate) fn take(&mut self, from: impl Into<String>, becomes: impl Into<String>) {
        self.taken.push(Taken { from: from.into(), becomes: becomes.into() });
    }

    pub(crate) fn ignore<S: Into<String>>(&mut self, names: impl IntoIterator<Item = S>) {
        self.ignored.extend(names.into_iter().map(Into::into));
    }

    /// What was to become this was not used.
    pub(crate) fn unused(&mut self, becomes: &str) {
        let (left, taken): (Vec<Taken>, _) =
            std::mem::take(&mut self.taken).into_iter().partition(|t| t.becomes == becomes);
        self.taken = taken;
        self.ignore(left.into_iter().map(|t| t.from));
    }

    pub(crate) fn assume(&mut self, text: impl Into<String>) {
        self.assumed.push(text.into());
    }

    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }
}

/// A table whose columns are known, with the report of them.
pub(crate) struct Sheet<'a> {
    pub table: Table,
    columns: Vec<Option<Found>>,
    file: &'a File<'a>,
}

impl Sheet<'_> {
    /// Opens a file and finds the columns of its format.
    pub fn open<'a>(
        file: &'a File<'a>,
        fields: &[Field],
        reading: &mut Reading,
    ) -> Result<Sheet<'a>, ImportError> {
        Sheet::open_at(file, fields, reading, |header| {
            let has = |f: &Field| find(header, f).is_some();
            fields.iter().all(|f| !f.needed || has(f)) && fields.iter().any(has)
        })
    }

    /// The same with another rule for the header.
    pub fn open_at<'a>(
        file: &'a File<'a>,
        fields: &[Field],
        reading: &mut Reading,
        is_header: impl Fn(&[String]) -> bool,
    ) -> Result<Sheet<'a>, ImportError> {
        Sheet::of(file, Table::open_at(file.open()?, is_header)?, fields, reading)
    }

    /// The same of a table.
    pub fn of<'a>(
        file: &'a File<'a>,
        table: Table,
        fields: &[Field],
        reading: &mut Reading,
    ) -> Result<Sheet<'a>, ImportError> {
        let columns = found(&table, fields)?;
        for (found, field) in columns.iter().zip(fields) {
            if let Some(found) = found {
                one_unit(&table, field, found)?;
                reading.take(shorten(&table.header()[found.at]), field.becomes);
            }
        }
        let is_taken = |at: usize| columns.iter().flatten().any(|f| f.at == at);
        let left = table.header().iter().enumerate().filter(|(at, _)| !is_taken(*at));
        reading.ignore(left.map(|(_, name)| shorten(name)));
        Ok(Sheet { table, columns, file })
    }

    pub fn next(&mut self) -> Result<bool, ImportError> {
        let more = self.table.advance()?;
        if !more {
            self.file.met_in(&self.table.met());
        }
        Ok(more)
    }

    /// Sets the unit of a time whose name says none.
    pub fn set_unit(&mut self, field: usize, unit_ns: f64) {
        self.columns[field].iter_mut().for_each(|found| found.unit_ns = unit_ns);
    }

    /// Where the field of this number is.
    pub fn at(&self, field: usize) -> Option<usize> {
        self.columns[field].map(|found| found.at)
    }

    /// A field's text; empty where there is no such column.
    pub fn text(&self, field: usize) -> &str {
        self.at(field).map_or("", |at| self.table.text(at).trim())
    }

    /// A number up to `max` where the column is there and not empty.
    pub fn number(&self, field: usize, max: f64) -> Result<Option<f64>, ImportError> {
        match self.at(field) {
            Some(at) if !self.text(field).is_empty() => Ok(Some(self.table.number(at, max)?)),
            _ => Ok(None),
        }
    }

    /// A whole number up to `max`, 0 where there is none; written as `4` or `4.0`.
    pub fn whole(&self, field: usize, max: u64) -> Result<Option<u64>, ImportError> {
        match self.at(field) {
            Some(at) if !self.text(field).is_empty() => Ok(Some(self.table.whole(at, max)?)),
            _ => Ok(None),
        }
    }

    /// A time in milliseconds.
    pub fn ms(&self, field: usize) -> Result<Option<f64>, ImportError> {
        let unit_ns = self.columns[field].map_or(1.0, |found| found.unit_ns);
        Ok(self.number(field, NS_MAX / unit_ns)?.map(|x| x * unit_ns / 1e6))
    }

    /// A latency in milliseconds: a time above 0.
    pub fn latency(&self, field: usize) -> Result<Option<f64>, ImportError> {
        match self.ms(field)? {
            Some(ms) if ms <= 0.0 => Err(self.bad(field, "a time above 0, or nothing")),
            ms => Ok(ms),
        }
    }

    /// A size of a batch, at least 1.
    pub fn size(&self, field: usize) -> Result<Option<u32>, ImportError> {
        match self.at(field) {
            Some(at) if !self.text(field).is_empty() => Ok(Some(self.table.size(at)?)),
            _ => Ok(None),
        }
    }

    /// The error of a field.
    pub fn bad(&self, field: usize, allowed: &str) -> ImportError {
        self.table.bad_field(self.at(field).unwrap_or(usize::MAX), allowed).into()
    }
}

/// Refuses a second column of the same quantity in another unit.
fn one_unit(table: &Table, field: &Field, found: &Found) -> Result<(), ImportError> {
    let (header, after) = (table.header(), found.at + 1);
    match find(&header[after..], field) {
        Some(other) if other.unit_ns != found.unit_ns => {
            let (a, b) = (shorten(&header[found.at]), shorten(&header[after + other.at]));
            let place = format!("{}: line {}", table.file(), table.header_line());
            let found = format!("`{a}` and `{b}`, one quantity in two units");
            Err(ImportError::value(place, found, "one of them", "remove or rename the other"))
        }
        _ => Ok(()),
    }
}

/// The longest time: eleven days.
pub(crate) const NS_MAX: f64 = 1e15;

/// The three formats that a file is nearest to, each with what it lacks: JSON is near to JSON, and what is to become
/// prompts to prompts.
pub(crate) fn nearest(formats: &'static [Format], head: &Head, kind: Option<Kind>) -> String {
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_string();
    let is_key = |name: &&'static str| head.text.contains(&format!("\"{}\"", last(name)));
    let has = |f: &&Field| find(&head.columns, f).is_some() || f.names.iter().any(is_key);
    let is_json = head.is_json();
    let is_meant = |f: &&'static Format| {
        let is_table = ["column", "CSV"].iter().any(|word| f.how.contains(word));
        let has_json = f.how.contains("JSON");
        let is_same = if is_json { has_json } else { !has_json || is_table };
        kind.is_none_or(|kind| f.becomes.contains(&kind)) && is_same
    };
    // A found name says more than a missing one, which says nothing where none is found.
    let of = |f: &'static Format| {
        let found: i64 = f.fields.iter().filter(has).map(|w| 1 + i64::from(w.needed)).sum();
        let lacks: Vec<&Field> = f.fields.iter().filter(|w| w.needed && !has(w)).collect();
        let missing = if found == 0 { 0 } else { lacks.len() as i64 };
        (-(4 * found - 3 * missing), f, lacks)
    };
    // The last of the table are the most general.
    let mut all: Vec<_> = formats.iter().rev().filter(is_meant).map(of).collect();
    all.sort_by_key(|a| a.0);
    let line = |(_, format, lacks): &(i64, &Format, Vec<&Field>)| {
        let lacks = lacks.iter().take(3).map(|f| format!(", no `{}`", f.names[0]));
        format!("`{}` ({}{})", format.name, format.how, lacks.collect::<String>())
    };
    all.iter().take(3).map(line).collect::<Vec<_>>().join("; ")
}

fn kinds(format: &Format) -> String {
    let kinds: Vec<&str> = format.becomes.iter().map(|k| k.word()).collect();
    kinds.join(", ")
}

/// What people write themselves: of every other file, the report of `orrery import` says what was read.
const BY_HAND: [&str; 3] = ["measured-table", "latencies", "access-log"];

/// The table for documents.
pub(crate) fn reference(formats: &[Format]) -> String {
    let head =
        "| yours | columns that are read, and what they become; bold must be there |\n|---|---|\n";
    let own = formats.iter().filter(|f| BY_HAND.contains(&f.name));
    let row = |f: &Format| format!("| `{}` | {} |\n", f.name, read_of(f.fields));
    head.to_string() + &own.map(row).collect::<String>()
}

/// The fields of a format, those together that become the same.
fn read_of(fields: &[Field]) -> String {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for field in fields {
        let names: Vec<String> = field.names.iter().map(|n| format!("`{n}`")).collect();
        let bold = if field.needed { "**" } else { "" };
        let names = format!("{bold}{}{bold}", names.join(" or "));
        match groups.iter_mut().find(|(becomes, _)| *becomes == field.becomes) {
            Some((_, all)) => all.push(names),
            None => groups.push((field.becomes, vec![names])),
        }
    }
    let group = |(becomes, names): &(&str, Vec<String>)| {
        let what = if becomes.is_empty() { String::new() } else { format!(": {becomes}") };
        format!("{}{what}", names.join(", "))
    };
    groups.iter().map(group).collect::<Vec<_>>().join("<br>")
}

/// The lines for `--help`.
pub(crate) fn help(formats: &[Format]) -> String {
    let width = formats.iter().map(|f| f.name.len()).max().unwrap_or(0);
    let line = |f: &Format| format!("  {:width$}  {} -> {}\n", f.name, f.title, kinds(f));
    formats.iter().map(line).collect()
}
