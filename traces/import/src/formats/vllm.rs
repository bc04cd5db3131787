//! vLLM's benchmarks: `vllm bench serve --save-result` and `vllm bench latency --output-json`.

use crate::content::{Content, Kind, Measured, Offered, Point, Profile};
use crate::error::ImportError;
use crate::format::{Field, Format, Options, Reading};
use crate::load::Spacing;
use crate::settle::latency_ms;
use crate::{File, json};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

const COMPLETED: usize = 10;
const DURATION: usize = 12;
const OF_SERVING: &[Field] = &[
    Field::new(&["request_throughput"], "the rate"),
    Field::new(&["request_rate"], "the offered rate; `inf` is none"),
    Field::new(&["burstiness"], "the shape of gamma arrivals; 1 is a Poisson process"),
    Field::new(&["max_concurrency"], "the number of clients; beside a rate, the most in flight"),
    Field::new(&["num_prompts"], "how many came at once, where nothing limits them"),
    Field::new(&["mean_e2el_ms", "mean_e2e_latency_ms"], "the mean latency"),
    Field::new(&["median_e2el_ms", "p50_e2el_ms", "median_e2e_latency_ms"], "the median"),
    Field::new(&["p90_e2el_ms", "p90_e2e_latency_ms"], "the 90 % quantile"),
    Field::new(&["p95_e2el_ms", "p95_e2e_latency_ms"], "the 95 % quantile"),
    Field::new(&["p99_e2el_ms", "p99_e2e_latency_ms"], "the 99 % quantile"),
    Field::new(
        &["completed"],
        "the answered requests; the share of `num_prompts` without an answer",
    ),
    Field::new(&["failed"], "the share of requests without an answer"),
    Field::new(&["duration"], "the rate, with `completed`, where there is no `request_throughput`"),
];

pub const SERVING: Format = Format {
    name: "vllm-serving",
    title: "vLLM, `vllm bench serve --save-result --percentile-metrics ttft,tpot,e2el`, also appended; SGLang, \
            `bench_serving`",
    how: "JSON, or a line each, with `request_throughput` and `num_prompts` or `completed`, or with `completed`, \
          `duration` and `request_rate`",
    becomes: &[Kind::Measured],
    fields: OF_SERVING,
    options: &["model"],
    direct: None,
    is: |head| {
        let has = |key| head.is_json_with(&["request_throughput", key]);
        has("num_prompts")
            || (has("completed") && !has("request_latency"))
            || head.is_json_with(&["completed", "duration", "request_rate"])
    },
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
    options: &["batch", "model"],
    direct: None,
    is: |head| head.is_json_with(&["avg_latency", "latencies"]),
    read: latency,
};

fn serving(file: &File<'_>, options: &Options) -> Result<Reading, ImportError> {
    let what = "results of `vllm bench serve --save-result` or SGLang's `bench_serving`";
    let all: Vec<Map<String, Value>> = json::all(file, what)?;
    let (mut reading, mut keys) = (Reading::default(), BTreeSet::new());
    let mut points = Vec::new();
    for run in &all {
        points.push(served(&Run { file, run, number: points.len() + 1 }, options)?);
        keys.extend(run.keys().map(String::as_str));
    }
    if points.iter().any(|p| p.mean_ms.is_none() && p.p50_ms.is_none()) {
        reading.note("no latency of whole requests: add `e2el` to `--percentile-metrics`");
    }
    // Of two names of one quantity the first is read.
    for field in OF_SERVING {
        if let Some(name) = field.names.iter().find(|name| keys.remove(**name)) {
            reading.take(*name, field.becomes);
        }
    }
    reading.ignore(keys);
    reading.contents.push(Content::Measured(Measured { points }));
    Ok(reading)
}

/// One run of a file.
struct Run<'a> {
    file: &'a File<'a>,
    run: &'a Map<String, Value>,
    number: usize,
}

impl Run<'_> {
    /// A number; `None` where it is missing, null or a word such as `inf`.
    fn number(&self, field: usize) -> Option<f64> {
        self.value(field).and_then(|(_, value)| value.as_f64())
    }

    fn value(&self, field: usize) -> Option<(&str, &Value)> {
        OF_SERVING[field].names.iter().find_map(|name| Some((*name, self.run.get(*name)?)))
    }

    fn latency(&self, field: usize) -> Result<Option<f64>, ImportError> {
        let key = self.value(field).map_or("", |(key, _)| key);
        latency_ms(self.file, key, self.number(field), 1e6)
    }

    fn wrong(&self, field: usize, allowed: &str) -> ImportError {
        let key = OF_SERVING[field].names[0];
        let place = format!("{}: result {} key `{key}`", self.file.name(), self.number);
        let found = self.run.get(key).map_or("nothing".to_string(), |value| format!("`{value}`"));
        ImportError::value(place, found, allowed, "correct it, or remove the result")
    }
}

fn served(run: &Run<'_>, options: &Options) -> Result<Point, ImportError> {
    let rate = match run.value(0) {
        // Older results of SGLang have it in two parts.
        None => run.number(COMPLETED).zip(run.number(DURATION)).map(|(n, seconds)| n / seconds),
        Some(_) => run.number(0),
    };
    let rate = rate.filter(|r| *r > 0.0 && *r <= 1e12);
    let rate = rate.ok_or_else(|| run.wrong(0, "a rate above 0, up to 1e12"))?;
    let whole = |field| match run.number(field) {
        Some(n) if n >= 0.0 && n.fract() == 0.0 && n <= f64::from(u32::MAX) => Ok(Some(n as u32)),
        None => Ok(None),
        Some(_) => Err(run.wrong(field, "a whole number")),
    };
    let (limit, asked, completed, failed) = (whole(3)?, whole(4)?, whole(COMPLETED)?, whole(11)?);
    let lost = match (asked, completed, failed) {
        (Some(asked), Some(done), _) if asked > 0 => {
            Some(1.0 - f64::from(done.min(asked)) / f64::from(asked))
        }
        (_, Some(done), Some(failed)) if failed > 0 => {
            Some(f64::from(failed) / (f64::from(failed) + f64::from(done)))
        }
        _ => None,
    };
    let mut assumed = None;
    let load =
        match (run.number(1).filter(|r| *r > 0.0), limit.filter(|n| *n > 0), asked.or(completed)) {
            (Some(per_s), _, _) if per_s > 1e9 => return Err(run.wrong(1, "a rate up to 1e9")),
            (Some(per_s), in_flight_max, _) => {
                let shape = run.number(2);
                assumed = shape.is_none().then_some("as vLLM and SGLang send by default");
                let spacing = Spacing::gamma(shape.unwrap_or(1.0));
                let spacing = spacing.ok_or_else(|| run.wrong(2, "a shape from 0.001 to 1e6"))?;
                Offered::Rate { per_s, spacing, in_flight_max }
            }
            (None, Some(clients), _) => Offered::Clients(clients),
            (None, None, Some(n)) if n > 0 => Offered::AtOnce(n),
            (None, None, _) => return Err(run.wrong(4, "how many requests came at once")),
        };
    Ok(Point {
        assumed,
        model: options.model.clone(),
        rate_per_s: Some(rate),
        mean_ms: run.latency(5)?,
        p50_ms: run.latency(6)?,
        p90_ms: run.latency(7)?,
        p95_ms: run.latency(8)?,
        p99_ms: run.latency(9)?,
        drop_share: lost,
        requests: completed.map(u64::from),
        ..Point::new(load)
    })
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
    let model = options.name();
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
