//! Azure Functions 2021: a row for each invocation, with its end and its duration in seconds.

use crate::File;
use crate::content::{Content, Kind, Request, Workload};
use crate::error::ImportError;
use crate::format::{Field, Format, Options, Reading};
use orrery_sim::time::Span;
use orrery_traces::azure2021::Trace2021;

const FIELDS: &[Field] = &[
    Field::new(&["app"], "the name of the application").needed(),
    Field::new(&["func"], "nothing but a count").needed(),
    Field::new(&["end_timestamp"], "the arrival, less `duration`").needed(),
    Field::new(&["duration"], "the execution time in isolation").needed(),
];

pub const FORMAT: Format = Format {
    name: "azure-2021",
    title: "Azure Functions 2021",
    how: "columns `app`, `func`, `end_timestamp` and `duration`",
    becomes: &[Kind::Workload],
    fields: FIELDS,
    options: &[],
    direct: Some("workload"),
    is: |head| head.has(FIELDS),
    read,
};

fn read(file: &File<'_>, _: &Options) -> Result<Reading, ImportError> {
    let trace = Trace2021::read(file.open()?)?;
    file.met_in(&trace.met);
    let mut reading = Reading::default();
    for field in FIELDS {
        reading.take(field.names[0], field.becomes);
    }
    reading.ignore(trace.unused);
    reading.note(format!(
        "{} functions of {} applications: a request belongs to its application",
        trace.functions.len(),
        trace.apps.len()
    ));
    let least = Span::from_us(1);
    let short = trace.records.iter().filter(|r| r.duration < least).count();
    if short > 0 {
        reading.note(format!("{short} durations below 1 us are 1 us"));
    }
    let request = |r: &orrery_traces::azure2021::Record2021| Request {
        at: r.arrival,
        name: r.app,
        alone: Some(r.duration.max(least)),
        latency: None,
    };
    let requests = trace.records.iter().map(request).collect();
    reading.contents.push(Content::Workload(Workload::of(trace.apps, requests)));
    Ok(reading)
}
