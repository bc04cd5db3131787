//! Triton's Model Analyzer, `metrics-model-inference.csv`: a row for each configuration and load.

use super::perf_analyzer::offered;
use crate::File;
use crate::content::{Content, Kind, Measured, Offered, Point, Profile};
use crate::error::ImportError;
use crate::format::{Field, Format, Options, Reading, Sheet};

const MS: f64 = 1e6;
const FIELDS: &[Field] = &[
    Field::new(&["Model"], "the model").needed(),
    Field::new(&["Batch"], "the size of a request").needed(),
    Field::new(&["Throughput (infer/sec)", "Throughput"], "the rate, and with it the profile")
        .needed(),
    Field::new(&["Concurrency"], "the number of clients"),
    Field::new(&["Request Rate"], "the offered rate"),
    Field::new(&["Instance Group"], "profile: the number of instances"),
    Field::new(&["Model Config Path"], "the name, where there are several"),
    Field::new(&["Max Batch Size"], "profile: whether it is of full batches"),
    Field::time(&["Avg Latency"], MS, "the mean latency"),
    Field::time(&["p90 Latency"], MS, "the 90 % quantile"),
    Field::time(&["p95 Latency"], MS, "the 95 % quantile"),
    Field::time(&["p99 Latency"], MS, "the 99 % quantile"),
];

pub const FORMAT: Format = Format {
    name: "model-analyzer",
    title: "Triton Model Analyzer, `metrics-model-inference.csv`",
    how: "columns `Model`, `Batch`, `Throughput (infer/sec)`, and `Concurrency` or `Request Rate`",
    becomes: &[Kind::Profile, Kind::Measured],
    fields: FIELDS,
    options: &[],
    direct: Some("profile"),
    is: |head| head.has(&FIELDS[..3]) && (head.has(&FIELDS[3..4]) || head.has(&FIELDS[4..5])),
    read,
};

/// A row, as far as a profile needs it.
struct Row {
    model: String,
    config: String,
    size: u32,
    clients: u32,
    ms: f64,
}

fn read(file: &File<'_>, _: &Options) -> Result<Reading, ImportError> {
    let mut reading = Reading::default();
    let mut sheet = Sheet::open(file, FIELDS, &mut reading)?;
    let (mut rows, mut points, mut crowded, mut of_several) = (Vec::new(), Vec::new(), 0, 0);
    while sheet.next()? {
        if sheet.text(0).contains(',') {
            of_several += 1;
            continue;
        }
        let size = sheet.size(1)?.ok_or_else(|| sheet.bad(1, "a size of 1 or more"))?;
        let rate = sheet.number(2, 1e12)?.filter(|r| *r > 0.0);
        let rate = rate.ok_or_else(|| sheet.bad(2, "a number above 0"))?;
        let (load, assumed) = offered(&sheet, 3, 4)?;
        let (model, config) = (sheet.text(0).to_string(), sheet.text(6).to_string());
        match profiled(&sheet, &load, size)? {
            Some((clients, busy)) => {
                let ms = f64::from(size) * f64::from(busy) * 1e3 / rate;
                rows.push(Row { model: model.clone(), config, size, clients, ms });
            }
            None => crowded += 1,
        }
        points.push(Point {
            assumed,
            model: Some(model),
            size,
            rate_per_s: Some(rate / f64::from(size)),
            mean_ms: sheet.latency(8)?,
            p90_ms: sheet.latency(9)?,
            p95_ms: sheet.latency(10)?,
            p99_ms: sheet.latency(11)?,
            ..Point::new(load)
        });
    }
    if points.is_empty() {
        return Err(sheet.table.ended("a row for a load of one model", "profile again").into());
    }
    if of_several > 0 {
        reading.note(format!("{of_several} rows are of several models at once and left out"));
    }
    if crowded > 0 {
        reading
            .note(format!("no profile of {crowded} rows, whose batches may hold several requests"));
    }
    if rows.is_empty() {
        FIELDS[5..8].iter().for_each(|field| reading.unused(field.becomes));
    } else {
        reading.note(
            "profile: batch size x instances at work / throughput, of the row with most clients for each configuration \
             and size; it has the server's own time in it",
        );
        reading.contents.push(Content::Profile(profile(&rows)));
    }
    reading.contents.push(Content::Measured(Measured { points }));
    Ok(reading)
}

/// The clients and the instances at work, where each batch is one request: a client for each instance and one that
/// waits, or batches that hold no more.
fn profiled(sheet: &Sheet, load: &Offered, size: u32) -> Result<Option<(u32, u32)>, ImportError> {
    let Offered::Clients(clients) = *load else { return Ok(None) };
    let instances = sheet.text(5).chars().take_while(char::is_ascii_digit).collect::<String>();
    let instances = instances.parse().unwrap_or(1u32).max(1);
    let is_full = sheet.whole(7, 1 << 32)?.is_some_and(|most| most <= u64::from(size));
    let is_alone = clients <= instances.saturating_mul(2) || is_full;
    Ok(is_alone.then_some((clients, clients.min(instances))))
}

/// The rows with most clients; the configuration is a part of the name where a model has several.
fn profile(rows: &[Row]) -> Profile {
    let several = |model: &str| {
        let mut configs = rows.iter().filter(|r| r.model == model).map(|r| &r.config);
        let first = configs.next();
        configs.any(|config| Some(config) != first)
    };
    let mut best = std::collections::BTreeMap::<(String, u32), &Row>::new();
    for row in rows {
        let config = row.config.rsplit('/').next().unwrap_or_default();
        let name = match several(&row.model) {
            true => config.to_string(),
            false => row.model.clone(),
        };
        let kept = best.entry((name, row.size)).or_insert(row);
        if row.clients > kept.clients {
            *kept = row;
        }
    }
    let rows = best.into_iter().map(|((name, size), row)| (name, size, row.ms)).collect();
    Profile { rows }
}
