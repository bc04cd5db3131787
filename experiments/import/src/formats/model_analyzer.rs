//! Triton's Model Analyzer, `metrics-model-inference.csv`: a row for each configuration and load.

use crate::File;
use crate::content::{Content, Kind, Measured, Offered, Point, Profile};
use crate::error::ImportError;
use crate::format::{Field, Format, Options, Reading, Sheet};

const MS: f64 = 1e6;
const FIELDS: &[Field] = &[
    Field::new(&["Model"], "the model").needed(),
    Field::new(&["Batch"], "the size of a request").needed(),
    Field::new(&["Concurrency"], "the number of clients").needed(),
    Field::new(&["Throughput (infer/sec)", "Throughput"], "the rate, and with it the profile")
        .needed(),
    Field::new(&["Instance Group"], "profile: the number of instances"),
    Field::new(&["Model Config Path"], "the name of a configuration, where there are several"),
    Field::time(&["Avg Latency"], MS, "the mean latency"),
    Field::time(&["p90 Latency"], MS, "the 90 % quantile"),
    Field::time(&["p95 Latency"], MS, "the 95 % quantile"),
    Field::time(&["p99 Latency"], MS, "the 99 % quantile"),
];

pub const FORMAT: Format = Format {
    name: "model-analyzer",
    title: "Triton Model Analyzer, `metrics-model-inference.csv`",
    how: "columns `Model`, `Batch`, `Concurrency` and `Throughput (infer/sec)`",
    becomes: &[Kind::Profile, Kind::Measured],
    fields: FIELDS,
    direct: Some("profile"),
    is: |head| head.has(&FIELDS[..4]),
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
    let (mut rows, mut points) = (Vec::new(), Vec::new());
    while sheet.next()? {
        let size = sheet.size(1)?.ok_or_else(|| sheet.bad(1, "a size of 1 or more"))?;
        let clients = sheet.whole(2, 1_000_000)?.filter(|n| *n > 0);
        let clients = clients.ok_or_else(|| sheet.bad(2, "1 or more clients"))? as u32;
        let rate = sheet.number(3, 1e12)?.filter(|r| *r > 0.0);
        let rate = rate.ok_or_else(|| sheet.bad(3, "a number above 0"))?;
        let instances = sheet.text(4).chars().take_while(char::is_ascii_digit).collect::<String>();
        let instances = instances.parse().unwrap_or(1u32).max(1);
        let ms = f64::from(size) * f64::from(clients.min(instances)) * 1e3 / rate;
        let (model, config) = (sheet.text(0).to_string(), sheet.text(5).to_string());
        points.push(Point {
            model: Some(model.clone()),
            size,
            rate_per_s: Some(rate / f64::from(size)),
            mean_ms: sheet.ms(6)?,
            p90_ms: sheet.ms(7)?,
            p95_ms: sheet.ms(8)?,
            p99_ms: sheet.ms(9)?,
            ..Point::new(Offered::Clients(clients))
        });
        rows.push(Row { model, config, size, clients, ms });
    }
    if rows.is_empty() {
        return Err(sheet.table.ended("a row for a load", "profile again").into());
    }
    reading.note(
        "profile: batch size x instances at work / throughput, of the row with most clients for each configuration and \
         size; it has the server's own time in it",
    );
    reading.contents.push(Content::Profile(profile(&rows)));
    reading.contents.push(Content::Measured(Measured { points }));
    Ok(reading)
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
