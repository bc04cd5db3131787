//! What is compared: a schedule log, alone or in a run's folder with its actions.

use super::summary::Naive;
use crate::driver::{Lateness, Measured};
use crate::error::Error;
use orrery_scenario::read_text;
use orrery_sim::audit::{Auditor, Finding};
use orrery_sim::log::{Closed, Names, Record, read_log};
use orrery_sim::request::{ModelId, Request};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
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
/// When it cannot be read, is of another version, was cut off, or has a fault that an audit finds.
pub fn read_log_file(file: &Path) -> Result<(Names, Vec<Record>), Error> {
    let input = File::open(file).map_err(|e| Error::unreadable(file, e))?;
    let mut reader = read_log(input, &file.display().to_string());
    let names = reader.names()?.clone();
    let mut records = Vec::new();
    for record in reader.by_ref() {
        records.push(record?);
    }
    if matches!(records.last(), Some(Record::Finish { .. })) {
        check_log(file)?;
        return Ok((names, records));
    }
    let found = format!("no `finish` after {} records", records.len());
    let key = format!("line {}", reader.line());
    let remedy = "it was cut off: write it again";
    Err(Error::in_file(file, key, found, "a log that ends with `finish`", remedy))
}

/// Refuses a log that makes no sense: a request without an end, say, or a batch on a lane that is not there.
fn check_log(file: &Path) -> Result<(), Error> {
    let log = File::open(file).map_err(|e| Error::unreadable(file, e))?;
    let log = read_log(log, &file.display().to_string());
    let report = Auditor::on_a_wall_clock().read(log)?;
    let Some(Finding { line, fault, .. }) = report.faults.first() else { return Ok(()) };
    let key = line.map_or("the log".to_string(), |line| format!("line {line}"));
    let allowed = "a log that `orrery log audit --wall-clock` finds clean";
    Err(Error::in_file(file, key, fault, allowed, "write it again"))
}

/// What a log says of an action that `actions.csv` says too: whether it is a load, device, lane, model, items.
type Issued = (bool, u32, u8, String, u32);

/// Checks that the actions are the log's: each that it issued at most once, and each that ran to its end.
fn same_actions(
    file: &Path,
    rows: &[ActionRow],
    names: &Names,
    records: &[Record],
) -> Result<(), Error> {
    let model = |m: ModelId| names.models.get(m.index()).cloned().unwrap_or(m.0.to_string());
    let (mut issued, mut took) = (BTreeMap::<u64, Issued>::new(), BTreeMap::new());
    for record in records {
        match record {
            Record::Issue { batch: b, .. } => {
                issued.insert(b.action.0, (false, b.device.0, b.lane, model(b.model), b.units));
            }
            Record::Load { load: l, .. } => {
                issued.insert(l.action.0, (true, l.device.0, 0, model(l.model), 0));
            }
            Record::Close { action, outcome: Closed::Done(device), .. } => {
                took.insert(action.0, device.ns());
            }
            _ => {}
        }
    }
    let wrong = |key: String, found: String| {
        let allowed = "each action of `schedule.log` once, as it is there";
        let remedy = "run the replay again, or compare the logs alone";
        Err(Error::in_file(file, key, found, allowed, remedy))
    };
    for (row, line) in rows.iter().zip(2..) {
        // The executor of loads is no lane.
        let lane = if row.load { 0 } else { row.executor };
        let said = (row.load, row.device, lane, row.model.clone(), row.units);
        let device_ns = took.remove(&row.action).unwrap_or(row.device_ns);
        if issued.remove(&row.action) != Some(said) || device_ns != row.device_ns {
            let found = format!("action {}, another than in the log or a second time", row.action);
            return wrong(format!("line {line}"), found);
        }
    }
    match took.first_key_value() {
        Some((action, _)) => wrong("action".to_string(), format!("no row of action {action}")),
        None => Ok(()),
    }
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
    /// As [`read_log_file`] and [`read_actions`], and when the actions are not the log's.
    pub fn read(path: &Path) -> Result<Side, Error> {
        if !path.is_dir() {
            let (names, records) = read_log_file(path)?;
            return Ok(Side { file: path.to_path_buf(), names, records, ..Side::default() });
        }
        let file = path.join("schedule.log");
        let (names, records) = read_log_file(&file)?;
        let csv = path.join("actions.csv");
        let actions = csv.is_file().then(|| read_actions(&csv)).transpose()?;
        actions.iter().try_for_each(|rows| same_actions(&csv, rows, &names, &records))?;
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

/// Checks that two logs are of one workload: the same requests at the same instants, up to where a run was cut off.
///
/// # Errors
/// With the first request that differs.
pub fn same_workload(predicted: &Side, measured: &Side) -> Result<(), Error> {
    let (mut ours, mut theirs) = (predicted.requests(), measured.requests());
    for number in 0u64.. {
        let (a, b) = (ours.next(), theirs.next());
        let cut = [(a, predicted), (b, measured)];
        if cut.iter().any(|(next, side)| next.is_none() && side.invalid.is_some()) {
            return Ok(());
        }
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
