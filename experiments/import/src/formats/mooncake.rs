//! Mooncake's traces: a JSON object for each prompt, times in milliseconds.

use crate::content::{Content, Kind, Prompts};
use crate::error::ImportError;
use crate::format::{Field, Format, Options, Reading};
use crate::{File, json};
use orrery_sim::time::{Span, Time};
use serde::Deserialize;

const FIELDS: &[Field] = &[
    Field::new(&["timestamp"], "the arrival, milliseconds from the start").needed(),
    Field::new(&["input_length"], "tokens in").needed(),
    Field::new(&["output_length"], "tokens out").needed(),
];

pub const FORMAT: Format = Format {
    name: "mooncake",
    title: "Mooncake, `*_trace.jsonl`",
    how: "JSON lines with `timestamp`, `input_length` and `output_length`",
    becomes: &[Kind::Prompts],
    fields: FIELDS,
    direct: Some("llm"),
    is: |head| head.is_lines_with(&["timestamp", "input_length", "output_length"]),
    read,
};

#[derive(Debug, Deserialize)]
struct Line {
    timestamp: u64,
    input_length: u32,
    output_length: u32,
}

fn read(file: &File<'_>, _: &Options) -> Result<Reading, ImportError> {
    let mut rows = Vec::new();
    let what = "an object with whole numbers `timestamp` (ms), `input_length` and `output_length`";
    json::lines(file, what, |line, l: Line| {
        if l.timestamp > 1_000_000_000_000 {
            let place = format!("{}: line {line}: key `timestamp`", file.name());
            let found = format!("`{}`", l.timestamp);
            let allowed = "milliseconds from the start, up to 1e12";
            return Err(ImportError::value(place, found, allowed, "correct the line or remove it"));
        }
        rows.push((Time::ZERO + Span::from_ms(l.timestamp), l.input_length, l.output_length));
        Ok(())
    })?;
    if rows.is_empty() {
        let remedy = "fetch the file again";
        return Err(ImportError::value(file.name(), "no line", "a prompt", remedy));
    }
    let mut reading = Reading::default();
    for field in FIELDS {
        reading.take(field.names[0], field.becomes);
    }
    reading.ignore(["hash_ids"]);
    reading.note("prefixes that prompts share (`hash_ids`) are left out: each prompt pays for all its tokens");
    reading.contents.push(Content::Prompts(Prompts::of(rows)));
    Ok(reading)
}
