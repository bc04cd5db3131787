//! MLPerf Inference's LoadGen: `mlperf_log_summary.txt` and `mlperf_log_detail.txt`. What is predicted from
//! them is not verified by MLCommons Association.

use crate::content::{Content, Kind, Measured, Offered, Point};
use crate::error::ImportError;
use crate::format::{Field, Format, NS_MAX, Options, Reading};
use crate::load::Spacing;
use crate::{File, json};
use orrery_traces::TraceError;
use orrery_traces::error::shorten;
use serde::Deserialize;
use serde_json::Value;

const OF_SUMMARY: &[Field] = &[
    Field::new(&["Scenario"], "the load").needed(),
    Field::new(&["Scheduled samples per second"], "Server: the offered rate"),
    Field::new(&["Completed samples per second", "Samples per second"], "the rate"),
    Field::new(&["Mean latency (ns)"], "the mean latency"),
    Field::new(&["50.00 percentile latency (ns)"], "the median"),
    Field::new(&["90.00 percentile latency (ns)"], "the 90 % quantile"),
    Field::new(&["95.00 percentile latency (ns)"], "the 95 % quantile"),
    Field::new(
        &["99.00 percentile latency (ns)", "99th percentile latency (ns)"],
        "the 99 % quantile",
    ),
    Field::new(&["samples_per_query"], "Offline: the requests at once; MultiStream: the size"),
    Field::new(&["min_query_count"], "the fewest requests"),
];

const OF_DETAIL: &[Field] = &[
    Field::new(&["effective_scenario", "requested_scenario"], "the load").needed(),
    Field::new(&["result_scheduled_samples_per_sec"], "Server: the offered rate"),
    Field::new(&["result_completed_samples_per_sec", "result_samples_per_second"], "the rate"),
    Field::new(&["result_mean_latency_ns"], "the mean latency"),
    Field::new(&["result_50.00_percentile_latency_ns"], "the median"),
    Field::new(&["result_90.00_percentile_latency_ns"], "the 90 % quantile"),
    Field::new(&["result_95.00_percentile_latency_ns"], "the 95 % quantile"),
    Field::new(&["result_99.00_percentile_latency_ns"], "the 99 % quantile"),
    Field::new(
        &["generated_samples_per_query", "effective_samples_per_query"],
        "Offline: the requests at once; MultiStream: the size",
    ),
    Field::new(&["generated_query_count", "effective_min_query_count"], "the fewest requests"),
];

const MARK: &str = ":::MLLOG";

pub const SUMMARY: Format = Format {
    name: "mlperf-summary",
    title: "MLPerf LoadGen, `mlperf_log_summary.txt`",
    how: "`MLPerf Results Summary` at its beginning",
    becomes: &[Kind::Measured],
    fields: OF_SUMMARY,
    options: &["model"],
    direct: None,
    is: |head| head.text.contains("MLPerf Results Summary"),
    read: summary,
};

pub const DETAIL: Format = Format {
    name: "mlperf-detail",
    title: "MLPerf LoadGen, `mlperf_log_detail.txt`",
    how: "lines that begin with `:::MLLOG`",
    becomes: &[Kind::Measured],
    fields: OF_DETAIL,
    options: &["model"],
    direct: None,
    is: |head| head.text.lines().any(|line| line.starts_with(MARK)),
    read: detail,
};

/// A key and its value, with its line.
struct Entry {
    line: u64,
    key: String,
    value: String,
}

fn summary(file: &File<'_>, options: &Options) -> Result<Reading, ImportError> {
    let text = json::text(file)?;
    let entry = |(line, text): (usize, &str)| {
        let (key, value) = text.split_once(':')?;
        let (key, value) = (key.trim().to_string(), value.trim().to_string());
        (!key.is_empty()).then_some(Entry { line: line as u64 + 1, key, value })
    };
    let entries: Vec<Entry> = text.lines().enumerate().filter_map(entry).collect();
    of(file, options, &entries, OF_SUMMARY)
}

#[derive(Debug, Deserialize)]
struct Logged {
    key: String,
    #[serde(default)]
    value: Value,
}

fn detail(file: &File<'_>, options: &Options) -> Result<Reading, ImportError> {
    let text = json::text(file)?;
    let mut entries = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let Some(record) = text.strip_prefix(MARK) else { continue };
        let logged: Logged = serde_json::from_str(record.trim()).map_err(|e| TraceError::Row {
            file: file.name().into(),
            line,
            found: format!("`{}` ({e})", shorten(record)),
            allowed: "a JSON object with `key` and `value` after `:::MLLOG`".into(),
            remedy: "correct the line or remove it; the file may have been cut short",
        })?;
        let value = match logged.value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        entries.push(Entry { line, key: logged.key, value });
    }
    of(file, options, &entries, OF_DETAIL)
}

