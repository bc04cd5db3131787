//! An access log: `timestamp,name[,latency]`, times in any form.

use crate::File;
use crate::content::{Content, Kind, Measured, Offered, Point, Request, Workload, rate_of};
use crate::error::ImportError;
use crate::format::{Field, Format, Options, Reading, Sheet};
use crate::when::{ALLOWED, When};
use orrery_sim::time::{Span, Time};
use orrery_traces::columns::unit_of;
use std::collections::BTreeMap;

/// The last time that is read, from the first: a century.
const NS_MAX: i128 = 100 * 366 * 86_400 * 1_000_000_000;
const LATENCY: &[&str] =
    &["latency", "duration", "response time", "request time", "elapsed", "elapsed time", "took"];
const FIELDS: &[Field] = &[
    Field::time(
        &["timestamp", "time", "ts", "datetime", "date", "arrival", "start time", "time local"],
        1.0,
        "the arrival",
    )
    .needed(),
    Field::new(
        &["name", "endpoint", "app", "model", "path", "url", "uri", "route", "service", "request"],
        "the name of the application",
    )
    .needed(),
    Field::time(LATENCY, 0.0, "measured: the latency from request to answer"),
];

pub const FORMAT: Format = Format {
    name: "access-log",
    title: "an access log, `timestamp,name[,latency]`",
    how: "a column of times and one of names",
    becomes: &[Kind::Workload, Kind::Measured],
    fields: FIELDS,
    direct: Some("workload"),
    // A workload of orrery's own is read as it is.
    is: |head| head.header(&FIELDS[..2]).is_some_and(|h| !h.iter().any(|c| c == "alone_ns")),
    read,
};

fn read(file: &File<'_>, options: &Options) -> Result<Reading, ImportError> {
    let mut reading = Reading::default();
    let mut sheet = Sheet::open(file, FIELDS, &mut reading)?;
    // A latency without a unit is an error, not a column that is left.
    if sheet.at(2).is_none()
        && let Some(found) =
            orrery_traces::columns::find(sheet.table.header(), &Field::time(LATENCY, 1.0, ""))
    {
        let name = &sheet.table.header()[found.at];
        let found = format!("`{name}`, a time without its unit");
        let remedy = "rename it, for example to `latency_ms`";
        return Err(sheet.table.bad_header(found, "a name with ns, us, ms or s", remedy).into());
    }
    let mut when: Option<When> = None;
    let mut names: BTreeMap<String, u32> = BTreeMap::new();
    let (mut list, mut rows): (Vec<String>, Vec<(i128, Request)>) = (Vec::new(), Vec::new());
    while sheet.next()? {
        let text = sheet.text(0);
        if when.is_none() {
            let unit = unit_of(&sheet.table.header()[sheet.at(0).unwrap_or(0)]);
            when = When::of(text, unit, options.time_format.as_deref());
        }
        let ns = when.as_ref().and_then(|w| w.ns(text)).ok_or_else(|| sheet.bad(0, ALLOWED))?;
        let name = sheet.text(1).to_string();
        if name.is_empty() {
            return Err(sheet.bad(1, "a name"));
        }
        let number = *names.entry(name).or_insert_with_key(|name| {
            list.push(name.clone());
            list.len() as u32 - 1
        });
        let latency = sheet.ms(2)?.map(Span::from_ms_f64);
        rows.push((ns, Request { at: Time::ZERO, name: number, alone: None, latency }));
    }
    let Some(first) = rows.iter().map(|r| r.0).min() else {
        return Err(sheet.table.ended("a request", "check that the file is whole").into());
    };
    for (ns, request) in &mut rows {
        let after = *ns - first;
        if after > NS_MAX {
            let found = format!("times {} days apart", after / 86_400_000_000_000);
            let allowed = "at most 36,600 days";
            let remedy = "check `--time-format`, or remove what does not belong there";
            return Err(ImportError::value(file.name(), found, allowed, remedy));
        }
        request.at = Time::from_ns(after as u64);
    }
    let requests: Vec<Request> = rows.into_iter().map(|r| r.1).collect();
    if let Some(when) = when {
        reading.note(format!("times are {}; a time is that of the arrival", when.name()));
    }
    let has_latency = requests.iter().any(|r| r.latency.is_some());
    let workload = Workload::of(list, requests);
    reading.note(
        "no execution times: the scenario's applications have them; in a workload file they are `--alone-ms`",
    );
    reading.contents.push(Content::Workload(workload.clone()));
    if has_latency {
        reading.contents.push(Content::Measured(measured(workload)));
    }
    Ok(reading)
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
    let share = 1.0 - ms.len() as f64 / workload.requests.len() as f64;
    let point = Point {
        rate_per_s: Some(rate_of(&workload)).filter(|r| *r > 0.0),
        mean_ms: (!ms.is_empty()).then(|| ms.iter().sum::<f64>() / ms.len() as f64),
        p50_ms: quantile(0.5),
        p90_ms: quantile(0.9),
        p95_ms: quantile(0.95),
        p99_ms: quantile(0.99),
        drop_share: Some(share),
        ..Point::new(Offered::Arrivals(workload))
    };
    Measured { points: vec![point] }
}
