//! BurstGPT: when a prompt came, in seconds from the start, with its tokens.

use crate::File;
use crate::content::{Content, Kind, Prompts};
use crate::error::ImportError;
use crate::format::{Field, Format, Options, Reading, Sheet};
use orrery_sim::time::{Span, Time};

const FIELDS: &[Field] = &[
    Field::new(&["Timestamp"], "the arrival, seconds from the start").needed(),
    Field::new(&["Request tokens"], "tokens in").needed(),
    Field::new(&["Response tokens"], "tokens out; 0 is a failure and left out").needed(),
];
const TOKENS_MAX: u64 = 1_000_000_000;

pub const FORMAT: Format = Format {
    name: "burstgpt",
    title: "BurstGPT",
    how: "columns `Timestamp`, `Request tokens` and `Response tokens`",
    becomes: &[Kind::Prompts],
    fields: FIELDS,
    options: &[],
    direct: Some("llm"),
    is: |head| head.has(FIELDS),
    read,
};

fn read(file: &File<'_>, _: &Options) -> Result<Reading, ImportError> {
    let mut reading = Reading::default();
    let mut sheet = Sheet::open(file, FIELDS, &mut reading)?;
    let (mut rows, mut failures, mut is_whole) = (Vec::new(), 0, true);
    while sheet.next()? {
        let at = sheet.number(0, 1e9)?.ok_or_else(|| sheet.bad(0, "a time in seconds"))?;
        is_whole &= at.fract() == 0.0;
        let input = sheet.whole(1, TOKENS_MAX)?.unwrap_or(0) as u32;
        let output = sheet.whole(2, TOKENS_MAX)?.unwrap_or(0) as u32;
        match output {
            0 => failures += 1,
            _ => rows.push((Time::ZERO + Span::from_secs_f64(at), input, output)),
        }
    }
    if rows.is_empty() {
        return Err(sheet.table.ended("a prompt with an answer", "fetch the file again").into());
    }
    if failures > 0 {
        reading.note(format!("{failures} prompts without an answer are left out"));
    }
    if is_whole {
        reading.note("times are whole seconds: requests of one second arrive at the same instant");
    }
    reading.contents.push(Content::Prompts(Prompts::of(rows)));
    Ok(reading)
}
