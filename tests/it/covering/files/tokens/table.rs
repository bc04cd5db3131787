//! Keys of files of tokens; `covering/table.rs` says what a row is.

use crate::covering::table::{Key, key};

/// Requests that blocks and time are too few for.
pub const BASE: &str = r#"
seed = 3

[tokens]
profile = "step-rtx4090-llama-3.1-8b"
kv_blocks = 700
requests = "vllm-rtx4090-llama-3.1-8b"
count = 60
rate_per_s = 3.0

[[tokens.slo]]
ttft_ms = 1000.0
tpot_ms = 100.0

[[tokens.slo]]
ttft_ms = 9000.0
tpot_ms = 100.0
"#;

const REDUCE: &str =
    "tokens.all_reduce = { times = 64, us = 20.0, token_bytes = 8192, bandwidth = 16.0 }";
const OWN_TIMES: &str = "tokens.rate_per_s = none";

pub const KEYS: &[Key] = &[
    key("name", &["name = \"other\""]),
    key("seed", &["seed = 4"]).needs("tokens.rate_per_s = 3.0"),
    key("Tokens.profile", &["tokens.profile = \"step-rtxpro6000-llama-3.1-8b\""]),
    key("Tokens.kv_blocks", &["tokens.kv_blocks = 500", "tokens.kv_blocks = 5000"]),
    key("Tokens.block_tokens", &["tokens.block_tokens = 20"]),
    key("Tokens.all_reduce", &[REDUCE]),
    key("Tokens.requests", &["tokens.requests = \"azure-llm2023-code\""]),
    key("Tokens.from_s", &["tokens.from_s = 5.0"]),
    key("Tokens.to_s", &["tokens.to_s = 10.0"]),
    key("Tokens.count", &["tokens.count = 61"]),
    key("Tokens.rate_per_s", &["tokens.rate_per_s = 2.9", OWN_TIMES]),
    key("Tokens.stretch", &["tokens.stretch = 2.0"]).needs(OWN_TIMES),
    key("AllReduce.times", &["tokens.all_reduce.times = 128"]).needs(REDUCE),
    key("AllReduce.us", &["tokens.all_reduce.us = 50.0"]).needs(REDUCE),
    key("AllReduce.token_bytes", &["tokens.all_reduce.token_bytes = 80000"]).needs(REDUCE),
    key("AllReduce.bandwidth", &["tokens.all_reduce.bandwidth = 1.0"]).needs(REDUCE),
    key("SloShare.share", &["tokens.slo[0].share = 3.0"]),
    key("SloShare.ttft_ms", &["tokens.slo[0].ttft_ms = 4000.0"]),
    key("SloShare.tpot_ms", &["tokens.slo[0].tpot_ms = 20.0"]),
];

/// Keys that are not drawn, with the reason.
pub const EXCUSED: &[(&str, &str)] = &[
    ("policies", "every file has one: it is drawn beside the keys"),
    ("tokens", "every file has it"),
    ("Tokens.slo", "in the base file"),
    ("Tokens.timestamps", "for files of other tools, which are drawn in scenarios"),
    ("Timestamps.", "as well"),
    ("TimeIs.", "as well"),
    ("Unit.", "as well"),
];