/// The measured run that these entries tell.
fn of(
    file: &File<'_>,
    options: &Options,
    entries: &[Entry],
    fields: &'static [Field],
) -> Result<Reading, ImportError> {
    let mut reading = Reading::default();
    let mut taken: Vec<&str> = Vec::new();
    // The last one counts: LoadGen writes a setting before a result of its name.
    let find = |field: &Field| {
        let mut all = entries.iter().rev();
        all.find(|e| field.names.contains(&e.key.as_str()))
    };
    let mut numbers = [None; 9];
    for (slot, field) in numbers.iter_mut().zip(&fields[1..]) {
        let Some(entry) = find(field) else { continue };
        let number = entry.value.parse::<f64>().ok().filter(|x| *x > 0.0 && *x <= NS_MAX);
        let allowed = format!("a number above 0, up to {NS_MAX:e}");
        *slot = Some(number.ok_or_else(|| bad(file, entry, &allowed))?);
        reading.take(&entry.key, field.becomes);
        taken.push(&entry.key);
    }
    let [scheduled, completed, mean, p50, p90, p95, p99, samples, queries] = numbers;
    let scenario = find(&fields[0]).ok_or_else(|| TraceError::MissingColumn {
        file: file.name().into(),
        line: 1,
        column: fields[0].names[0].into(),
        found: format!("{} other keys", entries.len()),
    })?;
    reading.take(&scenario.key, fields[0].becomes);
    taken.push(&scenario.key);
    let (load, size) = load(file, scenario, scheduled, samples)?;
    validity(file, entries, &mut reading)?;
    reading.note("results of MLPerf, and what is predicted from them, are not verified by MLCommons Association here");
    let mut ignored: Vec<&str> = entries.iter().map(|e| e.key.as_str()).collect();
    ignored.sort_unstable();
    ignored.dedup();
    reading.ignore(ignored.into_iter().filter(|key| !taken.contains(key)));
    let ms = |ns: Option<f64>| ns.map(|ns| ns / 1e6);
    let point = Point {
        model: options.model.clone(),
        size,
        // Few are no requirement but LoadGen's default.
        requests: queries.filter(|n| *n > 1.0).map(|n| n as u64),
        rate_per_s: completed.map(|samples| samples / f64::from(size)),
        mean_ms: ms(mean),
        p50_ms: ms(p50),
        p90_ms: ms(p90),
        p95_ms: ms(p95),
        p99_ms: ms(p99),
        ..Point::new(load)
    };
    reading.contents.push(Content::Measured(Measured { points: vec![point] }));
    Ok(reading)
}

/// The load of a scenario, and the items of a request.
fn load(
    file: &File<'_>,
    scenario: &Entry,
    scheduled: Option<f64>,
    samples: Option<f64>,
) -> Result<(Offered, u32), ImportError> {
    let beside = |what: Option<f64>, words| what.ok_or_else(|| bad(file, scenario, words));
    let samples = samples.filter(|n| n.fract() == 0.0 && *n <= f64::from(u32::MAX));
    let samples = || Ok::<_, ImportError>(beside(samples, "`samples_per_query` beside it")? as u32);
    match scenario.value.replace([' ', '-'], "").to_lowercase().as_str() {
        "server" => {
            let per_s = beside(scheduled, "a scheduled rate beside it")?;
            Ok((Offered::at(per_s, Spacing::Poisson), 1))
        }
        "singlestream" => Ok((Offered::Clients(1), 1)),
        "multistream" => Ok((Offered::Clients(1), samples()?)),
        "offline" => Ok((Offered::AtOnce(samples()?), 1)),
        _ => Err(bad(file, scenario, "Server, SingleStream, MultiStream or Offline")),
    }
}

/// Says that a result is not valid; refuses a run of accuracy.
fn validity(file: &File<'_>, entries: &[Entry], reading: &mut Reading) -> Result<(), ImportError> {
    let is = |e: &&Entry, keys: [&str; 2]| keys.contains(&e.key.as_str());
    let mode = entries.iter().find(|e| is(e, ["Mode", "effective_test_mode"]));
    if let Some(entry) = mode.filter(|e| e.value.contains("Accuracy")) {
        return Err(bad(file, entry, "PerformanceOnly: a run of accuracy holds no load"));
    }
    let mut validity = entries.iter().filter(|e| is(e, ["Result is", "result_validity"]));
    if validity.any(|e| e.value != "VALID") {
        reading.note("LoadGen says that this result is not valid");
    }
    Ok(())
}

fn bad(file: &File<'_>, entry: &Entry, allowed: &str) -> ImportError {
    TraceError::Field {
        file: file.name().into(),
        line: entry.line,
        column: entry.key.clone(),
        found: shorten(&entry.value),
        allowed: allowed.into(),
        remedy: "correct the line, run LoadGen again, or write a table by hand (docs/formats.md)",
    }
    .into()
}
