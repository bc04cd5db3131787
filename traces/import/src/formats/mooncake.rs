//! Mooncake's traces and those with the same keys: a JSON object for each prompt. Mooncake's times are milliseconds,
//! Bailian's are seconds.

use crate::content::Kind;
use crate::format::{Field, Format};
use crate::prompts;

const FIELDS: &[Field] = &[
    Field::time(&["timestamp"], 0.0, "the arrival").needed(),
    Field::new(&["input_length"], "tokens in").needed(),
    Field::new(&["output_length"], "tokens out").needed(),
];

pub const FORMAT: Format = Format {
    name: "mooncake",
    title: "Mooncake's `*_trace.jsonl`, Bailian's traces, and lists with the same keys",
    how: "JSON lines with `timestamp`, `input_length` and `output_length`; `hash_ids` says milliseconds, `chat_id` \
          seconds",
    becomes: &[Kind::Prompts],
    fields: FIELDS,
    options: &["time-unit"],
    direct: Some("llm"),
    is: |head| head.is_lines_with(&["input_length"]) && !head.is_lines_with(&["request_id"]),
    read: |file, options| {
        let [at, input, output] = FIELDS else { unreachable!("three fields") };
        let mut reading = prompts::read(file, options, [at, input, output], |keys| {
            let bailian = keys.contains_key("chat_id").then_some(1e9);
            bailian.or(keys.contains_key("hash_ids").then_some(1e6))
        })?;
        if reading.ignored.iter().any(|key| key == "hash_ids") {
            let words = "prefixes that prompts share (`hash_ids`) are left out: each prompt pays for all its tokens";
            reading.note(words);
        }
        Ok(reading)
    },
};
