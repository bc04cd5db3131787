//! A measured table as `orrery import` writes it, or by hand: a row for each load.

use crate::File;
use crate::content::{ASSUMED, Content, Kind, Measured, Offered, Point};
use crate::error::ImportError;
use crate::format::{Field, Format, Options, Reading, Sheet};
use crate::load::{Arriving, Spacing};

/// A unit that the name must say.
const SAID: f64 = 0.0;
const CLIENTS: usize = 0;
const OFFERED: usize = 1;
const ARRIVALS: usize = 2;
const REQUESTS: usize = 13;
const FIELDS: &[Field] = &[
    Field::new(
        &["clients", "concurrency"],
        "the number of clients; beside a rate, the most requests in flight",
    ),
    Field::new(&["offered_per_s", "offered rate"], "the offered rate"),
    Field::new(
        &["arrivals"],
        "`even`, `poisson` (assumed where it is missing), `gamma:SHAPE`, or `at-once`: `requests` of them",
    ),
    Field::new(&["model"], "the model"),
    Field::new(&["size"], "items in a request, 1 where it is missing"),
    Field::new(&["rate_per_s", "throughput", "rate"], "requests answered a second"),
    Field::time(
        &["mean", "mean latency", "avg latency", "average latency"],
        SAID,
        "the mean latency",
    ),
    Field::time(&["p50", "p50 latency", "median", "median latency"], SAID, "the median"),
    Field::time(&["p90", "p90 latency"], SAID, "the 90 % quantile"),
    Field::time(&["p95", "p95 latency"], SAID, "the 95 % quantile"),
    Field::time(&["p99", "p99 latency"], SAID, "the 99 % quantile"),
    Field::new(
        // A `batch size` is what a server is configured with.
        &["batch", "mean batch", "mean batch size"],
        "the mean size of a batch",
    ),
    Field::new(&["drop_share"], "the share of requests without an answer"),
    Field::new(&["requests"], "the answered requests behind the numbers"),
];

pub const FORMAT: Format = Format {
    name: "measured-table",
    title: "a measured table of your own, or one that `orrery import` wrote",
    how: "a column `clients` or `offered_per_s`, and one of a latency or a rate",
    becomes: &[Kind::Measured],
    fields: FIELDS,
    options: &["model"],
    direct: None,
    is: |head| {
        let any = |fields: &[Field]| fields.iter().any(|f| head.has(std::slice::from_ref(f)));
        // Its `Batch` is of a request.
        let is_analyzer = |column: &String| column == "Throughput (infer/sec)";
        !head.headers.iter().flatten().any(is_analyzer)
            && any(&FIELDS[CLIENTS..=OFFERED])
            && any(&FIELDS[5..11])
    },
    read,
};

fn read(file: &File<'_>, options: &Options) -> Result<Reading, ImportError> {
    let mut reading = Reading::default();
    let mut sheet = Sheet::open(file, FIELDS, &mut reading)?;
    let mut points = Vec::new();
    while sheet.next()? {
        let (load, assumed) = load(&sheet)?;
        points.push(Point {
            assumed,
            model: Some(sheet.text(3).to_string())
                .filter(|m| !m.is_empty())
                .or(options.model.clone()),
            size: sheet.size(4)?.unwrap_or(1),
            rate_per_s: sheet.number(5, 1e12)?,
            mean_ms: sheet.latency(6)?,
            p50_ms: sheet.latency(7)?,
            p90_ms: sheet.latency(8)?,
            p95_ms: sheet.latency(9)?,
            p99_ms: sheet.latency(10)?,
            batch: sheet.number(11, 1e6)?,
            drop_share: sheet.number(12, 1.0)?,
            requests: sheet.whole(REQUESTS, 1 << 53)?,
            ..Point::new(load)
        });
    }
    if points.is_empty() {
        return Err(sheet.table.ended("a row for a load", "measure again").into());
    }
    reading.contents.push(Content::Measured(Measured { points }));
    Ok(reading)
}

/// The load of a row, and why its arrivals are assumed.
fn load(sheet: &Sheet) -> Result<(Offered, Option<&'static str>), ImportError> {
    let words = sheet.text(ARRIVALS);
    let known = words.strip_suffix(ASSUMED.trim()).map(str::trim);
    let assumed = known.map(|_| "as the column `arrivals` says");
    let how = match known.unwrap_or(words) {
        "" => None,
        words => Some(Arriving::parse(words).ok_or_else(|| {
            let allowed = "`even`, `poisson`, `gamma:SHAPE` or `at-once`; recorded arrivals are in their own file";
            sheet.bad(ARRIVALS, allowed)
        })?),
    };
    let clients = sheet.whole(CLIENTS, 1_000_000)?.map(|n| n as u32);
    let requests = sheet.whole(REQUESTS, u32::MAX.into())?.filter(|n| *n > 0);
    match (clients, sheet.number(OFFERED, 1e9)?, how) {
        (Some(0), ..) => Err(sheet.bad(CLIENTS, "1 or more clients")),
        (Some(n), None, None) => Ok((Offered::Clients(n), assumed)),
        (in_flight_max, Some(per_s), None | Some(Arriving::Spaced(_))) if per_s > 0.0 => {
            let assumed = assumed.or(how.is_none().then_some("as the column `arrivals` is empty"));
            let spacing = match how {
                Some(Arriving::Spaced(spacing)) => spacing,
                _ => Spacing::Poisson,
            };
            Ok((Offered::Rate { per_s, spacing, in_flight_max }, assumed))
        }
        (None, None, Some(Arriving::AtOnce)) => match requests {
            Some(n) => Ok((Offered::AtOnce(n as u32), assumed)),
            None => Err(sheet.bad(REQUESTS, "how many requests came at once")),
        },
        (_, Some(per_s), _) if per_s <= 0.0 => Err(sheet.bad(OFFERED, "a rate above 0")),
        (None, None, None) => {
            let field = if sheet.at(CLIENTS).is_some() { CLIENTS } else { OFFERED };
            Err(sheet.bad(field, "the number of clients, or the offered rate"))
        }
        _ => Err(sheet
            .bad(ARRIVALS, "`even`, `poisson` or `gamma:SHAPE` beside a rate, `at-once` alone")),
    }
}
