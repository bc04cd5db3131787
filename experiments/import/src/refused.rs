//! Files of other tools that are no load and no measurement of one, though some columns look like it: each is named,
//! with what to do.

use crate::head::Head;
use orrery_traces::error::shorten;

/// A kind of file that is refused.
struct Refused {
    /// What it is.
    title: &'static str,
    /// Columns that it has.
    columns: &'static [&'static str],
    remedy: &'static str,
}

const LOAD: &str = "import what the load generator or the server wrote of each request";
const JOBS: &str = "write the jobs as a list for `[jobs]` (docs/jobs.md)";
const KERNELS: &str =
    "use its report of kernels: `nsys stats --report cuda_gpu_kern_sum --format csv`";

const REFUSED: &[Refused] = &[
    Refused { title: "nvidia-smi's monitoring", columns: &["utilization.gpu [%]"], remedy: LOAD },
    Refused { title: "nvidia-smi's monitoring", columns: &["utilization.gpu"], remedy: LOAD },
    Refused {
        title: "Locust's `*_stats_history.csv`, a row for each interval",
        columns: &["User Count", "Total Request Count"],
        remedy: "log each request in a `request` listener as `start_time,name,latency_ms`, or write a measured table \
                 by hand: `clients,rate_per_s,p50_ms,p99_ms`",
    },
    Refused {
        title: "Locust's `*_stats.csv`, a row for each name",
        columns: &["Request Count", "Failure Count", "Median Response Time"],
        remedy: "write a measured table by hand: `clients,rate_per_s,p50_ms,p99_ms`",
    },
    Refused {
        title: "k6's `--out csv`, a row for each metric of a request",
        columns: &["metric_name", "metric_value"],
        remedy: "keep the rows of `http_req_duration`, with the columns `end_time,name,latency_ms`",
    },
    Refused { title: "Weights & Biases' history", columns: &["_timestamp"], remedy: LOAD },
    Refused {
        title: "nsys, but another report",
        columns: &["Time (%)", "Total Time (ns)"],
        remedy: KERNELS,
    },
    Refused {
        title: "nsys, but another report",
        columns: &["Time(%)", "Total Time (ns)"],
        remedy: KERNELS,
    },
    Refused {
        title: "a table of the PyTorch profiler",
        columns: &["Self CPU"],
        remedy: "measure whole batches: a table of `batch,latency_ms`",
    },
    Refused { title: "a trace of jobs", columns: &["job_id"], remedy: JOBS },
    Refused { title: "a trace of jobs", columns: &["jobid"], remedy: JOBS },
    Refused { title: "a trace of jobs", columns: &["job_name"], remedy: JOBS },
];

/// Words of columns that are measured over a period or of a machine, not of a request.
const MEASURES: &[&str] = &[
    "utilization",
    "utilisation",
    "util",
    "usage",
    "cpu",
    "gpu",
    "gpus",
    "memory",
    "mem",
    "ram",
    "temperature",
    "temp",
    "power",
    "clock",
    "clocks",
    "count",
    "rate",
    "throughput",
    "rps",
    "qps",
    "median",
    "mean",
    "average",
    "avg",
    "min",
    "max",
    "std",
    "stddev",
    "percentile",
    "p50",
    "p90",
    "p95",
    "p99",
    "metric",
    "value",
    "epoch",
    "step",
    "loss",
    "job",
    "jobs",
    "nodes",
    "calls",
    "instances",
    "self",
];

/// The first column of a header that is measured over a period or of a machine.
pub fn measure(header: &[String]) -> Option<&String> {
    header.iter().find(|column| {
        let lower = column.to_lowercase();
        let mut words = lower.split(|c: char| !c.is_alphanumeric());
        lower.contains('%') || lower.contains("/s") || words.any(|word| MEASURES.contains(&word))
    })
}

/// What a file is that is refused, and what to do; `None` where nothing is known of it.
pub fn refused(head: &Head) -> Option<(String, String)> {
    let has =
        |header: &[String], name: &str| header.iter().any(|c| c.trim_end_matches(" %") == name);
    let is = |r: &&Refused| {
        head.headers.iter().any(|header| r.columns.iter().all(|column| has(header, column)))
    };
    if let Some(refused) = REFUSED.iter().find(is) {
        return Some((refused.title.to_string(), refused.remedy.to_string()));
    }
    let header = head.headers.first()?;
    let is_timed = |c: &String| c.to_lowercase().contains("time") || c.to_lowercase() == "date";
    let measure = measure(header).filter(|_| header.iter().any(is_timed))?;
    let found = format!(
        "a table whose column `{}` is measured over a period or of a machine: its rows are no requests",
        shorten(measure)
    );
    let remedy = "keep the columns `start_time,name,latency_ms` of a log of requests, or name it with `--as access-log`";
    Some((found, remedy.to_string()))
}
