//! An access log: a row for each request, or a line of JSON, with its time, its name, and how long it took.
//!
//! A table with a time and a name is not yet one: what was measured over a period or of a machine is refused
//! ([`crate::refused`]).

use crate::content::{Content, Kind, Measured, Offered, Point, Request, Workload, quoted, rate_of};
use crate::ended::{COLUMNS, Ended};
use crate::error::ImportError;
use crate::format::{Field, Format, Options, Reading, Sheet};
use crate::head::Head;
use crate::refused::{LATENCY as OF_LATENCY, measure};
use crate::when::{ALLOWED, When, unit_says};
use crate::{File, json};
use orrery_sim::time::{Span, Time};
use orrery_traces::Input;
use orrery_traces::columns::{find, unit, unit_of};
use orrery_traces::error::shorten;
use orrery_traces::table::Table;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The last time that is read, from the first: a century.
const NS_MAX: i128 = 100 * 366 * 86_400 * 1_000_000_000;
/// Names that the report lists.
const LISTED: usize = 6;
/// The fields by number.
const START: usize = 0;
const END: usize = 1;
const SOME: usize = 2;
const NAME: usize = 3;
const LATENCY: usize = 4;
/// The first of those that say how a request ended.
const ENDED: usize = 5;

const STARTS: &[&str] =
    &["arrival", "arrival time", "start", "start time", "start timestamp", "received"];
const ENDS: &[&str] =
    &["time local", "time iso8601", "msec", "end", "end time", "end timestamp", "finished"];
const TIMES: &[&str] = &["timestamp", "time", "ts", "datetime", "date", "time stamp"];
const NAMES: &[&str] = &[
    "name", "endpoint", "app", "model", "path", "url", "uri", "route", "service", "request",
    "label",
];
const FIELDS: &[Field] = &[
    Field::time(STARTS, 1.0, "the arrival"),
    Field::time(ENDS, 1.0, "the end of a request: its arrival is earlier by the latency"),
    Field::time(TIMES, 1.0, "the arrival, or the end with `--time-is end`"),
    Field::new(NAMES, "the name of the application"),
    OF_LATENCY,
    COLUMNS[0].field,
    COLUMNS[1].field,
    COLUMNS[2].field,
];

pub const FORMAT: Format = Format {
    name: "access-log",
    title: "an access log, `timestamp,name[,latency]`",
    how: "a column of times and one of names, or such keys of JSON lines, none of what is measured over a period; or \
          a single column of times",
    becomes: &[Kind::Workload, Kind::Measured],
    fields: FIELDS,
    options: &["model", "time-format", "time-is", "time-unit"],
    direct: Some("workload"),
    is: |head| {
        is_log(&head.columns)
            || head.headers.iter().chain([&head.keys]).any(|h| h.len() > 1 && is_log(h))
    },
    read,
};

/// Whether a row below this header is a request.
fn is_log(header: &[String]) -> bool {
    // A workload of orrery's own is read as it is.
    has_columns(header)
        && (header.len() == 1 || measure(header).is_none())
        && !header.iter().any(|column| {
            let end = ["alone_", "slo_"].into_iter().find_map(|name| column.strip_prefix(name));
            end.and_then(unit).is_some()
        })
}

/// Whether a header has a time and a name, or is a time.
fn has_columns(header: &[String]) -> bool {
    let has = |field: usize| find(header, &FIELDS[field]).is_some();
    (has(START) || has(END) || has(SOME)) && (header.len() == 1 || has(NAME))
}

/// Whether it is JMeter's: its `timeStamp` is the start since version 2.1, its `elapsed` in milliseconds.
fn is_jmeter(header: &[String]) -> bool {
    ["timeStamp", "elapsed", "label"].iter().all(|name| header.iter().any(|c| c == name))
}

/// A log that is being read.
struct Log<'a> {
    sheet: Sheet<'a>,
    /// The column of its times.
    time: usize,
    is_end: bool,
    /// The unit that its name or an option says.
    unit_ns: Option<f64>,
    when: Option<When>,
    /// The name of the requests where no column has it.
    one: Option<String>,
    numbers: BTreeMap<String, u32>,
    names: Vec<String>,
    rows: Vec<(i128, Request)>,
    /// The requests without an answer, by what says it, and those whose word for it is not known.
    failed: BTreeMap<String, u64>,
    unknown: BTreeMap<String, u64>,
}

fn read(file: &File<'_>, options: &Options) -> Result<Reading, ImportError> {
    let mut reading = Reading::default();
    let mut sheet = match Head::of(file)?.is_json() {
        true => Sheet::of(file, lines(file)?, FIELDS, &mut reading)?,
        false => Sheet::open_at(file, FIELDS, &mut reading, has_columns)?,
    };
    unit_of_latency(&mut sheet)?;
    let mut log = Log::of(file, sheet, options, &mut reading)?;
    while log.sheet.next()? {
        log.row(options)?;
    }
    let requests = log.requests(file, &mut reading)?;
    let is_small = |r: &(i128, Request)| r.0 < 1_000_000_000_000_000_000;
    if matches!(log.when, Some(When::Number(_)))
        && log.unit_ns.is_none()
        && log.rows.first().is_some_and(is_small)
    {
        reading.assume(format!("times are taken as seconds from a start: {}", unit_says("ms")));
    }
    let has_latency = requests.iter().any(|r| r.latency.is_some());
    let workload = Workload::of(log.names, requests);
    reading.contents.push(Content::Workload(workload.clone()));
    if has_latency {
        reading.contents.push(Content::Measured(measured(workload)));
    }
    Ok(reading)
}

