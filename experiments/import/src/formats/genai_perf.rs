//! GenAI-Perf and AIPerf, `profile_export_*.json`: the statistics of one run.

use crate::content::{Content, Kind, Measured, Offered, Point};
use crate::error::ImportError;
use crate::format::{Field, Format, Options, Reading};
use crate::{File, json};
use orrery_traces::columns::unit;
use serde::Deserialize;
use serde_json::{Map, Value};

const FIELDS: &[Field] = &[
    Field::new(&["request_latency"], "mean and quantiles of the latency").needed(),
    Field::new(&["request_throughput"], "the rate"),
    Field::new(&["concurrency"], "the number of clients (in `input_config`)"),
    Field::new(&["request_rate"], "the offered rate, at random (in `input_config`)"),
];

pub const FORMAT: Format = Format {
    name: "genai-perf",
    title: "GenAI-Perf and AIPerf, `profile_export_genai_perf.json`, `profile_export_aiperf.json`",
    how: "JSON with `request_latency` and `request_throughput`",
    becomes: &[Kind::Measured],
    fields: FIELDS,
    direct: None,
    is: |head| head.is_json_with(&["request_latency", "request_throughput"]),
    read,
};

#[derive(Debug, Deserialize)]
struct Metrics {
    request_latency: Stat,
    request_throughput: Option<Stat>,
}

#[derive(Debug, Deserialize)]
struct Older {
    records: Metrics,
}

#[derive(Debug, Deserialize)]
struct Stat {
    #[serde(default)]
    unit: String,
    avg: Option<f64>,
    p50: Option<f64>,
    p90: Option<f64>,
    p95: Option<f64>,
    p99: Option<f64>,
}

fn read(file: &File<'_>, options: &Options) -> Result<Reading, ImportError> {
    let what =
        "the statistics of a run: `request_latency` with `unit`, `avg`, `p50` and other quantiles";
    let all: Map<String, Value> = json::whole(file, what)?;
    let metrics = match all.contains_key("records") {
        true => json::whole::<Older>(file, what)?.records,
        false => json::whole::<Metrics>(file, what)?,
    };
    let config = all.get("input_config").cloned().unwrap_or_default();
    let clients = number(&config, "concurrency").filter(|n| *n >= 1.0);
    let rate = number(&config, "request_rate").filter(|r| *r > 0.0);
    let load = match (clients, rate) {
        (_, Some(per_s)) => Offered::Rate { per_s, even: false },
        (Some(n), None) => Offered::Clients(n.min(1e6) as u32),
        (None, None) => {
            let found = "neither `concurrency` nor `request_rate` in `input_config`";
            let remedy =
                "write a table by hand, with `clients` or `offered_per_s` (docs/formats.md)";
            return Err(ImportError::value(file.name(), found, "the load of the run", remedy));
        }
    };
    let stat = &metrics.request_latency;
    let unit_ns = match unit(&stat.unit.to_lowercase()) {
        Some(ns) => ns,
        None if stat.unit.is_empty() => 1e6,
        None => {
            let place = format!("{}: key `request_latency.unit`", file.name());
            let found = format!("`{}`", stat.unit);
            return Err(ImportError::value(place, found, "ns, us, ms or s", "correct the unit"));
        }
    };
    let ms = |x: Option<f64>| x.filter(|x| x.is_finite() && *x >= 0.0).map(|x| x * unit_ns / 1e6);
    let mut reading = Reading::default();
    for field in FIELDS {
        let name = field.names[0];
        let in_config = number(&config, name).is_some();
        if in_config || all.contains_key(name) || all.contains_key("records") {
            reading.take(name, field.becomes);
        }
    }
    let known = |key: &String| FIELDS.iter().any(|f| f.names[0] == key) || key == "input_config";
    reading.ignore(all.keys().filter(|key| !known(key)).cloned());
    reading.note("tokens are left out: a request is one unit of work here, as long as its own prompt and answer");
    let point = Point {
        model: options.model.clone(),
        rate_per_s: metrics.request_throughput.and_then(|t| t.avg).filter(|r| *r > 0.0),
        mean_ms: ms(stat.avg),
        p50_ms: ms(stat.p50),
        p90_ms: ms(stat.p90),
        p95_ms: ms(stat.p95),
        p99_ms: ms(stat.p99),
        ..Point::new(load)
    };
    reading.contents.push(Content::Measured(Measured { points: vec![point] }));
    Ok(reading)
}

/// The first number of that key, at any depth.
fn number(value: &Value, key: &str) -> Option<f64> {
    let Value::Object(map) = value else { return None };
    let own = map.get(key).and_then(Value::as_f64);
    own.or_else(|| map.values().find_map(|inner| number(inner, key)))
}
