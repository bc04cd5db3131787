//! TensorRT's `trtexec --exportTimes=FILE`: a record for each batch. Times are milliseconds.

use crate::content::{Content, Kind, Profile};
use crate::error::ImportError;
use crate::format::{Field, Format, Options, Reading};
use crate::{File, json};
use serde::Deserialize;

/// More samples of one size say no more: they are thinned evenly.
const SAMPLES_MAX: usize = 2_000;
const FIELDS: &[Field] = &[
    Field::new(&["computeMs"], "the latency of a batch: the GPU's own time"),
    Field::new(&["latencyMs"], "the latency of a batch, where there is no `computeMs`"),
];

pub const FORMAT: Format = Format {
    name: "trtexec",
    title: "TensorRT `trtexec --exportTimes=FILE`",
    how: "a JSON list of records with `latencyMs`",
    becomes: &[Kind::Profile],
    fields: FIELDS,
    options: &["batch", "model"],
    direct: None,
    is: |head| head.text.trim_start().starts_with('[') && head.is_json_with(&["latencyMs"]),
    read,
};

#[derive(Debug, Deserialize)]
struct Record {
    #[serde(rename = "computeMs")]
    compute_ms: Option<f64>,
    #[serde(rename = "latencyMs")]
    latency_ms: f64,
    #[serde(flatten)]
    others: std::collections::BTreeMap<String, serde::de::IgnoredAny>,
}

fn read(file: &File<'_>, options: &Options) -> Result<Reading, ImportError> {
    let what = "a list of records with `latencyMs`, as `trtexec --exportTimes` writes it";
    let records: Vec<Record> = json::whole(file, what)?;
    let size = options.needs_batch(file)?;
    let mut reading = Reading::default();
    let computes = records.iter().all(|r| r.compute_ms.is_some());
    let (name, other) = if computes { ("computeMs", 0) } else { ("latencyMs", 1) };
    reading.take(name, FIELDS[other].becomes);
    let unused = records.iter().flat_map(|r| r.others.keys().cloned());
    reading.ignore(unused.collect::<std::collections::BTreeSet<_>>());
    if computes {
        reading.ignore(["latencyMs"]);
    }
    if !computes {
        reading.note("`latencyMs` has the copies to and from the GPU in it");
    }
    let ms = |r: &Record| if computes { r.compute_ms } else { Some(r.latency_ms) };
    let mut samples = Vec::new();
    for (i, ms) in records.iter().filter_map(ms).enumerate() {
        if !(ms > 0.0 && ms <= 1e9) {
            let place = format!("{}: record {} key `{name}`", file.name(), i + 1);
            let allowed = "a time above 0 ms";
            return Err(ImportError::value(place, format!("`{ms}`"), allowed, "remove the record"));
        }
        samples.push(ms);
    }
    let model = options.name();
    let step = samples.len().div_ceil(SAMPLES_MAX).max(1);
    if step > 1 {
        reading.note(format!("every {step}th of {} records", samples.len()));
    }
    let rows = samples.into_iter().step_by(step).map(|ms| (model.clone(), size, ms)).collect();
    let profile = Profile { rows };
    if profile.rows.is_empty() {
        let remedy = "measure again: `trtexec --exportTimes=FILE`";
        return Err(ImportError::value(file.name(), "no record", "at least one", remedy));
    }
    reading.contents.push(Content::Profile(profile));
    Ok(reading)
}
