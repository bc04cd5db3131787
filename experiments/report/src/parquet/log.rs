//! A schedule log as Parquet: a row for each record, and for each name before them.

use super::{CHUNK, error};
use crate::log_file;
use crate::whole_file::Unfinished;
use orrery_scenario::SpecError;
use orrery_sim::log::{Closed, Names, Record, change_word};
use orrery_sim::request::RequestId;
use orrery_sim::time::Time;
use polars::prelude::*;
use std::fs::File;
use std::path::Path;

/// A row; what its kind does not have is null.
#[derive(Default)]
struct Row {
    kind: &'static str,
    time_ns: Option<u64>,
    request: Option<u64>,
    app: Option<u32>,
    model: Option<u32>,
    size: Option<u32>,
    source: Option<u32>,
    arrival_ns: Option<u64>,
    deadline_ns: Option<u64>,
    action: Option<u64>,
    device: Option<u32>,
    lane: Option<u32>,
    units: Option<u32>,
    earliest_ns: Option<u64>,
    latest_ns: Option<u64>,
    requests: Option<String>,
    what: Option<&'static str>,
    device_ns: Option<u64>,
    text: Option<String>,
}

/// Writes a text log as Parquet.
///
/// # Errors
/// When the log cannot be read or the file cannot be written.
pub fn log_to_parquet(text: &Path, path: &Path) -> Result<(), SpecError> {
    let mut log = log_file::open(text)?;
    let mut rows = Vec::with_capacity(CHUNK);
    names(log.names()?, &mut rows);
    let unfinished = Unfinished::beside(path).map_err(|e| error(path, e))?;
    let file = File::create(unfinished.path()).map_err(|e| error(path, e))?;
    let schema = chunk(&[]).map_err(|e| error(path, e))?.schema().clone();
    let mut writer = ParquetWriter::new(file)
        .with_compression(ParquetCompression::Zstd(None))
        .batched(&schema)
        .map_err(|e| error(path, e))?;
    loop {
        let record = log.next().transpose()?;
        let over = record.is_none();
        rows.extend(record.map(row));
        if rows.len() >= CHUNK || over {
            let chunk = chunk(&rows).map_err(|e| error(path, e))?;
            writer.write_batch(&chunk).map_err(|e| error(path, e))?;
            rows.clear();
        }
        if over {
            break;
        }
    }
    writer.finish().map_err(|e| error(path, e))?;
    unfinished.rename(path).map_err(|e| error(path, e))
}

fn names(names: &Names, rows: &mut Vec<Row>) {
    for (kind, number, name) in names.iter() {
        let number = Some(number as u32);
        let mut row = Row { kind: "name", what: Some(kind), ..Row::default() };
        match kind {
            "model" => row.model = number,
            "app" => row.app = number,
            "device" => row.device = number,
            _ => {}
        }
        row.text = Some(name.to_string());
        rows.push(row);
    }
}

fn unless_never(time: Time) -> Option<u64> {
    (time != Time::NEVER).then_some(time.ns())
}

fn row(record: Record) -> Row {
    let time_ns = Some(record.time().ns());
    let row = Row { time_ns, ..Row::default() };
    match record {
        Record::Arrive { request: r, .. } => Row {
            kind: "arrive",
            request: Some(r.id.0),
            app: Some(r.app.0),
            model: Some(r.model.0),
            size: Some(r.size),
            source: Some(r.source.0),
            arrival_ns: Some(r.arrival.ns()),
            deadline_ns: unless_never(r.deadline),
            ..row
        },
        Record::Issue { batch: b, .. } => Row {
            kind: "issue",
            action: Some(b.action.0),
            device: Some(b.device.0),
            lane: Some(b.lane.into()),
            model: Some(b.model.0),
            units: Some(b.units),
            earliest_ns: Some(b.earliest.ns()),
            latest_ns: unless_never(b.latest),
            requests: Some(spaced(&b.requests)),
            ..row
        },
        Record::Load { load: l, .. } => Row {
            kind: "load",
            action: Some(l.action.0),
            device: Some(l.device.0),
            model: Some(l.model.0),
            earliest_ns: Some(l.earliest.ns()),
            latest_ns: unless_never(l.latest),
            ..row
        },
        Record::Unload { device, model, .. } => {
            Row { kind: "unload", device: Some(device.0), model: Some(model.0), ..row }
        }
        Record::Begin { action, .. } => Row { kind: "begin", action: Some(action.0), ..row },
        Record::Close { action, outcome, .. } => {
            let device_ns = match outcome {
                Closed::Done(device) => Some(device.ns()),
                _ => None,
            };
            let what = Some(outcome.word());
            Row { kind: "close", action: Some(action.0), what, device_ns, ..row }
        }
        Record::End { request, end, .. } => {
            Row { kind: "end", request: Some(request.0), what: Some(end.word()), ..row }
        }
        Record::Device { device, change, .. } => {
            let what = Some(change_word(change));
            Row { kind: "device", device: Some(device.0), what, ..row }
        }
        Record::Why { request, text, .. } => {
            Row { kind: "why", request: Some(request.0), text: Some(text), ..row }
        }
        Record::Finish { .. } => Row { kind: "finish", ..row },
    }
}

fn spaced(ids: &[RequestId]) -> String {
    ids.iter().map(|id| id.0.to_string()).collect::<Vec<_>>().join(" ")
}

fn chunk(rows: &[Row]) -> PolarsResult<DataFrame> {
    macro_rules! column {
        ($name:ident) => {
            Column::new(stringify!($name).into(), rows.iter().map(|r| r.$name).collect::<Vec<_>>())
        };
        (text $name:ident) => {
            Column::new(
                stringify!($name).into(),
                rows.iter().map(|r| r.$name.as_deref()).collect::<Vec<_>>(),
            )
        };
    }
    let columns = vec![
        column!(kind),
        column!(time_ns),
        column!(request),
        column!(app),
        column!(model),
        column!(size),
        column!(source),
        column!(arrival_ns),
        column!(deadline_ns),
        column!(action),
        column!(device),
        column!(lane),
        column!(units),
        column!(earliest_ns),
        column!(latest_ns),
        column!(text requests),
        column!(what),
        column!(device_ns),
        column!(text text),
    ];
    DataFrame::new(rows.len(), columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_becomes_a_row_for_each_line_after_its_header_and_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("a.log");
        let lines = "orrery-log,4\nname,model,0,bert\narrive,5,0,0,0,1,0,5,\n\
                     why,5,0,alone, and free\nissue,5,0,0,0,0,1,0,,0\nfinish,9\n";
        std::fs::write(&text, lines).unwrap();
        let (one, two) = (folder.path().join("1.parquet"), folder.path().join("2.parquet"));
        log_to_parquet(&text, &one).unwrap();
        log_to_parquet(&text, &two).unwrap();
        assert_eq!(std::fs::read(&one).unwrap(), std::fs::read(&two).unwrap(), "the same bytes");
        let frame = ParquetReader::new(File::open(&one).unwrap()).finish().unwrap();
        assert_eq!(frame.height(), 5);
        let texts = frame.column("text").unwrap().str().unwrap().clone();
        assert_eq!((texts.get(0), texts.get(2)), (Some("bert"), Some("alone, and free")));
        assert_eq!(frame.column("requests").unwrap().str().unwrap().get(3), Some("0"));
        assert_eq!(frame.column("deadline_ns").unwrap().u64().unwrap().get(1), None);
        assert_eq!(frame.column("time_ns").unwrap().u64().unwrap().get(4), Some(9));
    }
}
