//! What is compared: a schedule log, alone or in a run's folder with its actions.

use super::summary::Naive;
use crate::driver::{Lateness, Measured};
use crate::error::{Error, read_text};
use orrery_sim::log::{Names, Record, read_log};
use orrery_sim::request::Request;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::{Path, PathBuf};

/// One side of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// The log's file.
    pub file: PathBuf,
    /// What things are called.
    pub names: Names,
    /// The records.
    pub records: Vec<Record>,
    /// The actions, where they were measured.
    pub actions: Option<Vec<ActionRow>>,
    /// Requests before this do not count; from the run's record, else zero.
    pub warm_up_ns: u64,
    /// Why the run says nothing, if so: it ended early, or its host was late.
    pub invalid: Option<String>,
    /// What else its record says against its figures.
    pub notes: Vec<String>,
    /// What predicted it less well, where its record says so.
    pub naive: Option<Naive>,
}

/// A line of `actions.csv`.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct ActionRow {
    pub action: u64,
    pub device: u32,
    pub executor: u8,
    pub load: bool,
    pub model: String,
    pub units: u32,
    pub longest_ns: u64,
    pub issued_ns: u64,
    pub earliest_ns: u64,
    pub began_ns: u64,
    pub start_ns: u64,
    pub end_ns: u64,
    pub device_ns: u64,
    /// Of the time between start and end, what the host took away. Older files do not say.
    #[serde(default)]
    pub away_ns: u64,
    pub predicted_ns: u64,
    pub stopped: bool,
    /// The controller learned of its end after so many inputs. Older files do not say.
    #[serde(default)]
    pub learned: u64,
}

impl ActionRow {
    /// What was measured, with the model's name.
    pub fn of(a: &Measured, models: &[String]) -> ActionRow {
        ActionRow {
            action: a.action.0,
            device: a.device.0,
            executor: a.executor,
            load: a.load,
            model: models.get(a.model.index()).cloned().unwrap_or_else(|| a.model.0.to_string()),
            units: a.units,
            longest_ns: a.longest.ns(),
            issued_ns: a.issued.ns(),
            earliest_ns: a.earliest.ns(),
            began_ns: a.began.ns(),
            start_ns: a.start.ns(),
            end_ns: a.end.ns(),
            device_ns: a.device_time.ns(),
            away_ns: a.away.ns(),
            predicted_ns: a.predicted.ns(),
            stopped: a.stopped,
            learned: a.learned,
        }
    }
}

/// The text of a table: of `actions.csv`, say.
pub fn rows_csv<T: Serialize>(rows: impl IntoIterator<Item = T>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        // Into memory: it cannot fail.
        let _ = writer.serialize(row);
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads an `actions.csv`.
///
/// # Errors
/// When it cannot be read or a line is damaged.
pub fn read_actions(file: &Path) -> Result<Vec<ActionRow>, Error> {
    let text = read_text(file)?;
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows = reader.deserialize().map(|row| {
        row.map_err(|e: csv::Error| {
            let line = e.position().map_or(1, csv::Position::line);
            let allowed = "the columns of docs/replay.md, whole";
            let remedy = "run the replay again, or compare the logs alone";
            Error::in_file(file, format!("line {line}"), e, allowed, remedy)
        })
    });
    rows.collect()
}

/// Reads a whole log.
///
/// # Errors
/// When it cannot be read, is of another version, or was cut off.
pub fn read_log_file(file: &Path) -> Result<(Names, Vec<Record>), Error> {
    let input = File::open(file).map_err(|e| Error::unreadable(file, e))?;
    let mut reader = read_log(input, &file.display().to_string());
    let names = reader.names()?.clone();
    let mut records = Vec::new();
    for record in reader.by_ref() {
        records.push(record?);
    }
    if matches!(records.last(), Some(Record::Finish { .. })) {
        return Ok((names, records));
    }
    let found = format!("no `finish` after {} records", records.len());
    let key = format!("line {}", reader.line());
    let remedy = "it was cut off: write it again";
    Err(Error::in_file(file, key, found, "a log that ends with `finish`", remedy))
}

/// The part of a `run.json` that a comparison needs.
#[derive(Debug, Default, Deserialize)]
struct RunFile {
    #[serde(default)]
    warm_up_ns: u64,
    #[serde(default)]
    failed: Option<String>,
    #[serde(default)]
    naive: Option<Naive>,
    #[serde(default)]
    lateness: Lateness,
    #[serde(default)]
    notes: Vec<String>,
}

impl Side {
    /// Reads a log, or a run's folder.
    ///
    /// # Errors
    /// As [`read_log_file`] and [`read_actions`].
    pub fn read(path: &Path) -> Result<Side, Error> {
        if !path.is_dir() {
            let (names, records) = read_log_file(path)?;
            return Ok(Side { file: path.to_path_buf(), names, records, ..Side::default() });
        }
        let file = path.join("schedule.log");
        let (names, records) = read_log_file(&file)?;
        let actions = path.join("actions.csv");
        let actions = actions.is_file().then(|| read_actions(&actions)).transpose()?;
        let run = path.join("run.json");
        let mut record = RunFile::default();
        if run.is_file() {
            let text = read_text(&run)?;
            record = serde_json::from_str(&text).map_err(|e| {
                Error::in_file(&run, format!("line {}", e.line()), e, "a run's record", "run again")
            })?;
        }
        let RunFile { warm_up_ns, failed, naive, lateness, notes } = record;
        // The figures of a run that was cut off are those of a shorter load.
        let cut = failed.map(|why| format!("the run was cut off: {why}"));
        let invalid = cut.or(lateness.invalid());
        Ok(Side { file, names, records, actions, warm_up_ns, invalid, notes, naive })
    }

    /// A side in memory.
    pub fn of(records: Vec<Record>, actions: Option<Vec<ActionRow>>, warm_up_ns: u64) -> Side {
        Side { records, actions, warm_up_ns, ..Side::default() }
    }

    /// The requests, in order of arrival.
    pub fn requests(&self) -> impl Iterator<Item = &Request> {
        self.records.iter().filter_map(|r| match r {
            Record::Arrive { request, .. } => Some(request),
            _ => None,
        })
    }
}

/// Checks that two logs are of one workload: the same requests at the same instants.
///
/// # Errors
/// With the first request that differs.
pub fn same_workload(predicted: &Side, measured: &Side) -> Result<(), Error> {
    let (mut ours, mut theirs) = (predicted.requests(), measured.requests());
    for number in 0u64.. {
        let (a, b) = (ours.next(), theirs.next());
        if a == b {
            if a.is_none() {
                return Ok(());
            }
            continue;
        }
        let show = |r: Option<&Request>| {
            r.map_or("nothing".to_string(), |r| {
                let (app, model, at) = (r.app.0, r.model.0, r.arrival);
                let slo = r.slo();
                format!("application {app}, model {model}, at {at}, SLO {slo}, size {}", r.size)
            })
        };
        let found = format!("request {number}: {}", show(b));
        let allowed = format!("the same as in {}: {}", predicted.file.display(), show(a));
        let remedy = "compare runs of the same scenario, seed and load; if clients react to replies (closed loop), add `--closed-loop`";
        return Err(Error::in_file(&measured.file, "workload", found, allowed, remedy));
    }
    Ok(())
}
