//! All times of a world doubled: everything happens at twice the time.

use super::run::Ran;
use orrery_results::PolicyText;
use orrery_run::PolicySpec;
use orrery_scenario::scenario::file::ScenarioFile;
use orrery_sim::log::Record;
use toml::Value;

/// Twice the time. It is exact in floating point.
const K: f64 = 2.0;
/// Draws are rounded to nanoseconds, once at one scale and once at the other.
const SLACK_NS: u64 = 2_000;

/// The world with all times doubled; `None` where some of them are in files.
pub fn doubled(file: &ScenarioFile) -> Option<ScenarioFile> {
    let text = toml::to_string(file).ok()?;
    // In other files, or in the program; and gaps of a nanosecond or less, which are rounded.
    let elsewhere = ["file = ", "samples = ", "[[zoo]]", "[arrivals.gamma]"];
    if elsewhere.iter().any(|word| text.contains(word)) {
        return None;
    }
    let mut value = Value::try_from(file).ok()?;
    scale("", &mut value);
    let mut file: ScenarioFile = value.try_into().ok()?;
    for policy in &mut file.policies {
        *policy = slower(policy)?;
    }
    Some(file)
}

fn scale(key: &str, value: &mut Value) {
    let ends = |ending: &str| key == ending || key.ends_with(&format!("_{ending}"));
    match value {
        Value::Table(table) => table.iter_mut().for_each(|(key, value)| scale(key, value)),
        // Rows of a size, or of a weight, and times.
        Value::Array(rows) if ["table", "measured", "rows", "modes"].contains(&key) => {
            let of = rows.iter_mut().filter_map(Value::as_array_mut);
            of.flat_map(|row| row.iter_mut().skip(1)).for_each(|value| scale("ms", value));
        }
        Value::Array(list) => list.iter_mut().for_each(|value| scale(key, value)),
        Value::Float(x) if ends("per_s") || ends("per_ms") => *x /= K,
        Value::Float(x) if ends("ms") || ends("s") || ends("us") => *x *= K,
        _ => {}
    }
}

/// A policy with its times doubled.
fn slower(text: &str) -> Option<String> {
    let spec = PolicySpec::parse(text).ok()?;
    let table = orrery_run::policies::all().find(|t| t.about.name == spec.system())?;
    let name = spec.name();
    // As released Kairos rounds its means to whole milliseconds, and INFER4 decides on loads every 100 us.
    if name == "kairos" || text.contains("infer4") {
        return None;
    }
    let PolicyText { system, parameters } = PolicyText::new(&name);
    if parameters.is_empty() {
        return Some(name);
    }
    let scaled = parameters.into_iter().map(|pair| {
        let (key, value) = pair.split_once('=')?;
        let row = table.rows.iter().find(|row| row.name == key)?;
        let factor = match row.unit {
            "" if key.ends_with("_per_ms") => 1.0 / K,
            "" => return Some(pair.to_string()),
            _ => K,
        };
        Some(format!("{key}={}", value.parse::<f64>().ok()? * factor))
    });
    Some(format!("{system}[{}]", scaled.collect::<Option<Vec<_>>>()?.join(",")))
}

/// What happened, and to whom.
fn gist(record: &Record) -> String {
    match record {
        Record::Arrive { request, .. } => format!("arrive {} {}", request.id, request.app),
        Record::Issue { batch, .. } => {
            format!("issue {} {} {:?}", batch.action, batch.device, batch.requests)
        }
        Record::Load { load, .. } => format!("load {} {} {}", load.action, load.device, load.model),
        Record::Begin { action, .. } => format!("begin {action}"),
        Record::Close { action, outcome, .. } => format!("close {action} {}", outcome.word()),
        Record::Unload { device, model, .. } => format!("unload {device} {model}"),
        Record::End { request, end, .. } => format!("end {request} {}", end.word()),
        Record::Device { device, change, .. } => format!("device {device} {change:?}"),
        Record::Why { request, .. } => format!("why {request}"),
        Record::Finish { .. } => "finish".to_string(),
    }
}

/// How a run and that at twice the time differ.
pub fn same(one: &Ran, other: &Ran) -> Option<String> {
    for (at, (a, b)) in one.records.iter().zip(&other.records).enumerate() {
        let (a_ns, b_ns) = (a.time().ns() as f64 * K, b.time().ns() as f64);
        if gist(a) != gist(b) || (a_ns - b_ns).abs() > SLACK_NS as f64 {
            return Some(format!("record {at}: {a}, and at twice the time {b}"));
        }
    }
    let (one, other) = (one.records.len(), other.records.len());
    (one != other).then(|| format!("{one} records, and at twice the time {other}"))
}
