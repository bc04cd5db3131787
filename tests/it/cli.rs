//! The program `orrery` as its users meet it: a process with arguments, files, two streams and an
//! exit code.
//!
//! What the results are is tested elsewhere; here is how they leave, and what bad input gets.

mod arena;
mod bad_usage;
mod cells;
mod ci;
mod cluster;
mod columns;
mod disk;
mod documents;
mod embedded;
mod figures;
mod forms;
mod goodput;
mod import;
mod inputs;
mod jobs;
mod limits;
mod logs;
mod manual;
mod options;
mod page;
mod partition;
mod plan;
mod process;
mod readers;
mod regress;
mod replayed;
mod reproduce;
mod require;
mod results;
mod scenarios;
mod serve;
mod sessions;
mod streams;
mod sweep;
mod tokens;
mod traces;
mod ways;
mod web;

/// A table of one case that runs at once; `more` is TOML that goes over it.
fn small_table(more: &str) -> String {
    format!(
        "extends = \"orloj-table-3\"\nid = \"small\"\nseeds = 2\napplications.load.requests = 300\n\
         axis = [{{ key = \"case\", values = [\"one-modal\"] }}, \
         {{ key = \"slo_x_p99\", values = [2.0] }}]\n{more}"
    )
}

/// A scenario that runs at once; `name` is that of its results, and `arrivals` all of its load.
fn small_scenario(arrivals: &str) -> String {
    format!(
        r#"name = "small"
policies = ["orloj", "clockwork", "fifo"]

[[model]]
name = "bert"
slo_ms = 100.0
latency = {{ proportional = {{ c1 = 0.4 }} }}

[[app]]
name = "chat"
model = "bert"
time = {{ lognormal = {{ mean_ms = 8.0, sd_ms = 5.0 }} }}

[[app]]
name = "search"
model = "bert"
weight = 2.0
slo_ms = 60.0
time = {{ normal = {{ mean_ms = 5.0, sd_ms = 1.0 }} }}

[arrivals]
{arrivals}
"#
    )
}

/// Some load for it.
const POISSON: &str = "poisson = { rate_per_s = 200.0 }\nrequests = 400";
