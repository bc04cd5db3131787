//! GenAI-Perf and AIPerf, `profile_export_*.json` and `*.csv`: the statistics of one run. The CSV has them as two
//! tables and says nothing of the load.

use crate::content::{Content, Kind, Measured, Offered, Point};
use crate::error::ImportError;
use crate::format::{Field, Format, Options, Reading};
use crate::load::Spacing;
use crate::settle::latency_ms;
use crate::{File, json};
use orrery_traces::Input;
use orrery_traces::columns::unit;
use orrery_traces::table::Table;
use serde::Deserialize;
use serde_json::{Map, Value};

const FIELDS: &[Field] = &[
    Field::new(&["request_latency"], "mean and quantiles of the latency").needed(),
    Field::new(&["request_throughput"], "the rate"),
    Field::new(&["request_count"], "the number of requests"),
    Field::new(&["error_request_count"], "the share of requests without an answer"),
    Field::new(&["concurrency"], "the number of clients; beside a rate, the most in flight"),
    Field::new(&["request_rate"], "the offered rate"),
    Field::new(&["arrival_pattern", "request_rate_mode"], "how requests at a rate are spaced"),
    Field::new(&["arrival_smoothness"], "the shape of gamma arrivals"),
];

pub const FORMAT: Format = Format {
    name: "genai-perf",
    title: "GenAI-Perf and AIPerf, `profile_export_genai_perf.json`, `profile_export_aiperf.json`, or their `.csv`",
    how: "JSON with `request_latency` and `request_throughput`, or a CSV of `Metric,avg,...` with `Request Latency`",
    becomes: &[Kind::Measured],
    fields: FIELDS,
    options: &["model"],
    direct: None,
    is: |head| {
        head.is_json_with(&["request_latency", "request_throughput"])
            || (is_table(&head.columns) && head.text.contains("Request Latency"))
    },
    read,
};

const WHAT: &str =
    "the statistics of a run: `request_latency` with `unit`, `avg`, `p50` and other quantiles";

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

/// Whether a table of statistics begins here.
fn is_table(columns: &[String]) -> bool {
    columns.len() > 1 && columns[0] == "Metric" && columns[1] == "avg"
}

fn read(file: &File<'_>, options: &Options) -> Result<Reading, ImportError> {
    let text = json::text(file)?;
    let mut all: Map<String, Value> = match text.trim_start().starts_with("Metric,") {
        true => tables(file, &text)?,
        false => json::whole(file, WHAT)?,
    };
    let (config, is_newer) =
        (all.remove("input_config").unwrap_or_default(), all.contains_key("records"));
    if let Some(Value::Object(records)) = all.remove("records") {
        all.extend(records);
    }
    let mut reading = Reading::default();
    let known = |key: &str| FIELDS.iter().find(|f| f.names.contains(&key));
    for key in all.keys() {
        match known(key) {
            Some(field) => reading.take(key, field.becomes),
            None => reading.ignore([key]),
        }
    }
    leaves(&config, &mut |key, _| match known(key) {
        Some(field) => reading.take(key, field.becomes),
        None => reading.ignore([key]),
    });
    let latency = stat(file, &all, "request_latency")?;
    let found = "no `request_latency`";
    let latency = latency
        .ok_or_else(|| ImportError::value(file.name(), found, WHAT, "write the file again"))?;
    let average =
        |key| Ok::<_, ImportError>(stat(file, &all, key)?.and_then(|s| s.avg).filter(|x| *x > 0.0));
    let (rate, answered) = (average("request_throughput")?, average("request_count")?);
    let failed = average("error_request_count")?.unwrap_or(0.0);
    let unit_ns = match unit(&latency.unit.to_lowercase()) {
        Some(ns) => ns,
        None if latency.unit.is_empty() => 1e6,
        None => {
            let place = format!("{}: key `request_latency.unit`", file.name());
            let found = format!("`{}`", latency.unit);
            return Err(ImportError::value(place, found, "ns, us, ms or s", "correct the unit"));
        }
    };
    let ms = |key: &str, x| latency_ms(file, &format!("request_latency.{key}"), x, unit_ns);
    let mut point = Point {
        model: options.model.clone(),
        rate_per_s: rate,
        mean_ms: ms("avg", latency.avg)?,
        p50_ms: ms("p50", latency.p50)?,
        p90_ms: ms("p90", latency.p90)?,
        p95_ms: ms("p95", latency.p95)?,
        p99_ms: ms("p99", latency.p99)?,
        drop_share: (failed > 0.0).then(|| failed / (failed + answered.unwrap_or(0.0))),
        requests: answered.map(|n| n as u64),
        ..Point::new(Offered::AtOnce(1))
    };
    (point.load, point.assumed) = load(file, &config, is_newer, &point)?;
    if all.get("was_cancelled") == Some(&Value::Bool(true)) {
        reading.note("the run was cancelled: its numbers are of a part of it");
    }
    reading.note("tokens are left out: a request is one unit of work here, as long as its own prompt and answer");
    reading.contents.push(Content::Measured(Measured { points: vec![point] }));
    Ok(reading)
}

