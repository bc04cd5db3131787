//! The table of formats: a row and a file each, the more special first.

mod access_log;
mod azure2021;
mod azure_llm;
mod genai_perf;
mod latencies;
mod measured;
mod mlperf;
mod mooncake;
mod perf_analyzer;
mod prompt_table;
mod servegen;
mod trtexec;
mod vllm;

use crate::format::Format;

/// Every format, in the order in which a file is tried.
pub static FORMATS: &[Format] = &[
    perf_analyzer::FORMAT,
    genai_perf::FORMAT,
    trtexec::FORMAT,
    vllm::SERVING,
    vllm::LATENCY,
    mlperf::SUMMARY,
    mlperf::DETAIL,
    azure2021::FORMAT,
    azure_llm::FORMAT,
    prompt_table::BURSTGPT,
    mooncake::FORMAT,
    servegen::FORMAT,
    prompt_table::FORMAT,
    measured::FORMAT,
    latencies::FORMAT,
    access_log::FORMAT,
];
