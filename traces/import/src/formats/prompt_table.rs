//! Tables of prompts: BurstGPT's, and those of one's own or of Vidur by the names of their columns.

use crate::File;
use crate::content::Kind;
use crate::error::ImportError;
use crate::format::{Field, Format, Options, Reading, Sheet};
use crate::prompts::{self, TOKENS_MAX};
use orrery_traces::columns::unit_of;

const OF_BURSTGPT: &[Field] = &[
    Field::time(&["Timestamp"], S, "the arrival, seconds from the start").needed(),
    Field::new(&["Request tokens"], "tokens in").needed(),
    Field::new(&["Response tokens"], "tokens out; 0 is a failure and left out").needed(),
];
const S: f64 = 1e9;

pub const BURSTGPT: Format = Format {
    name: "burstgpt",
    title: "BurstGPT",
    how: "columns `Timestamp`, `Request tokens` and `Response tokens`",
    becomes: &[Kind::Prompts],
    fields: OF_BURSTGPT,
    options: &[],
    direct: Some("llm"),
    is: |head| head.has(OF_BURSTGPT),
    read: |file, options| read(file, options, OF_BURSTGPT, Some(S)),
};

const FIELDS: &[Field] = &[
    Field::time(
        &["at", "arrived at", "arrival", "arrival time", "timestamp", "time"],
        S,
        "the arrival",
    )
    .needed(),
    Field::new(
        &[
            "tokens_in",
            "num_prefill_tokens",
            "input tokens",
            "prompt tokens",
            "context tokens",
            "input length",
        ],
        "tokens in",
    )
    .needed(),
    Field::new(
        &[
            "tokens_out",
            "num_decode_tokens",
            "output tokens",
            "completion tokens",
            "generated tokens",
            "output length",
        ],
        "tokens out; 0 is a failure and left out",
    )
    .needed(),
];

pub const FORMAT: Format = Format {
    name: "prompts",
    title: "a table of prompts of your own, `at_s,tokens_in,tokens_out`, or Vidur's",
    how: "columns `at_s`, `tokens_in` and `tokens_out`",
    becomes: &[Kind::Prompts],
    fields: FIELDS,
    options: &["time-unit"],
    direct: Some("llm"),
    is: |head| head.has(FIELDS),
    read: |file, options| read(file, options, FIELDS, None),
};

/// Reads a table; `unit_ns` is the unit of its times, where the tool is known.
fn read(
    file: &File<'_>,
    options: &Options,
    fields: &[Field],
    unit_ns: Option<f64>,
) -> Result<Reading, ImportError> {
    let mut reading = Reading::default();
    let mut sheet = Sheet::open(file, fields, &mut reading)?;
    let (mut rows, mut failures) = (Vec::new(), 0);
    while sheet.next()? {
        let at = sheet.number(0, prompts::AT_MAX)?.ok_or_else(|| sheet.bad(0, "a time"))?;
        let [input, output] = [sheet.whole(1, TOKENS_MAX)?, sheet.whole(2, TOKENS_MAX)?]
            .map(|tokens| tokens.unwrap_or(0) as u32);
        match output {
            0 => failures += 1,
            _ => rows.push((at, input, output)),
        }
    }
    if rows.is_empty() {
        return Err(sheet.table.ended("a prompt with an answer", "fetch the file again").into());
    }
    if failures > 0 {
        reading.note(format!("{failures} prompts without an answer are left out"));
    }
    if unit_ns.is_some() && rows.iter().all(|row| row.0.fract() == 0.0) {
        reading.note("times are whole seconds: requests of one second arrive at the same instant");
    }
    let said = sheet.at(0).and_then(|at| unit_of(&sheet.table.header()[at]));
    prompts::settle(file, reading, rows, unit_ns.or(options.time_unit).or(said))
}
