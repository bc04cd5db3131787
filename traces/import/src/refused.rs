//! Files of other tools that are no load and no measurement of one, though some columns look like it: each is named,
//! with what to do.

use crate::format::Field;
use crate::head::Head;
use orrery_traces::columns::find;
use orrery_traces::error::shorten;

const LOAD: &str = "import what the load generator or the server wrote of each request";
const TABLE: &str = "write a measured table by hand: `clients,rate_per_s,p50_ms,p99_ms`";
const LOCUST: &str = "log each request in a `request` listener as `start_time,name,latency_ms`, or write a measured \
                      table by hand: `clients,rate_per_s,p50_ms,p99_ms`";
const K6: &str =
    "keep the rows of `http_req_duration`, with the columns `end_time,name,latency_ms`";
const CLIENTS: &str =
    "import the files that perf_analyzer writes itself: `perf_analyzer -m MODEL -f FILE.csv`";
const BATCHES: &str = "measure whole batches: a table of `batch,latency_ms`";
const JOBS: &str = "write the jobs as a list for `[jobs]` (docs/jobs.md)";
const LOG: &str = "keep the columns `start_time,name,latency_ms` of a log of requests, or say that it is one: `orrery \
                   import FILE --as access-log --out LOG.csv`";
const COUNTS: &str = "write the counts of each minute as Azure 2019's trace has them, a row for each application with \
                      the header `HashApp,HashFunction,Trigger,1,2,3,...`: `trace` of `[arrivals]` reads that";
const CONSOLE: &str = "import the results that the benchmark writes: `vllm bench serve --save-result`, or SGLang's \
                       `bench_serving --output-file FILE`";

/// What is refused: columns that it has, what it is, what to do.
const REFUSED: &[(&[&str], &str, &str)] = &[
    (&["utilization.gpu"], "nvidia-smi's monitoring", LOAD),
    (
        &["User Count", "Total Request Count"],
        "Locust's `*_stats_history.csv`, a row for each interval",
        LOCUST,
    ),
    (
        &["Request Count", "Median Response Time"],
        "Locust's `*_stats.csv`, a row for each name",
        TABLE,
    ),
    (&["metric_name", "metric_value"], "k6's `--out csv`, a row for each metric of a request", K6),
    (&["_timestamp"], "Weights & Biases' history", LOAD),
    (&["Total Time (ns)"], "a report of nsys, without the batches", BATCHES),
    (&["Model", "Batch", "Throughput (infer/sec)"], "Triton's Model Analyzer", CLIENTS),
    (&["Self CPU"], "a table of the PyTorch profiler", BATCHES),
    (&["job_id"], "a trace of jobs", JOBS),
    (&["jobid"], "a trace of jobs", JOBS),
    (&["job_name"], "a trace of jobs", JOBS),
];

/// The latency of a request: who has it has requests in its rows.
pub const LATENCY: Field = Field::time(
    &["latency", "duration", "response time", "request time", "elapsed", "elapsed time", "took"],
    1.0,
    "measured: the latency from request to answer",
);

/// Words of columns that are measured over a period, not of a request.
const OF_A_PERIOD: &str = "count rate throughput rps qps median mean average avg min max std stddev percentile p50 p90 \
                           p95 p99 metric value calls instances";
/// Words of columns that are measured of a machine or a job; beside the latency of a request they say where it ran.
const OF_A_MACHINE: &str = "utilization utilisation util usage cpu gpu gpus memory mem ram temperature temp power clock \
                            clocks epoch step loss job jobs nodes self";
/// Columns of how many requests came in a period.
const COUNTED: [&str; 5] = ["count", "counts", "requests", "invocations", "num_requests"];

/// The first column of a header that is measured over a period or of a machine.
pub fn measure(header: &[String]) -> Option<&String> {
    let others = if find(header, &LATENCY).is_some() { "" } else { OF_A_MACHINE };
    header.iter().find(|column| {
        let lower = column.to_lowercase();
        let mut words = lower.split(|c: char| !c.is_alphanumeric());
        let measures = OF_A_PERIOD.split_whitespace().chain(others.split_whitespace());
        let is_measure = |word| measures.clone().any(|measure| measure == word);
        lower.contains('%') || lower.contains("/s") || words.any(is_measure)
    })
}

/// What a file is that is refused, and what to do; `None` where nothing is known of it.
pub fn refused(head: &Head) -> Option<(String, &'static str)> {
    if head.text.contains(" Serving Benchmark Result ") && !head.is_json() {
        return Some(("what a serving benchmark of vLLM or SGLang prints".to_string(), CONSOLE));
    }
    let has =
        |header: &[String], name: &&str| header.iter().any(|c| c.split(" [").next() == Some(name));
    let is =
        |columns: &[&str]| head.headers.iter().any(|header| columns.iter().all(|c| has(header, c)));
    if let Some((_, title, remedy)) = REFUSED.iter().find(|r| is(r.0)) {
        return Some((title.to_string(), remedy));
    }
    let header = head.headers.first()?;
    let is_timed = |c: &String| c.to_lowercase().contains("time") || c.to_lowercase() == "date";
    let is_count = |c: &&String| COUNTED.contains(&c.to_lowercase().as_str());
    if let Some(column) = header.iter().find(is_count).filter(|_| header.iter().any(is_timed)) {
        return Some((
            format!("`{}` for each period: no row is a request", shorten(column)),
            COUNTS,
        ));
    }
    let column = shorten(measure(header).filter(|_| header.iter().any(is_timed))?);
    let found = format!(
        "a table with `{column}`, which is measured over a period or of a machine: no row is a request"
    );
    Some((found, LOG))
}
