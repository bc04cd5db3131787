//! vLLM's benchmarks: `vllm bench serve --save-result` and `vllm bench latency --output-json`.

use crate::content::{Content, Kind, Measured, Offered, Point, Profile};
use crate::error::ImportError;
use crate::format::{Field, Format, Options, Reading};
use crate::{File, json};
use serde::Deserialize;
use serde_json::{Map, Value};

const OF_SERVING: &[Field] = &[
    Field::new(&["request_throughput"], "the rate").needed(),
    Field::new(&["request_rate"], "the offered rate, at random; `inf` is none"),
    Field::new(&["max_concurrency"], "the number of clients, where the rate is `inf`"),
    Field::new(&["num_prompts"], "the number of clients, where nothing limits them"),
    Field::new(&["mean_e2el_ms"], "the mean latency"),
    Field::new(&["median_e2el_ms", "p50_e2el_ms"], "the median"),
    Field::new(&["p90_e2el_ms"], "the 90 % quantile"),
    Field::new(&["p95_e2el_ms"], "the 95 % quantile"),
    Field::new(&["p99_e2el_ms"], "the 99 % quantile"),
];

pub const SERVING: Format = Format {
    name: "vllm-serving",
    title: "vLLM, `vllm bench serve --save-result --percentile-metrics ttft,tpot,e2el`",
    how: "JSON with `request_throughput` and `num_prompts`",
    becomes: &[Kind::Measured],
    fields: OF_SERVING,
    direct: None,
    is: |head| head.is_json_with(&["request_throughput", "num_prompts"]),
    read: serving,
};

const OF_LATENCY: &[Field] =
    &[Field::new(&["latencies"], "the latency of a batch, in seconds").needed()];

pub const LATENCY: Format = Format {
    name: "vllm-latency",
    title: "vLLM, `vllm bench latency --output-json FILE`",
    how: "JSON with `avg_latency` and `latencies`",
    becomes: &[Kind::Profile],
    fields: OF_LATENCY,
    direct: None,
    is: |head| head.is_json_with(&["avg_latency", "latencies"]),
    read: latency,
};

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Rate {
    Number(f64),
    Word(#[allow(dead_code)] String),
}

#[derive(Debug, Deserialize)]
struct Served {
    request_throughput: f64,
    request_rate: Option<Rate>,
    max_concurrency: Option<u32>,
    num_prompts: u32,
    mean_e2el_ms: Option<f64>,
    #[serde(alias = "p50_e2el_ms")]
    median_e2el_ms: Option<f64>,
    p90_e2el_ms: Option<f64>,
    p95_e2el_ms: Option<f64>,
    p99_e2el_ms: Option<f64>,
    completed: Option<u32>,
}

fn serving(file: &File<'_>, options: &Options) -> Result<Reading, ImportError> {
    let what = "a result of `vllm bench serve --save-result`";
    let all: Map<String, Value> = json::whole(file, what)?;
    let served: Served = json::whole(file, what)?;
    let mut reading = Reading::default();
    let load = match (served.request_rate, served.max_concurrency) {
        (Some(Rate::Number(per_s)), cap) if per_s > 0.0 && per_s.is_finite() => {
            if let Some(cap) = cap {
                reading.note(format!("the limit of {cap} requests in flight is left out"));
            }
            Offered::Rate { per_s, even: false }
        }
        (_, Some(clients)) => Offered::Clients(clients.max(1)),
        _ => Offered::Clients(served.num_prompts.max(1)),
    };
    let good = |x: Option<f64>| x.filter(|x| x.is_finite() && *x >= 0.0);
    let point = Point {
        model: options.model.clone(),
        rate_per_s: good(Some(served.request_throughput)),
        mean_ms: good(served.mean_e2el_ms),
        p50_ms: good(served.median_e2el_ms),
        p90_ms: good(served.p90_e2el_ms),
        p95_ms: good(served.p95_e2el_ms),
        p99_ms: good(served.p99_e2el_ms),
        drop_share: served.completed.filter(|_| served.num_prompts > 0).map(|done| {
            1.0 - f64::from(done.min(served.num_prompts)) / f64::from(served.num_prompts)
        }),
        ..Point::new(load)
    };
    if point.mean_ms.is_none() && point.p50_ms.is_none() {
        reading.note("no latency of whole requests: add `e2el` to `--percentile-metrics`");
    }
    for field in OF_SERVING {
        if let Some(name) = field.names.iter().find(|name| all.contains_key(**name)) {
            reading.take(*name, field.becomes);
        }
    }
    if served.completed.is_some() {
        reading.take("completed", "the share of requests without an answer");
    }
    let taken: Vec<String> = reading.taken.iter().map(|t| t.from.clone()).collect();
    reading.ignore(all.keys().filter(|key| !taken.contains(key)).cloned());
    reading.contents.push(Content::Measured(Measured { points: vec![point] }));
    Ok(reading)
}

#[derive(Debug, Deserialize)]
struct Latencies {
    latencies: Vec<f64>,
}

fn latency(file: &File<'_>, options: &Options) -> Result<Reading, ImportError> {
    let what = "a result of `vllm bench latency --output-json`";
    let all: Map<String, Value> = json::whole(file, what)?;
    let read: Latencies = json::whole(file, what)?;
    let size = options.needs_batch(file)?;
    let model = options.model.clone().unwrap_or_else(|| "model".to_string());
    let mut rows = Vec::new();
    for (i, s) in read.latencies.iter().enumerate() {
        if !(*s > 0.0 && *s <= 1e6) {
            let place = format!("{}: key `latencies[{i}]`", file.name());
            let allowed = "a time above 0 s";
            return Err(ImportError::value(place, format!("`{s}`"), allowed, "remove it"));
        }
        rows.push((model.clone(), size, s * 1e3));
    }
    if rows.is_empty() {
        let place = format!("{}: key `latencies`", file.name());
        return Err(ImportError::value(place, "no latency", "at least one", "measure again"));
    }
    let mut reading = Reading::default();
    reading.take("latencies", OF_LATENCY[0].becomes);
    reading.ignore(all.keys().filter(|key| *key != "latencies").cloned());
    reading.contents.push(Content::Profile(Profile { rows }));
    Ok(reading)
}
