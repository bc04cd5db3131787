//! Triton's `perf_analyzer -f FILE`: a row for each concurrency or request rate. Times are microseconds.

use crate::File;
use crate::content::{Content, Kind, Measured, Offered, Point, Profile};
use crate::error::ImportError;
use crate::format::{Field, Format, Options, Reading, Sheet};
use crate::load::Spacing;

const US: f64 = 1e3;
const CLIENTS: usize = 0;
const RATE: usize = 1;
const ANSWERED: usize = 2;
/// The parts of a mean latency, in order.
const PARTS: std::ops::Range<usize> = 3..12;
const INPUT: usize = 6;
const INFER: usize = 7;
const OUTPUT: usize = 8;
const HIT: usize = 9;
const MISS: usize = 10;
const P50: usize = 12;
const MEAN: usize = 16;
const SIZE: usize = 17;
const PART: &str = "a part of the mean";
const FIELDS: &[Field] = &[
    Field::new(&["Concurrency"], "the number of clients"),
    Field::new(&["Request Rate"], "the offered rate"),
    Field::new(&["Inferences/Second"], "the rate").needed(),
    Field::time(&["Client Send"], US, PART),
    Field::time(&["Network+Server Send/Recv"], US, PART),
    Field::time(&["Server Queue"], US, PART),
    Field::time(&["Server Compute Input"], US, PART),
    Field::time(
        &["Server Compute Infer", "Server Compute"],
        US,
        "profile: the latency at one client; a part of the mean",
    ),
    Field::time(&["Server Compute Output"], US, PART),
    Field::time(&["Server Cache Hit"], US, PART),
    Field::time(&["Server Cache Miss"], US, PART),
    Field::time(&["Client Recv"], US, PART),
    Field::time(&["p50 latency"], US, "the median"),
    Field::time(&["p90 latency"], US, "the 90 % quantile"),
    Field::time(&["p95 latency"], US, "the 95 % quantile"),
    Field::time(&["p99 latency"], US, "the 99 % quantile"),
    Field::time(&["Avg latency"], US, "the mean"),
    Field::new(&["Batch Size"], "the size of a request"),
];

pub const FORMAT: Format = Format {
    name: "perf-analyzer",
    title: "Triton perf_analyzer, `-f FILE`",
    how: "columns `Inferences/Second` and `Client Send`",
    becomes: &[Kind::Measured, Kind::Profile],
    fields: FIELDS,
    options: &["batch", "model"],
    direct: Some("profile"),
    is: |head| head.has(&[FIELDS[ANSWERED], FIELDS[3]]),
    read,
};

fn read(file: &File<'_>, options: &Options) -> Result<Reading, ImportError> {
    let mut reading = Reading::default();
    let mut sheet = Sheet::open(file, FIELDS, &mut reading)?;
    let mut rows: Vec<(Point, Option<f64>)> = Vec::new();
    let mut lacking: Option<String> = None;
    while sheet.next()? {
        let size = sheet.size(SIZE)?.or(options.batch).unwrap_or(1);
        let (load, assumed) = offered(&sheet)?;
        let mean = match (sheet.latency(MEAN)?, sum(&sheet)?) {
            (Some(mean), _) => Some(mean),
            (None, Ok(sum)) => Some(sum).filter(|ms| *ms > 0.0),
            (None, Err(part)) => {
                lacking.get_or_insert(format!("line {} has no `{part}`", sheet.table.line()));
                None
            }
        };
        let rate = sheet.number(ANSWERED, 1e12)?;
        let point = Point {
            assumed,
            model: options.model.clone(),
            size,
            rate_per_s: rate.map(|r| r / f64::from(size)),
            mean_ms: mean,
            p50_ms: sheet.latency(P50)?,
            p90_ms: sheet.latency(P50 + 1)?,
            p95_ms: sheet.latency(P50 + 2)?,
            p99_ms: sheet.latency(P50 + 3)?,
            ..Point::new(load)
        };
        rows.push((point, sheet.ms(INFER)?.filter(|ms| *ms > 0.0)));
    }
    if rows.is_empty() {
        return Err(sheet.table.ended("a row for a load", "measure again").into());
    }
    if options.batch.is_none() && sheet.at(SIZE).is_none() {
        reading.note("no batch size of a request (`-b`): 1, unless `--batch N` says more");
    }
    if options.batch.is_some() && sheet.at(SIZE).is_some() {
        reading.note("`--batch` is for rows without a `Batch Size`");
    }
    if let Some(lacking) = lacking {
        reading.note(format!("no mean latency: it is the sum of its parts, and {lacking}"));
    }
    if sheet.at(MEAN).is_some() {
        reading.unused(PART);
    }
    let profile = profile(&rows, options, &mut reading);
    let points = rows.into_iter().map(|(point, _)| point).collect();
    reading.contents.push(Content::Measured(Measured { points }));
    reading.contents.extend(profile.map(Content::Profile));
    Ok(reading)
}

