//! The batches and drops of a log as a table.

use super::follow::{InFlight, Open, outcome_word};
use super::selection::{Failure, Selection};
use orrery_results::BatchRow;
use orrery_sim::log::{Closed, LogError, Names, Record};
use orrery_sim::request::{End, Request, RequestId};
use orrery_sim::time::Time;
use std::collections::HashMap;
use std::io::{self, Write};

/// Writes a log's batches as CSV with the columns of [`orrery_results::BatchRow`], in the order in
/// which they ended.
///
/// # Errors
/// When a record cannot be read or `out` cannot be written.
pub fn write(
    names: &Names,
    records: impl IntoIterator<Item = Result<Record, LogError>>,
    selection: &Selection,
    out: impl Write,
) -> Result<(), Failure> {
    let mut rows = csv::WriterBuilder::new().has_headers(true).from_writer(out);
    let mut any = false;
    each(names, records, selection, |row| {
        any = true;
        rows.serialize(row).map_err(io_error)
    })?;
    if !any {
        let header = orrery_results::to_csv(&[BatchRow::default()]);
        let header = header.lines().next().unwrap_or_default();
        rows.write_record(header.split(',')).map_err(io_error)?;
    }
    Ok(rows.flush()?)
}

/// Row by row, in the order of their ends.
pub fn each(
    names: &Names,
    records: impl IntoIterator<Item = Result<Record, LogError>>,
    selection: &Selection,
    mut row: impl FnMut(BatchRow) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut in_flight = InFlight::default();
    let mut now = Time::ZERO;
    let (mut waiting, mut deadlines) = (HashMap::new(), HashMap::new());
    let mut write = |of: BatchRow| -> Result<(), Failure> {
        let shown = of.start_ns <= selection.to.ns() && of.end_ns >= selection.from.ns();
        if shown { row(of) } else { Ok(()) }
    };
    for record in records {
        let record = record?;
        now = now.max(record.time());
        if now > selection.to && !in_flight.began_by(selection.to) {
            break;
        }
        match record {
            Record::Arrive { request, .. } => {
                waiting.insert(request.id, request);
            }
            Record::Issue { time, batch } => {
                deadlines.insert(batch.action, earliest(&batch.requests, &waiting));
                in_flight.issue(time, batch);
            }
            Record::Begin { time, action } => {
                in_flight.begin(time, action);
            }
            Record::Close { time, action, outcome } => {
                let deadline = deadlines.remove(&action).flatten();
                if let Some(open) = in_flight.close(action) {
                    batch_row(names, &open, time, deadline, Some(outcome))
                        .map_or(Ok(()), &mut write)?;
                }
            }
            Record::End { time, request, end } => {
                if let (Some(request), End::Dropped(_)) = (waiting.remove(&request), end) {
                    write(drop_row(names, &request, time, end))?;
                }
            }
            _ => {}
        }
    }
    for open in in_flight.drain() {
        let deadline = deadlines.remove(&open.batch.action).flatten();
        batch_row(names, &open, now, deadline, None).map_or(Ok(()), &mut write)?;
    }
    Ok(())
}

/// The earliest deadline of a batch's requests, if one has any.
fn earliest(batch: &[RequestId], waiting: &HashMap<RequestId, Request>) -> Option<u64> {
    let deadlines = batch.iter().filter_map(|id| waiting.get(id)).map(|r| r.deadline);
    deadlines.filter(|d| *d != Time::NEVER).map(Time::ns).min()
}

/// The row of a batch, if it began.
fn batch_row(
    names: &Names,
    open: &Open,
    end: Time,
    deadline_ns: Option<u64>,
    outcome: Option<Closed>,
) -> Option<BatchRow> {
    let b = &open.batch;
    Some(BatchRow {
        policy: names.policy.clone(),
        device: Some(b.device.0),
        device_name: names.device(b.device).unwrap_or_default().to_string(),
        lane: b.lane.into(),
        model: names.model(b.model).map_or_else(|| b.model.0.to_string(), str::to_string),
        action: b.action.0,
        size: b.requests.len() as u32,
        start_ns: open.began?.ns(),
        end_ns: end.ns(),
        deadline_ns,
        outcome: outcome_word(outcome).to_string(),
    })
}

/// The row of a request that was dropped.
fn drop_row(names: &Names, request: &Request, time: Time, end: End) -> BatchRow {
    let model = request.model;
    BatchRow {
        policy: names.policy.clone(),
        model: names.model(model).map_or_else(|| model.0.to_string(), str::to_string),
        action: request.id.0,
        size: 1,
        start_ns: request.arrival.ns(),
        end_ns: time.ns(),
        deadline_ns: (request.deadline != Time::NEVER).then(|| request.deadline.ns()),
        outcome: end.word().to_string(),
        ..BatchRow::default()
    }
}

fn io_error(error: csv::Error) -> Failure {
    match error.into_kind() {
        csv::ErrorKind::Io(e) => Failure::Write(e),
        other => Failure::Write(io::Error::other(format!("{other:?}"))),
    }
}