fn stat(file: &File<'_>, all: &Map<String, Value>, key: &str) -> Result<Option<Stat>, ImportError> {
    let value = all.get(key).filter(|value| !value.is_null());
    let stat = value.map(|value| serde_json::from_value(value.clone())).transpose();
    stat.map_err(|e| {
        let place = format!("{}: key `{key}`", file.name());
        ImportError::value(place, e.to_string(), WHAT, "write the file again")
    })
}

/// The load of a run, and why it is assumed.
fn load(
    file: &File<'_>,
    config: &Value,
    is_newer: bool,
    point: &Point,
) -> Result<(Offered, Option<&'static str>), ImportError> {
    let (mut clients, mut rate, mut pattern, mut shape) = (None, None, None, None);
    leaves(config, &mut |key, value| match key {
        "concurrency" => clients = clients.or(value.as_f64()),
        "request_rate" => rate = rate.or(value.as_f64()),
        "arrival_pattern" | "request_rate_mode" => pattern = value.as_str().map(str::to_string),
        "arrival_smoothness" => shape = value.as_f64(),
        _ => {}
    });
    let clients = clients.filter(|n| *n >= 1.0).map(|n| n.min(1e6) as u32);
    let wrong = |found: String, allowed| {
        let remedy = "say how the requests arrived with `--arrivals`, or write a table by hand (docs/formats.md)";
        Err(ImportError::value(file.name(), found, allowed, remedy))
    };
    let Some(per_s) = rate.filter(|r| *r > 0.0 && *r <= 1e9) else {
        if let Some(n) = clients {
            return Ok((Offered::Clients(n), None));
        }
        // Each of n clients has one request in flight: by Little's law, rate x mean latency is n.
        let in_flight = point.rate_per_s.zip(point.mean_ms).map(|(rate, ms)| rate * ms / 1e3);
        return match in_flight {
            Some(n) if (n - n.round()).abs() <= 0.02 * n && n.round() >= 1.0 => {
                Ok((Offered::Clients(n.round() as u32), Some("as rate x mean latency says")))
            }
            _ => wrong("neither `concurrency` nor `request_rate`".into(), "the load of the run"),
        };
    };
    let (spacing, assumed) = match pattern.as_deref() {
        Some("constant") => (Some(Spacing::Even), None),
        Some("poisson") => (Some(Spacing::Poisson), None),
        Some("gamma") => (Spacing::gamma(shape.unwrap_or(1.0)), None),
        Some(other) => return wrong(format!("arrivals `{other}`"), "constant, poisson or gamma"),
        None if is_newer => (Some(Spacing::Poisson), Some("as AIPerf sends by default")),
        None => (Some(Spacing::Even), Some("as GenAI-Perf sends by default")),
    };
    match spacing {
        Some(spacing) => Ok((Offered::Rate { per_s, spacing, in_flight_max: clients }, assumed)),
        None => wrong(format!("`arrival_smoothness` {shape:?}"), "a shape from 0.001 to 1e6"),
    }
}

/// Each value that is no object, at any depth, with its key.
fn leaves(value: &Value, each: &mut dyn FnMut(&str, &Value)) {
    let Value::Object(map) = value else { return };
    for (key, value) in map {
        match value {
            Value::Object(_) => leaves(value, each),
            Value::Null => {}
            leaf => each(key, leaf),
        }
    }
}

/// The tables of a CSV as its JSON has them: `Request Latency (ms)` is `request_latency` with a unit.
fn tables(file: &File<'_>, text: &str) -> Result<Map<String, Value>, ImportError> {
    let mut all = Map::new();
    let starts = text.lines().enumerate().filter(|(_, line)| line.starts_with("Metric,"));
    let starts: Vec<usize> = starts.map(|(at, _)| at).collect();
    for (i, &from) in starts.iter().enumerate() {
        let to = starts.get(i + 1).copied().unwrap_or(usize::MAX);
        // Blank lines in place of the others, so that errors name the true line.
        let part: Vec<&str> = text
            .lines()
            .take(to)
            .enumerate()
            .map(|(at, l)| if at < from { "" } else { l })
            .collect();
        let mut table = Table::open(Input::from_bytes(file.name(), part.join("\n").into_bytes())?)?;
        while table.advance()? {
            let (name, unit) = table.text(0).split_once(" (").unwrap_or((table.text(0), ""));
            let (name, unit) = (
                name.trim().to_lowercase().replace(' ', "_"),
                unit.trim_end_matches(')').to_string(),
            );
            let mut stat = Map::from_iter([("unit".to_string(), Value::String(unit))]);
            for (at, column) in table.header().iter().enumerate().skip(1) {
                let key = if column == "Value" { "avg" } else { column };
                if let Ok(x) = table.text(at).trim().replace(',', "").parse::<f64>() {
                    stat.insert(key.to_string(), x.into());
                }
            }
            all.insert(name, Value::Object(stat));
        }
    }
    Ok(all)
}