/// Lines of JSON as a table of all their keys.
fn lines(file: &File<'_>) -> Result<Table, ImportError> {
    let (mut all, mut keys) = (Vec::new(), BTreeSet::new());
    json::lines(file, "an object in each line", |line, row: Map<String, Value>| {
        keys.extend(row.keys().cloned());
        all.push((line, row));
        Ok(())
    })?;
    let (header, mut text): (Vec<String>, String) = (keys.into_iter().collect(), String::new());
    let mut before = 0;
    for (line, row) in &all {
        // Blank lines are counted.
        text.push_str(&"\n".repeat(line - before));
        before = *line;
        let field = |key| match row.get(key) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => quoted(&text.replace(['\n', '\r'], " ")),
            Some(other) => quoted(&other.to_string()),
        };
        text.push_str(&header.iter().map(field).collect::<Vec<_>>().join(","));
    }
    let input = Input::from_bytes(file.name(), text.as_bytes()[1.min(text.len())..].to_vec())?;
    Ok(Table::headed(input, header))
}

/// The unit of a latency whose name has none: nginx's, JMeter's or vegeta's, or an error, not a column that is left.
fn unit_of_latency(sheet: &mut Sheet<'_>) -> Result<(), ImportError> {
    let header = sheet.table.header();
    let Some(name) = sheet.at(LATENCY).map(|at| header[at].clone()) else { return Ok(()) };
    let unit_ns = match name.as_str() {
        _ if unit_of(&name).is_some() => return Ok(()),
        "elapsed" if is_jmeter(header) => 1e6,
        "latency" if ["seq", "code"].iter().all(|key| header.iter().any(|c| c == key)) => 1.0,
        "request_time" if sheet.at(END).is_some() => 1e9,
        _ => {
            let (found, allowed) =
                (format!("`{name}`, a time without its unit"), "a name with ns, us, ms or s");
            let remedy = "rename it, for example to `latency_ms`";
            return Err(sheet.table.bad_header(found, allowed, remedy).into());
        }
    };
    sheet.set_unit(LATENCY, unit_ns);
    Ok(())
}

