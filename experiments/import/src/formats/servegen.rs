//! ServeGen: requests that it generated, or its traces of offline work, a JSON object a line.

use crate::content::{Content, Kind, Prompts};
use crate::error::ImportError;
use crate::format::{Field, Format, Options, Reading};
use crate::{File, json};
use orrery_sim::time::{Span, Time};
use serde::Deserialize;

const FIELDS: &[Field] = &[
    Field::new(&["request_id"], "nothing; the format is known by it").needed(),
    Field::new(&["timestamp"], "the arrival, seconds from the start; offline work arrives at once"),
    Field::new(&["data.input_tokens", "input_tokens", "input_length"], "tokens in").needed(),
    Field::new(&["data.output_tokens", "output_tokens", "output_length"], "tokens out").needed(),
];

pub const FORMAT: Format = Format {
    name: "servegen",
    title: "ServeGen, generated requests or `data/offline/trace_d.jsonl` to `f`",
    how: "JSON lines with `request_id`",
    becomes: &[Kind::Prompts],
    fields: FIELDS,
    direct: Some("llm"),
    is: |head| head.is_lines_with(&["request_id"]),
    read,
};

#[derive(Debug, Deserialize)]
struct Line {
    timestamp: Option<f64>,
    #[serde(flatten)]
    tokens: Tokens,
    data: Option<Tokens>,
}

#[derive(Debug, Deserialize)]
struct Tokens {
    #[serde(alias = "input_length")]
    input_tokens: Option<u32>,
    #[serde(alias = "output_length")]
    output_tokens: Option<u32>,
}

fn read(file: &File<'_>, _: &Options) -> Result<Reading, ImportError> {
    let (mut rows, mut offline) = (Vec::new(), 0);
    let what = "an object with `request_id`, `timestamp` (s), and tokens in and out";
    json::lines(file, what, |line, l: Line| {
        let bad = |key: &str, found: String, allowed: &str| {
            let place = format!("{}: line {line}: key `{key}`", file.name());
            let remedy =
                "take a file that has it: generated requests, or the offline traces d, e and f";
            ImportError::value(place, found, allowed, remedy)
        };
        let tokens = l.data.as_ref().unwrap_or(&l.tokens);
        let missing = |key: &str| bad(key, "nothing".to_string(), "a whole number");
        let input = tokens.input_tokens.ok_or_else(|| missing("input_tokens"))?;
        let output = tokens.output_tokens.ok_or_else(|| missing("output_tokens"))?;
        let at = l.timestamp.unwrap_or(0.0);
        if !(0.0..=1e9).contains(&at) {
            return Err(bad("timestamp", format!("`{at}`"), "seconds from the start, 0 to 1e9"));
        }
        offline += u64::from(l.timestamp.is_none());
        rows.push((Time::ZERO + Span::from_secs_f64(at), input, output));
        Ok(())
    })?;
    if rows.is_empty() {
        let remedy = "generate it again";
        return Err(ImportError::value(file.name(), "no line", "a request", remedy));
    }
    let mut reading = Reading::default();
    for field in &FIELDS[2..] {
        reading.take(field.names[0], field.becomes);
    }
    if offline < rows.len() as u64 {
        reading.take("timestamp", FIELDS[1].becomes);
    }
    if offline > 0 {
        reading.note(format!("{offline} requests have no arrival: they all arrive at the start"));
    }
    reading.ignore(["everything else"]);
    reading.contents.push(Content::Prompts(Prompts::of(rows)));
    Ok(reading)
}
