//! Prompts as JSON lines, one reader for every tool that writes them, by the names of their keys; and what is made of
//! the prompts of any file.
//!
//! Times have no unit in their key: the tool says it, or the file does, or it is assumed and said.

use crate::content::{Content, Prompts};
use crate::error::ImportError;
use crate::format::{Field, Options, Reading};
use crate::when::unit_says;
use crate::{File, json};
use orrery_sim::time::{Span, Time};
use orrery_traces::quirks::Quirk;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

type Keys = Map<String, Value>;
/// The unit of a tool's times in nanoseconds, where its lines have keys by which it is known.
pub type KnownUnit = fn(&Keys) -> Option<f64>;

const MS: f64 = 1e6;
const S: f64 = 1e9;
/// The most tokens in or out.
pub const TOKENS_MAX: u64 = 1_000_000_000;
/// The last time, in any unit.
pub const AT_MAX: f64 = 1e15;
/// Times from here on are since 1970 and in milliseconds, those from a thousandth on in seconds.
const SINCE_1970_MS: f64 = 1e12;
/// More prompts a second than this are not sent to one service: times are seconds.
const PER_S_MAX: f64 = 100.0;
/// The last time that is read, from the first: a century.
const NS_MAX: f64 = 100.0 * 366.0 * 86_400e9;

/// Reads the prompts of a file: `fields` are the time, tokens in and tokens out. Prompts without a time arrive at once
/// where it is not needed.
pub fn read(
    file: &File<'_>,
    options: &Options,
    fields: [&Field; 3],
    known: KnownUnit,
) -> Result<Reading, ImportError> {
    let (mut rows, mut untimed) = (Vec::new(), 0);
    let (mut taken, mut all) = (BTreeSet::new(), BTreeSet::new());
    let mut tool = None;
    json::lines(file, "an object in each line", |line, keys: Keys| {
        let mut number = |field: &Field, max: f64| {
            let found = value(&keys, field);
            taken.extend(found.as_ref().map(|found| (found.0, field.becomes)));
            checked(file, line, field, found, max)
        };
        let at = number(fields[0], AT_MAX)?;
        untimed += usize::from(at.is_none());
        let mut tokens =
            |field| Ok::<u32, ImportError>(number(field, TOKENS_MAX as f64)?.unwrap_or(0.0) as u32);
        rows.push((at.unwrap_or(0.0), tokens(fields[1])?, tokens(fields[2])?));
        if rows.len() == 1 {
            tool = known(&keys);
        }
        all.extend(keys.into_iter().map(|(key, _)| key));
        Ok(())
    })?;
    if rows.is_empty() {
        let remedy = "fetch the file again";
        return Err(ImportError::value(file.name(), "no line", "a prompt", remedy));
    }
    let mut reading = Reading::default();
    for (key, becomes) in &taken {
        reading.take(*key, *becomes);
        all.remove(key.split('.').next().unwrap_or(key));
    }
    reading.ignore(all);
    if untimed > 0 {
        reading.assume(format!("{untimed} prompts have no arrival: they all arrive at the start"));
    }
    let tool = if untimed == rows.len() { Some(S) } else { options.time_unit.or(tool) };
    settle(file, reading, rows, tool)
}

/// The prompts of a file; `unit_ns` is the unit of its times, where it or the tool says it.
pub fn settle(
    file: &File<'_>,
    mut reading: Reading,
    rows: Vec<(f64, u32, u32)>,
    unit_ns: Option<f64>,
) -> Result<Reading, ImportError> {
    let times = || rows.iter().map(|r| r.0);
    let first = times().fold(f64::INFINITY, f64::min);
    let span = times().fold(0.0, f64::max) - first;
    let unit_ns = match unit_ns {
        Some(unit_ns) => unit_ns,
        None => {
            let (unit_ns, why) = unit(times(), first, span, rows.len());
            let (name, other) =
                if unit_ns == S { ("seconds", "ms") } else { ("milliseconds", "s") };
            reading.assume(format!(
                "times are taken as {name}, {why}: {} prompts over {} s; {}",
                rows.len(),
                span * unit_ns / S,
                unit_says(other)
            ));
            unit_ns
        }
    };
    if span * unit_ns > NS_MAX {
        let found = format!("times {:e} s apart", span * unit_ns / S);
        let remedy =
            "give their unit with `--time-unit` (in a scenario `timestamps`), or correct the lines";
        return Err(ImportError::value(file.name(), found, "at most a century", remedy));
    }
    reading.note(format!("{} prompts over {} s", rows.len(), span * unit_ns / S));
    let row = |(at, input, output)| {
        (Time::ZERO + Span::from_ns_f64((at - first) * unit_ns), input, output)
    };
    reading.contents.push(Content::Prompts(Prompts::of(rows.into_iter().map(row).collect())));
    Ok(reading)
}

/// The unit of times that no tool is known for, and why.
fn unit(
    mut times: impl Iterator<Item = f64>,
    first: f64,
    span: f64,
    n: usize,
) -> (f64, &'static str) {
    match first {
        SINCE_1970_MS.. => (MS, "since 1970"),
        1e9.. => (S, "since 1970"),
        _ if times.any(|at| at.fract() != 0.0) => (S, "as some have a fraction"),
        _ if n as f64 * S > PER_S_MAX * span * MS => {
            (S, "as they would come too fast in milliseconds")
        }
        _ => (MS, "as all are whole and they come slowly enough"),
    }
}

/// The value of a field, by the first of its names that is there, and that name.
fn value<'a>(keys: &'a Keys, field: &Field) -> Option<(&'static str, &'a Value)> {
    let of = |name: &str| match name.split_once('.') {
        Some((outer, inner)) => keys.get(outer)?.get(inner),
        None => keys.get(name),
    };
    field.names.iter().find_map(|name| Some((*name, of(name)?)))
}

/// A value as a number from 0 to `max`, of tokens a whole one; `None` where there is none and none is needed.
fn checked(
    file: &File<'_>,
    line: usize,
    field: &Field,
    found: Option<(&str, &Value)>,
    max: f64,
) -> Result<Option<f64>, ImportError> {
    let is_whole = field.time_ns.is_none();
    let (key, value) = found.unwrap_or((field.names[0], &Value::Null));
    let number = value.as_f64().filter(|x| (0.0..=max).contains(x));
    match number.filter(|x| !is_whole || x.fract() == 0.0) {
        Some(_) if is_whole && !value.is_u64() => {
            file.meet(Quirk::Whole, || format!("`{value}` on line {line}"));
        }
        None if value.is_null() && !field.needed => {}
        Some(_) => {}
        None => {
            let place = format!("{}: line {line}: key `{key}`", file.name());
            let found = found.map_or("no such key".to_string(), |_| format!("`{value}`"));
            let what = if is_whole { "a whole number" } else { "a number" };
            let names = field.names.join("` or `");
            let remedy =
                format!("correct the line, or add `{names}` to each line: {}", field.becomes);
            return Err(ImportError::value(
                place,
                found,
                format!("{what} from 0 to {max:e}"),
                remedy,
            ));
        }
    }
    Ok(number)
}