/// The sum of the parts of a mean, where all are there that this file should have; the one that is not.
fn sum(sheet: &Sheet) -> Result<Result<f64, &'static str>, ImportError> {
    let mut sum = 0.0;
    let has = |part| sheet.at(part).is_some();
    for part in PARTS {
        // An older file has one column in place of three, and only a server with a cache has its columns.
        let is_left_out = match part {
            INPUT | OUTPUT => !has(INPUT) && !has(OUTPUT),
            HIT | MISS => !has(HIT) && !has(MISS),
            _ => false,
        };
        match sheet.ms(part)? {
            Some(ms) => sum += ms,
            None if is_left_out => {}
            None => return Ok(Err(FIELDS[part].names[0])),
        }
    }
    Ok(Ok(sum))
}

/// The latency of a batch of each size, of the row with the least load. With more than one request in flight the
/// server may have put several in one batch.
fn profile(rows: &[(Point, Option<f64>)], options: &Options, r: &mut Reading) -> Option<Profile> {
    let mut least = std::collections::BTreeMap::<u32, &(Point, Option<f64>)>::new();
    for row in rows {
        let kept = least.entry(row.0.size).or_insert(row);
        if asked(&row.0) < asked(&kept.0) {
            *kept = row;
        }
    }
    let name = options.name();
    let (mut profile, mut crowded, mut said) = (Profile::default(), Vec::new(), Vec::new());
    for (size, (point, infer)) in least {
        let Some(ms) = infer else { continue };
        if asked(point) > 1.0 {
            crowded.push(format!("size {size} was measured at {} or more", point.load));
            continue;
        }
        said.push(format!("{ms} ms of size {size} at {}", point.load));
        profile.rows.push((name.clone(), size, *ms));
    }
    if !crowded.is_empty() {
        r.note(format!("no profile: {}; measure at one client", crowded.join(", ")));
    }
    if !said.is_empty() {
        r.note(format!(
            "profile: `Server Compute Infer`, {}; what the server adds to a batch is not in it",
            said.join(", ")
        ));
    }
    Some(profile).filter(|p| !p.rows.is_empty())
}

/// The requests in flight: clients, or by Little's law.
fn asked(point: &Point) -> f64 {
    match &point.load {
        Offered::Clients(n) => f64::from(*n),
        Offered::Rate { per_s, .. } => {
            per_s * point.mean_ms.or(point.p50_ms).unwrap_or(f64::INFINITY) / 1e3
        }
        _ => f64::INFINITY,
    }
}

/// The load of a row, and why its arrivals are assumed: the file has not `--request-distribution`, nor that it is the
/// default.
fn offered(sheet: &Sheet<'_>) -> Result<(Offered, Option<&'static str>), ImportError> {
    match (sheet.whole(CLIENTS, 1_000_000)?, sheet.number(RATE, 1e9)?) {
        (Some(n), _) if n > 0 => Ok((Offered::Clients(n as u32), None)),
        (None, Some(per_s)) if per_s > 0.0 => {
            let assumed = Some("as perf_analyzer sends by default");
            Ok((Offered::at(per_s, Spacing::Even), assumed))
        }
        (None, Some(_)) => Err(sheet.bad(RATE, "a rate above 0")),
        (None, None) if sheet.at(CLIENTS).or(sheet.at(RATE)).is_none() => {
            Err(orrery_traces::columns::missing(&sheet.table, &FIELDS[CLIENTS]).into())
        }
        _ => Err(sheet.bad(CLIENTS, "1 or more clients")),
    }
}
