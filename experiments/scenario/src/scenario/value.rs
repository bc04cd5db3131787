//! Small checks that every part of a scenario uses.
//!
//! They know no key: the caller names it.

pub(super) use crate::listed::S_MAX;
use orrery_run::SpecError;
use orrery_sim::time::{Span, Time};
use orrery_traces::TraceError;
use std::collections::BTreeMap;

/// The longest time in milliseconds: a day.
pub(super) const MS_MAX: f64 = 86_400e3;
/// The most requests of a run.
pub(super) const REQUESTS_MAX: f64 = 1e12;

/// A number from `low` to `high`.
pub(super) fn within(key: &str, x: f64, low: f64, high: f64) -> Result<f64, SpecError> {
    if x >= low && x <= high {
        return Ok(x);
    }
    let allowed = format!("a number from {} to {}", plain(low), plain(high));
    Err(SpecError::value(key, x, allowed, format!("change `{key}` to a number in this range")))
}

/// A number as it would be typed: `0.000001`, but `1e12`.
fn plain(x: f64) -> String {
    if x == 0.0 || (1e-3..1e7).contains(&x.abs()) { format!("{x}") } else { format!("{x:e}") }
}

/// A length of time in milliseconds, which may be zero.
pub(super) fn span_ms(key: &str, ms: f64) -> Result<Span, SpecError> {
    Ok(Span::from_ms_f64(within(key, ms, 0.0, MS_MAX)?))
}

/// An instant in seconds.
pub(super) fn time_s(key: &str, s: f64) -> Result<Time, SpecError> {
    Ok(Time::ZERO + Span::from_secs_f64(within(key, s, 0.0, S_MAX)?))
}

/// A limit of requests; none when it is left out.
pub(super) fn requests(key: &str, limit: Option<u64>) -> Result<u64, SpecError> {
    if let Some(n) = limit {
        within(key, n as f64, 1.0, REQUESTS_MAX)?;
    }
    Ok(limit.unwrap_or(u64::MAX))
}

/// A limit of time; none when it is left out.
pub(super) fn duration_s(key: &str, limit: Option<f64>) -> Result<Time, SpecError> {
    match limit {
        None => Ok(Time::NEVER),
        Some(s) => {
            within(key, s, 1e-9, S_MAX)?;
            time_s(key, s)
        }
    }
}

/// A name: it stands in results and in names of files.
pub(super) fn word(key: &str, name: &str) -> Result<(), SpecError> {
    let usual = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    let fits = !name.is_empty() && name.len() <= 80 && !name.starts_with('.');
    if fits && name.chars().all(usual) {
        return Ok(());
    }
    let allowed = "1 to 80 of the characters a-z, A-Z, 0-9, `-`, `_`, `+` and `.`, no `.` first";
    Err(SpecError::value(key, format!("{name:?}"), allowed, "choose another name"))
}

/// A name without the number of its copy.
pub(super) fn without_copy(name: &str) -> &str {
    match name.rsplit_once('#') {
        Some((base, n)) if !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()) => base,
        _ => name,
    }
}

/// Names that are words, or the copies of one, each once. `key` makes the key of the i-th.
pub(super) fn names<'a>(
    all: impl Iterator<Item = &'a str>,
    key: impl Fn(usize) -> String,
) -> Result<Vec<&'a str>, SpecError> {
    let (mut names, mut places) = (Vec::new(), BTreeMap::new());
    for (i, name) in all.enumerate() {
        word(&key(i), without_copy(name))?;
        if let Some(first) = places.insert(name, i) {
            let found = format!("`{name}`, which is also `{}`", key(first));
            return Err(SpecError::value(key(i), found, "each name once", "rename one of them"));
        }
        names.push(name);
    }
    Ok(names)
}

/// An error of the library of traces, at a key of the scenario.
pub(super) fn at_key(key: &str, error: TraceError) -> SpecError {
    match error {
        TraceError::Parameter { key: inner, found, allowed, remedy } => {
            let last = key.rsplit('.').next();
            let key = if last == Some(inner) { key.into() } else { format!("{key}.{inner}") };
            SpecError::value(key, found, allowed, remedy)
        }
        source => {
            let (file, source) = (String::new(), Box::new(source));
            SpecError::Data { file, key: key.to_string(), source }
        }
    }
}
