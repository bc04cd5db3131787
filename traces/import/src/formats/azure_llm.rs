//! Azure LLM inference 2023 and 2024: when a prompt came, with its tokens.

use crate::File;
use crate::content::{Content, Kind, Prompts};
use crate::error::ImportError;
use crate::format::{Field, Format, Options, Reading};
use orrery_traces::azure_llm::LlmReader;

const FIELDS: &[Field] = &[
    Field::new(&["TIMESTAMP"], "the arrival").needed(),
    Field::new(&["ContextTokens"], "tokens in").needed(),
    Field::new(&["GeneratedTokens"], "tokens out").needed(),
];

pub const FORMAT: Format = Format {
    name: "azure-llm",
    title: "Azure LLM inference 2023 and 2024",
    how: "columns `TIMESTAMP`, `ContextTokens` and `GeneratedTokens`",
    becomes: &[Kind::Prompts],
    fields: FIELDS,
    options: &[],
    direct: Some("llm"),
    is: |head| head.has(FIELDS),
    read,
};

fn read(file: &File<'_>, _: &Options) -> Result<Reading, ImportError> {
    let mut reader = LlmReader::open(file.open()?)?;
    let mut rows = Vec::new();
    while let Some(r) = reader.next_record()? {
        rows.push((r.at, r.context_tokens, r.generated_tokens));
    }
    file.met_in(&reader.met());
    let mut reading = Reading::default();
    for field in FIELDS {
        reading.take(field.names[0], field.becomes);
    }
    reading.ignore(reader.unused());
    reading.note("a scenario reads this file as it is: it need not be imported");
    reading.contents.push(Content::Prompts(Prompts::of(rows)));
    Ok(reading)
}
