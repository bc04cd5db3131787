//! ServeGen: requests that it generated, in seconds, or its traces of offline work, a JSON object a line.

use crate::content::Kind;
use crate::format::{Field, Format};
use crate::prompts;

const FIELDS: &[Field] = &[
    Field::new(&["request_id"], "nothing; the format is known by it").needed(),
    Field::time(&["timestamp"], 0.0, "the arrival; offline work arrives at once"),
    Field::new(&["data.input_tokens", "input_tokens", "input_length"], "tokens in").needed(),
    Field::new(&["data.output_tokens", "output_tokens", "output_length"], "tokens out").needed(),
];

pub const FORMAT: Format = Format {
    name: "servegen",
    title: "ServeGen, generated requests or `data/offline/trace_d.jsonl` to `f`",
    how: "JSON lines with `request_id`; `data` says seconds",
    becomes: &[Kind::Prompts],
    fields: FIELDS,
    options: &["time-unit"],
    direct: Some("llm"),
    is: |head| head.is_lines_with(&["request_id"]),
    read: |file, options| {
        let [_, at, input, output] = FIELDS else { unreachable!("four fields") };
        prompts::read(file, options, [at, input, output], |keys| {
            keys.contains_key("data").then_some(1e9)
        })
    },
};