impl<'a> Log<'a> {
    fn of(
        file: &File<'_>,
        sheet: Sheet<'a>,
        options: &Options,
        reading: &mut Reading,
    ) -> Result<Log<'a>, ImportError> {
        let mut times = [START, END, SOME].into_iter().filter(|field| sheet.at(*field).is_some());
        let Some(time) = times.next() else {
            return Err(orrery_traces::columns::missing(&sheet.table, &FIELDS[SOME]).into());
        };
        for other in times {
            reading.unused(FIELDS[other].becomes);
        }
        let one = (sheet.table.header().len() == 1).then(|| {
            let stem = std::path::Path::new(file.name()).file_stem();
            let stem = stem.and_then(|stem| stem.to_str()).map(str::to_string);
            options.model.clone().or(stem).unwrap_or_else(|| "app".to_string())
        });
        if one.is_none() && sheet.at(NAME).is_none() {
            return Err(orrery_traces::columns::missing(&sheet.table, &FIELDS[NAME]).into());
        }
        let is_known = time != SOME || is_jmeter(sheet.table.header());
        let is_end = options.time_is_end.unwrap_or(time == END);
        let column = &sheet.table.header()[sheet.at(time).unwrap_or(0)];
        let unit_ns = options.time_unit.or_else(|| unit_of(column));
        let column = shorten(column);
        match (is_end, sheet.at(LATENCY).is_some()) {
            (true, false) => reading.assume(format!(
                "`{column}` is the end of a request and no column says how long it took: it is taken as the arrival"
            )),
            (false, true) if !is_known && options.time_is_end.is_none() => reading.assume(format!(
                "`{column}` is taken as the start of a request, which the file does not say: `--time-is end`, in a \
                 scenario `timestamps.is`, says otherwise"
            )),
            (true, true) => reading
                .note(format!(
                    "`{column}` is the end of a request: its arrival is that less its latency; `start_time` in its place \
                     says otherwise"
                )),
            (false, _) => reading.note(format!("`{column}` is the start of a request")),
        }
        let (numbers, names, rows, failed, unknown) = Default::default();
        let when = None;
        Ok(Log { sheet, time, is_end, unit_ns, when, one, numbers, names, rows, failed, unknown })
    }

    /// Reads the current row.
    fn row(&mut self, options: &Options) -> Result<(), ImportError> {
        let sheet = &self.sheet;
        let column = sheet.at(self.time).unwrap_or(0);
        let text = sheet.table.plain(column);
        if self.when.is_none() {
            self.when = When::of(&text, self.unit_ns, options.time_format.as_deref());
        }
        let ns = self.when.as_ref().and_then(|w| w.ns(&text));
        let ns = ns.ok_or_else(|| sheet.bad(self.time, ALLOWED))?;
        let name = self.one.clone().unwrap_or_else(|| sheet.text(NAME).to_string());
        if name.is_empty() {
            return Err(sheet.bad(NAME, "a name"));
        }
        let mut latency = sheet.ms(LATENCY)?.map(Span::from_ms_f64);
        let before = latency.filter(|_| self.is_end).map_or(0, |latency| i128::from(latency.ns()));
        let ended = COLUMNS.iter().zip(ENDED..).filter_map(|(column, field)| {
            let (at, text) = (sheet.at(field)?, sheet.text(field));
            let word = format!("`{}` {}", shorten(&sheet.table.header()[at]), shorten(text));
            Some((column.says(text)?, word))
        });
        let ended: Vec<(Ended, String)> = ended.collect();
        let of = |wanted| ended.iter().find(|(is, _)| *is == wanted).map(|(_, word)| word.clone());
        let (failed, unknown) = (of(Ended::Failed), of(Ended::Unknown));
        if let Some(word) = failed.as_ref().or(unknown.as_ref()) {
            let words = if failed.is_some() { &mut self.failed } else { &mut self.unknown };
            *words.entry(word.clone()).or_default() += 1;
            latency = None;
        }
        let name = *self.numbers.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            self.names.len() as u32 - 1
        });
        self.rows.push((ns - before, Request { at: Time::ZERO, name, alone: None, latency }));
        Ok(())
    }

    /// The requests of all rows, in the order of the file, and what they are.
    fn requests(
        &self,
        file: &File<'_>,
        reading: &mut Reading,
    ) -> Result<Vec<Request>, ImportError> {
        let Some(first) = self.rows.iter().map(|r| r.0).min() else {
            return Err(self.sheet.table.ended("a request", "check that the file is whole").into());
        };
        let mut requests = Vec::with_capacity(self.rows.len());
        for (ns, request) in &self.rows {
            let after = *ns - first;
            if after > NS_MAX {
                let found = format!("times {} days apart", after / 86_400_000_000_000);
                let allowed = "at most 36,600 days";
                let remedy = "check `--time-format`, or remove what does not belong there";
                return Err(ImportError::value(file.name(), found, allowed, remedy));
            }
            requests.push(Request { at: Time::from_ns(after as u64), ..*request });
        }
        let (n, names) = (requests.len(), self.names.len());
        let listed: Vec<String> = self.names.iter().take(LISTED).map(|n| shorten(n)).collect();
        let more = if names > LISTED { ", ..." } else { "" };
        let when = self.when.as_ref().map_or_else(String::new, When::name);
        let s = if names == 1 { "" } else { "s" };
        let listed = listed.join(", ") + more;
        let what = format!("each of {n} rows is one request, of {names} name{s}: {listed}");
        reading.notes.insert(0, format!("{what}; times are {when}"));
        let none = "no answer, and no latency is taken of them";
        if let Some(failed) = counted(&self.failed) {
            reading.note(format!("{failed} failed: {none}"));
        }
        if let Some(unknown) = counted(&self.unknown) {
            reading.assume(format!("{unknown} ended in a word that is not known: {none}"));
        }
        Ok(requests)
    }
}

/// `3 requests (`status` 0: 2, `success` false: 1)`; the words that are met most.
fn counted(words: &BTreeMap<String, u64>) -> Option<String> {
    let mut all: Vec<(&String, &u64)> = words.iter().collect();
    all.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    let listed: Vec<String> =
        all.iter().take(LISTED).map(|(word, n)| format!("{word}: {n}")).collect();
    let more = if all.len() > LISTED { ", ..." } else { "" };
    let n = words.values().sum::<u64>();
    let s = if n == 1 { "" } else { "s" };
    (n > 0).then(|| format!("{n} request{s} ({}{more})", listed.join(", ")))
}

/// The log as a measured run.
fn measured(workload: Workload) -> Measured {
    let mut ms: Vec<f64> =
        workload.requests.iter().filter_map(|r| Some(r.latency?.as_ms_f64())).collect();
    ms.sort_by(f64::total_cmp);
    let quantile = |q: f64| {
        let rank = (q * ms.len() as f64).ceil() as usize;
        ms.get(rank.clamp(1, ms.len().max(1)) - 1).copied()
    };
    let answered = ms.len() as f64 / workload.requests.len() as f64;
    let point = Point {
        rate_per_s: Some(rate_of(&workload) * answered).filter(|r| *r > 0.0),
        mean_ms: (!ms.is_empty()).then(|| ms.iter().sum::<f64>() / ms.len() as f64),
        p50_ms: quantile(0.5),
        p90_ms: quantile(0.9),
        p95_ms: quantile(0.95),
        p99_ms: quantile(0.99),
        drop_share: Some(1.0 - answered),
        ..Point::new(Offered::Arrivals(workload))
    };
    Measured { points: vec![point] }
}
