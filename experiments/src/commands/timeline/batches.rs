//! The batches of a log as a table.

use super::follow::{InFlight, Open, outcome_word};
use super::{Failure, Selection};
use orrery_results::BatchRow;
use orrery_sim::log::{Closed, LogError, Names, Record};
use orrery_sim::time::Time;
use std::io::{self, Write};

pub fn write(
    names: &Names,
    records: impl IntoIterator<Item = Result<Record, LogError>>,
    selection: &Selection,
    out: impl Write,
) -> Result<(), Failure> {
    let mut rows = csv::WriterBuilder::new().has_headers(true).from_writer(out);
    let mut in_flight = InFlight::default();
    let (mut now, mut any) = (Time::ZERO, false);
    let mut row = |open: &Open, end: Time, outcome: Option<Closed>| -> Result<(), Failure> {
        let Some(start) = open.began else { return Ok(()) };
        if start <= selection.to && end >= selection.from {
            any = true;
            rows.serialize(batch_row(names, open, (start, end), outcome)).map_err(io_error)?;
        }
        Ok(())
    };
    for record in records {
        let record = record?;
        now = now.max(record.time());
        if now > selection.to && !in_flight.began_by(selection.to) {
            break;
        }
        match record {
            Record::Issue { time, batch } => in_flight.issue(time, batch),
            Record::Begin { time, action } => {
                in_flight.begin(time, action);
            }
            Record::Close { time, action, outcome } => {
                if let Some(open) = in_flight.close(action) {
                    row(&open, time, Some(outcome))?;
                }
            }
            _ => {}
        }
    }
    for open in in_flight.drain() {
        row(&open, now, None)?;
    }
    if !any {
        let header = orrery_results::to_csv(&[BatchRow::default()]);
        let header = header.lines().next().unwrap_or_default();
        rows.write_record(header.split(',')).map_err(io_error)?;
    }
    Ok(rows.flush()?)
}

fn batch_row(
    names: &Names,
    open: &Open,
    (start, end): (Time, Time),
    outcome: Option<Closed>,
) -> BatchRow {
    let b = &open.batch;
    BatchRow {
        policy: names.policy.clone(),
        device: b.device.0,
        device_name: names.device(b.device).unwrap_or_default().to_string(),
        lane: b.lane.into(),
        model: names.model(b.model).map_or_else(|| b.model.0.to_string(), str::to_string),
        action: b.action.0,
        size: b.requests.len() as u32,
        start_ns: start.ns(),
        end_ns: end.ns(),
        outcome: outcome_word(outcome).to_string(),
    }
}

fn io_error(error: csv::Error) -> Failure {
    match error.into_kind() {
        csv::ErrorKind::Io(e) => Failure::Write(e),
        other => Failure::Write(io::Error::other(format!("{other:?}"))),
    }
}
