//! A measured table as `orrery import` writes it, or by hand: a row for each load.

use crate::File;
use crate::content::{Content, Kind, Measured, Offered, Point};
use crate::error::ImportError;
use crate::format::{Field, Format, Options, Reading, Sheet};

/// A unit that the name must say.
const SAID: f64 = 0.0;
const CLIENTS: usize = 0;
const OFFERED: usize = 1;
const ARRIVALS: usize = 2;
const FIELDS: &[Field] = &[
    Field::new(&["clients", "concurrency"], "the number of clients"),
    Field::new(&["offered_per_s", "offered rate"], "the offered rate, where there are no clients"),
    Field::new(&["arrivals"], "`even`, or `poisson` where it is missing"),
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
        &["batch", "mean batch", "batch size", "mean batch size"],
        "the mean size of a batch",
    ),
    Field::new(&["drop_share"], "the share of requests without an answer"),
];

pub const FORMAT: Format = Format {
    name: "measured-table",
    title: "a measured table of your own, or one that `orrery import` wrote",
    how: "a column `clients` or `offered_per_s`, and one of a latency or a rate",
    becomes: &[Kind::Measured],
    fields: FIELDS,
    direct: None,
    is: |head| {
        let any = |fields: &[Field]| fields.iter().any(|f| head.has(std::slice::from_ref(f)));
        any(&FIELDS[CLIENTS..=OFFERED]) && any(&FIELDS[5..11])
    },
    read,
};

fn read(file: &File<'_>, _: &Options) -> Result<Reading, ImportError> {
    let mut reading = Reading::default();
    let mut sheet = Sheet::open(file, FIELDS, &mut reading)?;
    let mut points = Vec::new();
    while sheet.next()? {
        let share = sheet.number(12, 1.0)?;
        points.push(Point {
            model: Some(sheet.text(3).to_string()).filter(|m| !m.is_empty()),
            size: sheet.size(4)?.unwrap_or(1),
            rate_per_s: sheet.number(5, 1e12)?,
            mean_ms: sheet.ms(6)?,
            p50_ms: sheet.ms(7)?,
            p90_ms: sheet.ms(8)?,
            p95_ms: sheet.ms(9)?,
            p99_ms: sheet.ms(10)?,
            batch: sheet.number(11, 1e6)?,
            drop_share: share,
            ..Point::new(load(&sheet)?)
        });
    }
    if points.is_empty() {
        return Err(sheet.table.ended("a row for a load", "measure again").into());
    }
    reading.contents.push(Content::Measured(Measured { points }));
    Ok(reading)
}

fn load(sheet: &Sheet) -> Result<Offered, ImportError> {
    match (sheet.whole(CLIENTS, 1_000_000)?, sheet.number(OFFERED, 1e9)?) {
        (Some(clients), _) if clients > 0 => Ok(Offered::Clients(clients as u32)),
        (None, Some(per_s)) if per_s > 0.0 => {
            match sheet.text(ARRIVALS) {
                "" | "poisson" => Ok(Offered::Rate { per_s, even: false }),
                "even" => Ok(Offered::Rate { per_s, even: true }),
                _ => Err(sheet
                    .bad(ARRIVALS, "`poisson` or `even`; recorded arrivals are in their own file")),
            }
        }
        (Some(_), _) => Err(sheet.bad(CLIENTS, "1 or more clients")),
        (None, Some(_)) => Err(sheet.bad(OFFERED, "a rate above 0")),
        (None, None) => {
            let field = if sheet.at(CLIENTS).is_some() { CLIENTS } else { OFFERED };
            Err(sheet.bad(field, "the number of clients, or the offered rate"))
        }
    }
}
