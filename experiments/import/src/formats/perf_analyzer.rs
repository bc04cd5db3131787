//! Triton's `perf_analyzer -f FILE`: a row for each concurrency or request rate. Times are microseconds.

use crate::File;
use crate::content::{Content, Kind, Measured, Offered, Point, Profile};
use crate::error::ImportError;
use crate::format::{Field, Format, Options, Reading, Sheet};

const US: f64 = 1e3;
const CLIENTS: usize = 0;
const RATE: usize = 1;
const ANSWERED: usize = 2;
/// The parts of a mean latency, in order.
const PARTS: std::ops::Range<usize> = 3..10;
const INFER: usize = 7;
const P50: usize = 10;
const MEAN: usize = 14;
const FIELDS: &[Field] = &[
    Field::new(&["Concurrency"], "the number of clients"),
    Field::new(&["Request Rate"], "the offered rate, evenly spaced"),
    Field::new(&["Inferences/Second"], "the rate").needed(),
    Field::time(&["Client Send"], US, "a part of the mean latency"),
    Field::time(&["Network+Server Send/Recv"], US, "a part of the mean latency"),
    Field::time(&["Server Queue"], US, "a part of the mean latency"),
    Field::time(&["Server Compute Input"], US, "a part of the mean latency"),
    Field::time(
        &["Server Compute Infer", "Server Compute"],
        US,
        "profile: the latency of a batch, at the least load; a part of the mean latency",
    ),
    Field::time(&["Server Compute Output"], US, "a part of the mean latency"),
    Field::time(&["Client Recv"], US, "a part of the mean latency"),
    Field::time(&["p50 latency"], US, "the median"),
    Field::time(&["p90 latency"], US, "the 90 % quantile"),
    Field::time(&["p95 latency"], US, "the 95 % quantile"),
    Field::time(&["p99 latency"], US, "the 99 % quantile"),
    Field::time(&["Avg latency"], US, "the mean latency, in place of the sum of its parts"),
];

pub const FORMAT: Format = Format {
    name: "perf-analyzer",
    title: "Triton perf_analyzer, `-f FILE`",
    how: "columns `Inferences/Second` and `Client Send`",
    becomes: &[Kind::Measured, Kind::Profile],
    fields: FIELDS,
    direct: Some("profile"),
    is: |head| head.has(&[FIELDS[ANSWERED], FIELDS[3]]),
    read,
};

fn read(file: &File<'_>, options: &Options) -> Result<Reading, ImportError> {
    let mut reading = Reading::default();
    let mut sheet = Sheet::open(file, FIELDS, &mut reading)?;
    let size = options.batch.unwrap_or(1);
    let mut rows: Vec<(Point, Option<f64>)> = Vec::new();
    while sheet.next()? {
        let load = load(&sheet)?;
        let mut parts = Vec::new();
        for part in PARTS {
            parts.extend(sheet.ms(part)?);
        }
        // An older file has one column in place of three.
        let sum = (parts.len() >= PARTS.len() - 2).then(|| parts.iter().sum::<f64>());
        let rate = sheet.number(ANSWERED, 1e12)?;
        let point = Point {
            model: options.model.clone(),
            size,
            rate_per_s: rate.map(|r| r / f64::from(size)),
            mean_ms: sheet.ms(MEAN)?.or(sum),
            p50_ms: sheet.ms(P50)?,
            p90_ms: sheet.ms(P50 + 1)?,
            p95_ms: sheet.ms(P50 + 2)?,
            p99_ms: sheet.ms(P50 + 3)?,
            ..Point::new(load)
        };
        rows.push((point, sheet.ms(INFER)?.filter(|ms| *ms > 0.0)));
    }
    if rows.is_empty() {
        return Err(sheet.table.ended("a row for a load", "measure again").into());
    }
    if options.batch.is_none() {
        reading.note("the file does not say the batch size of a request (`-b`): 1, unless `--batch N` says more");
    }
    let least = rows.iter().min_by(|a, b| asked(&a.0).total_cmp(&asked(&b.0)));
    let profile = least.and_then(|(point, infer)| {
        let (model, ms) = (options.model.clone().unwrap_or("model".to_string()), (*infer)?);
        reading.note(format!(
            "profile: {ms} ms, `Server Compute Infer` at {}; what the server adds to a batch is not in it, and `orrery \
             calibrate` looks for it",
            point.load
        ));
        Some(Content::Profile(Profile { rows: vec![(model, size, ms)] }))
    });
    let points = rows.into_iter().map(|(point, _)| point).collect();
    reading.contents.push(Content::Measured(Measured { points }));
    reading.contents.extend(profile);
    Ok(reading)
}

/// What is asked of the server, to find the least.
fn asked(point: &Point) -> f64 {
    match &point.load {
        Offered::Clients(n) => f64::from(*n),
        Offered::Rate { per_s, .. } => *per_s,
        Offered::Arrivals(_) => 0.0,
    }
}

fn load(sheet: &Sheet) -> Result<Offered, ImportError> {
    if let Some(clients) = sheet.whole(CLIENTS, 1_000_000)? {
        if clients == 0 {
            return Err(sheet.bad(CLIENTS, "1 or more clients"));
        }
        return Ok(Offered::Clients(clients as u32));
    }
    match sheet.number(RATE, 1e9)? {
        Some(per_s) if per_s > 0.0 => Ok(Offered::Rate { per_s, even: true }),
        Some(_) => Err(sheet.bad(RATE, "a rate above 0")),
        None => Err(orrery_traces::columns::missing(&sheet.table, &FIELDS[CLIENTS]).into()),
    }
}
