//! The table of formats: a row and a file each, the more special first.

mod access_log;
mod azure2021;
mod azure_llm;
mod burstgpt;
mod genai_perf;
mod latencies;
mod measured;
mod mlperf;
mod model_analyzer;
mod mooncake;
mod nsys;
mod perf_analyzer;
mod servegen;
mod trtexec;
mod vllm;

use crate::format::Format;

/// Every format, in the order in which a file is tried.
pub static FORMATS: &[Format] = &[
    perf_analyzer::FORMAT,
    model_analyzer::FORMAT,
    genai_perf::FORMAT,
    trtexec::FORMAT,
    nsys::FORMAT,
    vllm::SERVING,
    vllm::LATENCY,
    mlperf::SUMMARY,
    mlperf::DETAIL,
    azure2021::FORMAT,
    azure_llm::FORMAT,
    burstgpt::FORMAT,
    mooncake::FORMAT,
    servegen::FORMAT,
    measured::FORMAT,
    latencies::FORMAT,
    access_log::FORMAT,
];
